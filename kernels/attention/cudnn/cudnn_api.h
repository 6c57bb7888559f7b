/**
 * cudnn_api.h - the subset of cuDNN's backend interface that provider "cudnn" uses, loaded at run time.
 *
 * Prototypes and constants are declared here, so that the build needs no header of cuDNN and the module does not link to its
 * library. The constants are those of release 9; its single attention node exists from 9.14 on, forward only.
 */
#ifndef ATTENTION_CUDNN_API_H
#define ATTENTION_CUDNN_API_H

#include <stddef.h>
#include <stdint.h>

/** First release whose single attention node is used; encoded as by cudnnGetVersion. */
enum { CUDNN_OLDEST = 91400 };

enum cudnn_kind {
	CUDNN_POINTWISE_MODE = 0,
	CUDNN_ENGINE = 2,
	CUDNN_ENGINE_CONFIG = 3,
	CUDNN_ENGINE_HEURISTIC = 4,
	CUDNN_EXECUTION_PLAN = 5,
	CUDNN_POINTWISE = 13,
	CUDNN_OPERATION_GRAPH = 15,
	CUDNN_VARIANT_PACK = 16,
	CUDNN_TENSOR = 17,
	CUDNN_MATMUL_MODE = 18,
	CUDNN_MATMUL = 19,
	CUDNN_REDUCTION_MODE = 21,
	CUDNN_REDUCTION = 22,
	CUDNN_RESHAPE = 31,
	CUDNN_ATTENTION_FORWARD = 41,
};

enum cudnn_type {
	CUDNN_TYPE_HANDLE = 0,
	CUDNN_TYPE_DATA_TYPE = 1,
	CUDNN_TYPE_BOOLEAN = 2,
	CUDNN_TYPE_INT64 = 3,
	CUDNN_TYPE_VOID_PTR = 6,
	CUDNN_TYPE_HEUR_MODE = 8,
	CUDNN_TYPE_POINTWISE = 14,
	CUDNN_TYPE_DESCRIPTOR = 15,
	CUDNN_TYPE_REDUCTION = 18,
};

enum cudnn_attribute {
	CUDNN_MODE_POINTWISE = 0,
	CUDNN_MODE_PRECISION = 1,
	CUDNN_HEURISTIC_MODE = 200,
	CUDNN_HEURISTIC_GRAPH = 201,
	CUDNN_HEURISTIC_RESULTS = 202,
	CUDNN_CONFIG_ENGINE = 300,
	CUDNN_PLAN_HANDLE = 400,
	CUDNN_PLAN_CONFIG = 401,
	CUDNN_PLAN_WORKSPACE = 402,
	CUDNN_POINTWISE_BY = 750,
	CUDNN_POINTWISE_X = 751,
	CUDNN_POINTWISE_B = 752,
	CUDNN_POINTWISE_Y = 753,
	CUDNN_GRAPH_HANDLE = 800,
	CUDNN_GRAPH_OPERATIONS = 801,
	CUDNN_TENSOR_ALIGNMENT = 900,
	CUDNN_TENSOR_TYPE = 901,
	CUDNN_TENSOR_DIMENSIONS = 902,
	CUDNN_TENSOR_STRIDES = 903,
	CUDNN_TENSOR_ID = 906,
	CUDNN_TENSOR_VIRTUAL = 907,
	CUDNN_TENSOR_BY_VALUE = 908,
	CUDNN_PACK_IDS = 1000,
	CUDNN_PACK_POINTERS = 1001,
	CUDNN_PACK_WORKSPACE = 1003,
	CUDNN_ENGINE_INDEX = 1301,
	CUDNN_MODE_MATMUL_PRECISION = 1500,
	CUDNN_MATMUL_A = 1520,
	CUDNN_MATMUL_B = 1521,
	CUDNN_MATMUL_C = 1522,
	CUDNN_MATMUL_BY = 1523,
	CUDNN_MODE_REDUCTION = 1600,
	CUDNN_MODE_REDUCTION_PRECISION = 1601,
	CUDNN_REDUCTION_X = 1610,
	CUDNN_REDUCTION_Y = 1611,
	CUDNN_REDUCTION_BY = 1612,
	CUDNN_RESHAPE_X = 2200,
	CUDNN_RESHAPE_Y = 2201,
	CUDNN_FORWARD_Q = 2800,
	CUDNN_FORWARD_K = 2801,
	CUDNN_FORWARD_V = 2802,
	CUDNN_FORWARD_O = 2803,
	CUDNN_FORWARD_STATS = 2804,
	CUDNN_FORWARD_SCALE = 2805,
};

enum cudnn_data { CUDNN_FLOAT = 0, CUDNN_BF16 = 9 };
enum cudnn_heuristic { CUDNN_HEURISTIC_FALLBACK = 2, CUDNN_HEURISTIC_A = 3 };
enum cudnn_pointwise { CUDNN_MULTIPLY = 1, CUDNN_SUBTRACT = 9, CUDNN_EXP = 13, CUDNN_IDENTITY = 21 };
enum cudnn_reduction { CUDNN_ADD = 0 };

typedef void *cudnn_handle;
typedef void *cudnn_descriptor;

/** The library's functions; every int is a status, 0 is success. */
struct cudnn_api {
	size_t (*version)(void);
	void (*last_error)(char *text, size_t size);
	int (*create)(cudnn_handle *);
	int (*destroy)(cudnn_handle);
	int (*set_stream)(cudnn_handle, void *stream);
	int (*make)(int kind, cudnn_descriptor *);
	int (*drop)(cudnn_descriptor);
	int (*finalize)(cudnn_descriptor);
	int (*set)(cudnn_descriptor, int attribute, int type, int64_t count, const void *values);
	int (*get)(cudnn_descriptor, int attribute, int type, int64_t wanted, int64_t *count, void *values);
	int (*execute)(cudnn_handle, cudnn_descriptor plan, cudnn_descriptor pack);
};

/** The library, opened at the first call and cached. NULL: it is missing or too old, and `why` contains the reason. */
const struct cudnn_api *cudnn_api(char *why, size_t why_size);

#endif
