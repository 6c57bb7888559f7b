/** forward.h - the forward call that a backward problem starts from; its accepted results become inputs. */
#ifndef RUNNER_FORWARD_H
#define RUNNER_FORWARD_H

#include "runner/subject.h"

/** Comparison of a forward's results with their reference, see struct family_check. */
struct forward_check {
	uint64_t seed;
	double visits; /* of the first comparison; later ones use the fewest */
};

/**
 * Plan, bind, run and unplan the forward that a problem needs, and take its results as inputs; twice if the problem is varied.
 * A wrong result fails with "wrong". `check` NULL: results are not compared, for modes whose times decide nothing. Err: as
 * subject.h, with "its forward: " in front.
 */
int forward_run(struct subject *s, struct problem *p, const struct forward_check *check, struct failure *f);

/** Wait for the device and check that all masters, forward results included, are as accepted. Err: "oob", cause unknown. */
int forward_hold_inputs(const struct problem *p, struct failure *f);

#endif
