/* Allocates memory from the heap in every call and frees it with old results in it. */
#include <stdint.h>
struct fw_plan;
static void borrow(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) borrow(p, phases)
#include "good.c"

static void borrow(struct fw_plan *p, uint32_t phases)
{
	size_t bytes = sizeof(uint16_t) * (size_t)p->a.total_q * (size_t)p->slot[FW_O].stride[0];
	struct fw_tensor o = p->slot[FW_O];
	void *own = p->direction == FW_FORWARD ? malloc(bytes) : NULL;
	if (own)
		p->slot[FW_O].data = own;
	run(p, phases);
	p->slot[FW_O] = o;
	if (own)
		memcpy(o.data, own, bytes);
	free(own);
}
