// runtime.cuh - memory of the device and parallel loops; without nvcc both are the host's.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#ifdef __CUDACC__
#define BLOCKOPS_DEVICE __device__
#define BLOCKOPS_HOST_DEVICE __host__ __device__

inline void blockops_check(cudaError_t status, const char *what)
{
	if (status == cudaSuccess)
		return;
	std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
	std::exit(1);
}
#define BLOCKOPS_CHECK(call) blockops_check((call), #call)
#else
#define BLOCKOPS_DEVICE
#define BLOCKOPS_HOST_DEVICE
#endif

namespace blockops {

#ifdef __CUDACC__
constexpr int block_size = 256;

template <class F> __global__ void for_each_kernel(size_t n, F f)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
		f(i);
}

// f(i) of each i below n.
template <class F> void for_each(size_t n, F f)
{
	size_t blocks = (n + block_size - 1) / block_size;

	for_each_kernel<<<blocks < 4096 ? blocks : 4096, block_size>>>(n, f);
}
#else
template <class F> void for_each(size_t n, F f)
{
	for (size_t i = 0; i < n; i++)
		f(i);
}
#endif

template <class T> struct fill {
	T *to, value;

	BLOCKOPS_HOST_DEVICE void operator()(size_t i) const { to[i] = value; }
};

template <class T> class device_vector {
      public:
	explicit device_vector(size_t n, T value = T()) : n_(n)
	{
#ifdef __CUDACC__
		BLOCKOPS_CHECK(cudaMalloc(&data_, n * sizeof(T)));
#else
		data_ = new T[n];
#endif
		for_each(n, fill<T>{ data_, value });
	}
	device_vector(const device_vector &) = delete;
	device_vector &operator=(const device_vector &) = delete;
	~device_vector()
	{
#ifdef __CUDACC__
		cudaFree(data_);
#else
		delete[] data_;
#endif
	}
	T *data() { return data_; }
	size_t size() const { return n_; }

      private:
	T *data_ = nullptr;
	size_t n_;
};

} // namespace blockops
