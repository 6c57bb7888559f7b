/** result.c - results of a job, and reading them to judge again. */
#include "db/internal.h"

#include "lib/lib.h"

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
	struct stmt *s = db_query(db, err,
		"INSERT INTO build (inputs_hash, toolchain, device_kind, module_sha, state, exit_status, exit_signal, detail, "
		"log, duration_ms, built_at) VALUES (:inputs, :toolchain, :kind, :module, :state, :exit, :signal, :detail, :log, "
		":duration, :now)",
		EQUAL_BINDS " state=%s exit=%d signal=%d detail=%s log=%p%zu duration=%ld now=%ld", inputs_hash, b->toolchain,
		device_kind_name(kind), b->module_sha256, strcmp(b->state, "failed") == 0 ? "failed" : "ok", b->exit, b->signal,
		b->detail, (const void *)(b->log.data ? b->log.data : ""), b->log.len, b->duration_ms, now_ms);
	return stmt_insert(s, id, err);
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
	struct stmt *s = db_stmt(db,
		"INSERT INTO comparison (job, repo, branch, kind, base_sha, base_how, target_sha, base_build, target_build, "
		"suite, rule, environment, device, identical_by, rows_unknown, verdict, gpu_s, wall_s, finished_at) VALUES "
		"(:job, :repo, :branch, :kind, :base, :base_how, :target, :base_build, :target_build, :suite, :rule, "
		":environment, :device, :identical_by, :rows_unknown, :verdict, :gpu_s, :wall_s, :finished_at)",
		err);
	stmt_int(s, ":job", c->job);
	stmt_int(s, ":repo", c->repo);
	stmt_text(s, ":branch", c->branch);
	stmt_text(s, ":kind", jobkind_name(c->kind));
	stmt_text(s, ":base", c->base_sha);
	stmt_text(s, ":base_how", c->base_how);
	stmt_text(s, ":target", c->target_sha);
	stmt_int_or_null(s, ":base_build", c->base_build);
	stmt_int_or_null(s, ":target_build", c->target_build);
	stmt_int(s, ":suite", c->suite);
	stmt_text(s, ":rule", c->rule_json);
	stmt_int_or_null(s, ":environment", c->environment);
	stmt_int_or_null(s, ":device", c->device);
	stmt_text(s, ":identical_by", c->identical_by);
	stmt_int(s, ":rows_unknown", c->rows_unknown);
	stmt_text(s, ":verdict", verdict_name(c->verdict));
	stmt_double(s, ":gpu_s", c->gpu_s);
	stmt_double(s, ":wall_s", c->wall_s);
	stmt_int(s, ":finished_at", c->finished_at);
	return stmt_insert(s, &c->id, err);
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

int store_comparison_verdict(struct db *db, int64_t id, enum verdict v, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE comparison SET verdict = :verdict, n_cells = (SELECT count(*) FROM cell WHERE comparison = :id), "
		"n_regressions = (SELECT count(*) FROM cell WHERE comparison = :id AND verdict = 'regression'), worst_pct = "
		"(SELECT min(decided_pct) FROM cell WHERE comparison = :id), worst_key = coalesce((SELECT key FROM cell WHERE "
		"comparison = :id AND decided_pct IS NOT NULL ORDER BY decided_pct, n LIMIT 1), '') WHERE id = :id",
		"id=%ld verdict=%s", id, verdict_name(v));
}

int store_comparison_get(struct db *db, int64_t id, struct store_comparison *out, struct buf *rule, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, job, repo, base_build, target_build, suite, environment, branch, kind, base_sha, base_how, "
		"target_sha, identical_by, verdict, gpu_s, wall_s, finished_at, rule, device, rows_unknown FROM comparison WHERE "
		"id = :id",
		"id=%ld", id);
	if (stmt_require(stmt_step(s, err), err, "there is no comparison %lld", (long long)id))
		return -1;
	*out = (struct store_comparison){ .id = row_int(s, 0),
		.job = row_int(s, 1),
		.repo = row_int(s, 2),
		.base_build = row_int(s, 3),
		.target_build = row_int(s, 4),
		.suite = row_int(s, 5),
		.environment = row_int(s, 6),
		.device = row_int(s, 18),
		.rows_unknown = row_int(s, 19) != 0,
		.verdict = verdict_from_name(row_text(s, 13)),
		.gpu_s = row_double(s, 14),
		.wall_s = row_double(s, 15),
		.finished_at = row_int(s, 16) };
	row_copy(s, 7, out->branch, sizeof out->branch);
	out->kind = jobkind_from_name(row_text(s, 8));
	row_copy(s, 9, out->base_sha, sizeof out->base_sha);
	row_copy(s, 10, out->base_how, sizeof out->base_how);
	row_copy(s, 11, out->target_sha, sizeof out->target_sha);
	row_copy(s, 12, out->identical_by, sizeof out->identical_by);
	size_t start = rule->len;
	buf_puts(rule, row_text(s, 17));
	stmt_reset(s);
	if (rule->failed)
		return err_set(err, ERR_FULL, "the rule of comparison %lld is too long", (long long)id);
	out->rule_json = rule->data + start;
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------------------------------- */

static void bind_verdict(struct stmt *s, const struct store_cell *c)
{
	stmt_double(s, ":m", c->m);
	stmt_double(s, ":m_raw", c->m_raw);
	stmt_double(s, ":m_code", c->m_code);
	stmt_double(s, ":se", c->se);
	stmt_double(s, ":se_clock", c->se_clock);
	stmt_double(s, ":beta", c->beta);
	stmt_int(s, ":runs", c->runs);
	stmt_int(s, ":samples", c->samples);
	stmt_double(s, ":base_median_ms", c->base_median_ms);
	stmt_double(s, ":target_median_ms", c->target_median_ms);
	stmt_double(s, ":change_pct", c->change_pct);
	stmt_double(s, ":ci_low_pct", c->ci_low_pct);
	stmt_double(s, ":ci_high_pct", c->ci_high_pct);
	stmt_double(s, ":mde_pct", c->mde_pct);
	bool has_tail = c->mean.longer > 0;
	stmt_double(s, ":mean_m", has_tail ? c->mean.m : NAN);
	stmt_double(s, ":mean_se", has_tail ? c->mean.se : NAN);
	stmt_double(s, ":slow_base", has_tail ? c->mean.share[TAIL_BASE] : NAN);
	stmt_double(s, ":slow_target", has_tail ? c->mean.share[TAIL_TARGET] : NAN);
	stmt_double(s, ":slow_longer", has_tail ? c->mean.longer : NAN);
	stmt_text(s, ":verdict", verdict_name(c->verdict));
	stmt_text(s, ":failure", c->failure);
	stmt_text(s, ":reason", c->reason);
	stmt_int(s, ":flags", c->flags);
	stmt_text(s, ":decided_by", decider_name(c->decider));
	stmt_double(s, ":decided_m", c->decided_m);
	stmt_double(s, ":decided_se", c->decided_se);
	stmt_double(s, ":decided_pct", c->decided_pct);
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

static void bind_form(struct stmt *s, const struct store_cell *c)
{
	stmt_text(s, ":shape", c->shape);
	stmt_text(s, ":line", c->line);
	stmt_double(s, ":pieces", c->pieces);
	stmt_text(s, ":baseline", c->baseline);
}

static int insert_form(struct db *db, const struct store_cell *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db, CELL_FORM_INSERT, err);
	bind_form(s, c);
	return stmt_run(s, err);
}

int store_cell_insert(struct db *db, struct store_cell *c, struct fw_err *err)
{
	if (insert_form(db, c, err) != 0)
		return -1;
	struct stmt *s = db_stmt(db, CELL_INSERT "FROM comparison p WHERE p.id = :comparison", err);
	stmt_int(s, ":comparison", c->comparison);
	stmt_text(s, ":branch", c->history_branch);
	stmt_int_or_null(s, ":device", c->device);
	stmt_int_or_null(s, ":confirmed_on", c->confirmed_on);
	stmt_int(s, ":n", c->n);
	stmt_text(s, ":key", c->key);
	stmt_text(s, ":suite_group", c->group);
	stmt_text(s, ":title", c->title);
	stmt_int(s, ":size", c->size);
	bind_form(s, c);
	stmt_text(s, ":direction", c->direction);
	stmt_text(s, ":series", series_name(c->series));
	stmt_text(s, ":input_sha", c->input_sha);
	stmt_double(s, ":flops", c->flops);
	stmt_double(s, ":bytes", c->bytes > 0 ? c->bytes : NAN);
	stmt_double(s, ":threshold_pct", c->threshold_pct);
	stmt_double(s, ":tau0", c->tau0 > 0 ? c->tau0 : NAN);
	stmt_double(s, ":nu0", c->nu0 > 0 ? c->nu0 : NAN);
	stmt_double(s, ":underpowered_pct", c->underpowered_pct);
	stmt_int_or_null(s, ":baseline_period", c->baseline_period);
	stmt_double(s, ":held_ms", c->baseline_period ? c->held_ms : NAN);
	bind_verdict(s, c);
	unsigned char point[POINT_BYTES];
	point_put(point, POINT_flops, c->flops);
	point_put_whole(point, POINT_BASELINE_PERIOD_AT, 4, (uint64_t)c->baseline_period);
	point_put(point, POINT_held_ms, c->baseline_period ? c->held_ms : NAN);
	point_put(point, POINT_reference_change_pct, c->baseline_period ? c->reference_change_pct : NAN);
	point_put(point, POINT_reference_ci_low_pct, c->baseline_period ? c->reference_ci_low_pct : NAN);
	point_put(point, POINT_reference_ci_high_pct, c->baseline_period ? c->reference_ci_high_pct : NAN);
	point_verdict(point, c);
	stmt_blob(s, ":point", point, sizeof point);
	if (stmt_insert(s, &c->id, err))
		return -1;
	return db_changes(db) == 1 ? 0 : err_set(err, ERR_NOT_FOUND, "there is no comparison %lld", (long long)c->comparison);
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
	struct stmt *s =
		db_stmt(db, "UPDATE cell SET verdict = :verdict, point = :point" CELL_FOUND(CELL_SET) " WHERE id = :id", err);
	stmt_int(s, ":id", c->id);
	bind_verdict(s, c);
	point_verdict(point, c);
	stmt_blob(s, ":point", point, sizeof point);
	return stmt_run(s, err);
}

static double or_zero(double v)
{
	return isfinite(v) ? v : 0;
}

static void read_cell(struct stmt *s, struct store_cell *out)
{
	*out = (struct store_cell){ .id = row_int(s, CELL_id),
		.comparison = row_int(s, CELL_comparison),
		.device = row_int(s, CELL_device),
		.confirmed_on = row_int(s, CELL_confirmed_on),
		.n = (int)row_int(s, CELL_n),
		.size = row_int(s, CELL_size),
		.pieces = row_double(s, CELL_pieces),
		.flops = row_double(s, CELL_flops),
		.bytes = row_double(s, CELL_bytes),
		.threshold_pct = row_double(s, CELL_threshold_pct),
		.m = row_double(s, CELL_m),
		.m_raw = row_double(s, CELL_m_raw),
		.se = row_double(s, CELL_se),
		.beta = row_double(s, CELL_beta),
		.m_code = row_double(s, CELL_m_code),
		.se_clock = row_double(s, CELL_se_clock),
		.mean = { .m = row_double(s, CELL_mean_m),
			.se = row_double(s, CELL_mean_se),
			.share = { row_double(s, CELL_slow_base), row_double(s, CELL_slow_target) },
			.longer = or_zero(row_double(s, CELL_slow_longer)) },
		.decider = decider_from_name(row_text(s, CELL_decided_by)),
		.decided_m = row_double(s, CELL_decided_m),
		.decided_se = row_double(s, CELL_decided_se),
		.decided_pct = row_double(s, CELL_decided_pct),
		.runs = (int)row_int(s, CELL_runs),
		.samples = (int)row_int(s, CELL_samples),
		.base_median_ms = row_double(s, CELL_base_median_ms),
		.target_median_ms = row_double(s, CELL_target_median_ms),
		.change_pct = row_double(s, CELL_change_pct),
		.ci_low_pct = row_double(s, CELL_ci_low_pct),
		.ci_high_pct = row_double(s, CELL_ci_high_pct),
		.mde_pct = row_double(s, CELL_mde_pct),
		.verdict = verdict_from_name(row_text(s, CELL_verdict)),
		.tau0 = row_double(s, CELL_tau0),
		.nu0 = row_double(s, CELL_nu0),
		.underpowered_pct = row_double(s, CELL_underpowered_pct),
		.flags = (int)row_int(s, CELL_flags),
		.series = series_from_name(row_text(s, CELL_series)) };
	row_copy(s, CELL_key, out->key, sizeof out->key);
	row_copy(s, CELL_input_sha, out->input_sha, sizeof out->input_sha);
	row_copy(s, CELL_suite_group, out->group, sizeof out->group);
	row_copy(s, CELL_title, out->title, sizeof out->title);
	row_copy(s, CELL_line, out->line, sizeof out->line);
	row_copy(s, CELL_baseline, out->baseline, sizeof out->baseline);
	row_copy(s, CELL_shape, out->shape, sizeof out->shape);
	row_copy(s, CELL_direction, out->direction, sizeof out->direction);
	row_copy(s, CELL_failure, out->failure, sizeof out->failure);
	row_copy(s, CELL_reason, out->reason, sizeof out->reason);
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
	struct stmt *s = db_query(db, err,
		"INSERT INTO metric (cell, name, n, value) SELECT :cell, m.id, (SELECT coalesce(max(n), 0) + 1 FROM metric WHERE "
		"cell = :cell), :value FROM metric_name m WHERE m.name = :name AND m.unit = :unit ON CONFLICT (cell, name) DO "
		"UPDATE SET value = excluded.value",
		"cell=%ld name=%s unit=%s value=%f", cell, name, unit, value);
	return stmt_run_count(s, n, err);
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
