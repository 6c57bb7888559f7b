/** plan.c - code shared by the providers of layer normalisation: the plan, its addresses, and the checks of a problem. */
#ifndef LAYERNORM_PLAN_H
#define LAYERNORM_PLAN_H

#include <stdlib.h>

#include "common/contract.h"
#include "layernorm/providers.h"

enum { LAYERNORM_CONFIG_BYTES = 24 };

struct fw_plan {
	struct fw_layernorm a;
	int32_t direction;
	int device, parts; /* partial sums of columns */
	void *slot[FW_LAYERNORM_SLOTS];
	float *partial; /* workspace: [2][parts][columns] */
	int is_bound;
	char config[LAYERNORM_CONFIG_BYTES]; /* of a provider with several */
	char error[CONTRACT_TEXT_BYTES];
};

static inline int layernorm_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const struct fw_layernorm *a = problem ? fw_layernorm_of(problem) : NULL;
	if (!a)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only layer normalisation");
	if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only forward and backward");
	if (a->rows < 1 || a->columns < 8 || a->columns % 8 != 0)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "columns %d is not a multiple of 8", a->columns);
	return FW_OK;
}

/** parts`: number of partial sums of columns in a backward. */
static inline int layernorm_plan(const struct fw_problem *problem, int parts, const char *config, struct fw_plan **out,
	struct fw_info *info, char *why, size_t why_size)
{
	int status = layernorm_can(problem, why, why_size), backward = status == FW_OK && problem->direction == FW_BACKWARD;
	struct fw_plan *p = status == FW_OK ? (struct fw_plan *)calloc(1, sizeof *p) : NULL;
	if (!p)
		return status == FW_OK ? contract_refuse(FW_FAILED, why, why_size, "out of memory") : status;
	p->a = *fw_layernorm_of(problem);
	p->direction = problem->direction;
	p->parts = parts;
	struct fw_info answer = *info;
	answer.phases = FW_LAYERNORM_ROWS | (backward ? FW_LAYERNORM_COLUMNS : 0);
	answer.once = 0;
	answer.reserved = 0;
	answer.workspace_bytes = backward ? (uint64_t)contract_align(8 * (int64_t)parts * p->a.columns) : 0;
	answer.persist_bytes = 0;
	answer.config = config;
	memcpy(info, &answer, contract_answer_bytes(info->struct_size, sizeof answer));
	*out = p;
	return FW_OK;
}

/** Whether a buffer is row-major and packed, as the family requires. */
static inline int layernorm_is_packed(const struct fw_plan *p, int slot, const int64_t *stride)
{
	const int is_matrix =
		slot == FW_LAYERNORM_X || slot == FW_LAYERNORM_Y || slot == FW_LAYERNORM_DY || slot == FW_LAYERNORM_DX;
	if (!stride[0] && !stride[1] && !stride[2])
		return 1;
	return is_matrix ? stride[0] == p->a.columns && stride[1] == 1 : stride[0] == 1;
}

static inline int layernorm_bind(struct fw_plan *p, const struct fw_io *io)
{
	const int forward = p->direction == FW_FORWARD;
	p->is_bound = 0;
	for (int i = 0; i < FW_LAYERNORM_SLOTS; i++) {
		const int back = i >= FW_LAYERNORM_DY, front = i == FW_LAYERNORM_BETA || i == FW_LAYERNORM_Y;
		p->slot[i] = i < (int)io->n_slots ? io->slot[i].data : NULL;
		if (!p->slot[i] && !(forward ? back : front))
			return contract_refuse(FW_INVALID, p->error, sizeof p->error, "slot %d is missing", i);
		if (p->slot[i] && !layernorm_is_packed(p, i, io->slot[i].stride))
			return contract_refuse(
				FW_UNSUPPORTED, p->error, sizeof p->error, "slot %d must be row-major without gaps", i);
	}
	p->partial = (float *)io->workspace;
	p->is_bound = 1;
	return FW_OK;
}

static inline int layernorm_count(
	const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	const struct fw_layernorm *a = fw_layernorm_of(problem);
	double elements = a ? (double)a->rows * a->columns : 0;
	int forward = problem->direction == FW_FORWARD;
	(void)config;
	(void)host;
	if (!a)
		return FW_UNSUPPORTED;
	work->flops_issued = (forward ? 7 : 14) * elements;
	work->bytes_moved = (forward ? 4 : 6) * elements;
	work->tiles_total = work->tiles_skipped = work->tiles_partial = work->blocks_kept = 0;
	return FW_OK;
}

static inline const char *layernorm_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static inline void layernorm_destroy(struct fw_plan *p)
{
	free(p);
}

#endif
