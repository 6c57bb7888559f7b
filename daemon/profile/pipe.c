/*
 * pipe.c - instructions by the pipe that executes them, passes over the banks of shared memory, and additional passes by
 * conflicts (tensor instructions cause them too), and reductions.
 */
#include <stdio.h>

#include "profile/internal.h"

#define SHARED_WAITS (1u << STALL_SHORT_SCOREBOARD | 1u << STALL_MIO_THROTTLE | 1u << STALL_GMMA)

static const struct {
	enum quantity quantity;
	enum cause_kind kind;
	const char *verb, *noun;
	double weight;
	unsigned waits; /* waits that more of them cause */
} pipes[] = {
	{ QUANTITY_TENSOR, CAUSE_TENSOR_INSTRUCTIONS, "executes", "tensor instructions", WEIGHT_WORK,
		1u << STALL_GMMA | 1u << STALL_MATH_PIPE_THROTTLE },
	{ QUANTITY_XU, CAUSE_EXPONENTIALS, "executes", "exponentials and other special functions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_MIO_THROTTLE | 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_WAIT },
	{ QUANTITY_FMA, CAUSE_INSTRUCTIONS, "executes", "floating-point instructions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_WAIT },
	{ QUANTITY_ALU, CAUSE_INSTRUCTIONS, "executes", "integer and logic instructions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_WAIT },
	{ QUANTITY_LSU, CAUSE_INSTRUCTIONS, "executes", "load and store instructions", WEIGHT_WORK,
		1u << STALL_LG_THROTTLE | 1u << STALL_MIO_THROTTLE | 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_LONG_SCOREBOARD },
	{ QUANTITY_ALL, CAUSE_INSTRUCTIONS, "executes", "other instructions", WEIGHT_LAUNCH,
		1u << STALL_WAIT | 1u << STALL_NO_INSTRUCTION },
	{ QUANTITY_CONFLICTS, CAUSE_BANK_CONFLICTS, "has", "bank conflicts in shared memory", WEIGHT_WORK, SHARED_WAITS },
	{ QUANTITY_WAVEFRONTS, CAUSE_SHARED_MEMORY, "makes", "passes over shared memory", WEIGHT_TRAFFIC, SHARED_WAITS },
	{ QUANTITY_ATOMICS, CAUSE_ATOMICS, "sends", "sectors of reductions in L2", WEIGHT_WORK,
		1u << STALL_LONG_SCOREBOARD | 1u << STALL_LG_THROTTLE | 1u << STALL_DRAIN | 1u << STALL_MEMBAR },
};

/* True if the machine code has more or fewer reductions: then the load and store pipe changed because of them. */
static bool reduces_otherwise(const struct analysis *l)
{
	long base = 0, target = 0;

	for (size_t i = 0; l->code && i < l->code->n_opcodes; i++) {
		const struct cause_opcode *o = &l->code->opcode[i];

		if (strncmp(o->opcode, "RED.", 4) != 0 && strncmp(o->opcode, "ATOMG", 5) != 0)
			continue;
		base += o->base;
		target += o->target;
	}
	return (target - base) * l->sign > 0;
}

void pipe_find(const struct analysis *l, struct findings *f)
{
	for (size_t i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
		const struct quantity_change *c = &l->quantity.of[pipes[i].quantity];
		char more[AMOUNT_SIZE], what[FINDING_SIZE];
		bool is_reducing = pipes[i].quantity == QUANTITY_LSU && reduces_otherwise(l);

		if (pipes[i].quantity == QUANTITY_ALL) /* instructions of no pipe above: the rest of the change */
			amount_increase(c->base, c->base + c->own, pipes[i].noun, more);
		else
			amount_increase(c->base, c->target, pipes[i].noun, more);
		snprintf(what, sizeof what, "%s %s%s", pipes[i].verb, more, is_reducing ? ", for its reductions" : "");
		finding_add(f, is_reducing ? CAUSE_ATOMICS : pipes[i].kind, l->pair,
			analysis_get_cost(l, pipes[i].quantity, pipes[i].waits), pipes[i].weight, what);
	}
}
