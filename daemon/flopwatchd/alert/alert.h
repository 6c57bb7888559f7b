/**
 * alert.h - opens, extends and ends alerts: the row, an event for readers and one outbox row a webhook, all inside the caller's
 * transaction, so that none is lost or told twice. Ctx: loop only.
 */
#ifndef FLOPWATCHD_ALERT_ALERT_H
#define FLOPWATCHD_ALERT_ALERT_H

#include "flopwatchd/runtime/config.h"
#include "db/store/alert.h"
#include "db/store/event.h"

/**
 * Open the alert `a` or bring it up to date (see store_alert_open for its keys and what people's answers mean). Fill at least
 * kind, repo (or device), branch, target_sha, title and cells_json; sets a->id and a->state. `is_new`: it was not open before
 * this call, and "alert.opened" was told; where cells came to one that was, "alert.extended" was. Either way a lost time is asked why
 * (alert_profile.h). `config` NULL: neither a webhook is told nor anybody asked.
 */
int alert_open(
	struct db *db, const struct config *config, struct store_alert *a, int64_t now_ms, bool *is_new, struct fw_err *err);

/** End an open or acknowledged alert and tell "alert.resolved". `comparison` shows that it is over, 0 none. Err: ERR_CONFLICT. */
int alert_resolve(struct db *db, const struct config *config, int64_t id, int64_t comparison, const char *reason, int64_t now_ms,
	struct fw_err *err);

/**
 * A person's step: acknowledged, accepted, resolved or invalid, told as "alert.acknowledged" and so on with `who` and `reason` ("" none).
 * Err: as store_alert_change.
 */
int alert_change(struct db *db, const struct config *config, int64_t id, enum alertstate state, const char *who,
	const char *reason, int64_t now_ms, struct fw_err *err);

/** Say who did it (JSON as in the table) and tell "alert.named". `reason`: one line for the alert's history. */
int alert_name(struct db *db, const struct config *config, int64_t id, const char *culprits_json, const char *reason,
	int64_t now_ms, struct fw_err *err);

/** A profile that the alert asked for has ended: tell "alert.explained", where it is known now why. */
int alert_explain(struct db *db, const struct config *config, int64_t id, int64_t now_ms, struct fw_err *err);

/** Begin a message: an event that names itself, as webhooks carry it. Own: alert_deliver or store_event_fini. */
struct jsonw *alert_message(struct store_event *e, const char *kind);
/** End a message: an event, and with a config one outbox row a webhook. Err: ERR_FULL it does not fit. Own: `e` is finished. */
int alert_deliver(struct db *db, const struct config *config, struct store_event *e, int64_t now_ms, struct fw_err *err);

#endif
