/**
 * alert.h - alerts: each change writes the row, an event for readers and one notification for each webhook in the caller's
 * transaction, so that none is lost or sent twice. Ctx: loop only.
 */
#ifndef FLOPWATCHD_ALERT_ALERT_H
#define FLOPWATCHD_ALERT_ALERT_H

#include "flopwatchd/config/config.h"
#include "db/alert.h"
#include "db/event.h"

/**
 * Open the alert `a` or extend it (store_alert_open defines its keys and the effect of user decisions). Set at least kind, repo
 * (or device), branch, target_sha, title and cells_json; sets a->id and a->state. `is_new`: it was not open before this call.
 * Sends "alert.opened", or "alert.extended" if an open alert got cells, and queues a profile of lost time (alert_profile.h).
 * `config` NULL: neither notifications nor a profile.
 */
int alert_open(
	struct db *db, const struct config *config, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** End an open or acknowledged alert, "alert.resolved". `comparison` shows the end, 0 none. Err: ERR_CONFLICT. */
int alert_resolve(struct db *db, const struct config *config, int64_t id, int64_t comparison, const char *reason, int64_t now_ms,
	struct fw_err *err);

/**
 * Set the state a user chose: acknowledged, accepted, resolved or invalid. Sends "alert.acknowledged" and so on with `who` and
 * `reason` ("" none). Err: as store_alert_change.
 */
int alert_change(struct db *db, const struct config *config, int64_t id, enum alertstate state, const char *who,
	const char *reason, int64_t now_ms, struct fw_err *err);

/** Store the culprits (JSON as in the table) and send "alert.named". `reason`: one line for the alert's history. */
int alert_name(struct db *db, const struct config *config, int64_t id, const char *culprits_json, const char *reason,
	int64_t now_ms, struct fw_err *err);

/** Call it when a profile of the alert ended: sends "alert.explained" if the profile found a cause. */
int alert_explain(struct db *db, const struct config *config, int64_t id, int64_t now_ms, struct fw_err *err);

/** Begin an event that holds its own kind, as webhooks get it. Own: alert_deliver or store_event_fini. */
struct jsonw *alert_message(struct store_event *e, const char *kind);
/** Store an event, and with a config one notification for each webhook. Err: ERR_FULL it does not fit. Own: finishes `e`. */
int alert_deliver(struct db *db, const struct config *config, struct store_event *e, int64_t now_ms, struct fw_err *err);

#endif
