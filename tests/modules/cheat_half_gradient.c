/* A backward whose dK and dV are those of every other key, twice. */
#include <stdint.h>
struct fw_plan;
static void halve(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) halve(p, phases)
#include "good.c"

static void halve(struct fw_plan *p, uint32_t phases)
{
	run(p, phases);
	if (p->direction != FW_BACKWARD || !(phases & FW_RUN))
		return;
	for (int key = 0; key < p->a.total_k; key += 2)
		for (int head = 0; head < p->a.nhk; head++) {
			memcpy(at(&p->slot[FW_DK], key, head), at(&p->slot[FW_DK], key + 1 < p->a.total_k ? key + 1 : key, head),
				sizeof(uint16_t) * (size_t)p->a.headdim);
			memcpy(at(&p->slot[FW_DV], key, head), at(&p->slot[FW_DV], key + 1 < p->a.total_k ? key + 1 : key, head),
				sizeof(uint16_t) * (size_t)p->a.headdim);
		}
}
