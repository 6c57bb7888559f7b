/**
 * reference_memory.cuh - device memory of a reference that a family computes on the GPU. The first failure stays in `status`;
 * later calls do nothing.
 */
#ifndef RUNNER_REFERENCE_MEMORY_CUH
#define RUNNER_REFERENCE_MEMORY_CUH

#include <cuda_runtime.h>

enum { UPLOADS_MAX = 24 };

struct memory {
	void *owned[UPLOADS_MAX];
	int n;
	cudaError_t status;
};

/** Return an allocation, NULL after a failure. Own: memory_release. */
static inline void *memory_reserve(struct memory *m, size_t bytes)
{
	void *p = NULL;
	if (m->status == cudaSuccess)
		m->status = m->n < UPLOADS_MAX ? cudaMalloc(&p, bytes + 16) : cudaErrorInvalidValue;
	if (m->status == cudaSuccess)
		m->owned[m->n++] = p;
	return m->status == cudaSuccess ? p : NULL;
}

/** Return an allocation that holds `bytes` of the host's memory. */
static inline void *memory_upload(struct memory *m, const void *from, size_t bytes)
{
	void *p = memory_reserve(m, bytes);
	if (p && bytes)
		m->status = cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice);
	return p;
}

/** Return an allocation of zeros. */
static inline void *memory_reserve_zeros(struct memory *m, size_t bytes)
{
	void *p = memory_reserve(m, bytes);
	if (p)
		m->status = cudaMemset(p, 0, bytes);
	return p;
}

static inline void memory_download(struct memory *m, void *to, const void *from, size_t bytes)
{
	if (m->status == cudaSuccess && bytes)
		m->status = cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

/** Free everything. Err: ERR_FULL the device has too little memory, ERR_INTERNAL another failure. */
static inline int memory_release(struct memory *m, struct fw_err *err)
{
	for (int i = 0; i < m->n; i++) {
		cudaError_t freed = cudaFree(m->owned[i]);
		if (m->status == cudaSuccess)
			m->status = freed;
	}
	m->n = 0;
	if (m->status == cudaSuccess)
		return 0;
	bool is_full = m->status == cudaErrorMemoryAllocation;
	if (is_full)
		cudaGetLastError();
	return err_set(err, is_full ? ERR_FULL : ERR_INTERNAL, "reference: CUDA: %s", cudaGetErrorString(m->status));
}

#endif
