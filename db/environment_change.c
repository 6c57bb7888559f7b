#include "db/db.h"

#include <math.h>
#include <stdlib.h>

enum { REFERENCE_TIMES = 9, AROUND_MAX = 4096 };

/* ---- latest baseline periods ----------------------------------------------------------------------------------------- */

int store_current_baseline_put(
	struct db *db, const char *uuid, int64_t repo, const char *suite, int64_t baseline_period, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO current_baseline (device, repo, suite, baseline_period) SELECT id, :repo, :suite, :baseline_period "
		"FROM device WHERE uuid = :uuid ON CONFLICT (device, repo, suite) DO UPDATE SET baseline_period = "
		"excluded.baseline_period WHERE baseline_period <> excluded.baseline_period",
		"uuid=%s repo=%ld suite=%s baseline_period=%ld", uuid, repo, suite, baseline_period);
}

int store_current_baselines(struct db *db, const char *uuid, const struct store_current_baseline *after,
	struct store_current_baseline *out, struct fw_err *err)
{
	int n = 0, result;
	struct stmt *s = db_query(db, err,
		"SELECT t.repo, t.device, t.baseline_period, e.environment, t.suite, e.reference_sha, d.uuid, v.driver, "
		"v.toolkit, v.cudnn, v.cublas, v.image, v.vbios, coalesce(v.power_limit_w, 0.0), d.kind, v.cache_bytes FROM device d JOIN current_baseline t ON "
		"t.device = d.id JOIN baseline_period e ON e.id = t.baseline_period JOIN environment v ON v.id = e.environment "
		"WHERE d.uuid = :uuid AND (t.repo, t.suite) > (:repo, :suite) ORDER BY t.repo, t.suite LIMIT :limit",
		"uuid=%s repo=%ld suite=%s limit=%d", uuid, after ? after->repo : 0, after ? after->suite : "",
		STORE_CURRENT_BASELINES_MAX);
	struct store_current_baseline t = { 0 };
	while ((result = stmt_next(s, err, t.repo, t.device, t.baseline_period, t.environment, t.suite, t.reference_sha,
			t.recorded.uuid, t.recorded.driver, t.recorded.toolkit, t.recorded.cudnn, t.recorded.cublas,
			t.recorded.image, t.recorded.vbios, t.recorded.power_limit_w,
			COLUMN_NAMED(t.recorded.kind, device_kind_from_name), t.recorded.l2_bytes)) == 1)
		out[n++] = t;
	return result < 0 ? -1 : n;
}

int store_current_baselines_drop(struct db *db, const char *uuid, struct fw_err *err)
{
	return db_exec(db, err, "DELETE FROM current_baseline WHERE device = (SELECT id FROM device WHERE uuid = :uuid)",
		"uuid=%s", uuid);
}

int store_device_replaced(
	struct db *db, const char *worker, enum device_kind kind, int64_t now_ms, char *uuid, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT d.uuid FROM device d WHERE d.worker = :worker AND d.kind = :kind AND d.seen_at < :now AND EXISTS (SELECT "
		"1 FROM current_baseline t WHERE t.device = d.id) ORDER BY d.seen_at DESC LIMIT 1",
		"worker=%s kind=%s now=%ld", worker, device_kind_name(kind), now_ms);
	uuid[0] = 0;
	return stmt_first_text(s, uuid, 64, err) < 0 ? -1 : 0;
}

/* ---- changes --------------------------------------------------------------------------------------------------------- */

/* The class of a GPU determines its cache. That of a CPU is a setting of the worker, or of a virtual machine. */
int64_t store_cache_bytes(const struct msg_device *d)
{
	return d->kind == DEVICE_CPU ? d->l2_bytes : 0;
}

void store_device_fingerprint(const struct msg_device *d, char hex[65])
{
	struct buf text;
	buf_init(&text, AROUND_MAX);
	buf_printf(&text, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%.17g\n", d->uuid, d->driver, d->toolkit, d->cudnn, d->cublas, d->image,
		d->vbios, d->power_limit_w);
	if (store_cache_bytes(d))
		buf_printf(&text, "%lld\n", (long long)store_cache_bytes(d));
	hash_hex(text.data, text.len, hex);
	buf_fini(&text);
}

#define CHANGE_COLUMNS                                                                                                           \
	"SELECT c.id, c.repo, c.baseline_period, c.paired_job, c.unpaired_job, c.paired, c.unpaired, c.alert, "                  \
	"c.suite, d.uuid, c.old_hash, c.new_hash, c.changed, c.affects_runs, c.seen_at FROM environment_change c JOIN "          \
	"device d ON d.id = c.device "

/* 1 and the row, 0, -1. */
static int read_change(struct stmt *s, struct store_environment_change *out, struct fw_err *err)
{
	return stmt_first(s, err, out->id, out->repo, out->baseline_period, out->paired_job, out->unpaired_job, out->paired,
		out->unpaired, out->alert, out->suite, out->uuid, out->old_hash, out->new_hash, out->changed, out->affects_runs,
		out->seen_at);
}

int store_environment_change_insert(struct db *db, struct store_environment_change *e, struct fw_err *err)
{
	return db_insert(db, &e->id, err,
		"INSERT INTO environment_change (repo, suite, device, baseline_period, old_hash, new_hash, changed, affects_runs, "
		"paired_job, unpaired_job, seen_at) VALUES (:repo, :suite, (SELECT id FROM device WHERE uuid = :uuid), "
		":baseline_period, :old_hash, :new_hash, :changed, :affects_runs, nullif(:paired_job, 0), nullif(:unpaired_job, 0), :seen)",
		"repo=%ld suite=%s uuid=%s baseline_period=%ld old_hash=%s new_hash=%s changed=%s affects_runs=%d paired_job=%ld "
		"unpaired_job=%ld seen=%ld",
		e->repo, e->suite, e->uuid, e->baseline_period, e->old_hash, e->new_hash, e->changed, e->affects_runs,
		e->paired_job, e->unpaired_job, e->seen_at);
}

int store_environment_change_last(struct db *db, int64_t repo, const char *suite, const char *uuid,
	struct store_environment_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS "WHERE c.repo = :repo AND c.suite = :suite AND d.uuid = :uuid ORDER BY c.id DESC LIMIT 1",
		"repo=%ld suite=%s uuid=%s", repo, suite, uuid);
	return read_change(s, out, err);
}

/* Change `c` equals e on another device `d`; job `j` times the reference commit there. */
#define ELSEWHERE                                                                                                                \
	"FROM environment_change c JOIN device d ON d.id = c.device JOIN job j ON j.id = c.unpaired_job WHERE c.repo "           \
	"= :repo AND c.suite = :suite AND c.baseline_period = :baseline_period AND c.changed = :changed AND c.new_hash "         \
	"<> '' AND d.uuid <> :uuid AND "

/* It was measured there, can still be, or a user cancelled it. */
#define IS_HANDLED "(c.unpaired IS NOT NULL OR d.state = 'ok' OR j.state NOT IN ('queued', 'failed')) "

static struct stmt *bind_change(struct stmt *s, const struct store_environment_change *e, struct fw_err *err)
{
	return stmt_bind(
		s, err, "repo=%ld suite=%s baseline_period=%ld changed=%s", e->repo, e->suite, e->baseline_period, e->changed);
}

int store_environment_change_elsewhere(struct db *db, const struct store_environment_change *e, struct fw_err *err)
{
	struct stmt *s = bind_change(db_stmt(db, "SELECT 1 " ELSEWHERE IS_HANDLED "LIMIT 1", err), e, err);
	return stmt_any(stmt_bind(s, err, "uuid=%s", e->uuid), err);
}

int store_environment_change_stuck(struct db *db, const struct store_environment_change *e, char *uuid, struct fw_err *err)
{
	uuid[0] = 0;
	struct stmt *s = db_stmt(db, "SELECT d.uuid " ELSEWHERE "NOT " IS_HANDLED "ORDER BY c.id LIMIT 1", err);
	return stmt_first_text(stmt_bind(bind_change(s, e, err), err, "uuid=%s", e->uuid), uuid, 64, err);
}

int store_environment_change_undone(struct db *db, const char *uuid, struct store_environment_change *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		CHANGE_COLUMNS
		"JOIN job u ON u.id = c.unpaired_job LEFT JOIN job p ON p.id = c.paired_job WHERE d.uuid = :uuid "
		"AND c.new_hash <> '' AND (u.state = 'queued' OR p.state = 'queued' OR (c.unpaired IS NULL AND u.state = "
		"'failed')) ORDER BY c.id LIMIT 1",
		"uuid=%s", uuid);
	return read_change(s, out, err);
}

int store_environment_change_tries(
	struct db *db, const struct store_environment_change *e, const struct store_job *like, int *n, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT count(*) FROM job INDEXED BY job_by_target WHERE repo = :repo AND target_sha = :target AND kind = :kind "
		"AND origin = :origin AND suite = :suite AND state = 'failed' AND queued_at >= (SELECT min(seen_at) FROM "
		"environment_change WHERE repo = :repo AND suite = :suite AND baseline_period = :baseline_period AND changed = "
		":changed)",
		err);
	s = stmt_bind(bind_change(s, e, err), err, "target=%s kind=%s origin=%s", like->target_sha, jobkind_name(like->kind),
		like->origin);
	*n = 0;
	return stmt_first(s, err, *n) < 0 ? -1 : 0;
}

int store_environment_change_request(struct db *db, const struct store_environment_change *e, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE environment_change SET paired_job = nullif(:paired, 0), unpaired_job = nullif(:unpaired, 0) WHERE id = "
		":id",
		"id=%ld paired=%ld unpaired=%ld", e->id, e->paired_job, e->unpaired_job);
}

int store_environment_change_missed(struct db *db, int64_t id, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE environment_change SET new_hash = '' WHERE id = :id", "id=%ld", id);
}

int store_environment_change_reported(struct db *db, const struct store_environment_change *e, int64_t *alert, struct fw_err *err)
{
	*alert = 0;
	return db_first_int(db, alert, err,
		"WITH over AS MATERIALIZED (SELECT c.paired, c.unpaired FROM environment_change c JOIN device d ON d.id = "
		"c.device WHERE c.repo = :repo AND c.suite = :suite AND d.uuid = :uuid AND c.id >= (SELECT max(w.id) FROM "
		"environment_change w WHERE w.repo = c.repo AND w.suite = c.suite AND w.device = c.device AND w.old_hash = :new_hash)) "
		"SELECT a.id FROM alert a WHERE a.state IN ('open', 'acknowledged') AND a.repo = :repo AND a.kind = "
		"'environment' AND EXISTS (SELECT 1 FROM json_each(a.cells) k JOIN over o ON k.value ->> 'comparison' IN "
		"(o.paired, o.unpaired)) ORDER BY a.id LIMIT 1",
		"repo=%ld suite=%s uuid=%s new_hash=%s", e->repo, e->suite, e->uuid, e->new_hash);
}

int store_environment_builds(struct db *db, const struct store_environment_change *e, const char *toolkit, struct fw_err *err)
{
	return db_any(db, err, "SELECT 1 FROM device WHERE uuid = :uuid AND toolkit = :toolkit", "uuid=%s toolkit=%s", e->uuid,
		toolkit);
}

int store_environment_change_of_job(struct db *db, int64_t job, struct store_environment_change *out, struct fw_err *err)
{
	struct stmt *s =
		db_query(db, err, CHANGE_COLUMNS "WHERE c.paired_job = :job OR c.unpaired_job = :job LIMIT 1", "job=%ld", job);
	return read_change(s, out, err);
}

int store_environment_change_measured(
	struct db *db, int64_t id, bool is_paired, int64_t comparison, int64_t alert, struct fw_err *err)
{
	return db_exec(db, err,
		is_paired
			? "UPDATE environment_change SET paired = :comparison, alert = coalesce(nullif(:alert, 0), alert) WHERE id = :id"
			: "UPDATE environment_change SET unpaired = :comparison, alert = coalesce(nullif(:alert, 0), alert) WHERE id = :id",
		"comparison=%ld alert=%ld id=%ld", comparison, alert, id);
}

int store_environment_effect_put(struct db *db, const struct store_environment_effect *e, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT OR REPLACE INTO environment_effect (key, change, is_paired, change_pct, ci_low_pct, ci_high_pct, "
		"before_ms, after_ms) VALUES (:key, :change, :paired, :pct, :low, :high, :before, :after)",
		"key=%s change=%ld paired=%d pct=%f low=%f high=%f before=%f after=%f", e->key, e->change, e->is_paired,
		e->change_pct, e->ci_low_pct, e->ci_high_pct, e->before_ms, e->after_ms);
}

int store_environment_slowdowns(
	struct db *db, int64_t change, double beyond_pct, store_environment_slowdown_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT e.key, e.change_pct FROM cell c JOIN environment_effect e ON e.key = c.key AND e.change = :change AND "
		"e.is_paired = 0 WHERE c.comparison = (SELECT unpaired FROM environment_change WHERE id = :change) AND "
		"e.change_pct < -:beyond ORDER BY e.key",
		"change=%ld beyond=%f", change, beyond_pct);
	const char *key;
	double change_pct;
	return stmt_each(s, err, each(arg, key, change_pct), key, change_pct);
}

int store_environment_has_pairs(struct db *db, int64_t change, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM cell c JOIN environment_effect e ON e.key = c.key AND e.change = :change AND e.is_paired = 1 "
		"WHERE c.comparison = (SELECT paired FROM environment_change WHERE id = :change) LIMIT 1",
		"change=%ld", change);
}

/* ---- effects --------------------------------------------------------------------------------------------------------- */

int store_environment_judged(struct db *db, int64_t repo, int64_t environment, struct store_judged *out, struct fw_err *err)
{
	return db_first(db, err, (out->sha, out->module, out->toolchain),
		"SELECT c.target_sha, b.module_sha, b.toolchain FROM mainline l INDEXED BY mainline_by_position CROSS JOIN "
		"comparison c ON c.repo = l.repo AND c.target_sha = l.sha AND c.environment = :environment AND c.kind NOT IN "
		"('peer', 'config', 'environment', 'import') CROSS JOIN build b ON b.id = c.target_build AND b.module_sha <> '' "
		"WHERE l.repo = :repo AND NOT l.dropped ORDER BY l.position DESC LIMIT 1",
		"repo=%ld environment=%ld", repo, environment);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int store_reference_ms(
	struct db *db, int64_t baseline_period, const char *reference_sha, const char *key, double *ms, struct fw_err *err)
{
	struct store_baseline_period e;
	double x, se, found[REFERENCE_TIMES];
	int n = 0, result;
	*ms = NAN;
	if (store_baseline_period_get(db, baseline_period, &e, err))
		return -1;
	int known = store_chain_get(db, &e, reference_sha, key, &x, &se, err);
	if (known < 1)
		return known;
	struct stmt *s = db_query(db, err,
		"SELECT coalesce(c.held_ms, c.target_median_ms), r.x FROM ratio r JOIN cell c ON c.comparison = r.comparison AND "
		"c.key = r.key WHERE r.baseline_period = :baseline_period AND r.key = :key AND c.target_median_ms IS NOT NULL "
		"ORDER BY r.comparison DESC LIMIT :limit",
		"baseline_period=%ld key=%s limit=%d", baseline_period, key, REFERENCE_TIMES);
	double held_ms, at;
	while ((result = stmt_next(s, err, held_ms, at)) == 1)
		found[n++] = held_ms * exp(x - at);
	qsort(found, (size_t)n, sizeof *found, by_value);
	if (n > 0)
		*ms = n % 2 ? found[n / 2] : (found[n / 2 - 1] + found[n / 2]) / 2;
	return result;
}
