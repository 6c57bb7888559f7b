/**
 * block.h - transformer blocks of fw_linear.h: four products, each computed by another provider of this library, and three passes
 * between them.
 *
 *     narrow = rms(X)    wide = narrow QKV^T        narrow = attend(wide)       branch = narrow PROJECT^T    h = X + branch
 *     narrow = rms(h)    wide = gelu(narrow UP^T)   branch = wide DOWN^T                                     Y = h + branch
 * The factor 2^-e of a product is exact in bf16, so that the next or previous pass applies it.
 */
#ifndef LINEAR_BLOCK_H
#define LINEAR_BLOCK_H

#include "linear/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The passes on one device. All matrices are bf16; `to` is packed. Each returns NULL, or an error message. */
struct block_passes {
	/** to = scale rms(x). Shape: x (rows, k), to (rows, k). */
	const char *(*rms)(const struct contract_matrix *x, int32_t rows, int32_t k, float scale, uint16_t *to, void *stream);
	/** to = scale attend(qkv). Shape: qkv (16 sequences, 3 k) packed, to (16 sequences, k). */
	const char *(*attend)(const uint16_t *qkv, int32_t sequences, int32_t k, float scale, uint16_t *to, void *stream);
	/** to = x + scale branch. Shape: x (rows, k), branch (rows, k) packed, to (rows, k), which may be x. */
	const char *(*add)(const struct contract_matrix *x, const uint16_t *branch, int32_t rows, int32_t k, float scale,
		const struct contract_matrix *to, void *stream);
};

/** A way to compute blocks. Shape: by ends with NULL; each product uses the first provider that supports it. */
struct block_kind {
	const struct block_passes *passes;
	const struct fw_provider *const *by;
};

/**
 * Whether the problem is a transformer block, in a direction that its definition has. Shape: `s` gets the problem's shape. Err:
 * FW_UNSUPPORTED, with the reason in `why`, which may be NULL.
 */
int block_check(const struct fw_problem *problem, struct fw_linear_shape *s, char *why, size_t why_size);

/** Return the factor 2^-e of a product with a matrix of `depth` columns. */
float block_scale(int64_t depth);

/* The functions of a provider, as in fw_kernel.h; `kind` must live as long as the library. */
int block_can(const struct block_kind *kind, const struct fw_problem *problem, char *why, size_t why_size);
int block_plan(const struct block_kind *kind, const struct fw_problem *problem, const char *config, int index,
	struct fw_plan **out, struct fw_info *info, char *why, size_t why_size);
int block_bind(struct fw_plan *p, const struct fw_io *io);
int block_enqueue(struct fw_plan *p, uint32_t phases, void *stream);
int block_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work);
const char *block_error(const struct fw_plan *p);
void block_destroy(struct fw_plan *p);

#ifdef __cplusplus
}
#endif

#endif
