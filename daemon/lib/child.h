/**
 * child.h - a child program that runs next to the loop, and its output once it ended. Standard input, output and errors are
 * memory files: no pipe needs pumping, and the file size limit stops a child that prints without end.
 */
#ifndef LIB_CHILD_H
#define LIB_CHILD_H

#include "lib/buf.h"
#include "lib/err.h"
#include "lib/loop.h"

struct child;

/**
 * `out` is the child's output, empty if it went to a file. `failed` is NULL if it exited 0, else its last line of errors with a
 * code: ERR_NOT_FOUND for PROC_EXIT_GONE, ERR_BUSY for PROC_EXIT_AGAIN or a signal from outside, ERR_CRASHED, ERR_TIMEOUT,
 * ERR_INVALID where a retry cannot help.
 */
typedef void child_fn(void *arg, const struct buf *out, const struct fw_err *failed);

struct child_spec {
	const char *program;     /* a program of flopwatch, found by proc_sibling */
	const char *const *args; /* after the program's name, NULL-ended */
	const char *const *env;  /* as of proc_spec */
	const struct buf *in;    /* standard input; NULL: empty */
	int out_fd;              /* receives its output; -1: memory */
	size_t out_max;          /* bytes of output */
	bool writes_files;       /* writes other files too, so no file size limit applies */
	bool is_careful;         /* as of proc_spec */
	int64_t deadline_ms;
};

/**
 * Start a child. The loop calls `fn` once, later; the captured output is freed when `fn` returns. Err: -1 if the child cannot
 * start; `fn` is then never called.
 */
int child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *arg, struct child **out, struct fw_err *err);
/** Stop the child (proc_stop) and drop the callback; accepts NULL. */
void child_cancel(struct child *c);

#endif
