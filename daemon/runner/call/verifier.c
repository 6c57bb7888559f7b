/* verifier.c - binds reference and acceptance to a problem's buffers. */
#include "runner/call/verifier.h"

#include <string.h>

int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f)
{
	struct fw_err err = { 0 };
	memset(v, 0, sizeof *v);
	v->problem = p;
	v->ops = problem_reference_ops(p);
	problem_reference_io(p, direction, &v->io);
	if (reference_plan_make(v->io.cell, seed, visits, &v->plan, &err) != 0 ||
		reference_compute(v->ops, &v->plan, &v->io, &v->reference, &err) != 0)
		return failure_device(f, p, &err);
	return 0;
}

void verifier_close(struct verifier *v)
{
	reference_fini(&v->reference);
	reference_plan_fini(&v->plan);
}

int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f)
{
	struct fw_err err = { 0 };
	memset(result, 0, sizeof *result);
	if (accept_check(&v->reference, v->ops, &v->io, result, &err) != 0)
		return failure_device(f, v->problem, &err);
	if (!result->ok)
		return failure_set(f, "wrong", "%s%s", after, result->detail);
	return 0;
}
