/* judge_costs.c - costs of both sides of a cell, kind by kind. */
#include "flopwatchd/record/internal.h"

#include <stdlib.h>

#include "flopwatchd/alert/alert.h"
#include "lib/lib.h"

enum { TEXT_BYTES_MAX = 1 << 20 };

#define ERROR_GROWS  1.10  /* factor over the base */
#define ISSUED_GROWS 1.001 /* above the rounding of printed claims */

/** Value of one side in one cell, NAN unknown. */
typedef double cost_fn(const struct result *r, int cell, enum role role);

static const struct msg_work *find_work(const struct result *r, int cell, enum role role)
{
	for (int k = 0; k < r->n_works; k++)
		if (r->work[k].cell == cell && r->work[k].role == role)
			return &r->work[k];
	return NULL;
}

static double nan_if_unknown(double v) /* -1: unknown */
{
	return v >= 0 ? v : NAN;
}

/** Number of kernels of a call, or their local memory. NAN without a graph: a CPU has none. */
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
	const struct msg_work *w = find_work(r, cell, role);
	return w ? nan_if_unknown((double)w->workspace_bytes) : NAN;
}

static double flops_issued(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = find_work(r, cell, role);
	return w ? nan_if_unknown(w->flops_issued) : NAN; /* useful FLOPs are equal on both sides */
}

static double error_ratio(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->ok ? nan_if_unknown(c->error_ratio) : NAN;
}

/** 1 if two calls on the same inputs gave different bits. */
static double unrepeatable(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->repeats[0] ? strcmp(c->repeats, "differs") == 0 : NAN;
}

static const struct cost {
	const char *what, *unit;
	cost_fn *of;
	double grows; /* factor up to which a cost has not grown */
} costs[] = {
	{ "local_bytes", "bytes", local_bytes, 1 },
	{ "launches", "count", launches, 1 },
	{ "workspace_bytes", "bytes", workspace_bytes, 1 },
	{ "flops_issued", "count", flops_issued, ISSUED_GROWS },
	{ "error_ratio", "ratio", error_ratio, ERROR_GROWS },
	{ "unrepeatable", "count", unrepeatable, 1 },
};

enum { COSTS = sizeof costs / sizeof costs[0] };

struct grown {
	int cell;
	double base, target;
};

static int compare_growth(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;
	double left = x->target * y->base, right = y->target * x->base; /* cross products, because a base may be 0 */
	return left != right ? (left < right) - (left > right) : x->cell - y->cell;
}

/** Shape: out[n_cells], largest growth first. Returns their number. */
static int find_grown(const struct result *r, const struct cost *c, struct grown *out)
{
	int n = 0;
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		double base = c->of(r, i, ROLE_BASE), target = c->of(r, i, ROLE_TARGET);
		if (isfinite(base) && isfinite(target) && target > base * c->grows)
			out[n++] = (struct grown){ i, base, target };
	}
	qsort(out, (size_t)n, sizeof *out, compare_growth);
	return n;
}

static void write_cost(struct jsonw *j, const struct result *r, const struct cost *c, const struct grown *grown, int n)
{
	jsonw_kv_string(j, "what", c->what);
	jsonw_kv_string(j, "unit", c->unit);
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < n; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "cell", r->plan.request.cell[grown[i].cell].key);
		jsonw_kv_figure(j, "base", grown[i].base);
		jsonw_kv_figure(j, "target", grown[i].target);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static int send_event(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison,
	const struct cost *c, const struct grown *grown, int n, int64_t now_ms, struct fw_err *err)
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

/** Store the costs for the comparison's JSON: [{"what","unit","cells"}]. */
static int store_costs(struct db *db, const struct result *r, int64_t comparison, struct grown *grown, struct fw_err *err)
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
	struct grown *grown = calloc((size_t)r->plan.request.n_cells + 1, sizeof *grown);
	int result = grown ? store_costs(db, r, comparison, grown, err) : err_set(err, ERR_INTERNAL, "out of memory");
	for (size_t i = 0; i < COSTS && result == 0; i++) {
		int n = find_grown(r, &costs[i], grown);
		if (n > 0)
			result = send_event(db, r, job, comparison, &costs[i], grown, n, now_ms, err);
	}
	free(grown);
	return result ? -1 : 0;
}
