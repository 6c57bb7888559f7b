/**
 * crashplace.h - source position of a crash, from the lines that flopwatch-runner prints while it dies (runner/crash.h).
 *
 * A process with branch code printed them, so they are unverified: they explain a crash and blame no side.
 */
#ifndef WORKER_CRASHPLACE_H
#define WORKER_CRASHPLACE_H

#include "worker/bench.h"
#include "worker/sandbox/lastwords.h"

enum { CRASHPLACE_FRAMES_MAX = 4, CRASHPLACE_SIZE = 320 };

struct crashplace {
	int n;
	struct {
		int module; /* position among the subjects of the task */
		unsigned long long offset;
	} frame[CRASHPLACE_FRAMES_MAX]; /* innermost first */
};

/** Remove those lines from the last output of a process. */
void crashplace_take(struct crashplace *p, struct lastwords *words);
/**
 * Write "sum_rows (kernel.c:42), called from run (kernel.c:80)", or the part that is known: names by eu-addr2line, or functions
 * only by addr2line, from the unstripped module, in the sandbox. `subject` [n]: positions in the bench of the task's subjects.
 * Shape: out[CRASHPLACE_SIZE], "" if nothing is known.
 */
void crashplace_report(const struct bench *b, const int *subject, int n, const struct crashplace *p, char *out);

#endif
