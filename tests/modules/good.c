/*
 * A simple correct attention on the CPU, so that tests of worker and runner do not depend on the kernels they measure.
 *
 * Every element is computed by plain loops over the keys (or queries) that it attends to. The other modules here include this
 * file and replace one of the hooks below, so that each misbehaves in exactly one way. WORK_FACTOR scales the claimed work:
 * device `sim` derives its times from it. With YARDSTICK_FACTOR there is a second provider, to be a peer.
 */
#ifndef ATTENTION_OF /* a module of ABI 1 has its own header */
#include "kernels/fw_attention.h"
#define ATTENTION_OF(problem) fw_attention_of(problem)
#endif

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef WORK_FACTOR
#define WORK_FACTOR 1.0
#endif
#ifndef CONFIG /* reported as the plan's configuration; device `sim` reads the SIM_... tokens in it */
#define CONFIG "NAIVE=1"
#endif
#ifndef CHOOSE /* the configuration that plan chooses, given the requested one; NULL refuses */
#define CHOOSE(config) CONFIG
#endif
#ifndef TELL /* what plan adds to its answer */
#define TELL(info, config) ((void)0)
#endif
#ifndef NAME
#define NAME "naive"
#endif
#ifndef FLAGS /* of the provider */
#define FLAGS 0
#endif
#ifndef CANNOT /* a condition on `problem`, which it then does not support */
#define CANNOT 0
#endif
#ifndef MODULE_ABI
#define MODULE_ABI FW_ABI
#endif
#ifndef SERVES /* whether fw_entry accepts this ABI of its host */
#define SERVES(host_abi) ((host_abi) > 0)
#endif
#ifndef ON_PLAN /* at the start of plan */
#define ON_PLAN() ((void)0)
#endif
#ifndef ON_BIND /* at the end of bind; p is the plan */
#define ON_BIND(p) ((void)0)
#endif
#ifndef BEFORE_ENQUEUE
#define BEFORE_ENQUEUE(p) ((void)0)
#endif
#ifndef AFTER_ENQUEUE
#define AFTER_ENQUEUE(p) ((void)0)
#endif

#ifndef PERSIST_BYTES
#define PERSIST_BYTES 0
#endif
#ifndef COMPUTE /* the work of enqueue */
#define COMPUTE(p, phases) run(p, phases)
#endif

enum { HEADDIM_MAX = 256, SPARE_BYTES = 256 };

struct fw_plan {
	struct fw_attention a;
	int direction;
	struct fw_tensor slot[FW_ATTENTION_SLOTS];
	float *delta;         /* workspace: rowsum(dO * O), laid out as LSE */
	unsigned char *spare; /* workspace: SPARE_BYTES more, for modules that abuse it */
	void *persist;        /* PERSIST_BYTES preserved between calls */
	uint32_t phases;      /* of the current enqueue */
	int calls;            /* number of enqueues so far */
};

static float from_bf16(uint16_t bits)
{
	union {
		uint32_t u;
		float f;
	} v = { .u = (uint32_t)bits << 16 };
	return v.f;
}

static uint16_t to_bf16(float value)
{
	union {
		float f;
		uint32_t u;
	} v = { .f = value };
	if (value != value)
		return 0x7fc0;
	return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

static uint16_t *at(const struct fw_tensor *t, int token, int head)
{
	return (uint16_t *)t->data + token * t->stride[0] + head * t->stride[1];
}

static float lse_of(const struct fw_plan *p, int head, int row)
{
	return ((const float *)p->slot[FW_LSE].data)[(int64_t)head * p->a.total_q + row];
}

/* The sequence of a token: its bounds among queries and keys. */
struct sequence {
	int q0, q1, k0, k1;
};

static struct sequence sequence_of(const struct fw_attention *a, const int32_t *cu_q, const int32_t *cu_k, int token, bool is_key)
{
	struct sequence s = { 0, a->total_q, 0, a->total_k };
	if (a->n_seqs == 1 || !cu_q || !cu_k)
		return s;
	const int32_t *cu = is_key ? cu_k : cu_q;
	int i = 0;
	while (i + 1 < a->n_seqs && token >= cu[i + 1])
		i++;
	return (struct sequence){ cu_q[i], cu_q[i + 1], cu_k[i], cu_k[i + 1] };
}

/* Whether both are in the same sequence. */
static bool sees(const struct fw_attention *a, const uint32_t *bits, const struct sequence *s, int kv_head, int row, int key)
{
	if (a->mask == FW_CAUSAL)
		return key - s->k0 <= row - s->q0 + (s->k1 - s->k0) - (s->q1 - s->q0);
	if (a->mask != FW_BLOCKS)
		return true;
	int64_t q_blocks = (a->total_q + a->block_q - 1) / a->block_q;
	int64_t words = ((a->total_k + a->block_k - 1) / a->block_k + 31) / 32;
	int block = key / a->block_k;
	return bits[(kv_head * q_blocks + row / a->block_q) * words + block / 32] >> (block % 32) & 1u;
}

static bool plan_sees(const struct fw_plan *p, const struct sequence *s, int kv_head, int row, int key)
{
	return sees(&p->a, p->slot[FW_BLOCK_BITS].data, s, kv_head, row, key);
}

static struct sequence plan_sequence(const struct fw_plan *p, int token, bool is_key)
{
	return sequence_of(&p->a, p->slot[FW_CU_Q].data, p->slot[FW_CU_K].data, token, is_key);
}

static float dot(const uint16_t *x, const uint16_t *y, int n)
{
	enum { LANES = 8 }; /* which a compiler vectorizes */
	float part[LANES] = { 0 }, sum = 0;
	int i = 0;
	for (; i + LANES <= n; i += LANES)
		for (int l = 0; l < LANES; l++)
			part[l] += from_bf16(x[i + l]) * from_bf16(y[i + l]);
	for (; i < n; i++)
		sum += from_bf16(x[i]) * from_bf16(y[i]);
	for (int l = 0; l < LANES; l++)
		sum += part[l];
	return sum;
}

static void forward_row(struct fw_plan *p, int head, int row)
{
	const struct fw_attention *a = &p->a;
	int kv_head = head / (a->nhq / a->nhk), d = a->headdim;
	struct sequence s = plan_sequence(p, row, false);
	const uint16_t *q = at(&p->slot[FW_Q], row, head);
	float scale = (float)a->scale, top = -INFINITY, sum = 0, o[HEADDIM_MAX] = { 0 };

	for (int key = s.k0; key < s.k1; key++)
		if (plan_sees(p, &s, kv_head, row, key))
			top = fmaxf(top, scale * dot(q, at(&p->slot[FW_K], key, kv_head), d));
	for (int key = s.k0; key < s.k1; key++) {
		if (!plan_sees(p, &s, kv_head, row, key))
			continue;
		float weight = expf(scale * dot(q, at(&p->slot[FW_K], key, kv_head), d) - top);
		const uint16_t *v = at(&p->slot[FW_V], key, kv_head);
		sum += weight;
		for (int i = 0; i < d; i++)
			o[i] += weight * from_bf16(v[i]);
	}
	uint16_t *out = at(&p->slot[FW_O], row, head);
	for (int i = 0; i < d; i++)
		out[i] = to_bf16(sum > 0 ? o[i] / sum : 0);
	((float *)p->slot[FW_LSE].data)[(int64_t)head * a->total_q + row] = sum > 0 ? top + logf(sum) : -INFINITY;
}

/* P and dS of one (query, key) pair. */
static float gradient_of_score(const struct fw_plan *p, int head, int row, int key, float *weight)
{
	int kv_head = head / (p->a.nhq / p->a.nhk), d = p->a.headdim;
	float score = (float)p->a.scale * dot(at(&p->slot[FW_Q], row, head), at(&p->slot[FW_K], key, kv_head), d);
	*weight = expf(score - lse_of(p, head, row));
	float dp = dot(at(&p->slot[FW_DO], row, head), at(&p->slot[FW_V], key, kv_head), d);
	return *weight * (dp - p->delta[(int64_t)head * p->a.total_q + row]);
}

static void backward_row(struct fw_plan *p, int head, int row)
{
	const struct fw_attention *a = &p->a;
	int kv_head = head / (a->nhq / a->nhk), d = a->headdim;
	struct sequence s = plan_sequence(p, row, false);
	float dq[HEADDIM_MAX] = { 0 }, weight;
	for (int key = s.k0; key < s.k1; key++) {
		if (!plan_sees(p, &s, kv_head, row, key))
			continue;
		float ds = gradient_of_score(p, head, row, key, &weight);
		const uint16_t *k = at(&p->slot[FW_K], key, kv_head);
		for (int i = 0; i < d; i++)
			dq[i] += ds * from_bf16(k[i]);
	}
	for (int i = 0; i < d; i++)
		at(&p->slot[FW_DQ], row, head)[i] = to_bf16(dq[i] * (float)a->scale);
}

static void backward_key(struct fw_plan *p, int kv_head, int key)
{
	const struct fw_attention *a = &p->a;
	int group = a->nhq / a->nhk, d = a->headdim;
	struct sequence s = plan_sequence(p, key, true);
	float dk[HEADDIM_MAX] = { 0 }, dv[HEADDIM_MAX] = { 0 }, weight;
	for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
		for (int row = s.q0; row < s.q1; row++) {
			if (!plan_sees(p, &s, kv_head, row, key))
				continue;
			float ds = gradient_of_score(p, head, row, key, &weight);
			const uint16_t *q = at(&p->slot[FW_Q], row, head), *dout = at(&p->slot[FW_DO], row, head);
			for (int i = 0; i < d; i++) {
				dk[i] += ds * from_bf16(q[i]);
				dv[i] += weight * from_bf16(dout[i]);
			}
		}
	}
	for (int i = 0; i < d; i++) {
		at(&p->slot[FW_DK], key, kv_head)[i] = to_bf16(dk[i] * (float)a->scale);
		at(&p->slot[FW_DV], key, kv_head)[i] = to_bf16(dv[i]);
	}
}

static void run(struct fw_plan *p, uint32_t phases)
{
	const struct fw_attention *a = &p->a;
	if (p->direction == FW_FORWARD) {
		if (phases & FW_RUN)
			for (int head = 0; head < a->nhq; head++)
				for (int row = 0; row < a->total_q; row++)
					forward_row(p, head, row);
		return;
	}
	if (phases & FW_PREPROCESS)
		for (int head = 0; head < a->nhq; head++)
			for (int row = 0; row < a->total_q; row++)
				p->delta[(int64_t)head * a->total_q + row] =
					dot(at(&p->slot[FW_DO], row, head), at(&p->slot[FW_O], row, head), a->headdim);
	if (!(phases & FW_RUN))
		return;
	for (int head = 0; head < a->nhq; head++)
		for (int row = 0; row < a->total_q; row++)
			backward_row(p, head, row);
	for (int head = 0; head < a->nhk; head++)
		for (int key = 0; key < a->total_k; key++)
			backward_key(p, head, key);
}

static int good_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	const struct fw_attention *a = ATTENTION_OF(problem);
	const char *reason = NULL;
	if (!a)
		reason = "only attention";
	else if (problem->direction != FW_FORWARD && problem->direction != FW_BACKWARD)
		reason = "only forward and backward";
	else if (a->dtype != FW_BF16)
		reason = "only bf16";
	else if (a->headdim > HEADDIM_MAX || a->headdim != a->headdim_v)
		reason = "only equal head dimensions up to 256";
	else if (a->mask > 4) /* added after the masks of ABI 2: a window, pages */
		reason = "only masks full, causal, blocks and tokens";
	else if (CANNOT)
		reason = "not this direction";
	if (!reason)
		return FW_OK;
	if (why_size)
		snprintf(why, why_size, "%s", reason);
	return FW_UNSUPPORTED;
}

static int good_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	(void)config;
	(void)index;
	int status = good_can(problem, why, why_size);
	const char *chosen = CHOOSE(config);
	if (status != FW_OK)
		return status;
	if (!chosen) {
		if (why_size)
			snprintf(why, why_size, "there is no %s", config ? config : "configuration");
		return FW_UNSUPPORTED;
	}
	ON_PLAN();
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return FW_FAILED;
	p->a = *ATTENTION_OF(problem);
	p->direction = problem->direction;
	info->phases = FW_RUN | (p->direction == FW_BACKWARD ? FW_PREPROCESS : 0);
	info->once = 0;
	info->workspace_bytes = SPARE_BYTES + (uint64_t)p->a.nhq * (uint64_t)p->a.total_q * sizeof(float);
	info->persist_bytes = PERSIST_BYTES;
	info->config = chosen;
	TELL(info, config);
	*out = p;
	return FW_OK;
}

static int module_bind(struct fw_plan *p, const struct fw_io *io)
{
	for (uint32_t i = 0; i < io->n_slots && i < FW_ATTENTION_SLOTS; i++)
		p->slot[i] = io->slot[i];
	p->spare = io->workspace;
	p->persist = io->persist;
	p->delta = (float *)((unsigned char *)io->workspace + SPARE_BYTES);
	ON_BIND(p);
	return FW_OK;
}

static int module_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	p->phases = phases;
	BEFORE_ENQUEUE(p);
	COMPUTE(p, phases);
	AFTER_ENQUEUE(p);
	p->calls++;
	return FW_OK;
}

static int good_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *out)
{
	(void)config;
	const struct fw_attention *a = ATTENTION_OF(problem);
	const int32_t *cu_q = host->slot[FW_CU_Q].data, *cu_k = host->slot[FW_CU_K].data;
	const uint32_t *bits = host->slot[FW_BLOCK_BITS].data;
	double pairs = 0;
	int64_t blocks = 0;

	if (a->mask == FW_BLOCKS) {
		int q_blocks = (a->total_q + a->block_q - 1) / a->block_q, k_blocks = (a->total_k + a->block_k - 1) / a->block_k;
		struct sequence all = { 0, a->total_q, 0, a->total_k };
		for (int head = 0; head < a->nhk; head++)
			for (int i = 0; i < q_blocks; i++)
				for (int j = 0; j < k_blocks; j++)
					if (sees(a, bits, &all, head, i * a->block_q, j * a->block_k)) {
						int rows = a->total_q - i * a->block_q, keys = a->total_k - j * a->block_k;
						pairs += (double)(rows < a->block_q ? rows : a->block_q) *
							 (keys < a->block_k ? keys : a->block_k) * (a->nhq / a->nhk);
						blocks++;
					}
	} else {
		for (int row = 0; row < a->total_q; row++) {
			struct sequence s = sequence_of(a, cu_q, cu_k, row, false);
			int seen = s.k1 - s.k0;
			if (a->mask == FW_CAUSAL) {
				int limit = row - s.q0 + 1 + seen - (s.q1 - s.q0);
				seen = limit < 0 ? 0 : limit < seen ? limit : seen;
			}
			pairs += (double)seen * a->nhq;
		}
	}
	out->flops_issued = 4 * pairs * a->headdim * (problem->direction == FW_BACKWARD ? 2.5 : 1) * WORK_FACTOR;
	out->bytes_moved = -1;
	out->tiles_total = out->tiles_skipped = out->tiles_partial = 0;
	out->blocks_kept = blocks;
	return FW_OK;
}

static const char *module_error(const struct fw_plan *p)
{
	(void)p;
	return "";
}

static void module_destroy(struct fw_plan *p)
{
	free(p);
}

static const struct fw_provider provider = {
	.struct_size = sizeof provider,
	.device = FW_CPU,
	.family = FW_ATTENTION,
	.flags = FLAGS,
	.name = NAME,
	.can = good_can,
	.plan = good_plan,
	.bind = module_bind,
	.enqueue = module_enqueue,
	.count = good_count,
	.error = module_error,
	.destroy = module_destroy,
};

#ifdef YARDSTICK_FACTOR /* a second provider with its own speed, without a causal backward */
static int yardstick_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	int status = good_can(problem, why, why_size);
	if (status != FW_OK || problem->direction != FW_BACKWARD || ATTENTION_OF(problem)->mask != FW_CAUSAL)
		return status;
	if (why_size)
		snprintf(why, why_size, "no causal backward");
	return FW_UNSUPPORTED;
}

static int yardstick_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *out)
{
	int status = good_count(problem, config, host, out);
	out->flops_issued *= YARDSTICK_FACTOR / (WORK_FACTOR);
	return status;
}

static const struct fw_provider yardstick = {
	.struct_size = sizeof yardstick,
	.device = FW_CPU,
	.family = FW_ATTENTION,
	.flags = 0,
	.name = "yardstick",
	.can = yardstick_can,
	.plan = good_plan,
	.bind = module_bind,
	.enqueue = module_enqueue,
	.count = yardstick_count,
	.error = module_error,
	.destroy = module_destroy,
};
static const struct fw_provider *const providers[] = { &provider, &yardstick };
#else
static const struct fw_provider *const providers[] = { &provider };
#endif
static const struct fw_module module = {
	.abi = MODULE_ABI,
	.struct_size = sizeof module,
	.n_providers = sizeof providers / sizeof providers[0],
	.build = "naive loops for tests",
	.provider = providers,
};

#ifndef NO_ENTRY
FW_EXPORT const struct fw_module *fw_entry(uint32_t host_abi)
{
	return SERVES(host_abi) ? &module : NULL;
}
#else
FW_EXPORT const struct fw_module *entry_of_another_name(void)
{
	return &module;
}
#endif
