/* attention_cell.h - make a cell one of attention, for tests that create cells without a suite. */
#ifndef TESTS_ATTENTION_CELL_H
#define TESTS_ATTENTION_CELL_H

#include <stdio.h>
#include <string.h>

#include "families/attention/attention.h"

static inline void set_attention(struct cell *c, const struct attention_case *a, uint64_t seed)
{
	snprintf(c->family, sizeof c->family, "attention");
	memcpy(c->shape.bytes, a, sizeof *a);
	c->seed = seed;
}

#endif
