/** token.h - access tokens and browser sessions. Loop only. */
#ifndef DB_TOKEN_H
#define DB_TOKEN_H

#include "db/db.h"

/** Permissions of a token; each scope includes the previous ones. */
enum token_scope { TOKEN_NONE, TOKEN_READ, TOKEN_TRIGGER, TOKEN_ADMIN };

struct token_row {
	int64_t id;
	char name[64];
	char scope[16];
	char made_by[64];                        /* token that its creator used, "flopwatchd" the daemon's own; "" unknown */
	int64_t created_at, used_at, revoked_at; /* 0: never */
};

/** "read", "trigger", "admin"; TOKEN_NONE for any other word. */
enum token_scope token_scope_of(const char *word);

struct token_new {
	const char *name, *hash, *scope, *made_by;
};
/** Err: ERR_CONFLICT a token of that name exists. */
int store_token_insert(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** The token with this hash that is not revoked; updates used_at once an hour. 1, 0, -1. */
int store_token_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** All tokens by name, revoked ones too. */
int store_token_list(struct db *db, void (*each)(void *arg, const struct token_row *row), void *arg, struct fw_err *err);
/** Revoke a token and end its sessions. Err: ERR_NOT_FOUND no valid token of that name. */
int store_token_revoke(struct db *db, const char *name, int64_t now_ms, struct fw_err *err);
/** Replace the token of this name (the daemon's own) and end its sessions. */
int store_token_replace(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** Revoke tokens with scope admin whose creator is unknown. *n counts them. */
int store_token_revoke_unvouched(struct db *db, int64_t now_ms, int *n, struct fw_err *err);

/** Insert a session, and delete expired ones. */
int store_session_insert(struct db *db, const char *hash, int64_t token, int64_t expires_at, int64_t now_ms, struct fw_err *err);
/** The token of a session. 1, 0, -1. */
int store_session_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** End a session. *was_open: it existed. */
int store_session_end(struct db *db, const char *hash, bool *was_open, struct fw_err *err);

#endif
