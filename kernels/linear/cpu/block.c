/*
 * Provider "cpu.block": transformer blocks computed with the products of "cpu", with the passes between them in fp32. Gradients are
 * in block_gradient.c.
 */
#include "linear/block/block.h"
#include "linear/cpu/block_gradient.h"
#include "linear/providers.h"
#include "linear/rounding.h"

#include <stdlib.h>

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS };

static const char *rms(const struct contract_matrix *x, int32_t rows, int32_t k, float scale, uint16_t *to, void *stream)
{
	(void)stream;
#pragma omp parallel for schedule(static)
	for (int32_t row = 0; row < rows; row++) {
		const uint16_t *const from = (const uint16_t *)x->data + row * x->stride;
		float squares = 0;
		for (int32_t i = 0; i < k; i++)
			squares += rounding_widen(from[i]) * rounding_widen(from[i]);
		const float factor = 1.0f / sqrtf(squares / (float)k + 1e-5f);
		for (int32_t i = 0; i < k; i++)
			to[(int64_t)row * k + i] = rounding_bf16(scale * (rounding_widen(from[i]) * factor));
	}
	return NULL;
}

/* One query of a head: its row of Q, and the K of the first token of its sequence; V is k values after K. */
static void attend_one(const uint16_t *q, const uint16_t *first, int32_t k, float scale, uint16_t *to)
{
	const int32_t width = k / HEADS;
	const float shrink = 1.0f / sqrtf((float)width);
	float score[TOKENS], most = -INFINITY, sum = 0;
	for (int u = 0; u < TOKENS; u++) {
		score[u] = 0;
		for (int32_t i = 0; i < width; i++)
			score[u] += rounding_widen(q[i]) * rounding_widen(first[(int64_t)u * 3 * k + i]);
		score[u] *= shrink;
		most = fmaxf(most, score[u]);
	}
	for (int u = 0; u < TOKENS; u++) {
		score[u] = expf(score[u] - most);
		sum += score[u];
	}
	for (int32_t i = 0; i < width; i++) {
		float v = 0;
		for (int u = 0; u < TOKENS; u++)
			v += score[u] * rounding_widen(first[(int64_t)u * 3 * k + k + i]);
		to[i] = rounding_bf16(scale * (v / sum));
	}
}

static const char *attend(const uint16_t *qkv, int32_t sequences, int32_t k, float scale, uint16_t *to, void *stream)
{
	(void)stream;
#pragma omp parallel for schedule(static)
	for (int32_t sequence = 0; sequence < sequences; sequence++)
		for (int token = 0; token < TOKENS; token++)
			for (int head = 0; head < HEADS; head++) {
				const int64_t row = (int64_t)sequence * TOKENS;
				const int32_t at = head * (k / HEADS);
				attend_one(qkv + (row + token) * 3 * k + at, qkv + row * 3 * k + k + at, k, scale,
					to + (row + token) * k + at);
			}
	return NULL;
}

static const char *add(const struct contract_matrix *x, const uint16_t *branch, int32_t rows, int32_t k, float scale,
	const struct contract_matrix *to, void *stream)
{
	(void)stream;
#pragma omp parallel for schedule(static)
	for (int32_t row = 0; row < rows; row++)
		for (int32_t i = 0; i < k; i++)
			((uint16_t *)to->data)[row * to->stride + i] =
				rounding_bf16(rounding_widen(((const uint16_t *)x->data)[row * x->stride + i]) +
					      scale * rounding_widen(branch[(int64_t)row * k + i]));
	return NULL;
}

static const struct block_passes passes = { rms, attend, add };
static const struct fw_provider *const by[] = { &linear_cpu, NULL };
static const struct block_kind kind = { &passes, by };

/* One of the two, by the direction. */
struct fw_plan {
	struct fw_plan *forward;
	struct block_gradient *gradient;
};

static bool is_gradient(const struct fw_problem *problem)
{
	return problem && problem->direction != FW_FORWARD;
}

static int can(const struct fw_problem *problem, char *why, size_t why_size)
{
	if (is_gradient(problem))
		return block_gradient_can(problem, why, why_size);
	return block_can(&kind, problem, why, why_size);
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	const int status = is_gradient(problem) ? block_gradient_plan(problem, config, index, &p->gradient, info, why, why_size)
						: block_plan(&kind, problem, config, index, &p->forward, info, why, why_size);
	if (status == FW_OK)
		*out = p;
	else
		free(p);
	return status;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	if (!p)
		return FW_INVALID;
	return p->gradient ? block_gradient_bind(p->gradient, io) : block_bind(p->forward, io);
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	if (!p)
		return FW_INVALID;
	return p->gradient ? block_gradient_enqueue(p->gradient, phases, stream) : block_enqueue(p->forward, phases, stream);
}

static int count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	return is_gradient(problem) ? block_gradient_count(problem, work) : block_count(problem, config, host, work);
}

static const char *error(const struct fw_plan *p)
{
	if (!p)
		return "";
	return p->gradient ? block_gradient_error(p->gradient) : block_error(p->forward);
}

static void destroy(struct fw_plan *p)
{
	if (!p)
		return;
	block_gradient_destroy(p->gradient);
	if (p->forward)
		block_destroy(p->forward);
	free(p);
}

const struct fw_provider linear_cpu_block = {
	.struct_size = sizeof linear_cpu_block,
	.device = FW_CPU,
	.family = FW_LINEAR,
	.flags = 0,
	.name = "cpu.block",
	.can = can,
	.plan = plan,
	.bind = bind,
	.enqueue = enqueue,
	.count = count,
	.error = error,
	.destroy = destroy,
};
