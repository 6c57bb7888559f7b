// device_time.cuh - time of an iteration by events of the device, after a write of more than its L2; on the host by a clock.
#pragma once

#include <benchmark/benchmark.h>

#include "blockops/runtime.cuh"

#ifndef __CUDACC__
#include <chrono>
#endif

class device_time {
      public:
#ifdef __CUDACC__
	explicit device_time(benchmark::State &state) : state_(state)
	{
		static blockops::device_vector<char> flush((size_t)128 << 20);

		BLOCKOPS_CHECK(cudaMemsetAsync(flush.data(), 0, flush.size()));
		BLOCKOPS_CHECK(cudaEventCreate(&start_));
		BLOCKOPS_CHECK(cudaEventCreate(&stop_));
		BLOCKOPS_CHECK(cudaEventRecord(start_));
	}
	~device_time()
	{
		float ms = 0;

		BLOCKOPS_CHECK(cudaEventRecord(stop_));
		BLOCKOPS_CHECK(cudaEventSynchronize(stop_));
		BLOCKOPS_CHECK(cudaEventElapsedTime(&ms, start_, stop_));
		state_.SetIterationTime(ms * 1e-3);
		cudaEventDestroy(start_);
		cudaEventDestroy(stop_);
	}

      private:
	benchmark::State &state_;
	cudaEvent_t start_, stop_;
#else
	explicit device_time(benchmark::State &state) : state_(state), start_(std::chrono::steady_clock::now()) {}
	~device_time()
	{
		state_.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count());
	}

      private:
	benchmark::State &state_;
	std::chrono::steady_clock::time_point start_;
#endif
};
