/*
 * The CSV files of MagiAttention's profile_ffa, so that scripts which read those go on working: profile_dense and
 * profile_block_sparse of each side, and compare_dense and compare_block_sparse, column by column in their order. Latency is the
 * series `call`, which includes the host's part as theirs does; what was not measured is -1, the other direction's phases are empty.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/site.h"

enum { TIMINGS = 11, FORWARD_TIMINGS = 6, BASE = 0, TARGET = 1, SIDES = 2 };

/* Column, and our name of the phase; forward first. */
static const struct {
	const char *column, *phase;
} timings[TIMINGS] = {
	{ "fwd_range_merge_ms", "range_merge" },
	{ "fwd_sparse_load_preprocess_ms", "sparse_load_preprocess" },
	{ "fwd_prepare_ms", "prepare" },
	{ "fwd_run_ms", "run" },
	{ "fwd_fill_ms", "fill" },
	{ "fwd_cast_ms", "cast" },
	{ "bwd_range_merge_ms", "range_merge" },
	{ "bwd_prepare_ms", "prepare" },
	{ "bwd_preprocess_ms", "preprocess" },
	{ "bwd_run_ms", "run" },
	{ "bwd_cast_ms", "cast" },
};

struct table {
	struct db *db;
	struct buf *out;
	bool sparse, compares;
	int side; /* of a profile */
	struct fw_err *err;
	int failed;
};

/* One row's figures. -1: not measured; NAN: a phase of the other direction. */
struct figures {
	bool backward;
	double call_ms[SIDES], phase_ms[SIDES][TIMINGS];
};

static void take_metric(void *arg, const char *name, const char *unit, double value)
{
	struct figures *f = arg;
	(void)unit;
	if (strcmp(name, "call.base_us") == 0)
		f->call_ms[BASE] = value / 1e3;
	else if (strcmp(name, "call.target_us") == 0)
		f->call_ms[TARGET] = value / 1e3;
	if (strncmp(name, "phase.", 6) != 0)
		return;
	for (int i = f->backward ? FORWARD_TIMINGS : 0; i < (f->backward ? TIMINGS : FORWARD_TIMINGS); i++) {
		size_t n = strlen(timings[i].phase);
		if (strncmp(name + 6, timings[i].phase, n) != 0)
			continue;
		if (strcmp(name + 6 + n, ".base_ms") == 0)
			f->phase_ms[BASE][i] = value;
		else if (strcmp(name + 6 + n, ".target_ms") == 0)
			f->phase_ms[TARGET][i] = value;
	}
}

static int read_figures(struct table *t, const struct view_cell *c, struct figures *f)
{
	f->backward = strcmp(c->direction, "backward") == 0;
	for (int s = 0; s < SIDES; s++) {
		f->call_ms[s] = -1;
		for (int i = 0; i < TIMINGS; i++)
			f->phase_ms[s][i] = (i >= FORWARD_TIMINGS) == f->backward ? -1 : NAN;
	}
	return view_metrics(t->db, "cell", c->id, take_metric, f, t->err);
}

static double tflops(const struct view_cell *c, double ms)
{
	return ms > 0 && isfinite(c->flops) ? c->flops / (ms * 1e-3) / 1e12 : -1;
}

static void number(struct buf *out, double v)
{
	if (isnan(v))
		buf_putc(out, ',');
	else
		buf_printf(out, ",%.4f", v);
}

/* Baseline, target, and the change as their script writes it: positive is more, so slower on times. */
static void change(struct buf *out, double base, double target)
{
	number(out, base);
	number(out, target);
	number(out, 100 * (target - base) / (base + 1e-9));
}

static void profile_row(struct table *t, const struct view_cell *c, const struct figures *f)
{
	struct buf *out = t->out;
	const char *direction = f->backward ? "bwd" : "fwd";
	if (t->sparse)
		buf_printf(out, "%d,%g,%d,%d,False,False,False,%d,%d,%s", c->seqlen, c->sparsity_ratio, c->block, c->block,
			c->block, c->block, direction);
	else
		buf_printf(out, "%d,%s,%s", c->seqlen, c->mask, direction);
	number(out, f->call_ms[t->side]);
	number(out, tflops(c, f->call_ms[t->side]));
	for (int i = 0; i < TIMINGS; i++)
		number(out, f->phase_ms[t->side][i]);
}

static void compare_row(struct table *t, const struct view_cell *c, const struct figures *f)
{
	struct buf *out = t->out;
	const char *direction = f->backward ? "bwd" : "fwd";
	if (t->sparse)
		buf_printf(out, "%d,%g,%d,%s", c->seqlen, c->sparsity_ratio, c->block, direction);
	else
		buf_printf(out, "%s,%s,%d", c->mask, direction, c->seqlen);
	if (t->sparse)
		change(out, f->call_ms[BASE], f->call_ms[TARGET]);
	change(out, tflops(c, f->call_ms[BASE]), tflops(c, f->call_ms[TARGET]));
	for (int i = 0; i < TIMINGS; i++)
		change(out, f->phase_ms[BASE][i], f->phase_ms[TARGET][i]);
}

static void cell_row(void *arg, const struct view_cell *c)
{
	struct table *t = arg;
	struct figures f;
	bool sparse = strcmp(c->group, "block_sparse") == 0;
	if (t->failed || sparse != t->sparse || (!sparse && strcmp(c->group, "dense") != 0))
		return;
	if (read_figures(t, c, &f) != 0) {
		t->failed = -1;
		return;
	}
	if (t->compares)
		compare_row(t, c, &f);
	else
		profile_row(t, c, &f);
	buf_putc(t->out, '\n');
}

static void header(const struct table *t)
{
	struct buf *out = t->out;
	const char *columns[TIMINGS + 2];
	int n = 0;
	if (!t->compares || t->sparse) /* their dense comparison begins with tflops_per_sec */
		columns[n++] = "latency_ms";
	columns[n++] = "tflops_per_sec";
	for (int i = 0; i < TIMINGS; i++)
		columns[n++] = timings[i].column;
	if (t->compares)
		buf_puts(out, t->sparse ? "seqlen,sparsity_ratio,block_size,direction" : "mask_type,direction,seqlen");
	else
		buf_puts(out,
			t->sparse
				? "seqlen,sparsity_ratio,q_block_size,k_block_size,swap_ab,pack_gqa,sparse_load,kblockm,kblockn,"
				  "direction"
				: "seqlen,mask_type,direction");
	for (int i = 0; i < n; i++) {
		if (t->compares)
			buf_printf(out, ",%s_baseline,%s_target,%s_improvement(%%)", columns[i], columns[i], columns[i]);
		else
			buf_printf(out, ",%s", columns[i]);
	}
	buf_putc(out, '\n');
}

static void is_there(void *arg, const struct view_comparison *row)
{
	(void)arg, (void)row;
}

void api_comparison_ffa(void *arg, struct http_request *r, struct http_response *response)
{
	static const struct {
		const char *name;
		bool sparse, compares;
		int side;
	} files[] = {
		{ "profile_dense_base", false, false, BASE },
		{ "profile_dense_target", false, false, TARGET },
		{ "profile_block_sparse_base", true, false, BASE },
		{ "profile_block_sparse_target", true, false, TARGET },
		{ "compare_dense", false, true, BASE },
		{ "compare_block_sparse", true, true, BASE },
	};
	struct site *site = arg;
	struct fw_err err = { 0 };
	const char *name = http_segment(r, 1);
	int64_t id = answer_path_id(r, response, "comparison");
	if (id < 0)
		return;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		struct table t = { .db = site->db,
			.out = &response->body,
			.sparse = files[i].sparse,
			.compares = files[i].compares,
			.side = files[i].side,
			.err = &err };
		response->type = "text/csv; charset=utf-8; header=present";
		header(&t);
		if (view_comparison(site->db, id, is_there, NULL, &err) != 0 ||
			view_cells(site->db, id, cell_row, &t, &err) != 0 || t.failed)
			answer_error(r, response, &err);
		return;
	}
	answer_problem(r, response, 404,
		"there is no such file; profile_dense_base, profile_dense_target, profile_block_sparse_base, "
		"profile_block_sparse_target, "
		"compare_dense and compare_block_sparse are");
}
