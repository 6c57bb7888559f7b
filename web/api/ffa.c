/*
 * ffa.c - the CSV files of MagiAttention's profile_ffa, for existing scripts that read them: profile_dense and
 * profile_block_sparse of each side, and the comparison of both.
 *
 * The latency is that of the deciding series. The base has its median; the target has the base's median times the judged change,
 * because the quotient of two medians is not the median of paired ratios, and the files must agree with the verdict.
 */

#include "web/api/internal.h"

#include <math.h>

#include "readers/readers.h"

enum { FILE_MAX = 16 << 20 };

/* The comparison of the files. */
struct view {
	int64_t id;
	bool is_identical; /* nothing was timed */
	char side[2][SIDE_NAME_SIZE];
};

/* State of writing a file. */
struct profile {
	struct db *db;
	struct buf *out;
	bool sparse;
	int side;
	bool is_identical; /* the comparison timed nothing */
	int rows;          /* rows with a time; all rows of an identical comparison */
	struct fw_err *err;
	int failed;
};

/* Values of a row, from a cell's metrics; NAN: absent. */
struct row_values {
	const struct profile *profile;
	struct ffa_csv_row *row;
	double sustained_ms;
};

static void take_phase(struct row_values *f, const char *name, double value)
{
	const char *dot = strrchr(name, '.');
	if (!dot || strcmp(dot, f->profile->side == USED_CONFIG_BASE ? ".base_ms" : ".target_ms") != 0)
		return;
	int phase = ffa_csv_phase(name, (size_t)(dot - name), f->row->backward);
	if (phase >= 0)
		f->row->phase_ms[phase] = value;
}

static void take_metric(void *arg, const char *name, const char *unit, double value)
{
	struct row_values *f = arg;
	(void)unit;
	if (strncmp(name, "phase.", 6) == 0)
		take_phase(f, name + 6, value);
	else if (strcmp(name, "sustained.base_ms") == 0)
		f->sustained_ms = value;
}

/* Return the time of a side in the deciding series; -1: none. Units: ms. */
static double latency(const struct store_cell *c, const struct row_values *f, int side)
{
	double base_ms = c->decider == DECIDER_SUSTAINED_RUNS ? f->sustained_ms : c->base_median_ms;
	double ms = side == USED_CONFIG_BASE                      ? base_ms
		    : isfinite(base_ms) && isfinite(c->decided_m) ? base_ms * exp(c->decided_m)
								  : c->target_median_ms;
	return ms > 0 ? ms : -1;
}

static void take_cell(void *arg, const struct store_cell *c)
{
	struct profile *p = arg;
	struct used_config used;
	if (p->failed || !ffa_csv_takes(p->sparse, c->key))
		return;
	json_t *shape = json_loads(c->shape, 0, NULL);
	struct ffa_csv_row row = { .tokens = (int)json_integer_value(json_object_get(shape, "seqlen")),
		.backward = strcmp(c->direction, "backward") == 0,
		.mask = json_string_value(json_object_get(shape, "mask")),
		.ratio = json_number_value(json_object_get(shape, "sparsity_ratio")),
		.block = (int)json_integer_value(json_object_get(shape, "block")) };
	struct row_values f = { .profile = p, .row = &row, .sustained_ms = NAN };
	if (view_metrics(p->db, c->id, take_metric, &f, p->err) != 0 || used_config_read(p->db, c->id, &used, p->err) != 0) {
		p->failed = -1;
		json_decref(shape);
		return;
	}
	row.tile_q = used_config_number(used.config[p->side], "BLOCK_M");
	row.tile_k = used_config_number(used.config[p->side], "BLOCK_N");
	row.latency_ms = latency(c, &f, p->side);
	row.tflops = row.latency_ms > 0 && isfinite(c->flops) ? c->flops / row.latency_ms * 1e-9 : -1;
	p->rows += p->is_identical || row.latency_ms > 0;
	ffa_csv_put(p->out, p->sparse, &row);
	json_decref(shape);
}

static int write_profile(struct db *db, const struct view *v, bool sparse, int side, struct buf *out, struct fw_err *err)
{
	struct profile p = { .db = db, .out = out, .sparse = sparse, .side = side, .is_identical = v->is_identical, .err = err };
	ffa_csv_head(out, sparse);
	if (view_cells(db, v->id, take_cell, &p, err) != 0 || p.failed)
		return -1;
	if (p.rows == 0)
		return err_set(err, ERR_NOT_FOUND, "C%lld has no times of %s attention, the only rows of this file",
			(long long)v->id, sparse ? "block-sparse" : "dense");
	return out->failed ? err_set(err, ERR_FULL, "the file is too large") : 0;
}

static int write_comparison(struct db *db, const struct view *v, bool sparse, struct buf *out, struct fw_err *err)
{
	static const char *const names[] = { "the base's profile", "the target's profile" };
	struct buf text[USED_CONFIG_SIDES];
	struct ffa_file file[USED_CONFIG_SIDES];
	int result = 0, rows;
	for (int side = 0; side < USED_CONFIG_SIDES; side++)
		buf_init(&text[side], FILE_MAX);
	for (int side = 0; side < USED_CONFIG_SIDES && result == 0; side++) {
		result = write_profile(db, v, sparse, side, &text[side], err);
		file[side] = (struct ffa_file){ .text = text[side].data, .len = text[side].len, .name = names[side] };
	}
	if (result == 0)
		result = ffa_compare(
			&file[USED_CONFIG_BASE], &file[USED_CONFIG_TARGET], v->is_identical ? "identical" : "", out, &rows, err);
	for (int side = 0; side < USED_CONFIG_SIDES; side++)
		buf_fini(&text[side]);
	return result;
}

/* Find the file with this name, by names of sides, else by their roles; -1: none. Append all names to `known`. */
static int find_file(const struct view *v, const char *requested, struct buf *known)
{
	char name[FFA_CSV_NAME_SIZE];
	int found = -1;
	for (int i = 0; i < FFA_CSV_FILES; i++) {
		ffa_csv_name(i, v->side[0], v->side[1], name);
		if (strcmp(requested, name) == 0)
			found = i;
		buf_printf(known, "%s%s", i ? ", " : "", name);
	}
	for (int i = 0; i < FFA_CSV_FILES && found < 0; i++)
		if (strcmp(requested, ffa_csv_files[i].role) == 0)
			found = i;
	return found;
}

static int read_view(struct db *db, int64_t id, struct view *v, struct fw_err *err)
{
	struct comparison c;
	int result = comparison_read(db, id, NULL, &c, err);
	if (result == 0) {
		*v = (struct view){ .id = id, .is_identical = *c.identical_by };
		comparison_side_names(&c, v->side);
	}
	comparison_free(&c);
	return result;
}

int api_comparison_ffa(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct view v;
	struct buf known;
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0 || read_view(site->db, id, &v, err) != 0)
		return -1;
	buf_init(&known, FFA_CSV_FILES * FFA_CSV_NAME_SIZE);
	int i = find_file(&v, http_segment(r, 1), &known), result;
	const struct ffa_csv_file *file = &ffa_csv_files[i < 0 ? 0 : i];
	response->type = "text/csv; charset=utf-8; header=present";
	if (i < 0)
		result = err_set(err, ERR_NOT_FOUND, "unknown file; known: %s", known.data);
	else if (file->base && file->target)
		result = write_comparison(site->db, &v, file->sparse, &response->body, err);
	else
		result = write_profile(
			site->db, &v, file->sparse, file->base ? USED_CONFIG_BASE : USED_CONFIG_TARGET, &response->body, err);
	buf_fini(&known);
	return result;
}
