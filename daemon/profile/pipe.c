/* pipe.c - instructions by the pipe that executes them. */
#include <math.h>
#include <stdio.h>

#include "profile/internal.h"

static const struct {
	enum quantity quantity;
	enum cause_kind kind;
	const char *noun;
	double weight;
	unsigned waits; /* waits that more of them cause */
} pipes[] = {
	{ QUANTITY_TENSOR, CAUSE_TENSOR_INSTRUCTIONS, "tensor instructions", WEIGHT_WORK,
		1u << STALL_GMMA | 1u << STALL_MATH_PIPE_THROTTLE },
	{ QUANTITY_XU, CAUSE_EXPONENTIALS, "exponentials and other special functions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_MIO_THROTTLE | 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_WAIT },
	{ QUANTITY_FMA, CAUSE_INSTRUCTIONS, "floating-point instructions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_WAIT },
	{ QUANTITY_ALU, CAUSE_INSTRUCTIONS, "integer and logic instructions", WEIGHT_WORK,
		1u << STALL_MATH_PIPE_THROTTLE | 1u << STALL_WAIT },
	{ QUANTITY_LSU, CAUSE_INSTRUCTIONS, "load and store instructions", WEIGHT_WORK,
		1u << STALL_LG_THROTTLE | 1u << STALL_MIO_THROTTLE | 1u << STALL_SHORT_SCOREBOARD | 1u << STALL_LONG_SCOREBOARD },
	{ QUANTITY_ALL, CAUSE_INSTRUCTIONS, "other instructions", WEIGHT_LAUNCH, 1u << STALL_WAIT | 1u << STALL_NO_INSTRUCTION },
};

/* Whether the machine code has more or fewer reductions: then the load and store pipe changed because of them. */
static bool reduces_otherwise(const struct look *l)
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

void pipe_find(const struct look *l, struct findings *f)
{
	for (size_t i = 0; i < sizeof pipes / sizeof pipes[0]; i++) {
		const struct quantity_change *c = &l->quantity.of[pipes[i].quantity];
		char more[AMOUNT_SIZE], what[FINDING_SIZE];
		enum cause_kind kind = pipes[i].kind;

		if (pipes[i].quantity == QUANTITY_ALL) /* instructions of no pipe above: the rest of the change */
			amount_more(c->base, c->base + c->own, pipes[i].noun, more);
		else
			amount_more(c->base, c->target, pipes[i].noun, more);
		if (pipes[i].quantity == QUANTITY_LSU && reduces_otherwise(l))
			kind = CAUSE_ATOMICS;
		snprintf(what, sizeof what, "executes %s%s", more, kind == CAUSE_ATOMICS ? ", for its reductions" : "");
		finding_add(f, kind, l->pair, look_cost(l, pipes[i].quantity, pipes[i].waits), pipes[i].weight, what);
	}
}
