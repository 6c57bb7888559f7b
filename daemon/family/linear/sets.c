/* sets.c - see sets.h. */
#include "family/linear/sets.h"

#include <stddef.h>

enum { M_LLAMA = 16384 };

const char *const linear_sets[LINEAR_SETS + 1] = { "custom", "llama", "pow2", "pow2_extended", "small_sweep", "sweep", NULL };

bool linear_set_powers(enum linear_set set, int64_t *min, int64_t *max)
{
	if (set < LINEAR_SET_POW2 || set >= LINEAR_SETS)
		return false;
	*min = set == LINEAR_SET_SWEEP ? 8 : 10;
	*max = set == LINEAR_SET_SWEEP ? 15 : 14;
	return true;
}

static void each_llama(linear_shape_fn *fn, void *arg)
{
	static const int32_t k_and_n[][2] = { { 8192, 1280 }, { 1024, 8192 }, { 8192, 7168 }, { 3584, 8192 } };

	for (size_t i = 0; i < sizeof k_and_n / sizeof k_and_n[0]; i++)
		fn(arg, M_LLAMA, k_and_n[i][0], k_and_n[i][1]);
}

static void each_cube(int min, int max, bool is_extended, linear_shape_fn *fn, void *arg)
{
	for (int p = min; p <= max; p++) {
		int32_t edge = 1 << p, more = edge + edge / 2;

		fn(arg, edge, edge, edge);
		if (is_extended && p > 0)
			fn(arg, more, more, more);
	}
}

static void each_combination(int min, int max, bool is_rising, linear_shape_fn *fn, void *arg)
{
	for (int m = min; m <= max; m++)
		for (int k = is_rising ? m : min; k <= max; k++)
			for (int n = is_rising ? k : min; n <= max; n++)
				fn(arg, 1 << m, 1 << k, 1 << n);
}

void linear_set_each(enum linear_set set, int64_t min, int64_t max, linear_shape_fn *fn, void *arg)
{
	if (set == LINEAR_SET_LLAMA)
		each_llama(fn, arg);
	else if (set == LINEAR_SET_POW2 || set == LINEAR_SET_POW2_EXTENDED)
		each_cube((int)min, (int)max, set == LINEAR_SET_POW2_EXTENDED, fn, arg);
	else if (set == LINEAR_SET_SMALL_SWEEP || set == LINEAR_SET_SWEEP)
		each_combination((int)min, (int)max, set == LINEAR_SET_SMALL_SWEEP, fn, arg);
}
