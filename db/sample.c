/* sample.c - runs and samples. */
#include "db/db.h"

#include <math.h>

int store_run_insert(struct db *db, int64_t comparison, int n, int set, uint64_t seed, int64_t *id, struct fw_err *err)
{
	/* SQLite has no unsigned integers: the seed is stored as the int64_t of the same bits */
	return db_insert(db, id, err, "INSERT INTO run (comparison, n, set_number, seed) VALUES (:comparison, :n, :set, :seed)",
		"comparison=%ld n=%d set=%d seed=%ld", comparison, n, set, (int64_t)seed);
}

static struct stmt *bind_estimate(struct stmt *s, const struct run_estimate *e, struct fw_err *err)
{
	return stmt_bind(s, err, "d=%f q=%f d_raw=%f z=%f z_q=%f beta=%f beta_q=%f", e->d, e->q, e->d_raw, e->z, e->z_q, e->beta,
		e->beta_q);
}

static struct stmt *bind_device_check(struct stmt *s, const struct msg_device_check *g, struct fw_err *err)
{
	return stmt_bind(s, err, "power=%f temp=%f mhz_seen=%f reasons=%ld foreign=%d xid=%d ecc=%d energy=%f regime=%s",
		g->power_w, g->temp_c, g->sm_mhz, (int64_t)g->reasons, g->foreign, g->xid, g->ecc, g->energy_j, g->regime);
}

static int add_sample_kind(struct db *db, enum series series, const char *phase, const char *side, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO sample_kind (series, phase, side) VALUES (:series, :phase, :side) ON CONFLICT DO NOTHING",
		"series=%s phase=%s side=%s", series_name(series), phase, side);
}

/** Insert side `i` of a message. *n: 1, or 0 where its kind is not in sample_kind yet. */
static int put_sample(struct db *db, int64_t run, int64_t cell, const struct msg_cell *m, int i, const struct run_estimate *e,
	int *n, struct fw_err *err)
{
	size_t bytes = (size_t)m->n * sizeof(float);
	bool target = m->role[i] == ROLE_TARGET;
	struct stmt *s = db_stmt(db,
		"INSERT INTO sample (run, cell, kind, n, ms, mhz, host_us, call_order, d, q, d_raw, z, z_q, beta, beta_q, "
		"power_w, temp_c, sm_mhz, reasons, foreign_processes, xid, ecc, energy_j, regime) SELECT :run, :cell, k.id, :n, "
		":ms, :mhz, :host_us, :order, :d, :q, :d_raw, :z, :z_q, :beta, :beta_q, :power, :temp, :mhz_seen, :reasons, "
		":foreign, :xid, :ecc, :energy, :regime FROM sample_kind k WHERE k.series = :series AND k.phase = :phase AND "
		"k.side = :side",
		err);
	s = stmt_bind(s, err, "run=%ld cell=%ld series=%s phase=%s side=%s n=%d ms=%p%zu mhz=%p%zu host_us=%p%zu order=%s", run,
		cell, series_name(m->series), m->phase, role_name(m->role[i]), m->n, (const void *)m->ms[i], bytes,
		(const void *)m->mhz[i], bytes, (const void *)m->host_us[i], bytes,
		target ? m->order : ""); /* equal for all sides: store it once */
	if (target)
		s = bind_device_check(s, &m->device_check, err);
	if (target && e)
		s = bind_estimate(s, e, err);
	return stmt_run_count(s, n, err);
}

int store_samples_insert(
	struct db *db, int64_t run, int64_t cell, const struct msg_cell *m, const struct run_estimate *e, struct fw_err *err)
{
	int n;
	for (int i = 0; i < m->n_sides; i++) {
		if (put_sample(db, run, cell, m, i, e, &n, err))
			return -1;
		if (n == 0 && (add_sample_kind(db, m->series, m->phase, role_name(m->role[i]), err) ||
				      put_sample(db, run, cell, m, i, e, &n, err)))
			return -1;
	}
	return 0;
}

/** Position and length of one blob of floats in `values`; at -1: none. */
struct span {
	long at;
	int n;
};

static struct span put_floats(const void *data, int n, struct buf *values)
{
	struct span span = { (long)values->len, n };
	buf_append(values, data, (size_t)n * sizeof(float));
	return span;
}

static struct span take_floats(struct stmt *s, int column, struct buf *values)
{
	size_t len;
	const void *data = row_blob(s, column, &len);
	return row_is_null(s, column) ? (struct span){ -1, 0 } : put_floats(data, (int)(len / sizeof(float)), values);
}

/** Add the archived times of runs. `kind`: rows of sample_kind, base and target. */
static int add_archived(struct db *db, int64_t cell, const int64_t *kind, int n, const int64_t *run, struct span (*spans)[6],
	struct buf *values, struct fw_err *err)
{
	static const enum archived_times which[] = { ARCHIVED_MS, ARCHIVED_MHZ, ARCHIVED_HOST_US };
	struct archived a;
	int found = archived_read(db, cell, &a, err);
	for (int i = 0; found == 1 && i < n; i++)
		for (int k = 0; k < 6; k++) {
			int count;
			const float *v = archived_values(&a, cell, run[i], kind[k & 1], which[k / 2], &count);
			if (v)
				spans[i][k] = put_floats(v, count, values);
		}
	archived_fini(&a);
	return found < 0 ? -1 : 0;
}

static const float *floats_of(const struct buf *values, struct span span, int n)
{
	return span.at >= 0 && span.n == n ? (const float *)(const void *)(values->data + span.at) : NULL;
}

int store_cell_runs(struct db *db, int64_t cell, enum series series, struct store_runs *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	buf_init(&out->values, 4 << 20);
	struct span spans[STATS_RUNS_MAX][6];
	int64_t kind[2];
	struct stmt *s = db_query(db, err,
		"SELECT l.set_number, t.n, t.d, t.q, t.d_raw, coalesce(t.z, 0), coalesce(t.z_q, 0), coalesce(t.beta, 0), "
		"coalesce(t.beta_q, 0), t.run, t.reasons, coalesce(t.foreign_processes, -1), t.xid, t.ecc, coalesce(t.power_w, -1), "
		"coalesce(t.temp_c, -1), kb.id, k.id, b.ms, t.ms, b.mhz, t.mhz, b.host_us, t.host_us FROM sample_kind k JOIN "
		"sample_kind kb ON kb.series = k.series AND kb.phase = k.phase AND kb.side = 'base' CROSS JOIN sample t ON "
		"t.cell = :cell AND t.kind = k.id CROSS JOIN run l ON l.id = t.run CROSS JOIN sample b ON b.cell = t.cell AND "
		"b.run = t.run AND b.kind = kb.id WHERE k.series = :series AND k.phase = '' AND k.side = 'target' ORDER BY "
		"l.n",
		"cell=%ld series=%s", cell, series_name(series));
	int result, n = 0;
	while ((result = stmt_step(s, err)) == 1) {
		if (n == STATS_RUNS_MAX) {
			stmt_reset(s);
			return err_set(err, ERR_INVALID, "cell %lld has more than %d runs", (long long)cell, STATS_RUNS_MAX);
		}
		struct run_estimate *e = &out->estimate[n];
		struct msg_device_check *check = &out->device_check[n];
		device_check_unknown(check);
		row_read(s, e->set, e->n, e->d, e->q, e->d_raw, e->z, e->z_q, e->beta, e->beta_q, out->run[n], check->reasons,
			check->foreign, check->xid, check->ecc, check->power_w, check->temp_c, kind[0], kind[1]);
		for (int i = 0; i < 6; i++)
			spans[n][i] = take_floats(s, 18 + i, &out->values);
		n++;
	}
	bool is_short = false;
	for (int i = 0; i < n; i++)
		is_short = is_short || spans[i][0].at < 0 || spans[i][1].at < 0;
	if (result < 0 || (is_short && add_archived(db, cell, kind, n, out->run, spans, &out->values, err) != 0))
		return -1;
	if (out->values.failed)
		return err_set(err, ERR_FULL, "the samples of cell %lld do not fit in memory", (long long)cell);
	out->n = n;
	out->raw = n > 0;
	for (int i = 0; i < n; i++) { /* now, since the buffer does not move any more */
		int pairs = out->estimate[i].n;
		out->pairs[i] = (struct run_pairs){ .set = out->estimate[i].set,
			.n = pairs,
			.base_ms = floats_of(&out->values, spans[i][0], pairs),
			.target_ms = floats_of(&out->values, spans[i][1], pairs),
			.base_mhz = floats_of(&out->values, spans[i][2], pairs),
			.target_mhz = floats_of(&out->values, spans[i][3], pairs) };
		out->host[i] = (struct run_pairs){ .set = out->estimate[i].set,
			.n = pairs,
			.base_ms = floats_of(&out->values, spans[i][4], pairs),
			.target_ms = floats_of(&out->values, spans[i][5], pairs) };
		if (!out->pairs[i].base_mhz || !out->pairs[i].target_mhz)
			out->pairs[i].base_mhz = out->pairs[i].target_mhz = NULL;
		if (!out->pairs[i].base_ms || !out->pairs[i].target_ms)
			out->raw = false;
		if (!out->raw && !isfinite(out->estimate[i].d))
			return err_set(
				err, ERR_INVALID, "a run of cell %lld has neither samples nor an estimate", (long long)cell);
	}
	return 0;
}

int store_sample_estimate(
	struct db *db, int64_t cell, int64_t run, enum series series, const struct run_estimate *e, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"UPDATE sample SET d = :d, q = :q, d_raw = :d_raw, z = :z, z_q = :z_q, beta = :beta, beta_q = :beta_q WHERE cell "
		"= :cell AND run = :run AND kind = (SELECT id FROM sample_kind WHERE series = :series AND phase = '' AND side "
		"= 'target')",
		err);
	s = stmt_bind(s, err, "cell=%ld run=%ld series=%s", cell, run, series_name(series));
	return stmt_run(bind_estimate(s, e, err), err);
}

/* ---- slow calls: one row a set ---------------------------------------------------------------------------------------- */

int store_slow_calls_put(struct db *db, int64_t cell, const struct tail *tail, struct fw_err *err)
{
	for (int i = 0; i < MEAN_SETS; i++) {
		const struct tail_side *base = &tail[i].side[TAIL_BASE], *target = &tail[i].side[TAIL_TARGET];
		if (db_exec(db, err,
			    "INSERT INTO slow_calls (cell, set_number, runs, calls, base, base_longer, base_squares, base_spread, "
			    "target, target_longer, target_squares, target_spread) SELECT :cell, :set, :runs, :calls, :base, "
			    ":base_longer, :base_squares, :base_spread, :target, :target_longer, :target_squares, :target_spread "
			    "WHERE :calls > 0 ON CONFLICT (cell, set_number) DO UPDATE SET runs = excluded.runs, calls = "
			    "excluded.calls, base = excluded.base, base_longer = excluded.base_longer, base_squares = "
			    "excluded.base_squares, base_spread = excluded.base_spread, target = excluded.target, target_longer = "
			    "excluded.target_longer, target_squares = excluded.target_squares, target_spread = "
			    "excluded.target_spread",
			    "cell=%ld set=%d runs=%d calls=%d base=%d base_longer=%f base_squares=%f base_spread=%f target=%d "
			    "target_longer=%f target_squares=%f target_spread=%f",
			    cell, i + 1, tail[i].runs, tail[i].calls, base->slow, base->longer, base->squares, base->spread,
			    target->slow, target->longer, target->squares, target->spread))
			return -1;
	}
	return 0;
}

int store_slow_calls_get(struct db *db, int64_t cell, struct tail *tail, struct fw_err *err)
{
	memset(tail, 0, MEAN_SETS * sizeof *tail);
	struct stmt *s = db_query(db, err,
		"SELECT set_number, runs, calls, base, base_longer, base_squares, base_spread, target, target_longer, "
		"target_squares, target_spread FROM slow_calls WHERE cell = :cell AND set_number IN (1, 2)",
		"cell=%ld", cell);
	int set;
	struct tail row;
	struct tail_side *a = &row.side[0], *b = &row.side[1];
	return stmt_each(s, err, tail[set - 1] = row, set, row.runs, row.calls, a->slow, a->longer, a->squares, a->spread,
		b->slow, b->longer, b->squares, b->spread);
}
