/**
 * stage.h - the interface between a stage and the code that all stages share: supported problems, workspace, phases.
 *
 * All stages traverse the work list of job.c; they differ in their main kernels and the tiles of these, which struct stage
 * describes. plan.cu and count.cu implement the rest, and stage_provider() makes a provider of a stage.
 */
#ifndef ATTENTION_HOPPER_STAGE_H
#define ATTENTION_HOPPER_STAGE_H

#include "attention/contract.h"
#include "attention/providers.h"
#include "job.h"

/** The tile of a main kernel. */
struct shape {
	int32_t outer_rows; /* tokens: queries in forward, keys in backward */
	int32_t heads;      /* query heads of a thread block of forward; 1 in backward */
	int32_t step;       /* tokens of the other side that are multiplied per step: a multiple of JOB_STEP */
	int32_t parts;      /* as in struct job */
	int32_t passes;
	bool runs;       /* the kernels can traverse adjacent set blocks as a run */
	char config[80]; /* the string of fw_info.config */
};

/** The main kernel of one direction. */
struct main_kernel {
	/** Dynamic shared memory. Units: bytes. */
	int (*shared)(const struct job *);

	/**
	 * Allow that much shared memory on the current device. Err: cudaErrorNoKernelImageForDevice if the library has no code
	 * for it.
	 */
	cudaError_t (*setup)(const struct job *);

	/** Launch phase RUN. */
	cudaError_t (*run)(const struct job *, cudaStream_t);
};

struct stage {
	const char *name; /* for messages */
	size_t job_bytes; /* size of the stage's job, which begins with a struct job */
	int capability;   /* 90: code for compute capability 9.0 only; 0: for 8.0 and later */
	bool ordered;     /* backward supports FW_DETERMINISTIC: with job.ordered it adds to dQ in a fixed order */

	/** Additional restrictions of this stage on problems. NULL: none. Err: FW_UNSUPPORTED, with the reason. */
	int (*can)(const struct fw_attention *, int direction, char *why, size_t why_size);

	/**
	 * Choose the shape for a problem. `config`: NULL, or the required configuration. Err: FW_UNSUPPORTED if it is not
	 * possible.
	 */
	int (*choose)(const struct fw_attention *, int direction, const char *config, struct shape *);

	const struct main_kernel *forward, *backward;

	/** Launch phase RANGE_MERGE. */
	cudaError_t (*lists)(const struct job *, cudaStream_t);

	/** Launch phase CAST of backward. */
	cudaError_t (*cast)(const struct job *, cudaStream_t);

	/** Additional workspace of this stage, at job->extra. Units: bytes. NULL: none. */
	int64_t (*extra)(const struct job *);

	/** Called when the addresses of the job are set. NULL: nothing to do. Err: an enum fw_status, with the reason. */
	int (*bound)(struct job *, char *why, size_t why_size);
};

/* The functions of struct fw_provider, with the stage as first parameter where there is no plan. */
int plan_can(const struct stage *, const struct fw_problem *, char *why, size_t why_size);
int plan_make(const struct stage *, const struct fw_problem *, const char *config, int index, struct fw_plan **, struct fw_info *,
	char *why, size_t why_size);
int plan_bind(struct fw_plan *, const struct fw_io *);
int plan_enqueue(struct fw_plan *, uint32_t phases, void *stream);
int count_work(const struct stage *, const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);
const char *plan_error(const struct fw_plan *);
void plan_destroy(struct fw_plan *);

/** Whether the stage solves the problem on any device. Err: FW_UNSUPPORTED, with the reason. */
int job_can(const struct stage *, const struct fw_problem *, char *why, size_t why_size);

/** Make the job of a problem, still without addresses. Err: as struct stage's choose. */
int job_make(const struct stage *, const struct fw_problem *, const char *config, struct job *, struct shape *);

/** Address in a slot of which only the address is needed; NULL: the slot is missing. */
const void *job_slot(const struct fw_io *, int slot);

/* The ABI's functions have no parameter for a stage, so each stage gets instances of these templates. */
template <const struct stage *STAGE> static int stage_can(const struct fw_problem *problem, char *why, size_t size)
{
	return plan_can(STAGE, problem, why, size);
}

template <const struct stage *STAGE>
static int stage_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t size)
{
	return plan_make(STAGE, problem, config, index, out, info, why, size);
}

template <const struct stage *STAGE>
static int stage_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	return count_work(STAGE, problem, config, host, work);
}

/** Define the provider of a stage under a name; one stage may have several. */
template <const struct stage *STAGE> constexpr struct fw_provider stage_provider(const char *name)
{
	return { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_ATTENTION, 0, name, stage_can<STAGE>, stage_plan<STAGE>,
		plan_bind, plan_enqueue, stage_count<STAGE>, plan_error, plan_destroy };
}

#endif
