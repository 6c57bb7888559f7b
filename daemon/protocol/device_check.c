/* device_check.c - device readings that invalidate times, by NVML's clock event reasons and the driver's XID numbers. */
#include "protocol/protocol.h"

#include <stdio.h>

const struct device_check_reason device_check_reason[DEVICE_CHECK_REASONS] = {
	{ DEVICE_CHECK_HW_SLOWDOWN, "hw_slowdown", "hardware slowdown", true },
	{ DEVICE_CHECK_SW_THERMAL, "sw_thermal", "software thermal", true },
	{ DEVICE_CHECK_HW_THERMAL, "hw_thermal", "hardware thermal", true },
	{ DEVICE_CHECK_POWER_BRAKE, "hw_power_brake", "power brake", true },
	{ DEVICE_CHECK_POWER_CAP, "sw_power_cap", "power cap", true },
	{ 0x2, "applications_clocks", "clocks set manually", false },
	{ 0x100, "display_clocks", "display clocks", true },
	{ 0x10, "sync_boost", "synchronised boost", true },
	{ 0x1, "gpu_idle", "idle", false },
};

void device_check_unknown(struct msg_device_check *g)
{
	*g = (struct msg_device_check){ .power_w = -1, .temp_c = -1, .sm_mhz = -1, .foreign = -1, .energy_j = -1 };
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

void device_check_merge(struct msg_device_check *g, const struct msg_device_check *after)
{
	bool energy = g->energy_j >= 0 && after->energy_j >= g->energy_j;

	g->energy_j = energy ? after->energy_j - g->energy_j : -1;
	g->reasons |= after->reasons;
	g->foreign = after->foreign > g->foreign ? after->foreign : g->foreign;
	g->power_w = larger(g->power_w, after->power_w);
	g->temp_c = larger(g->temp_c, after->temp_c);
	g->sm_mhz = after->sm_mhz > 0 ? after->sm_mhz : g->sm_mhz;
	g->xid = after->xid ? after->xid : g->xid;
	g->ecc += after->ecc;
	memcpy(g->regime, after->regime, sizeof g->regime);
}

bool device_check_discards(const struct msg_device_check *g, char why[DEVICE_CHECK_WHY_SIZE])
{
	static const struct {
		unsigned bits;
		const char *words;
	} reason[] = {
		{ DEVICE_CHECK_HW_SLOWDOWN, "a hardware slowdown reduced the clock" },
		{ DEVICE_CHECK_SW_THERMAL | DEVICE_CHECK_HW_THERMAL, "heat reduced the clock" },
		{ DEVICE_CHECK_POWER_BRAKE, "the power brake reduced the clock" },
	};

	why[0] = '\0';
	if (g->xid > 0)
		snprintf(why, DEVICE_CHECK_WHY_SIZE, "the driver reported XID %d", g->xid);
	else if (g->ecc > 0)
		snprintf(why, DEVICE_CHECK_WHY_SIZE, "%d uncorrected memory error%s", g->ecc, g->ecc == 1 ? "" : "s");
	else if (g->foreign > 0)
		snprintf(why, DEVICE_CHECK_WHY_SIZE, "%d other process%s used the device", g->foreign,
			g->foreign == 1 ? "" : "es");
	for (size_t i = 0; !why[0] && i < sizeof reason / sizeof reason[0]; i++)
		if (g->reasons & reason[i].bits)
			snprintf(why, DEVICE_CHECK_WHY_SIZE, "%s (limit reasons 0x%llx)", reason[i].words,
				(unsigned long long)g->reasons);
	return why[0] != '\0';
}

bool device_check_xid_breaks(int xid)
{
	/* memory (48, 64, 95), NVLink (74), the bus (79), firmware (109, 119, 120), a reset that the driver requests (154) */
	static const int broken[] = { 48, 64, 74, 79, 95, 109, 119, 120, 154 };

	for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
		if (xid == broken[i])
			return true;
	return false;
}
