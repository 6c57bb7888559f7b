/**
 * crashplace.h - where in a module's sources its process died, from the lines that flopwatch-runner leaves while it dies
 * (runner/call/crash.h).
 *
 * They were printed by a process with branch code in it: they are testimony of the branch about its own crash, and blame nobody.
 */
#ifndef WORKER_BENCH_CRASHPLACE_H
#define WORKER_BENCH_CRASHPLACE_H

#include "worker/bench/bench.h"
#include "worker/box/lastwords.h"

enum { CRASHPLACE_FRAMES_MAX = 4, CRASHPLACE_SIZE = 320 };

struct crashplace {
	int n;
	struct {
		int module; /* position among the subjects of the task */
		unsigned long long offset;
	} frame[CRASHPLACE_FRAMES_MAX]; /* the innermost first */
};

/** Take those lines out of what a process printed last. */
void crashplace_take(struct crashplace *p, struct lastwords *words);
/**
 * "sum_rows (kernel.c:42), called from run (kernel.c:80)", or what is known of it: names by eu-addr2line, or functions alone by addr2line, from the module as it was built, in the
 * sandbox. `subject` [n]: positions in the bench of the task's subjects. Shape: out[CRASHPLACE_SIZE], "" where nothing is known.
 */
void crashplace_tell(const struct bench *b, const int *subject, int n, const struct crashplace *p, char *out);

#endif
