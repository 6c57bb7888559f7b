/* configurations.c - values of a call: sums over its kernels, as the mean of the two processes that counted. */
#include "web/page/internal.h"

#include <math.h>

enum { CELLS_MAX = 512, SIDES = 2, REPEATS = 2 };

static const char *const names[SIDES] = { "base", "target" };

/* Metrics that are summed over kernels. */
enum {
	READ,
	WRITTEN,
	L2,
	L2_HIT,
	L1,
	L1_HIT,
	CONFLICTS,
	WAVEFRONTS,
	TIME,
	INSTRUCTIONS,
	THREAD_INSTRUCTIONS,
	LOAD_BYTES,
	LOAD_SECTORS,
	STORE_BYTES,
	STORE_SECTORS,
	SUMS
};
static const char *const metrics[SUMS] = { "dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_sectors.sum",
	"lts__t_sectors_lookup_hit.sum", "l1tex__t_sectors.sum", "l1tex__t_sectors_lookup_hit.sum",
	"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
	"gpu__time_duration.sum", "smsp__inst_executed.sum", "smsp__thread_inst_executed.sum",
	"smsp__sass_data_bytes_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
	"smsp__sass_data_bytes_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum" };

/* Shares that are averaged over kernels, each weighted by its time. */
enum { TENSOR_SHARE, ISSUE_SHARE, SHARES };
static const char *const shares[SHARES] = { "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	"smsp__issue_active.avg.pct_of_peak_sustained_active" };

#define STALL_PREFIX "smsp__warps_issue_stalled_"
#define SECTOR       32.0 /* bytes */
#define WARP         32.0 /* threads */

struct side {
	char config[160];
	double ms, tflops, allocated_mb;
	int n_kernels; /* of both processes */
	/* Of both processes; 0 where nothing was counted. */
	double sum[SUMS], stalls, selected, long_scoreboard, barrier; /* stalls: with `selected`, in which the warp issued */
	double share[SHARES], share_time[SHARES]; /* share x time, and the time of the kernels that have the share */
};

struct row {
	int64_t cell;
	char key[256], baseline[256], state[16], group[32], title[256], direction[16];
	int size;
	struct side side[SIDES];
};

struct config_rows {
	struct db *db;
	struct fw_err *err;
	int n, result;
	struct row *row;
	struct side *side;          /* the side whose values are being read */
	double share[SHARES], time; /* of the current kernel; share NAN: not counted */
};

static double rate(double flops, double ms)
{
	return ms > 0 ? flops / ms * 1e-9 : NAN;
}

static void take_cell(void *arg, const struct view_measured *m)
{
	struct config_rows *r = arg;
	if (r->result != 0 || r->n == CELLS_MAX)
		return;
	r->row = mem_grow(r->row, (size_t)r->n + 1, sizeof *r->row);
	struct row *row = &r->row[r->n++];
	*row = (struct row){ .cell = m->cell, .size = m->size };
	snprintf(row->key, sizeof row->key, "%s", m->key);
	snprintf(row->baseline, sizeof row->baseline, "%s", m->baseline);
	snprintf(row->state, sizeof row->state, "%s", m->state);
	snprintf(row->group, sizeof row->group, "%s", m->group);
	snprintf(row->title, sizeof row->title, "%s", m->title);
	snprintf(row->direction, sizeof row->direction, "%s", m->direction);
	for (int s = 0; s < SIDES; s++) {
		row->side[s].ms = s ? m->target_ms : m->base_ms;
		row->side[s].tflops = rate(m->flops, row->side[s].ms);
		row->side[s].allocated_mb = (s ? m->target_peak_bytes : m->base_peak_bytes) * 1e-6;
		snprintf(row->side[s].config, sizeof row->side[s].config, "%s", s ? m->target_config : m->base_config);
	}
}

static void take_value(void *arg, const char *metric, double value)
{
	struct config_rows *r = arg;
	for (int i = 0; i < SUMS; i++)
		if (strcmp(metric, metrics[i]) == 0)
			r->side->sum[i] += value;
	if (strcmp(metric, metrics[TIME]) == 0)
		r->time = value;
	for (int i = 0; i < SHARES; i++)
		if (strcmp(metric, shares[i]) == 0)
			r->share[i] = value;
	if (strncmp(metric, STALL_PREFIX, sizeof STALL_PREFIX - 1) != 0)
		return;
	r->side->stalls += value;
	r->side->selected += strcmp(metric, STALL_PREFIX "selected.sum") == 0 ? value : 0;
	r->side->long_scoreboard += strcmp(metric, STALL_PREFIX "long_scoreboard.sum") == 0 ? value : 0;
	r->side->barrier += strcmp(metric, STALL_PREFIX "barrier.sum") == 0 ? value : 0;
}

static void take_kernel(void *arg, const struct view_profile_kernel *k)
{
	struct config_rows *r = arg;
	struct row *row = &r->row[r->n];
	if (r->result != 0)
		return;
	r->side = &row->side[strcmp(k->side, "target") == 0];
	r->side->n_kernels++;
	r->time = 0;
	for (int i = 0; i < SHARES; i++)
		r->share[i] = NAN;
	r->result = view_profile_values(r->db, k->id, take_value, r, r->err);
	for (int i = 0; i < SHARES; i++) {
		r->side->share[i] += isfinite(r->share[i]) ? r->share[i] * r->time : 0;
		r->side->share_time[i] += isfinite(r->share[i]) ? r->time : 0;
	}
}

/* Own: free(r->row), also after a failure. */
static int read(struct db *db, int64_t profile, struct config_rows *r, struct fw_err *err)
{
	*r = (struct config_rows){ .db = db, .err = err };
	if (view_measured(db, profile, take_cell, r, err) != 0 || r->result != 0)
		return -1;
	int all = r->n;
	for (r->n = 0; r->n < all && r->result == 0; r->n++)
		if (view_profile_kernels(db, r->row[r->n].cell, take_kernel, r, err) != 0)
			r->result = -1;
	return r->result;
}

/* ---- values of a side ---------------------------------------------------------------------------------------------- */

static double share_pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : NAN;
}

enum {
	MS,
	TFLOPS,
	ALLOCATED_MB,
	DRAM_MB,
	DRAM_GB_S,
	L2_HIT_PCT,
	L1_HIT_PCT,
	CONFLICTS_PCT,
	TENSOR_PCT,
	ISSUE_PCT,
	WARP_PCT,
	LOAD_SECTOR_PCT,
	STORE_SECTOR_PCT,
	LONG_SCOREBOARD_PCT,
	BARRIER_PCT,
	VALUES
};
static const char *const keys[VALUES] = { "ms", "tflops", "allocated_mb", "dram_mb", "dram_gb_s", "l2_hit_pct", "l1_hit_pct",
	"bank_conflicts_pct", "tensor_pct", "issue_pct", "warp_execution_pct", "load_sector_pct", "store_sector_pct",
	"long_scoreboard_pct", "barrier_pct" };
static const char *const titles[VALUES] = { "ms", "TFLOP/s", "allocated MB", "DRAM MB", "DRAM GB/s", "L2 hits %", "L1 hits %",
	"bank conflicts %", "tensor %", "issue %", "warp execution %", "load sectors %", "store sectors %", "long scoreboard %",
	"barrier %" };

static double value_of(const struct side *s, int which)
{
	double bytes = s->sum[READ] + s->sum[WRITTEN];
	switch (which) {
	case MS:
		return s->ms;
	case TFLOPS:
		return s->tflops;
	case ALLOCATED_MB:
		return s->allocated_mb;
	case DRAM_MB:
		return s->sum[TIME] > 0 ? bytes / REPEATS * 1e-6 : NAN;
	case DRAM_GB_S: /* bytes per nanosecond */
		return s->sum[TIME] > 0 ? bytes / s->sum[TIME] : NAN;
	case L2_HIT_PCT:
		return share_pct(s->sum[L2_HIT], s->sum[L2]);
	case L1_HIT_PCT:
		return share_pct(s->sum[L1_HIT], s->sum[L1]);
	case CONFLICTS_PCT:
		return share_pct(s->sum[CONFLICTS], s->sum[WAVEFRONTS]);
	case TENSOR_PCT:
		return s->share_time[TENSOR_SHARE] > 0 ? s->share[TENSOR_SHARE] / s->share_time[TENSOR_SHARE] : NAN;
	case ISSUE_PCT:
		return s->share_time[ISSUE_SHARE] > 0 ? s->share[ISSUE_SHARE] / s->share_time[ISSUE_SHARE] : NAN;
	case WARP_PCT:
		return share_pct(s->sum[THREAD_INSTRUCTIONS], WARP * s->sum[INSTRUCTIONS]);
	case LOAD_SECTOR_PCT:
		return share_pct(s->sum[LOAD_BYTES], SECTOR * s->sum[LOAD_SECTORS]);
	case STORE_SECTOR_PCT:
		return share_pct(s->sum[STORE_BYTES], SECTOR * s->sum[STORE_SECTORS]);
	case LONG_SCOREBOARD_PCT:
		return share_pct(s->long_scoreboard, s->stalls);
	default:
		return share_pct(s->barrier, s->stalls);
	}
}

static double speedup(const struct row *row)
{
	return row->side[0].ms / row->side[1].ms;
}

/* ---- beside the dense case ---------------------------------------------------------------------------------------------- */

/* What a sparse call still does: its bytes, how often its schedulers issue, and the cycles that its warps wait. */
enum { BESIDE_DRAM_MB, BESIDE_L2_MB, BESIDE_ISSUE_PCT, BESIDE_STALLED, BESIDES };
static const char *const beside_keys[BESIDES] = { "dram_mb", "l2_mb", "issue_pct", "stalled_mcycles" };
static const char *const beside_titles[BESIDES] = { "DRAM MB", "L2 MB", "issue %", "stalled Mcycles" };

static double beside(const struct side *s, int which)
{
	switch (which) {
	case BESIDE_DRAM_MB:
		return value_of(s, DRAM_MB);
	case BESIDE_L2_MB:
		return s->sum[L2] > 0 ? s->sum[L2] * SECTOR / REPEATS * 1e-6 : NAN;
	case BESIDE_ISSUE_PCT:
		return value_of(s, ISSUE_PCT);
	default:
		return s->stalls > 0 ? (s->stalls - s->selected) / REPEATS * 1e-6 : NAN;
	}
}

/* The row of the cell that this one is compared with, if its calls were counted on some side as well; else NULL. */
static const struct row *counted_baseline(const struct config_rows *r, const struct row *row)
{
	for (int i = 0; i < r->n && row->baseline[0]; i++)
		for (int s = 0; s < SIDES && strcmp(r->row[i].key, row->baseline) == 0; s++)
			if (isfinite(beside(&row->side[s], BESIDE_DRAM_MB)) &&
				isfinite(beside(&r->row[i].side[s], BESIDE_DRAM_MB)))
				return &r->row[i];
	return NULL;
}

static void write_beside(struct jsonw *j, const struct config_rows *r)
{
	jsonw_kv_array(j, "beside_dense");
	for (int i = 0; i < r->n; i++) {
		const struct row *row = &r->row[i], *dense = counted_baseline(r, row);
		if (!dense)
			continue;
		jsonw_format(j, "{ cell=%s dense=%s", row->key, dense->key);
		for (int s = 0; s < SIDES; s++) {
			jsonw_kv_object(j, names[s]);
			for (int k = 0; k < BESIDES; k++) {
				char of_dense[32];
				snprintf(of_dense, sizeof of_dense, "dense_%s", beside_keys[k]);
				jsonw_kv_figure(j, beside_keys[k], beside(&row->side[s], k));
				jsonw_kv_figure(j, of_dense, beside(&dense->side[s], k));
			}
			jsonw_object_end(j);
		}
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/* ---- as JSON ----------------------------------------------------------------------------------------------------------- */

static void write_row(struct jsonw *j, const struct row *row)
{
	jsonw_object(j);
	jsonw_format(j, "cell=%s state=%s title=%s direction=%s size=%d", row->key, row->state, row->title[0] ? row->title : NULL,
		row->direction[0] ? row->direction : NULL, row->size);
	for (int s = 0; s < SIDES; s++) {
		const struct side *side = &row->side[s];
		jsonw_key(j, names[s]);
		jsonw_object(j);
		jsonw_kv_string(j, "configuration", side->config[0] ? side->config : NULL);
		for (int i = 0; i < VALUES; i++)
			jsonw_kv_figure(j, keys[i], value_of(side, i));
		jsonw_kv_int(j, "kernels", side->n_kernels / REPEATS);
		jsonw_object_end(j);
	}
	jsonw_kv_figure(j, "speedup", speedup(row));
	jsonw_object_end(j);
}

/* Whether two cells differ only in their size. */
static bool is_like(const struct row *a, const struct row *b)
{
	return a->size > 0 && b->size > 0 && strcmp(a->title, b->title) == 0 && strcmp(a->group, b->group) == 0 &&
	       strcmp(a->direction, b->direction) == 0;
}

static double over(const struct row *longest, const struct row *shortest, int side)
{
	return longest->side[side].tflops / shortest->side[side].tflops;
}

/* Find the shortest and the longest of the rows like row `i`, to compare their TFLOP/s. False: `i` is not the first of them. */
static bool lengths(const struct config_rows *r, int i, const struct row **shortest, const struct row **longest)
{
	*shortest = *longest = &r->row[i];
	for (int k = 0; k < r->n; k++) {
		const struct row *other = &r->row[k];
		if (!is_like(other, &r->row[i]))
			continue;
		if (k < i)
			return false;
		*shortest = other->size < (*shortest)->size ? other : *shortest;
		*longest = other->size > (*longest)->size ? other : *longest;
	}
	return *shortest != *longest && (isfinite(over(*longest, *shortest, 0)) || isfinite(over(*longest, *shortest, 1)));
}

static void write_lengths(struct jsonw *j, const struct config_rows *r)
{
	const struct row *shortest, *longest;
	jsonw_kv_array(j, "long_over_short");
	for (int i = 0; i < r->n; i++) {
		if (!lengths(r, i, &shortest, &longest))
			continue;
		jsonw_format(j, "{ title=%s direction=%s shortest=%d longest=%d base=%g target=%g }", shortest->title,
			shortest->direction, shortest->size, longest->size, over(longest, shortest, 0),
			over(longest, shortest, 1));
	}
	jsonw_array_end(j);
}

int configurations_json(struct db *db, int64_t profile, struct jsonw *j, struct fw_err *err)
{
	struct config_rows r;
	int result = read(db, profile, &r, err);
	jsonw_kv_array(j, "configurations");
	for (int i = 0; i < r.n && result == 0; i++)
		write_row(j, &r.row[i]);
	jsonw_array_end(j);
	if (result == 0) {
		write_lengths(j, &r);
		write_beside(j, &r);
	}
	free(r.row);
	return result;
}

/* ---- as tables ----------------------------------------------------------------------------------------------------- */

static void draw_number(struct buf *out, double v, const char *unknown)
{
	if (isfinite(v))
		buf_printf(out, "%.4g", v);
	else
		buf_puts(out, unknown);
}

int configurations_csv(struct db *db, int64_t profile, struct buf *out, struct fw_err *err)
{
	struct config_rows r;
	int result = read(db, profile, &r, err);
	buf_puts(out, "cell,title,direction,size,side,configuration");
	for (int i = 0; i < VALUES; i++)
		buf_printf(out, ",%s", keys[i]);
	buf_puts(out, ",speedup\r\n");
	for (int i = 0; i < r.n && result == 0; i++)
		for (int s = 0; s < SIDES; s++) {
			const struct row *row = &r.row[i];
			csv_format(out, "%s,%s,%-s,%d,%-s,%s", row->key, row->title, row->direction, row->size, names[s],
				row->side[s].config);
			for (int k = 0; k < VALUES; k++) {
				buf_putc(out, ',');
				draw_number(out, value_of(&row->side[s], k), "");
			}
			buf_putc(out, ',');
			draw_number(out, s ? speedup(row) : 1, "");
			buf_puts(out, "\r\n");
		}
	free(r.row);
	return result;
}

/* Return whether any side of any cell has the value: a column without values is left out. */
static bool is_shown(const struct config_rows *r, int which)
{
	for (int i = 0; i < r->n; i++)
		for (int s = 0; s < SIDES; s++)
			if (isfinite(value_of(&r->row[i].side[s], which)))
				return true;
	return false;
}

static void beside_markdown(const struct config_rows *r, struct buf *out)
{
	bool begun = false;
	for (int i = 0; i < r->n; i++) {
		const struct row *row = &r->row[i], *dense = counted_baseline(r, row);
		if (!dense)
			continue;
		if (!begun) {
			buf_puts(out, "\n| beside its dense case | side |");
			for (int k = 0; k < BESIDES; k++)
				buf_printf(out, " %s | dense |", beside_titles[k]);
			buf_puts(out, "\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
		}
		begun = true;
		for (int s = 0; s < SIDES; s++) {
			markdown_format(out, "| %s{code} | %-s", row->key, names[s]);
			for (int k = 0; k < BESIDES; k++) {
				buf_puts(out, " | ");
				draw_number(out, beside(&row->side[s], k), "–");
				buf_puts(out, " | ");
				draw_number(out, beside(&dense->side[s], k), "–");
			}
			buf_puts(out, " |\n");
		}
	}
}

int configurations_markdown(struct db *db, int64_t profile, struct buf *out, struct fw_err *err)
{
	const struct row *shortest, *longest;
	struct config_rows r;
	int result = read(db, profile, &r, err);
	buf_puts(out, "\n| cell | side | configuration |");
	for (int i = 0; i < VALUES; i++)
		if (is_shown(&r, i))
			buf_printf(out, " %s |", titles[i]);
	buf_puts(out, " speedup |\n|---|---|---|");
	for (int i = 0; i < VALUES; i++)
		if (is_shown(&r, i))
			buf_puts(out, "--:|");
	buf_puts(out, "--:|\n");
	for (int i = 0; i < r.n && result == 0; i++)
		for (int s = 0; s < SIDES; s++) {
			const struct row *row = &r.row[i];
			markdown_format(out, "| %s{code} | %-s | %s", row->key, names[s], row->side[s].config);
			for (int k = 0; k < VALUES; k++) {
				if (!is_shown(&r, k))
					continue;
				buf_puts(out, " | ");
				draw_number(out, value_of(&row->side[s], k), "–");
			}
			buf_puts(out, " | ");
			draw_number(out, s ? speedup(row) : 1, "–");
			buf_puts(out, " |\n");
		}
	if (result == 0)
		beside_markdown(&r, out);
	for (int i = 0; i < r.n && result == 0; i++) {
		if (!lengths(&r, i, &shortest, &longest))
			continue;
		markdown_format(out, "\nTFLOP/s at %d over %d, %s %-s: base ", longest->size, shortest->size, shortest->title,
			shortest->direction);
		draw_number(out, over(longest, shortest, 0), "–");
		buf_puts(out, ", target ");
		draw_number(out, over(longest, shortest, 1), "–");
		buf_putc(out, '\n');
	}
	free(r.row);
	return result;
}
