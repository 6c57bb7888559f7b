/**
 * spot_check.h - looks at calls that the module cannot predict, while it is timed.
 *
 * Every timed call works on inputs of its own (input_variant.h), which costs nothing and makes everything wrong that was remembered.
 * A few calls of a pass are watched. They are timed like all others, on inputs whose results are known, and then:
 *   their outputs are copied at the moment when the device says that they are done, and must stay like that once everything
 *   that the module may have started on the side has ended ("escaped"); work that goes on beside it counts when it does so in
 *   one call after the other;
 *   their results must be right ("wrong": skipped, cached, computed in part, computed only when somebody seems to look);
 *   redzones, inputs, and the workspaces of the other subjects must be as they were ("oob").
 *
 * All this takes a moment before and after the call, by which a module may know it. So there are calls, too, that are known by nothing but
 * their inputs: outputs are copied on the stream, and compared when nothing is timed any more.
 *
 * On a device that invents its times no call computes, and nothing here does anything.
 */
#ifndef RUNNER_CALL_SPOT_CHECK_H
#define RUNNER_CALL_SPOT_CHECK_H

#include "runner/call/runner.h"
#include "runner/call/verifier.h"

enum { SPOT_CHECK_BELONGINGS_MAX = 2 * PROTOCOL_SUBJECTS_MAX, SPOT_CHECK_LATER_MAX = 4 };

/** What of the inputs changes from call to call. */
enum spot_check_change {
	SPOT_CHECK_ANY,    /* all that can; what belongs to a forward is that of either */
	SPOT_CHECK_OTHER,  /* all that can, and what is known is that of the second forward */
	SPOT_CHECK_OTHERS, /* all that can but the first inputs, and what is known is that of the second forward */
	SPOT_CHECK_FIRST   /* the family's first inputs alone */
};

/** Outputs of a call as it left them. NULLs: none. */
struct spot_check_copy {
	void *data[FAMILY_SLOTS_MAX];
};

struct spot_check {
	struct runner *runner;
	struct problem *problem;
	bool active;
	bool watching; /* from spot_check_before to spot_check_after */
	bool binds;    /* calls are made from an idle stream, bind right before them, as those of series call */
	bool anyones;  /* what spot_check_before found may be of any subject that ran since the last look */
	bool unnamed;  /* it may be of any of them, and no further call can tell of which */
	enum spot_check_change change;
	struct input_variant known; /* what `verifier` was made with */
	struct verifier verifier;
	struct spot_check_copy copy;
	struct {
		bool has_room, is_taken;
		struct spot_check_copy copy;
	} later[PROTOCOL_SUBJECTS_MAX][SPOT_CHECK_LATER_MAX]; /* by place in runner->subject */
	int n_belongings;                                     /* workspaces of the subjects that do not run */
	struct {
		const struct subject *owner;
		const void *data;
		size_t bytes;
		uint64_t sum;
	} belonging[SPOT_CHECK_BELONGINGS_MAX];
};

/** Inputs for a call, at random. */
void spot_check_draw(struct runner *r, const struct problem *p, enum spot_check_change change, struct input_variant *out);
/** "Q", "K and V": the tensors that change so. Shape: out[size]. */
void spot_check_names(const struct problem *p, enum spot_check_change change, char *out, size_t size);
/** Before the forward that a problem needs: let there be a second one, on other inputs, if there is room. */
void spot_check_vary(struct runner *r, struct problem *p);
/**
 * Choose the inputs of watched calls and compute their reference, if what they are restored from is as it was accepted. `visits` as in struct
 * family_check. Own: spot_check_close, also after an error. Err: "oob" when it is not, by whom is unknown.
 */
int spot_check_open(struct spot_check *w, struct runner *r, struct problem *p, enum spot_check_change change, double visits,
	struct failure *f);
void spot_check_close(struct spot_check *w);

/**
 * The next call, of `u`, is watched: waits for the device, and notes how everything is that `u` must leave alone. Err: "oob"
 * when a redzone, which is whole again, or what inputs are restored from was damaged before, by whom is unknown.
 */
int spot_check_before(struct spot_check *w, const struct subject *u, struct failure *f);
/** Asynchronous: arrange the inputs of the next call, the known ones when it is watched, else random ones. Of SPOT_CHECK_FIRST those inputs only. */
int spot_check_set_inputs(struct spot_check *w, struct fw_err *err);
/** After the watched call, before anything else is asked of the device. `when` begins what is said of a wrong result. Err: it is `u`'s. */
int spot_check_after(struct spot_check *w, struct subject *u, const char *when, struct failure *f);
/**
 * Room for `n` calls of each subject, SPOT_CHECK_LATER_MAX at most, whose results are copied at once and looked at later: nothing waits for them,
 * so they are made as all others. Where there is less memory there is room for fewer, which is noted. Own: spot_check_close.
 */
void spot_check_make_later(struct spot_check *w, int n);
/** Let the next call, of `u`, have the known inputs. False: there is no room `k`, or it holds a call that was not looked at yet. */
bool spot_check_later_before(struct spot_check *w, const struct subject *u, int k);
/** Asynchronous, right behind that call. */
int spot_check_later_after(struct spot_check *w, const struct subject *u, int k, struct failure *f);
/** Look at all calls of `u` that were copied, in whose stead there is room again. `when` begins what is said of a wrong result. */
int spot_check_later_look(struct spot_check *w, const struct subject *u, const char *when, struct failure *f);

/** One whole watched call between marks 0 and 1 and in stamp 0, which nobody looks at in a run. `cold`: the cache is displaced. */
int spot_check_call(struct spot_check *w, struct subject *u, int poison, bool cold, const char *when, struct failure *f);

#endif
