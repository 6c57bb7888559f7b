/**
 * interleave_child.h - one program of an interleaved session: its start, its lines, its end.
 *
 * Only lines that the protocol allows at that moment arrive; any other ends the program, with the reason in its problem.
 */
#ifndef WORKER_INTERLEAVE_CHILD_H
#define WORKER_INTERLEAVE_CHILD_H

#include <poll.h>
#include <sys/types.h>

#include "lib/lines.h"
#include "protocol/interleave.h"
#include "worker/run.h"
#include "worker/sandbox/lastwords.h"
#include "worker/program.h"

enum { INTERLEAVE_CHILD_FDS = 3, INTERLEAVE_CHILD_PIDS = 64 };

struct interleave_child;
/** Take a line. Err: the program is ended, with the error as its problem. */
typedef int interleave_line_fn(void *arg, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);

struct interleave_child {
	const struct msg_subject *subject;
	struct interleave_side side;
	bool runs;                      /* started, and not known to have ended */
	struct command_failure problem; /* why it can take no more answers; failure "" while it can */
	int64_t since_ns;               /* start of a deadline: its start or the last answer to it */
	interleave_line_fn *on_line;
	void *arg;
	/* internal */
	struct proc proc;
	int lines_fd, words_fd;
	struct lines lines;
	struct lastwords words;
	int n_pids;
	pid_t pid[INTERLEAVE_CHILD_PIDS];
};

/**
 * Start subject `s`. Err: an error of the worker or the machine; a program that cannot start has a problem instead. Own:
 * interleave_child_end.
 */
int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_subject *s, struct fw_err *err);
/** Give the descriptors to poll. Shape: fd[INTERLEAVE_CHILD_FDS]; -1 unused. */
void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd);
/**
 * After that poll, read its lines and notice its end. Err: it was ended from outside, or the machine has no memory left: no
 * side's fault.
 */
int interleave_child_attend(struct interleave_child *c, const struct pollfd *fd, const struct bench *b,
	const struct build_context *build, struct fw_err *err);
/** Answer with a turn (interleave_write_go), or with the end of its cell. */
void interleave_child_go(struct interleave_child *c, int warm, int calls, bool is_single);
void interleave_child_next(struct interleave_child *c);
/** Record the problem that it did not do `what` within `limit_s`. */
void interleave_child_late(struct interleave_child *c, const char *what, double limit_s);
void interleave_child_count(struct interleave_child *c);
bool interleave_child_is_single(const struct interleave_child *c);
void interleave_child_pin(const struct interleave_child *c, const cpu_set_t *cores);
/** Return its processor time so far. Units: s. */
double interleave_child_cpu_s(const struct interleave_child *c);
/** Return the time for which its threads were ready to run and waited for a core; reads a file per thread. Units: s. */
double interleave_child_queued_s(const struct interleave_child *c);
/** Kill it and close all descriptors. Accepts one that was never started. */
void interleave_child_end(struct interleave_child *c);

#endif
