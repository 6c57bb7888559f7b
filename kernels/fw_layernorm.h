/**
 * fw_layernorm.h - the family of layer normalisation: Y = (X - mean) rstd GAMMA + BETA, row by row, and its gradients.
 * mean and variance are taken over the `columns` values of a row of X (variance divides by columns, not columns - 1),
 * rstd = 1 / sqrt(variance + epsilon).
 */
#ifndef FW_LAYERNORM_H
#define FW_LAYERNORM_H

#include "fw_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/** fw_problem.family; fw_problem.shape is a struct fw_layernorm. Directions: FW_FORWARD, FW_BACKWARD. */
#define FW_LAYERNORM 3

/** ROWS computes the outputs of each row; COLUMNS sums over rows for DGAMMA and DBETA. */
enum fw_layernorm_phase { FW_LAYERNORM_ROWS = 1, FW_LAYERNORM_COLUMNS = 2 };

/**
 * Buffers, row-major: X, Y, DY, DX (rows, columns) bf16; GAMMA, BETA, DGAMMA, DBETA (columns) bf16; MEAN, RSTD (rows) fp32.
 * Forward reads X GAMMA BETA and writes Y MEAN RSTD. Backward reads X GAMMA DY MEAN RSTD (MEAN and RSTD of its forward) and
 * writes DX = RSTD (g - avg(g) - x avg(g x)) with g = DY GAMMA, x = (X - MEAN) RSTD and avg over a row, DGAMMA = sum over rows of
 * DY x, DBETA = sum over rows of DY. Partial sums must not be rounded to bf16.
 */
enum fw_layernorm_slot {
	FW_LAYERNORM_X,
	FW_LAYERNORM_GAMMA,
	FW_LAYERNORM_BETA,
	FW_LAYERNORM_Y,
	FW_LAYERNORM_MEAN,
	FW_LAYERNORM_RSTD,
	FW_LAYERNORM_DY,
	FW_LAYERNORM_DX,
	FW_LAYERNORM_DGAMMA,
	FW_LAYERNORM_DBETA,
	FW_LAYERNORM_SLOTS
};

struct fw_layernorm {
	uint32_t struct_size;
	int32_t rows, columns; /* columns is a multiple of 8 */
	float epsilon;
};

/** The sizes of a problem of this family, NULL for another family. */
static inline const struct fw_layernorm *fw_layernorm_of(const struct fw_problem *problem)
{
	return problem->family == FW_LAYERNORM ? (const struct fw_layernorm *)problem->shape : NULL;
}

#ifdef __cplusplus
}
#endif
#endif
