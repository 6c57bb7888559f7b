/* sets.c - shapes of the named sets. */
#include "families/linear/linear.h"

const char *const linear_sets[LINEAR_SETS + 1] = { "custom", "llama", "llama4", "deepseek_v3_236b", "deepseek_v3_671b",
	"qwen3_32b", "gemma3_27b", "pow2", "pow2_extended", "small_sweep", "sweep", NULL };

bool linear_set_powers(enum linear_set set, int64_t *min, int64_t *max)
{
	if (set < LINEAR_SET_POW2 || set >= LINEAR_SETS)
		return false;
	*min = set == LINEAR_SET_SWEEP ? 8 : 10;
	*max = set == LINEAR_SET_SWEEP ? 15 : 14;
	return true;
}

static void each_of_model(enum linear_set set, linear_shape_fn *fn, void *arg)
{
	static const struct {
		enum linear_set set;
		int32_t k, n;
	} layer[] = {
		{ LINEAR_SET_LLAMA, 8192, 1280 },
		{ LINEAR_SET_LLAMA, 1024, 8192 },
		{ LINEAR_SET_LLAMA, 8192, 7168 },
		{ LINEAR_SET_LLAMA, 3584, 8192 },
		{ LINEAR_SET_LLAMA4, 8192, 5120 },
		{ LINEAR_SET_LLAMA4, 8192, 8192 },
		{ LINEAR_SET_LLAMA4, 8192, 1024 },
		{ LINEAR_SET_DEEPSEEK_V3_236B, 1536, 5120 },
		{ LINEAR_SET_DEEPSEEK_V3_236B, 7168, 7168 },
		{ LINEAR_SET_DEEPSEEK_V3_671B, 2048, 7168 },
		{ LINEAR_SET_DEEPSEEK_V3_671B, 7168, 7168 },
		{ LINEAR_SET_QWEN3_32B, 5120, 5120 },
		{ LINEAR_SET_QWEN3_32B, 5120, 640 },
		{ LINEAR_SET_GEMMA3_27B, 4096, 4096 },
		{ LINEAR_SET_GEMMA3_27B, 4096, 1024 },
	};
	static const int32_t tokens[] = { 16384, 128000 };

	for (int t = 0; t < (set == LINEAR_SET_LLAMA ? 1 : 2); t++)
		for (size_t i = 0; i < sizeof layer / sizeof layer[0]; i++)
			if (layer[i].set == set)
				fn(arg, tokens[t], layer[i].k, layer[i].n);
}

static void each_cube(unsigned min, unsigned max, bool is_extended, linear_shape_fn *fn, void *arg)
{
	for (unsigned p = min; p <= max; p++) {
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
	if (set >= LINEAR_SET_LLAMA && set < LINEAR_SET_POW2)
		each_of_model(set, fn, arg);
	else if (set == LINEAR_SET_POW2 || set == LINEAR_SET_POW2_EXTENDED)
		each_cube(min, max, set == LINEAR_SET_POW2_EXTENDED, fn, arg);
	else if (set == LINEAR_SET_SMALL_SWEEP || set == LINEAR_SET_SWEEP)
		each_combination((int)min, (int)max, set == LINEAR_SET_SMALL_SWEEP, fn, arg);
}
