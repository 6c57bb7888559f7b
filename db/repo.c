#include "db/db.h"

#include <math.h>

/* ---- repositories ---------------------------------------------------------------------------------------------------- */

int store_repo_put(
	struct db *db, const char *name, const char *url, bool is_local, const char *upstream, int64_t *id, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"INSERT INTO repo (name, url, is_local, upstream, created_at) VALUES (:name, :url, :is_local, :upstream, :now) "
		"ON CONFLICT (name) DO UPDATE SET url = excluded.url, is_local = excluded.is_local, upstream = "
		"excluded.upstream, state = CASE state WHEN 'gone' THEN 'new' ELSE state END RETURNING id",
		"name=%s url=%s is_local=%d upstream=%s now=%ld", name, url, is_local, upstream, clock_utc_ms());
	if (stmt_step(s, err) != 1)
		return -1;
	*id = row_int(s, 0);
	return stmt_run(s, err);
}

int store_repo_find(struct db *db, const char *name, int64_t *id, struct fw_err *err)
{
	return db_first_int(db, id, err, "SELECT id FROM repo WHERE name = :name", "name=%s", name);
}

int store_repo_retire(struct db *db, const int64_t *ids, int n, struct fw_err *err)
{
	struct buf list;
	buf_init(&list, 1 << 16);
	struct jsonw j;
	jsonw_init(&j, &list);
	jsonw_array(&j);
	for (int i = 0; i < n; i++)
		jsonw_int(&j, ids[i]);
	jsonw_array_end(&j);
	int result = list.failed
			     ? err_set(err, ERR_FULL, "too many repositories")
			     : db_exec(db, err,
				       "UPDATE repo SET state = 'gone' WHERE state <> 'gone' AND id NOT IN (SELECT value FROM "
				       "json_each(:ids))",
				       "ids=%s", list.data);
	buf_fini(&list);
	return result;
}

int store_repo_state(struct db *db, int64_t repo, const char *state, const char *error, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE repo SET state = :state, error = :error WHERE id = :id AND (state <> :state OR error <> :error)",
		"id=%ld state=%s error=%s", repo, state, error ? error : "");
}

int store_repo_failed(struct db *db, int64_t repo, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE repo SET fetch_failures = fetch_failures + 1 WHERE id = :id", "id=%ld", repo);
}

int store_repo_fetched(struct db *db, int64_t repo, int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE repo SET fetched_at = :now WHERE id = :id", "id=%ld now=%ld", repo, now_ms);
}

/* ---- branches -------------------------------------------------------------------------------------------------------- */

int store_tip_get(struct db *db, int64_t repo, const char *name, char *sha, bool *gone, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT commit_sha, gone FROM branch_tip WHERE repo = :repo AND name = :name",
		"repo=%ld name=%s", repo, name);
	return stmt_require(stmt_first(s, err, *(char(*)[65])sha, *gone), err, "branch %s was never seen", name);
}

int store_tip_put(struct db *db, int64_t repo, const char *name, const char *display, const char *sha, bool watched,
	int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO branch_tip (repo, name, display, commit_sha, watched, seen_at) VALUES (:repo, :name, :display, "
		":sha, :watched, :now) ON CONFLICT (repo, name) DO UPDATE SET display = excluded.display, watched = "
		"excluded.watched, gone = 0, seen_at = CASE WHEN commit_sha = excluded.commit_sha THEN seen_at ELSE "
		"excluded.seen_at END, commit_sha = excluded.commit_sha",
		"repo=%ld name=%s display=%s sha=%s watched=%d now=%ld", repo, name, display, sha, watched, now_ms);
}

int store_tip_watch(struct db *db, int64_t repo, const char *name, bool watched, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE branch_tip SET watched = :watched WHERE repo = :repo AND name = :name AND watched <> :watched",
		"repo=%ld name=%s watched=%d", repo, name, watched);
}

int store_tip_gone(struct db *db, int64_t repo, const char *name, struct fw_err *err)
{
	return db_exec(
		db, err, "UPDATE branch_tip SET gone = 1 WHERE repo = :repo AND name = :name", "repo=%ld name=%s", repo, name);
}

int store_tip_each(
	struct db *db, int64_t repo, void (*each)(void *arg, const char *name, const char *sha), void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT name, commit_sha FROM branch_tip WHERE repo = :repo AND gone = 0 ORDER BY name", "repo=%ld", repo);
	int result;
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_text(s, 0), row_text(s, 1));
	return result;
}

/* ---- commits and suites ---------------------------------------------------------------------------------------------- */

int store_commit_put(struct db *db, int64_t repo, const struct store_commit *c, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO git_commit (repo, sha, tree, first_parent, author, subject, committed_at) VALUES (:repo, :sha, "
		":tree, :first_parent, :author, :subject, :committed_at) ON CONFLICT (repo, sha) DO NOTHING",
		"repo=%ld sha=%s tree=%s first_parent=%s author=%s subject=%s committed_at=%ld", repo, c->sha, c->tree,
		c->first_parent, c->author, c->subject, c->committed_at);
}

int store_commit_get(struct db *db, int64_t repo, const char *sha, struct store_commit *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT sha, tree, first_parent, author, subject, committed_at FROM git_commit WHERE repo = :repo AND sha = "
		":sha",
		"repo=%ld sha=%s", repo, sha);
	return stmt_require(
		stmt_first(s, err, out->sha, out->tree, out->first_parent, out->author, out->subject, out->committed_at), err,
		"commit %s is not stored", sha);
}

int store_changed_files_put(
	struct db *db, int64_t repo, const char *base, const char *target, const char *paths_json, int files, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO changed_files (repo, base_sha, target_sha, files, paths) VALUES (:repo, :base, :target, :files, :paths) "
		"ON CONFLICT DO NOTHING",
		"repo=%ld base=%s target=%s files=%d paths=%s", repo, base, target, files, paths_json);
}

#define CHANGED_FILES "FROM changed_files WHERE repo = :repo AND base_sha = :base AND target_sha = :target"

int store_changed_files_known(struct db *db, int64_t repo, const char *base, const char *target, struct fw_err *err)
{
	return db_any(db, err, "SELECT 1 " CHANGED_FILES, "repo=%ld base=%s target=%s", repo, base, target);
}

int store_changed_files(struct db *db, int64_t repo, const char *base, const char *target, struct buf *out, struct fw_err *err)
{
	return stmt_first_bytes(db_query(db, err, "SELECT json_object('number', files, 'paths', json(paths)) " CHANGED_FILES,
					"repo=%ld base=%s target=%s", repo, base, target),
		out, err);
}

int store_suite_put(struct db *db, const char *sha, const char *name, const char *text, size_t len, const char *origin,
	int64_t *id, struct fw_err *err)
{
	/* Look up the suite first: every result has one, and it is new only once. */
	int found = stmt_first_int(db_query(db, err, "SELECT id FROM suite WHERE sha = :sha", "sha=%s", sha), id, err);
	if (found)
		return found < 0 ? -1 : 0;
	return db_insert(db, id, err,
		"INSERT INTO suite (sha, name, text, origin) VALUES (:sha, :name, CAST(:text AS TEXT), :origin)",
		"sha=%s name=%s text=%p%zu origin=%s", sha, name, (const void *)text, len, origin);
}

int store_suite_size(struct db *db, int64_t suite, const struct suite_size *p, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE suite SET cells = :cells, shards = :shards, nights = :nights WHERE id = :id",
		"id=%ld cells=%d shards=%d nights=%d", suite, p->cells, p->shards, p->nights);
}

/* ---- devices and environments ---------------------------------------------------------------------------------------- */

int store_device_put(struct db *db, const struct msg_device *d, int64_t now_ms, int64_t *id, struct fw_err *err)
{
	int64_t class;
	if (store_class_put(db, d, &class, err) != 0)
		return -1;
	struct buf info;
	buf_init(&info, 4096);
	struct jsonw j;
	jsonw_init(&j, &info);
	jsonw_format(&j,
		"{ cores=%d memory_bytes=%ld l2_bytes=%ld power_limit_w=%f clock_max_mhz=%f peak_tflops=%f "
		"peak_gb_s=%f }",
		d->cores, d->memory_bytes, d->l2_bytes, d->power_limit_w, d->clock_max_mhz, d->peak_tflops, d->peak_gb_s);
	struct stmt *s = db_query(db, err,
		"INSERT INTO device (uuid, kind, name, driver, toolkit, cudnn, class, info, seen_at) VALUES (:uuid, :kind, "
		":name, :driver, :toolkit, :cudnn, :class, :info, :now) ON CONFLICT (uuid) DO UPDATE SET kind = excluded.kind, "
		"name = excluded.name, driver = excluded.driver, toolkit = excluded.toolkit, cudnn = excluded.cudnn, class = "
		"excluded.class, outlier = iif(class = excluded.class, outlier, ''), info = excluded.info, seen_at = "
		"excluded.seen_at, state = CASE state WHEN 'absent' THEN 'ok' ELSE state END, state_why = CASE state WHEN "
		"'absent' THEN '' ELSE state_why END RETURNING id",
		"uuid=%s kind=%s name=%s driver=%s toolkit=%s cudnn=%s class=%ld info=%s now=%ld", d->uuid,
		device_kind_name(d->kind), d->name, d->driver, d->toolkit, d->cudnn, class, info.data, now_ms);
	buf_fini(&info);
	if (stmt_step(s, err) != 1)
		return -1;
	*id = row_int(s, 0);
	return stmt_run(s, err);
}

int store_device_through(struct db *db, int64_t device, const char *worker, const char *host, bool on_call, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE device SET worker = :worker, host = :host, on_call = :on_call WHERE id = :device AND (worker <> :worker "
		"OR host <> :host OR on_call <> :on_call)",
		"device=%ld worker=%s host=%s on_call=%d", device, worker, host, on_call);
}

int store_device_health_check_host(struct db *db, const char *worker, char host[64], struct fw_err *err)
{
	return db_first_text(db, host, 64, err,
		"SELECT host FROM device WHERE state = 'health_check' AND worker = :worker LIMIT 1", "worker=%s", worker);
}

int store_device_location(struct db *db, int64_t device, const struct msg_location *location, struct fw_err *err)
{
	struct buf text;
	struct jsonw j;
	char sha[HASH_HEX];
	buf_init(&text, 1 << 16);
	jsonw_init(&j, &text);
	protocol_put_location(&j, location);
	hash_hex(text.data, text.len, sha);
	int result = db_exec(db, err,
		"INSERT INTO artifact (owner_kind, owner, kind, sha, bytes) VALUES ('device', :device, 'place', :sha, :bytes) ON "
		"CONFLICT (owner_kind, owner, kind) DO UPDATE SET sha = excluded.sha, bytes = excluded.bytes WHERE sha <> "
		"excluded.sha",
		"device=%ld sha=%s bytes=%p%zu", device, sha, (const void *)text.data, text.len);
	buf_fini(&text);
	return result;
}

int store_device_state(struct db *db, int64_t device, enum devicestate state, const char *why, int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE device SET state = :state, state_why = :why, state_at = :now WHERE id = :id",
		"id=%ld state=%s now=%ld why=%s", device, devicestate_name(state), now_ms, why ? why : "");
}

int store_device_get(struct db *db, const char *uuid, int64_t *id, enum devicestate *state, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT id, state FROM device WHERE uuid = :uuid", "uuid=%s", uuid);
	return stmt_require(
		stmt_first(s, err, *id, COLUMN_NAMED(*state, devicestate_from_name)), err, "no device %s was ever seen", uuid);
}

int store_device_uuid(struct db *db, int64_t device, char *uuid, struct fw_err *err)
{
	uuid[0] = 0;
	return stmt_optional(db_first_text(db, uuid, 64, err, "SELECT uuid FROM device WHERE id = :id", "id=%ld", device));
}

/* `cache_bytes` 0: unknown, as in versions that did not store it. */
static void environment_hash(int64_t class, const struct msg_device *d, const char *suite_sha, const char *timing,
	const char *isolation, int64_t cache_bytes, char hex[HASH_HEX])
{
	struct buf text; /* one field per line; no field contains a line end */
	buf_init(&text, 1 << 16);
	buf_printf(&text, "%lld\n%s\n%s\n%s\n%s\n", (long long)class, d->cudnn, suite_sha, timing, isolation);
	const char *const more[][2] = { { "cublas", d->cublas }, { "image", d->image }, { "vbios", d->vbios } };
	for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
		if (more[i][1][0])
			buf_printf(&text, "%s %s\n", more[i][0], more[i][1]);
	if (cache_bytes)
		buf_printf(&text, "cache %lld\n", (long long)cache_bytes);
	hash_hex(text.data, text.len, hex);
	buf_fini(&text);
}

/* 1 and the id, 0, -1. An environment whose cache was not stored yet is this one. */
static int find_environment(
	struct db *db, const char *hash, const char *hash_without_cache, int64_t cache_bytes, int64_t *id, struct fw_err *err)
{
	int found = stmt_first_int(db_query(db, err, "SELECT id FROM environment WHERE hash = :hash", "hash=%s", hash), id, err);
	if (found != 0 || !cache_bytes)
		return found;
	return stmt_first_int(
		db_query(db, err, "UPDATE environment SET hash = :hash, cache_bytes = :cache WHERE hash = :without RETURNING id",
			"hash=%s cache=%ld without=%s", hash, cache_bytes, hash_without_cache),
		id, err);
}

int store_environment_put(struct db *db, const struct msg_device *d, const char *suite_sha, const char *timing,
	const char *isolation, int64_t now_ms, int64_t *id, bool *is_new, struct fw_err *err)
{
	char hash[HASH_HEX], without_cache[HASH_HEX];
	int64_t class, cache_bytes = store_cache_bytes(d);
	if (store_class_put(db, d, &class, err) != 0)
		return -1;
	environment_hash(class, d, suite_sha, timing, isolation, cache_bytes, hash);
	environment_hash(class, d, suite_sha, timing, isolation, 0, without_cache);
	int found = find_environment(db, hash, without_cache, cache_bytes, id, err);
	*is_new = found == 0;
	if (found)
		return found < 0 ? -1 : 0;
	return db_insert(db, id, err,
		"INSERT INTO environment (class, hash, driver, toolkit, cudnn, cublas, image, vbios, suite_sha, timing, "
		"power_limit_w, isolation, first_at, cache_bytes) VALUES (:class, :hash, :driver, :toolkit, :cudnn, :cublas, "
		":image, :vbios, :suite_sha, :timing, :power, :isolation, :now, nullif(:cache, 0))",
		"class=%ld hash=%s driver=%s toolkit=%s cudnn=%s cublas=%s image=%s vbios=%s suite_sha=%s timing=%s power=%f "
		"isolation=%s now=%ld cache=%ld",
		class, hash, d->driver, d->toolkit, d->cudnn, d->cublas, d->image, d->vbios, suite_sha, timing,
		d->power_limit_w > 0 ? d->power_limit_w : NAN, isolation, now_ms, cache_bytes);
}

int store_repo_upstream(struct db *db, int64_t repo, char *upstream, size_t size, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT upstream FROM repo WHERE id = :id", "id=%ld", repo);
	return stmt_require(stmt_first_text(s, upstream, size, err), err, "there is no repository %lld", (long long)repo);
}

int store_repo_upstream_branch(struct db *db, int64_t repo, char *branch, struct fw_err *err)
{
	branch[0] = 0;
	return stmt_optional(db_first_text(db, branch, 1024, err,
		"SELECT coalesce((SELECT b.name FROM branch_tip b WHERE b.repo = r.id AND b.display = r.upstream), r.upstream) "
		"FROM repo r WHERE r.id = :repo",
		"repo=%ld", repo));
}
