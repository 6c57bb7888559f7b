/*
 * Every CUDA provider of a linear module against a reference in fp64: recipes, directions, activations, odd sizes, hard values.
 *
 *     linear_check MODULE.so [PROVIDER...]
 *
 * A problem that a provider refuses is counted, not judged. Each is run in a fresh workspace full of NaN, twice in all phases and
 * twice without the `once` phases, and has to give the same bits every time and to preserve the memory after its tensors. Prints
 * errors and a line for each provider; exit status 1 after an error.
 */
#include "tests/support/linear_reference.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

#include <vector>

enum { DEVICE_CHECK = 256 };
static const uint16_t poison = 0x7fc1; /* a NaN */

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			printf("%s: %s\n", #call, cudaGetErrorString(e_));                                                       \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

struct recipe {
	const char *name;
	struct fw_linear_operand x, w, dy;
};

static const struct fw_linear_operand plain = { 0, 0, 0, 0 };

static struct fw_linear_operand operand(int dtype, int scaling, int group, int flags)
{
	const struct fw_linear_operand o = { dtype, scaling, group, flags };
	return o;
}

static std::vector<struct recipe> all_recipes(void)
{
	const int tensor = FW_LINEAR_BY_TENSOR, row = FW_LINEAR_BY_ROW, power = FW_LINEAR_POWER_OF_TWO;
	std::vector<struct recipe> r;
	r.push_back({ "baseline", plain, plain, plain });
	r.push_back({ "int8wo", plain, operand(FW_I8, row, 0, 0), plain });
	for (int group = 32; group <= 256; group *= 2)
		r.push_back({ group == 32    ? "int4wo-32"
			      : group == 64  ? "int4wo-64"
			      : group == 128 ? "int4wo-128"
					     : "int4wo-256",
			plain, operand(FW_I4, FW_LINEAR_BY_GROUP, group, FW_LINEAR_ASYMMETRIC), plain });
	r.push_back({ "float8wo", plain, operand(FW_E4M3, row, 0, 0), plain });
	r.push_back({ "float8dq-tensor", operand(FW_E4M3, tensor, 0, 0), operand(FW_E4M3, tensor, 0, 0),
		operand(FW_E5M2, tensor, 0, 0) });
	r.push_back({ "float8dq-row", operand(FW_E4M3, row, 0, 0), operand(FW_E4M3, row, 0, 0), operand(FW_E5M2, row, 0, 0) });
	r.push_back({ "powers of two", operand(FW_E4M3, row, 0, power), operand(FW_E4M3, row, 0, power),
		operand(FW_E4M3, row, 0, power) });
	const struct fw_linear_operand block = operand(FW_E4M3, FW_LINEAR_BY_BLOCK, FW_LINEAR_SCALE_BLOCK, 0);
	r.push_back({ "float8dq-block", block, block, block });
	return r;
}

/* Numbers as large as activations and weights usually are, rows of different magnitude, a few outliers, and a row of zeros. */
static std::vector<uint16_t> numbers(int64_t rows, int64_t columns, uint32_t seed)
{
	std::vector<uint16_t> all((size_t)(rows * columns + DEVICE_CHECK), poison);
	uint32_t state = seed * 2654435761u + 1;
	for (int64_t i = 0; i < rows * columns; i++) {
		double sum = 0;
		for (int j = 0; j < 4; j++) {
			state = state * 1664525u + 1013904223u;
			sum += (double)(state >> 8) / (1 << 24) - 0.5;
		}
		const float v = (float)(sum * (1 + 0.25 * (double)(i / columns % 7)) * (i % 1009 == 5 ? 30 : 1));
		uint32_t bits;
		memcpy(&bits, &v, sizeof bits);
		all[(size_t)i] = i / columns == 3 ? 0 : (uint16_t)((bits + 0x8000) >> 16);
	}
	return all;
}

struct bench {
	struct fw_linear_shape shape;
	int direction, flags;
	std::vector<uint16_t> host[FW_LINEAR_N_SLOTS];
	uint16_t *device[FW_LINEAR_N_SLOTS];
};

static int out_slot(int direction)
{
	return direction == FW_FORWARD ? FW_LINEAR_Y : direction == FW_DGRAD ? FW_LINEAR_DX : FW_LINEAR_DW;
}

static void fill(struct bench *b)
{
	const struct fw_linear_shape *s = &b->shape;
	const int64_t rows[] = { s->m, s->n, 1, s->m, s->m, s->m, s->n, s->m },
		      columns[] = { s->k, s->k, s->n, s->n, s->n, s->k, s->k, s->n };
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++) {
		b->host[slot] = numbers(rows[slot], columns[slot], (uint32_t)slot + 1);
		const size_t bytes = b->host[slot].size() * sizeof(uint16_t);
		CUDA(cudaMalloc(&b->device[slot], bytes));
		CUDA(cudaMemcpy(b->device[slot], b->host[slot].data(), bytes, cudaMemcpyHostToDevice));
	}
}

static void drop(struct bench *b)
{
	for (int slot = 0; slot < FW_LINEAR_N_SLOTS; slot++)
		CUDA(cudaFree(b->device[slot]));
}

/* The result of one call, and whether nothing else was written. */
static bool call(
	const struct bench *b, const struct fw_provider *p, struct fw_plan *plan, uint32_t phases, std::vector<uint16_t> *result)
{
	const int out = out_slot(b->direction);
	const std::vector<uint16_t> clean(b->host[out].size(), poison);
	result->assign(clean.begin(), clean.end());
	CUDA(cudaMemcpy(b->device[out], clean.data(), clean.size() * 2, cudaMemcpyHostToDevice));
	if (p->enqueue(plan, phases, NULL) != FW_OK) {
		printf("enqueue: %s\n", p->error(plan));
		return false;
	}
	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(result->data(), b->device[out], result->size() * 2, cudaMemcpyDeviceToHost));
	for (size_t i = result->size() - DEVICE_CHECK; i < result->size(); i++)
		if ((*result)[i] != poison) {
			printf("something was written behind the result\n");
			return false;
		}
	return true;
}

/*
 * The error of sums that stay in the tensor core, as a share of the sum of magnitudes: derived in
 * tests/families/test_linear_sums.c. Without fast accumulation the sums of 128 values may stay (fw_linear.h); their error is the
 * one that the family accepts of scales by block, also for other scales, because these inputs have outliers.
 */
static double tensor_core_slack(const double *left, const double *right, int depth, bool is_fast)
{
	const int stays = is_fast || depth < FW_LINEAR_SCALE_BLOCK ? depth : FW_LINEAR_SCALE_BLOCK;
	double sum = 0, size = 0, square = 0;
	for (int d = 0; d < depth; d++) {
		const double product = left[d] * right[d];
		sum += product;
		size += fabs(product);
		square += product * product;
	}
	const double of_parts = (is_fast ? 1 : 2) * sqrt(square);
	return size > 0 ? 1.2 / 8192 * sqrt(stays) * (fabs(sum) + of_parts) / size : 0;
}

/* Whether the provider adds up products of two 8-bit floats in the tensor core; others add all products in fp32. */
static bool adds_in_tensor_core(const struct fw_provider *p, const struct fw_linear_shape *s, int direction)
{
	const int left = direction == FW_FORWARD ? s->x.dtype : s->dy.dtype, right = direction == FW_WGRAD ? s->x.dtype : s->w.dtype;
	const bool is_8bit = (left == FW_E4M3 || left == FW_E5M2) && right == FW_E4M3;
	return is_8bit && (!strcmp(p->name, "fp8") || !strcmp(p->name, "hopper") || !strcmp(p->name, "cublaslt"));
}

static bool judge(const struct fw_provider *p, const struct bench *b, const std::vector<uint16_t> &result)
{
	const bool is_fast = b->flags & FW_FAST_ACCUM;
	const bool stays = is_fast || adds_in_tensor_core(p, &b->shape, b->direction);
	const struct linear_tensors t = { b->host[FW_LINEAR_X].data(), b->host[FW_LINEAR_W].data(),
		b->host[FW_LINEAR_BIAS].data(), b->host[FW_LINEAR_DY].data() };
	struct linear_side left, right;
	linear_sides(&b->shape, b->direction, &t, &left, &right);
	/* A layernorm in fp32 may round a few values to the other neighbour, each by one step of its format. */
	double slack = 4e-6;
	if (b->shape.prologue)
		slack += (b->shape.x.dtype == FW_E4M3 ? 4.0 / 16 : 4.0 / 256) / left.depth;
	std::vector<double> a((size_t)left.depth), c((size_t)left.depth * (size_t)right.rows);
	for (int column = 0; column < right.rows; column++)
		linear_row(&right, column, c.data() + (size_t)column * (size_t)left.depth);
	for (int row = 0; row < left.rows; row++) {
		linear_row(&left, row, a.data());
		for (int column = 0; column < right.rows; column++) {
			const double got = linear_widen(result[(size_t)row * (size_t)right.rows + (size_t)column]);
			const double bias = b->shape.bias ? linear_widen(t.bias[column]) : 0;
			const double *const with = c.data() + (size_t)column * (size_t)left.depth;
			const double part = stays ? tensor_core_slack(a.data(), with, left.depth, is_fast) : 0;
			double wanted;
			if (!linear_is_right(a.data(), with, left.depth, bias, b->shape.activation, slack + part, got, &wanted)) {
				printf("row %d, column %d is %g and should be %g\n", row, column, got, wanted);
				return false;
			}
		}
	}
	return true;
}

/* 1 correct, 0 refused, -1 wrong. */
static int check(const struct fw_provider *p, const struct recipe &recipe, struct bench *b)
{
	const struct fw_problem problem = { sizeof problem, FW_LINEAR, b->direction, b->flags, &b->shape, sizeof b->shape };
	struct fw_plan *plan = NULL;
	struct fw_info info;
	char why[256] = "";
	memset(&info, 0, sizeof info);
	info.struct_size = sizeof info;
	if (p->can(&problem, why, sizeof why) != FW_OK)
		return 0;
	const int status = p->plan(&problem, NULL, 0, &plan, &info, why, sizeof why);
	if (status == FW_UNSUPPORTED)
		return 0;
	bool ok = status == FW_OK;
	if (ok) {
		fill(b);
		unsigned char *workspace = NULL, *persist = NULL;
		CUDA(cudaMalloc(&workspace, info.workspace_bytes + 256));
		CUDA(cudaMalloc(&persist, info.persist_bytes + 256));
		CUDA(cudaMemset(workspace, 0xff, info.workspace_bytes));
		CUDA(cudaMemset(persist, 0xff, info.persist_bytes));
		struct fw_tensor slot[FW_LINEAR_N_SLOTS];
		memset(slot, 0, sizeof slot);
		for (int i = 0; i < FW_LINEAR_N_SLOTS; i++) {
			slot[i].data = b->device[i];
			slot[i].dtype = FW_BF16;
		}
		const struct fw_io io = { sizeof io, FW_LINEAR_N_SLOTS, slot, workspace, persist };
		const int bound = p->bind(plan, &io);
		if (bound == FW_OK) {
			std::vector<uint16_t> first, again;
			ok = call(b, p, plan, FW_ALL, &first) && judge(p, b, first);
			for (int i = 0; ok && i < 3; i++) {
				CUDA(cudaMemset(workspace, 0x11 * i, info.workspace_bytes));
				ok = call(b, p, plan, i == 0 ? FW_ALL : FW_ALL & ~info.once, &again);
				if (ok && again != first) {
					printf("another call gives other bits\n");
					ok = false;
				}
			}
		} else if (bound != FW_UNSUPPORTED) {
			printf("bind: %s\n", p->error(plan));
			ok = false;
		}
		p->destroy(plan);
		CUDA(cudaFree(workspace));
		CUDA(cudaFree(persist));
		drop(b);
		if (bound == FW_UNSUPPORTED)
			return 0;
	} else {
		printf("plan: %s\n", why);
	}
	if (!ok)
		printf("  %s, %s, direction %d, m %d, n %d, k %d, activation %d, prologue %d, bias %d: wrong\n", p->name,
			recipe.name, b->direction, b->shape.m, b->shape.n, b->shape.k, b->shape.activation, b->shape.prologue,
			b->shape.bias);
	return ok ? 1 : -1;
}

static const int sizes[][3] = { { 1, 1, 8 }, { 1, 300, 264 }, { 8, 256, 512 }, { 13, 130, 768 }, { 16, 513, 1000 },
	{ 33, 64, 2304 }, { 64, 272, 1024 }, { 50, 70, 33 }, { 128, 256, 256 }, { 130, 264, 320 }, { 7, 129, 63 },
	{ 256, 512, 192 } };

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: linear_check MODULE.so [PROVIDER...]\n");
		return 2;
	}
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	const struct fw_module *(*entry)(uint32_t) = (const struct fw_module *(*)(uint32_t))dlsym(library, "fw_entry");
	const struct fw_module *module = entry ? entry(FW_ABI) : NULL;
	if (!module) {
		fprintf(stderr, "%s: no kernel module of ABI %u\n", argv[1], FW_ABI);
		return 2;
	}
	const std::vector<struct recipe> recipes = all_recipes();
	int wrong_in_all = 0, ran = 0;
	for (uint32_t i = 0; i < module->n_providers; i++) {
		const struct fw_provider *p = module->provider[i];
		bool is_wanted = argc == 2;
		for (int j = 2; j < argc; j++)
			is_wanted = is_wanted || !strcmp(argv[j], p->name);
		if (!is_wanted)
			continue;
		int count[3] = { 0, 0, 0 }, which = 0;
		for (const struct recipe &recipe : recipes)
			for (const auto &size : sizes)
				for (int direction = FW_FORWARD; direction <= FW_WGRAD; direction++) {
					if (direction == FW_BACKWARD)
						continue;
					struct bench b;
					memset(&b.shape, 0, sizeof b.shape);
					b.direction = direction;
					b.flags = recipe.x.dtype == FW_E4M3 && recipe.x.scaling != FW_LINEAR_BY_BLOCK && which % 2
							  ? FW_FAST_ACCUM
							  : 0;
					b.shape.struct_size = sizeof b.shape;
					b.shape.m = size[0];
					b.shape.n = size[1];
					b.shape.k = recipe.w.group
							    ? (size[2] + recipe.w.group - 1) / recipe.w.group * recipe.w.group
							    : size[2];
					b.shape.x = recipe.x;
					b.shape.w = recipe.w;
					b.shape.dy = recipe.dy;
					which++;
					if (direction == FW_FORWARD && which % 3) {
						b.shape.activation = which / 3 % FW_LINEAR_N_ACTIVATIONS;
						b.shape.prologue = which % 2;
						b.shape.bias = which % 5 == 0;
					}
					count[check(p, recipe, &b) + 1]++;
				}
		printf("%s: %d right, %d refused, %d wrong\n", p->name, count[2], count[1], count[0]);
		fflush(stdout);
		wrong_in_all += count[0];
		ran += count[2] + count[0];
	}
	return wrong_in_all == 0 && ran > 0 ? 0 : 1;
}
