/* verifier.c - a family's check on a problem's buffers. */
#include "runner/internal.h"

int verifier_open(
	struct verifier *v, const struct problem *p, enum direction direction, uint64_t seed, double visits, struct failure *f)
{
	struct fw_err err = { 0 };
	memset(v, 0, sizeof *v);
	v->problem = p;
	v->check = family_check_find(p->family->name);
	problem_check_io(p, direction, &v->io);
	if (v->check->on_gpu && p->ops->abi_device == FW_CUDA) {
		v->expected = v->check->on_gpu->open(&v->io, seed, visits, &err);
		if (!v->expected && err.code != ERR_FULL)
			return failure_device(f, p, &err);
	}
	if (v->expected)
		v->check = v->check->on_gpu;
	else
		v->expected = v->check->open(&v->io, seed, visits, &err);
	return v->expected ? 0 : failure_device(f, p, &err);
}

void verifier_close(struct verifier *v)
{
	if (v->check)
		v->check->close(v->expected);
	v->expected = NULL;
}

int verifier_result(const struct verifier *v, const char *after, struct accept_result *result, struct failure *f)
{
	struct fw_err err = { 0 };
	memset(result, 0, sizeof *result);
	if (v->check->compare(v->expected, result, &err) != 0)
		return failure_device(f, v->problem, &err);
	if (!result->ok)
		return failure_set(f, "wrong", "%s%s", after, result->detail);
	return 0;
}
