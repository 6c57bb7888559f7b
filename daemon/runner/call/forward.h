/**
 * forward.h - the forward that a problem starts from: what it leaves becomes input once it is right, and what inputs are restored from
 * stays as it then was.
 */
#ifndef RUNNER_CALL_FORWARD_H
#define RUNNER_CALL_FORWARD_H

#include "runner/call/subject.h"

/** How the results of a forward are held against their reference, as struct family_check has it. */
struct forward_check {
	uint64_t seed;
	double visits; /* of the first; of those after it as few as can be */
};

/**
 * Plan, bind, run and unplan the forward that a problem needs, and take its results as inputs; twice where the problem is varied. Each
 * result that is taken must be right: "wrong" else. `check` NULL: they are not looked at, where no time decides anything. Err: as
 * subject.h, with "its forward: " in front.
 */
int forward_run(struct subject *s, struct problem *p, const struct forward_check *check, struct failure *f);

/**
 * Whether all that inputs are restored from is as it was accepted, what forwards have left included. Waits for the device. Err: "oob",
 * by whom is unknown.
 */
int forward_hold_inputs(const struct problem *p, struct failure *f);

#endif
