/* account.c - users of the OpenID Connect provider. An account has a token, so that pages, scopes and the audit log treat it alike. */
#include "db/db.h"

/* Commit where `rc` is 0, else roll back. */
static int end_transaction(struct db *db, int rc, struct fw_err *err)
{
	if (rc == 0)
		return db_commit(db, err);
	db_rollback(db);
	return -1;
}

/* The row of `token` that the account has; a name that another user of the provider had is free once it was revoked. */
static int put_token(struct db *db, const struct store_account *a, int64_t *token, int64_t now_ms, struct fw_err *err)
{
	int64_t owner = 0;
	int known = db_first_int(db, token, err, "SELECT token FROM account WHERE issuer = :issuer AND subject = :subject",
		"issuer=%s subject=%s", a->issuer, a->subject);
	int taken = known < 0 ? -1 : db_first_int(db, &owner, err, "SELECT id FROM token WHERE name = :name", "name=%s", a->name);
	if (taken < 0)
		return -1;
	if (taken == 1 && !(known == 1 && owner == *token)) {
		int64_t revoked = 0;
		if (db_first_int(db, &revoked, err, "SELECT count(*) FROM token WHERE id = :id AND revoked_at IS NOT NULL",
			    "id=%ld", owner) != 1)
			return -1;
		if (!revoked)
			return err_set(err, ERR_CONFLICT,
				"another user of the provider has the name %s; an admin can free it: flopwatch token revoke %s",
				a->name, a->name);
		if (db_exec(db, err, "UPDATE token SET name = name || '.' || id WHERE id = :id", "id=%ld", owner) != 0)
			return -1;
	}
	if (known == 1)
		return db_exec(db, err,
			"UPDATE token SET name = :name, scope = :scope, revoked_at = NULL, used_at = :now WHERE id = :id",
			"name=%s scope=%s now=%ld id=%ld", a->name, a->scope, now_ms, *token);
	return db_insert(db, token, err,
		"INSERT INTO token (name, hash, scope, made_by, created_at, used_at) VALUES (:name, :hash, :scope, 'oidc', :now, "
		":now)",
		"name=%s hash=%s scope=%s now=%ld", a->name, a->hash, a->scope, now_ms);
}

/* Without a new refresh token the former one stays, so that sessions that were opened with it are still checked. */
static int put(struct db *db, const struct store_account *a, int64_t *token, int64_t now_ms, struct fw_err *err)
{
	if (put_token(db, a, token, now_ms, err) != 0)
		return -1;
	return db_exec(db, err,
		"INSERT INTO account (token, issuer, subject, refresh, checked_at, tried_at) VALUES (:token, :issuer, :subject, "
		":refresh, :now, :now) ON CONFLICT (issuer, subject) DO UPDATE SET refresh = iif(:refresh = '', refresh, :refresh), "
		"checked_at = :now, tried_at = :now",
		"token=%ld issuer=%s subject=%s refresh=%s now=%ld", *token, a->issuer, a->subject, a->refresh, now_ms);
}

int store_account_put(struct db *db, const struct store_account *a, int64_t *token, int64_t now_ms, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, put(db, a, token, now_ms, err), err) : -1;
}

/* Time of the next request for account `a`; now where its times are in the future, because the clock was set back. */
#define DUE_AT                                                                                                                    \
	"iif(max(a.checked_at, a.tried_at) > :now, :now, max(a.checked_at + :every, iif(a.tried_at > a.checked_at, a.tried_at + " \
	":again, 0))) "
#define IS_OPEN "a.refresh <> '' AND EXISTS (SELECT 1 FROM session s WHERE s.token = a.token AND s.expires_at > :now) "

int store_account_due(
	struct db *db, int64_t every_ms, int64_t retry_ms, int64_t now_ms, struct store_account_due *out, struct fw_err *err)
{
	return db_first(db, err, (out->id, out->subject, out->name, out->scope, out->refresh, out->at, out->checked_at),
		"SELECT a.id, a.subject, t.name, t.scope, a.refresh, " DUE_AT
		"AS due, a.checked_at FROM account a JOIN token t ON t.id = a.token WHERE " IS_OPEN "ORDER BY due LIMIT 1",
		"now=%ld every=%ld again=%ld", now_ms, every_ms, retry_ms);
}

int store_account_try(struct db *db, int64_t id, int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE account SET tried_at = :now, checked_at = min(checked_at, :now) WHERE id = :id",
		"now=%ld id=%ld", now_ms, id);
}

int store_account_hurry(struct db *db, int64_t checked_before_ms, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE account SET checked_at = min(checked_at, :before)", "before=%ld", checked_before_ms);
}

static int check(struct db *db, const struct store_account_due *used, const char *scope, const char *refresh, int64_t now_ms,
	bool *is_current, struct fw_err *err)
{
	int n;
	if (db_run_count(db, &n, err,
		    "UPDATE account SET refresh = :refresh, checked_at = :now, tried_at = :now WHERE id = :id AND refresh = :used",
		    "refresh=%s now=%ld id=%ld used=%s", refresh, now_ms, used->id, used->refresh) != 0)
		return -1;
	*is_current = n > 0;
	if (!*is_current)
		return 0;
	return db_exec(db, err, "UPDATE token SET scope = :scope WHERE id = (SELECT token FROM account WHERE id = :id)",
		"scope=%s id=%ld", scope, used->id);
}

int store_account_check(struct db *db, const struct store_account_due *used, const char *scope, const char *refresh,
	int64_t now_ms, bool *is_current, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, check(db, used, scope, refresh, now_ms, is_current, err), err) : -1;
}

int store_account_renew(struct db *db, const struct store_account_due *used, const char *refresh, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE account SET refresh = :refresh WHERE id = :id AND refresh = :used",
		"refresh=%s id=%ld used=%s", refresh, used->id, used->refresh);
}

static int end_one(struct db *db, const struct store_account_due *used, bool *is_current, struct fw_err *err)
{
	int n;
	if (db_run_count(db, &n, err, "UPDATE account SET refresh = '' WHERE id = :id AND refresh = :used", "id=%ld used=%s",
		    used->id, used->refresh) != 0)
		return -1;
	*is_current = n > 0;
	if (!*is_current)
		return 0;
	return db_exec(
		db, err, "DELETE FROM session WHERE token = (SELECT token FROM account WHERE id = :id)", "id=%ld", used->id);
}

int store_account_end(struct db *db, const struct store_account_due *used, bool *is_current, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, end_one(db, used, is_current, err), err) : -1;
}

#define OF_OTHERS "(SELECT token FROM account WHERE issuer <> :issuer)"

/* The names become free for users of the new issuer. */
static int end_others(struct db *db, const char *issuer, int64_t now_ms, struct fw_err *err)
{
	if (db_exec(db, err, "DELETE FROM session WHERE token IN " OF_OTHERS, "issuer=%s", issuer) != 0 ||
		db_exec(db, err, "UPDATE token SET revoked_at = :now WHERE revoked_at IS NULL AND id IN " OF_OTHERS,
			"now=%ld issuer=%s", now_ms, issuer) != 0)
		return -1;
	return db_exec(db, err, "UPDATE account SET refresh = '' WHERE issuer <> :issuer AND refresh <> ''", "issuer=%s", issuer);
}

int store_account_end_others(struct db *db, const char *issuer, int64_t now_ms, struct fw_err *err)
{
	return db_begin(db, err) == 0 ? end_transaction(db, end_others(db, issuer, now_ms, err), err) : -1;
}

int store_account_forget(struct db *db, int64_t now_ms, struct fw_err *err)
{
	return db_exec(db, err,
		"UPDATE account SET refresh = '' WHERE refresh <> '' AND NOT EXISTS (SELECT 1 FROM session s WHERE s.token = "
		"account.token AND s.expires_at > :now)",
		"now=%ld", now_ms);
}
