/**
 * plan.h - a plan of provider "hopper": one product, the conversion of its operands, and the memory layout.
 */
#ifndef LINEAR_HOPPER_PLAN_H
#define LINEAR_HOPPER_PLAN_H

#include "gemm.h"
#include "linear/contract.h"
#include "linear/quantise/quantise.h"

/** Form in which W is multiplied. */
enum weight_form {
	WEIGHT_PLAIN,      /* as it is */
	WEIGHT_MULTIPLIED, /* e4m3, as X */
	WEIGHT_EXPANDED    /* quantised once, expanded to bf16 in every call: with many rows of X this costs little */
};

struct fw_plan {
	struct gemm_product product; /* first: tensor maps must be aligned to 64 bytes */
	struct fw_linear_shape shape;
	int direction, depth;
	enum weight_form form;
	enum quantise_kind kind; /* for W, if it is not plain */
	bool bound;
	struct quantise_source x, w;
	/* Offsets in bytes: in the workspace; in persist, where W is at 0. */
	int64_t normal_at, x_q_at, x_scale_at, partial_at, expanded_at, workspace_bytes;
	int64_t w_scale_at, persist_bytes;
	unsigned char *workspace, *persist;
	char error[CONTRACT_TEXT_BYTES];
};

/** Whether the problem is supported on any device. Err: FW_UNSUPPORTED, with the reason. */
int plan_can(const struct fw_problem *, char *why, size_t why_size);

/** Choose the kernel for the current device, and lay out the workspace. Err: an enum fw_status; plan->error contains the reason. */
int plan_choose(struct fw_plan *, const char *config, bool is_fast, int processors);

/** Store addresses and build tensor maps. Err: as struct fw_provider's bind. */
int plan_bind(struct fw_plan *, const struct fw_io *);

#endif
