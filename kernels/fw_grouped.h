/**
 * fw_grouped.h - family "grouped": rows in groups, each group multiplied by a matrix of its own, as in layers of experts (MoE).
 *
 * The rows of X are sorted by group: group g has rows OFFSETS[g] to OFFSETS[g + 1] - 1, perhaps none. Only the number of all rows
 * is known to a plan. OFFSETS are read by the kernels, in every call, since each batch of tokens has others; the host never sees
 * them before a launch.
 */
#ifndef FW_GROUPED_H
#define FW_GROUPED_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** fw_problem.family; fw_problem.shape is a struct fw_grouped. Directions: FW_FORWARD, FW_DGRAD, FW_WGRAD. */
#define FW_GROUPED 4

/** PREPARE derives a schedule from OFFSETS, if that is a separate pass; RUN multiplies. */
enum fw_grouped_phase { FW_GROUPED_PREPARE = 1, FW_GROUPED_RUN = 2 };

/**
 * Buffers, row-major and packed. Shape: X, DX (rows, k); W, DW (groups, n, k); Y, DY (rows, n), all bf16; OFFSETS int32
 * (groups + 1): ascending, the first is 0, the last is rows.
 * Forward reads X W OFFSETS and writes Y: row r of group g is X[r] W[g]^T. Dgrad reads DY W OFFSETS and writes DX: DY[r] W[g].
 * Wgrad reads DY X OFFSETS and writes DW: DW[g] = DY_g^T X_g over the rows of group g, 0 if it has none. Sums are fp32 or more
 * exact, rounded to bf16 once.
 * count() gets OFFSETS.
 */
enum fw_grouped_slot {
	FW_GROUPED_X,
	FW_GROUPED_W,
	FW_GROUPED_OFFSETS,
	FW_GROUPED_Y,
	FW_GROUPED_DY,
	FW_GROUPED_DX,
	FW_GROUPED_DW,
	FW_GROUPED_SLOTS
};

/** Most groups of a problem. */
enum fw_grouped_limit { FW_GROUPED_GROUPS_MAX = 1024 };

struct fw_grouped {
	uint32_t struct_size;
	int32_t groups, rows; /* rows of all groups together */
	int32_t n, k;         /* multiples of 8; each tensor has at most 2^31 - 1 elements */
};

/** The sizes of a problem of this family, NULL for another family. */
static inline const struct fw_grouped *fw_grouped_of(const struct fw_problem *problem)
{
	return problem->family == FW_GROUPED ? (const struct fw_grouped *)problem->shape : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
