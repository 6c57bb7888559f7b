/**
 * spot_check.h - checks of random calls during timing.
 *
 * Every timed call has different inputs (input_variant.h), at no cost, so cached results are wrong. A few calls of a pass are
 * watched. They are timed like all others, on inputs with known results. Their outputs are copied when the device reports them
 * done, and must not change once all work that the module may have started elsewhere has ended ("escaped"; work outside the
 * call counts if two calls in a row have it). Their results must be right ("wrong": skipped, cached, partial, or computed only
 * when watched). Redzones, inputs, and the workspaces of other subjects must be unchanged ("oob").
 *
 * A watched call takes a moment before and after, by which a module could recognise it. So there are also calls that only their
 * inputs distinguish: their outputs are copied on the stream, and compared after the timing.
 *
 * On a device with simulated times no call computes, and these functions do nothing.
 */
#ifndef RUNNER_SPOT_CHECK_H
#define RUNNER_SPOT_CHECK_H

#include "runner/runner.h"
#include "runner/verifier.h"

enum { SPOT_CHECK_BELONGINGS_MAX = 2 * PROTOCOL_SUBJECTS_MAX, SPOT_CHECK_LATER_MAX = 4 };

/** Which inputs change from call to call. */
enum spot_check_change {
	SPOT_CHECK_ANY,    /* all that can; a forward's results are those of either forward */
	SPOT_CHECK_OTHER,  /* all that can; known inputs use the second forward */
	SPOT_CHECK_OTHERS, /* all that can but the first inputs; known inputs use the second forward */
	SPOT_CHECK_FIRST   /* the family's first inputs only */
};

/** Outputs of a call. NULLs: none. */
struct spot_check_copy {
	void *data[FAMILY_SLOTS_MAX];
};

struct spot_check {
	struct runner *runner;
	struct problem *problem;
	bool active;
	bool watching; /* from spot_check_before to spot_check_after */
	bool binds;    /* calls start from an idle stream with bind right before them, as in series call */
	bool anyones;  /* a finding of spot_check_before may be caused by any subject since the last check */
	bool unnamed;  /* by any of them, and no further call can show by which */
	enum spot_check_change change;
	struct input_variant known; /* inputs of `verifier` */
	struct verifier verifier;
	struct spot_check_copy copy;
	struct {
		bool has_room, is_taken;
		struct spot_check_copy copy;
	} later[PROTOCOL_SUBJECTS_MAX][SPOT_CHECK_LATER_MAX]; /* by position in runner->subject */
	int n_belongings;                                     /* workspaces of the subjects that do not run */
	struct {
		const struct subject *owner;
		const void *data;
		size_t bytes;
		uint64_t sum;
	} belonging[SPOT_CHECK_BELONGINGS_MAX];
};

void spot_check_draw(struct runner *r, const struct problem *p, enum spot_check_change change, struct input_variant *out);
/** Write the names of the changing tensors: "Q", "K and V". Shape: out[size]. */
void spot_check_names(const struct problem *p, enum spot_check_change change, char *out, size_t size);
/** Add a second forward on other inputs if memory allows. Call before the forward of a problem. */
void spot_check_vary(struct runner *r, struct problem *p);
/**
 * Choose the inputs of watched calls and compute their reference, if the masters are as accepted. `visits` as in struct
 * family_check. Own: spot_check_close, also after an error. Err: "oob" if a master has changed, cause unknown.
 */
int spot_check_open(struct spot_check *w, struct runner *r, struct problem *p, enum spot_check_change change, double visits,
	struct failure *f);
void spot_check_close(struct spot_check *w);

/**
 * Prepare to watch the next call, of `u`: wait for the device, and record the state that `u` must not change. Err: "oob" if a
 * redzone, which is then repaired, or a master was damaged before, cause unknown.
 */
int spot_check_before(struct spot_check *w, const struct subject *u, struct failure *f);
/**
 * Set the inputs of the next call: the known ones if it is watched, else random ones. SPOT_CHECK_FIRST sets the first inputs
 * only. Asynchronous.
 */
int spot_check_set_inputs(struct spot_check *w, struct fw_err *err);
/**
 * Check the watched call, before any other use of the device. `when` precedes the message of a wrong result. Err: the fault of
 * `u`.
 */
int spot_check_after(struct spot_check *w, struct subject *u, const char *when, struct failure *f);
/**
 * Allocate copies for `n` calls of each subject, at most SPOT_CHECK_LATER_MAX, whose results are copied at once and checked
 * later: the call itself does not wait. With less memory there are fewer, which is noted. Own: spot_check_close.
 */
void spot_check_make_later(struct spot_check *w, int n);
/** Give the next call, of `u`, the known inputs. Returns false if copy `k` does not exist or holds an unchecked call. */
bool spot_check_later_before(struct spot_check *w, const struct subject *u, int k);
/** Copy the results, right after that call. Asynchronous. */
int spot_check_later_after(struct spot_check *w, const struct subject *u, int k, struct failure *f);
/** Check all copied calls of `u` and free their copies. `when` precedes the message of a wrong result. */
int spot_check_later_look(struct spot_check *w, const struct subject *u, const char *when, struct failure *f);

/** Make one whole watched call between marks 0 and 1 and in stamp 0, which no run uses. `cold`: displace the cache. */
int spot_check_call(struct spot_check *w, struct subject *u, int poison, bool cold, const char *when, struct failure *f);

#endif
