/**
 * session.h - one session with one worker: hello, a job, its trees, its messages, done. The worker is a child or the peer of a
 * Unix socket; both are one descriptor here. A worker is never trusted: its messages are parsed and checked against the
 * request, it gets only trees that the job names, and a minute without a message, an unexpected message or an early end fail
 * the session.
 */
#ifndef FLOPWATCHD_SESSION_SESSION_H
#define FLOPWATCHD_SESSION_SESSION_H

#include "flopwatchd/session/executor.h"
#include "flopwatchd/config/config.h"
#include "protocol/protocol.h"
#include "lib/loop.h"
#include "flopwatchd/job/result.h"

struct session;

enum session_end {
	SESSION_DONE,      /* the worker sent done: `result` is complete */
	SESSION_LOST,      /* it ended, stalled or sent an invalid message; `why` in one line */
	SESSION_CANCELLED, /* session_cancel was called */
	SESSION_STARVED,   /* a tree cannot be packed now; neither worker nor job is at fault */
	SESSION_REFUSED,   /* the job's trees can never be packed */
};

struct session_hooks {
	/** The start is pending, without a time limit. May be NULL. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** The worker is ready, also after session_stay: answer with session_send or session_cancel, now or later. */
	void (*hello)(void *arg, const struct msg_hello *hello);
	/** Every message about the job, before it enters the result. */
	void (*word)(void *arg, const struct msg *m);
	/**
	 * Last call, never inside another one; frees the session afterwards. Own: `result` (NULL unless done) is the callee's.
	 */
	void (*end)(void *arg, enum session_end how, struct result *result, const char *why);
};

/** Start the worker or connect to it, on `node` if set. Own: borrows all. Err: neither is possible; no hook is called. */
int session_open(struct executors *x, struct loop *l, const struct config *c, const struct config_worker *w, const char *node,
	const struct session_hooks *hooks, void *arg, struct session **out, struct fw_err *err);
/**
 * Send the job after hello; the caller fills in job, attempt, nonce, seed and device. `device` describes ask.device. Own: takes
 * over the plan's contents. Err: the job does not fit into a line.
 */
int session_send(
	struct session *s, struct plan *plan, const char *repo_path, const struct msg_device *device, struct fw_err *err);
/** Request a health check instead of a job. The worker answers with one MSG_STATE and ends. Err: not ready. */
int session_health_check(struct session *s, const char *uuid, struct fw_err *err);
/**
 * Ask the worker to end its job and wait for another: a second hello follows, or the end if the worker cannot or takes too
 * long. False: it has no job, or is ending.
 */
bool session_stay(struct session *s);
/** True if the session has ended but the hook was not called yet. */
bool session_is_ending(const struct session *s);
/** Ask the worker to end, send SIGTERM after 5 s and SIGKILL 5 s later; no effect if it is ending already. */
void session_cancel(struct session *s);
/** End the worker at once, without a hook. Not from inside a hook; accepts NULL. */
void session_close(struct session *s);

#endif
