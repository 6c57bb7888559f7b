/* unit.c - units of time and of rates, as benchmarks write them. */
#include <math.h>
#include <strings.h>

#include "model/model.h"

double unit_to_ms(const char *unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "ns", 1e-6 }, { "us", 1e-3 }, { "\u00b5s", 1e-3 }, { "\u03bcs", 1e-3 }, { "ms", 1 }, { "s", 1e3 },
		{ "nsec", 1e-6 }, { "usec", 1e-3 }, { "msec", 1 }, { "sec", 1e3 }, { "nsecs", 1e-6 }, { "usecs", 1e-3 },
		{ "msecs", 1 }, { "secs", 1e3 }, { "nsecond", 1e-6 }, { "usecond", 1e-3 }, { "msecond", 1 }, { "second", 1e3 },
		{ "nanosecond", 1e-6 }, { "microsecond", 1e-3 }, { "millisecond", 1 }, { "nanoseconds", 1e-6 },
		{ "microseconds", 1e-3 }, { "milliseconds", 1 }, { "seconds", 1e3 } };

	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcasecmp(unit, units[i].name) == 0)
			return units[i].ms;
	return 0;
}

int unit_convert(double value, const char *unit, double *ms, double *tflops, const char **suffix)
{
	static const struct {
		const char *name, *suffix;
		double tflops; /* TFLOPs of one unit; 0: none */
	} rates[] = { { "tflops", "/per-TFLOP", 1 }, { "tflop/s", "/per-TFLOP", 1 }, { "tflops/s", "/per-TFLOP", 1 },
		{ "gflops", "/per-GFLOP", 1e-3 }, { "gflop/s", "/per-GFLOP", 1e-3 }, { "gb/s", "/per-GB", 0 },
		{ "gbps", "/per-GB", 0 }, { "gib/s", "/per-GiB", 0 }, { "tb/s", "/per-TB", 0 } };

	*tflops = NAN;
	*suffix = "";
	*ms = value * unit_to_ms(unit);
	if (unit_to_ms(unit) > 0)
		return 0;
	for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
		if (strcasecmp(unit, rates[i].name) == 0) {
			*ms = 1e3 / value; /* `value` units of work are done in a second */
			*tflops = rates[i].tflops > 0 ? value * rates[i].tflops : NAN;
			*suffix = rates[i].suffix;
			return 0;
		}
	return -1;
}
