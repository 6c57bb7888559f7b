/** internal.h - what the files of this folder share. */
#ifndef FLOPWATCHD_NOTIFY_INTERNAL_H
#define FLOPWATCHD_NOTIFY_INTERNAL_H

#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "flopwatchd/notify/notify.h"
#include "lib/lib.h"
#include "verdict/verdict.h"

/* ---- forge: Requests that set a commit status at GitHub, GitLab, Gitea or Forgejo. Pure. ---- */

enum { FORGE_DESCRIPTION_MAX = 140 }; /* characters, GitHub's limit */

/**
 * A commit status. `state` is one of flopwatch's states, which forges map differently:
 *   pending running     waits; is being measured
 *   success failure     no regression; a regression, or a failing branch
 *   neutral             nothing was decided: Gitea "warning", GitLab "canceled", GitHub "success" with a description
 *   error               flopwatch failed
 *   cancelled           not measured: GitLab "canceled", Gitea "warning", GitHub "error"
 */
struct forge_word {
	const char *sha, *state, *context, *description;
	const char *target_url; /* "": none */
};

/** Append the URL and the body of the POST. Err: ERR_INVALID an unknown state. */
int forge_request(
	const struct config_status *forge, const struct forge_word *word, struct buf *url, struct buf *body, struct fw_err *err);

/*
 * ---- request ----
 * The program, arguments and input that send a row of the outbox. Webhooks are signed by Standard Webhooks
 * (webhook-id, webhook-timestamp, webhook-signature), statuses carry the forge's token, notes go to flopwatch-git.
 */

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

/*
 * ---- status_update ----
 * One commit status in the outbox. A newer status with the same commit and context replaces a status that was not sent yet; an
 * equal one writes nothing.
 */

struct status_update {
	const char *sha, *suite;         /* suite "": the status of all suites */
	const char *state, *description; /* a state of request.c */
	const char *page;                /* page to link: "/jobs/7" */
};

#endif
