/**
 * subject.h - one module under test, and its plan for the current cell.
 *
 * Every failure of branch code becomes a struct failure: one of the protocol's classes and one line of text.
 */
#ifndef RUNNER_SUBJECT_H
#define RUNNER_SUBJECT_H

#include <stdbool.h>

#include "runner/module.h"
#include "runner/problem.h"

/** A failure; `name` "": none. */
struct failure {
	char name[16]; /* "abi" "unsupported" "provider" "crash" "wrong" "oob", or "device" if the device itself refuses */
	char detail[512];
	bool lost; /* the device's context is gone: nothing more can run in this process */
};

/** Set a failure unless one is set already. Returns -1. */
int failure_set(struct failure *f, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Set the failure of a device operation: "crash" if its context is lost, else "device". Returns -1. */
int failure_device(struct failure *f, const struct problem *p, const struct fw_err *err);

struct subject {
	enum role role;
	char provider_name[48]; /* "": the module's default */
	const char *pin;        /* configuration for plan of the problem itself; NULL: it chooses. Own: the caller's */
	struct module module;
	bool loaded;

	/* of the current cell */
	struct problem *problem;
	const struct fw_problem *abi; /* the problem's, forward or backward */
	const struct fw_provider *provider;
	struct fw_plan *plan;
	uint32_t phases;
	uint32_t ahead, timed, behind; /* phases done once, before a call's time begins; phases of a call; phases after it */
	size_t workspace_bytes, persist_bytes;
	void *workspace, *persist;
	struct fw_tensor tensor[FAMILY_SLOTS_MAX]; /* arguments of bind */
	char config[160];
	struct tried tried; /* from its search; owned, until the next plan for the problem itself */
	bool has_work;      /* count answered */
	struct fw_work work;
	double flops;   /* issued; useful ones if count has no answer */
	bool pass_time; /* sim: enqueue only advances time */
};

int subject_load(struct subject *s, enum role role, const char *module, const char *provider, struct failure *f);
/** Unplan and close the module. Accepts a zeroed subject. */
void subject_unload(struct subject *s);

/**
 * Choose the provider, plan, allocate workspace. `direction` forward is also valid for a backward problem: it computes the
 * inputs that the problem starts from. Own: subject_unplan, also after a failure.
 */
int subject_plan(struct subject *s, struct problem *p, enum direction direction, struct failure *f);
void subject_unplan(struct subject *s);
/**
 * Plan again with the configuration that the first plan chose, which must choose it again: shows that a search's result can be
 * used in other processes. Clears `pin`. Own: as subject_plan.
 */
int subject_plan_again(struct subject *s, struct failure *f);
/** Ask the provider for its work on this problem's mask: fills work and flops. Takes host time; plan does it on sim only. */
void subject_count(struct subject *s);
int subject_bind(struct subject *s, struct failure *f);
int subject_enqueue(struct subject *s, uint32_t phases, struct failure *f);
/**
 * Run the phases that are done once, after inputs are set, while the inputs that they must not depend on hold byte `filler`.
 */
int subject_ahead(struct subject *s, int filler, struct failure *f);
int subject_timed(struct subject *s, struct failure *f);
/** Enqueue the phases after the timed ones, to complete the result. */
int subject_behind(struct subject *s, struct failure *f);
int subject_wait(struct subject *s, struct failure *f);
/** After a wait, check for writes to inputs and outside buffers. */
int subject_stayed_inside(struct subject *s, struct failure *f);
struct subject_way {
	const struct input_variant *inputs; /* with checksums; NULL: the named inputs */
	int poison, workspace_fill;         /* bytes */
	bool one_by_one;                    /* one phase after the other instead of all at once */
	bool cold;                          /* as timed calls: displaced cache, clock stamps in slot 0 */
};
/**
 * Make one whole call: set inputs, fill outputs and workspace with bytes, enqueue, wait, check for stray writes. Marks 0 and 1
 * surround its work.
 */
int subject_call(struct subject *s, const struct subject_way *way, struct failure *f);

#endif
