/**
 * block_gradient.h - gradients of a transformer block on the CPU: products of provider "cpu", passes between them in fp32.
 */
#ifndef LINEAR_CPU_BLOCK_GRADIENT_H
#define LINEAR_CPU_BLOCK_GRADIENT_H

#include "linear/contract.h"

struct block_gradient; /* a plan of FW_DGRAD or FW_WGRAD */

/* The functions of a provider, as in fw_kernel.h, for problems whose direction is not FW_FORWARD. */
int block_gradient_can(const struct fw_problem *problem, char *why, size_t why_size);
int block_gradient_plan(const struct fw_problem *problem, const char *config, int index, struct block_gradient **out,
	struct fw_info *info, char *why, size_t why_size);
int block_gradient_bind(struct block_gradient *p, const struct fw_io *io);
int block_gradient_enqueue(struct block_gradient *p, uint32_t phases, void *stream);
int block_gradient_count(const struct fw_problem *problem, struct fw_work *work);
const char *block_gradient_error(const struct block_gradient *p);
void block_gradient_destroy(struct block_gradient *p);

#endif
