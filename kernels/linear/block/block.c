/* block.c - plans of four products, their memory, and the order of products and passes. */
#include "linear/block/block.h"

#include <stdlib.h>

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS, WIDENS = FW_LINEAR_BLOCK_WIDENS };
enum { QKV, PROJECT, UP, DOWN, PRODUCTS };

/* One of the products; its weight starts `weight_at` values after W. */
struct part {
	struct fw_linear_shape shape;
	const struct fw_provider *by;
	struct fw_plan *plan;
	struct fw_info info;
	int64_t weight_at, persist_at;
	float scale;
};

struct fw_plan {
	const struct block_kind *kind;
	int32_t sequences, tokens, k;
	struct part part[PRODUCTS];
	int64_t narrow_at, branch_at, h_at, wide_at, scratch_at, workspace_bytes, persist_bytes;
	struct contract_matrix x, y, h;
	uint16_t *narrow, *branch, *wide;
	uint32_t phases;
	bool is_bound;
	char config[128];
	char error[CONTRACT_TEXT_BYTES];
};

int block_check(const struct fw_problem *problem, struct fw_linear_shape *s, char *why, size_t why_size)
{
	const int64_t elements_max = 0x7fffffff;
	if (!problem || problem->family != FW_LINEAR)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only linear");
	*s = contract_linear(problem);
	if (s->prologue != FW_LINEAR_BLOCK)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "only transformer blocks");
	if (problem->direction != FW_FORWARD && problem->direction != FW_DGRAD && problem->direction != FW_WGRAD)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "a transformer block has only forward, dgrad, wgrad and total");
	if (s->activation || s->bias)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "a transformer block has no bias, and an activation of its own");
	if (s->m < 1 || s->k < HEADS || s->n != s->k || s->k % HEADS)
		return contract_refuse(FW_UNSUPPORTED, why, why_size,
			"a transformer block needs m of at least 1, k a multiple of its %d heads, and n = k", HEADS);
	if ((int64_t)s->m * TOKENS * WIDENS * s->k > elements_max || 12 * (int64_t)s->k * s->k > elements_max)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "a tensor has more than 2^31 - 1 elements");
	if (s->x.scaling == FW_LINEAR_BY_TENSOR || s->dy.scaling == FW_LINEAR_BY_TENSOR)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "in a transformer block X has no scale by tensor");
	return FW_OK;
}

float block_scale(int64_t depth)
{
	float scale = 1.0f;
	for (int64_t power = 1; power < depth; power *= 4)
		scale *= 0.5f;
	return scale;
}

static int check(const struct fw_problem *problem, struct fw_linear_shape *s, char *why, size_t why_size)
{
	const int status = block_check(problem, s, why, why_size);
	if (status == FW_OK && problem->direction != FW_FORWARD)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "only provider cpu.block computes gradients of a transformer block");
	return status;
}

static struct fw_problem problem_of(const struct fw_problem *whole, const struct fw_linear_shape *shape)
{
	struct fw_problem p = *whole;
	p.struct_size = sizeof p;
	p.shape = shape;
	p.shape_size = sizeof *shape;
	return p;
}

/* Set the shape, weight offset and scale of each product. Err: as check. */
static int divide(const struct fw_problem *problem, struct part part[PRODUCTS], char *why, size_t why_size)
{
	struct fw_linear_shape s = { .struct_size = 0 };
	const int status = check(problem, &s, why, why_size);
	if (status != FW_OK)
		return status;
	const int32_t k = s.k, rows[PRODUCTS] = { 3 * k, k, WIDENS * k, k }, depth[PRODUCTS] = { k, k, k, WIDENS * k };
	int64_t at = 0;
	for (int i = 0; i < PRODUCTS; i++) {
		struct part *a = &part[i];
		memset(a, 0, sizeof *a);
		a->shape = s;
		a->shape.struct_size = sizeof a->shape;
		a->shape.m = s.m * TOKENS;
		a->shape.n = rows[i];
		a->shape.k = depth[i];
		a->shape.prologue = FW_LINEAR_NO_PROLOGUE;
		a->shape.activation = i == UP ? FW_LINEAR_GELU : FW_LINEAR_NO_ACTIVATION;
		a->weight_at = at;
		at += (int64_t)rows[i] * depth[i];
		a->scale = block_scale(depth[i]);
	}
	return FW_OK;
}

int block_can(const struct block_kind *kind, const struct fw_problem *problem, char *why, size_t why_size)
{
	struct part part[PRODUCTS];
	int status = divide(problem, part, why, why_size);
	for (int i = 0; status == FW_OK && i < PRODUCTS; i++) {
		const struct fw_problem p = problem_of(problem, &part[i].shape);
		status = FW_UNSUPPORTED;
		for (int j = 0; kind->by[j] && status != FW_OK; j++)
			status = kind->by[j]->can(&p, why, why_size);
	}
	return status;
}

/* Plan a product with the first provider that supports it on this device. Err: as the last provider that was tried. */
static int plan_part(
	const struct block_kind *kind, const struct fw_problem *problem, struct part *a, int index, char *why, size_t why_size)
{
	const struct fw_problem p = problem_of(problem, &a->shape);
	int status = FW_UNSUPPORTED;
	for (int j = 0; kind->by[j] && status != FW_OK; j++) {
		a->info.struct_size = sizeof a->info;
		status = kind->by[j]->can(&p, why, why_size);
		if (status == FW_OK)
			status = kind->by[j]->plan(&p, NULL, index, &a->plan, &a->info, why, why_size);
		if (status == FW_OK)
			a->by = kind->by[j];
	}
	return status;
}

static int64_t place(int64_t *at, int64_t bytes)
{
	const int64_t here = *at;
	*at += contract_align(bytes);
	return here;
}

static void lay_out(struct fw_plan *p)
{
	const int64_t values = (int64_t)p->tokens * p->k * (int64_t)sizeof(uint16_t);
	int64_t scratch = 0;
	p->narrow_at = place(&p->workspace_bytes, values);
	p->branch_at = place(&p->workspace_bytes, values);
	p->h_at = place(&p->workspace_bytes, values);
	p->wide_at = place(&p->workspace_bytes, WIDENS * values);
	for (int i = 0; i < PRODUCTS; i++) {
		const struct fw_info *info = &p->part[i].info;
		p->part[i].persist_at = place(&p->persist_bytes, (int64_t)info->persist_bytes);
		if ((int64_t)info->workspace_bytes > scratch)
			scratch = (int64_t)info->workspace_bytes;
		p->phases |= info->once;
	}
	p->scratch_at = place(&p->workspace_bytes, scratch); /* shared by the products, which run one after the other */
}

int block_plan(const struct block_kind *kind, const struct fw_problem *problem, const char *config, int index,
	struct fw_plan **out, struct fw_info *info, char *why, size_t why_size)
{
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	p->kind = kind;
	p->phases = FW_LINEAR_RUN;
	int status = divide(problem, p->part, why, why_size);
	for (int i = 0; status == FW_OK && i < PRODUCTS; i++)
		status = plan_part(kind, problem, &p->part[i], index, why, why_size);
	if (status == FW_OK) {
		snprintf(p->config, sizeof p->config, "QKV=%s PROJECT=%s UP=%s DOWN=%s", p->part[QKV].by->name,
			p->part[PROJECT].by->name, p->part[UP].by->name, p->part[DOWN].by->name);
		if (config && strcmp(config, p->config) != 0)
			status = contract_refuse(FW_UNSUPPORTED, why, why_size, "the only configuration is %s", p->config);
	}
	if (status != FW_OK) {
		block_destroy(p);
		return status;
	}
	p->tokens = p->part[QKV].shape.m;
	p->sequences = p->tokens / TOKENS;
	p->k = p->part[QKV].shape.k;
	lay_out(p);
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	answer.phases = p->phases;
	answer.once = p->phases & FW_LINEAR_QUANTISE_WEIGHT;
	answer.workspace_bytes = (uint64_t)p->workspace_bytes;
	answer.persist_bytes = (uint64_t)p->persist_bytes;
	answer.config = p->config;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Bind a product: left (tokens, depth) and out (tokens, rows) are packed. */
static int bind_part(struct fw_plan *p, int i, const struct contract_matrix *w, void *left, void *out, const struct fw_io *io)
{
	struct part *a = &p->part[i];
	struct fw_tensor slot[FW_LINEAR_N_SLOTS];
	struct fw_io one;
	memset(slot, 0, sizeof slot);
	memset(&one, 0, sizeof one);
	const struct {
		int slot;
		void *data;
		int64_t columns;
	} tensors[] = { { FW_LINEAR_X, left, a->shape.k }, { FW_LINEAR_W, (uint16_t *)w->data + a->weight_at, a->shape.k },
		{ FW_LINEAR_Y, out, a->shape.n } };
	for (int t = 0; t < 3; t++) {
		struct fw_tensor *tensor = &slot[tensors[t].slot];
		tensor->data = tensors[t].data;
		tensor->stride[0] = tensors[t].columns;
		tensor->stride[1] = 1;
		tensor->dtype = FW_BF16;
	}
	one.struct_size = sizeof one;
	one.n_slots = FW_LINEAR_N_SLOTS;
	one.slot = slot;
	one.workspace = (char *)io->workspace + p->scratch_at;
	one.persist = a->info.persist_bytes ? (char *)io->persist + a->persist_at : NULL;
	const int status = a->by->bind(a->plan, &one);
	return status == FW_OK ? FW_OK
			       : contract_refuse(status, p->error, sizeof p->error, "%s: %s", a->by->name, a->by->error(a->plan));
}

int block_bind(struct fw_plan *p, const struct fw_io *io)
{
	struct contract_matrix w = { NULL, 0 };
	if (!p)
		return FW_INVALID;
	p->is_bound = false;
	p->error[0] = '\0';
	int status = contract_matrix(io, FW_LINEAR_X, "X", p->k, &p->x, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_Y, "Y", p->k, &p->y, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_W, "W", p->k, &w, p->error);
	if (status != FW_OK)
		return status;
	if (w.stride != p->k)
		return contract_refuse(
			FW_UNSUPPORTED, p->error, sizeof p->error, "bind: W of a transformer block must be packed");
	if (!io->workspace || (p->persist_bytes && !io->persist))
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "bind: workspace or persist is missing");
	char *const workspace = (char *)io->workspace;
	p->narrow = (uint16_t *)(workspace + p->narrow_at);
	p->branch = (uint16_t *)(workspace + p->branch_at);
	p->wide = (uint16_t *)(workspace + p->wide_at);
	p->h.data = workspace + p->h_at;
	p->h.stride = p->k;
	uint16_t *const left[PRODUCTS] = { p->narrow, p->narrow, p->narrow, p->wide };
	uint16_t *const right[PRODUCTS] = { p->wide, p->branch, p->wide, p->branch };
	for (int i = 0; status == FW_OK && i < PRODUCTS; i++)
		status = bind_part(p, i, &w, left[i], right[i], io);
	p->is_bound = status == FW_OK;
	return status;
}

static int multiply(struct fw_plan *p, int i, uint32_t phases, void *stream)
{
	const struct part *a = &p->part[i];
	const int status = a->by->enqueue(a->plan, phases, stream);
	return status == FW_OK ? FW_OK
			       : contract_refuse(status, p->error, sizeof p->error, "%s: %s", a->by->name, a->by->error(a->plan));
}

static int passed(struct fw_plan *p, const char *wrong)
{
	return wrong ? contract_refuse(FW_FAILED, p->error, sizeof p->error, "%s", wrong) : FW_OK;
}

/* All phases except the `once` phases. */
static int run(struct fw_plan *p, void *stream)
{
	const struct block_passes *pass = p->kind->passes;
	const uint32_t phases = FW_ALL & ~(uint32_t)FW_LINEAR_QUANTISE_WEIGHT;
	int status = passed(p, pass->rms(&p->x, p->tokens, p->k, p->part[QKV].scale, p->narrow, stream));
	if (status == FW_OK)
		status = multiply(p, QKV, phases, stream);
	if (status == FW_OK)
		status = passed(p, pass->attend(p->wide, p->sequences, p->k, p->part[PROJECT].scale, p->narrow, stream));
	if (status == FW_OK)
		status = multiply(p, PROJECT, phases, stream);
	if (status == FW_OK)
		status = passed(p, pass->add(&p->x, p->branch, p->tokens, p->k, 1.0f, &p->h, stream));
	if (status == FW_OK)
		status = passed(p, pass->rms(&p->h, p->tokens, p->k, p->part[UP].scale, p->narrow, stream));
	if (status == FW_OK)
		status = multiply(p, UP, phases, stream);
	if (status == FW_OK)
		status = multiply(p, DOWN, phases, stream);
	return status == FW_OK ? passed(p, pass->add(&p->h, p->branch, p->tokens, p->k, p->part[DOWN].scale, &p->y, stream))
			       : status;
}

int block_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	int status = FW_OK;
	if (!p)
		return FW_INVALID;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	for (int i = 0; status == FW_OK && i < PRODUCTS && (phases & p->phases & FW_LINEAR_QUANTISE_WEIGHT); i++)
		status = multiply(p, i, FW_LINEAR_QUANTISE_WEIGHT, stream);
	return status == FW_OK && (phases & FW_LINEAR_RUN) ? run(p, stream) : status;
}

int block_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	(void)config;
	(void)host;
	struct fw_linear_shape s = { .struct_size = 0 };
	const int status = check(problem, &s, NULL, 0);
	if (status != FW_OK)
		return status;
	const double tokens = (double)s.m * TOKENS, k = s.k, weights = 12 * k * k;
	struct fw_work answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(work->struct_size, sizeof answer);
	answer.flops_issued = 2 * tokens * weights + 4 * TOKENS * tokens * k;
	/* per token, in rows of k: 4 2 5 5 by the products, 2 4 3 2 3 by the passes */
	answer.bytes_moved = 2 * (weights + 30 * tokens * k);
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

const char *block_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

void block_destroy(struct fw_plan *p)
{
	for (int i = 0; p && i < PRODUCTS; i++)
		if (p->part[i].by)
			p->part[i].by->destroy(p->part[i].plan);
	free(p);
}
