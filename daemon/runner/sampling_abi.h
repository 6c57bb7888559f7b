/** sampling_abi.h - C declarations of CUPTI's sampling functions; see cupti_abi.h. */
#ifndef RUNNER_SAMPLING_ABI_H
#define RUNNER_SAMPLING_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { SAMPLING_NAME_SIZE = 128 }; /* of a stall's name, in the library */

struct sampling_on { /* cuptiPCSamplingEnable, Disable, Start, Stop */
	size_t size;
	void *none;
	void *context;
};

struct sampling_count { /* cuptiPCSamplingGetNumStallReasons */
	size_t size;
	void *none;
	void *context;
	size_t *n; /* out */
};

struct sampling_names { /* cuptiPCSamplingGetStallReasons */
	size_t size;
	void *none;
	void *context;
	size_t n;
	uint32_t *index; /* out: index[n] */
	char **name;     /* name[n][SAMPLING_NAME_SIZE], written to */
};

enum sampling_attribute_type {
	SAMPLING_REASONS = 2,
	SAMPLING_SCRATCH_BYTES = 3,
	SAMPLING_MODE = 5,
	SAMPLING_START_STOP = 6,
	SAMPLING_BUFFER = 8
};
enum { SAMPLING_SERIALIZED = 2 }; /* mode */

struct sampling_attribute {
	int type, status; /* status: out */
	union {
		uint64_t raw[3];
		uint32_t number; /* mode, start and stop */
		size_t bytes;
		void *buffer;
		struct {
			size_t n;
			uint32_t *index;
		} reasons;
	} as;
};

struct sampling_setting { /* cuptiPCSamplingSetConfigurationAttribute */
	size_t size;
	void *none;
	void *context;
	size_t n;
	struct sampling_attribute *attribute;
};

struct sampling_reason {
	uint32_t index, samples;
};

struct sampling_pc {
	size_t size; /* sizeof */
	uint64_t cubin_crc, offset;
	uint32_t function, pad;
	char *name; /* of the function, mangled; owned by the library, shared between records */
	size_t n_reasons;
	struct sampling_reason *reason; /* reason[all reasons], the caller's */
	uint32_t correlation;
};

struct sampling_data {
	size_t size;     /* sizeof */
	size_t capacity; /* pc[capacity], the caller's */
	uint64_t total, dropped;
	size_t n, remaining; /* out: number in pc, and remaining number */
	uint64_t range;
	struct sampling_pc *pc;
	uint64_t elsewhere;
	uint8_t is_full; /* samples were dropped */
};

struct sampling_get { /* cuptiPCSamplingGetData */
	size_t size;
	void *none;
	void *context;
	struct sampling_data *data;
};

#endif
