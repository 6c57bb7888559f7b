#include "web/html/html.h"

#include <math.h>

double derive_change_pct(double base_ms, double target_ms)
{
	return base_ms > 0 && target_ms > 0 ? 100 * (base_ms / target_ms - 1) : NAN;
}

double derive_geomean_pct(const double *change_pct, int n)
{
	double sum = 0;
	int known = 0;
	for (int i = 0; i < n; i++) {
		if (!isfinite(change_pct[i]) || change_pct[i] <= -100)
			continue;
		sum += log1p(change_pct[i] / 100);
		known++;
	}
	return known ? 100 * expm1(sum / known) : NAN;
}

int derive_line(const double *x, const double *t, int n, double *a, double *b)
{
	double w = 0, wx = 0, wt = 0, wxx = 0, wxt = 0;
	for (int i = 0; i < n; i++) {
		double weight = 1 / (t[i] * t[i]);
		w += weight;
		wx += weight * x[i];
		wt += weight * t[i];
		wxx += weight * x[i] * x[i];
		wxt += weight * x[i] * t[i];
	}
	double det = w * wxx - wx * wx;
	if (n < 2 || !(det > 1e-12 * w * wxx))
		return -1;
	*b = (w * wxt - wx * wt) / det;
	*a = (wt - *b * wx) / w;
	return 0;
}

int derive_runs(double m, double se, double theta, double k, int runs, int most)
{
	double distance = fabs(m - theta);
	if (!(distance > 0) || !(se > 0) || runs < 1)
		return 0;
	double needed = ceil(runs * pow(k * se / distance, 2) - 1e-9);
	return needed > most ? 0 : needed <= runs ? runs + 1 : (int)needed;
}

enum { REGISTERS_SM = 65536, WARP = 32, REGISTER_UNIT = 256 };

const struct chip *derive_chip(const char *device_name)
{
	static const struct {
		const char *part;
		struct chip chip;
	} known[] = {
		{ "H200", { "Hopper", 4096, 228 << 10, 1024, 2048, 32 } },
		{ "H100", { "Hopper", 4096, 228 << 10, 1024, 2048, 32 } },
		{ "H800", { "Hopper", 4096, 228 << 10, 1024, 2048, 32 } },
		{ "A100", { "Ampere", 2048, 164 << 10, 1024, 2048, 32 } },
		{ "A800", { "Ampere", 2048, 164 << 10, 1024, 2048, 32 } },
		{ "B200", { "Blackwell", 8192, 228 << 10, 1024, 2048, 32 } },
		{ "L40S", { "Ada", 1024, 100 << 10, 1024, 1536, 24 } },
	};
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strstr(device_name, known[i].part))
			return &known[i].chip;
	return NULL;
}

double derive_peak_tflops(const struct chip *chip, int cores, double mhz)
{
	return chip && cores > 0 && mhz > 0 ? chip->flop_clk_sm * cores * mhz * 1e-6 : NAN;
}

int derive_blocks_per_sm(const struct chip *chip, int threads, int registers, long shared_bytes)
{
	if (!chip || threads < 1)
		return 0;
	int warps = (threads + WARP - 1) / WARP;
	int blocks = chip->blocks_sm, by_threads = chip->threads_sm / (warps * WARP);
	if (by_threads < blocks)
		blocks = by_threads;
	if (registers > 0) {
		int a_warp = (registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
		int by_registers = REGISTERS_SM / a_warp / warps;
		if (by_registers < blocks)
			blocks = by_registers;
	}
	long by_shared = chip->shared_sm_bytes / (shared_bytes + chip->shared_reserved_bytes);
	return by_shared < blocks ? (int)by_shared : blocks;
}
