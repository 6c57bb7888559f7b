/* Allocates from a block of its own that it got from the system once, and resets it in every call. */
#include <stdint.h>
#include <sys/mman.h>
struct fw_plan;
static void borrow(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) borrow(p, phases)
#include "good.c"

enum { BLOCK = 8 << 20 };

static char *block;
static size_t used;

static void *take(size_t bytes)
{
	char *at_free = block + used;
	used += (bytes + 63) & ~(size_t)63;
	return used <= BLOCK ? at_free : NULL;
}

static void borrow(struct fw_plan *p, uint32_t phases)
{
	size_t bytes = sizeof(uint16_t) * (size_t)p->a.total_q * (size_t)p->slot[FW_O].stride[0];
	struct fw_tensor o = p->slot[FW_O];
	if (!block)
		block = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	used = 0;
	void *own = p->direction == FW_FORWARD && block != MAP_FAILED ? take(bytes) : NULL;
	if (own)
		p->slot[FW_O].data = own;
	run(p, phases);
	p->slot[FW_O] = o;
	if (own)
		memcpy(o.data, own, bytes);
}
