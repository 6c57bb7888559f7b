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

/* Steps of a gradient before and after its product, which has neither prologue nor activation. */
struct gradient {
	int32_t activation;                  /* of the forward */
	bool normalises, unnormalises;       /* X before the product, in wgrad; DX after it, in dgrad */
	uint16_t *g, *u, *d;                 /* G (m, n), U (m, k), D (m, k) of fw_linear.h, or NULL; packed */
	struct contract_matrix dy, s, x, dx; /* tensors that they replace or are computed from */
};

struct fw_plan {
	struct product product;
	struct gradient gradient;
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

/* Make the product of a problem; in a gradient without prologue and activation, which `gradient` gets. */
static int make(const struct fw_problem *problem, struct product *product, struct gradient *gradient, char *why, size_t why_size)
{
	memset(gradient, 0, sizeof *gradient);
	if (!problem || problem->family != FW_LINEAR || (problem->direction != FW_DGRAD && problem->direction != FW_WGRAD))
		return product_make(problem, product, why, why_size);
	struct fw_problem forward = *problem, alone = *problem;
	struct fw_linear_shape shape = contract_linear(problem);
	forward.direction = FW_FORWARD;
	const int status = contract_linear_problem(&forward, why, why_size);
	if (status != FW_OK)
		return status;
	if (shape.bias)
		return contract_refuse(FW_UNSUPPORTED, why, why_size, "gradients come without bias");
	gradient->activation = shape.activation;
	gradient->normalises = shape.prologue && problem->direction == FW_WGRAD;
	gradient->unnormalises = shape.prologue && problem->direction == FW_DGRAD;
	shape.prologue = FW_LINEAR_NO_PROLOGUE;
	shape.activation = FW_LINEAR_NO_ACTIVATION;
	shape.struct_size = sizeof shape;
	alone.shape = &shape;
	alone.shape_size = sizeof shape;
	return product_make(&alone, product, why, why_size);
}

static int cpu_can(const struct fw_problem *problem, char *why, size_t why_size)
{
	struct product product;
	struct gradient gradient;
	return make(problem, &product, &gradient, why, why_size);
}

static uint32_t phases_of(const struct product *product, const struct gradient *gradient)
{
	return sides_phases(product) | (gradient->activation || gradient->normalises ? FW_LINEAR_NORMALISE : 0) |
	       (gradient->unnormalises ? FW_LINEAR_ACTIVATE : 0);
}

static void lay_out(struct fw_plan *p, uintptr_t *workspace, uintptr_t *persist)
{
	struct gradient *const g = &p->gradient;
	const struct fw_linear_shape *const s = &p->product.shape;
	const int64_t values = (int64_t)sizeof(uint16_t) * s->m;
	sides_lay_out(&p->product, &p->sides, workspace, persist);
	g->g = g->activation ? sides_place(workspace, values * s->n) : NULL;
	g->u = g->normalises ? sides_place(workspace, values * s->k) : NULL;
	g->d = g->unnormalises ? sides_place(workspace, values * s->k) : NULL;
	p->scratch = sides_place(workspace, (int64_t)p->threads * PRODUCT_SCRATCH * (int64_t)sizeof *p->scratch);
}

static int cpu_plan(const struct fw_problem *problem, const char *config, int index, struct fw_plan **out, struct fw_info *info,
	char *why, size_t why_size)
{
	struct product product;
	struct gradient gradient;
	const int status = make(problem, &product, &gradient, why, why_size);
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
	p->gradient = gradient;
	p->isa = isa;
	p->threads = cpu_threads(index);
	describe(p->config, isa);
	uintptr_t workspace = 0, persist = 0;
	lay_out(p, &workspace, &persist);
	struct fw_info answer = { .struct_size = contract_answer_bytes(info->struct_size, sizeof answer),
		.phases = phases_of(&product, &gradient),
		.once = sides_phases(&product) & FW_LINEAR_QUANTISE_WEIGHT,
		.workspace_bytes = workspace,
		.persist_bytes = persist,
		.config = p->config };
	memcpy(info, &answer, answer.struct_size);
	*out = p;
	return FW_OK;
}

/* Get the tensors around the product, and let it multiply and write what the passes compute or read. */
static int bind_gradient(struct fw_plan *p, const struct fw_io *io)
{
	struct gradient *const g = &p->gradient;
	struct sides *const s = &p->sides;
	const struct fw_linear_shape *const shape = &p->product.shape;
	int status = FW_OK;
	if (g->g) {
		status = matrix_take(io, FW_LINEAR_S, shape->n, &g->s, p->error);
		g->dy = s->left;
		s->left = (struct contract_matrix){ g->g, shape->n };
	}
	if (g->u) {
		g->x = s->right;
		s->right = (struct contract_matrix){ g->u, shape->k };
	}
	if (g->d && status == FW_OK) {
		status = matrix_take(io, FW_LINEAR_X, shape->k, &g->x, p->error);
		g->dx = s->out;
		s->out = (struct contract_matrix){ g->d, shape->k };
	}
	return status;
}

static int cpu_bind(struct fw_plan *p, const struct fw_io *io)
{
	p->is_bound = false;
	p->error[0] = '\0';
	int status = sides_bind(&p->product, io, &p->sides, p->error);
	if (status != FW_OK)
		return status;
	uintptr_t workspace = (uintptr_t)io->workspace, persist = (uintptr_t)io->persist;
	lay_out(p, &workspace, &persist);
	status = bind_gradient(p, io);
	if (status != FW_OK)
		return status;
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
	const struct gradient *g = &p->gradient;
	const struct operand *left = &product->left, *right = &product->right;
	const struct sides *s = &p->sides;
	const struct contract_matrix x = sides_left(product, s);
	if ((phases & FW_LINEAR_NORMALISE) && g->g)
		differentiate(&g->dy, &g->s, g->activation, product->shape.m, product->shape.n, g->g, p->threads);
	if ((phases & FW_LINEAR_NORMALISE) && g->u)
		normalise(&g->x, product->shape.m, product->shape.k, g->u, p->threads);
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
	if ((phases & FW_LINEAR_ACTIVATE) && g->d)
		normalise_backward(&g->x, g->d, product->shape.m, product->shape.k, &g->dx, p->threads);
	return FW_OK;
}

static int cpu_count(const struct fw_problem *problem, const char *config, const struct fw_io *host, struct fw_work *work)
{
	(void)config;
	(void)host;
	struct product product;
	struct gradient gradient;
	const int status = make(problem, &product, &gradient, NULL, 0);
	if (status != FW_OK)
		return status;
	const double rows = product.left.rows, across = product.right.rows, depth = product.left.depth;
	const double mn = (double)product.shape.m * product.shape.n, mk = (double)product.shape.m * product.shape.k;
	const double passes = (gradient.activation ? 3 * mn : 0) + (gradient.normalises ? 2 * mk : 0) +
			      (gradient.unnormalises ? 3 * mk : 0); /* values that they read and write */
	struct fw_work answer = { .struct_size = contract_answer_bytes(work->struct_size, sizeof answer),
		.flops_issued = 2 * rows * across * depth,
		.bytes_moved = 2 * (rows * depth + across * depth + rows * across + passes) };
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
