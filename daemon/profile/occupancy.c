/* occupancy.c - limits from NVIDIA's programming guide, table "technical specifications per compute capability". */
#include "profile/profile.h"

enum {
	WARP = 32,
	PARTITIONS = 4, /* of a multiprocessor; each has a quarter of the registers */
	REGISTERS = 65536,
	REGISTERS_EACH_MAX = 255,
	REGISTER_STEP = 256, /* granularity of a warp's registers */
	SYSTEM_SHARED_SINCE = 80,
	BARRIERS_SINCE = 90,       /* from here on all blocks share them */
	SYSTEM_SHARED_BYTES = 1024 /* of each block */
};

struct multiprocessor {
	int sm, warps, ctas, barriers, shared_kb, shared_step;
};

static const struct multiprocessor known[] = {
	{ 70, 64, 32, 64, 96, 256 },
	{ 75, 32, 16, 32, 64, 256 },
	{ 80, 64, 32, 64, 164, 128 },
	{ 86, 48, 16, 16, 100, 128 },
	{ 87, 48, 16, 16, 164, 128 },
	{ 89, 48, 24, 24, 100, 128 },
	{ 90, 64, 32, 64, 228, 128 },
	{ 100, 64, 32, 64, 228, 128 },
	{ 103, 64, 32, 64, 228, 128 },
	{ 120, 48, 24, 24, 100, 128 },
	{ 121, 48, 24, 24, 100, 128 },
};

static int64_t round_up(int64_t v, int64_t step)
{
	return (v + step - 1) / step * step;
}

static void at_most(struct occupancy *o, int64_t ctas, const char *limit)
{
	if (ctas >= o->ctas)
		return;
	o->ctas = (int)ctas;
	o->limit = limit;
}

bool occupancy_of(int sm, const struct resources *r, struct occupancy *out)
{
	const struct multiprocessor *m = known, *end = known + sizeof known / sizeof known[0];
	while (m < end && m->sm != sm)
		m++;
	if (m == end || r->max_threads <= 0 || r->registers < 0)
		return false;
	int warps = (r->max_threads + WARP - 1) / WARP;
	*out = (struct occupancy){ .ctas = m->ctas, .limit = "blocks" };
	at_most(out, m->warps / warps, "warps");
	if (r->registers > REGISTERS_EACH_MAX) {
		at_most(out, 0, "registers");
	} else if (r->registers > 0) {
		int64_t each = round_up((int64_t)r->registers * WARP, REGISTER_STEP);
		/* admission rounds up over all partitions, then each partition holds whole warps */
		bool fits = each * round_up(warps, PARTITIONS) <= REGISTERS;
		at_most(out, fits ? REGISTERS / PARTITIONS / each * PARTITIONS / warps : 0, "registers");
	}
	int64_t system = sm >= SYSTEM_SHARED_SINCE ? SYSTEM_SHARED_BYTES : 0;
	int64_t all = (int64_t)m->shared_kb * 1024;
	if (r->shared_bytes > all - system)
		at_most(out, 0, "shared memory");
	else if (r->shared_bytes + system > 0)
		at_most(out, all / round_up(r->shared_bytes + system, m->shared_step), "shared memory");
	if (r->barriers > 0 && sm >= BARRIERS_SINCE)
		at_most(out, m->barriers / r->barriers, "barriers");
	out->warps = out->ctas * warps;
	return true;
}
