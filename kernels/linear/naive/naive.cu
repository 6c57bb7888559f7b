/**
 * naive.cu - provider "naive": every direction, shape and recipe on the CUDA cores, from compute capability 8.0 on.
 *
 * The reference for other providers where the CPU is too slow, and the fallback where no other provider can run.
 */
#include "linear/naive/naive.h"
#include "linear/providers.h"

#include <stdlib.h>

struct fw_plan {
	struct product product;
	struct sides sides;
	bool is_bound;
	char error[CONTRACT_TEXT_BYTES];
};

static const char config_text[] = "TILE=32x32";

static int naive_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct product product;
	return product_make(problem, &product, why, why_size);
}

static int naive_plan(const struct fw_problem *problem, const char *config, int, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	struct product product;
	const int status = product_make(problem, &product, why, why_size);
	if (status != FW_OK)
		return status;
	if (config && strcmp(config, config_text) != 0)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "the only configuration is %s", config_text);
	struct fw_plan *p = (struct fw_plan *)calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	p->product = product;
	uintptr_t workspace = 0, persist = 0;
	sides_lay_out(&p->product, &p->sides, &workspace, &persist);
	struct fw_info answer;
	memset(&answer, 0, sizeof answer);
	answer.struct_size = contract_answer_bytes(info->struct_size, sizeof answer);
	answer.phases = sides_phases(&product);
	answer.once = answer.phases & FW_LINEAR_QUANTISE_WEIGHT;
	answer.workspace_bytes = workspace;
	answer.persist_bytes = persist;
	answer.config = config_text;
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int naive_bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	p->is_bound = false;
	p->error[0] = '\0';
	const int status = sides_bind(&p->product, io, &p->sides, p->error);
	if (status != FW_OK)
		return status;
	uintptr_t workspace = 0, persist = 0;
	sides_lay_out(&p->product, &p->sides, &workspace, &persist);
	if ((workspace && !io->workspace) || (persist && !io->persist))
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "bind: workspace or persist is missing");
	workspace = (uintptr_t)io->workspace;
	persist = (uintptr_t)io->persist;
	sides_lay_out(&p->product, &p->sides, &workspace, &persist);
	p->is_bound = true;
	return FW_OK;
}

static cudaError_t put(const struct fw_plan *p, uint32_t phases, cudaStream_t stream)
{
	const struct product *product = &p->product;
	const struct operand *left = &product->left, *right = &product->right;
	const struct sides *s = &p->sides;
	const struct contract_matrix x = sides_left(product, s);
	cudaError_t e = cudaSuccess;
	if ((phases & sides_right_phase(product)) && s->rounded_right.copy)
		e = naive_quantise(right, &s->right, s->rounded_right.copy, s->rounded_right.factor, stream);
	if (e == cudaSuccess && (phases & FW_LINEAR_NORMALISE) && s->normalised)
		e = naive_normalise(&s->left, product->shape.m, product->shape.k, s->normalised, stream);
	if (e == cudaSuccess && (phases & FW_LINEAR_QUANTISE_ACTIVATION) && s->rounded_left.copy)
		e = naive_quantise(left, &x, s->rounded_left.copy, s->rounded_left.factor, stream);
	if (e == cudaSuccess && (phases & FW_LINEAR_RUN)) {
		const struct side a = sides_side(left, &s->rounded_left, x), b = sides_side(right, &s->rounded_right, s->right);
		const struct naive_result result = { (uint16_t *)s->out.data, s->out.stride, (const uint16_t *)s->bias.data,
			product->shape.activation };
		e = naive_product(&a, &b, left->depth, &result, stream);
	}
	return e;
}

static int naive_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p)
		return FW_INVALID;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	const cudaError_t e = put(p, phases, (cudaStream_t)stream);
	return e == cudaSuccess ? FW_OK : contract_refuse(FW_FAILED, p->error, sizeof p->error, "%s", cudaGetErrorString(e));
}

static const char *naive_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void naive_destroy(struct fw_plan *p)
{
	free(p);
}

extern "C" const struct fw_provider linear_naive = { sizeof linear_naive, FW_CUDA, FW_LINEAR, 0, "naive", naive_can, naive_plan,
	naive_bind, naive_enqueue, NULL, naive_error, naive_destroy };
