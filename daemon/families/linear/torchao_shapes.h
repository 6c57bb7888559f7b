/** torchao_shapes.h - matrix_shapes of a configuration of torchao become sets of ours, each case once and each one possible. */
#ifndef FAMILIES_LINEAR_TORCHAO_SHAPES_H
#define FAMILIES_LINEAR_TORCHAO_SHAPES_H

#include "lib/yaml.h"
#include "families/linear/linear.h"

struct torchao_shape {
	int32_t m, k, n, model;
};

struct torchao_shapes {
	struct yaml *y;
	bool is_training, is_exact; /* as the whole configuration is */
	int32_t plain;
	int n, size, n_sets;
	struct torchao_shape *of; /* of[n]: all so far, each once */
	struct buf sets, notes;   /* lines of the suite, and comments of it */
};

void torchao_shapes_init(struct torchao_shapes *s, struct yaml *y, bool is_training, bool is_exact, int32_t plain);
void torchao_shapes_fini(struct torchao_shapes *s);
/**
 * Add one set in `model`, a place in linear_models; -1: it is only looked through for mistakes. A shape that was there before is left out and told.
 * A shape that one of the recipes in `takes` cannot have is a mistake, told once. Shape: takes[LINEAR_RECIPES].
 */
void torchao_shapes_read(struct torchao_shapes *s, struct yaml_node *map, int model, const bool *takes);

#endif
