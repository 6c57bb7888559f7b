/**
 * cublaslt_api.h - the subset of cuBLASLt that provider "cublaslt" uses, loaded at run time.
 *
 * Prototypes and constants are declared here, so that the build needs no header of cuBLAS and the module does not link to its
 * library. The constants are those of releases 12 and 13.
 */
#ifndef LINEAR_CUBLASLT_API_H
#define LINEAR_CUBLASLT_API_H

#include <stddef.h>
#include <stdint.h>

enum cublaslt_type { CUBLASLT_F32 = 0, CUBLASLT_BF16 = 14, CUBLASLT_E4M3 = 28 };
enum { CUBLASLT_COMPUTE_F32 = 68, CUBLASLT_OP_N = 0, CUBLASLT_OP_T = 1 };
enum { CUBLASLT_SCALE_SCALAR = 0, CUBLASLT_SCALE_OUTER = 3 };
enum { CUBLASLT_PREFER_WORKSPACE = 1 };

enum cublaslt_epilogue { CUBLASLT_PLAIN = 1, CUBLASLT_RELU = 2, CUBLASLT_BIAS = 4 };

enum cublaslt_attribute {
	CUBLASLT_TRANSPOSE_A = 3,
	CUBLASLT_TRANSPOSE_B = 4,
	CUBLASLT_EPILOGUE = 7,
	CUBLASLT_BIAS_POINTER = 8,
	CUBLASLT_SCALE_A = 17,
	CUBLASLT_SCALE_B = 18,
	CUBLASLT_FAST_ACCUM = 25,
	CUBLASLT_BIAS_TYPE = 26,
	CUBLASLT_SCALE_MODE_A = 31,
	CUBLASLT_SCALE_MODE_B = 32,
};

struct cublaslt_algorithm {
	uint64_t data[8];
};

struct cublaslt_choice {
	struct cublaslt_algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

/** The library's functions; every int is a status, 0 is success. */
struct cublaslt_api {
	size_t (*version)(void);
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*product_make)(void **product, int compute, int scale_type);
	int (*product_drop)(void *product);
	int (*product_set)(void *product, int attribute, const void *value, size_t size);
	int (*layout_make)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride);
	int (*layout_drop)(void *layout);
	int (*request_make)(void **request);
	int (*request_drop)(void *request);
	int (*request_set)(void *request, int attribute, const void *value, size_t size);
	int (*choose)(void *handle, void *product, void *a, void *b, void *c, void *d, void *request, int wanted,
		struct cublaslt_choice *, int *found);
	int (*multiply)(void *handle, void *product, const void *alpha, const void *a, void *a_layout, const void *b,
		void *b_layout, const void *beta, const void *c, void *c_layout, void *d, void *d_layout,
		const struct cublaslt_algorithm *, void *workspace, size_t workspace_bytes, void *stream);
};

/** The library, opened at the first call and cached. NULL: it is missing, and `why` contains the reason. */
const struct cublaslt_api *cublaslt_api(char *why, size_t why_size);

#endif
