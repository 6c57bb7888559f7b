/**
 * cuda_inside.cuh - what cuda.cu and cuda_memory.cu share: a device and its buffers. The functions are those of device_ops.
 */
#ifndef RUNNER_DEVICE_CUDA_INSIDE_CUH
#define RUNNER_DEVICE_CUDA_INSIDE_CUH

#include <cuda_runtime.h>

enum { CUDA_BLOCKS_MAX = 128, STAMP_WIDTH = 512 };

struct block {
	unsigned char *base; /* redzone, data, redzone; NULL: unused entry */
	size_t capacity;     /* bytes of the whole allocation */
	size_t bytes;        /* of data */
	bool live;
};

struct device {
	int index, sms;
	char uuid[64];
	cudaStream_t stream;
	struct block block[CUDA_BLOCKS_MAX];
	cudaEvent_t event[DEVICE_MARKS_MAX];
	unsigned char *scrub;
	size_t scrub_bytes;
	int scrub_value;
	ulonglong2 *stamps;        /* [DEVICE_STAMPS_MAX][2][STAMP_WIDTH]: cycles and ns of each SM */
	unsigned char **zones;     /* [2 * CUDA_BLOCKS_MAX], on the device: zones to check */
	unsigned *damaged;         /* [2 * CUDA_BLOCKS_MAX], on the device */
	unsigned long long *total; /* of a checksum or a search, on the device */
	unsigned pid;              /* our own as the driver counts it; 0 unknown */
	int64_t ecc;               /* memory errors at the last reading; -1 unknown */
};

/* cuda.cu */

int cuda_wait(struct device *d, struct fw_err *err);

/* cuda_memory.cu */

int cuda_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err);
void cuda_release(struct device *d, void *data);
int cuda_upload(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err);
int cuda_download(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err);
int cuda_check_redzones(struct device *d, void **which, struct fw_err *err);
int cuda_checksum(struct device *d, const void *data, size_t bytes, uint64_t *sum, struct fw_err *err);
int cuda_find_nonfinite(struct device *d, const void *data, size_t n, bool is_fp32, int64_t *index, struct fw_err *err);
int cuda_find_largest(struct device *d, const void *data, size_t n, float *largest, struct fw_err *err);
int cuda_download_rows(struct device *d, void *to, const void *from, size_t pitch, size_t width, size_t rows, struct fw_err *err);
int cuda_fill_inputs(struct device *d, void *to, uint64_t seed, uint32_t tensor, size_t n, struct fw_err *err);
int cuda_fill_bytes(struct device *d, void *to, int value, size_t bytes, struct fw_err *err);
int cuda_copy(struct device *d, void *to, const void *from, size_t bytes, struct fw_err *err);

#endif
