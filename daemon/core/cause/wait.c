/* wait.c - what warps wait for: the last in a row of causes, and the only trace that some leave. */
#include <stdio.h>

#include "core/cause/classes.h"

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
	{ CAUSE_WAIT, 1u << STALL_WAIT, WEIGHT_SYMPTOM, "for the instruction before" },
};

void wait_find(const struct look *l, struct findings *f)
{
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
