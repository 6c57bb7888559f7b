/** cached_build.h - what the processes of a profile told, kept until all of it is known: which path was taken decides what is passed on. */
#ifndef WORKER_PROFILE_BUFFERED_H
#define WORKER_PROFILE_BUFFERED_H

#include "worker/bench/bench.h"

enum { BUFFERED_SIDES = 2, BUFFERED_WHY_SIZE = 400 };

/** One process of one side, about one cell. */
struct buffered_process {
	bool is_there, is_counted, is_timed; /* its kernels are known; their counters too; or times alone */
	int passes, n;
	struct msg_kernel *kernel; /* kernel[n], with their values */
	char config[160], tool[64];
};

/** Where warps of one side wait: a record for each kernel that was seen. */
struct buffered_stalls {
	int n;
	struct msg_stalls *kernel; /* kernel[n], with their lines */
};

struct buffered_cell {
	int cell; /* in the bench */
	struct buffered_process process[BUFFERED_SIDES][EVIDENCE_REPEATS];
	char why[BUFFERED_WHY_SIZE]; /* why counters are not known, reason by reason; "" they are */
	bool is_hung;                /* kernels that are counted do not end */
	struct buffered_stalls stalls[BUFFERED_SIDES];
	char stalls_why[BUFFERED_WHY_SIZE]; /* why they are not known; "" they are, or were not asked for */
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

/** Prepare for these cells of the bench. Own: buffered_free, also of the kernels that were added. */
void buffered_init(struct buffered *k, struct bench *b, const int *cell, int n);
void buffered_free(struct buffered *k);

/** The cell of that number in the bench; NULL: none of ours. */
struct buffered_cell *buffered_find(struct buffered *k, int cell);
/** Take a record of a process. The values of a kernel change hands. Err: out of memory. */
int buffered_kernel(struct buffered_process *p, struct msg_kernel *kernel, struct fw_err *err);
/** The kernels of `from` without their values, as those of process `repeat`. Err: out of memory. */
int buffered_copy(struct buffered_process *to, const struct buffered_process *from, int repeat, struct fw_err *err);
/** Take what one kernel's warps waited for. The lines change hands. Err: out of memory, more kernels than a call has. */
int buffered_add_stalls(struct buffered_stalls *s, struct msg_stalls *stalls, struct fw_err *err);
void buffered_clear_stalls(struct buffered_stalls *s);
/** Forget its kernels. */
void buffered_clear(struct buffered_process *p);
/** Add a reason, once. */
void buffered_why(struct buffered_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Whether all four processes counted the cell; or at least timed its kernels. */
bool buffered_is_counted(const struct buffered_cell *c);
bool buffered_is_timed(const struct buffered_cell *c);

#endif
