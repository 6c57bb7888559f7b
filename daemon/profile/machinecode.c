/* machinecode.c - differences of two builds' machine code and launches without counters: what changed, not its cost. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/internal.h"

#define GREW_MOST 2.0 /* a factor above three is no more significant */

/* Opcode groups by prefix, with their significance: a rare opcode that became frequent counts more than a common one. */
static const struct {
	const char *opcode[8];
	enum cause_kind kind;
	double headline;
	const char *noun;
} groups[] = {
	{ { "LDL", "STL" }, CAUSE_SPILLS, 1, "loads and stores of spilled registers" },
	{ { "HGMMA", "QGMMA", "IGMMA", "BGMMA", "HMMA", "IMMA", "DMMA" }, CAUSE_TENSOR_INSTRUCTIONS, 0.95,
		"tensor instructions" },
	{ { "BAR" }, CAUSE_BARRIER, 0.9, "barriers" },
	{ { "MUFU" }, CAUSE_EXPONENTIALS, 0.9, "exponentials and other special functions" },
	{ { "RED", "REDG", "ATOMG", "ATOM", "UTMAREDG", "UBLKRED" }, CAUSE_ATOMICS, 0.85, "reductions" },
	{ { "WARPGROUP" }, CAUSE_TENSOR_WAIT, 0.8, "waits for tensor instructions" },
	{ { "STG", "UTMASTG" }, CAUSE_L2_WRITES, 0.7, "stores" },
	{ { "LDG", "UTMALDG" }, CAUSE_L2_READS, 0.6, "loads" },
	{ { "LDS", "STS", "ATOMS", "STSM" }, CAUSE_SHARED_MEMORY, 0.5, "accesses of shared memory" },
};

enum { GROUPS = sizeof groups / sizeof groups[0] };

/* "RED" matches "RED.E.ADD" and not "REDUX". */
static bool begins(const char *opcode, const char *word)
{
	size_t len = strlen(word);

	return strncmp(opcode, word, len) == 0 && (opcode[len] == '.' || opcode[len] == '\0');
}

static int group_of(const char *opcode)
{
	for (int g = 0; g < GROUPS; g++)
		for (int i = 0; i < 8 && groups[g].opcode[i]; i++)
			if (begins(opcode, groups[g].opcode[i]))
				return g;
	return -1;
}

static double relative_growth(double base, double target)
{
	double of = base < target ? base : target;

	return of > 0 ? fmin(GREW_MOST, fabs(target - base) / of) : GREW_MOST;
}

static void find_opcodes(const struct analysis *l, bool is_serial, struct findings *f)
{
	long base[GROUPS] = { 0 }, target[GROUPS] = { 0 };
	const struct cause_opcode *most = NULL;
	char more[AMOUNT_SIZE], what[FINDING_SIZE];
	bool found = is_serial;

	for (size_t i = 0; i < l->code->n_opcodes; i++) {
		const struct cause_opcode *o = &l->code->opcode[i];
		int g = o->opcode ? group_of(o->opcode) : -1;

		if (g >= 0) {
			base[g] += o->base;
			target[g] += o->target;
		} else if (o->opcode && (!most || labs(o->target - o->base) > labs(most->target - most->base))) {
			most = o;
		}
	}
	for (int g = 0; g < GROUPS; g++) {
		if ((double)(target[g] - base[g]) * l->sign <= 0 || (groups[g].kind == CAUSE_TENSOR_WAIT && is_serial))
			continue;
		amount_increase((double)base[g], (double)target[g], groups[g].noun, more);
		snprintf(what, sizeof what, "has %s in its machine code", more);
		finding_seen(f, groups[g].kind, l->pair, groups[g].headline * relative_growth((double)base[g], (double)target[g]),
			what);
		found = true;
	}
	if (found || strcmp(l->code->what, "same") == 0 || strcmp(l->code->what, "renamed") == 0)
		return;
	if (most)
		snprintf(what, sizeof what, "has other machine code: %.40s %ld -> %ld", most->opcode, most->base, most->target);
	else if (strcmp(l->code->what, "rescheduled") == 0)
		snprintf(what, sizeof what, "has the same instructions in another order");
	else
		snprintf(what, sizeof what, "has other machine code");
	finding_seen(f, CAUSE_MACHINE_CODE, l->pair, most ? 0.1 : 0.05, what);
}

static void find_launch(const struct analysis *l, struct findings *f)
{
	const struct cause_kernel *base = pair_kernel(l->pair, 0), *target = pair_kernel(l->pair, 1);
	double was = (double)base->grid[0] * base->grid[1] * base->grid[2];
	double is = (double)target->grid[0] * target->grid[1] * target->grid[2];
	char what[FINDING_SIZE];

	if (was > 0 && is > 0 && was != is) {
		snprintf(what, sizeof what, "runs %.0f blocks instead of %.0f", is, was);
		finding_seen(f, CAUSE_GRID, l->pair, relative_growth(was, is), what);
	}
	if (base->ctas_per_sm > 0 && target->ctas_per_sm > 0 && (target->ctas_per_sm - base->ctas_per_sm) * l->sign < 0) {
		snprintf(what, sizeof what, "fits %d blocks on a multiprocessor instead of %d", target->ctas_per_sm,
			base->ctas_per_sm);
		finding_seen(f, CAUSE_OCCUPANCY, l->pair, relative_growth(base->ctas_per_sm, target->ctas_per_sm), what);
	}
	if (base->local_bytes >= 0 && target->local_bytes >= 0 && (target->local_bytes - base->local_bytes) * l->sign > 0) {
		snprintf(what, sizeof what,
			"uses %d bytes of local memory a thread instead of %d, with %d registers instead of %d",
			target->local_bytes, base->local_bytes, target->registers, base->registers);
		finding_seen(f, CAUSE_SPILLS, l->pair, 1.1 * relative_growth(base->local_bytes, target->local_bytes), what);
	}
}

void machinecode_find(const struct analysis *l, struct findings *f)
{
	const struct cause_diagnostic *c = diagnostic_of(l->e, l->pair, l->sign, true);
	char what[FINDING_SIZE];

	find_launch(l, f);
	if (c && wait_serial(l, what))
		finding_seen(f, CAUSE_TENSOR_WAIT, l->pair, GREW_MOST, what);
	if (l->code && l->code->what)
		find_opcodes(l, c != NULL, f);
}
