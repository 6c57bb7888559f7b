#include "model/internal.h"

#include <limits.h>

const struct cost_kind cost_kinds[COST_N] = {
	[COST_MEMORY] = { "memory", "bytes", "base.workspace_bytes", "target.workspace_bytes", COST_LIMIT_MEMORY, 0 },
	[COST_ERROR] = { "error", "ratio", "base.error_ratio", "target.error_ratio", COST_LIMIT_ERROR, 0 },
	/* measured once, so only long ones count */
	[COST_FIRST] = { "first", "ms", "base.first_ms", "target.first_ms", COST_LIMIT_FIRST, 1000 },
	[COST_ENERGY] = { "energy", "j", "energy.base_j", "energy.target_j", COST_LIMIT_ENERGY, 0 },
	[COST_HOST] = { "host", "us", "enqueue.base_us", "enqueue.target_us", COST_LIMIT_HOST, 2 },
	[COST_LAUNCHES] = { "launches", "count", "base.launches", "target.launches", COST_LIMIT_LAUNCHES, 0 },
	[COST_LOCAL_BYTES] = { "local_bytes", "bytes", NULL, NULL, 0, 0 },
	[COST_FLOPS_ISSUED] = { "flops_issued", "count", "base.flops_issued", "target.flops_issued", 0.1, 0 },
	[COST_UNREPEATABLE] = { "unrepeatable", "count", NULL, NULL, 0, 0 },
};

enum cost cost_from_name(const char *name)
{
	int i = 0;
	while (i < COST_N && strcmp(cost_kinds[i].name, name) != 0)
		i++;
	return (enum cost)i;
}

void cost_limits_default(struct cost_limits *out)
{
	for (int i = 0; i < COST_JUDGED; i++)
		out->pct[i] = cost_kinds[i].limit_pct;
}

void cost_limits_read(struct yaml *y, struct yaml_node *node, struct cost_limits *out)
{
	if (yaml_map(y, node, 0, INT_MAX, "must be {NAME: PERCENT or off}, e.g. {memory: 5, first: off}") < 0)
		return;
	for (int i = 0; i < COST_JUDGED; i++) {
		struct yaml_node *value = yaml_get(y, node, cost_kinds[i].name);
		const char *text = "";
		if (yaml_string(y, value, &text) == 0 && strcmp(text, "off") == 0)
			out->pct[i] = COST_OFF;
		else if (*text)
			yaml_percent(y, value, 0, 10000, &out->pct[i]);
	}
	yaml_finish(y, node);
}

bool cost_grows(enum cost c, double base, double target, double limit_pct)
{
	return target > base * (1 + limit_pct / 100) && target - base > cost_kinds[c].least; /* NAN compares false */
}
