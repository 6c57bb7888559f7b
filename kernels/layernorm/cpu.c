/*
 * cpu.c - layer normalisation on a CPU: each thread computes a range of rows, sums are fp32 in eight lanes, columns are summed by
 * blocks of rows.
 */
#include <math.h>

#include "common/cpu.h"
#include "layernorm/plan.h"

enum { PARTS = 16 /* default */, PARTS_MAX = 256 };

static float wide(uint16_t bits)
{
	union {
		uint32_t u;
		float f;
	} v = { .u = (uint32_t)bits << 16 };
	return v.f;
}

static uint16_t narrow(float value)
{
	union {
		float f;
		uint32_t u;
	} v = { .f = value };
	return (uint16_t)((v.u + 0x7fffu + ((v.u >> 16) & 1u)) >> 16);
}

static void forward_row(const struct fw_plan *p, int64_t row)
{
	const int n = p->a.columns;
	const uint16_t *x = (const uint16_t *)p->slot[FW_LAYERNORM_X] + row * n, *gamma = p->slot[FW_LAYERNORM_GAMMA],
		       *beta = p->slot[FW_LAYERNORM_BETA];
	uint16_t *y = (uint16_t *)p->slot[FW_LAYERNORM_Y] + row * n;
	float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
	for (int j = 0; j < n; j++)
		sum += wide(x[j]);
	const float mean = sum / (float)n;
#pragma omp simd reduction(+ : squares)
	for (int j = 0; j < n; j++)
		squares += (wide(x[j]) - mean) * (wide(x[j]) - mean);
	const float rstd = 1 / sqrtf(squares / (float)n + p->a.epsilon);
	for (int j = 0; j < n; j++)
		y[j] = narrow((wide(x[j]) - mean) * rstd * wide(gamma[j]) + wide(beta[j]));
	((float *)p->slot[FW_LAYERNORM_MEAN])[row] = mean;
	((float *)p->slot[FW_LAYERNORM_RSTD])[row] = rstd;
}

static void backward_row(const struct fw_plan *p, int64_t row, float *dgamma, float *dbeta)
{
	const int n = p->a.columns;
	const uint16_t *x = (const uint16_t *)p->slot[FW_LAYERNORM_X] + row * n, *gamma = p->slot[FW_LAYERNORM_GAMMA];
	const uint16_t *dy = (const uint16_t *)p->slot[FW_LAYERNORM_DY] + row * n;
	uint16_t *dx = (uint16_t *)p->slot[FW_LAYERNORM_DX] + row * n;
	const float mean = ((const float *)p->slot[FW_LAYERNORM_MEAN])[row],
		    rstd = ((const float *)p->slot[FW_LAYERNORM_RSTD])[row];
	float g = 0, gx = 0;
#pragma omp simd reduction(+ : g, gx)
	for (int j = 0; j < n; j++) {
		const float normal = (wide(x[j]) - mean) * rstd, own = wide(dy[j]) * wide(gamma[j]);
		g += own;
		gx += own * normal;
		dgamma[j] += wide(dy[j]) * normal;
		dbeta[j] += wide(dy[j]);
	}
	g /= (float)n;
	gx /= (float)n;
	for (int j = 0; j < n; j++) {
		const float normal = (wide(x[j]) - mean) * rstd;
		dx[j] = narrow(rstd * (wide(dy[j]) * wide(gamma[j]) - g - normal * gx));
	}
}

static void backward_part(const struct fw_plan *p, int part)
{
	const int n = p->a.columns;
	float *dgamma = p->partial + (int64_t)part * n, *dbeta = p->partial + (int64_t)(p->parts + part) * n;
	memset(dgamma, 0, (size_t)n * sizeof *dgamma);
	memset(dbeta, 0, (size_t)n * sizeof *dbeta);
	for (int64_t row = part; row < p->a.rows; row += p->parts)
		backward_row(p, row, dgamma, dbeta);
}

static void add_parts(const struct fw_plan *p, int j)
{
	float dgamma = 0, dbeta = 0;
	for (int part = 0; part < p->parts; part++) {
		dgamma += p->partial[(int64_t)part * p->a.columns + j];
		dbeta += p->partial[(int64_t)(p->parts + part) * p->a.columns + j];
	}
	((uint16_t *)p->slot[FW_LAYERNORM_DGAMMA])[j] = narrow(dgamma);
	((uint16_t *)p->slot[FW_LAYERNORM_DBETA])[j] = narrow(dbeta);
}

static int cpu_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	int parts = PARTS, used = 0;
	if (config && (sscanf(config, "PARTS=%d%n", &parts, &used) != 1 || config[used] || parts < 1 || parts > PARTS_MAX))
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "there is no %s; PARTS is 1 to %d", config, (int)PARTS_MAX);
	char chosen[LAYERNORM_CONFIG_BYTES];
	snprintf(chosen, sizeof chosen, "PARTS=%d", parts);
	int status = layernorm_plan(problem, parts, chosen, out, info, why, why_size);
	if (status != FW_OK)
		return status;
	struct fw_plan *p = *out;
	memcpy(p->config, chosen, sizeof chosen);
	info->config = p->config;
	p->device = cpu_threads(index);
	return FW_OK;
}

static int cpu_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "no bind came before");
	if (p->direction == FW_FORWARD && (phases & FW_LAYERNORM_ROWS)) {
#pragma omp parallel for num_threads(p->device)
		for (int64_t row = 0; row < p->a.rows; row++)
			forward_row(p, row);
	}
	if (p->direction == FW_BACKWARD && (phases & FW_LAYERNORM_ROWS)) {
#pragma omp parallel for num_threads(p->device)
		for (int part = 0; part < p->parts; part++)
			backward_part(p, part);
	}
	if (p->direction == FW_BACKWARD && (phases & FW_LAYERNORM_COLUMNS)) {
#pragma omp parallel for num_threads(p->device)
		for (int j = 0; j < p->a.columns; j++)
			add_parts(p, j);
	}
	return FW_OK;
}

const struct fw_provider layernorm_cpu = {
	.struct_size = sizeof layernorm_cpu,
	.device = FW_CPU,
	.family = FW_LAYERNORM,
	.name = "cpu",
	.can = layernorm_can,
	.plan = cpu_plan,
	.bind = layernorm_bind,
	.enqueue = cpu_enqueue,
	.count = layernorm_count,
	.error = layernorm_error,
	.destroy = layernorm_destroy,
};
