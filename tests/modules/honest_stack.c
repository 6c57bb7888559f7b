/* Uses several MiB of stack in every call. */
#include <stdint.h>
struct fw_plan;
static void on_stack(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) on_stack(p, phases)
#include "good.c"

static void on_stack(struct fw_plan *p, uint32_t phases)
{
	enum { ROOM = 3 << 20 };
	volatile char room[ROOM];
	for (int i = 0; i < ROOM; i += 4096)
		room[i] = (char)p->calls;
	run(p, phases);
	if (room[0] != (char)p->calls)
		abort();
}
