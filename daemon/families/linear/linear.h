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
 * A case of the family of linear layers: its sizes, its recipe, what goes with the product. kernels/fw_linear.h is what modules see.
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
	LINEAR_RECIPES
};

/** In the order of linear_models: the product alone; behind it, normalised before and with that enum fw_linear_activation after it; a block. */
enum linear_model { LINEAR_PRODUCT, LINEAR_BLOCK = FW_LINEAR_N_ACTIVATIONS, LINEAR_MODELS };

/** Operands, as bits. */
enum { LINEAR_X = 1, LINEAR_W = 2, LINEAR_DY = 4, LINEAR_OPERANDS = 3 };

struct linear_case {
	int32_t m, k, n;  /* of a block sequences, width, and the width again */
	int32_t recipe;   /* enum linear_recipe */
	int32_t model;    /* enum linear_model */
	int32_t is_exact; /* of products of fp8: sums do not stay in the tensor core's accumulator */
	int32_t plain;    /* operands of float8dq whose scaling is disabled: they are multiplied in bf16 */
};

/** "baseline" "int8wo" ..., "linear" "ln_linear_relu" ...; both end with NULL. */
extern const char *const linear_recipes[LINEAR_RECIPES + 1], *const linear_models[LINEAR_MODELS + 1];

/** "x" "w" "dy", of the operands' bits. */
extern const char *const linear_operands[LINEAR_OPERANDS];

/** Whether its recipe is one of float8dq. */
bool linear_is_fp8(const struct linear_case *a);
/** Whether it is a transformer block, and rows of X and Y, which of a block are tokens. */
bool linear_is_block(const struct linear_case *a);
int64_t linear_tokens(const struct linear_case *a);
/** Values along k that share a scale; 0 unless the recipe has groups. */
int linear_group(const struct linear_case *a);

extern const struct family family_linear;

/** A family's abi, use, change and lay_out. */
void linear_abi(const void *shape, enum direction d, void *out);
enum slot_use linear_use(const void *shape, enum direction d, int slot);
enum slot_change linear_change(const void *shape, enum direction d, int slot);
size_t linear_lay_out(const void *shape, int slot, struct fw_tensor *t);
/** A family's read. */
bool linear_read(struct reader *r, struct yaml_node *root);

/* ---- sets: Which shapes stand behind the name of a set: those of the public suite of linear layers. Pure. ---- */

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

/*
 * ---- torchao ----
 * Reads a configuration of torchao's microbenchmarks (benchmark_config.yml) and writes the suite that measures the same.
 *
 * No difference from what the file asks for is silent: what has no meaning here becomes a comment with its place,
 * what cannot be measured as it stands is a mistake.
 */

/** A family's import. */
void torchao_import(struct yaml *y, struct yaml_node *root, const char *name, struct buf *out);

#endif
