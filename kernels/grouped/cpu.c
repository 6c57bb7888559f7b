/*
 * cpu.c - grouped products on a CPU: the product of the linear provider for each group and slice of columns, so that a large group
 * is shared by all threads. A slice is computed by one thread, each element in one order, so results do not depend on their number.
 */
#include <stdlib.h>

#include "common/cpu.h"
#include "grouped/plan.h"
#include "linear/cpu/cpu.h"

/* A slice has whole tiles of the product. */
enum { SLICE = 128, TILE_ROWS = 48, TILE_COLUMNS = 64, CONFIG_SIZE = 32 };

struct isa {
	const char *name;
	product_fn *product;
};

/* Fastest first. */
static const struct isa all_isas[] = {
#ifdef __x86_64__
	{ "v4", product_v4 },
	{ "v3", product_v3 },
#endif
	{ "base", product_base },
};

struct fw_plan {
	struct fw_grouped a;
	int32_t direction;
	int threads;
	const struct isa *isa;
	const uint16_t *left, *right;
	const int32_t *offsets;
	uint16_t *out;
	float *scratch; /* [threads][PRODUCT_SCRATCH] */
	bool is_bound;
	char config[CONFIG_SIZE];
	char error[CONTRACT_TEXT_BYTES];
};

static void describe(char *to, const struct isa *isa)
{
	snprintf(to, CONFIG_SIZE, "ISA=%s", isa->name);
}

/* The configuration named by `config`, the fastest for NULL; NULL if this machine or this build does not have it. */
static const struct isa *choose(const char *config)
{
	for (size_t i = 0; i < sizeof all_isas / sizeof all_isas[0]; i++) {
		char text[CONFIG_SIZE];
		describe(text, &all_isas[i]);
		if (cpu_has(all_isas[i].name) && (!config || !strcmp(config, text)))
			return &all_isas[i];
	}
	return NULL;
}

static int cpu_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	const int status = grouped_can(problem, why, why_size);
	if (status != FW_OK)
		return status;
	const struct isa *isa = choose(config);
	if (!isa)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "the configuration is not one of this library on this machine");
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	p->a = *fw_grouped_of(problem);
	p->direction = problem->direction;
	p->isa = isa;
	p->threads = cpu_threads(index);
	describe(p->config, isa);
	struct fw_info answer = { .struct_size = contract_answer_bytes(info->struct_size, sizeof answer),
		.phases = FW_GROUPED_RUN,
		.workspace_bytes = (uint64_t)contract_align((int64_t)p->threads * PRODUCT_SCRATCH * (int64_t)sizeof *p->scratch),
		.config = p->config };
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int cpu_bind(struct fw_plan *p, const struct fw_io *io)
{
	const struct grouped_roles roles = grouped_roles_of(p->direction);
	void *left = NULL, *right = NULL, *offsets = NULL, *out = NULL;
	p->is_bound = false;
	p->error[0] = '\0';
	int status = grouped_take(&p->a, io, roles.left, &left, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, roles.right, &right, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, FW_GROUPED_OFFSETS, &offsets, p->error);
	if (status == FW_OK)
		status = grouped_take(&p->a, io, roles.out, &out, p->error);
	if (status != FW_OK)
		return status;
	if (!io->workspace)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "bind: workspace is missing");
	p->left = left;
	p->right = right;
	p->offsets = offsets;
	p->out = out;
	p->scratch = io->workspace;
	p->is_bound = true;
	return FW_OK;
}

/* Compute columns [column, column + columns) of a group's part of the result. */
static void multiply(const struct fw_plan *p, int group, int64_t column, int32_t columns, float *scratch)
{
	const int64_t n = p->a.n, k = p->a.k, begin = p->offsets[group], matrix = group * n * k;
	const int32_t size = (int32_t)(p->offsets[group + 1] - begin);
	const struct epilogue epilogue = { NULL, FW_LINEAR_NO_ACTIVATION };
	if (p->direction == FW_FORWARD) {
		const struct side left = { p->left + begin * k, NULL, k, 1, size, 0 };
		const struct side right = { p->right + matrix + column * k, NULL, k, 1, columns, 0 };
		p->isa->product(&left, &right, (int32_t)k, &epilogue, p->out + begin * n + column, n, scratch, 1);
	} else if (p->direction == FW_DGRAD) {
		const struct side left = { p->left + begin * n, NULL, n, 1, size, 0 };
		const struct side right = { p->right + matrix + column, NULL, 1, k, columns, 0 };
		p->isa->product(&left, &right, (int32_t)n, &epilogue, p->out + begin * k + column, k, scratch, 1);
	} else {
		const struct side left = { p->left + begin * n, NULL, 1, n, (int32_t)n, 0 };
		const struct side right = { p->right + begin * k + column, NULL, 1, k, columns, 0 };
		p->isa->product(&left, &right, size, &epilogue, p->out + matrix + column, k, scratch, 1);
	}
}

static int cpu_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	if (!p)
		return FW_INVALID;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	if (!(phases & FW_GROUPED_RUN))
		return FW_OK;
	const int64_t columns = p->direction == FW_FORWARD ? p->a.n : p->a.k, slices = (columns + SLICE - 1) / SLICE;
#pragma omp parallel for schedule(dynamic) num_threads(p->threads)
	for (int64_t i = 0; i < p->a.groups * slices; i++) {
		const int64_t column = i % slices * SLICE;
		multiply(p, (int)(i / slices), column, (int32_t)(columns - column < SLICE ? columns - column : SLICE),
			p->scratch + (int64_t)omp_get_thread_num() * PRODUCT_SCRATCH);
	}
	return FW_OK;
}

static int cpu_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	(void)config;
	return grouped_count(problem, host, TILE_ROWS, TILE_COLUMNS, work);
}

static const char *cpu_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void cpu_destroy(struct fw_plan *p)
{
	free(p);
}

const struct fw_provider grouped_cpu = {
	.struct_size = sizeof grouped_cpu,
	.device = FW_CPU,
	.family = FW_GROUPED,
	.name = "cpu",
	.can = grouped_can,
	.plan = cpu_plan,
	.bind = cpu_bind,
	.enqueue = cpu_enqueue,
	.count = cpu_count,
	.error = cpu_error,
	.destroy = cpu_destroy,
};
