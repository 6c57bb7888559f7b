/** answer.h - responses to POSTs with an Idempotency-Key, stored for a day. Loop only. */
#ifndef DB_ANSWER_H
#define DB_ANSWER_H

#include "db/db.h"

struct store_answer {
	int status;
	char fingerprint[65]; /* SHA-256 of token and request */
	char location[256];
};

/** Appends the body. 1, 0, -1. */
int store_answer_find(struct db *db, const char *key, struct store_answer *out, struct buf *body, struct fw_err *err);
/** Store a response, and delete those older than a day. */
int store_answer_keep(struct db *db, const char *key, const struct store_answer *answer, const struct buf *body, int64_t now_ms,
	struct fw_err *err);

#endif
