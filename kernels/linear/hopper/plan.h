/**
 * plan.c - a planned problem of provider "hopper": one product, what is done to its operands before, and where everything lies.
 */
#ifndef LINEAR_HOPPER_PLAN_H
#define LINEAR_HOPPER_PLAN_H

#include "gemm.h"
#include "linear/contract.h"
#include "linear/quantise/quantise.h"

/** What becomes of W before it is multiplied. */
enum weight_form {
	WEIGHT_PLAIN,      /* nothing */
	WEIGHT_MULTIPLIED, /* e4m3, as X */
	WEIGHT_EXPANDED /* quantised once, back to bf16 in every call: what W costs is small beside X where there are many rows */
};

struct fw_plan {
	struct gemm_job job; /* first: tensor maps lie on multiples of 64 bytes */
	const struct gemm_kernel *kernel;
	struct fw_linear_shape shape;
	int direction, depth;
	enum weight_form form;
	enum quantise_kind kind; /* of W, where it is not plain */
	bool bound;
	struct quantise_source x, w;
	/* Offsets in bytes: of the workspace; of persist, where W lies at 0. */
	int64_t normal_at, x_q_at, x_scale_at, partial_at, expanded_at, workspace_bytes;
	int64_t w_scale_at, persist_bytes;
	unsigned char *workspace, *persist;
	char config[64];
	char error[CONTRACT_TEXT_BYTES];
};

/** Whether the problem is solved here on any device. Err: FW_UNSUPPORTED, and why. */
int plan_can(const struct fw_problem *, char *why, size_t why_size);

/** Pick kernel, walk and grid for the current device, and lay out the workspace. Err: an enum fw_status; plan->error says why. */
int plan_choose(struct fw_plan *, const char *config, bool is_fast, int processors);

/** Take addresses. Err: as struct fw_provider's bind. */
int plan_bind(struct fw_plan *, const struct fw_io *);

/** How the kernel is launched. Own: `attribute` is the caller's and lives as long as what is returned. */
cudaLaunchConfig_t plan_launch(const struct fw_plan *, cudaLaunchAttribute *attribute, cudaStream_t);

#endif
