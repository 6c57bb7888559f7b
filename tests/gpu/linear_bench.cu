/*
 * linear_bench.cu - a module of the linear family alone: is it correct, and how fast compared with other providers, in
 * one process.
 *
 *     linear_bench MODULE.so check                 small and odd sizes against fp64, bits repeat, refusals have reasons
 *     linear_bench MODULE.so time CASES CONTENDER...   CASES: all, or part of a name; CONTENDER: provider or provider:config, the
 *                                                  others are compared with the last one
 *
 * Inputs are random and normal. The expected result is the product in fp64 of the operands after quantisation, which is
 * reimplemented here. Timing: contenders alternate A B C, C B A, ..., a flush of the L2 cache before each call, every phase
 * except the `once` ones.
 */
#include "linear_problem.cuh"

#include <algorithm>
#include <dlfcn.h>
#include <string>
#include <vector>

static const struct named {
	const char *name;
	struct request request;
} timed[] = {
#define SHAPE(name, m, k, n)                                                                                                     \
	{ name "/bf16", { m, k, n, FW_FORWARD, BASELINE } }, { name "/fp8-tensor", { m, k, n, FW_FORWARD, DQ_TENSOR } },         \
		{ name "/fp8-row", { m, k, n, FW_FORWARD, DQ_ROW } }, { name "/dgrad", { m, k, n, FW_DGRAD, BASELINE } },        \
		{ name "/int8wo", { m, k, n, FW_FORWARD, INT8WO } }, { name "/float8wo", { m, k, n, FW_FORWARD, FLOAT8WO } },    \
		{ name "/int4wo", { m, k, n, FW_FORWARD, INT4WO_64 } },                                                          \
	{                                                                                                                        \
		name "/wgrad",                                                                                                   \
		{                                                                                                                \
			m, k, n, FW_WGRAD, BASELINE                                                                              \
		}                                                                                                                \
	}
	SHAPE("cube8192", 8192, 8192, 8192),
	SHAPE("wqkv", 16384, 8192, 1280),
	SHAPE("w0", 16384, 1024, 8192),
	SHAPE("w13", 16384, 8192, 7168),
	SHAPE("w2", 16384, 3584, 8192),
};

static const struct fw_module *open_module(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	typedef const struct fw_module *(*entry_fn)(uint32_t);
	const entry_fn entry = (entry_fn)dlsym(library, "fw_entry");
	const struct fw_module *module = entry ? entry(FW_ABI) : NULL;
	if (!module) {
		fprintf(stderr, "%s serves no ABI %u\n", path, FW_ABI);
		exit(2);
	}
	return module;
}

/* One contender on one problem; `why` is empty unless it failed. */
struct contender {
	std::string name, why, config;
	const struct fw_provider *provider = NULL;
	struct fw_plan *plan = NULL;
	struct fw_info info = {};
	void *workspace = NULL, *persist = NULL, *out = NULL;
	std::vector<float> ms, once;
};

static void set_up(struct contender *c, const struct fw_module *module, const struct problem *p, const std::string &wanted)
{
	const size_t colon = wanted.find(':');
	const std::string provider = wanted.substr(0, colon), config = colon == std::string::npos ? "" : wanted.substr(colon + 1);
	char why[256] = "";
	c->name = wanted;
	for (uint32_t i = 0; i < module->n_providers; i++)
		if (provider == module->provider[i]->name)
			c->provider = module->provider[i];
	if (!c->provider) {
		c->why = "no such provider";
		return;
	}
	const struct fw_problem problem = problem_of(p);
	c->info.struct_size = sizeof c->info;
	if (c->provider->can(&problem, why, sizeof why) != FW_OK ||
		c->provider->plan(&problem, config.empty() ? NULL : config.c_str(), 0, &c->plan, &c->info, why, sizeof why) !=
			FW_OK) {
		c->why = why[0] ? why : "refused without a reason";
		return;
	}
	c->config = c->info.config ? c->info.config : "";
	CHECK(cudaMalloc(&c->workspace, c->info.workspace_bytes + 256));
	CHECK(cudaMalloc(&c->persist, c->info.persist_bytes + 256));
	CHECK(cudaMalloc(&c->out, p->out_elements * 2));
	CHECK(cudaMemset(c->out, 0xff, p->out_elements * 2)); /* NaN */
	struct fw_tensor slots[FW_LINEAR_N_SLOTS];
	const struct fw_io io = problem_io(p, c->out, c->workspace, c->persist, slots);
	if (c->provider->bind(c->plan, &io) != FW_OK || c->provider->enqueue(c->plan, FW_ALL, 0) != FW_OK)
		c->why = c->provider->error(c->plan);
	const cudaError_t e = cudaDeviceSynchronize();
	if (e != cudaSuccess) {
		printf("%s: %s\n", wanted.c_str(), cudaGetErrorString(e));
		exit(1);
	}
}

static void tear_down(struct contender *c)
{
	if (c->plan)
		c->provider->destroy(c->plan);
	cudaFree(c->workspace);
	cudaFree(c->persist);
	cudaFree(c->out);
}

static int check_one(const struct fw_module *module, const struct request *request, const char *only)
{
	int bad = 0;
	struct problem *p = problem_new(request);
	for (uint32_t i = 0; i < module->n_providers; i++) {
		struct contender c;
		if (only && strcmp(only, module->provider[i]->name))
			continue;
		set_up(&c, module, p, module->provider[i]->name);
		const std::string what = problem_name(request);
		if (!c.why.empty()) {
			printf("%-44s %-10s unsupported: %s\n", what.c_str(), c.name.c_str(), c.why.c_str());
			tear_down(&c);
			continue;
		}
		const struct difference d = problem_compare(p, c.out);
		const uint64_t before = problem_hash(p, c.out);
		int repeats = 1;
		for (int r = 0; r < 5; r++) {
			CHECK(cudaMemset(c.out, 0xff, p->out_elements * 2));
			c.provider->enqueue(c.plan, FW_ALL & ~c.info.once, 0);
			repeats &= problem_hash(p, c.out) == before;
		}
		const int right = d.relative < 4e-3 && d.worst < 0.05;
		printf("%-44s %-10s %s relative %.2e worst %.2e%s  %s\n", what.c_str(), c.name.c_str(),
			right && repeats ? "ok " : "BAD", d.relative, d.worst, repeats ? "" : " DOES NOT REPEAT",
			c.config.c_str());
		if (!right)
			printf("    at (%d, %d): %g, not %g\n", d.row, d.column, d.got, d.wanted);
		bad += !right || !repeats;
		tear_down(&c);
	}
	problem_free(p);
	return bad;
}

static int check(const struct fw_module *module, const char *only)
{
	int bad = 0;
	static const int sizes[][3] = { { 128, 64, 256 }, { 8, 8, 8 }, { 1, 64, 64 }, { 200, 136, 264 }, { 257, 1000, 520 },
		{ 384, 512, 1280 }, { 1024, 2048, 1536 }, { 2056, 4104, 776 }, { 300, 260, 130 } };
	for (const auto &s : sizes) {
		for (int direction : { FW_FORWARD, FW_DGRAD, FW_WGRAD }) {
			const struct request r = { s[0], s[1], s[2], direction, BASELINE };
			bad += check_one(module, &r, only);
		}
		for (int recipe : { DQ_TENSOR, DQ_ROW, DQ_ROW_PRECISE, INT8WO, FLOAT8WO, INT4WO_64 }) {
			const struct request r = { s[0], s[1], s[2], FW_FORWARD, recipe };
			bad += check_one(module, &r, only);
		}
	}
	for (int activation = 1; activation < FW_LINEAR_N_ACTIVATIONS; activation++) {
		for (int recipe : { BASELINE, DQ_ROW, INT8WO }) {
			const struct request r = { 200, 144, 264, FW_FORWARD, recipe, activation, activation % 3 == 0,
				activation % 2 };
			bad += check_one(module, &r, only);
		}
	}
	printf("%s\n", bad ? "WRONG" : "all right");
	return bad != 0;
}

static float median(std::vector<float> v)
{
	std::sort(v.begin(), v.end());
	return v.empty() ? 0.0f : (v[(v.size() - 1) / 2] + v[v.size() / 2]) / 2;
}

static void time_round(std::vector<struct contender *> turn, void *flush, size_t flush_bytes)
{
	cudaEvent_t begin, end;
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (struct contender *c : turn) {
		float ms = 0;
		CHECK(cudaMemsetAsync(flush, 0, flush_bytes, 0));
		CHECK(cudaEventRecord(begin, 0));
		c->provider->enqueue(c->plan, FW_ALL & ~c->info.once, 0);
		CHECK(cudaEventRecord(end, 0));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		c->ms.push_back(ms);
	}
	cudaEventDestroy(begin);
	cudaEventDestroy(end);
}

/* Each phase on its own, in microseconds; the `once` ones too. */
static std::string phase_times(struct contender *c, void *flush, size_t flush_bytes)
{
	static const char *const names[] = FW_LINEAR_PHASE_NAMES;
	std::string text;
	cudaEvent_t begin, end;
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (int bit = 0; bit < 6; bit++) {
		std::vector<float> us;
		for (int r = 0; r < 5 && c->info.phases & 1u << bit; r++) {
			float ms = 0;
			CHECK(cudaMemsetAsync(flush, 0, flush_bytes, 0));
			CHECK(cudaEventRecord(begin, 0));
			c->provider->enqueue(c->plan, 1u << bit, 0);
			CHECK(cudaEventRecord(end, 0));
			CHECK(cudaEventSynchronize(end));
			CHECK(cudaEventElapsedTime(&ms, begin, end));
			us.push_back(ms * 1e3f);
		}
		if (!us.empty())
			text += std::string(" ") + names[bit] + " " + std::to_string((int)median(us));
	}
	cudaEventDestroy(begin);
	cudaEventDestroy(end);
	return c->info.phases == FW_LINEAR_RUN ? "" : text + " us";
}

static int time_case(const struct fw_module *module, const struct named *one, char **wanted, int n_wanted, int rounds)
{
	const size_t flush_bytes = 128 << 20;
	struct problem *p = problem_new(&one->request);
	std::vector<struct contender> all((size_t)n_wanted);
	std::vector<struct contender *> turn;
	void *flush;
	int bad = 0;
	CHECK(cudaMalloc(&flush, flush_bytes));
	for (int i = 0; i < n_wanted; i++) {
		set_up(&all[(size_t)i], module, p, wanted[i]);
		if (all[(size_t)i].why.empty())
			turn.push_back(&all[(size_t)i]);
	}
	for (int r = 0; r < rounds + 2; r++) {
		time_round(turn, flush, flush_bytes);
		std::reverse(turn.begin(), turn.end());
	}
	const struct contender *last = &all.back();
	for (struct contender &c : all) {
		if (!c.why.empty()) {
			printf("%-20s %-52s %s\n", one->name, c.name.c_str(), c.why.c_str());
			continue;
		}
		std::vector<float> ratios, ms(c.ms.begin() + 2, c.ms.end());
		for (size_t i = 2; i < c.ms.size() && last->why.empty(); i++)
			ratios.push_back(last->ms[i] / c.ms[i]);
		const struct difference d = problem_compare(p, c.out);
		const bool right = d.relative < 4e-3 && d.worst < 0.05;
		bad += !right;
		printf("%-20s %-52s %8.4f ms %7.1f TFLOP/s  x%.3f  %s %.1e%s\n", one->name,
			(c.name.substr(0, c.name.find(':')) + " " + c.config).c_str(), median(ms),
			problem_flops(&one->request) / median(ms) / 1e9, median(ratios), right ? "ok" : "WRONG", d.relative,
			phase_times(&c, flush, flush_bytes).c_str());
		fflush(stdout);
	}
	for (struct contender &c : all)
		tear_down(&c);
	cudaFree(flush);
	problem_free(p);
	return bad;
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[2], "check") && (strcmp(argv[2], "time") || argc < 5))) {
		fprintf(stderr, "usage: linear_bench MODULE.so check [PROVIDER] | time CASES CONTENDER...\n");
		return 2;
	}
	const struct fw_module *module = open_module(argv[1]);
	if (!strcmp(argv[2], "check"))
		return check(module, argc > 3 ? argv[3] : NULL);
	int bad = 0;
	for (const struct named &one : timed)
		if (!strcmp(argv[3], "all") || strstr(one.name, argv[3]))
			bad += time_case(module, &one, argv + 4, argc - 4, 20);
	return bad != 0;
}
