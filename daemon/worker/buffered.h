/** buffered.h - records of a profile's processes, stored until it is known which of them are sent. */
#ifndef WORKER_BUFFERED_H
#define WORKER_BUFFERED_H

#include "worker/bench.h"

enum { BUFFERED_SIDES = 2, BUFFERED_WHY_SIZE = 400 };

struct buffered_process {
	bool is_there, is_counted, is_timed; /* its kernels are known; their counters too; or times only */
	int passes, n;
	struct msg_kernel *kernel; /* kernel[n], with their values */
	char config[160], tool[64];
};

/** Warp stalls of one side: a record for each kernel that was sampled. */
struct buffered_stalls {
	int n;
	struct msg_stalls *kernel; /* kernel[n], with their lines */
};

struct buffered_cell {
	int cell; /* in the bench */
	struct buffered_process process[BUFFERED_SIDES][EVIDENCE_REPEATS];
	char why[BUFFERED_WHY_SIZE]; /* why counters are unknown, one reason after the other; "" they are known */
	bool is_hung;                /* counted kernels do not end */
	struct buffered_stalls stalls[BUFFERED_SIDES];
	char stalls_why[BUFFERED_WHY_SIZE]; /* why stalls are unknown; "" they are known, or were not requested */
	double gpu_s;
	struct tried tried[BUFFERED_SIDES]; /* of the process that searched; owned */
	bool has_swap;
	struct msg_counterfactual swap;
};

struct buffered {
	struct bench *bench;
	int n;
	struct buffered_cell cell[EVIDENCE_CELLS_MAX];
};

/** Prepare for these cells of the bench. Own: buffered_free, also of the added kernels. */
void buffered_init(struct buffered *k, struct bench *b, const int *cell, int n);
void buffered_free(struct buffered *k);

struct buffered_cell *buffered_find(struct buffered *k, int cell);
/** Add a record of a process. Own: takes the values of the kernel. Err: out of memory. */
int buffered_kernel(struct buffered_process *p, struct msg_kernel *kernel, struct fw_err *err);
/** Copy the kernels of `from` without their values, as those of process `repeat`. Err: out of memory. */
int buffered_copy(struct buffered_process *to, const struct buffered_process *from, int repeat, struct fw_err *err);
/** Add the stalls of one kernel. Own: takes the lines. Err: out of memory, more kernels than a call has. */
int buffered_add_stalls(struct buffered_stalls *s, struct msg_stalls *stalls, struct fw_err *err);
void buffered_clear_stalls(struct buffered_stalls *s);
void buffered_clear(struct buffered_process *p);
/** Add a reason, once. */
void buffered_why(struct buffered_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Return whether all four processes counted the cell, or at least timed its kernels. */
bool buffered_is_counted(const struct buffered_cell *c);
bool buffered_is_timed(const struct buffered_cell *c);

#endif
