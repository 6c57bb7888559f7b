/* cublaslt_api.c - names of the functions of libcublasLt and of the library itself. */
#include "linear/cublaslt/cublaslt_api.h"

#include "common/library.h"

static struct cublaslt_api api;
static struct library library;

static void open_library(void)
{
	static const char *const places[] = { "libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
		"/usr/local/cuda/lib64/libcublasLt.so.12", NULL };
	static const struct library_function functions[] = { { "cublasLtGetVersion", &api.version },
		{ "cublasLtCreate", &api.create }, { "cublasLtDestroy", &api.destroy },
		{ "cublasLtMatmulDescCreate", &api.product_make }, { "cublasLtMatmulDescDestroy", &api.product_drop },
		{ "cublasLtMatmulDescSetAttribute", &api.product_set }, { "cublasLtMatrixLayoutCreate", &api.layout_make },
		{ "cublasLtMatrixLayoutDestroy", &api.layout_drop }, { "cublasLtMatmulPreferenceCreate", &api.request_make },
		{ "cublasLtMatmulPreferenceDestroy", &api.request_drop },
		{ "cublasLtMatmulPreferenceSetAttribute", &api.request_set }, { "cublasLtMatmulAlgoGetHeuristic", &api.choose },
		{ "cublasLtMatmul", &api.multiply }, { NULL, NULL } };
	library_open(&library, "libcublasLt.so.13 or .12", places, functions);
}

const struct cublaslt_api *cublaslt_api(char *why, size_t why_size)
{
	if (!library.is_tried)
		open_library();
	return library_is_there(&library, why, why_size) ? &api : NULL;
}
