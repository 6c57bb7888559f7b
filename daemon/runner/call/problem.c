/* problem.c - sizes, strides and contents of an attention cell's tensors. */
#include "runner/call/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/case/inputs.h"

#define SECOND_MASK_SEED 0x5ec0d3a5cull
enum { SECOND_MASK_TRIES = 64 };

/* Which slots a direction reads and writes; offsets and bits are added where the case has them. */
static enum problem_use slot_use(enum direction direction, int slot)
{
	switch (slot) {
	case FW_Q:
	case FW_K:
	case FW_V:
		return PROBLEM_INPUT;
	case FW_O:
	case FW_LSE:
		return direction == DIRECTION_FORWARD ? PROBLEM_OUTPUT : PROBLEM_INPUT;
	case FW_DO:
		return direction == DIRECTION_FORWARD ? PROBLEM_UNUSED : PROBLEM_INPUT;
	case FW_DQ:
	case FW_DK:
	case FW_DV:
		return direction == DIRECTION_FORWARD ? PROBLEM_UNUSED : PROBLEM_OUTPUT;
	default:
		return PROBLEM_UNUSED;
	}
}

static bool is_generated(int slot)
{
	return slot == FW_Q || slot == FW_K || slot == FW_V || slot == FW_DO;
}

/* Bytes, strides and type of a slot's tensor. */
static size_t lay_out(const struct problem *p, int slot, struct fw_tensor *t)
{
	const struct fw_attention *a = &p->sizes;
	int64_t row;
	switch (slot) {
	case FW_Q:
	case FW_O:
	case FW_DO:
	case FW_DQ:
	case FW_K:
	case FW_V:
	case FW_DK:
	case FW_DV: {
		bool query = slot == FW_Q || slot == FW_O || slot == FW_DO || slot == FW_DQ;
		row = (int64_t)(query ? a->nhq : a->nhk) * a->headdim;
		*t = (struct fw_tensor){ .stride = { row, a->headdim, 1 }, .dtype = FW_BF16 };
		return (size_t)row * (size_t)(query ? a->total_q : a->total_k) * 2;
	}
	case FW_LSE:
		*t = (struct fw_tensor){ .stride = { a->total_q, 1, 0 }, .dtype = FW_F32 };
		return (size_t)a->nhq * (size_t)a->total_q * 4;
	case FW_CU_Q:
	case FW_CU_K:
		*t = (struct fw_tensor){ .stride = { 1, 0, 0 }, .dtype = FW_I32 };
		return ((size_t)a->n_seqs + 1) * 4;
	default: {
		int64_t q_blocks = (a->total_q + a->block_q - 1) / a->block_q,
			k_blocks = (a->total_k + a->block_k - 1) / a->block_k;
		row = (k_blocks + 31) / 32;
		*t = (struct fw_tensor){ .stride = { q_blocks * row, row, 1 }, .dtype = FW_U32 };
		return (size_t)a->nhk * (size_t)(q_blocks * row) * 4;
	}
	}
}

static void fill_bits(struct problem *p, uint64_t seed)
{
	case_block_bits(&p->cell.attention, seed, p->bits);
}

static void fill_offsets(struct problem *p)
{
	const struct attention_case *a = &p->cell.attention;
	p->cu[0] = 0;
	for (int i = 0; i < a->n_seqs; i++)
		p->cu[i + 1] = p->cu[i] + a->length[i];
}

static int make_slot(struct problem *p, int slot, enum problem_use use, struct fw_err *err)
{
	struct problem_slot *s = &p->slot[slot];
	s->bytes = lay_out(p, slot, &p->tensor[slot]);
	if (p->ops->alloc(p->dev, s->bytes, &s->data, err) != 0)
		return -1;
	s->use = use;
	p->tensor[slot].data = s->data;
	if (use == PROBLEM_INPUT)
		return p->ops->alloc(p->dev, s->bytes, &s->master, err);
	return 0;
}

/* Master first, then its checksum and the copy that subjects see. */
static int settle_input(struct problem *p, int slot, struct fw_err *err)
{
	struct problem_slot *s = &p->slot[slot];
	if (p->ops->checksum(p->dev, s->master, s->bytes, &p->named.sum[slot], err) != 0)
		return -1;
	p->now.sum[slot] = p->named.sum[slot];
	return p->ops->copy(p->dev, s->data, s->master, s->bytes, err);
}

static int upload_masks(struct problem *p, struct fw_err *err)
{
	const int offsets[] = { FW_CU_Q, FW_CU_K };
	for (int k = 0; p->cu && k < 2; k++) {
		struct problem_slot *s = &p->slot[offsets[k]];
		if (p->ops->upload(p->dev, s->master, p->cu, s->bytes, err) != 0 || settle_input(p, offsets[k], err) != 0)
			return -1;
	}
	if (p->bits) {
		struct problem_slot *s = &p->slot[FW_BLOCK_BITS];
		if (p->ops->upload(p->dev, s->master, p->bits, s->bytes, err) != 0 || settle_input(p, FW_BLOCK_BITS, err) != 0)
			return -1;
	}
	return 0;
}

/* Says what a cell was given without reading gigabytes on the host: every input's size and checksum. O and LSE are left out,
 * since they come from the base's forward and may differ in rounding. */
static void name_inputs(struct problem *p)
{
	struct hash_state h;
	hash_begin(&h);
	hash_update(&h, p->cell.key, strlen(p->cell.key));
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		const struct problem_slot *s = &p->slot[i];
		if (s->use != PROBLEM_INPUT || i == FW_O || i == FW_LSE)
			continue;
		uint64_t item[3] = { (uint64_t)i, s->bytes, p->named.sum[i] };
		hash_update(&h, item, sizeof item);
	}
	hash_end(&h, p->input_sha256);
}

int problem_open(struct problem *p, const struct device_ops *ops, struct device *dev, const struct cell *cell, struct fw_err *err)
{
	memset(p, 0, sizeof *p);
	p->ops = ops;
	p->dev = dev;
	p->cell = *cell;
	case_problem(&p->cell, &p->sizes, &p->abi);
	p->forward_cell = *cell;
	p->forward_cell.direction = DIRECTION_FORWARD;
	case_name(&p->forward_cell);
	case_problem(&p->forward_cell, &p->forward_sizes, &p->forward_abi);

	if (p->sizes.n_seqs > 1 || p->sizes.mask == FW_BLOCKS) {
		struct fw_tensor unused;
		p->bits_bytes = p->sizes.mask == FW_BLOCKS ? lay_out(p, FW_BLOCK_BITS, &unused) : 0;
		p->cu = p->sizes.n_seqs > 1 ? calloc((size_t)p->sizes.n_seqs + 1, sizeof *p->cu) : NULL;
		p->bits = p->bits_bytes ? calloc(1, p->bits_bytes) : NULL;
		if ((p->sizes.n_seqs > 1 && !p->cu) || (p->bits_bytes && !p->bits))
			return err_set(err, ERR_FULL, "no memory for the mask of %s", cell->key);
	}
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		enum problem_use use = slot_use(cell->direction, i);
		if ((i == FW_CU_Q || i == FW_CU_K) && p->cu)
			use = PROBLEM_INPUT;
		if (i == FW_BLOCK_BITS && p->bits)
			use = PROBLEM_INPUT;
		if (use != PROBLEM_UNUSED && make_slot(p, i, use, err) != 0)
			return err_context(err, "%s", cell->key);
	}
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		struct problem_slot *s = &p->slot[i];
		if (s->use != PROBLEM_INPUT || !is_generated(i))
			continue;
		if (ops->fill_inputs(dev, s->master, cell->attention.seed, (uint32_t)i, s->bytes / 2, err) != 0 ||
			settle_input(p, i, err) != 0)
			return err_context(err, "%s", cell->key);
	}
	if (p->cu)
		fill_offsets(p);
	if (p->bits)
		fill_bits(p, cell->attention.seed);
	if (upload_masks(p, err) != 0)
		return err_context(err, "%s", cell->key);
	p->host_tensor[FW_CU_Q] = p->tensor[FW_CU_Q];
	p->host_tensor[FW_CU_K] = p->tensor[FW_CU_K];
	p->host_tensor[FW_BLOCK_BITS] = p->tensor[FW_BLOCK_BITS];
	p->host_tensor[FW_CU_Q].data = p->host_tensor[FW_CU_K].data = p->cu;
	p->host_tensor[FW_BLOCK_BITS].data = p->bits;
	name_inputs(p);
	return 0;
}

void problem_close(struct problem *p)
{
	for (int i = 0; p->ops && i < FW_ATTENTION_SLOTS; i++) {
		p->ops->release(p->dev, p->slot[i].data);
		p->ops->release(p->dev, p->slot[i].master);
		p->ops->release(p->dev, p->slot[i].second);
	}
	free(p->cu);
	free(p->bits);
	memset(p, 0, sizeof *p);
}

bool problem_has_second_mask(const struct problem *p)
{
	const struct attention_case *a = &p->cell.attention;
	if (p->bits)
		return case_kept_blocks(a) < case_key_blocks(a);
	for (int i = 0; i < a->n_seqs; i++)
		if (a->length[i] != a->length[a->n_seqs - 1 - i])
			return true;
	return false;
}

int problem_second_mask(struct problem *p, struct fw_err *err)
{
	struct attention_case *a = &p->cell.attention;
	const uint64_t first = p->named.sum[FW_BLOCK_BITS];
	/* what a pattern draws may come out alike under two seeds */
	for (uint64_t i = 0; p->bits && i < SECOND_MASK_TRIES && p->named.sum[FW_BLOCK_BITS] == first; i++) {
		fill_bits(p, a->seed ^ (SECOND_MASK_SEED + i));
		if (upload_masks(p, err) != 0)
			return -1;
	}
	if (p->bits)
		return 0;
	if (p->cu) {
		for (int i = 0; i < a->n_seqs / 2; i++) {
			int32_t other = a->length[a->n_seqs - 1 - i];
			a->length[a->n_seqs - 1 - i] = a->length[i];
			a->length[i] = other;
		}
		memcpy(p->forward_cell.attention.length, a->length, sizeof a->length);
		fill_offsets(p);
	}
	return upload_masks(p, err);
}

int64_t problem_kept_blocks(const struct problem *p, int64_t *blocks)
{
	const struct attention_case *a = &p->cell.attention;
	int64_t kept = 0;
	*blocks = p->bits ? (int64_t)a->nhk * (a->seqlen / a->block) * case_key_blocks(a) : 0;
	for (size_t i = 0; i < p->bits_bytes / sizeof *p->bits; i++)
		kept += __builtin_popcount(p->bits[i]);
	return kept;
}

int64_t problem_tensor_bytes(const struct problem *p)
{
	int64_t bytes = 0;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++)
		bytes += p->slot[i].use != PROBLEM_UNUSED ? (int64_t)p->slot[i].bytes : 0;
	return bytes;
}

int problem_restore(struct problem *p, struct fw_err *err)
{
	return arrange_inputs(p, &p->named, err);
}

int problem_poison(struct problem *p, int value, struct fw_err *err)
{
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		struct problem_slot *s = &p->slot[i];
		if (s->use == PROBLEM_OUTPUT && p->ops->fill_bytes(p->dev, s->data, value, s->bytes, err) != 0)
			return -1;
	}
	return 0;
}

int problem_take_forward(struct problem *p, bool second, struct fw_err *err)
{
	const int slots[] = { FW_O, FW_LSE };
	struct arrangement *of = second ? &p->second : &p->named;
	for (int k = 0; k < 2; k++) {
		struct problem_slot *s = &p->slot[slots[k]];
		void *to = second ? s->second : s->master;
		if (p->ops->copy(p->dev, to, s->data, s->bytes, err) != 0 ||
			p->ops->checksum(p->dev, to, s->bytes, &of->sum[slots[k]], err) != 0)
			return -1;
		p->now.sum[slots[k]] = of->sum[slots[k]];
	}
	return 0;
}

int problem_modified(struct problem *p, const char **name, struct fw_err *err)
{
	*name = NULL;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		struct problem_slot *s = &p->slot[i];
		uint64_t sum;
		if (s->use != PROBLEM_INPUT)
			continue;
		if (p->ops->checksum(p->dev, s->data, s->bytes, &sum, err) != 0)
			return -1;
		if (sum != p->now.sum[i]) {
			*name = problem_name(p, s->data);
			return 0;
		}
	}
	return 0;
}

int problem_outputs_sum(struct problem *p, uint64_t *sum, struct fw_err *err)
{
	*sum = 0;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		uint64_t one;
		if (p->slot[i].use != PROBLEM_OUTPUT)
			continue;
		if (p->ops->checksum(p->dev, p->slot[i].data, p->slot[i].bytes, &one, err) != 0)
			return -1;
		*sum = inputs_mix(*sum + one);
	}
	return 0;
}

const char *problem_name(const struct problem *p, const void *data)
{
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		const struct problem_slot *s = &p->slot[i];
		if (!data || (s->data != data && s->master != data))
			continue;
		switch (i) {
		case FW_CU_Q:
		case FW_CU_K:
			return "sequence offsets";
		case FW_BLOCK_BITS:
			return "block bits";
		default:
			return reference_slot_name(i);
		}
	}
	return NULL;
}

static int read_elements(void *arg, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	const struct problem *p = arg;
	size_t width = slot == FW_LSE ? 4 : 2;
	const unsigned char *from = p->slot[slot].data;
	if (!from)
		return err_set(err, ERR_INTERNAL, "the reference asks for a tensor that %s does not have", p->cell.key);
	return p->ops->download(p->dev, out, from + (size_t)first * width, n * width, err);
}

void problem_reference_io(const struct problem *p, enum direction direction, struct reference_io *io)
{
	*io = (struct reference_io){
		.cell = direction == p->cell.direction ? &p->cell : &p->forward_cell,
		.cu = p->cu,
		.block_bits = p->bits,
		.read = read_elements,
		.arg = (void *)(uintptr_t)p,
	};
	bool on_host = p->ops->abi_device == FW_CPU;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++) {
		if (on_host)
			io->host[i] = p->slot[i].data;
		else
			io->on_device[i] = p->slot[i].data;
	}
}

const struct reference_ops *problem_reference_ops(const struct problem *p)
{
#ifdef FW_HAVE_CUDA
	if (p->ops->abi_device == FW_CUDA)
		return &reference_cuda;
#endif
	(void)p;
	return &reference_cpu;
}
