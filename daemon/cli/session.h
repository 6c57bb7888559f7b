/** session.h - one job given to a flopwatch-worker of this machine, in the daemon's place: the same worker, asked once. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/outcome.h"
#include "cli/tree.h"

struct session_request {
	const struct tree *tree;
	const char *device;    /* kind or uuid; NULL: the best that is here */
	const char *read_only; /* a folder that branch code may read; NULL none */
	struct msg_job *job;   /* as sent, but for device */
	bool is_shown;         /* what happens now, as one line on standard error */
};

/** Run it to its end. Err: the worker cannot be started, has no such device, or ended in the middle, with its last line. */
int session_run(const struct session_request *request, struct outcome *out, struct fw_err *err);

#endif
