/*
 * Gradients of a transformer block: four products that go back to the inputs, and in wgrad four that give the matrices. Wgrad needs
 * no gradient of the first normalisation, so it leaves out the product with QKV. Names are those of fw_linear.h.
 */
#include "linear/cpu/block_gradient.h"

#include "linear/block/block.h"
#include "linear/cpu/cpu.h"
#include "linear/providers.h"
#include "linear/rounding.h"

#include <stdlib.h>

enum { TOKENS = FW_LINEAR_BLOCK_TOKENS, HEADS = FW_LINEAR_BLOCK_HEADS, WIDENS = FW_LINEAR_BLOCK_WIDENS };
enum { QKV, PROJECT, UP, DOWN, MATRICES };
enum { TO_INPUT, TO_WEIGHT, ENDS };                           /* a product of dgrad, one of wgrad */
enum { STORES = FW_LINEAR_BLOCK_STORES, AT_H = 3, AT_Z = 4 }; /* a row of S, in units of k */

/* A product of provider "cpu"; plan is NULL if the direction does not need it. */
struct part {
	struct fw_plan *plan;
	struct fw_info info;
	int64_t persist_at;
};

struct block_gradient {
	int32_t sequences, tokens, k;
	bool is_wgrad;
	int64_t rows[MATRICES], depth[MATRICES], weight_at[MATRICES]; /* of a matrix */
	float scale[MATRICES];
	struct part part[MATRICES][ENDS];
	/* in the workspace, packed; wide 4 k columns, branch k, dz 4 k, dh k, da 3 k, input 4 k */
	int64_t wide_at, branch_at, dz_at, dh_at, da_at, input_at, scratch_at, workspace_bytes, persist_bytes;
	uint16_t *wide, *branch, *dz, *dh, *da, *input;
	struct contract_matrix x, dy, s, out;
	uint32_t phases;
	bool is_bound;
	char config[32];
	char error[CONTRACT_TEXT_BYTES];
};

/* ---- passes between the products ---- */

static float at(const struct contract_matrix *m, int64_t row, int64_t column)
{
	return rounding_widen(((const uint16_t *)m->data)[row * m->stride + column]);
}

/* Part of S as a matrix, from column `first` on. */
static struct contract_matrix stored(const struct block_gradient *p, int64_t first)
{
	const struct contract_matrix m = { (uint16_t *)p->s.data + first * p->k, p->s.stride };
	return m;
}

static float rms_factor(const struct contract_matrix *v, int64_t row, int32_t k)
{
	float squares = 0;
	for (int32_t i = 0; i < k; i++)
		squares += at(v, row, i) * at(v, row, i);
	return 1.0f / sqrtf(squares / (float)k + 1e-5f);
}

/* input = scale rms(v). Shape: (tokens, k). */
static void rms(const struct block_gradient *p, const struct contract_matrix *v, float scale)
{
#pragma omp parallel for schedule(static)
	for (int32_t row = 0; row < p->tokens; row++) {
		const float factor = rms_factor(v, row, p->k);
		for (int32_t i = 0; i < p->k; i++)
			p->input[(int64_t)row * p->k + i] = rounding_bf16(scale * (at(v, row, i) * factor));
	}
}

/* to = add + rms'(v, scale branch). Shape: (tokens, k). */
static void rms_backward(const struct block_gradient *p, const struct contract_matrix *v, const struct contract_matrix *add,
	float scale, const struct contract_matrix *to)
{
#pragma omp parallel for schedule(static)
	for (int32_t row = 0; row < p->tokens; row++) {
		const uint16_t *const d = p->branch + (int64_t)row * p->k;
		const float factor = rms_factor(v, row, p->k);
		double along = 0;
		for (int32_t i = 0; i < p->k; i++)
			along += (double)(scale * rounding_widen(d[i])) * (double)(at(v, row, i) * factor) / p->k;
		for (int32_t i = 0; i < p->k; i++) {
			const float through = (scale * rounding_widen(d[i]) - at(v, row, i) * factor * (float)along) * factor;
			((uint16_t *)to->data)[row * to->stride + i] = rounding_bf16(at(add, row, i) + through);
		}
	}
}

/* dz = scale wide gelu'(Z), input = scale gelu(Z). Shape: (tokens, 4 k). */
static void gelu_backward(const struct block_gradient *p, float scale)
{
	const struct contract_matrix z = stored(p, AT_Z);
	const int64_t width = (int64_t)WIDENS * p->k;
#pragma omp parallel for schedule(static)
	for (int32_t row = 0; row < p->tokens; row++)
		for (int64_t i = row * width; i < (row + 1) * width; i++) {
			const float v = at(&z, row, i - row * width);
			p->dz[i] = rounding_bf16(scale * rounding_widen(p->wide[i]) * rounding_slope(FW_LINEAR_GELU, v));
			p->input[i] = rounding_bf16(scale * rounding_activate(FW_LINEAR_GELU, v));
		}
}

/* The columns of one head of a sequence. */
struct head {
	int64_t first, column; /* row of its first token; of Q */
	int32_t width;
};

static struct head head_of(const struct block_gradient *p, int32_t sequence, int head)
{
	const struct head h = { (int64_t)sequence * TOKENS, (int64_t)head * (p->k / HEADS), p->k / HEADS };
	return h;
}

/* Weights of the tokens of a sequence for one query. Shape: weight [TOKENS]. */
static void weigh(const struct block_gradient *p, const struct head *h, int token, float *weight)
{
	const float shrink = 1.0f / sqrtf((float)h->width);
	float most = -INFINITY, sum = 0;
	for (int u = 0; u < TOKENS; u++) {
		weight[u] = 0;
		for (int64_t c = h->column; c < h->column + h->width; c++)
			weight[u] += at(&p->s, h->first + token, c) * at(&p->s, h->first + u, p->k + c);
		weight[u] *= shrink;
		most = fmaxf(most, weight[u]);
	}
	for (int u = 0; u < TOKENS; u++)
		sum += weight[u] = expf(weight[u] - most);
	for (int u = 0; u < TOKENS; u++)
		weight[u] /= sum;
}

/* input = scale attend(Q K V). Shape: (tokens, k). */
static void attend(const struct block_gradient *p, float scale)
{
#pragma omp parallel for schedule(static)
	for (int32_t sequence = 0; sequence < p->sequences; sequence++)
		for (int i = 0; i < TOKENS * HEADS; i++) {
			const struct head h = head_of(p, sequence, i % HEADS);
			const int64_t row = h.first + i / HEADS;
			float weight[TOKENS];
			weigh(p, &h, i / HEADS, weight);
			for (int64_t c = h.column; c < h.column + h.width; c++) {
				float v = 0;
				for (int u = 0; u < TOKENS; u++)
					v += weight[u] * at(&p->s, h.first + u, 2 * (int64_t)p->k + c);
				p->input[row * p->k + c] = rounding_bf16(scale * v);
			}
		}
}

/* One head of a sequence: da = attend'(Q K V, scale branch). */
static void attend_backward_head(const struct block_gradient *p, const struct head *h, float scale)
{
	const float shrink = 1.0f / sqrtf((float)h->width);
	const int64_t k = p->k;
	float weight[TOKENS][TOKENS], slope[TOKENS][TOKENS]; /* of a query and a key; of the latter's score */
	for (int t = 0; t < TOKENS; t++) {
		const uint16_t *const d = p->branch + (h->first + t) * k;
		float along = 0;
		weigh(p, h, t, weight[t]);
		for (int u = 0; u < TOKENS; u++) {
			slope[t][u] = 0;
			for (int64_t c = h->column; c < h->column + h->width; c++)
				slope[t][u] += scale * rounding_widen(d[c]) * at(&p->s, h->first + u, 2 * k + c);
			along += weight[t][u] * slope[t][u];
		}
		for (int u = 0; u < TOKENS; u++)
			slope[t][u] = weight[t][u] * (slope[t][u] - along) * shrink;
	}
	for (int t = 0; t < TOKENS; t++)
		for (int64_t c = h->column; c < h->column + h->width; c++) {
			float q = 0, key = 0, v = 0;
			for (int u = 0; u < TOKENS; u++) {
				q += slope[t][u] * at(&p->s, h->first + u, k + c);
				key += slope[u][t] * at(&p->s, h->first + u, c);
				v += weight[u][t] * scale * rounding_widen(p->branch[(h->first + u) * k + c]);
			}
			uint16_t *const to = p->da + (h->first + t) * 3 * k + c;
			to[0] = rounding_bf16(q);
			to[k] = rounding_bf16(key);
			to[2 * k] = rounding_bf16(v);
		}
}

static void attend_backward(const struct block_gradient *p, float scale)
{
#pragma omp parallel for schedule(static)
	for (int32_t sequence = 0; sequence < p->sequences; sequence++)
		for (int i = 0; i < HEADS; i++) {
			const struct head h = head_of(p, sequence, i);
			attend_backward_head(p, &h, scale);
		}
}

/* ---- plans ---- */

/* The problem of one product; `s` gets its shape. */
static struct fw_problem product_of(
	const struct fw_problem *whole, const struct block_gradient *p, int matrix, int end, struct fw_linear_shape *s)
{
	struct fw_problem problem = *whole;
	s->struct_size = sizeof *s;
	s->prologue = FW_LINEAR_NO_PROLOGUE;
	s->m = p->tokens;
	s->n = (int32_t)p->rows[matrix];
	s->k = (int32_t)p->depth[matrix];
	problem.struct_size = sizeof problem;
	problem.direction = end == TO_INPUT ? FW_DGRAD : FW_WGRAD;
	problem.shape = s;
	problem.shape_size = sizeof *s;
	return problem;
}

static bool needs(const struct block_gradient *p, int matrix, int end)
{
	return p->is_wgrad ? end == TO_WEIGHT || matrix != QKV : end == TO_INPUT;
}

/* Set the sizes of a problem that is valid. */
static int start(const struct fw_problem *problem, struct block_gradient *p, struct fw_linear_shape *s, char *why, size_t size)
{
	const int status = block_check(problem, s, why, size);
	if (status != FW_OK)
		return status;
	const int64_t k = s->k, rows[MATRICES] = { 3 * k, k, WIDENS * k, k }, depth[MATRICES] = { k, k, k, WIDENS * k };
	int64_t first = 0;
	memset(p, 0, sizeof *p);
	p->sequences = s->m;
	p->tokens = s->m * TOKENS;
	p->k = s->k;
	p->is_wgrad = problem->direction == FW_WGRAD;
	if ((int64_t)p->tokens * STORES * k > 0x7fffffff)
		return contract_refuse(FW_UNSUPPORTED, why, size, "a tensor has more than 2^31 - 1 elements");
	for (int i = 0; i < MATRICES; i++) {
		p->rows[i] = rows[i];
		p->depth[i] = depth[i];
		p->weight_at[i] = first;
		p->scale[i] = block_scale(depth[i]);
		first += rows[i] * depth[i];
	}
	return FW_OK;
}

int block_gradient_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct block_gradient p;
	struct fw_linear_shape s;
	int status = start(problem, &p, &s, why, why_size);
	for (int i = 0; status == FW_OK && i < MATRICES * ENDS; i++) {
		struct fw_linear_shape shape = s;
		const struct fw_problem product = product_of(problem, &p, i / ENDS, i % ENDS, &shape);
		if (needs(&p, i / ENDS, i % ENDS))
			status = linear_cpu.can(&product, why, why_size);
	}
	return status;
}

static int64_t place(int64_t *next, int64_t bytes)
{
	const int64_t here = *next;
	*next += contract_align(bytes);
	return here;
}

static void lay_out(struct block_gradient *p)
{
	const int64_t values = (int64_t)p->tokens * p->k * (int64_t)sizeof(uint16_t);
	int64_t scratch = 0;
	p->wide_at = place(&p->workspace_bytes, WIDENS * values);
	p->branch_at = place(&p->workspace_bytes, values);
	p->dz_at = place(&p->workspace_bytes, WIDENS * values);
	p->dh_at = place(&p->workspace_bytes, values);
	p->da_at = place(&p->workspace_bytes, 3 * values);
	p->input_at = place(&p->workspace_bytes, WIDENS * values);
	p->phases = FW_LINEAR_RUN;
	for (int i = 0; i < MATRICES * ENDS; i++) {
		struct part *const a = &p->part[i / ENDS][i % ENDS];
		a->persist_at = place(&p->persist_bytes, (int64_t)a->info.persist_bytes);
		if ((int64_t)a->info.workspace_bytes > scratch)
			scratch = (int64_t)a->info.workspace_bytes;
		p->phases |= a->info.once;
	}
	p->scratch_at = place(&p->workspace_bytes, scratch); /* shared by the products, which run one after the other */
}

int block_gradient_plan(const struct fw_problem *problem, const char *config, int index, struct block_gradient **out,
	struct fw_info *info, char *why, size_t why_size)
{
	struct fw_linear_shape s;
	struct block_gradient *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	int status = start(problem, p, &s, why, why_size);
	if (status == FW_OK && config && strcmp(config, "PRODUCTS=cpu") != 0)
		status = contract_refuse(FW_UNSUPPORTED, why, why_size, "the only configuration is PRODUCTS=cpu");
	for (int i = 0; status == FW_OK && i < MATRICES * ENDS; i++) {
		struct part *const a = &p->part[i / ENDS][i % ENDS];
		struct fw_linear_shape shape = s;
		const struct fw_problem product = product_of(problem, p, i / ENDS, i % ENDS, &shape);
		a->info.struct_size = sizeof a->info;
		if (needs(p, i / ENDS, i % ENDS))
			status = linear_cpu.plan(&product, NULL, index, &a->plan, &a->info, why, why_size);
	}
	if (status != FW_OK) {
		block_gradient_destroy(p);
		return status;
	}
	lay_out(p);
	snprintf(p->config, sizeof p->config, "PRODUCTS=cpu");
	struct fw_info answer = { .struct_size = contract_answer_bytes(info->struct_size, sizeof answer),
		.phases = p->phases,
		.once = p->phases & FW_LINEAR_QUANTISE_WEIGHT,
		.workspace_bytes = (uint64_t)p->workspace_bytes,
		.persist_bytes = (uint64_t)p->persist_bytes,
		.config = p->config };
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* ---- calls ---- */

static struct fw_tensor packed(const void *data, int64_t columns)
{
	const struct fw_tensor t = { .data = (void *)data, .stride = { columns, 1, 0 }, .dtype = FW_BF16 };
	return t;
}

/* Return the gradient that a product reads instead of DY. */
static const void *gradient_of(const struct block_gradient *p, int matrix)
{
	return matrix == DOWN ? p->dy.data : matrix == UP ? p->dz : matrix == PROJECT ? p->dh : p->da;
}

static int bind_part(struct block_gradient *p, int matrix, int end, const struct contract_matrix *w, const struct fw_io *io)
{
	struct part *const a = &p->part[matrix][end];
	struct fw_tensor slot[FW_LINEAR_N_SLOTS] = { { 0 } };
	slot[FW_LINEAR_DY] = packed(gradient_of(p, matrix), matrix == DOWN ? p->dy.stride : p->rows[matrix]);
	if (end == TO_INPUT) {
		slot[FW_LINEAR_W] = packed((uint16_t *)w->data + p->weight_at[matrix], p->depth[matrix]);
		slot[FW_LINEAR_DX] = packed(matrix == DOWN ? p->wide : p->branch, p->depth[matrix]);
	} else {
		slot[FW_LINEAR_X] = packed(p->input, p->depth[matrix]);
		slot[FW_LINEAR_DW] = packed((uint16_t *)p->out.data + p->weight_at[matrix], p->depth[matrix]);
	}
	const struct fw_io one = { .struct_size = sizeof one,
		.n_slots = FW_LINEAR_N_SLOTS,
		.slot = slot,
		.workspace = (char *)io->workspace + p->scratch_at,
		.persist = a->info.persist_bytes ? (char *)io->persist + a->persist_at : NULL };
	const int status = linear_cpu.bind(a->plan, &one);
	return status == FW_OK ? FW_OK : contract_refuse(status, p->error, sizeof p->error, "%s", linear_cpu.error(a->plan));
}

int block_gradient_bind(struct block_gradient *p, const struct fw_io *io)
{
	struct contract_matrix w = { NULL, 0 };
	p->is_bound = false;
	p->error[0] = '\0';
	int status = contract_matrix(io, FW_LINEAR_X, "X", p->k, &p->x, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_W, "W", p->k, &w, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_DY, "DY", p->k, &p->dy, p->error);
	if (status == FW_OK)
		status = contract_matrix(io, FW_LINEAR_S, "S", STORES * (int64_t)p->k, &p->s, p->error);
	if (status == FW_OK)
		status = contract_matrix(
			io, p->is_wgrad ? FW_LINEAR_DW : FW_LINEAR_DX, p->is_wgrad ? "DW" : "DX", p->k, &p->out, p->error);
	if (status != FW_OK)
		return status;
	if (w.stride != p->k || (p->is_wgrad && p->out.stride != p->k))
		return contract_refuse(
			FW_UNSUPPORTED, p->error, sizeof p->error, "bind: W and DW of a transformer block must be packed");
	if (!io->workspace || (p->persist_bytes && !io->persist))
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "bind: workspace or persist is missing");
	char *const workspace = (char *)io->workspace;
	p->wide = (uint16_t *)(workspace + p->wide_at);
	p->branch = (uint16_t *)(workspace + p->branch_at);
	p->dz = (uint16_t *)(workspace + p->dz_at);
	p->dh = (uint16_t *)(workspace + p->dh_at);
	p->da = (uint16_t *)(workspace + p->da_at);
	p->input = (uint16_t *)(workspace + p->input_at);
	for (int i = 0; status == FW_OK && i < MATRICES * ENDS; i++)
		if (p->part[i / ENDS][i % ENDS].plan)
			status = bind_part(p, i / ENDS, i % ENDS, &w, io);
	p->is_bound = status == FW_OK;
	return status;
}

static int multiply(struct block_gradient *p, int matrix, int end, uint32_t phases)
{
	const struct part *const a = &p->part[matrix][end];
	const int status = a->plan ? linear_cpu.enqueue(a->plan, phases, NULL) : FW_OK;
	return status == FW_OK ? FW_OK : contract_refuse(status, p->error, sizeof p->error, "%s", linear_cpu.error(a->plan));
}

/* All phases except the `once` phases. A product with `input` runs before the next pass writes it. */
static int run(struct block_gradient *p)
{
	const uint32_t phases = FW_ALL & ~(uint32_t)FW_LINEAR_QUANTISE_WEIGHT;
	const struct contract_matrix h = stored(p, AT_H), dh = { p->dh, p->k };
	int status = multiply(p, DOWN, TO_INPUT, phases);
	gelu_backward(p, p->scale[DOWN]);
	if (status == FW_OK)
		status = multiply(p, DOWN, TO_WEIGHT, phases);
	if (status == FW_OK)
		status = multiply(p, UP, TO_INPUT, phases);
	if (p->is_wgrad)
		rms(p, &h, p->scale[UP]);
	if (status == FW_OK)
		status = multiply(p, UP, TO_WEIGHT, phases);
	rms_backward(p, &h, &p->dy, p->scale[UP], &dh);
	if (status == FW_OK)
		status = multiply(p, PROJECT, TO_INPUT, phases);
	if (p->is_wgrad)
		attend(p, p->scale[PROJECT]);
	if (status == FW_OK)
		status = multiply(p, PROJECT, TO_WEIGHT, phases);
	attend_backward(p, p->scale[PROJECT]);
	if (status == FW_OK)
		status = multiply(p, QKV, TO_INPUT, phases);
	if (p->is_wgrad)
		rms(p, &p->x, p->scale[QKV]);
	if (status == FW_OK)
		status = multiply(p, QKV, TO_WEIGHT, phases);
	if (status == FW_OK && !p->is_wgrad)
		rms_backward(p, &p->x, &dh, p->scale[QKV], &p->out);
	return status;
}

int block_gradient_enqueue(struct block_gradient *p, uint32_t phases, void *stream)
{
	int status = FW_OK;
	(void)stream;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	for (int i = 0; status == FW_OK && i < MATRICES && (phases & p->phases & FW_LINEAR_QUANTISE_WEIGHT); i++)
		status = multiply(p, i, TO_INPUT, FW_LINEAR_QUANTISE_WEIGHT);
	return status == FW_OK && (phases & FW_LINEAR_RUN) ? run(p) : status;
}

int block_gradient_count(const struct fw_problem *problem, struct fw_work *work)
{
	struct block_gradient p;
	struct fw_linear_shape s;
	const int status = start(problem, &p, &s, NULL, 0);
	if (status != FW_OK)
		return status;
	const double tokens = p.tokens, k = p.k;
	double products = 0;
	for (int i = 0; i < MATRICES * ENDS; i++)
		if (needs(&p, i / ENDS, i % ENDS))
			products += (double)p.rows[i / ENDS] * (double)p.depth[i / ENDS];
	struct fw_work answer = { .struct_size = contract_answer_bytes(work->struct_size, sizeof answer),
		.flops_issued = 2 * tokens * products +
				2 * TOKENS * tokens * k * (p.is_wgrad ? 7 : 5), /* attention's gradient 5 products, itself 2 */
		.bytes_moved = 2 * (products + (p.is_wgrad ? 75 : 48) * tokens * k) }; /* in rows of k, by products and passes */
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

const char *block_gradient_error(const struct block_gradient *p)
{
	return p->error;
}

void block_gradient_destroy(struct block_gradient *p)
{
	for (int i = 0; p && i < MATRICES * ENDS; i++)
		if (p->part[i / ENDS][i % ENDS].plan)
			linear_cpu.destroy(p->part[i / ENDS][i % ENDS].plan);
	free(p);
}
