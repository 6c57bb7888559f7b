/**
 * request.h - the program, arguments and input that send a row of the outbox. Webhooks are signed by Standard Webhooks
 * (webhook-id, webhook-timestamp, webhook-signature), statuses carry the forge's token, notes go to flopwatch-git.
 */
#ifndef FLOPWATCHD_NOTIFICATION_REQUEST_H
#define FLOPWATCHD_NOTIFICATION_REQUEST_H

#include "lib/buf.h"
#include "flopwatchd/config/config.h"
#include "db/outbox.h"

enum { DELIVER_ARGS_MAX = 10 + CONFIG_ACCESS_ARGS };

struct deliver {
	const char *program;
	const char *args[DELIVER_ARGS_MAX]; /* NULL-ended; pointers into the config and `path` */
	struct buf in;                      /* standard input of the program */
	char path[1400], sha[65];
};

/** Prepare a row. Err: ERR_NOT_FOUND its receiver is no longer configured, ERR_INVALID. Own: deliver_fini, also after -1. */
int deliver_prepare(const struct config *config, const struct store_outbox *row, const struct buf *payload, int64_t now_ms,
	struct deliver *out, struct fw_err *err);
void deliver_fini(struct deliver *d);

/** Append "v1,<base64>": HMAC-SHA-256 of "id.timestamp.body". A secret "whsec_..." is base64, any other is literal. */
int deliver_sign(
	const char *secret, const char *id, int64_t timestamp_s, const struct buf *body, struct buf *out, struct fw_err *err);

#endif
