/* judge_costs.c - both sides' numbers of one cell beside each other, kind by kind. */
#include "flopwatchd/verdict/judge_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flopwatchd/alert/alert.h"
#include "base/jsonw.h"

enum { TEXT_BYTES_MAX = 1 << 20 };

#define ERROR_GROWS  1.10  /* further from the reference than this many times the base */
#define ISSUED_GROWS 1.001 /* claims are printed and read again: more than the last digits */

/** Number of one side in one cell, NAN where it is not known. */
typedef double cost_fn(const struct result *r, int cell, enum role role);

static const struct msg_work *work_of(const struct result *r, int cell, enum role role)
{
	for (int k = 0; k < r->n_works; k++)
		if (r->work[k].cell == cell && r->work[k].role == role)
			return &r->work[k];
	return NULL;
}

static double known(double v) /* -1: unknown */
{
	return v >= 0 ? v : NAN;
}

/** Kernels of a call, and their local memory. NAN without a graph: a CPU has none. */
static double sum_nodes(const struct result *r, int cell, enum role role, bool bytes)
{
	double sum = 0;
	int n = 0;
	for (int k = 0; k < r->n_nodes; k++) {
		const struct msg_node *node = &r->node[k];
		if (node->cell != cell || node->role != role)
			continue;
		n++;
		sum += bytes ? (double)node->local_bytes : 1;
	}
	return n ? sum : NAN;
}

static double local_bytes(const struct result *r, int cell, enum role role)
{
	return sum_nodes(r, cell, role, true);
}

static double launches(const struct result *r, int cell, enum role role)
{
	return sum_nodes(r, cell, role, false);
}

static double workspace_bytes(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = work_of(r, cell, role);
	return w ? known((double)w->workspace_bytes) : NAN;
}

static double flops_issued(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = work_of(r, cell, role);
	return w ? known(w->flops_issued) : NAN; /* the useful ones are the same on both sides */
}

static double error_ratio(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->ok ? known(c->error_ratio) : NAN;
}

/** 1 where two calls on the same inputs gave different bits. */
static double unrepeatable(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->repeats[0] ? strcmp(c->repeats, "differs") == 0 : NAN;
}

static const struct cost {
	const char *what, *unit;
	cost_fn *of;
	double grows; /* times the base that are not yet more */
} costs[] = {
	{ "local_bytes", "bytes", local_bytes, 1 },
	{ "launches", "count", launches, 1 },
	{ "workspace_bytes", "bytes", workspace_bytes, 1 },
	{ "flops_issued", "count", flops_issued, ISSUED_GROWS },
	{ "error_ratio", "ratio", error_ratio, ERROR_GROWS },
	{ "unrepeatable", "count", unrepeatable, 1 },
};

enum { COSTS = sizeof costs / sizeof costs[0] };

/** A cell in which a cost grew. */
struct grown {
	int cell;
	double base, target;
};

static int by_growth(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;
	double left = x->target * y->base, right = y->target * x->base; /* ratios, of which a base may be 0 */
	return left != right ? (left < right) - (left > right) : x->cell - y->cell;
}

/** Shape: out[n_cells], most first. Returns how many. */
static int find_grown(const struct result *r, const struct cost *c, struct grown *out)
{
	int n = 0;
	for (int i = 0; i < r->plan.ask.n_cells; i++) {
		double base = c->of(r, i, ROLE_BASE), target = c->of(r, i, ROLE_TARGET);
		if (isfinite(base) && isfinite(target) && target > base * c->grows)
			out[n++] = (struct grown){ i, base, target };
	}
	qsort(out, (size_t)n, sizeof *out, by_growth);
	return n;
}

/** "what", "unit" and "cells" of an object that is open. */
static void write_cost(struct jsonw *j, const struct result *r, const struct cost *c, const struct grown *grown, int n)
{
	jsonw_kv_string(j, "what", c->what);
	jsonw_kv_string(j, "unit", c->unit);
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < n; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "cell", r->plan.ask.cell[grown[i].cell].key);
		jsonw_kv_figure(j, "base", grown[i].base);
		jsonw_kv_figure(j, "target", grown[i].target);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static int tell(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, const struct cost *c,
	const struct grown *grown, int n, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "cost.up");
	jsonw_kv_int(j, "comparison", comparison);
	jsonw_kv_string(j, "repo", job->repo_name);
	jsonw_kv_string(j, "branch", job->branch);
	jsonw_kv_string(j, "target", job->target_sha);
	write_cost(j, r, c, grown, n);
	return alert_deliver(db, NULL, &event, now_ms, err);
}

/** For the comparison's body: [{"what","unit","cells"}]. */
static int keep(struct db *db, const struct result *r, int64_t comparison, struct grown *grown, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, TEXT_BYTES_MAX);
	jsonw_init(&j, &text);
	jsonw_array(&j);
	for (size_t i = 0; i < COSTS; i++) {
		int n = find_grown(r, &costs[i], grown);
		if (n == 0)
			continue;
		jsonw_object(&j);
		write_cost(&j, r, &costs[i], grown, n);
		jsonw_object_end(&j);
	}
	jsonw_array_end(&j);
	int result = text.failed ? err_set(err, ERR_FULL, "the costs of a comparison do not fit")
				 : store_artifact(db, "comparison", comparison, "costs", text.data, text.len, err);
	buf_fini(&text);
	return result;
}

int judge_costs(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, int64_t now_ms,
	struct fw_err *err)
{
	struct grown *grown = calloc((size_t)r->plan.ask.n_cells + 1, sizeof *grown);
	int result = grown ? keep(db, r, comparison, grown, err) : err_set(err, ERR_INTERNAL, "out of memory");
	for (size_t i = 0; i < COSTS && result == 0; i++) {
		int n = find_grown(r, &costs[i], grown);
		if (n > 0)
			result = tell(db, r, job, comparison, &costs[i], grown, n, now_ms, err);
	}
	free(grown);
	return result ? -1 : 0;
}
