/** linear.h - shapes, recipes and reference results of quantised linear layers. */
#ifndef FAMILIES_LINEAR_LINEAR_H
#define FAMILIES_LINEAR_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/fw_linear.h"
#include "lib/lib.h"
#include "model/model.h"

/*
 * ---- linear ----
 * A case of the linear family: its sizes, its recipe, and the operations around the product. Modules see kernels/fw_linear.h.
 */

/** In the order of linear_recipes. */
enum linear_recipe {
	LINEAR_BASELINE,
	LINEAR_INT8WO,
	LINEAR_INT4WO_32,
	LINEAR_INT4WO_64,
	LINEAR_INT4WO_128,
	LINEAR_INT4WO_256,
	LINEAR_FLOAT8WO,
	LINEAR_FLOAT8DQ_TENSOR,
	LINEAR_FLOAT8DQ_ROW,
	LINEAR_FLOAT8DQ_BLOCK,
	LINEAR_RECIPES
};

/**
 * In the order of linear_models: the product alone; for each enum fw_linear_activation, layer normalisation, the product and
 * that activation; a block.
 */
enum linear_model { LINEAR_PRODUCT, LINEAR_BLOCK = FW_LINEAR_N_ACTIVATIONS, LINEAR_MODELS };

/** Operands, as bits. */
enum { LINEAR_X = 1, LINEAR_W = 2, LINEAR_DY = 4, LINEAR_OPERANDS = 3 };

struct linear_case {
	int32_t m, k, n;  /* of a block: sequences, width, width */
	int32_t recipe;   /* enum linear_recipe */
	int32_t model;    /* enum linear_model */
	int32_t is_exact; /* of fp8 products, not float8dq-block: partial sums are added outside the tensor core's accumulator */
	int32_t plain;    /* operands of float8dq with disabled scaling, which are multiplied in bf16 */
};

/** "baseline" "int8wo" ..., "linear" "ln_linear_relu" ...; both end with NULL. */
extern const char *const linear_recipes[LINEAR_RECIPES + 1], *const linear_models[LINEAR_MODELS + 1];

/** "x" "w" "dy", in the order of the operands' bits. */
extern const char *const linear_operands[LINEAR_OPERANDS];

/** Return whether the recipe is one of float8dq. */
bool linear_is_fp8(const struct linear_case *a);
/** Return whether it is a transformer block; and the rows of X and Y, which for a block are its tokens. */
bool linear_is_block(const struct linear_case *a);
int64_t linear_tokens(const struct linear_case *a);
/** Return the number of values along k that share a scale; 0 unless the recipe has groups. */
int linear_group(const struct linear_case *a);

extern const struct family family_linear;

/** Functions abi, use, change and lay_out of struct family. */
void linear_abi(const void *shape, enum direction d, void *out);
enum slot_use linear_use(const void *shape, enum direction d, int slot);
enum slot_change linear_change(const void *shape, enum direction d, int slot);
size_t linear_lay_out(const void *shape, int slot, struct fw_tensor *t);
/** Function read of struct family. */
bool linear_read(struct reader *r, struct yaml_node *root);

/* ---- sets: Shapes of the named sets, as in torchao's benchmarks of linear layers. Pure. ---- */

/** In the order of linear_sets. */
enum linear_set {
	LINEAR_SET_CUSTOM, /* its shapes are listed in the suite */
	LINEAR_SET_LLAMA,  /* from here on, layers of a model */
	LINEAR_SET_LLAMA4,
	LINEAR_SET_DEEPSEEK_V3_236B,
	LINEAR_SET_DEEPSEEK_V3_671B,
	LINEAR_SET_QWEN3_32B,
	LINEAR_SET_GEMMA3_27B,
	LINEAR_SET_POW2, /* from here on, sizes between two powers of two */
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
	LINEAR_CUSTOM_MAX = 512 /* listed shapes of one set */,
	LINEAR_SETS_MAX = 64 /* of one suite */
};

/** Ends with NULL. */
extern const char *const linear_sets[LINEAR_SETS + 1];

/** Return whether the set has a range of powers; if so, `min` and `max` receive its default range. */
bool linear_set_powers(enum linear_set set, int64_t *min, int64_t *max);

typedef void linear_shape_fn(void *arg, int32_t m, int32_t k, int32_t n);
/** Call `fn` with each shape of the set, in order; LINEAR_SET_CUSTOM has none. */
void linear_set_each(enum linear_set set, int64_t min, int64_t max, linear_shape_fn *fn, void *arg);

/*
 * ---- torchao ----
 * Reader of a configuration of torchao's microbenchmarks (benchmark_config.yml); it writes the suite with the same
 * measurements.
 *
 * Every difference from the file is reported: a key without meaning here becomes a comment with its position, and a
 * request that cannot be measured is a mistake.
 */

/** Function import of struct family. */
void torchao_import(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out);

#endif
