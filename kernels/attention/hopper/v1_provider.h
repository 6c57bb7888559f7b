/**
 * v1_provider.h - the parts of a provider that v0 and v1 have in common: which problems, which workspace, which phases.
 *
 * Both walk the work list of v1.h; they differ in their two main kernels and in the tiles that these own, which is what struct
 * v1_kernels says. The functions are those of struct fw_provider, with the kernels in front where no plan carries them yet.
 */
#ifndef ATTENTION_HOPPER_V1_PROVIDER_H
#define ATTENTION_HOPPER_V1_PROVIDER_H

#include "attention/providers.h"
#include "v1.h"

/** What a main kernel owns at a time. */
struct v1_shape {
	int32_t outer_rows; /* tokens: queries in forward, keys in backward */
	int32_t heads;      /* query heads side by side in a thread block of forward; 1 in backward */
	char config[64];    /* the text of fw_info.config */
};

struct v1_kernels {
	const char *name; /* of the provider */

	/** The shape for a problem. `config`: NULL or what it must be. Err: FW_UNSUPPORTED when it cannot be that. */
	int (*choose)(const struct fw_attention *, int direction, const char *config, struct v1_shape *);

	/** Units: bytes of dynamic shared memory of the main kernel. */
	int (*shared)(const struct v1_job *);

	/** Let the main kernel use that much on the current device. */
	cudaError_t (*setup)(const struct v1_job *);

	/** Launch the main kernel: phase RUN. */
	cudaError_t (*run)(const struct v1_job *, cudaStream_t);
};

int v1_can(const struct fw_problem *, char *why, size_t why_size);
int v1_plan(const struct v1_kernels *, const struct fw_problem *, const char *config, int index, struct fw_plan **,
	struct fw_info *, char *why, size_t why_size);
int v1_bind(struct fw_plan *, const struct fw_io *);
int v1_enqueue(struct fw_plan *, uint32_t phases, void *stream);
int v1_count(
	const struct v1_kernels *, const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);
const char *v1_error(const struct fw_plan *);
void v1_destroy(struct fw_plan *);

#endif
