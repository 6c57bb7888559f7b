/* prepare.c - start state of a profiled call. */
#include "runner/internal.h"

enum { POISON = 0x55 };

int prepare_call(struct runner *r, struct side *u, struct failure *f)
{
	struct problem *p = u->problem;
	struct fw_err err = { 0 };
	if (problem_restore(p, f) != 0 || side_ahead(u, POISON, f) != 0 || problem_poison(p, POISON, f) != 0)
		return -1;
	if (r->ops->scrub(r->dev, &err) != 0 || r->ops->wait(r->dev, &err) != 0)
		return failure_device(f, p, &err);
	return 0;
}
