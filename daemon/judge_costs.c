/* judge_costs.c - both sides' numbers of one cell beside each other, kind by kind. */
#include "judge_costs.h"

#include <math.h>
#include <string.h>

#include "alert.h"
#include "base/jsonw.h"

enum { EVENT_BYTES_MAX = 1 << 20 };

#define ERROR_GROWS  1.10  /* further from the reference than this many times the base */
#define ISSUED_GROWS 1.001 /* claims are printed and read again: more than the last digits */

/** Number of one side in one cell, NAN where it is not known. */
typedef double cost_fn(const struct result *r, int cell, const char *role);

static const struct msg_work *work_of(const struct result *r, int cell, const char *role)
{
	for (int k = 0; k < r->n_works; k++)
		if (r->work[k].cell == cell && strcmp(r->work[k].role, role) == 0)
			return &r->work[k];
	return NULL;
}

static double known(double v) /* -1: unknown */
{
	return v >= 0 ? v : NAN;
}

/** Kernels of a call, and their local memory. NAN without a graph: a CPU has none. */
static double sum_nodes(const struct result *r, int cell, const char *role, bool bytes)
{
	double sum = 0;
	int n = 0;
	for (int k = 0; k < r->n_nodes; k++) {
		const struct msg_node *node = &r->node[k];
		if (node->cell != cell || strcmp(node->role, role) != 0)
			continue;
		n++;
		sum += bytes ? (double)node->local_bytes : 1;
	}
	return n ? sum : NAN;
}

static double local_bytes(const struct result *r, int cell, const char *role)
{
	return sum_nodes(r, cell, role, true);
}

static double launches(const struct result *r, int cell, const char *role)
{
	return sum_nodes(r, cell, role, false);
}

static double workspace_bytes(const struct result *r, int cell, const char *role)
{
	const struct msg_work *w = work_of(r, cell, role);
	return w ? known((double)w->workspace_bytes) : NAN;
}

static double flops_issued(const struct result *r, int cell, const char *role)
{
	const struct msg_work *w = work_of(r, cell, role);
	return w ? known(w->flops_issued) : NAN; /* the useful ones are the same on both sides */
}

static double error_ratio(const struct result *r, int cell, const char *role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->ok ? known(c->error_ratio) : NAN;
}

/** 1 where two calls on the same inputs gave different bits. */
static double unrepeatable(const struct result *r, int cell, const char *role)
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

static int write_cells(struct jsonw *j, const struct result *r, const struct cost *c)
{
	int n = 0;
	for (int i = 0; i < r->plan.ask.n_cells; i++) {
		double base = c->of(r, i, "base"), target = c->of(r, i, "target");
		if (!isfinite(base) || !isfinite(target) || target <= base * c->grows)
			continue;
		jsonw_object(j);
		jsonw_kv_string(j, "cell", r->plan.ask.cell[i].key);
		jsonw_kv_figure(j, "base", base);
		jsonw_kv_figure(j, "target", target);
		jsonw_object_end(j);
		n++;
	}
	return n;
}

static int tell(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, const struct cost *c,
	int64_t now_ms, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	buf_init(&text, EVENT_BYTES_MAX);
	jsonw_init(&j, &text);
	jsonw_object(&j);
	jsonw_kv_string(&j, "event", "cost.up");
	jsonw_kv_string(&j, "what", c->what);
	jsonw_kv_string(&j, "unit", c->unit);
	jsonw_kv_int(&j, "comparison", comparison);
	jsonw_kv_string(&j, "repo", job->repo_name);
	jsonw_kv_string(&j, "branch", job->branch);
	jsonw_kv_string(&j, "target", job->target_sha);
	jsonw_key(&j, "cells");
	jsonw_array(&j);
	int n = write_cells(&j, r, c);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	int rc = n ? alert_deliver(db, NULL, "cost.up", &text, now_ms, err) : 0;
	buf_fini(&text);
	return rc;
}

int judge_costs(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, int64_t now_ms,
	struct fw_err *err)
{
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++)
		if (tell(db, r, job, comparison, &costs[i], now_ms, err))
			return -1;
	return 0;
}
