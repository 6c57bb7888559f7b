/**
 * subject.h - one module under test, and its plan for the cell at hand.
 *
 * Every failure of branch code ends in a struct failure: one of the protocol's classes and one line that says what happened.
 */
#ifndef RUNNER_CALL_SUBJECT_H
#define RUNNER_CALL_SUBJECT_H

#include <stdbool.h>

#include "runner/call/module.h"
#include "runner/call/problem.h"

/** `name` "": nothing failed. */
struct failure {
	char name[16]; /* "abi" "unsupported" "provider" "crash" "wrong" "oob", or "device" when the device itself refuses */
	char detail[512];
	bool lost; /* the device's context is gone: nothing more can run in this process */
};

/** Set a failure unless one is there already. Returns -1. */
int failure_set(struct failure *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** A request of ours to the device failed: "crash" when its context is lost, "device" else. Returns -1. */
int failure_device(struct failure *f, const struct problem *p, const struct fw_err *err);

struct subject {
	enum role role;
	char provider_name[48]; /* "": the module's default */
	const char *pin;        /* configuration that plan gets for the problem itself; NULL: it chooses. Own: the caller's */
	struct module module;
	bool loaded;

	/* of the current cell */
	struct problem *problem;
	const struct fw_problem *abi; /* the problem's, forward or backward */
	const struct fw_provider *provider;
	struct fw_plan *plan;
	uint32_t phases;
	uint32_t ahead, timed,
		behind; /* of them: what is done once, before a call's time begins; a call; what is left to do for a result */
	size_t workspace_bytes, persist_bytes;
	void *workspace, *persist;
	struct fw_tensor tensor[FAMILY_SLOTS_MAX]; /* what bind gets */
	char config[160];
	struct tried tried; /* before it chose that; owned, till the next plan for the problem itself */
	bool has_work;      /* count answered */
	struct fw_work work;
	double flops;   /* issued; useful ones where count is silent */
	bool pass_time; /* sim: enqueue only lets time pass */
};

/** Load the module. */
int subject_load(struct subject *s, enum role role, const char *module, const char *provider, struct failure *f);
/** Unplan and close the module. Accepts a zeroed subject. */
void subject_unload(struct subject *s);

/**
 * Choose the provider, plan, allocate workspace. `direction` forward is possible on a problem that needs one: it writes what the problem starts from.
 * Own: subject_unplan, also after a failure.
 */
int subject_plan(struct subject *s, struct problem *p, enum direction direction, struct failure *f);
void subject_unplan(struct subject *s);
/**
 * After a plan for the problem itself: plan anew with the configuration that it chose, which has to give the same one. For providers that
 * search, so that what was found can be handed back in other processes. Clears `pin`. Own: as subject_plan.
 */
int subject_plan_again(struct subject *s, struct failure *f);
/** Ask the provider what it computes on this problem's mask: fills work and flops. Costs host time; done by plan on sim only. */
void subject_count(struct subject *s);
/** Give the plan its addresses. */
int subject_bind(struct subject *s, struct failure *f);
/** Put phases on the stream. */
int subject_enqueue(struct subject *s, uint32_t phases, struct failure *f);
/**
 * Once inputs are arranged: do what is done once, while the inputs that it must not depend on hold byte `filler`. Nothing where nothing is.
 */
int subject_ahead(struct subject *s, int filler, struct failure *f);
/** What a call is timed by. */
int subject_timed(struct subject *s, struct failure *f);
/** After the time: the rest of the result, where the call was a part of it. */
int subject_behind(struct subject *s, struct failure *f);
/** Wait for the stream; what fails there is this subject's. */
int subject_wait(struct subject *s, struct failure *f);
/** After a wait: this subject wrote into an input, beside a buffer, or not. */
int subject_stayed_inside(struct subject *s, struct failure *f);
/** How subject_call goes about it. */
struct subject_way {
	const struct input_variant *inputs; /* with their sums; NULL: as they are named */
	int poison, workspace_fill;         /* bytes */
	bool one_by_one;                    /* phases in turn instead of all at once */
	bool cold;                          /* as timed calls are: the cache is displaced, clocks are stamped, in slot 0 */
};
/**
 * One whole call by itself: inputs arranged, outputs and workspace filled with bytes, enqueue, wait, and a look at what it must
 * not have written. Marks 0 and 1 are around its work.
 */
int subject_call(struct subject *s, const struct subject_way *way, struct failure *f);

#endif
