/* forward.c - forward calls on the named and on rolled inputs, and checksums of the masters. */
#include "runner/internal.h"

/* The minimum number of positions: this tests whether results are computed, not how exactly. */
#define VISITS_AGAIN 1.0

/* Run the forward. Requires plan and bind; shared inputs must be final. */
static int run_on(struct side *s, const struct input_variant *a, struct failure *f)
{
	struct problem *p = s->problem;
	struct fw_err err = { 0 };
	for (int i = 0; i < p->family->n_slots; i++) {
		bool shared = variant_change(p, i) == SLOT_ROLLS_FORWARD;
		if ((shared && variant_slot(p, i, a, &err) != 0) ||
			(p->slot[i].use == SLOT_FORWARD &&
				p->ops->fill_bytes(p->dev, p->slot[i].data, 0xff, p->slot[i].bytes, &err) != 0))
			return failure_device(f, p, &err);
	}
	if (side_enqueue(s, FW_ALL, f) != 0 || side_wait(s, f) != 0)
		return -1;
	return side_stayed_inside(s, f);
}

/* Compare the forward's results: the reference of backward takes O and LSE as given. */
static int verify(const struct problem *p, const char *when, const struct forward_check *check, struct failure *f)
{
	struct accept_result result;
	struct verifier v;
	int rc = verifier_open(&v, p, DIRECTION_FORWARD, check->seed, check->visits, f);
	if (rc == 0)
		rc = verifier_result(&v, when, &result, f);
	verifier_close(&v);
	return rc;
}

/* Check and copy the results. Sums the checked data, not the copy: forward_hold_inputs compares both. `check` may be NULL. */
static int take_results(
	struct side *s, const struct input_variant *a, const struct forward_check *check, const char *when, struct failure *f)
{
	struct problem *p = s->problem;
	struct fw_err err = { 0 };
	if (run_on(s, a, f) != 0)
		return -1;
	if (problem_copy_forward(p, a->second, &err) != 0)
		return failure_device(f, p, &err);
	if (check && verify(p, when, check, f) != 0)
		return -1;
	return problem_sum_forward(p, a->second, &err) == 0 ? 0 : failure_device(f, p, &err);
}

/* After a failure of the first call: find whether it needs other inputs. */
static int name_first_failure(struct side *s, struct problem *p, const struct forward_check *check, struct failure *f)
{
	struct failure plain = { 0 };
	if (strcmp(f->name, "wrong") == 0 && take_results(s, &p->named, check, "", &plain) != 0)
		*f = plain;
	return -1;
}

/*
 * Run on the named inputs last: a result that a module stored in its first call is wrong for them, and a stray write shows next
 * to the restored inputs.
 */
static int take_all_results(struct side *s, struct problem *p, const struct forward_check *check, struct failure *f)
{
	static const char other[] = "with other inputs: ";
	const struct forward_check again = { .seed = check ? check->seed : 0, .visits = VISITS_AGAIN };
	if (side_plan(s, p, DIRECTION_FORWARD, f) != 0 || side_bind(s, f) != 0)
		return -1;
	if (p->varied && take_results(s, &p->second, check ? &again : NULL, other, f) != 0)
		return name_first_failure(s, p, check, f);
	if (take_results(s, &p->named, check, p->varied ? other : "", f) != 0)
		return -1;
	return problem_restore(p, f);
}

int forward_run(struct side *s, struct problem *p, const struct forward_check *check, struct failure *f)
{
	struct failure inner = { 0 };
	int result = take_all_results(s, p, check, &inner);
	side_unplan(s);
	f->lost = f->lost || inner.lost;
	return result == 0 ? 0 : failure_set(f, inner.name, "its forward: %.480s", inner.detail);
}

int forward_hold_inputs(const struct problem *p, struct failure *f)
{
	struct fw_err err = { 0 };
	int slot;
	if (problem_damaged(p, &slot, &err) != 0)
		return failure_device(f, p, &err);
	if (slot < 0)
		return 0;
	return failure_set(f, "oob", "the data that %s is restored from has changed", family_slot_name(p->family, slot));
}
