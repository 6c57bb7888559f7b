/* spot_check.c - inputs, copies and checksums around a watched call. */
#include "runner/internal.h"

/* Time after a call that bookkeeping of a runtime library may take besides the stream; no kernel is that short. */
#define LATE_US 500.0
/* How long a late thread may wait for a core of a busy machine. The runner waits only after a wrong result. */
#define WRITER_WAIT_US 1e6

enum {
	LATE_AGAIN = 2,    /* an interrupt looks like late work, but not in two successive calls */
	POISON_AGAIN = 63, /* poison bytes of these calls */
	LATER_LEAST = 2    /* minimum number of copies in a pass */
};

/* Positions of a reference that is used once, for a call with random inputs. */
#define ANY_VISITS 1.0

/* Draw a number of steps, except 0 and `other` if there are enough. */
static int32_t draw_roll(struct runner *r, const struct problem *p, int slot, int32_t other)
{
	int32_t n = (int32_t)(p->slot[slot].bytes / variant_step(p, slot)), roll;
	if (n < 2 || (n == 2 && other))
		return 0;
	do
		roll = 1 + (int32_t)runner_random(r, (uint32_t)n - 1);
	while (roll == other);
	return roll;
}

/*
 * Draw an offset within rows. If rows only moved, so would their results, which a module could store: elements also move from row
 * to row.
 */
static void draw_offset(struct runner *r, const struct problem *p, int slot, int32_t other, struct input_variant *out)
{
	out->roll[slot] = draw_roll(r, p, slot, other);
	out->shift[slot] = VARIANT_SHIFT_BYTES * (size_t)runner_random(r, (uint32_t)variant_shifts(p, slot));
}

/* Roll each input of a forward by different steps, otherwise their pairs would not change. */
static void roll_forward(struct runner *r, const struct problem *p, struct input_variant *out)
{
	int32_t other = 0;
	for (int i = 0; i < p->family->n_slots; i++)
		if (variant_change(p, i) == SLOT_ROLLS_FORWARD)
			draw_offset(r, p, i, other, out), other = out->roll[i];
}

void spot_check_draw(struct runner *r, const struct problem *p, enum spot_check_change change, struct input_variant *out)
{
	bool other = change == SPOT_CHECK_OTHER || change == SPOT_CHECK_OTHERS;
	*out = p->named;
	if (p->varied && (other || (change == SPOT_CHECK_ANY && runner_random(r, 2))))
		*out = p->second;
	for (int i = 0; i < p->family->n_slots; i++) {
		enum slot_change how = variant_change(p, i);
		if ((how == SLOT_ROLLS_FIRST && change != SPOT_CHECK_OTHERS) || (how == SLOT_ROLLS && change != SPOT_CHECK_FIRST))
			draw_offset(r, p, i, 0, out);
	}
	if (!p->needs_forward && change != SPOT_CHECK_FIRST)
		roll_forward(r, p, out);
}

void spot_check_names(const struct problem *p, enum spot_check_change change, char *out, size_t size)
{
	size_t used = 0;
	out[0] = '\0';
	for (int i = 0; i < p->family->n_slots && used < size; i++) {
		enum slot_change how = variant_change(p, i);
		if (how != SLOT_STAYS && !p->slot[i].is_forwards && (how == SLOT_ROLLS_FIRST) == (change == SPOT_CHECK_FIRST))
			used += (size_t)snprintf(
				out + used, size - used, "%s%s", used ? " and " : "", family_slot_name(p->family, i));
	}
}

void spot_check_vary(struct runner *r, struct problem *p)
{
	struct fw_err err = { 0 };
	struct input_variant rolled = { 0 };
	if (!p->needs_forward)
		return;
	roll_forward(r, p, &rolled);
	if (variant_add_second(p, &rolled, &err) != 0)
		record_note(r->records, -1, ROLE_DEVICE,
			"no memory for a second forward: whether the shared inputs are read in every call is not tested");
}

static void free_copy(const struct spot_check *w, struct spot_check_copy *c)
{
	for (int i = 0; w->runner && i < FAMILY_SLOTS_MAX; i++)
		w->runner->ops->release(w->runner->dev, c->data[i]);
	memset(c, 0, sizeof *c);
}

static bool make_copy(const struct spot_check *w, struct spot_check_copy *c)
{
	const struct problem *p = w->problem;
	struct fw_err err = { 0 };
	for (int i = 0; i < p->family->n_slots; i++) {
		if (p->slot[i].use != SLOT_OUTPUT || p->ops->alloc(p->dev, p->slot[i].bytes, &c->data[i], &err) == 0)
			continue;
		free_copy(w, c);
		return false;
	}
	return true;
}

void spot_check_make_later(struct spot_check *w, int n)
{
	bool has_memory = w->active;
	for (int i = 0; has_memory && i < w->runner->n_sides; i++)
		w->later[i][runner_random(w->runner, LATER_LEAST)].is_any = true;
	for (int k = 0; k < n; k++)
		for (int i = 0; i < w->runner->n_sides; i++)
			has_memory = w->later[i][k].has_space = has_memory && make_copy(w, &w->later[i][k].copy);
	if (w->active && !has_memory)
		record_note(w->runner->records, -1, ROLE_DEVICE,
			"no memory for copies of the results: fewer calls are checked at the end");
}

bool spot_check_later_before(struct spot_check *w, const struct side *u, int k)
{
	size_t i = (size_t)(u - w->runner->side);
	struct spot_check_later *later = &w->later[i][k];
	w->watching = later->has_space && !later->is_taken;
	w->next = w->watching && later->is_any ? later : NULL;
	return w->watching;
}

int spot_check_later_after(struct spot_check *w, const struct side *u, int k, struct failure *f)
{
	size_t at = (size_t)(u - w->runner->side);
	const struct spot_check_copy *c = &w->later[at][k].copy;
	const struct problem *p = w->problem;
	struct fw_err err = { 0 };
	w->watching = false;
	w->next = NULL;
	w->later[at][k].is_taken = true;
	for (int i = 0; i < p->family->n_slots; i++)
		if (c->data[i] && p->ops->copy(p->dev, c->data[i], p->slot[i].data, p->slot[i].bytes, &err) != 0)
			return failure_device(f, p, &err);
	return 0;
}

static int compare_copy(const struct spot_check *w, const struct verifier *v, const struct spot_check_copy *c, const char *when,
	struct failure *f)
{
	const struct problem *p = w->problem;
	struct accept_result result;
	struct fw_err err = { 0 };
	for (int i = 0; i < p->family->n_slots; i++)
		if (c->data[i] && p->ops->copy(p->dev, p->slot[i].data, c->data[i], p->slot[i].bytes, &err) != 0)
			return failure_device(f, p, &err);
	return verifier_result(v, when, &result, f);
}

/* Compute the reference of a call's own inputs, and compare its outputs. */
static int compare_any(struct spot_check *w, const struct spot_check_later *later, const char *when, struct failure *f)
{
	struct problem *p = w->problem;
	struct fw_err err = { 0 };
	struct verifier v;
	if (forward_hold_inputs(p, f) != 0) { /* otherwise the reference could use inputs that a side has modified */
		w->unnamed = true;
		return -1;
	}
	if (variant_inputs(p, &later->any, &err) != 0)
		return failure_device(f, p, &err);
	int rc = verifier_open(&v, p, p->cell.direction, runner_secret(w->runner), ANY_VISITS, f);
	if (rc == 0)
		rc = compare_copy(w, &v, &later->copy, when, f);
	verifier_close(&v);
	if (variant_inputs(p, &w->known, &err) != 0 && rc == 0) /* the check of a total reads the named inputs */
		return failure_device(f, p, &err);
	return rc;
}

int spot_check_later_check(struct spot_check *w, const struct side *u, const char *when, struct failure *f)
{
	size_t i = (size_t)(u - w->runner->side);
	for (int k = 0; k < SPOT_CHECK_LATER_MAX; k++) {
		if (!w->later[i][k].is_taken)
			continue;
		w->later[i][k].is_taken = false;
		const struct spot_check_later *later = &w->later[i][k];
		if ((later->is_any ? compare_any(w, later, when, f) : compare_copy(w, &w->verifier, &later->copy, when, f)) != 0)
			return -1;
	}
	return 0;
}

int spot_check_open(struct spot_check *w, struct runner *r, struct problem *p, enum spot_check_change change, double visits,
	struct failure *f)
{
	struct fw_err err = { 0 };
	memset(w, 0, sizeof *w);
	w->runner = r;
	w->problem = p;
	w->active = !r->ops->work;
	w->change = change;
	if (forward_hold_inputs(p, f) != 0) /* otherwise the reference could use modified inputs */
		return -1;
	if (!w->active)
		return 0;
	if (!make_copy(w, &w->copy)) /* without a copy only late changes of results are not detected */
		record_note(r->records, -1, ROLE_DEVICE,
			"no memory for copies of the results: whether they change after a call is not tested");
	spot_check_draw(r, p, change, &w->known);
	if (variant_sum(p, &w->known, &err) != 0)
		return failure_device(f, p, &err);
	return verifier_open(&w->verifier, p, p->cell.direction, runner_secret(r), visits, f);
}

void spot_check_close(struct spot_check *w)
{
	if (w->runner)
		free_copy(w, &w->copy);
	for (int i = 0; i < PROTOCOL_SIDES_MAX * SPOT_CHECK_LATER_MAX; i++)
		if (w->later[i / SPOT_CHECK_LATER_MAX][i % SPOT_CHECK_LATER_MAX].has_space)
			free_copy(w, &w->later[i / SPOT_CHECK_LATER_MAX][i % SPOT_CHECK_LATER_MAX].copy);
	if (w->active)
		verifier_close(&w->verifier);
	memset(w, 0, sizeof *w);
}

int spot_check_set_inputs(struct spot_check *w, struct failure *f)
{
	struct problem *p = w->problem;
	struct fw_err err = { 0 };
	struct input_variant any;

	if (!w->active)
		return problem_restore(p, f);
	if (!w->watching || w->next)
		spot_check_draw(w->runner, p, w->change, &any);
	if (w->next)
		w->next->any = any;
	const struct input_variant *a = w->watching && !w->next ? &w->known : &any;
	if (w->change != SPOT_CHECK_FIRST)
		return variant_inputs(p, a, &err) == 0 ? 0 : failure_device(f, p, &err);
	p->now = *a;
	for (int i = 0; i < p->family->n_slots; i++)
		if (variant_change(p, i) == SLOT_ROLLS_FIRST && variant_slot(p, i, a, &err) != 0)
			return failure_device(f, p, &err);
	return 0;
}

static int add_belonging(struct spot_check *w, const struct side *owner, const void *data, size_t bytes, struct fw_err *err)
{
	bytes &= ~(size_t)1;
	if (!data || bytes == 0 || w->n_belongings == SPOT_CHECK_BELONGINGS_MAX)
		return 0;
	w->belonging[w->n_belongings].owner = owner;
	w->belonging[w->n_belongings].data = data;
	w->belonging[w->n_belongings].bytes = bytes;
	return w->runner->ops->checksum(w->runner->dev, data, bytes, &w->belonging[w->n_belongings++].sum, err);
}

int spot_check_before(struct spot_check *w, const struct side *u, struct failure *f)
{
	struct runner *r = w->runner;
	struct fw_err err = { 0 };
	void *which = NULL;
	if (!w->active)
		return 0;
	w->watching = true;
	w->next = NULL;
	w->n_belongings = 0;
	if (r->ops->check_redzones(r->dev, &which, &err) != 0) {
		w->is_ambiguous = which != NULL;
		return which ? failure_set(f, "oob", "a write outside a buffer happened during the timed calls")
			     : failure_device(f, w->problem, &err);
	}
	if (forward_hold_inputs(w->problem, f) != 0) {
		w->unnamed = true;
		return -1;
	}
	for (int k = 0; k < r->n_sides; k++) {
		const struct side *other = &r->side[k];
		if (other == u || !other->plan)
			continue;
		if (add_belonging(w, other, other->workspace, other->workspace_bytes, &err) != 0 ||
			add_belonging(w, other, other->persist, other->persist_bytes, &err) != 0)
			return failure_device(f, w->problem, &err);
	}
	return 0;
}

static int find_changed(struct spot_check *w, int *slot, struct failure *f)
{
	struct runner *r = w->runner;
	struct problem *p = w->problem;
	*slot = -1;
	for (int i = 0; i < FAMILY_SLOTS_MAX && *slot < 0; i++) {
		struct fw_err err = { 0 };
		uint64_t then, now;
		if (!w->copy.data[i])
			continue;
		if (r->ops->checksum(r->dev, w->copy.data[i], p->slot[i].bytes, &then, &err) != 0 ||
			r->ops->checksum(r->dev, p->slot[i].data, p->slot[i].bytes, &now, &err) != 0)
			return failure_device(f, p, &err);
		if (then != now)
			*slot = i;
	}
	return 0;
}

static int wait_for_rest(struct spot_check *w, double *late_us, struct failure *f)
{
	struct fw_err err = { 0 };
	if (w->runner->ops->wait_all(w->runner->dev, late_us, &err) == 0)
		return 0;
	f->lost = true;
	return failure_set(f, "crash", "%.500s", err.text);
}

static int report_changed(const struct spot_check *w, struct failure *f, int slot)
{
	return failure_set(f, "escaped", "%s was still being written after the call was done: part of the work is not timed",
		family_slot_name(w->problem->family, slot));
}

/* Compare the outputs with their copies after all late work had time to end. */
static int check_late_work(struct spot_check *w, double *late_us, struct failure *f)
{
	struct runner *r = w->runner;
	struct problem *p = w->problem;
	struct fw_err err = { 0 };
	int slot;
	for (int i = 0; i < FAMILY_SLOTS_MAX; i++)
		if (w->copy.data[i] && r->ops->copy(r->dev, w->copy.data[i], p->slot[i].data, p->slot[i].bytes, &err) != 0)
			return failure_device(f, p, &err);
	if (wait_for_rest(w, late_us, f) != 0 || find_changed(w, &slot, f) != 0)
		return -1;
	return slot >= 0 ? report_changed(w, f, slot) : 0;
}

static int call_again(struct spot_check *w, struct side *u, struct failure *f)
{
	w->watching = true;
	int result = spot_check_set_inputs(w, f);
	w->watching = false;
	if (result != 0 || side_ahead(u, POISON_AGAIN, f) != 0 || problem_poison(w->problem, POISON_AGAIN, f) != 0)
		return -1;
	if (w->binds && (side_wait(u, f) != 0 || side_bind(u, f) != 0))
		return -1;
	return side_timed(u, f) == 0 ? side_behind(u, f) : -1;
}

/* Check that the outputs are complete when the call is done, and that no work continues outside it. */
static int check_escaped(struct spot_check *w, struct side *u, struct failure *f)
{
	double late_us = 0;
	for (int again = 0; again <= LATE_AGAIN; again++) {
		if (again > 0 && call_again(w, u, f) != 0)
			return -1;
		if (check_late_work(w, &late_us, f) != 0)
			return -1;
		if (late_us <= LATE_US)
			return 0;
	}
	return failure_set(f, "escaped",
		"other streams or threads worked on for %.3g ms after the call was done: part of the work is not timed",
		late_us * 1e-3);
}

/* A wrong result may still be written by a thread that a busy machine has not scheduled yet. */
static int check_result(struct spot_check *w, struct failure *f)
{
	const struct runner *r = w->runner;
	struct failure other = { 0 };
	double late_us, end_us = r->ops->host_us(r->dev) + WRITER_WAIT_US;
	int slot = -1;
	while (slot < 0 && r->ops->host_us(r->dev) < end_us)
		if (wait_for_rest(w, &late_us, &other) != 0 || find_changed(w, &slot, &other) != 0)
			return -1;
	if (slot >= 0) {
		memset(f, 0, sizeof *f);
		report_changed(w, f, slot);
	}
	return -1;
}

/* Check the other sides' workspaces, which only their owners may write during timed calls. */
static int check_workspaces(struct spot_check *w, struct failure *f)
{
	for (int i = 0; i < w->n_belongings; i++) {
		struct fw_err err = { 0 };
		uint64_t sum;
		if (w->runner->ops->checksum(w->runner->dev, w->belonging[i].data, w->belonging[i].bytes, &sum, &err) != 0)
			return failure_device(f, w->problem, &err);
		if (sum != w->belonging[i].sum)
			return failure_set(f, "oob", "wrote into the %s of %s",
				w->belonging[i].data == w->belonging[i].owner->persist ? "persistent workspace" : "workspace",
				role_name(w->belonging[i].owner->role));
	}
	return 0;
}

int spot_check_after(struct spot_check *w, struct side *u, const char *when, struct failure *f)
{
	struct accept_result result;
	if (!w->active)
		return 0;
	w->watching = false;
	if (own_code_check(OWN_CODE_TABLES, f) != 0) /* quick: a longer check would give late work time to finish */
		return -1;
	record_request_inspection(w->runner->records, w->runner->at_cell, u->role);
	if (check_escaped(w, u, f) != 0 || own_code_check(OWN_CODE_ALL, f) != 0)
		return -1;
	if (w->runner->ops->queues) /* checked in a separate step after the queued calls */
		record_at(w->runner->records, w->runner->at_cell, w->runner->at_role, "check");
	if (check_workspaces(w, f) != 0)
		return -1;
	if (verifier_result(&w->verifier, when, &result, f) != 0)
		return strcmp(f->name, "wrong") == 0 ? check_result(w, f) : -1;
	return side_stayed_inside(u, f);
}

int spot_check_call(struct spot_check *w, struct side *u, int poison, bool cold, const char *when, struct failure *f)
{
	const struct device_ops *ops = w->runner->ops;
	struct device *dev = w->runner->dev;
	struct fw_err err = { 0 };
	if (!w->active)
		return 0;
	if (spot_check_before(w, u, f) != 0 || spot_check_set_inputs(w, f) != 0 || side_ahead(u, poison, f) != 0 ||
		problem_poison(w->problem, poison, f) != 0)
		return -1;
	if ((cold && ops->scrub(dev, &err) != 0) || ops->stamp(dev, 0, 0, &err) != 0 || ops->mark(dev, 0, &err) != 0)
		return failure_device(f, w->problem, &err);
	if (side_timed(u, f) != 0)
		return -1;
	if (ops->mark(dev, 1, &err) != 0 || ops->stamp(dev, 0, 1, &err) != 0)
		return failure_device(f, w->problem, &err);
	if (side_behind(u, f) != 0)
		return -1;
	return spot_check_after(w, u, when, f);
}
