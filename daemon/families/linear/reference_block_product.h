/** block_product.h - lines times a matrix of a transformer block, both as a recipe has them multiplied. */
#ifndef FAMILIES_LINEAR_REFERENCE_BLOCK_PRODUCT_H
#define FAMILIES_LINEAR_REFERENCE_BLOCK_PRODUCT_H

#include "families/linear/reference_lines.h"
#include "kernels/fw_linear.h"
#include "runner/family_check.h"

/** One of the four matrices of W. Units: `first` values behind W. */
struct block_matrix {
	int64_t first, rows, depth;
};

struct block {
	const struct check_io *io;
	struct fw_linear_shape s;
	bool is_rounded; /* W is multiplied as what 8 or 4 bits stand for, beside bf16 */
	struct block_matrix qkv, project, up, down;
};

/** Rows [first, first + out->width) of a matrix times lines as they come, which are quantised first where they have to be. */
int block_product(const struct block *b, const struct block_matrix *m, int64_t first, const struct line_set *in, struct line_set *out,
	struct fw_err *err);

#endif
