/**
 * stage.h - the shell that all stages have in common: which problems, which workspace, which phases.
 *
 * All walk the work list of job.c; they differ in their main kernels and in the tiles that these own, which is what struct stage
 * says. plan.cu and count.cu do the rest, and stage_provider() makes a provider of a stage.
 */
#ifndef ATTENTION_HOPPER_STAGE_H
#define ATTENTION_HOPPER_STAGE_H

#include "attention/contract.h"
#include "attention/providers.h"
#include "job.h"

/** What a main kernel owns at a time. */
struct shape {
	int32_t outer_rows; /* tokens: queries in forward, keys in backward */
	int32_t heads;      /* query heads side by side in a thread block of forward; 1 in backward */
	int32_t step;       /* tokens of the other side that are multiplied at a time: JOB_STEP or a multiple */
	int32_t parts;      /* as in struct job */
	int32_t passes;
	bool runs;       /* its kernels can walk kept blocks that lie side by side as a run */
	char config[80]; /* the text of fw_info.config */
};

/** The main kernel of one direction. */
struct main_kernel {
	/** Units: bytes of dynamic shared memory. */
	int (*shared)(const struct job *);

	/** Let it use that much on the current device. Err: cudaErrorNoKernelImageForDevice where it has no code. */
	cudaError_t (*setup)(const struct job *);

	/** Launch phase RUN. */
	cudaError_t (*run)(const struct job *, cudaStream_t);
};

struct stage {
	const char *name; /* in messages */
	size_t job_bytes; /* of its job, which begins with a struct job */
	int capability;   /* 90: there is code for compute capability 9.0 alone; 0: for any from 8.0 on */
	bool ordered;     /* backward takes FW_DETERMINISTIC: job.ordered asks it to add to dQ in a fixed order */

	/** Problems that the others solve and this one does not. NULL: none. Err: FW_UNSUPPORTED, and why. */
	int (*can)(const struct fw_attention *, int direction, char *why, size_t why_size);

	/** The shape for a problem. `config`: NULL or what it must be. Err: FW_UNSUPPORTED when it cannot be that. */
	int (*choose)(const struct fw_attention *, int direction, const char *config, struct shape *);

	const struct main_kernel *forward, *backward;

	/** Launch phase RANGE_MERGE. */
	cudaError_t (*lists)(const struct job *, cudaStream_t);

	/** Launch phase CAST of backward. */
	cudaError_t (*cast)(const struct job *, cudaStream_t);

	/** Units: bytes of workspace that it needs beside what all stages do; job->extra. NULL: none. */
	int64_t (*extra)(const struct job *);

	/** Addresses of the job are known now. NULL: nothing more to do. Err: an enum fw_status, and why. */
	int (*bound)(struct job *, char *why, size_t why_size);
};

/* What struct fw_provider asks for, with the stage in front where no plan carries it yet. */
int plan_can(const struct stage *, const struct fw_problem *, char *why, size_t why_size);
int plan_make(const struct stage *, const struct fw_problem *, const char *config, int index, struct fw_plan **, struct fw_info *,
	char *why, size_t why_size);
int plan_bind(struct fw_plan *, const struct fw_io *);
int plan_enqueue(struct fw_plan *, uint32_t phases, void *stream);
int count_work(const struct stage *, const struct fw_problem *, const char *config, const struct fw_io *host, struct fw_work *);
const char *plan_error(const struct fw_plan *);
void plan_destroy(struct fw_plan *);

/** Whether the stage solves the problem on any device. Err: FW_UNSUPPORTED, and why. */
int job_can(const struct stage *, const struct fw_problem *, char *why, size_t why_size);

/** The job that a problem becomes, still without addresses. Err: as struct stage's choose. */
int job_make(const struct stage *, const struct fw_problem *, const char *config, struct job *, struct shape *);

/** The address in a slot of which only that counts; NULL: there is none. */
const void *job_slot(const struct fw_io *, int slot);

/* The ABI has no room for a stage in its calls, so each stage gets functions of its own. */
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

/** The provider that a stage is, under a name; one stage may have several. */
template <const struct stage *STAGE> constexpr struct fw_provider stage_provider(const char *name)
{
	return { (uint32_t)sizeof(struct fw_provider), FW_CUDA, FW_ATTENTION, 0, name, stage_can<STAGE>, stage_plan<STAGE>,
		plan_bind, plan_enqueue, stage_count<STAGE>, plan_error, plan_destroy };
}

#endif
