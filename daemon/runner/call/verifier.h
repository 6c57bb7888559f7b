/**
 * verifier.h - a reference made once for a problem and compared with any number of results on it.
 */
#ifndef RUNNER_CALL_VERIFIER_H
#define RUNNER_CALL_VERIFIER_H

#include "runner/call/problem.h"
#include "runner/call/subject.h"

struct verifier {
	const struct problem *problem;
	const struct family_check *check;
	struct check_io io; /* stays where it is from open to close */
	struct expected *expected;
};

/** Compute the reference of `p` as its inputs are now. `visits` as in struct family_check. Own: verifier_close, also after an error. */
int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f);
void verifier_close(struct verifier *v);
/** Compare the problem's outputs. `after` goes in front of what is wrong: "with its phases one by one: ", or "". */
int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f);

#endif
