/** cached_build.h - what the processes of a profile told, kept until all of it is known: which path was taken decides what is passed on. */
#ifndef WORKER_PROFILE_KEPT_H
#define WORKER_PROFILE_KEPT_H

#include "worker/bench/bench.h"

enum { KEPT_SIDES = 2, KEPT_WHY_SIZE = 400 };

/** One process of one side, about one cell. */
struct kept_process {
	bool is_there, is_counted, is_timed; /* its kernels are known; their counters too; or times alone */
	int passes, n;
	struct msg_kernel *kernel; /* kernel[n], with their values */
	char config[160], tool[64];
};

/** Where warps of one side wait: a record for each kernel that was seen. */
struct kept_stalls {
	int n;
	struct msg_stalls *kernel; /* kernel[n], with their lines */
};

struct kept_cell {
	int cell; /* in the bench */
	struct kept_process process[KEPT_SIDES][EVIDENCE_REPEATS];
	char why[KEPT_WHY_SIZE]; /* why counters are not known, reason by reason; "" they are */
	bool is_hung;            /* kernels that are counted do not end */
	struct kept_stalls stalls[KEPT_SIDES];
	char stalls_why[KEPT_WHY_SIZE]; /* why they are not known; "" they are, or were not asked for */
	double gpu_s;
	struct tried tried[KEPT_SIDES]; /* of the process that searched; owned */
	bool has_swap;
	struct msg_counterfactual swap;
};

struct kept {
	struct bench *bench;
	int n;
	struct kept_cell cell[EVIDENCE_CELLS_MAX];
};

/** Prepare for these cells of the bench. Own: kept_free, also of the kernels that were added. */
void kept_init(struct kept *k, struct bench *b, const int *cell, int n);
void kept_free(struct kept *k);

/** The cell of that number in the bench; NULL: none of ours. */
struct kept_cell *kept_find(struct kept *k, int cell);
/** Take a record of a process. The values of a kernel change hands. Err: out of memory. */
int kept_kernel(struct kept_process *p, struct msg_kernel *kernel, struct fw_err *err);
/** The kernels of `from` without their values, as those of process `repeat`. Err: out of memory. */
int kept_copy(struct kept_process *to, const struct kept_process *from, int repeat, struct fw_err *err);
/** Take what one kernel's warps waited for. The lines change hands. Err: out of memory, more kernels than a call has. */
int kept_add_stalls(struct kept_stalls *s, struct msg_stalls *stalls, struct fw_err *err);
void kept_clear_stalls(struct kept_stalls *s);
/** Forget its kernels. */
void kept_clear(struct kept_process *p);
/** Add a reason, once. */
void kept_why(struct kept_cell *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Whether all four processes counted the cell; or at least timed its kernels. */
bool kept_is_counted(const struct kept_cell *c);
bool kept_is_timed(const struct kept_cell *c);

#endif
