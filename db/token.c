#include "db/db.h"

enum { NOTE_USE_EVERY_MS = 3600 * 1000 };

enum token_scope token_scope_of(const char *text)
{
	static const char *const words[] = { "", "read", "trigger", "admin" };
	for (int i = TOKEN_READ; text && i <= TOKEN_ADMIN; i++)
		if (strcmp(text, words[i]) == 0)
			return (enum token_scope)i;
	return TOKEN_NONE;
}

/* The next row: 1, 0, -1. */
static int read_row(struct stmt *s, struct token_row *out, struct fw_err *err)
{
	return stmt_next(s, err, out->id, out->name, out->scope, out->made_by, out->created_at, out->used_at, out->revoked_at,
		out->expires_at);
}

static int read_one(struct stmt *s, struct token_row *out, struct fw_err *err)
{
	int result = read_row(s, out, err);
	stmt_reset(s);
	return result;
}

static int run_for_token(struct stmt *s, const struct token_new *token, int64_t now_ms, struct fw_err *err)
{
	s = stmt_bind(s, err, "name=%s hash=%s scope=%s by=%s now=%ld expires=%ld", token->name, token->hash, token->scope,
		token->made_by, now_ms, token->expires_at);
	return stmt_run(s, err);
}

int store_token_insert(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO token (name, hash, scope, made_by, created_at, expires_at) VALUES (:name, :hash, :scope, :by, :now, "
		"nullif(:expires, 0)) ON CONFLICT DO NOTHING",
		err);
	if (run_for_token(s, token, now_ms, err) != 0)
		return -1;
	return db_changes(db) == 1 ? 0 : err_set(err, ERR_CONFLICT, "a token named %s exists; choose another name", token->name);
}

int store_token_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, name, scope, made_by, created_at, used_at, revoked_at, expires_at FROM token WHERE hash = :hash AND "
		"revoked_at IS NULL AND coalesce(expires_at > :now, 1)",
		"hash=%s now=%ld", hash, now_ms);
	int result = read_one(s, out, err);
	if (result != 1 || now_ms - out->used_at < NOTE_USE_EVERY_MS)
		return result;
	/* A full disk must not lock out the clients that search for its cause. */
	struct fw_err unnoted = { 0 };
	(void)db_exec(db, &unnoted, "UPDATE token SET used_at = :now WHERE id = :id", "id=%ld now=%ld", out->id, now_ms);
	return 1;
}

int store_token_list(struct db *db, void (*each)(void *arg, const struct token_row *row), void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_stmt(
		db, "SELECT id, name, scope, made_by, created_at, used_at, revoked_at, expires_at FROM token ORDER BY name", err);
	struct token_row row;
	while ((result = read_row(s, &row, err)) == 1)
		each(arg, &row);
	return result;
}

static int end_sessions(struct db *db, const char *name, struct fw_err *err)
{
	return db_exec(db, err, "DELETE FROM session WHERE token IN (SELECT id FROM token WHERE name = :name)", "name=%s", name);
}

static int revoke(struct db *db, const char *name, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "UPDATE token SET revoked_at = :now WHERE name = :name AND revoked_at IS NULL",
		"name=%s now=%ld", name, now_ms);
	if (stmt_run(s, err) != 0)
		return -1;
	if (db_changes(db) != 1)
		return err_set(err, ERR_NOT_FOUND, "there is no valid token named %s", name);
	return end_sessions(db, name, err);
}

/* Commit where `rc` is 0, else roll back. */
static int end_transaction(struct db *db, int rc, struct fw_err *err)
{
	if (rc == 0)
		return db_commit(db, err);
	db_rollback(db);
	return -1;
}

int store_token_revoke(struct db *db, const char *name, int64_t now_ms, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, revoke(db, name, now_ms, err), err) : -1;
}

static int replace(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO token (name, hash, scope, made_by, created_at, expires_at) VALUES (:name, :hash, :scope, :by, :now, "
		"nullif(:expires, 0)) ON CONFLICT (name) DO UPDATE SET hash = :hash, scope = :scope, made_by = :by, created_at = "
		":now, used_at = NULL, revoked_at = NULL, expires_at = nullif(:expires, 0)",
		err);
	return run_for_token(s, token, now_ms, err) == 0 ? end_sessions(db, token->name, err) : -1;
}

int store_token_replace(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, replace(db, token, now_ms, err), err) : -1;
}

static int revoke_unvouched(struct db *db, int64_t now_ms, int *n, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"UPDATE token SET revoked_at = :now WHERE scope = 'admin' AND made_by = '' AND revoked_at IS NULL", "now=%ld",
		now_ms);
	if (stmt_run_count(s, n, err) != 0)
		return -1;
	s = db_stmt(db, "DELETE FROM session WHERE token IN (SELECT id FROM token WHERE revoked_at IS NOT NULL)", err);
	return stmt_run(s, err);
}

int store_token_revoke_unvouched(struct db *db, int64_t now_ms, int *n, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, revoke_unvouched(db, now_ms, n, err), err) : -1;
}

int store_session_insert(struct db *db, const char *hash, int64_t token, const char *log_out, int64_t expires_at, int64_t now_ms,
	struct fw_err *err)
{
	if (db_exec(db, err, "DELETE FROM session WHERE expires_at <= :now", "now=%ld", now_ms) != 0)
		return -1;
	return db_exec(db, err,
		"INSERT INTO session (hash, token, log_out, expires_at) VALUES (:hash, :token, :log_out, :expires)",
		"hash=%s token=%ld log_out=%s expires=%ld", hash, token, log_out ? log_out : "", expires_at);
}

int store_session_log_out(struct db *db, const char *hash, struct buf *out, struct fw_err *err)
{
	return stmt_optional(
		stmt_first_bytes(db_query(db, err, "SELECT log_out FROM session WHERE hash = :hash", "hash=%s", hash), out, err));
}

int store_session_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT t.id, t.name, t.scope, t.made_by, t.created_at, t.used_at, t.revoked_at, min(s.expires_at, "
		"coalesce(t.expires_at, s.expires_at)) FROM session s JOIN token t ON t.id = s.token WHERE s.hash = :hash AND "
		"s.expires_at > :now AND t.revoked_at IS NULL AND coalesce(t.expires_at > :now, 1)",
		"hash=%s now=%ld", hash, now_ms);
	return read_one(s, out, err);
}

int store_session_end(struct db *db, const char *hash, bool *was_open, struct fw_err *err)
{
	int n = 0;
	int result = db_run_count(db, &n, err, "DELETE FROM session WHERE hash = :hash", "hash=%s", hash);
	*was_open = n > 0;
	return result;
}
