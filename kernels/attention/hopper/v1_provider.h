/**
 * v1_provider.h - the parts of a provider that all stages have in common: which problems, which workspace, which phases.
 *
 * All walk the work list of v1.h; they differ in their main kernels and in the tiles that these own, which is what struct
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
	int32_t step;       /* tokens of the other side that are multiplied at a time: V1_STEP or a multiple */
	int32_t parts;      /* as in struct v1_job */
	int32_t passes;
	bool runs;       /* its kernels can walk kept blocks that lie side by side as a run */
	char config[80]; /* the text of fw_info.config */
};

struct v1_kernels {
	const char *name; /* of the provider */
	size_t job_bytes; /* of its job, which begins with a struct v1_job */

	/** The shape for a problem. `config`: NULL or what it must be. Err: FW_UNSUPPORTED when it cannot be that. */
	int (*choose)(const struct fw_attention *, int direction, const char *config, struct v1_shape *);

	/** Units: bytes of dynamic shared memory of the main kernel. */
	int (*shared)(const struct v1_job *);

	/** Let the main kernel use that much on the current device. Err: cudaErrorNoKernelImageForDevice where it has no code. */
	cudaError_t (*setup)(const struct v1_job *);

	/** Units: bytes of workspace that it needs beside what all stages do; job->extra. NULL: none. */
	int64_t (*extra)(const struct v1_job *);

	/** Launch phase RANGE_MERGE. */
	cudaError_t (*lists)(const struct v1_job *, cudaStream_t);

	/** Addresses of the job are known now. NULL: nothing more to do. Err: an enum fw_status, and why. */
	int (*bound)(struct v1_job *, char *why, size_t why_size);

	/** Launch the main kernel: phase RUN. */
	cudaError_t (*run)(const struct v1_job *, cudaStream_t);

	/** Launch phase CAST of backward. */
	cudaError_t (*cast)(const struct v1_job *, cudaStream_t);

	/** Whether backward takes FW_DETERMINISTIC: then job.ordered asks the main kernel to add to dQ in a fixed order. */
	bool ordered;
};

int v1_can(const struct fw_problem *, char *why, size_t why_size);
/** The same for kernels that are `ordered`. */
int v1_can_ordered(const struct fw_problem *, char *why, size_t why_size);
int v1_plan(const struct v1_kernels *, const struct fw_problem *, const char *config, int index, struct fw_plan **,
	struct fw_info *, char *why, size_t why_size);
int v1_bind(struct fw_plan *, const struct fw_io *);
int v1_enqueue(struct fw_plan *, uint32_t phases, void *stream);
int v1_count(
	const struct v1_kernels *, const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);
const char *v1_error(const struct fw_plan *);
void v1_destroy(struct fw_plan *);

#endif
