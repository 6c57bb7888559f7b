/*
 * Every CUDA provider of a layernorm module against a reference in fp64: both directions, odd sizes, hard rows.
 *
 *     layernorm_check MODULE.so [PROVIDER...]
 *
 * A problem that a provider refuses is counted, not judged. A configuration that it chose for one problem is tried on all.
 * Outputs are full of NaN before each of four calls: three in other workspaces, which have to give the same bits, and one
 * phase by phase. Inputs, and the memory around tensors, workspace and persist, must not change. Tensors are row-major, as
 * defined in fw_layernorm.h. Prints errors and a line for each provider; exit status 1 after an error, or when nothing was
 * judged. sanitize.sh runs it, too.
 */
#include "kernels/fw_layernorm.h"
#include "tests/support/linear_reference.h"

#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

#include <algorithm>
#include <string>
#include <vector>

enum { REDZONE_BYTES = 256, POISON = 0xff, ELEMENTS_MAX = 5 << 20 }; /* of 0xff both bf16 and fp32 are NaN */
enum { PLAIN, NO_DY, ZEROS, OFFSET, ONE_FAR_OUT, TINY, ROW_KINDS };
enum { X = FW_LAYERNORM_X, GAMMA, BETA, Y, MEAN, RSTD, DY, DX, DGAMMA, DBETA, WORKSPACE, PERSIST, BUFFERS };
enum { UNUSED, IN, OUT, SCRATCH, KEPT };
static const struct {
	const char *name;
	size_t width;
	bool is_matrix;
	int role[2]; /* forward, backward */
} about[BUFFERS] = { { "X", 2, true, { IN, IN } }, { "GAMMA", 2, false, { IN, IN } }, { "BETA", 2, false, { IN, UNUSED } },
	{ "Y", 2, true, { OUT, UNUSED } }, { "MEAN", 4, false, { OUT, IN } }, { "RSTD", 4, false, { OUT, IN } },
	{ "DY", 2, true, { UNUSED, IN } }, { "DX", 2, true, { UNUSED, OUT } }, { "DGAMMA", 2, false, { UNUSED, OUT } },
	{ "DBETA", 2, false, { UNUSED, OUT } }, { "the workspace", 1, false, { SCRATCH, SCRATCH } },
	{ "persist", 1, false, { KEPT, KEPT } } };

/* The error of a sum in fp32, as a share of the sum of magnitudes: 256 roundings, all to one side, or thousands that are not. */
static const double sum_slack = 256 / 16777216.0;

#define CUDA(call)                                                                                                               \
	do {                                                                                                                     \
		const cudaError_t e_ = (call);                                                                                   \
		if (e_ != cudaSuccess) {                                                                                         \
			printf("%s: %s\n", #call, cudaGetErrorString(e_));                                                       \
			exit(1);                                                                                                 \
		}                                                                                                                \
	} while (0)

struct buffer {
	int role;
	std::vector<double> value, slack;        /* actual or expected value, and the tolerance */
	std::vector<unsigned char> host, result; /* with a redzone at both ends, as on the device */
	unsigned char *device;                   /* NULL: unused */
};

struct trial {
	struct fw_layernorm shape;
	int direction;
	uint32_t seed;
	std::string chosen; /* the configuration that the provider chooses */
};

/* Values as large as activations usually are, around 0. */
static std::vector<double> numbers(const struct trial *t, int slot)
{
	const int64_t columns = t->shape.columns, n = about[slot].is_matrix ? t->shape.rows * columns : columns;
	std::vector<double> all((size_t)n);
	uint32_t state = (t->seed * 16 + (uint32_t)slot) * 2654435761u + 1;
	for (int64_t i = 0; i < n; i++) {
		const int64_t row = i / columns, column = i % columns;
		const int kind = (int)((row + t->seed) % ROW_KINDS);
		double v = 0;
		for (int j = 0; j < 4; j++) {
			state = state * 1664525u + 1013904223u;
			v += (double)(state >> 8) / (1 << 24) - 0.5;
		}
		v *= (double)(1 + row % 5) * (i % 1009 == 5 ? 30 : 1);
		if (slot == GAMMA)
			v = column % 50 == 7 ? 0 : 1 + v;
		else if ((slot == DY && kind == NO_DY) || (slot == X && kind == ZEROS))
			v = 0;
		else if (slot == X && kind == OFFSET) /* fp32 has too few bits to subtract MEAN's square from that of squares */
			v = 1000 + 4 * (double)(state >> 30);
		else if (slot == X && kind == ONE_FAR_OUT && column == columns / 2)
			v = 30000;
		else if (slot == X && kind == TINY) /* epsilon is most of the variance, or comparable */
			v *= 1e-6;
		all[(size_t)i] = linear_to_bf16(v);
	}
	return all;
}

template <class of_column> static double average(int columns, of_column f)
{
	double sum = 0;
	for (int j = 0; j < columns; j++)
		sum += f(j);
	return sum / columns;
}

/* MEAN has the error of its sum, RSTD that of the sum of squares, which includes the square of MEAN's error. */
static void normalise(const struct trial *t, struct buffer *of)
{
	const int n = t->shape.columns;
	const double *x = of[X].value.data();
	for (int64_t row = 0; row < t->shape.rows; row++, x += n) {
		const double mean = average(n, [=](int j) { return x[j]; });
		const double size = average(n, [=](int j) { return fabs(x[j]); });
		const double variance = average(n, [=](int j) { return (x[j] - mean) * (x[j] - mean); });
		const double rstd = 1 / sqrt(variance + (double)t->shape.epsilon), off = sum_slack * size * rstd;
		const double share = sum_slack + off * off;
		of[MEAN].value.push_back(mean);
		of[MEAN].slack.push_back(sum_slack * size);
		of[RSTD].value.push_back(rstd);
		of[RSTD].slack.push_back(share * rstd);
		for (int j = 0; t->direction == FW_FORWARD && j < n; j++) {
			const double normal = (x[j] - mean) * rstd, gamma = of[GAMMA].value[j], beta = of[BETA].value[j];
			of[Y].value.push_back(normal * gamma + beta);
			of[Y].slack.push_back(fabs(gamma) * (off + share * fabs(normal)) + sum_slack * fabs(beta));
		}
	}
}

/* MEAN and RSTD are given, in fp32, so that only sums are off. */
static void differentiate(const struct trial *t, struct buffer *of)
{
	const int n = t->shape.columns;
	const double *x = of[X].value.data(), *dy = of[DY].value.data();
	std::vector<double> normal((size_t)n), own((size_t)n);
	for (int slot : { DGAMMA, DBETA })
		of[slot].value = of[slot].slack = std::vector<double>((size_t)n);
	for (int64_t row = 0; row < t->shape.rows; row++, x += n, dy += n) {
		const double mean = of[MEAN].value[row] = (float)of[MEAN].value[row];
		const double rstd = of[RSTD].value[row] = (float)of[RSTD].value[row];
		for (int j = 0; j < n; j++) {
			normal[j] = (x[j] - mean) * rstd;
			own[j] = dy[j] * of[GAMMA].value[j];
			of[DGAMMA].value[j] += dy[j] * normal[j];
			of[DGAMMA].slack[j] += sum_slack * fabs(dy[j] * normal[j]);
			of[DBETA].value[j] += dy[j];
			of[DBETA].slack[j] += sum_slack * fabs(dy[j]);
		}
		const double g = average(n, [&](int j) { return own[j]; });
		const double gx = average(n, [&](int j) { return own[j] * normal[j]; });
		const double g_size = average(n, [&](int j) { return fabs(own[j]); });
		const double gx_size = average(n, [&](int j) { return fabs(own[j] * normal[j]); });
		for (int j = 0; j < n; j++) {
			of[DX].value.push_back(rstd * (own[j] - g - normal[j] * gx));
			of[DX].slack.push_back(sum_slack * rstd * (fabs(own[j]) + g_size + fabs(normal[j]) * gx_size));
		}
	}
}

static void fill(const struct trial *t, const struct fw_info *info, struct buffer *of)
{
	for (int slot : { X, GAMMA, BETA, DY })
		of[slot].value = numbers(t, slot);
	normalise(t, of);
	if (t->direction == FW_BACKWARD)
		differentiate(t, of);
	for (int slot = 0; slot < BUFFERS; slot++) {
		struct buffer *const b = &of[slot];
		const size_t n = b->value.size(), width = about[slot].width;
		b->role = about[slot].role[t->direction == FW_BACKWARD];
		b->device = NULL;
		if (b->role == UNUSED)
			continue;
		const size_t bytes = slot == WORKSPACE ? info->workspace_bytes
				     : slot == PERSIST ? info->persist_bytes
						       : n * width;
		b->host.assign(bytes + 2 * REDZONE_BYTES, POISON);
		for (size_t i = 0; b->role == IN && i < n; i++) {
			const float v = (float)b->value[i]; /* a bf16 is its last two bytes */
			memcpy(&b->host[REDZONE_BYTES + i * width], (const char *)&v + sizeof v - width, width);
		}
		CUDA(cudaMalloc(&b->device, b->host.size()));
		CUDA(cudaMemcpy(b->device, b->host.data(), b->host.size(), cudaMemcpyHostToDevice));
	}
}

/* Rounding to bf16 is monotonic: possible fp32 values are between low and high, and rounded ones between the rounded bounds. */
static bool judge(const struct trial *t, const struct buffer *of, int slot)
{
	const size_t width = about[slot].width, columns = width == 4 ? 1 : (size_t)t->shape.columns;
	for (size_t i = 0; i < of[slot].value.size(); i++) {
		double low = of[slot].value[i] - of[slot].slack[i], high = of[slot].value[i] + of[slot].slack[i];
		float got = 0;
		memcpy((char *)&got + sizeof got - width, &of[slot].result[REDZONE_BYTES + i * width], width);
		low = width == 4 ? low : linear_to_bf16(low);
		high = width == 4 ? high : linear_to_bf16(high);
		if (!((double)got >= low && (double)got <= high)) {
			printf("%s: row %zu, column %zu is %.9g and should be %.9g, or from %.9g to %.9g\n", about[slot].name,
				i / columns, i % columns, (double)got, of[slot].value[i], low, high);
			return false;
		}
	}
	return true;
}

/* All phases at once, or one after the other: phases that do not exist must be skipped. Returns whether nothing else was
 * written. */
static bool call(const struct fw_provider *p, struct fw_plan *plan, bool want_phases, struct buffer *of)
{
	for (struct buffer *b = of; b < of + BUFFERS; b++)
		if (b->role == OUT || b->role == SCRATCH)
			CUDA(cudaMemcpy(b->device, b->host.data(), b->host.size(), cudaMemcpyHostToDevice));
	for (uint32_t phases = want_phases ? 1 : FW_ALL; phases <= FW_ALL; phases *= 2)
		if (p->enqueue(plan, phases, NULL) != FW_OK) {
			printf("enqueue: %s\n", p->error(plan));
			return false;
		}
	CUDA(cudaDeviceSynchronize());
	for (int slot = 0; slot < BUFFERS; slot++) {
		struct buffer *const b = &of[slot];
		if (b->role == UNUSED)
			continue;
		b->result.resize(b->host.size());
		CUDA(cudaMemcpy(b->result.data(), b->device, b->result.size(), cudaMemcpyDeviceToHost));
		const size_t end = b->host.size() - REDZONE_BYTES;
		if (memcmp(b->result.data(), b->host.data(), b->role == IN ? end : (size_t)REDZONE_BYTES) ||
			memcmp(&b->result[end], &b->host[end], REDZONE_BYTES)) {
			printf("%s: something was written %s\n", about[slot].name,
				b->role == IN ? "to an input" : "beyond its ends");
			return false;
		}
	}
	return true;
}

static bool is_right(const struct trial *t, const struct fw_provider *p, struct fw_plan *plan, struct buffer *of)
{
	static const int contents[] = { POISON, 0, 0x47, POISON }; /* NaN, zeros, large numbers; the last is phase by phase */
	std::vector<unsigned char> first[BUFFERS];
	for (int i = 0; i < 4; i++) {
		std::fill(of[WORKSPACE].host.begin() + REDZONE_BYTES, of[WORKSPACE].host.end() - REDZONE_BYTES, contents[i]);
		if (!call(p, plan, i == 3, of))
			return false;
		for (int slot = 0; slot < BUFFERS; slot++) {
			if (of[slot].role != OUT)
				continue;
			if (i % 3 == 0 && !judge(t, of, slot))
				return false;
			if (i == 0)
				first[slot] = of[slot].result;
			else if (i < 3 && first[slot] != of[slot].result) {
				printf("%s: another call gives other bits\n", about[slot].name);
				return false;
			}
		}
	}
	return true;
}

/* 1 correct, 0 refused, -1 wrong. `config` NULL: the provider's choice, which the trial stores. */
static int check(struct trial *t, const struct fw_provider *p, const char *config)
{
	const struct fw_problem problem = { sizeof problem, FW_LAYERNORM, t->direction, FW_DETERMINISTIC, &t->shape,
		sizeof t->shape };
	struct fw_plan *plan = NULL;
	struct fw_info info;
	char why[256] = "";
	bool ok = false;
	memset(&info, 0, sizeof info);
	info.struct_size = sizeof info;
	if (p->can(&problem, why, sizeof why) != FW_OK)
		return 0;
	int status = p->plan(&problem, config, 0, &plan, &info, why, sizeof why);
	if (status == FW_OK) {
		struct buffer of[BUFFERS];
		struct fw_tensor slot[FW_LAYERNORM_SLOTS];
		if (!config)
			t->chosen = info.config ? info.config : "";
		fill(t, &info, of);
		memset(slot, 0, sizeof slot);
		for (int i = 0; i < FW_LAYERNORM_SLOTS; i++) {
			slot[i].data = of[i].device ? of[i].device + REDZONE_BYTES : NULL;
			slot[i].dtype = about[i].width == 4 ? FW_F32 : FW_BF16;
			if (t->seed % 2 == 0)
				continue; /* zeros mean row-major; else it is specified as by the runner */
			slot[i].stride[0] = about[i].is_matrix ? t->shape.columns : 1;
			slot[i].stride[1] = about[i].is_matrix;
		}
		const struct fw_io io = { sizeof io, FW_LAYERNORM_SLOTS, slot, of[WORKSPACE].device + REDZONE_BYTES,
			of[PERSIST].device + REDZONE_BYTES };
		status = p->bind(plan, &io);
		if (status == FW_OK)
			ok = is_right(t, p, plan, of);
		else
			snprintf(why, sizeof why, "%s", p->error(plan));
		p->destroy(plan);
		for (const struct buffer &b : of)
			CUDA(cudaFree(b.device));
	}
	if (status == FW_UNSUPPORTED)
		return 0;
	if (!ok)
		printf("%s%s  %s, %s, %s, %d x %d, epsilon %g: wrong\n", why, *why ? "\n" : "", p->name,
			config ? config : "its own choice", t->direction == FW_FORWARD ? "forward" : "backward", t->shape.rows,
			t->shape.columns, (double)t->shape.epsilon);
	return ok ? 1 : -1;
}

static std::vector<struct trial> trials(void)
{
	static const int rows[] = { 1, 3, 7, 33, 129, 155, 1000, 5000 };
	static const int columns[] = { 8, 24, 136, 320, 1000, 1024, 2056, 4096, 8200, 16384, 32768, 32776 };
	static const float epsilons[] = { 1e-5f, 1e-12f, 1e-3f };
	std::vector<struct trial> all;
	uint32_t seed = 0;
	for (int m : rows)
		for (int n : columns) {
			if (m * n > ELEMENTS_MAX)
				continue;
			for (int direction : { FW_FORWARD, FW_BACKWARD })
				all.push_back({ { sizeof(struct fw_layernorm), m, n, epsilons[seed % 3] }, direction, seed, "" });
			seed++;
		}
	return all;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: layernorm_check MODULE.so [PROVIDER...]\n");
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
	CUDA(cudaSetDevice(0)); /* without a GPU everything ends here, with one line */
	int wrong_in_all = 0, ran = 0;
	for (uint32_t i = 0; i < module->n_providers; i++) {
		const struct fw_provider *p = module->provider[i];
		bool is_wanted = argc == 2;
		for (int j = 2; j < argc; j++)
			is_wanted = is_wanted || !strcmp(argv[j], p->name);
		if (!is_wanted || p->device != FW_CUDA || p->family != FW_LAYERNORM)
			continue;
		int count[3] = { 0, 0, 0 };
		std::vector<struct trial> all = trials();
		std::vector<std::string> configs;
		for (struct trial &t : all) {
			count[check(&t, p, NULL) + 1]++;
			if (!t.chosen.empty() && std::find(configs.begin(), configs.end(), t.chosen) == configs.end())
				configs.push_back(t.chosen);
		}
		for (const std::string &config : configs)
			for (struct trial &t : all) {
				const int result = t.chosen.empty() || t.chosen == config ? 0 : check(&t, p, config.c_str());
				if (result != 0) /* the provider decides which configurations exist for a problem */
					count[result + 1]++;
			}
		printf("%s: %d right, %d refused, %d wrong\n", p->name, count[2], count[1], count[0]);
		fflush(stdout);
		wrong_in_all += count[0];
		ran += count[2] + count[0];
	}
	if (ran == 0)
		printf("%s: nothing was judged\n", argv[1]);
	return wrong_in_all == 0 && ran > 0 ? 0 : 1;
}
