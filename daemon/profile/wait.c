/* wait.c - warp waits: the last consequence of other causes, and the only sign of some. */
#include <stdio.h>

#include "profile/internal.h"

#define GREW 1.5 /* growth of waits per product, if products are serial */

static const struct {
	enum cause_kind kind;
	unsigned waits;
	double weight;
	const char *what;
} reasons[] = {
	{ CAUSE_BARRIER, 1u << STALL_BARRIER, WEIGHT_WAIT, "at barriers" },
	{ CAUSE_TENSOR_WAIT, 1u << STALL_GMMA, WEIGHT_WAIT, "for tensor instructions to end" },
	{ CAUSE_WAIT, 1u << STALL_MEMBAR, WEIGHT_WAIT, "at memory fences" },
	{ CAUSE_WAIT, 1u << STALL_NO_INSTRUCTION | 1u << STALL_IMC_MISS, WEIGHT_WAIT, "for instructions to be fetched" },
	{ CAUSE_MEMORY_WAIT, 1u << STALL_LONG_SCOREBOARD | 1u << STALL_LG_THROTTLE, WEIGHT_SYMPTOM, "for global memory" },
	{ CAUSE_SHARED_WAIT, 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_MIO_THROTTLE, WEIGHT_SYMPTOM, "for shared memory" },
	{ CAUSE_WAIT, 1u << STALL_MATH_PIPE_THROTTLE, WEIGHT_SYMPTOM, "for a free arithmetic pipe" },
	{ CAUSE_WAIT, 1u << STALL_WAIT, WEIGHT_SYMPTOM, "for the previous instruction" },
};

/* Count instructions that begin with `word`. Shape: of[base, target]. Opcodes with equal counts are not listed. */
static void count(const struct cause_code *code, const char *word, long of[2])
{
	of[0] = of[1] = 0;
	for (size_t i = 0; i < code->n_opcodes; i++)
		if (code->opcode[i].opcode && strncmp(code->opcode[i].opcode, word, strlen(word)) == 0) {
			of[0] += code->opcode[i].base;
			of[1] += code->opcode[i].target;
		}
}

/*
 * True if the compiler made tensor core products wait for each other: it ran out of registers, or an accumulator is used too
 * early (C7510 to C7518 in ptxas's log). Then a wait follows every product in the machine code, and other warps wait at a
 * barrier, so those waits count too.
 */
static bool is_serial(const struct analysis *l, long waits[2])
{
	int few = l->sign > 0 ? 0 : 1;
	long products[2];
	double grew;

	if (!l->code)
		return false;
	count(l->code, "WARPGROUP.DEPBAR", waits);
	count(l->code, "HGMMA", products);
	if (waits[few] <= 0)
		return false;
	grew = (double)waits[!few] / (double)waits[few];
	if (products[few] > 0 && products[!few] > 0)
		grew *= (double)products[few] / (double)products[!few];
	return grew >= GREW;
}

bool wait_serial(const struct analysis *l, char what[FINDING_SIZE])
{
	const struct cause_diagnostic *c = diagnostic_of(l->e, l->pair, l->sign, true);
	long waits[2] = { 0, 0 };
	bool is_seen = is_serial(l, waits);
	int used;

	if (!is_seen && !c)
		return false;
	used = snprintf(
		what, FINDING_SIZE, "waits %s", l->sign > 0 ? "for tensor products one by one: " : "less for tensor products: ");
	if (is_seen)
		used += snprintf(what + used, FINDING_SIZE - (size_t)used,
			"%ld waits for them in its machine code instead of %ld%s", waits[1], waits[0],
			c ? "; " : " (see the ptxas diagnostics C7510 to C7518)");
	if (c)
		snprintf(what + used, FINDING_SIZE - (size_t)used, "ptxas %s%s%.8s: %.70s",
			l->sign > 0 ? "reports" : "no longer reports", *c->code ? " " : "", c->code, c->what);
	return true;
}

static void find_serial(const struct analysis *l, struct findings *f)
{
	char what[FINDING_SIZE];

	if (wait_serial(l, what))
		finding_add(f, CAUSE_TENSOR_WAIT, l->pair,
			stalls_sum(&l->stalls, 1u << STALL_GMMA | 1u << STALL_BARRIER, f->sign), WEIGHT_LAUNCH, what);
}

void wait_find(const struct analysis *l, struct findings *f)
{
	find_serial(l, f);
	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		double base = 0, target = 0;
		char what[FINDING_SIZE];

		for (int s = 0; s < STALLS; s++)
			if (reasons[i].waits >> s & 1) {
				base += l->stalls.of[s].base;
				target += l->stalls.of[s].target;
			}
		snprintf(what, sizeof what, "waits %s: %.1f %% of what its warps wait instead of %.1f %%", reasons[i].what,
			100 * target, 100 * base);
		finding_add(
			f, reasons[i].kind, l->pair, stalls_sum(&l->stalls, reasons[i].waits, f->sign), reasons[i].weight, what);
	}
}
