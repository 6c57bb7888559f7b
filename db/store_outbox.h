/** store_outbox.h - deliveries that are owed, written in the transaction of what they tell. Loop only. */
#ifndef DB_STORE_OUTBOX_H
#define DB_STORE_OUTBOX_H

#include "db/db.h"

/** Inside the caller's transaction. `target` is the receiver's name in the configuration. */
int store_outbox_insert(
	struct db *db, const char *kind, const char *target, const char *payload, int64_t now_ms, struct fw_err *err);
/** The next due row. 1, 0, -1. */
int store_outbox_due(struct db *db, int64_t now_ms, int64_t *id, char *kind, size_t kind_size, char *target, size_t target_size,
	struct buf *payload, int *attempts, struct fw_err *err);
/** When the next waiting row is due; 0: none waits. */
int store_outbox_next_at(struct db *db, int64_t *at, struct fw_err *err);
/** Mark sent, or failed with the next try (0: give up). */
int store_outbox_result(struct db *db, int64_t id, bool sent, const char *error, int64_t next_at, struct fw_err *err);

#endif
