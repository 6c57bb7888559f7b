/**
 * interleave_child.h - one program of a session of turns: started, its lines heard, its end told.
 *
 * Only lines that may be said when they are said arrive; what breaks that rule ends the program, with the reason in its trouble.
 */
#ifndef WORKER_COMMAND_INTERLEAVE_CHILD_H
#define WORKER_COMMAND_INTERLEAVE_CHILD_H

#include <poll.h>
#include <sys/types.h>

#include "base/lines.h"
#include "core/interleave/interleave.h"
#include "worker/command/run.h"
#include "worker/box/lastwords.h"
#include "worker/command/program.h"

enum { INTERLEAVE_CHILD_FDS = 3, INTERLEAVE_CHILD_PIDS = 64 };

struct interleave_child;
/** A line that was heard. Err: the program is ended, with the error as its trouble. */
typedef int interleave_line_fn(void *arg, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err);

struct interleave_child {
	const struct msg_subject *subject;
	struct interleave_side side;
	bool runs;                      /* started, and not known to have ended */
	struct command_failure problem; /* why it can be asked nothing any more; failure "" while it can */
	int64_t since_ns;               /* when it was last answered, or started: what a deadline counts from */
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

/** Start subject `s`. Err: a fault of ours, or of the machine's; a program that cannot be started is in trouble. Own: interleave_child_end. */
int interleave_child_start(struct interleave_child *c, const struct bench *b, const struct build_context *build,
	const struct msg_subject *s, struct fw_err *err);
/** What to poll. Shape: fd[INTERLEAVE_CHILD_FDS]; -1 where there is nothing. */
void interleave_child_poll(const struct interleave_child *c, struct pollfd *fd);
/** After that poll: hear what was said, notice its end. Err: it was ended from outside, or the machine is out of room: nobody's fault here. */
int interleave_child_attend(struct interleave_child *c, const struct pollfd *fd, const struct bench *b,
	const struct build_context *build, struct fw_err *err);
/** Answer: a turn (interleave_write_go), or no further one of its cell. */
void interleave_child_go(struct interleave_child *c, int warm, int calls, bool is_single);
void interleave_child_next(struct interleave_child *c);
/** It is in trouble: it did not do `what` within `limit_s`. */
void interleave_child_late(struct interleave_child *c, const char *what, double limit_s);
/** Look up which processes it consists of. */
void interleave_child_count(struct interleave_child *c);
/** Whether each of those has one thread. */
bool interleave_child_is_single(const struct interleave_child *c);
/** Let all of its threads run on these cores alone. */
void interleave_child_pin(const struct interleave_child *c, const cpu_set_t *cores);
/** Processor time of those, so far. Units: s. */
double interleave_child_cpu_s(const struct interleave_child *c);
/** Time that their threads were ready to run and waited for a core, so far; a file is read for each of them. Units: s. */
double interleave_child_queued_s(const struct interleave_child *c);
/** Kill it and close everything. Accepts one that was never started. */
void interleave_child_end(struct interleave_child *c);

#endif
