/*
 * ffa.c - the CSV files of MagiAttention's profile_ffa, for existing scripts that read them: profile_dense and
 * profile_block_sparse of each side, and the comparison of both.
 *
 * The latency is that of the deciding series. The base has its median; the target has the base's median times the judged change,
 * because the quotient of two medians is not the median of paired ratios, and the files must agree with the verdict.
 */

#include "web/api/internal.h"

#include "readers/readers.h"

enum { FILE_MAX = 16 << 20 };

/* A file that is being written. */
struct profile {
	struct db *db;
	struct buf *out;
	bool sparse;
	int side;
	int timed; /* rows with a time */
	struct fw_err *err;
	int failed;
};

/* Values of a row from a cell's metrics; NAN if absent. */
struct figures {
	const struct profile *profile;
	struct ffa_csv_row *row;
	double sustained_ms;
};

static void take_phase(struct figures *f, const char *name, double value)
{
	const char *dot = strrchr(name, '.');
	if (!dot || strcmp(dot, f->profile->side == RAN_BASE ? ".base_ms" : ".target_ms") != 0)
		return;
	int phase = ffa_csv_phase(name, (size_t)(dot - name), f->row->backward);
	if (phase >= 0)
		f->row->phase_ms[phase] = value;
}

static void take_metric(void *arg, const char *name, const char *unit, double value)
{
	struct figures *f = arg;
	(void)unit;
	if (strncmp(name, "phase.", 6) == 0)
		take_phase(f, name + 6, value);
	else if (strcmp(name, "sustained.base_ms") == 0)
		f->sustained_ms = value;
}

/* Time of a side in the deciding series; -1: none. Units: ms. */
static double latency(const struct store_cell *c, const struct figures *f, int side)
{
	double base_ms = c->decider == DECIDER_SUSTAINED_RUNS ? f->sustained_ms : c->base_median_ms;
	double ms = side == RAN_BASE                              ? base_ms
		    : isfinite(base_ms) && isfinite(c->decided_m) ? base_ms * exp(c->decided_m)
								  : c->target_median_ms;
	return ms > 0 ? ms : -1;
}

/* Rows are cells of attention; of sparse patterns the files have only the uniform one. */
static bool is_row(const struct store_cell *c, const char *mask, bool sparse)
{
	return mask && (sparse ? strcmp(mask, "block_sparse") == 0 : strcmp(c->group, "dense") == 0);
}

static void take_cell(void *arg, const struct store_cell *c)
{
	struct profile *p = arg;
	struct ran ran;
	json_t *shape = json_loads(c->shape, 0, NULL);
	struct ffa_csv_row row = { .tokens = (int)json_integer_value(json_object_get(shape, "seqlen")),
		.backward = strcmp(c->direction, "backward") == 0,
		.mask = json_string_value(json_object_get(shape, "mask")),
		.ratio = json_number_value(json_object_get(shape, "sparsity_ratio")),
		.block = (int)json_integer_value(json_object_get(shape, "block")) };
	struct figures f = { .profile = p, .row = &row, .sustained_ms = NAN };
	if (p->failed || !is_row(c, row.mask, p->sparse)) {
		json_decref(shape);
		return;
	}
	if (view_metrics(p->db, c->id, take_metric, &f, p->err) != 0 || ran_read(p->db, c->id, &ran, p->err) != 0) {
		p->failed = -1;
		json_decref(shape);
		return;
	}
	row.tile_q = ran_number(ran.config[p->side], "BLOCK_M");
	row.tile_k = ran_number(ran.config[p->side], "BLOCK_N");
	row.latency_ms = latency(c, &f, p->side);
	row.tflops = row.latency_ms > 0 && isfinite(c->flops) ? c->flops / row.latency_ms * 1e-9 : -1;
	p->timed += row.latency_ms > 0;
	ffa_csv_put(p->out, p->sparse, &row);
	json_decref(shape);
}

static int write_profile(struct db *db, int64_t comparison, bool sparse, int side, struct buf *out, struct fw_err *err)
{
	struct profile p = { .db = db, .out = out, .sparse = sparse, .side = side, .err = err };
	ffa_csv_head(out, sparse);
	if (view_cells(db, comparison, take_cell, &p, err) != 0 || p.failed)
		return -1;
	if (p.timed == 0)
		return err_set(err, ERR_NOT_FOUND, "comparison %lld has no times of %s attention, the only rows of this file",
			(long long)comparison, sparse ? "block-sparse" : "dense");
	return out->failed ? err_set(err, ERR_FULL, "the file is too large") : 0;
}

static int write_comparison(struct db *db, int64_t comparison, bool sparse, struct buf *out, struct fw_err *err)
{
	static const char *const names[] = { "the base's profile", "the target's profile" };
	struct buf text[RAN_SIDES];
	struct ffa_file file[RAN_SIDES];
	int result = 0, rows;
	for (int side = 0; side < RAN_SIDES; side++)
		buf_init(&text[side], FILE_MAX);
	for (int side = 0; side < RAN_SIDES && result == 0; side++) {
		result = write_profile(db, comparison, sparse, side, &text[side], err);
		file[side] = (struct ffa_file){ .text = text[side].data, .len = text[side].len, .name = names[side] };
	}
	if (result == 0)
		result = ffa_compare(&file[RAN_BASE], &file[RAN_TARGET], out, &rows, err);
	for (int side = 0; side < RAN_SIDES; side++)
		buf_fini(&text[side]);
	return result;
}

static void is_there(void *arg, const struct view_comparison *row)
{
	(void)arg, (void)row;
}

int api_comparison_ffa(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	enum { BOTH = RAN_SIDES };
	static const struct {
		const char *name;
		bool sparse;
		int side;
	} files[] = {
		{ "profile_dense_base", false, RAN_BASE },
		{ "profile_dense_target", false, RAN_TARGET },
		{ "profile_block_sparse_base", true, RAN_BASE },
		{ "profile_block_sparse_target", true, RAN_TARGET },
		{ "compare_dense", false, BOTH },
		{ "compare_block_sparse", true, BOTH },
	};
	const char *name = http_segment(r, 1);
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		if (strcmp(files[i].name, name) != 0)
			continue;
		response->type = "text/csv; charset=utf-8; header=present";
		int result = view_comparison(site->db, id, is_there, NULL, err);
		if (result == 0 && files[i].side == BOTH)
			result = write_comparison(site->db, id, files[i].sparse, &response->body, err);
		else if (result == 0)
			result = write_profile(site->db, id, files[i].sparse, files[i].side, &response->body, err);
		return result;
	}
	return answer_problem(r, response, 404,
		"unknown file; known: profile_dense_base, profile_dense_target, profile_block_sparse_base, "
		"profile_block_sparse_target, "
		"compare_dense, compare_block_sparse");
}
