/** grouped.h - shapes and routings of products of groups of rows, as in layers of experts. */
#ifndef FAMILIES_GROUPED_GROUPED_H
#define FAMILIES_GROUPED_GROUPED_H

#include <stdint.h>

#include "kernels/fw_grouped.h"
#include "lib/lib.h"
#include "model/model.h"

/** How rows are distributed over groups. In the order of grouped_routings. */
enum grouped_routing {
	GROUPED_BALANCED, /* evenly */
	GROUPED_UNIFORM,  /* each token draws top_k different groups, all equally likely */
	GROUPED_SKEWED,   /* the same with unequal chances */
	GROUPED_SIZES,    /* sizes are given */
	GROUPED_ROUTINGS
};

enum {
	GROUPED_SIZES_MAX = 64,       /* given sizes of a case */
	GROUPED_TOP_MAX = 32,         /* groups of a token */
	GROUPED_TOKENS_MAX = 1 << 20, /* of a drawn routing */
	GROUPED_FEW_ROWS = 128        /* fewer rows of a group on average: bound by memory, so its speed is in GB/s */
};

/** Ends with NULL: "balanced" "uniform" "skewed" "sizes". */
extern const char *const grouped_routings[GROUPED_ROUTINGS + 1];

struct grouped_case {
	int32_t k, n;
	int32_t groups;
	int32_t routing;                 /* enum grouped_routing */
	int32_t top_k, tokens;           /* 0 with given sizes */
	int32_t rows;                    /* of all groups: tokens * top_k */
	int32_t used;                    /* groups that have rows */
	int32_t turned;                  /* 0; another order of the same sizes otherwise */
	int32_t size[GROUPED_SIZES_MAX]; /* given sizes; else 0 */
};

/*
 * ---- routing ----
 * Sizes of groups. Draws use only integers, so that they are the same everywhere; tests/support/inputs.py draws the same.
 */

/** Compute the number of rows of each group. Shape: out[groups]. The case must have passed check of struct family. */
void grouped_sizes(const struct grouped_case *a, uint64_t seed, int32_t *out);
/** Count the groups that have rows. */
int32_t grouped_used(const struct grouped_case *a, uint64_t seed);

/** Functions of struct family. */
bool grouped_read(struct reader *r, struct yaml_node *root);
int grouped_check(const void *shape, enum direction d, struct fw_err *err);
enum slot_use grouped_use(const void *shape, enum direction d, int slot);
enum slot_change grouped_change(const void *shape, enum direction d, int slot);
size_t grouped_lay_out(const void *shape, int slot, struct fw_tensor *t);
int grouped_lay(const void *shape, uint64_t seed, int slot, void *out, struct fw_err *err);
bool grouped_has_second(const void *shape);
void grouped_second(void *shape, int attempt);

extern const struct family family_grouped;

#endif
