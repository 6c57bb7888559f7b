/*
 * Provider "cpu": every recipe and direction of the linear family in plain C with OpenMP. It is the reference for tests and other
 * providers, so simplicity comes before speed.
 *
 * Operands that are not multiplied as they are in memory are first rounded to a copy: W into persist, the others into the
 * workspace.
 */
#include "linear/cpu/cpu.h"

#include "common/cpu.h"
#include "linear/providers.h"

#include <stdlib.h>

enum { CONFIG_SIZE = 32 };

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
	struct product product;
	const struct isa *isa;
	int threads;
	bool is_bound;
	struct sides sides;
	float *scratch;
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

static int cpu_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct product product;
	return product_make(problem, &product, why, why_size);
}

static void lay_out(struct fw_plan *p, uintptr_t *workspace, uintptr_t *persist)
{
	sides_lay_out(&p->product, &p->sides, workspace, persist);
	p->scratch = sides_place(workspace, (int64_t)p->threads * PRODUCT_SCRATCH * (int64_t)sizeof *p->scratch);
}

static int cpu_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	struct product product;
	const int status = product_make(problem, &product, why, why_size);
	if (status != FW_OK)
		return status;
	const struct isa *isa = choose(config);
	if (!isa)
		return contract_refuse(
			FW_UNSUPPORTED, why, why_size, "the configuration is not one of this library on this machine");
	struct fw_plan *p = calloc(1, sizeof *p);
	if (!p)
		return contract_refuse(FW_FAILED, why, why_size, "out of memory");
	p->product = product;
	p->isa = isa;
	p->threads = cpu_threads(index);
	describe(p->config, isa);
	uintptr_t workspace = 0, persist = 0;
	lay_out(p, &workspace, &persist);
	struct fw_info answer = { .struct_size = contract_answer_bytes(info->struct_size, sizeof answer),
		.phases = sides_phases(&product),
		.once = sides_phases(&product) & FW_LINEAR_QUANTISE_WEIGHT,
		.workspace_bytes = workspace,
		.persist_bytes = persist,
		.config = p->config };
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

static int cpu_bind(struct fw_plan *p, const struct fw_io *io)
{
	p->is_bound = false;
	p->error[0] = '\0';
	const int status = sides_bind(&p->product, io, &p->sides, p->error);
	if (status != FW_OK)
		return status;
	uintptr_t workspace = (uintptr_t)io->workspace, persist = (uintptr_t)io->persist;
	lay_out(p, &workspace, &persist);
	if (!io->workspace || (!io->persist && persist))
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "bind: workspace or persist is missing");
	p->is_bound = true;
	return FW_OK;
}

static int cpu_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	if (!p)
		return FW_INVALID;
	p->error[0] = '\0';
	if (!p->is_bound)
		return contract_refuse(FW_INVALID, p->error, sizeof p->error, "enqueue before bind");
	const struct product *product = &p->product;
	const struct operand *left = &product->left, *right = &product->right;
	const struct sides *s = &p->sides;
	const struct contract_matrix x = sides_left(product, s);
	if ((phases & sides_right_phase(product)) && s->rounded_right.copy)
		quantise(right, &s->right, s->rounded_right.copy, s->rounded_right.factor, p->threads);
	if ((phases & FW_LINEAR_NORMALISE) && s->normalised)
		normalise(&s->left, product->shape.m, product->shape.k, s->normalised, p->threads);
	if ((phases & FW_LINEAR_QUANTISE_ACTIVATION) && s->rounded_left.copy)
		quantise(left, &x, s->rounded_left.copy, s->rounded_left.factor, p->threads);
	if (phases & FW_LINEAR_RUN) {
		const struct side a = sides_side(left, &s->rounded_left, x), b = sides_side(right, &s->rounded_right, s->right);
		const struct epilogue epilogue = { s->bias.data, product->shape.activation };
		p->isa->product(&a, &b, left->depth, &epilogue, s->out.data, s->out.stride, p->scratch, p->threads);
	}
	return FW_OK;
}

static int cpu_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	(void)config;
	(void)host;
	struct product product;
	const int status = product_make(problem, &product, NULL, 0);
	if (status != FW_OK)
		return status;
	const double rows = product.left.rows, across = product.right.rows, depth = product.left.depth;
	struct fw_work answer = { .struct_size = contract_answer_bytes(work->struct_size, sizeof answer),
		.flops_issued = 2 * rows * across * depth,
		.bytes_moved = 2 * (rows * depth + across * depth + rows * across) };
	memcpy(work, &answer, answer.struct_size);
	return FW_OK;
}

static const char *cpu_error(const struct fw_plan *p)
{
	return p ? p->error : "";
}

static void cpu_destroy(struct fw_plan *p)
{
	free(p);
}

const struct fw_provider linear_cpu = {
	.struct_size = sizeof linear_cpu,
	.device = FW_CPU,
	.family = FW_LINEAR,
	.flags = 0,
	.name = "cpu",
	.can = cpu_can,
	.plan = cpu_plan,
	.bind = cpu_bind,
	.enqueue = cpu_enqueue,
	.count = cpu_count,
	.error = cpu_error,
	.destroy = cpu_destroy,
};
