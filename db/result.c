/** result.c - results of a job, and reading them to judge again. */
#include "db/internal.h"

/* ---- builds ---------------------------------------------------------------------------------------------------------- */

/* Builds with the same inputs, toolchain and module. */
#define EQUAL_BUILDS                                                                                                             \
	"FROM build WHERE inputs_hash = :inputs AND toolchain = :toolchain AND device_kind = :kind AND module_sha = "            \
	":module AND state = 'ok' "
#define EQUAL_BINDS "inputs=%s toolchain=%s kind=%s module=%s"

int store_build_put(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, int64_t now_ms,
	int64_t *id, struct fw_err *err)
{
	if (strcmp(b->state, "cached") == 0) {
		struct stmt *s = db_query(db, err, "SELECT id " EQUAL_BUILDS "ORDER BY id DESC LIMIT 1", EQUAL_BINDS, inputs_hash,
			b->toolchain, device_kind_name(kind), b->module_sha256);
		int found = stmt_first_int(s, id, err);
		if (found)
			return found < 0 ? -1 : 0;
	}
	return db_insert(db, id, err,
		"INSERT INTO build (inputs_hash, toolchain, device_kind, module_sha, state, exit_status, exit_signal, detail, "
		"log, duration_ms, built_at) VALUES (:inputs, :toolchain, :kind, :module, :state, :exit, :signal, :detail, :log, "
		":duration, :now)",
		EQUAL_BINDS " state=%s exit=%d signal=%d detail=%s log=%p%zu duration=%ld now=%ld", inputs_hash, b->toolchain,
		device_kind_name(kind), b->module_sha256, strcmp(b->state, "failed") == 0 ? "failed" : "ok", b->exit, b->signal,
		b->detail, (const void *)(b->log.data ? b->log.data : ""), b->log.len, b->duration_ms, now_ms);
}

int store_build_log(struct db *db, const char *inputs_hash, enum device_kind kind, const struct msg_build *b, struct buf *log,
	struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT log " EQUAL_BUILDS "AND length(log) > 0 ORDER BY id DESC LIMIT 1", EQUAL_BINDS,
		inputs_hash, b->toolchain, device_kind_name(kind), b->module_sha256);
	return stmt_first_bytes(s, log, err);
}

/* ---- comparisons ----------------------------------------------------------------------------------------------------- */

int store_comparison_insert(struct db *db, struct store_comparison *c, struct fw_err *err)
{
	return db_insert(db, &c->id, err,
		"INSERT INTO comparison (job, repo, branch, kind, base_sha, base_how, target_sha, base_build, target_build, "
		"suite, rule, environment, device, identical_by, rows_unknown, verdict, gpu_s, wall_s, finished_at) VALUES "
		"(:job, :repo, :branch, :kind, :base, :base_how, :target, :base_build, :target_build, :suite, :rule, "
		":environment, :device, :identical_by, :rows_unknown, :verdict, :gpu_s, :wall_s, :finished_at)",
		"job=%ld repo=%ld branch=%s kind=%s base=%s base_how=%s target=%s base_build?=%ld target_build?=%ld suite=%ld rule=%s "
		"environment?=%ld device?=%ld identical_by=%s rows_unknown=%d verdict=%s gpu_s=%f wall_s=%f finished_at=%ld",
		c->job, c->repo, c->branch, jobkind_name(c->kind), c->base_sha, c->base_how, c->target_sha, c->base_build,
		c->target_build, c->suite, c->rule_json, c->environment, c->device, c->identical_by, c->rows_unknown,
		verdict_name(c->verdict), c->gpu_s, c->wall_s, c->finished_at);
}

int store_comparison_body(struct db *db, int64_t id, const void *body, size_t len, const char *etag, struct fw_err *err)
{
	struct buf packed;
	buf_init(&packed, PACKED_MAX_BYTES);
	int result = pack(body, len, &packed, err);
	if (result == 0)
		result = db_exec(db, err, "UPDATE comparison SET body = :body, body_len = :len, etag = :etag WHERE id = :id",
			"id=%ld len=%ld body=%p%zu etag=%s", id, (int64_t)len, (const void *)packed.data, packed.len, etag);
	buf_fini(&packed);
	return result;
}

/* The largest slowdown; a cell that is not decided may show a larger one, which no text calls slower. */
#define CELL_WORST                                                                                                               \
	"FROM cell WHERE comparison = :id AND decided_pct IS NOT NULL ORDER BY verdict <> 'regression', decided_pct, n LIMIT 1"

int store_comparison_verdict(struct db *db, int64_t id, enum verdict v, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE comparison SET verdict = :verdict, n_cells = (SELECT count(*) FROM cell WHERE comparison = :id), "
		"n_regressions = (SELECT count(*) FROM cell WHERE comparison = :id AND verdict = 'regression'), worst_pct = "
		"(SELECT decided_pct " CELL_WORST "), worst_key = coalesce((SELECT key " CELL_WORST "), '') WHERE id = :id",
		"id=%ld verdict=%s", id, verdict_name(v));
}

int store_comparison_get(struct db *db, int64_t id, struct store_comparison *out, struct buf *rule, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, job, repo, base_build, target_build, suite, environment, branch, kind, base_sha, base_how, "
		"target_sha, identical_by, verdict, gpu_s, wall_s, finished_at, rule, device, rows_unknown FROM comparison WHERE "
		"id = :id",
		"id=%ld", id);
	const char *rule_json;
	int found = stmt_next(s, err, out->id, out->job, out->repo, out->base_build, out->target_build, out->suite,
		out->environment, out->branch, COLUMN_NAMED(out->kind, jobkind_from_name), out->base_sha, out->base_how,
		out->target_sha, out->identical_by, COLUMN_NAMED(out->verdict, verdict_from_name), out->gpu_s, out->wall_s,
		out->finished_at, rule_json, out->device, out->rows_unknown);
	if (stmt_require(found, err, "there is no C%lld", (long long)id))
		return -1;
	size_t start = rule->len;
	buf_puts(rule, rule_json);
	stmt_reset(s);
	if (rule->failed)
		return err_set(err, ERR_FULL, "the rule of C%lld is too long", (long long)id);
	out->rule_json = rule->data + start;
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------------------------------- */

static struct stmt *bind_verdict(struct stmt *s, const struct store_cell *c, struct fw_err *err)
{
	static const struct store_mean none = { NAN, NAN, { NAN, NAN }, NAN };
	const struct store_mean *mean = c->mean.longer > 0 ? &c->mean : &none;
	return stmt_bind(s, err,
		"m=%f m_raw=%f m_code=%f se=%f se_clock=%f beta=%f runs=%d samples=%d base_median_ms=%f target_median_ms=%f "
		"change_pct=%f ci_low_pct=%f ci_high_pct=%f mde_pct=%f mean_m=%f mean_se=%f slow_base=%f slow_target=%f "
		"slow_longer=%f verdict=%s failure=%s reason=%s flags=%d decided_by=%s decided_m=%f decided_se=%f decided_pct=%f",
		c->m, c->m_raw, c->m_code, c->se, c->se_clock, c->beta, c->runs, c->samples, c->base_median_ms,
		c->target_median_ms, c->change_pct, c->ci_low_pct, c->ci_high_pct, c->mde_pct, mean->m, mean->se,
		mean->share[TAIL_BASE], mean->share[TAIL_TARGET], mean->longer, verdict_name(c->verdict), c->failure, c->reason,
		c->flags, decider_name(c->decider), c->decided_m, c->decided_se, c->decided_pct);
}

/** Set the values of `point` that judging writes. */
static void point_verdict(unsigned char *point, const struct store_cell *c)
{
	point_put(point, POINT_base_median_ms, c->base_median_ms);
	point_put(point, POINT_change_pct, c->change_pct);
	point_put(point, POINT_ci_low_pct, c->ci_low_pct);
	point_put(point, POINT_ci_high_pct, c->ci_high_pct);
	point_put_whole(point, POINT_FLAGS_AT, 2, (uint64_t)c->flags);
}

static struct stmt *bind_form(struct stmt *s, const struct store_cell *c, struct fw_err *err)
{
	return stmt_bind(s, err, "shape=%s line=%s pieces=%f baseline=%s", c->shape, c->line, c->pieces, c->baseline);
}

int store_cell_insert(struct db *db, struct store_cell *c, struct fw_err *err)
{
	if (stmt_run(bind_form(db_stmt(db, CELL_FORM_INSERT, err), c, err), err) != 0)
		return -1;
	unsigned char point[POINT_BYTES];
	double held_ms = c->baseline_period ? c->held_ms : NAN;
	point_put(point, POINT_flops, c->flops);
	point_put_whole(point, POINT_BASELINE_PERIOD_AT, 4, (uint64_t)c->baseline_period);
	point_put(point, POINT_held_ms, held_ms);
	point_put(point, POINT_reference_change_pct, c->baseline_period ? c->reference_change_pct : NAN);
	point_put(point, POINT_reference_ci_low_pct, c->baseline_period ? c->reference_ci_low_pct : NAN);
	point_put(point, POINT_reference_ci_high_pct, c->baseline_period ? c->reference_ci_high_pct : NAN);
	point_verdict(point, c);
	struct stmt *s = db_stmt(db, CELL_INSERT "FROM comparison p WHERE p.id = :comparison", err);
	s = stmt_bind(s, err,
		"comparison=%ld branch=%s device?=%ld confirmed_on?=%ld n=%d key=%s suite_group=%s title=%s size=%ld direction=%s "
		"series=%s input_sha=%s flops=%f bytes=%f threshold_pct=%f tau0=%f nu0=%f underpowered_pct=%f baseline_period?=%ld "
		"held_ms=%f point=%p%zu",
		c->comparison, c->history_branch, c->device, c->confirmed_on, c->n, c->key, c->group, c->title, c->size,
		c->direction, series_name(c->series), c->input_sha, c->flops, c->bytes > 0 ? c->bytes : NAN, c->threshold_pct,
		c->tau0 > 0 ? c->tau0 : NAN, c->nu0 > 0 ? c->nu0 : NAN, c->underpowered_pct, c->baseline_period, held_ms,
		(const void *)point, sizeof point);
	if (stmt_insert(bind_verdict(bind_form(s, c, err), c, err), &c->id, err))
		return -1;
	return db_changes(db) == 1 ? 0 : err_set(err, ERR_NOT_FOUND, "there is no C%lld", (long long)c->comparison);
}

/** Read the point of a cell. Err: ERR_DAMAGED it has none. */
static int get_point(struct db *db, int64_t cell, unsigned char *point, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT point FROM cell WHERE id = :id", "id=%ld", cell);
	int result = stmt_step(s, err);
	if (result < 0)
		return -1;
	size_t len = 0;
	const void *stored = result == 1 ? row_blob(s, 0, &len) : NULL;
	if (len == POINT_BYTES)
		memcpy(point, stored, POINT_BYTES);
	stmt_reset(s);
	return len == POINT_BYTES ? 0
				  : err_set(err, ERR_DAMAGED, "database: cell %lld has no history values; restore a backup",
					    (long long)cell);
}

int store_cell_verdict(struct db *db, const struct store_cell *c, struct fw_err *err)
{
	unsigned char point[POINT_BYTES];
	if (get_point(db, c->id, point, err) != 0)
		return -1;
	point_verdict(point, c);
	struct stmt *s =
		db_stmt(db, "UPDATE cell SET verdict = :verdict, point = :point" CELL_FOUND(CELL_SET) " WHERE id = :id", err);
	s = stmt_bind(s, err, "id=%ld point=%p%zu", c->id, (const void *)point, sizeof point);
	return stmt_run(bind_verdict(s, c, err), err);
}

static double or_zero(double v)
{
	return isfinite(v) ? v : 0;
}

static void read_cell(struct stmt *s, struct store_cell *out)
{
	*out = (struct store_cell){ 0 };
	row_read(s, out->id, out->comparison, out->n, out->key, out->group, out->title, out->size, out->direction,
		COLUMN_NAMED(out->series, series_from_name), out->input_sha, out->flops, out->bytes, out->threshold_pct,
		out->tau0, out->nu0, out->underpowered_pct, COLUMN_UNUSED, COLUMN_UNUSED,
		COLUMN_NAMED(out->verdict, verdict_from_name), out->m, out->m_raw, out->m_code, out->se, out->se_clock, out->beta,
		out->runs, out->samples, out->base_median_ms, out->target_median_ms, out->change_pct, out->ci_low_pct,
		out->ci_high_pct, out->mde_pct, out->mean.m, out->mean.se, out->mean.share[0], out->mean.share[1],
		out->mean.longer, out->failure, out->reason, out->flags, COLUMN_NAMED(out->decider, decider_from_name),
		out->decided_m, out->decided_se, out->decided_pct, out->shape, out->line, out->pieces, out->baseline, out->device,
		out->confirmed_on);
	out->mean.longer = or_zero(out->mean.longer);
}

int store_cell_next(struct db *db, int64_t comparison, int after_n, struct store_cell *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, CELL_SELECT "WHERE comparison = :comparison AND n > :after ORDER BY n LIMIT 1",
		"comparison=%ld after=%d", comparison, after_n);
	int result = stmt_step(s, err);
	if (result == 1) {
		read_cell(s, out);
		stmt_reset(s);
	}
	return result;
}

int cell_each(struct stmt *s, view_cell_fn *each, void *arg, struct fw_err *err)
{
	struct store_cell cell;
	int result;
	while ((result = stmt_step(s, err)) == 1) {
		read_cell(s, &cell);
		each(arg, &cell);
	}
	return result;
}

int view_cells(struct db *db, int64_t comparison, view_cell_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, CELL_SELECT "WHERE comparison = :comparison ORDER BY n", "comparison=%ld", comparison);
	return cell_each(s, each, arg, err);
}

/* ---- metrics and artifacts ------------------------------------------------------------------------------------------- */

static int add_metric_name(struct db *db, const char *name, const char *unit, struct fw_err *err)
{
	return db_exec(db, err, "INSERT INTO metric_name (name, unit) VALUES (:name, :unit) ON CONFLICT DO NOTHING",
		"name=%s unit=%s", name, unit);
}

/** *n: 1, or 0 where the name is not in metric_name yet. */
static int put_metric(struct db *db, int64_t cell, const char *name, const char *unit, double value, int *n, struct fw_err *err)
{
	return db_run_count(db, n, err,
		"INSERT INTO metric (cell, name, n, value) SELECT :cell, m.id, (SELECT coalesce(max(n), 0) + 1 FROM metric WHERE "
		"cell = :cell), :value FROM metric_name m WHERE m.name = :name AND m.unit = :unit ON CONFLICT (cell, name) DO "
		"UPDATE SET value = excluded.value",
		"cell=%ld name=%s unit=%s value=%f", cell, name, unit, value);
}

int store_metric(struct db *db, int64_t cell, const char *name, const char *unit, double value, struct fw_err *err)
{
	int n;
	if (!isfinite(value))
		return 0;
	if (put_metric(db, cell, name, unit, value, &n, err))
		return -1;
	return n > 0 || !(add_metric_name(db, name, unit, err) || put_metric(db, cell, name, unit, value, &n, err)) ? 0 : -1;
}

int store_artifact(
	struct db *db, const char *owner_kind, int64_t owner, const char *kind, const void *bytes, size_t len, struct fw_err *err)
{
	char sha[HASH_HEX];
	hash_hex(bytes, len, sha);
	return db_exec(db, err,
		"INSERT INTO artifact (owner_kind, owner, kind, sha, bytes) VALUES (:owner_kind, :owner, :kind, :sha, :bytes) ON "
		"CONFLICT (owner_kind, owner, kind) DO UPDATE SET sha = excluded.sha, bytes = excluded.bytes",
		"owner_kind=%s owner=%ld kind=%s sha=%s bytes=%p%zu", owner_kind, owner, kind, sha, bytes, len);
}
