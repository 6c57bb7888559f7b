/** verifier.h - a reference computed once for a problem and compared with any number of results. */
#ifndef RUNNER_VERIFIER_H
#define RUNNER_VERIFIER_H

#include "runner/problem.h"
#include "runner/subject.h"

struct verifier {
	const struct problem *problem;
	const struct family_check *check;
	struct check_io io; /* must not move while open */
	struct expected *expected;
};

/**
 * Compute the reference of `p` for its current inputs. `visits` as in struct family_check. Own: verifier_close, also after an
 * error.
 */
int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f);
void verifier_close(struct verifier *v);
/** Compare the problem's outputs. `after` precedes the message: "with its phases one by one: ", or "". */
int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f);

#endif
