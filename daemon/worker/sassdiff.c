/*
 * sassdiff.c - pairs of functions. Both sides are sorted by name, so one pass pairs them; only pairs with different hashes are
 * disassembled.
 */
#include "worker/internal.h"

const char *sassdiff_verdict_name(enum sassdiff_verdict v)
{
	static const char *const words[] = { "same code", "renamed", "rescheduled", "changed", "differs", "added", "removed" };
	return words[v];
}

static struct sassdiff_pair *new_pair(struct sassdiff *d, enum sassdiff_verdict verdict, const struct modulecode_function *base,
	const struct modulecode_function *target)
{
	struct sassdiff_pair *p = &d->pair[d->n++];
	*p = (struct sassdiff_pair){ .verdict = verdict, .base = base, .target = target };
	return p;
}

static int by_code(const struct modulecode_function *a, const struct modulecode_function *b)
{
	return strcmp(a->code_sha256, b->code_sha256);
}

/* Pair the functions with one name, [a, a_end) and [b, b_end), both sorted by code: first equal ones, then others in order. */
static void name_pair(struct sassdiff *d, const struct modulecode_function *a, const struct modulecode_function *a_end,
	const struct modulecode_function *b, const struct modulecode_function *b_end)
{
	const struct modulecode_function *left = a, *right = b;
	size_t first = d->n, n_left = 0, n_right = 0;
	while (left < a_end || right < b_end) {
		int order = left == a_end ? 1 : right == b_end ? -1 : by_code(left, right);
		if (order == 0)
			new_pair(d, SASSDIFF_SAME, left++, right++);
		else if (order < 0)
			new_pair(d, SASSDIFF_REMOVED, left++, NULL);
		else
			new_pair(d, SASSDIFF_ADDED, NULL, right++);
	}
	for (size_t i = first; i < d->n; i++) {
		n_left += d->pair[i].verdict == SASSDIFF_REMOVED;
		n_right += d->pair[i].verdict == SASSDIFF_ADDED;
	}
	/* pair each unpaired function of one side with the next unpaired one of the other */
	for (size_t i = first, j = first; i < d->n && n_left > 0 && n_right > 0; i++) {
		if (d->pair[i].verdict != SASSDIFF_REMOVED)
			continue;
		while (d->pair[j].verdict != SASSDIFF_ADDED)
			j++;
		d->pair[i].target = d->pair[j].target;
		d->pair[i].verdict = SASSDIFF_DIFFERS;
		d->pair[j].verdict = SASSDIFF_DIFFERS; /* an empty pair, which is removed below */
		d->pair[j].target = NULL;
		n_left--, n_right--;
	}
	size_t to = first;
	for (size_t i = first; i < d->n; i++)
		if (d->pair[i].base || d->pair[i].target)
			d->pair[to++] = d->pair[i];
	d->n = to;
}

static void pair_all(struct sassdiff *d)
{
	const struct modulecode_function *a = d->base->function, *b = d->target->function;
	const struct modulecode_function *a_end = a + d->base->n, *b_end = b + d->target->n;
	while (a < a_end || b < b_end) {
		const struct modulecode_function *lead = a == a_end || (b < b_end && modulecode_order(b, a) < 0) ? b : a;
		const struct modulecode_function *a_next = a, *b_next = b;
		while (a_next < a_end && modulecode_order(a_next, lead) == 0)
			a_next++;
		while (b_next < b_end && modulecode_order(b_next, lead) == 0)
			b_next++;
		name_pair(d, a, a_next, b, b_next);
		a = a_next;
		b = b_next;
	}
}

static int compare(struct sassdiff *d, struct sassdiff_pair *p, const char *nvdisasm, struct fw_err *err)
{
	static const enum sassdiff_verdict verdicts[] = { [SASSDELTA_RENAMED] = SASSDIFF_RENAMED,
		[SASSDELTA_RESCHEDULED] = SASSDIFF_RESCHEDULED,
		[SASSDELTA_CHANGED] = SASSDIFF_CHANGED };
	struct fw_err unread = { 0 };
	if (modulecode_sass(d->base, p->base, nvdisasm, &p->sass[0], &p->code[0], &unread) != 0 ||
		modulecode_sass(d->target, p->target, nvdisasm, &p->sass[1], &p->code[1], &unread) != 0) {
		p->sass[0] = p->sass[1] = NULL;
		snprintf(d->note, sizeof d->note, "instructions are not compared: %s", unread.text);
		return 0;
	}
	if (sassdelta_make(&p->delta, p->sass[0], p->code[0], p->sass[1], p->code[1], err) != 0)
		return -1;
	p->verdict = verdicts[p->delta.kind];
	return 0;
}

static int compare_all(struct sassdiff *d, struct fw_err *err)
{
	char nvdisasm[4096];
	bool has_nvdisasm = false, is_sought = false;
	for (size_t i = 0; i < d->n; i++) {
		if (d->pair[i].verdict != SASSDIFF_DIFFERS)
			continue;
		if (!is_sought)
			has_nvdisasm = cudatool_find("nvdisasm", nvdisasm, sizeof nvdisasm);
		is_sought = true;
		if (!has_nvdisasm)
			snprintf(d->note, sizeof d->note,
				"instructions are not compared: there is no nvdisasm in PATH or next to nvcc; it comes with the CUDA toolkit");
		else if (compare(d, &d->pair[i], nvdisasm, err) != 0)
			return -1;
	}
	return 0;
}

int sassdiff_make(struct sassdiff *d, const char *base, const char *target, const struct sandbox *sandbox, struct fw_err *err)
{
	*d = (struct sassdiff){ 0 };
	if (modulecode_open(base, sandbox, &d->base, err) != 0 || modulecode_open(target, sandbox, &d->target, err) != 0)
		return -1;
	if (d->base->n == 0 && d->target->n == 0)
		return err_set(err, ERR_INVALID, "%s, %s: no device code that can be read here in either", base, target);
	d->pair = calloc(d->base->n + d->target->n, sizeof *d->pair);
	if (!d->pair)
		return err_set(err, ERR_FULL, "no memory for %zu functions", d->base->n + d->target->n);
	pair_all(d);
	return compare_all(d, err);
}

void sassdiff_fini(struct sassdiff *d)
{
	for (size_t i = 0; i < d->n; i++)
		sassdelta_fini(&d->pair[i].delta);
	free(d->pair);
	modulecode_free(d->base);
	modulecode_free(d->target);
	*d = (struct sassdiff){ 0 };
}

bool sassdiff_is_same(const struct sassdiff *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->pair[i].verdict != SASSDIFF_SAME)
			return false;
	return true;
}
