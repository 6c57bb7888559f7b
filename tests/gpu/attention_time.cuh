/**
 * attention_time.cuh - the shapes of suite ffa on one provider: cold L2, median of several calls.
 */
#ifndef GPU_ATTENTION_TIME_CUH
#define GPU_ATTENTION_TIME_CUH

#include "attention_problems.cuh"
#include "attention_setup.cuh"

static double median(std::vector<double> v)
{
	std::sort(v.begin(), v.end());
	return v.empty() ? NAN : v[v.size() / 2];
}

static double timed_call(const struct fw_provider *v, struct fw_plan *plan, uint32_t phases, const struct buffer &scrub,
	cudaStream_t stream, cudaEvent_t from, cudaEvent_t to)
{
	float ms = 0;
	CUDA(cudaMemsetAsync(scrub.data, 1, scrub.bytes, stream));
	CUDA(cudaEventRecord(from, stream));
	int status = v->enqueue(plan, phases, stream);
	CUDA(cudaEventRecord(to, stream));
	CUDA(cudaStreamSynchronize(stream));
	if (status != FW_OK) {
		fprintf(stderr, "enqueue: status %d, %s\n", status, v->error(plan));
		exit(1);
	}
	CUDA(cudaEventElapsedTime(&ms, from, to));
	return ms;
}

static void time_problem(const struct fw_provider *v, const struct problem &p, const char *config)
{
	static const char *const phase_names[] = { "range_merge", "prepare", "preprocess", "run", "fill", "cast" };
	const struct mask m = make_mask(p, 0);
	struct setup u;
	cudaStream_t stream;
	cudaEvent_t from, to;
	make_setup(&u, p, m.blocks);
	set_mask(&u, m);
	CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CUDA(cudaEventCreate(&from));
	CUDA(cudaEventCreate(&to));
	struct buffer scrub = make_buffer((size_t)256 << 20);
	CUDA(cudaDeviceSynchronize());
	const double pairs = useful_pairs(p, m) * (p.nhq / p.nhk);
	for (int backward = 0; backward < 2; backward++) {
		char why[256];
		struct outcome o = { "", 0, 0, 0 };
		struct plan_of made;
		if (v->can(&u.direction[backward], why, sizeof why) != FW_OK)
			continue;
		if (make_plan(&o, v, &u, backward, 0, config, &made) != FW_OK) {
			printf("time   %s %s %s: %s\n", v->name, p.name.c_str(), backward ? "backward" : "forward",
				o.failure.c_str());
			v->destroy(made.plan);
			continue;
		}
		double once = timed_call(v, made.plan, FW_ALL, scrub, stream, from, to);
		once = timed_call(v, made.plan, FW_ALL, scrub, stream, from, to);
		const int calls = std::max(5, std::min(30, (int)(1000.0 / once)));
		std::vector<double> ms;
		for (int i = 0; i < calls; i++)
			ms.push_back(timed_call(v, made.plan, FW_ALL, scrub, stream, from, to));
		const double mid = median(ms);
		printf("time   %s %-34s %-8s %9.4f ms %7.1f TFLOP/s  [%s]", v->name, p.name.c_str(),
			backward ? "backward" : "forward", mid, pairs * p.d * (backward ? 10.0 : 4.0) / mid * 1e-9,
			made.info.config);
		std::vector<double> phase_ms[6];
		for (int i = 0; i < 3; i++)
			for (int n = 0; n < 6; n++)
				if (made.info.phases & 1u << n)
					phase_ms[n].push_back(timed_call(v, made.plan, 1u << n, scrub, stream, from, to));
		for (int n = 0; n < 6; n++)
			if (!phase_ms[n].empty())
				printf(" %s %.4f", phase_names[n], median(phase_ms[n]));
		printf("\n");
		fflush(stdout);
		v->destroy(made.plan);
	}
	CUDA(cudaFree(scrub.data));
	CUDA(cudaEventDestroy(from));
	CUDA(cudaEventDestroy(to));
	CUDA(cudaStreamDestroy(stream));
	free_setup(&u);
}

#endif
