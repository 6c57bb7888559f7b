/** activity_abi.h - C declarations of CUPTI's kernel tracer; see cupti_abi.h. */
#ifndef RUNNER_ACTIVITY_ABI_H
#define RUNNER_ACTIVITY_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { ACTIVITY_CONCURRENT_KERNEL = 10, ACTIVITY_FLUSH_FORCED = 1 };

/** Start of a kernel record, the same in all versions since CUDA 9; real records are longer. */
struct activity_kernel {
	int kind;
	uint8_t cache, shared;
	uint16_t registers;
	int partitioned[2];
	uint64_t start_ns, end_ns, completed_ns;
	uint32_t device, context, stream;
	int grid[3], block[3];
};

/** Callbacks: the library requests a buffer; it returns one, whose first `valid` bytes are records. */
typedef void activity_lend_fn(uint8_t **buffer, size_t *size, size_t *records_max);
typedef void activity_back_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

#endif
