/*
 * linear_fp8.cu - the cells of suite linear-fp8 on this GPU: each result against provider "cpu" of the module for CPUs, element by
 * element, and the rate of each provider that is not on the CUDA cores.
 *
 *     linear_fp8 cuda/liblinear.so cpu/liblinear.so [PART]
 * PART: only cells whose name contains it, such as block or wgrad. Needs no file but these, and some 30 s, most of them for the
 * results on 16 cores. Rates are of whole calls and of phase `run` alone: median of 5 series of 8 calls. Exit status 1: a cell is
 * wrong, or has no provider.
 */
#include "kernels/fw_linear.h"

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_));                              \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

enum { SERIES = 5, CALLS = 8, LAST_BYTES = 256 };

enum recipe { BASELINE, BY_TENSOR, BY_ROW, BY_BLOCK, RECIPES };
static const char *const recipe_names[RECIPES] = { "baseline", "float8dq-tensor", "float8dq-row", "float8dq-block" };
static const int sizes[][3] = { { 4096, 7168, 4096 }, { 4096, 2048, 7168 } }; /* m, k, n */
static const struct {
	int direction;
	const char *name;
} directions[] = { { FW_FORWARD, "forward" }, { FW_DGRAD, "dgrad" }, { FW_WGRAD, "wgrad" }, { FW_TOTAL, "total" } };
static const int outs[] = { FW_LINEAR_Y, FW_LINEAR_DX, FW_LINEAR_DW };
static const int out_directions[] = { FW_FORWARD, FW_DGRAD, FW_WGRAD };

/* The operand types of the suite, as daemon/families/linear/problem.c has them. */
static struct fw_linear_operand operand_of(int recipe, bool is_gradient, bool is_training)
{
	struct fw_linear_operand o = {};
	if (recipe == BASELINE)
		return o;
	o.dtype = recipe == BY_TENSOR && is_gradient ? FW_E5M2 : FW_E4M3;
	o.scaling = recipe == BY_TENSOR ? FW_LINEAR_BY_TENSOR : recipe == BY_ROW ? FW_LINEAR_BY_ROW : FW_LINEAR_BY_BLOCK;
	o.group = recipe == BY_BLOCK ? FW_LINEAR_SCALE_BLOCK : 0;
	o.flags = recipe == BY_ROW && is_training ? FW_LINEAR_POWER_OF_TWO : 0;
	return o;
}

static struct fw_linear_shape shape_of(const int *size, int recipe, int direction, bool is_training)
{
	struct fw_linear_shape s = {};
	s.struct_size = sizeof s;
	s.m = size[0];
	s.k = size[1];
	s.n = size[2];
	if (direction != FW_DGRAD)
		s.x = operand_of(recipe, false, is_training);
	if (direction != FW_WGRAD)
		s.w = operand_of(recipe, false, is_training);
	if (is_training)
		s.dy = operand_of(recipe, true, is_training);
	return s;
}

static struct fw_problem problem_of(const struct fw_linear_shape *s, int recipe, int direction)
{
	const int flags = recipe == BY_TENSOR || recipe == BY_ROW ? FW_FAST_ACCUM : 0;
	return { sizeof(struct fw_problem), FW_LINEAR, direction, flags, s, sizeof *s };
}

static const struct fw_module *module_open(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	const struct fw_module *(*entry)(uint32_t) = (const struct fw_module *(*)(uint32_t))dlsym(library, "fw_entry");
	const struct fw_module *module = entry ? entry(FW_ABI) : NULL;
	if (!module) {
		fprintf(stderr, "%s: no kernel module of ABI %u\n", path, FW_ABI);
		exit(2);
	}
	return module;
}

/* The tensors of one size in both memories. */
struct tensors {
	std::vector<uint16_t> host[FW_LINEAR_N_SLOTS];
	uint16_t *device[FW_LINEAR_N_SLOTS];
};

/* Rows of different magnitude and a few outliers, so that a scale of another block is found. */
static std::vector<uint16_t> numbers(int64_t rows, int64_t columns, uint32_t seed)
{
	std::vector<uint16_t> all((size_t)(rows * columns));
	uint64_t state = seed * 0x9e3779b97f4a7c15ull + 1;
	for (int64_t i = 0; i < rows * columns; i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		const uint64_t z = state >> 20;
		const int sum = (int)(z & 0x7ff) + (int)(z >> 11 & 0x7ff) + (int)(z >> 22 & 0x7ff) + (int)(z >> 33 & 0x7ff);
		const double size = (1 + 0.25 * (double)(i / columns / 100 % 7)) * (1 + 0.5 * (double)(i % columns / 100 % 5));
		const float v = (float)((sum - 4094) / 2048.0 * size * (i % 100003 == 5 ? 20 : 1));
		uint32_t bits;
		memcpy(&bits, &v, sizeof bits);
		all[(size_t)i] = (uint16_t)((bits + 0x8000) >> 16);
	}
	return all;
}

static void fill(struct tensors *t, const int *size)
{
	const int64_t m = size[0], k = size[1], n = size[2];
	const int64_t rows[] = { m, n, 1, m, m, m, n, 1 }, columns[] = { k, k, 1, n, n, k, k, 1 };
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++) {
		t->host[slot] = numbers(rows[slot], columns[slot], (uint32_t)slot + 1);
		const size_t bytes = t->host[slot].size() * sizeof(uint16_t);
		CUDA(cudaMalloc(&t->device[slot], bytes));
		CUDA(cudaMemcpy(t->device[slot], t->host[slot].data(), bytes, cudaMemcpyHostToDevice));
	}
}

static void drop(struct tensors *t)
{
	for (uint16_t *device : t->device)
		CUDA(cudaFree(device));
}

static void point(struct tensors *t, bool on_device, struct fw_tensor *slot)
{
	memset(slot, 0, FW_LINEAR_N_SLOTS * sizeof *slot);
	for (int i = 0; i < FW_LINEAR_N_SLOTS; i++) {
		slot[i].data = on_device ? (void *)t->device[i] : (void *)t->host[i].data();
		slot[i].dtype = FW_BF16;
	}
}

/* The result of provider "cpu". */
static std::vector<uint16_t> reference(
	const struct fw_provider *cpu, const struct fw_linear_shape &shape, int recipe, int which, struct tensors *t)
{
	const struct fw_problem problem = problem_of(&shape, recipe, out_directions[which]);
	struct fw_tensor slot[FW_LINEAR_N_SLOTS];
	struct fw_plan *plan = NULL;
	struct fw_info info = {};
	char why[256] = "";
	info.struct_size = sizeof info;
	if (cpu->plan(&problem, NULL, 0, &plan, &info, why, sizeof why) != FW_OK) {
		fprintf(stderr, "cpu: %s\n", why);
		exit(1);
	}
	std::vector<unsigned char> memory((size_t)(info.workspace_bytes + info.persist_bytes + 2 * LAST_BYTES));
	unsigned char *const workspace = memory.data() + LAST_BYTES - (uintptr_t)memory.data() % LAST_BYTES;
	point(t, false, slot);
	const struct fw_io io = { sizeof io, FW_LINEAR_N_SLOTS, slot, workspace, workspace + info.workspace_bytes };
	if (cpu->bind(plan, &io) != FW_OK || cpu->enqueue(plan, FW_ALL, NULL) != FW_OK) {
		fprintf(stderr, "cpu: %s\n", cpu->error(plan));
		exit(1);
	}
	cpu->destroy(plan);
	return t->host[outs[which]];
}

static double widen(uint16_t bf16)
{
	const uint32_t bits = (uint32_t)bf16 << 16;
	float v;
	memcpy(&v, &bits, sizeof v);
	return (double)v;
}

struct difference {
	double relative, worst; /* Frobenius; an element's, in root mean squares */
	double beyond;          /* the largest error of an element as a share of its allowed error */
	size_t at;              /* of that */
};

/*
 * The allowed error of an element: both sides round to bf16, and sums that stay in the tensor core have 13 bits, as derived in
 * tests/families/test_linear_sums.c. Rows and columns have up to three times the root mean square of all.
 */
static double allowed(int recipe, int depth, double wanted, double rms)
{
	const bool is_fast = recipe == BY_TENSOR || recipe == BY_ROW;
	const double of_sums = recipe == BASELINE ? 0 : 1.44 / 8192 * sqrt(is_fast ? depth : FW_LINEAR_SCALE_BLOCK);
	return wanted / 128 + of_sums * (wanted + (is_fast ? 1 : 2) * 3 * rms) + 0.003 * rms;
}

static struct difference compare(
	const std::vector<uint16_t> &got, const std::vector<uint16_t> &wanted, int recipe, int depth)
{
	struct difference d = {};
	double square = 0, error = 0;
	for (uint16_t v : wanted)
		square += widen(v) * widen(v);
	const double rms = sqrt(square / (double)wanted.size());
	for (size_t i = 0; i < got.size(); i++) {
		const double a = widen(got[i]), b = widen(wanted[i]), away = std::isfinite(a) ? fabs(a - b) : 1e30;
		const double share = away / allowed(recipe, depth, fabs(b), rms);
		error += away * away;
		d.worst = std::max(d.worst, away / rms);
		if (share > d.beyond) {
			d.beyond = share;
			d.at = i;
		}
	}
	d.relative = sqrt(error / square);
	return d;
}

/* Median seconds of a call. */
static double time_calls(const struct fw_provider *p, struct fw_plan *plan, uint32_t phases)
{
	std::vector<double> all;
	cudaEvent_t begin, end;
	CUDA(cudaEventCreate(&begin));
	CUDA(cudaEventCreate(&end));
	for (int s = 0; s <= SERIES; s++) {
		float ms = 0;
		CUDA(cudaEventRecord(begin, NULL));
		for (int i = 0; i < CALLS; i++)
			if (p->enqueue(plan, phases, NULL) != FW_OK)
				return NAN;
		CUDA(cudaEventRecord(end, NULL));
		CUDA(cudaEventSynchronize(end));
		CUDA(cudaEventElapsedTime(&ms, begin, end));
		if (s) /* the first warms up */
			all.push_back(ms / 1e3 / CALLS);
	}
	CUDA(cudaEventDestroy(begin));
	CUDA(cudaEventDestroy(end));
	std::sort(all.begin(), all.end());
	return all[all.size() / 2];
}

/* Call the plan and compare its results. */
static bool check(const struct fw_provider *p, struct fw_plan *plan, const struct fw_problem *problem, int recipe,
	struct tensors *t, const std::vector<uint16_t> *wanted)
{
	const struct fw_linear_shape *shape = (const struct fw_linear_shape *)problem->shape;
	const int depths[] = { shape->k, shape->n, shape->m }, direction = problem->direction;
	const bool is_fast = problem->flags & FW_FAST_ACCUM;
	bool ok = true;
	for (int slot : outs)
		CUDA(cudaMemset(t->device[slot], 0xff, t->host[slot].size() * 2));
	for (int again = 0; again < 2; again++)
		if (p->enqueue(plan, FW_ALL, NULL) != FW_OK) {
			printf("  enqueue: %s", p->error(plan));
			return false;
		}
	CUDA(cudaDeviceSynchronize());
	for (int i = 0; i < 3; i++) {
		if (direction != FW_TOTAL && direction != out_directions[i])
			continue;
		std::vector<uint16_t> got(t->host[outs[i]].size());
		CUDA(cudaMemcpy(got.data(), t->device[outs[i]], got.size() * 2, cudaMemcpyDeviceToHost));
		const struct difference d = compare(got, wanted[i], recipe, depths[i]);
		const bool is_right = d.relative < (is_fast ? 0.02 : 0.004) && d.beyond <= 1;
		printf("  %.5f %.4f %.2f", d.relative, d.worst, d.beyond);
		if (!is_right)
			printf(" WRONG at %zu: %g, not %g", d.at, widen(got[d.at]), widen(wanted[i][d.at]));
		ok = ok && is_right;
	}
	return ok;
}

/* 1 right, 0 refused, -1 wrong. */
static int measure(const struct fw_provider *p, const struct fw_problem *problem, int recipe, double flops,
	struct tensors *t, const std::vector<uint16_t> *wanted)
{
	struct fw_tensor slot[FW_LINEAR_N_SLOTS];
	struct fw_plan *plan = NULL;
	struct fw_info info = {};
	char why[256] = "";
	unsigned char *workspace = NULL, *persist = NULL;
	info.struct_size = sizeof info;
	if (p->can(problem, why, sizeof why) != FW_OK)
		return 0;
	if (p->plan(problem, NULL, 0, &plan, &info, why, sizeof why) != FW_OK) {
		printf("  %-9s plan: %s\n", p->name, why);
		return -1;
	}
	CUDA(cudaMalloc(&workspace, info.workspace_bytes + LAST_BYTES));
	CUDA(cudaMalloc(&persist, info.persist_bytes + LAST_BYTES));
	CUDA(cudaMemset(workspace, 0xff, info.workspace_bytes));
	CUDA(cudaMemset(persist, 0xff, info.persist_bytes + LAST_BYTES));
	point(t, true, slot);
	const struct fw_io io = { sizeof io, FW_LINEAR_N_SLOTS, slot, workspace, persist };
	bool ok = p->bind(plan, &io) == FW_OK;
	if (ok) {
		printf("  %-9s", p->name);
		ok = check(p, plan, problem, recipe, t, wanted);
		const bool is_forward = problem->direction == FW_FORWARD; /* there W is quantised once */
		const double whole = time_calls(p, plan, is_forward ? FW_ALL & ~info.once : FW_ALL);
		const double run = time_calls(p, plan, FW_LINEAR_RUN);
		printf("  %.4f ms %.0f TFLOP/s, run %.4f ms %.0f TFLOP/s, %s\n", whole * 1e3, flops / whole / 1e12, run * 1e3,
			flops / run / 1e12, info.config);
	} else {
		printf("  %-9s bind: %s\n", p->name, p->error(plan));
	}
	fflush(stdout);
	p->destroy(plan);
	CUDA(cudaFree(workspace));
	CUDA(cudaFree(persist));
	return ok ? 1 : -1;
}

struct counts {
	int cells, wrong, missing;
};

static void measure_cells(const struct fw_module *cuda, const struct fw_provider *cpu, const int *size, int recipe,
	const char *part, struct tensors *t, struct counts *counts)
{
	std::vector<uint16_t> alone[3];
	for (const auto &d : directions) {
		char name[128];
		snprintf(name, sizeof name, "%s/m%d/k%d/n%d/%s", recipe_names[recipe], size[0], size[1], size[2], d.name);
		if (!strstr(name, part))
			continue;
		std::vector<uint16_t> wanted[3];
		for (int i = 0; i < 3; i++) {
			if (d.direction != FW_TOTAL && d.direction != out_directions[i])
				continue;
			const bool is_training = d.direction != FW_FORWARD;
			const bool is_other = recipe == BY_ROW && d.direction == FW_TOTAL && i == 0; /* powers of two */
			if (alone[i].empty() || is_other)
				alone[i] = reference(
					cpu, shape_of(size, recipe, out_directions[i], is_training), recipe, i, t);
			wanted[i] = alone[i];
		}
		const struct fw_linear_shape shape = shape_of(size, recipe, d.direction, d.direction != FW_FORWARD);
		const struct fw_problem problem = problem_of(&shape, recipe, d.direction);
		const double flops = 2.0 * size[0] * size[1] * size[2] * (d.direction == FW_TOTAL ? 3 : 1);
		bool has_provider = false;
		printf("%s\n", name);
		for (uint32_t i = 0; i < cuda->n_providers; i++) {
			if (strstr(cuda->provider[i]->name, "naive"))
				continue;
			const int result = measure(cuda->provider[i], &problem, recipe, flops, t, wanted);
			has_provider = has_provider || result;
			counts->wrong += result < 0;
		}
		counts->cells++;
		counts->missing += !has_provider;
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: linear_fp8 CUDA_MODULE.so CPU_MODULE.so [PART]\n");
		return 2;
	}
	const struct fw_module *cuda = module_open(argv[1]), *host = module_open(argv[2]);
	struct counts counts = {};
	printf("provider, error of all elements, worst (in root mean squares; as a share of the allowed one), whole call, product alone\n");
	for (const auto &size : sizes) {
		struct tensors t;
		fill(&t, size);
		for (int recipe = 0; recipe < RECIPES; recipe++)
			measure_cells(cuda, host->provider[0], size, recipe, argc > 3 ? argv[3] : "", &t, &counts);
		drop(&t);
	}
	printf("%d cells, %d results wrong, %d cells without a provider\n", counts.cells, counts.wrong, counts.missing);
	return counts.wrong || counts.missing || !counts.cells;
}
