/** internal.h - declarations that the files of this folder share. */
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
struct forge_status {
	const char *sha, *state, *context, *description;
	const char *target_url; /* "": none */
};

/** Append the URL and the body of the POST. Err: ERR_INVALID an unknown state. */
int forge_request(const struct config_status *forge, const struct forge_status *status, struct buf *url, struct buf *body,
	struct fw_err *err);
/**
 * As forge_request, for a check run of GitHub. `findings` (may be NULL): array of {cell, text} for annotations. `sent_id`: the
 * check run to update, "" a new one; *method gets "POST" or "PATCH".
 */
int forge_check_run(const struct config_status *forge, const struct forge_status *status, const json_t *findings,
	const char *sent_id, const char **method, struct buf *url, struct buf *body, struct fw_err *err);

/** Append a line of Markdown that shows a text as it is: reasons and names of cells may have text of a branch. */
void forge_put_code_line(struct buf *out, const char *text);

/* ---- approval: Approvals of a request's commit by a user of the forge. ---- */

struct forge_approval {
	int number;
	char head[65], who[128]; /* the approved commit, which is not checked; name at the forge */
	int64_t who_id;          /* number of the user at GitLab; 0: not known */
};

/**
 * Read the body of a webhook whose signature is valid. True: the event states that a user sets the label or writes the comment of
 * `approve_by`. A label approves the head of the event, a comment the commit that it names. Pure.
 */
bool forge_event_read(const struct config_repo *repo, const char *body, size_t len, struct forge_approval *out);
/**
 * Read a comment as flopwatch-send describes it, with the line that approves `head` of request `number`. True: a user wrote it at
 * this forge and it is unchanged since. *id gets its number at the forge. Pure.
 */
bool forge_comment_read(const struct config_repo *repo, const json_t *comment, int number, const char *head, int64_t *id,
	struct forge_approval *out);
/** Queue an approval, as approval_enqueue does. 1: dropped, because too many approvals of this request wait. */
int approval_enqueue_one(
	struct db *db, const struct config_repo *repo, const struct forge_approval *one, int64_t now_ms, struct fw_err *err);
/** Read a row of the outbox. Err: ERR_INVALID. */
int approval_read(const char *payload, struct forge_approval *out, struct fw_err *err);
/** True if `users` names the user. */
bool approval_is_listed(const struct config_approve_by *by, const char *who);
/** True if this permission is enough: "write" or "admin", of GitLab the number of an access level. */
bool approval_is_enough(const struct config_repo *repo, const char *permission);

/** True if a check run in this state has ended. */
bool forge_check_run_has_ended(const char *state);

/*
 * ---- request ----
 * The program, arguments and input that send a row of the outbox. Webhooks are signed by Standard Webhooks
 * (webhook-id, webhook-timestamp, webhook-signature), statuses carry the forge's token, notes go to flopwatch-git.
 */

enum { DELIVER_ARGS_MAX = 10 + CONFIG_ACCESS_ARGS };

/** Content of a message. */
struct deliver_content {
	const char *id;            /* the same in every attempt; of a receiver for people another one if a user sends it again */
	const struct buf *payload; /* JSON; of a receiver that shows messages to people an array of events, oldest first */
	const struct store_outbox_first *first; /* of its thread, which this message continues; NULL: this one is the first */
	const struct buf *first_payload;        /* as `payload` but one event; NULL as `first` */
	const char *sent_id;                    /* of the message that a comment or check run updates; "" or NULL: none */
	const char *sent_state;                 /* that it has */
	const struct buf *text;                 /* of a comment */
	const char *mark; /* first line of the comment to find before the first one is written; NULL: write */
	int page;         /* of the list of comments, from 1 */
};

struct deliver {
	const char *program;
	const char *args[DELIVER_ARGS_MAX]; /* NULL-ended; pointers into the config and `path` */
	struct buf in;                      /* standard input of the program */
	char path[1400], sha[65];
	bool is_search;   /* lists comments, and writes none */
	bool may_be_400;  /* GitLab refuses a state that the commit already has with 400 and a sentence: no failure */
	char answer[256]; /* id of the message at the receiver if the program returns none; "" none */
};

/** Prepare a message. Err: ERR_NOT_FOUND its receiver is no longer configured, ERR_INVALID. Own: deliver_fini, also after -1. */
int deliver_prepare(const struct config *config, const struct store_outbox *row, const struct deliver_content *what,
	int64_t now_ms, struct deliver *out, struct fw_err *err);
void deliver_fini(struct deliver *d);

/** A page of the comments on a request, to find approvals of its head. */
struct deliver_poll {
	int number, page; /* page: from 1 */
	const char *head; /* full hash */
	int64_t since_ms; /* older comments are not read; GitLab lists the newest first instead */
	const char *etag; /* of the last answer, "" none */
};
/** Prepare the request for it. Err: ERR_NOT_FOUND the repository has no forge. Own: as deliver_prepare. */
int deliver_prepare_poll(
	const struct config_repo *repo, const struct deliver_poll *poll, struct deliver *out, struct fw_err *err);

/** Append "v1,<base64>": HMAC-SHA-256 of "id.timestamp.body". A secret "whsec_..." is base64, any other is literal. */
int deliver_sign(
	const char *secret, const char *id, int64_t timestamp_s, const struct buf *body, struct buf *out, struct fw_err *err);

/*
 * ---- message ----
 * Events as messages to people: one line for each alert, with its newest event. A message that continues a thread is written into it
 * where the service has threads (mail, Matrix, forums of Discord); elsewhere it names the thread's first message.
 */

enum { MESSAGE_TEXT_MAX = 1 << 20 };

/** Append the body of a request to Slack. Err: ERR_INVALID the payload is not JSON. */
int message_slack(const struct deliver_content *what, struct buf *body, struct fw_err *err);
/** Write the input of flopwatch-send for a receiver of another kind than webhook and slack. Err: ERR_INVALID. */
int message_request(const struct config_webhook *to, const struct deliver_content *what, int64_t now_ms, struct deliver *out,
	struct fw_err *err);

/*
 * ---- status_update ----
 * One commit status in the outbox. A newer status with the same commit and context replaces a status that was not sent yet; an
 * equal one writes nothing.
 */

struct status_update {
	const char *sha, *suite;         /* suite "": the status of all suites */
	const char *state, *description; /* a state of request.c */
	const char *page;                /* page to link: "/jobs/7" */
	int64_t comparison;              /* whose findings a check run has; 0 none */
};

#endif
