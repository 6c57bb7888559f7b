/**
 * session.h - one conversation with one worker: hello, a job, its trees, its words, done.
 *
 * The worker is a child, or whoever answers on a unix socket; both are one descriptor here. A worker is never trusted: what
 * it says is parsed and checked against what was asked, it gets only trees that the job names, and a minute of silence, a
 * word out of place or an early end make it lost.
 */
#ifndef FLOPWATCHD_DISPATCH_SESSION_H
#define FLOPWATCHD_DISPATCH_SESSION_H

#include "flopwatchd/executor/executor.h"
#include "flopwatchd/runtime/config.h"
#include "core/protocol/protocol.h"
#include "flopwatchd/runtime/loop.h"
#include "flopwatchd/job/result.h"

struct session;

enum session_end {
	SESSION_DONE,      /* the worker said done: `result` is complete */
	SESSION_LOST,      /* it ended, stalled or talked nonsense; `why` in one line */
	SESSION_CANCELLED, /* session_cancel was called */
	SESSION_STARVED,   /* the worker asked for a tree that cannot be packed now; neither it nor the job is to blame */
	SESSION_REFUSED,   /* the job's trees cannot be packed, now or later */
};

struct session_hooks {
	/** What its start waits for, which may take as long as it likes. May be NULL. */
	void (*pending)(void *arg, const struct executor_wait *wait);
	/** When it is ready, and after session_stay once more: answer with session_send or session_cancel, now or later. */
	void (*hello)(void *arg, const struct msg_hello *hello);
	/** Every message about the job, before it goes into the result. */
	void (*word)(void *arg, const struct msg *m);
	/** Once, at the end, never from inside another call; the session is gone when it returns. Own: `result` (NULL unless done) is the callee's. */
	void (*end)(void *arg, enum session_end how, struct result *result, const char *why);
};

/** Start or reach the worker, on `node` where one is named. Own: borrows all. Err: it cannot be started or reached; no hook is called then. */
int session_open(struct executors *x, struct loop *l, const struct config *c, const struct config_worker *w, const char *node,
	const struct session_hooks *hooks, void *arg, struct session **out, struct fw_err *err);
/**
 * After hello: send the job; job, attempt, nonce, seed and device are filled in by the caller. `device` describes ask.device.
 * Own: takes over the plan's contents. Err: the job does not fit into a line.
 */
int session_send(
	struct session *s, struct plan *plan, const char *repo_path, const struct msg_device *device, struct fw_err *err);
/** After hello, instead of a job: have it try a device. Its answer is one word, MSG_STATE, after which it leaves. Err: not ready. */
int session_health_check(struct session *s, const char *uuid, struct fw_err *err);
/**
 * Tell the worker to end its job and to be ready for another; then there is a hello again, or, where it does not know how or takes too long,
 * the end. False: it has no job, or is leaving.
 */
bool session_stay(struct session *s);
/** Whether it has come to an end of which the hook has not been told yet. */
bool session_is_ending(const struct session *s);
/** Tell the worker to end, ask it to after 5 s, and end it by force 5 s later; accepts one that is ending already. */
void session_cancel(struct session *s);
/** Ask it to end at once, without a hook. Not from inside a hook; accepts NULL. */
void session_close(struct session *s);

#endif
