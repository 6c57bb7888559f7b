/**
 * attention_check.cu - checks and times every provider of a CUDA attention module, without daemon or runner.
 *
 *     attention_check MODULE.so [--quick | --time] [--only TEXT] [--provider NAME] [--config TEXT]
 *
 * Checks: small and odd problems against an fp64 reference on the CPU, by the criteria of attention_compare.cuh. Outputs and
 * workspace are poisoned before every call, the bytes after each must survive, phases run one by one must give the same result as
 * all at once, a second mask must work on the same plan, O, LSE, dK and dV must repeat bit by bit (dQ too where FW_DETERMINISTIC
 * is supported), a call must be capturable into a graph, and a mask that retains all blocks must give the result of the full
 * mask. --quick: the small ones, for sanitizers.
 * --time: the shapes of suite ffa, cold L2, median of several calls. Exit: 0 all passed, 1 some failed, 2 usage.
 *
 * `make gpu-check` builds and runs it; tests/gpu/sanitize.sh runs --quick under compute-sanitizer.
 */
#include "attention_compare.cuh"
#include "attention_problems.cuh"
#include "attention_setup.cuh"
#include "attention_time.cuh"

#include <dlfcn.h>

#include <map>

static int passed, failed, repeats = 20;
static std::map<std::string, int> skipped;

/* All outputs must have the same bits as in the first call; dQ only when the plan is deterministic. */
static void check_bits(struct outcome *o, const struct setup *u, int backward, bool deterministic,
	const std::vector<uint16_t> first[], const char *what)
{
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (is_output(s, backward) && (s != FW_DQ || deterministic) && fetch<uint16_t>(u->slot[s]) != first[s])
			fail(o, "%s: %s differs from the first call", what, slot_name(s));
}

static void keep_bits(const struct setup *u, int backward, std::vector<uint16_t> first[])
{
	for (int s = 0; s < FW_ATTENTION_SLOTS; s++)
		if (is_output(s, backward))
			first[s] = fetch<uint16_t>(u->slot[s]);
}

static void check_count(struct outcome *o, const struct fw_provider *v, const struct setup *u, int backward, const char *config,
	const struct mask &m)
{
	struct fw_tensor host[FW_ATTENTION_SLOTS];
	struct fw_io io;
	struct fw_work work;
	if (!v->count)
		return;
	memset(host, 0, sizeof host);
	memset(&io, 0, sizeof io);
	memset(&work, 0, sizeof work);
	io.struct_size = sizeof io;
	io.n_slots = FW_ATTENTION_SLOTS;
	io.slot = host;
	work.struct_size = sizeof work;
	host[FW_CU_Q].data = (void *)m.cu_q.data();
	host[FW_CU_K].data = (void *)m.cu_k.data();
	host[FW_BLOCK_BITS].data = m.bits.empty() ? NULL : (void *)m.bits.data();
	const double useful = useful_pairs(u->p, m) * (u->p.nhq / u->p.nhk) * u->p.d * (backward ? 10.0 : 4.0);
	if (v->count(&u->direction[backward], config, &io, &work) != FW_OK)
		fail(o, "count refused");
	else if (work.flops_issued < useful * (1 - 1e-9))
		fail(o, "count: %g FLOPs issued, fewer than the %g useful", work.flops_issued, useful);
	else if (work.blocks_kept != m.blocks && u->p.block)
		fail(o, "count: %lld blocks kept, not %lld", (long long)work.blocks_kept, (long long)m.blocks);
	else if (work.tiles_skipped < 0 || work.tiles_partial < 0 || work.tiles_skipped + work.tiles_partial > work.tiles_total)
		fail(o, "count: %lld tiles, %lld skipped, %lld partial", (long long)work.tiles_total,
			(long long)work.tiles_skipped, (long long)work.tiles_partial);
}

/* A call must be capturable, and its graph must do what the call does. */
static void check_graph(struct outcome *o, const struct fw_provider *v, const struct plan_of &made, struct setup *u, int backward,
	bool deterministic, const struct answer &exact, const struct answer &plain, const std::vector<uint16_t> first[],
	cudaStream_t stream)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t executable = NULL;
	poison(u, backward, ALL_ONES);
	CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	int status = v->enqueue(made.plan, FW_ALL, stream);
	cudaError_t e = cudaStreamEndCapture(stream, &graph);
	if (status != FW_OK || e != cudaSuccess) {
		fail(o, "capture: status %d, %s", status, cudaGetErrorString(e));
		(void)cudaGetLastError();
	} else {
		CUDA(cudaGraphInstantiate(&executable, graph, 0));
		CUDA(cudaGraphLaunch(executable, stream));
		finished(o, v, made.plan, FW_OK, "graph");
		check_values(o, u, backward, exact, plain);
		check_bits(o, u, backward, deterministic, first, "graph");
		CUDA(cudaGraphExecDestroy(executable));
	}
	if (graph)
		CUDA(cudaGraphDestroy(graph));
}

/* O and LSE as an exact forward would have left them. */
static void store_forward(struct setup *u, const struct answer &exact)
{
	std::vector<uint16_t> out(exact.o.size());
	for (size_t i = 0; i < out.size(); i++)
		out[i] = bf16_bits(exact.o[i]);
	store(u->slot[FW_O], out);
	store(u->slot[FW_LSE], std::vector<float>(exact.lse.begin(), exact.lse.end()));
	CUDA(cudaDeviceSynchronize());
}

/* Its own config must be accepted, another text refused. */
static void check_config(
	struct outcome *o, const struct fw_provider *v, const struct setup *u, int backward, int flags, const std::string &config)
{
	struct fw_plan *pinned = NULL;
	struct fw_info info;
	struct fw_problem problem = u->direction[backward];
	char why[256] = "";
	problem.flags = flags;
	memset(&info, 0, sizeof info);
	info.struct_size = sizeof info;
	if (v->plan(&problem, config.c_str(), 0, &pinned, &info, why, sizeof why) != FW_OK || config != info.config)
		fail(o, "its own config \"%s\" is refused: %s", config.c_str(), why);
	v->destroy(pinned);
	pinned = NULL;
	if (v->plan(&problem, "BLOCK_M=7", 0, &pinned, &info, why, sizeof why) == FW_OK)
		fail(o, "config BLOCK_M=7 is accepted");
	v->destroy(pinned);
}

/* `flags`: enum fw_problem_flag. Sets *refused when the provider accepts the problem but finds no plan for it, which is
 * allowed. */
static struct outcome check(const struct fw_provider *v, struct setup *u, int backward, int flags, const char *config,
	const struct mask masks[2], const struct answer exact[2], const struct answer plain[2], cudaStream_t stream,
	bool *refused)
{
	struct outcome o = { "", 0, 0, 0 };
	struct plan_of made;
	const bool deterministic = (flags & FW_DETERMINISTIC) != 0;
	set_mask(u, masks[0]);
	const int status = make_plan(&o, v, u, backward, flags, config, &made);
	*refused = status == FW_UNSUPPORTED;
	if (status == FW_OK) {
		std::vector<uint16_t> first[FW_ATTENTION_SLOTS];
		poison(u, backward, ALL_ONES);
		if (finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "all phases")) {
			check_values(&o, u, backward, exact[0], plain[0]);
			keep_bits(u, backward, first);
		}

		poison(u, backward, 0x7b);
		for (uint32_t phase = 1; phase < FW_ALL; phase <<= 1)
			if (made.info.phases & phase)
				finished(&o, v, made.plan, v->enqueue(made.plan, phase, stream), "one phase");
		check_values(&o, u, backward, exact[0], plain[0]);
		check_bits(&o, u, backward, deterministic, first, "phases one by one");

		for (int i = 0; i < repeats; i++) {
			poison(u, backward, i);
			finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "repeat");
			check_bits(&o, u, backward, deterministic, first, "repeat");
		}
		check_graph(&o, v, made, u, backward, deterministic, exact[0], plain[0], first, stream);

		set_mask(u, masks[1]);
		if (backward) /* the second mask has its own O and LSE */
			store_forward(u, exact[1]);
		poison(u, backward, 0x11);
		if (finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "second mask")) {
			std::string before = o.failure;
			check_values(&o, u, backward, exact[1], plain[1]);
			if (before.empty() && !o.failure.empty())
				o.failure = "second mask: " + o.failure;
		}
		check_count(&o, v, u, backward, made.info.config, masks[0]);
		if (!(v->flags & FW_JIT)) /* a plan that compiles is too expensive to make twice everywhere */
			check_config(&o, v, u, backward, flags, made.info.config);
	}
	v->destroy(made.plan);
	return o;
}

static void report(
	const struct fw_provider *v, const char *problem, const char *what, const char *config, const struct outcome &o)
{
	printf("%s %s %s %s%s%s%s: error %.3g allowed %.3g (%.2f)%s%s\n", o.failure.empty() ? "ok    " : "FAILED", v->name,
		problem, what, config ? " [" : "", config ? config : "", config ? "]" : "", o.error, o.allowed, o.ratio,
		o.failure.empty() ? "" : "  ", o.failure.c_str());
	fflush(stdout);
	if (o.failure.empty())
		passed++;
	else
		failed++;
}

/* A refusal is allowed; each reason is printed once, with its count. */
static void skip(const struct fw_provider *v, const char *what, const char *why)
{
	skipped[std::string(v->name) + " " + what + ": " + why]++;
}

/* One forward of the first mask, so that backward has O and LSE to read. */
static bool run_forward(const struct fw_provider *v, struct setup *u, const struct mask &m, cudaStream_t stream)
{
	struct outcome o = { "", 0, 0, 0 };
	struct plan_of made;
	set_mask(u, m);
	bool ran = make_plan(&o, v, u, 0, 0, NULL, &made) == FW_OK &&
		   finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), "forward for backward");
	v->destroy(made.plan);
	return ran;
}

static void check_provider(const struct fw_provider *v, struct setup *u, const char *only_config, const struct mask masks[2],
	const struct answer exact[2], const struct answer plain[2], cudaStream_t stream)
{
	char why[256] = "";
	/* The default, the other tile of v1's backward, and the deterministic mode. */
	const struct variant {
		int backward, flags;
		const char *config;
	} variants[] = { { 0, 0, only_config }, { 1, 0, only_config }, { 1, 0, "BLOCK_M=64 BLOCK_N=64 STAGES=2" },
		{ 1, 0, "BLOCK_M=64 BLOCK_N=128 STAGES=3 WARPGROUPS=3 PARTS=2 PASSES=1" },
		{ 1, 0, "BLOCK_M=64 BLOCK_N=128 STAGES=3 WARPGROUPS=3 PARTS=2 PASSES=2" },
		{ 1, 0, "BLOCK_M=64 BLOCK_N=64 STAGES=4 WARPGROUPS=3 PARTS=2 PASSES=1" },
		{ 1, 0, "BLOCK_M=64 BLOCK_N=64 STAGES=4 WARPGROUPS=3 PARTS=2 PASSES=2" },
		{ 1, 0, "BLOCK_M=64 BLOCK_N=128 STAGES=3 WARPGROUPS=3 PARTS=1 PASSES=1" },

		{ 1, FW_DETERMINISTIC, NULL } };
	for (const struct variant &w : variants) {
		const char *const what = !w.backward ? "forward" : w.flags ? "backward deterministic" : "backward";
		struct fw_problem problem = u->direction[w.backward];
		problem.flags = w.flags;
		if (v->can(&problem, why, sizeof why) != FW_OK) {
			skip(v, what, why);
			continue;
		}
		if (w.config && w.config != only_config) {
			struct plan_of probe;
			struct outcome o = { "", 0, 0, 0 };
			const bool taken = make_plan(&o, v, u, w.backward, w.flags, w.config, &probe) == FW_OK;
			v->destroy(probe.plan);
			if (!taken)
				continue;
		}
		if (w.backward && (v->flags & FW_JIT || !run_forward(v, u, masks[0], stream)))
			store_forward(u, exact[0]); /* it has no such forward, or compiling it once more would take too long */
		bool refused = false;
		const struct outcome o = check(v, u, w.backward, w.flags, w.config, masks, exact, plain, stream, &refused);
		if (refused)
			skip(v, what, o.failure.c_str());
		else
			report(v, u->p.name.c_str(), what, w.config, o);
	}
}

typedef std::vector<const struct fw_provider *> provider_list;

/* The reference is expensive, so it is computed once for all providers. */
static void check_problem(const provider_list &providers, const struct problem &p, const char *config)
{
	struct setup u;
	const struct mask masks[2] = { make_mask(p, 0), make_mask(p, 1) };
	make_setup(&u, p, std::max(masks[0].blocks, masks[1].blocks));
	struct answer exact[2], plain[2];
	struct inputs in;
	in.q = fetch<uint16_t>(u.slot[FW_Q]);
	in.k = fetch<uint16_t>(u.slot[FW_K]);
	in.v = fetch<uint16_t>(u.slot[FW_V]);
	in.grad_o = fetch<uint16_t>(u.slot[FW_DO]);
	reference(p, masks[0], in, u.attention.scale, &exact[0], &plain[0]);
	if (masks[0].cu_q == masks[1].cu_q && masks[0].cu_k == masks[1].cu_k && masks[0].bits == masks[1].bits) {
		exact[1] = exact[0];
		plain[1] = plain[0];
	} else {
		reference(p, masks[1], in, u.attention.scale, &exact[1], &plain[1]);
	}
	cudaStream_t stream;
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (const struct fw_provider *v : providers)
		if (!(v->flags & FW_JIT) || p.d == 128) /* half of the problems are enough if each compiles */
			check_provider(v, &u, config, masks, exact, plain, stream);
	CUDA(cudaStreamDestroy(stream));
	free_setup(&u);
}

/* Relative distance of two tensors in the 2-norm. */
static double distance(const std::vector<uint16_t> &a, const std::vector<uint16_t> &b)
{
	double off = 0, norm = 0;
	for (size_t i = 0; i < a.size(); i++) {
		const double x = bf16_value(a[i]), y = bf16_value(b[i]);
		off += (x - y) * (x - y);
		norm += y * y;
	}
	return norm > 0 ? sqrt(off / norm) : off > 0 ? INFINITY : 0;
}

/* A mask that retains all blocks is the full mask: both code paths of a provider must agree, on more tokens than the reference
 * could compute. */
static void check_all_kept(const struct fw_provider *v, int block, cudaStream_t stream)
{
	enum { TOKENS = 2048 };
	const struct problem sparse = blocks(TOKENS, TOKENS, block, 1.0, 16, 2, 128),
			     full = dense("full", FW_FULL, { TOKENS }, { TOKENS }, 16, 2, 128);
	const struct problem *const kinds[2] = { &full, &sparse };
	std::vector<uint16_t> results[2][FW_ATTENTION_SLOTS];
	struct outcome o = { "", 0, 0.01, 0 };
	for (int i = 0; i < 2; i++) {
		struct setup u;
		char why[256] = "";
		const struct mask m = make_mask(*kinds[i], 0);
		make_setup(&u, *kinds[i], m.blocks);
		for (int backward = 0; backward < 2 && o.failure.empty(); backward++) {
			struct plan_of made;
			set_mask(&u, m);
			if (v->can(&u.direction[backward], why, sizeof why) != FW_OK ||
				make_plan(&o, v, &u, backward, 0, NULL, &made) != FW_OK) {
				skip(v, "blocks against full", why[0] ? why : o.failure.c_str());
				free_setup(&u);
				return;
			}
			poison(&u, backward, ALL_ONES);
			if (finished(&o, v, made.plan, v->enqueue(made.plan, FW_ALL, stream), kinds[i]->name.c_str()))
				keep_bits(&u, backward, results[i]);
			v->destroy(made.plan);
		}
		free_setup(&u);
	}
	const int slots[] = { FW_O, FW_DQ, FW_DK, FW_DV };
	for (int s : slots) {
		const double far = distance(results[1][s], results[0][s]);
		o.error = std::max(o.error, far);
		if (!(far <= o.allowed))
			fail(&o, "%s is %.3g away from the full mask's", slot_name(s), far);
	}
	o.ratio = o.error / o.allowed;
	report(v, sparse.name.c_str(), "against full", NULL, o);
}

static int usage(void)
{
	fprintf(stderr, "usage: attention_check MODULE.so [--quick | --time] [--only TEXT] [--provider NAME] [--config TEXT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *path = NULL, *only = "", *wanted = NULL, *config = NULL;
	bool timing = false, quick = false;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--time"))
			timing = true;
		else if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (!strcmp(argv[i], "--only") && i + 1 < argc)
			only = argv[++i];
		else if (!strcmp(argv[i], "--provider") && i + 1 < argc)
			wanted = argv[++i];
		else if (!strcmp(argv[i], "--config") && i + 1 < argc)
			config = argv[++i];
		else if (argv[i][0] == '-' || path)
			return usage();
		else
			path = argv[i];
	}
	if (!path)
		return usage();
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	const struct fw_module *(*entry)(uint32_t) = (const struct fw_module *(*)(uint32_t))dlsym(library, "fw_entry");
	const struct fw_module *module = entry ? entry(FW_ABI) : NULL;
	if (!module) {
		fprintf(stderr, "%s: no kernel library of ABI %u\n", path, FW_ABI);
		return 2;
	}
	CUDA(cudaSetDevice(0));
	if (quick)
		repeats = 2;
	provider_list providers;
	for (uint32_t i = 0; i < module->n_providers; i++) {
		const struct fw_provider *v = module->provider[i];
		if (v->device == FW_CUDA && v->family == FW_ATTENTION && (!wanted || !strcmp(wanted, v->name)))
			providers.push_back(v);
	}
	if (providers.empty()) {
		fprintf(stderr, "%s: no CUDA provider%s%s\n", path, wanted ? " named " : "", wanted ? wanted : "");
		return 2;
	}
	if (timing) {
		for (const struct problem &p : large_problems())
			for (const struct fw_provider *v : providers)
				if (p.name.find(only) != std::string::npos)
					time_problem(v, p, config);
		return 0;
	}
	for (const struct problem &p : small_problems(quick))
		if (p.name.find(only) != std::string::npos)
			check_problem(providers, p, config);
	if (!quick && !config && !*only) {
		cudaStream_t stream;
		CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		for (const struct fw_provider *v : providers)
			for (int block = 64; block <= 128; block += 64)
				check_all_kept(v, block, stream);
		CUDA(cudaStreamDestroy(stream));
	}
	for (const std::pair<const std::string, int> &reason : skipped)
		printf("skip   %s (%d times)\n", reason.first.c_str(), reason.second);
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
