/**
 * plan.h - code shared by the providers of grouped products: the checks of a problem and of its buffers, and the count of work.
 */
#ifndef GROUPED_PLAN_H
#define GROUPED_PLAN_H

#include "common/contract.h"
#include "grouped/providers.h"

/** The three buffers of a product: out = left right, group by group. */
struct grouped_roles {
	int left, right, out; /* enum fw_grouped_slot */
};

static inline struct grouped_roles grouped_roles_of(int32_t direction)
{
	const struct grouped_roles forward = { FW_GROUPED_X, FW_GROUPED_W, FW_GROUPED_Y },
				   dgrad = { FW_GROUPED_DY, FW_GROUPED_W, FW_GROUPED_DX },
				   wgrad = { FW_GROUPED_DY, FW_GROUPED_X, FW_GROUPED_DW };
	return direction == FW_FORWARD ? forward : direction == FW_DGRAD ? dgrad : wgrad;
}

static inline int grouped_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const struct fw_grouped *a = problem ? fw_grouped_of(problem) : NULL;
	if (!a)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only grouped products");
	if (problem->direction != FW_FORWARD && problem->direction != FW_DGRAD && problem->direction != FW_WGRAD)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only forward, dgrad and wgrad");
	if (a->groups < 1 || a->groups > FW_GROUPED_GROUPS_MAX || a->rows < 1)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "1 to %d groups with a row", (int)FW_GROUPED_GROUPS_MAX);
	if (a->n < 8 || a->k < 8 || a->n % 8 || a->k % 8)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "n %d and k %d must be multiples of 8", a->n, a->k);
	return FW_OK;
}

/** Whether a buffer is row-major and packed, as the family requires. */
static inline int grouped_is_packed(const struct fw_grouped *a, int slot, const int64_t *stride)
{
	const int64_t columns = slot == FW_GROUPED_Y || slot == FW_GROUPED_DY ? a->n : a->k;
	if (!stride[0] && !stride[1] && !stride[2])
		return 1;
	if (slot == FW_GROUPED_OFFSETS)
		return stride[0] == 1;
	if (slot == FW_GROUPED_W || slot == FW_GROUPED_DW)
		return stride[0] == (int64_t)a->n * a->k && stride[1] == columns && stride[2] == 1;
	return stride[0] == columns && stride[1] == 1;
}

/** Get the address of a buffer. Err: FW_INVALID it is missing, FW_UNSUPPORTED it has gaps; `error` then has the reason. */
static inline int grouped_take(const struct fw_grouped *a, const struct fw_io *io, int slot, void **out, char *error)
{
	if (!io || !io->slot || slot >= (int)io->n_slots || !io->slot[slot].data)
		return contract_refuse(FW_INVALID, error, CONTRACT_TEXT_BYTES, "slot %d is missing", slot);
	if (!grouped_is_packed(a, slot, io->slot[slot].stride))
		return contract_refuse(
			FW_UNSUPPORTED, error, CONTRACT_TEXT_BYTES, "slot %d must be row-major without gaps", slot);
	*out = io->slot[slot].data;
	return FW_OK;
}

/**
 * Count the work of tiles of `tile_rows` rows and `tile_columns` columns, which are multiplied whole: of a group's rows by n or k
 * columns, in wgrad of n rows by k columns.
 */
static inline int grouped_count(
	const struct fw_problem *problem, const struct fw_io *host, int tile_rows, int tile_columns, struct fw_work *work)
{
	const int status = grouped_can(problem, NULL, 0);
	if (status != FW_OK)
		return status;
	const struct fw_grouped *a = fw_grouped_of(problem);
	if (!host || !host->slot || host->n_slots <= FW_GROUPED_OFFSETS || !host->slot[FW_GROUPED_OFFSETS].data)
		return FW_INVALID;
	const int32_t *offsets = (const int32_t *)host->slot[FW_GROUPED_OFFSETS].data;
	const int wgrad = problem->direction == FW_WGRAD;
	const double columns = problem->direction == FW_FORWARD ? a->n : a->k;
	const int64_t across = ((int64_t)columns + tile_columns - 1) / tile_columns;
	struct fw_work answer;
	memset(&answer, 0, sizeof answer);
	for (int g = 0; g < a->groups; g++) {
		const int64_t size = offsets[g + 1] - offsets[g], rows = wgrad ? a->n : size;
		const double depth = wgrad ? (double)size : problem->direction == FW_FORWARD ? a->k : a->n;
		const int64_t tiles = (rows + tile_rows - 1) / tile_rows * across;
		answer.tiles_total += tiles;
		answer.flops_issued += 2.0 * (double)tiles * tile_rows * tile_columns * depth;
		answer.bytes_moved += 2.0 * ((double)tiles * (tile_rows + tile_columns) * depth + (double)rows * columns);
	}
	answer.struct_size = contract_answer_bytes(work->struct_size, sizeof answer);
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

#endif
