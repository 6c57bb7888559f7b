/* attention.c - dense attention, forward, on one core: the least that a module of flopwatch is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw_attention.h"

struct fw_plan {
	struct fw_attention a;
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
};

static float wide(uint16_t bits)
{
	uint32_t u = (uint32_t)bits << 16;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

static uint16_t narrow(float f) /* to bf16, to the nearest even */
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	return (uint16_t)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

static uint16_t *row(const struct fw_tensor *t, int token, int head)
{
	return (uint16_t *)t->data + token * t->stride[0] + head * t->stride[1];
}

static void one_query(const struct fw_plan *p, int head, int query)
{
	const struct fw_attention *a = &p->a;
	const int group = a->nhq / a->nhk, d = a->headdim, n = a->mask == FW_CAUSAL ? query + 1 : a->total_k;
	const uint16_t *q = row(&p->slot[FW_Q], query, head);
	float o[256] = { 0 }, sum = 0, top = -INFINITY;
	for (int key = 0; key < n; key++) {
		const uint16_t *k = row(&p->slot[FW_K], key, head / group), *v = row(&p->slot[FW_V], key, head / group);
		float s = 0;
		for (int i = 0; i < d; i++)
			s += wide(q[i]) * wide(k[i]);
		s *= (float)a->scale;
		float higher = fmaxf(top, s), shrink = expf(top - higher), weight = expf(s - higher);
		for (int i = 0; i < d; i++)
			o[i] = o[i] * shrink + weight * wide(v[i]);
		sum = sum * shrink + weight;
		top = higher;
	}
	for (int i = 0; i < d; i++)
		row(&p->slot[FW_O], query, head)[i] = narrow(o[i] / sum);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + query] = top + logf(sum);
}

static int can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const struct fw_attention *a = fw_attention_of(problem);
	if (problem->family == FW_ATTENTION && problem->direction == FW_FORWARD && a->dtype == FW_BF16 && a->n_seqs == 1 &&
		(a->mask == FW_FULL || a->mask == FW_CAUSAL) && a->headdim <= 256 && a->headdim == a->headdim_v)
		return FW_OK;
	snprintf(why, why_size, "only dense bf16 attention of one sequence, forward");
	return FW_UNSUPPORTED;
}

static int plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	(void)config, (void)index;
	if (can(problem, why, why_size) != FW_OK)
		return FW_UNSUPPORTED;
	if (!(*out = calloc(1, sizeof **out)))
		return FW_FAILED;
	(*out)->a = *fw_attention_of(problem);
	info->phases = FW_RUN;
	info->config = "PLAIN=1";
	return FW_OK;
}

static int bind(struct fw_plan *p, const struct fw_io *io)
{
	for (uint32_t i = 0; i < io->n_slots && i < FW_ATTENTION_SLOTS; i++)
		p->slot[i] = io->slot[i];
	return FW_OK;
}

static int enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)phases, (void)stream;
	for (int head = 0; head < p->a.nhq; head++)
		for (int query = 0; query < p->a.total_q; query++)
			one_query(p, head, query);
	return FW_OK;
}

static int count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *out)
{
	const struct fw_attention *a = fw_attention_of(problem);
	double pairs = a->mask == FW_CAUSAL ? a->total_q * (a->total_q + 1.0) / 2 : (double)a->total_q * a->total_k;
	(void)config, (void)host;
	out->flops_issued = 4 * pairs * a->nhq * a->headdim;
	out->bytes_moved = -1;
	return FW_OK;
}

static const char *error(const struct fw_plan *p)
{
	(void)p;
	return "";
}

static void destroy(struct fw_plan *p)
{
	free(p);
}

static const struct fw_provider provider = { .struct_size = sizeof provider,
	.device = FW_CPU,
	.family = FW_ATTENTION,
	.name = "plain",
	.can = can,
	.plan = plan,
	.bind = bind,
	.enqueue = enqueue,
	.count = count,
	.error = error,
	.destroy = destroy };
static const struct fw_provider *const providers[] = { &provider };
static const struct fw_module module = {
	.abi = FW_ABI, .struct_size = sizeof module, .n_providers = 1, .build = "plain loops", .provider = providers
};

FW_EXPORT const struct fw_module *fw_entry(uint32_t host_abi)
{
	return host_abi == FW_ABI ? &module : NULL;
}
