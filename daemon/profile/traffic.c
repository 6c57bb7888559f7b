/* traffic.c - traffic between the caches and the device's memory. */
#include <stdio.h>

#include "profile/internal.h"

#define HITS    "lts__t_sectors_lookup_hit.sum"
#define SECTORS "lts__t_sectors.sum"

static const unsigned waits = 1u << STALL_LONG_SCOREBOARD | 1u << STALL_LG_THROTTLE;

static void describe_traffic(const struct quantity_change *c, double bytes, const char *verb, const char *position, char *out)
{
	char is[AMOUNT_SIZE], was[AMOUNT_SIZE];

	amount_bytes(c->target * bytes, is);
	amount_bytes(c->base * bytes, was);
	if (c->base > 0)
		snprintf(out, FINDING_SIZE, "%s %.12s %s instead of %.12s", verb, is, position, was);
	else
		snprintf(out, FINDING_SIZE, "%s %.12s %s instead of nothing", verb, is, position);
}

static void add_hits(const struct kernel_pair *p, char *out)
{
	struct amount hits = amount_of(p, HITS), all = amount_of(p, SECTORS);
	char base[AMOUNT_SIZE], target[AMOUNT_SIZE], so_far[FINDING_SIZE];

	if (!hits.is_known || !all.is_known || !(all.base > 0) || !(all.target > 0))
		return;
	snprintf(base, sizeof base, "%.1f", 100 * hits.base / all.base);
	snprintf(target, sizeof target, "%.1f", 100 * hits.target / all.target);
	snprintf(so_far, sizeof so_far, "%s", out);
	snprintf(out, FINDING_SIZE, "%.150s: L2 has %.6s %% of it instead of %.6s %%", so_far, target, base);
}

void traffic_find(const struct analysis *l, struct findings *f)
{
	const struct quantity_change *of = l->quantity.of;
	char what[FINDING_SIZE];

	describe_traffic(&of[QUANTITY_L2_READS], RATES_SECTOR, "reads", "from L2", what);
	finding_add(f, CAUSE_L2_READS, l->pair, analysis_get_cost(l, QUANTITY_L2_READS, waits), WEIGHT_TRAFFIC, what);
	describe_traffic(&of[QUANTITY_L2_WRITES], RATES_SECTOR, "writes", "to L2", what);
	finding_add(f, CAUSE_L2_WRITES, l->pair, analysis_get_cost(l, QUANTITY_L2_WRITES, waits | 1u << STALL_DRAIN),
		WEIGHT_TRAFFIC, what);
	describe_traffic(&of[QUANTITY_DRAM_READS], 1, "reads", "from DRAM", what);
	add_hits(l->pair, what);
	finding_add(f, CAUSE_DRAM_READS, l->pair, analysis_get_cost(l, QUANTITY_DRAM_READS, waits), WEIGHT_TRAFFIC, what);
	describe_traffic(&of[QUANTITY_DRAM_WRITES], 1, "writes", "to DRAM", what);
	finding_add(f, CAUSE_DRAM_WRITES, l->pair, analysis_get_cost(l, QUANTITY_DRAM_WRITES, waits | 1u << STALL_DRAIN),
		WEIGHT_TRAFFIC, what);
}
