/* ptxasdelta.c - comparison of two logs. */
#include "profile/profile.h"

#include <stdio.h>

const char *const ptxas_change_names[PTXAS_CHANGES + 1] = { "new", "more", "fewer", "gone", NULL };

struct list {
	const struct ptxaslog *of[2]; /* base, target */
	struct ptxas_change *out;
	size_t n, capacity;
};

static struct ptxas_change *add(struct list *l, enum ptxas_change_kind how, enum ptxas_kind kind, const char *mangled)
{
	if (l->n == l->capacity)
		return NULL;
	struct ptxas_change *c = &l->out[l->n++];

	*c = (struct ptxas_change){ .how = how, .kind = kind };
	if (*mangled)
		symbolname(mangled, c->kernel);
	return c;
}

static int times_in(const struct ptxaslog *in, const struct ptxaslog *of, const struct ptxaslog_diagnostic *c)
{
	for (size_t i = 0; i < in->n_diagnostics; i++)
		if (in->diagnostic[i].kind == c->kind && strcmp(in->diagnostic[i].code, c->code) == 0 &&
			strcmp(in->diagnostic[i].what, c->what) == 0 &&
			strcmp(ptxaslog_symbol(in, in->diagnostic[i].symbol), ptxaslog_symbol(of, c->symbol)) == 0)
			return in->diagnostic[i].times;
	return 0;
}

/* Add diagnostics that one side has more often. A line that names its function counts once. */
static void compare_diagnostics(struct list *l, enum ptxas_kind kind, int side)
{
	const struct ptxaslog *of = l->of[side], *other = l->of[!side];

	for (size_t i = 0; i < of->n_diagnostics; i++) {
		const struct ptxaslog_diagnostic *c = &of->diagnostic[i];
		const char *symbol = ptxaslog_symbol(of, c->symbol);
		int times = times_in(other, of, c);

		if (c->kind != kind || (times == 0 && !other->is_whole) || (times > 0 && (*symbol || times >= c->times)))
			continue;
		struct ptxas_change *to = add(l,
			times > 0 ? (side ? PTXAS_MORE : PTXAS_FEWER)
			: side    ? PTXAS_NEW
				  : PTXAS_GONE,
			kind, ptxaslog_mangled(of, c->symbol));

		if (!to)
			return;
		snprintf(to->code, sizeof to->code, "%s", c->code);
		if (times > 0)
			snprintf(to->what, sizeof to->what, "%s (%d times instead of %d)", c->what, side ? c->times : times,
				side ? times : c->times);
		else
			snprintf(to->what, sizeof to->what, "%s", c->what);
	}
}

/* Counterpart of a function that only the target has. */
static const struct ptxaslog_function no_function = { .registers = -1 };

static long known(long bytes)
{
	return bytes > 0 ? bytes : 0;
}

static long spilled(const struct ptxaslog_function *f)
{
	return known(f->store_bytes) + known(f->load_bytes);
}

static const struct ptxaslog_function *find_function(
	const struct ptxaslog *in, const struct ptxaslog *of, const struct ptxaslog_function *f)
{
	for (size_t i = 0; i < in->n_functions; i++)
		if (in->function[i].architecture == f->architecture &&
			strcmp(ptxaslog_symbol(in, in->function[i].symbol), ptxaslog_symbol(of, f->symbol)) == 0)
			return &in->function[i];
	return NULL;
}

static void write_spills(const struct ptxaslog_function *base, const struct ptxaslog_function *target, char *out)
{
	int used;

	if (spilled(base) == spilled(target)) {
		used = snprintf(out, PTXASDELTA_WHAT_SIZE, "a stack frame of %ld bytes", known(target->stack_bytes));
		if (base != &no_function)
			used += snprintf(
				out + used, PTXASDELTA_WHAT_SIZE - (size_t)used, " instead of %ld", known(base->stack_bytes));
	} else {
		used = snprintf(out, PTXASDELTA_WHAT_SIZE, "spills of %ld bytes by stores and %ld by loads",
			known(target->store_bytes), known(target->load_bytes));
		if (spilled(base) > 0)
			used += snprintf(out + used, PTXASDELTA_WHAT_SIZE - (size_t)used, " instead of %ld and %ld",
				known(base->store_bytes), known(base->load_bytes));
		else if (base != &no_function)
			used += snprintf(out + used, PTXASDELTA_WHAT_SIZE - (size_t)used, " instead of none");
	}
	if (target->registers > 0 && base->registers > 0 && target->registers != base->registers)
		snprintf(out + used, PTXASDELTA_WHAT_SIZE - (size_t)used, ", with %d registers instead of %d", target->registers,
			base->registers);
	else if (target->registers > 0)
		snprintf(out + used, PTXASDELTA_WHAT_SIZE - (size_t)used, ", with %d registers", target->registers);
}

/* Compare the spills of a function in both logs, or its frame if they are equal: 1 more, -1 fewer, 0 neither. */
static int direction(const struct ptxaslog_function *base, const struct ptxaslog_function *target)
{
	long more = spilled(target) - spilled(base);

	if (more == 0 && base->stack_bytes >= 0 && target->stack_bytes >= 0)
		more = target->stack_bytes - base->stack_bytes;
	return more > 0 ? 1 : more < 0 ? -1 : 0;
}

static enum ptxas_change_kind how_of(const struct ptxaslog_function *base, const struct ptxaslog_function *target)
{
	bool by_frame = spilled(base) == spilled(target);
	long was = by_frame ? base->stack_bytes : spilled(base), is = by_frame ? target->stack_bytes : spilled(target);

	return is > was ? (was > 0 ? PTXAS_MORE : PTXAS_NEW) : is > 0 ? PTXAS_FEWER : PTXAS_GONE;
}

static void compare_spills(struct list *l, int wanted)
{
	for (size_t i = 0; i < l->of[1]->n_functions; i++) {
		const struct ptxaslog_function *target = &l->of[1]->function[i],
					       *base = find_function(l->of[0], l->of[1], target);

		if (!base && l->of[0]->is_whole && l->of[0]->n_functions > 0)
			base = &no_function;
		if (!base || direction(base, target) != wanted)
			continue;
		struct ptxas_change *to = add(l, how_of(base, target), PTXAS_SPILLS, ptxaslog_mangled(l->of[1], target->symbol));

		if (!to)
			return;
		to->architecture = target->architecture;
		write_spills(base, target, to->what);
	}
}

size_t ptxasdelta(const struct ptxaslog *base, const struct ptxaslog *target, struct ptxas_change *out, size_t capacity)
{
	struct list l = { .of = { base, target }, .out = out, .capacity = capacity };

	for (int kind = 0; kind < PTXAS_KINDS; kind++)
		for (int worse = 1; worse >= 0; worse--)
			if (kind == PTXAS_SPILLS)
				compare_spills(&l, worse ? 1 : -1);
			else
				compare_diagnostics(&l, kind, worse);
	return l.n;
}
