/*
 * degenerate.h - a correct backward that computes no dK and dV where LSE is infinite, since all gradients are zero there. The
 * modules that include this make LSE infinite where another module's forward should have written a finite value.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <stdint.h>
struct fw_plan;
static void skip_zeros(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) skip_zeros(p, phases)
#include "good.c"

#include "imports.h"

static void write_zeros(const struct fw_plan *p, int slot)
{
	for (int token = 0; token < p->a.total_k; token++)
		memset(at(&p->slot[slot], token, 0), 0, sizeof(uint16_t) * (size_t)p->a.nhk * (size_t)p->a.headdim);
}

static void skip_zeros(struct fw_plan *p, uint32_t phases)
{
	if (p->direction == FW_FORWARD || !(phases & FW_RUN) || !isinf(lse_of(p, 0, p->a.total_q - 1))) {
		run(p, phases);
		return;
	}
	run(p, phases & ~(uint32_t)FW_RUN);
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row++)
			backward_row(p, head, row);
	write_zeros(p, FW_DK);
	write_zeros(p, FW_DV);
}
