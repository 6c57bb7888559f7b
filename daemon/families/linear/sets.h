/** sets.h - which shapes stand behind the name of a set: those of the public suite of linear layers. Pure. */
#ifndef FAMILIES_LINEAR_SETS_H
#define FAMILIES_LINEAR_SETS_H

#include <stdbool.h>
#include <stdint.h>

/** In the order of linear_sets. */
enum linear_set {
	LINEAR_SET_CUSTOM, /* listed where it is named */
	LINEAR_SET_LLAMA,  /* from here on layers of a model */
	LINEAR_SET_LLAMA4,
	LINEAR_SET_DEEPSEEK_V3_236B,
	LINEAR_SET_DEEPSEEK_V3_671B,
	LINEAR_SET_QWEN3_32B,
	LINEAR_SET_GEMMA3_27B,
	LINEAR_SET_POW2, /* from here on between two powers of two */
	LINEAR_SET_POW2_EXTENDED,
	LINEAR_SET_SMALL_SWEEP,
	LINEAR_SET_SWEEP,
	LINEAR_SETS
};

#define LINEAR_SETS_HINT                                                                                                         \
	"custom, llama, llama4, deepseek_v3_236b, deepseek_v3_671b, qwen3_32b, gemma3_27b, pow2, pow2_extended, small_sweep or sweep"
enum {
	LINEAR_POWER_MIN = 0,
	LINEAR_POWER_MAX = 30,
	LINEAR_CUSTOM_MAX = 512 /* shapes that are listed in one set */,
	LINEAR_SETS_MAX = 64 /* of one suite */
};

/** Ends with NULL. */
extern const char *const linear_sets[LINEAR_SETS + 1];

/** Whether it lies between two powers; `min` and `max` become those that it has unless others are given. */
bool linear_set_powers(enum linear_set set, int64_t *min, int64_t *max);

typedef void linear_shape_fn(void *arg, int32_t m, int32_t k, int32_t n);
/** Call `fn` with each of its shapes in order; of LINEAR_SET_CUSTOM there are none. */
void linear_set_each(enum linear_set set, int64_t min, int64_t max, linear_shape_fn *fn, void *arg);

#endif
