/**
 * child.h - run a child of ours beside the loop and get what it wrote when it has ended.
 *
 * Its standard input, output and errors are memory files, so nothing is pumped through pipes and a child that prints without
 * end is stopped by its own file size limit.
 */
#ifndef FLOPWATCHD_RUNTIME_CHILD_H
#define FLOPWATCHD_RUNTIME_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "flopwatchd/runtime/loop.h"

struct child;

/**
 * `out`: what it printed, empty when it went to a file. `failed`: NULL when it exited 0, else its last line of errors, and by its exit:
 * ERR_NOT_FOUND and ERR_BUSY as PROC_EXIT_GONE and PROC_EXIT_AGAIN say, ERR_BUSY killed from outside, ERR_CRASHED it crashed, ERR_TIMEOUT,
 * ERR_INVALID what will not change by itself.
 */
typedef void child_fn(void *arg, const struct buf *out, const struct fw_err *failed);

struct child_spec {
	const char *program;     /* of ours, found by proc_sibling */
	const char *const *args; /* after the program's name, NULL-ended */
	const char *const *env;  /* as of proc_spec */
	const struct buf *in;    /* standard input; NULL: empty */
	int out_fd;              /* where its output goes; -1: into memory */
	size_t out_max;          /* bytes of output */
	bool writes_files;       /* of its own, which no limit shall cut */
	bool is_careful;         /* as of proc_spec */
	int64_t deadline_ms;
};

/**
 * Start. The callback comes once, later, from the loop; the capture is gone when it returns.
 * Err: -1 when the child cannot be started; the callback then never comes.
 */
int child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *arg, struct child **out, struct fw_err *err);
/** End the child (proc_stop) and forget the callback; accepts NULL. */
void child_cancel(struct child *c);

#endif
