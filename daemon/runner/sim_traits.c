/* sim_traits.c - five words, found by name. */
#include "runner/internal.h"

#include <stdlib.h>

/* The number after NAME=, else 0. */
static double trait(const char *config, const char *name)
{
	size_t len = strlen(name);
	for (const char *at = strstr(config, name); at; at = strstr(at + len, name)) {
		if ((at > config && at[-1] != ' ') || at[len] != '=')
			continue;
		double value = strtod(at + len + 1, NULL);
		return value > 0 && value < 1e6 ? value : 0;
	}
	return 0;
}

void sim_traits_read(const char *config, struct device_work *out)
{
	out->power_w = trait(config, "SIM_POWER_W");
	out->host_us = trait(config, "SIM_HOST_US");
	out->slow_share = trait(config, "SIM_SLOW_PCT") / 100;
	out->slow_factor = trait(config, "SIM_SLOW_FACTOR");
	out->once_factor = trait(config, "SIM_ONCE_FACTOR");
}
