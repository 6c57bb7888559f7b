/** token.h - access tokens and the browsers that logged in with one. Loop only. */
#ifndef DB_STORE_TOKEN_H
#define DB_STORE_TOKEN_H

#include "db/sqlite/db.h"

/** What a token may do; each scope includes those before it. */
enum token_scope { TOKEN_NONE, TOKEN_READ, TOKEN_TRIGGER, TOKEN_ADMIN };

struct token_row {
	int64_t id;
	char name[64];
	char scope[16];
	char made_by[64]; /* the token that its maker showed, "flopwatchd" the daemon's own; "" nobody knows */
	int64_t created_at, used_at, revoked_at; /* 0: never */
};

/** "read", "trigger", "admin"; TOKEN_NONE for any other word. */
enum token_scope token_scope_of(const char *word);

struct token_new {
	const char *name, *hash, *scope, *made_by;
};
/** Err: ERR_CONFLICT a token of that name exists. */
int store_token_insert(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** The token with this hash that is not revoked; its use is noted once an hour. 1, 0, -1. */
int store_token_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** All tokens by name, revoked ones too. */
int store_token_list(struct db *db, void (*each)(void *arg, const struct token_row *row), void *arg, struct fw_err *err);
/** Ends its sessions too. Err: ERR_NOT_FOUND no such token that still works. */
int store_token_revoke(struct db *db, const char *name, int64_t now_ms, struct fw_err *err);
/** Replace the token of this name (the daemon's own); its sessions end with it. */
int store_token_replace(struct db *db, const struct token_new *token, int64_t now_ms, struct fw_err *err);
/** Revoke tokens with scope admin that nobody vouches for. *n counts them. */
int store_token_revoke_unvouched(struct db *db, int64_t now_ms, int *n, struct fw_err *err);

/** Also forgets sessions that are over. */
int store_session_insert(struct db *db, const char *hash, int64_t token, int64_t expires_at, int64_t now_ms, struct fw_err *err);
/** The token behind a session. 1, 0, -1. */
int store_session_find(struct db *db, const char *hash, int64_t now_ms, struct token_row *out, struct fw_err *err);
/** Sets *was_open: whether there was such a session. */
int store_session_end(struct db *db, const char *hash, bool *was_open, struct fw_err *err);

#endif
