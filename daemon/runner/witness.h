/**
 * witness.h - looks at calls that the module cannot predict, while it is timed.
 *
 * Every timed call works on inputs of its own: a few rows of Q (backward: of dO) are replaced by others, which costs next to
 * nothing and makes every remembered result wrong. A few calls of a pass are watched. They are timed like all others, on
 * replaced rows whose results are known, and then:
 *   their outputs are copied at the moment when the device says that they are done, and must stay like that once everything
 *   that the module may have started on the side has ended ("escaped"); work that goes on beside it counts when it does so in
 *   one call after the other;
 *   their results must be right ("wrong": skipped, cached, computed in part, computed only when somebody seems to look);
 *   guard zones, inputs, and the workspaces of the other subjects must be as they were ("oob").
 *
 * On a device that invents its times no call computes, and nothing here does anything.
 */
#ifndef RUNNER_WITNESS_H
#define RUNNER_WITNESS_H

#include "runner/runner.h"
#include "runner/verifier.h"

enum { WITNESS_ROWS = 4, WITNESS_BELONGINGS_MAX = 2 * PROTOCOL_SUBJECTS_MAX };

/** Rows of one input that are replaced by others. Units: bytes from the tensor's begin. */
struct twist {
	int n;
	size_t to[WITNESS_ROWS], from[WITNESS_ROWS];
};

struct witness {
	struct runner *runner;
	struct problem *problem;
	bool active;
	bool watching; /* from witness_before to witness_after */
	bool anyones;  /* what witness_before found may be of any subject that ran since the last look */
	int slot;      /* of the tensor that is twisted */
	size_t row_bytes;
	int rows;                 /* replaced for a call that is not watched: WITNESS_ROWS, unless the caller wants fewer */
	struct twist known;       /* what `verifier` was made with */
	struct twist current;     /* what the next call gets, or the last one got */
	struct verifier verifier; /* of the known twist */
	void *copy[FW_ATTENTION_SLOTS];
	int n_belongings; /* workspaces of the subjects that do not run */
	struct {
		const struct subject *owner;
		const void *data;
		size_t bytes;
		uint64_t sum;
	} belonging[WITNESS_BELONGINGS_MAX];
};

/** Choose the known twist and compute its reference. `visits` as in reference_plan_make. Own: witness_close, also after an error. */
int witness_open(struct witness *w, struct runner *r, struct problem *p, double visits, struct failure *f);
void witness_close(struct witness *w);

/**
 * The next call, of `u`, is watched: waits for the device, and notes how everything is that `u` must leave alone. Err: "oob"
 * when a guard zone was damaged before, by whom is unknown; it is whole again.
 */
int witness_before(struct witness *w, const struct subject *u, struct failure *f);
/** Asynchronous, after problem_restore: replace rows for the next call, known ones when it is watched, else random ones. */
int witness_twist(struct witness *w, struct fw_err *err);
/** Asynchronous: the rows of the last twist as they were. */
int witness_untwist(struct witness *w, struct fw_err *err);
/** After the watched call, before anything else is asked of the device. `when` begins what is said of a wrong result. Err: it is `u`'s. */
int witness_after(struct witness *w, struct subject *u, const char *when, struct failure *f);
/** One whole watched call, not timed. */
int witness_call(struct witness *w, struct subject *u, int poison, const char *when, struct failure *f);

#endif
