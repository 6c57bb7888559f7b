/*
 * cublaslt_api.c - finds libcublasLt when it is first asked for: in the process, on the loader's path, or beside the toolkit.
 */
#include "linear/cublaslt/cublaslt_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct cublaslt_api api;
static char problem[200]; /* why there is none; "" while there is one */
static int tried;

static void *open_library(void)
{
	static const char *const places[] = { "libcublasLt.so.13", "libcublasLt.so.12", "/usr/local/cuda/lib64/libcublasLt.so.13",
		"/usr/local/cuda/lib64/libcublasLt.so.12" };
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		void *library = dlopen(places[i], RTLD_LAZY | RTLD_LOCAL);
		if (library)
			return library;
	}
	return NULL;
}

/* ISO C forbids the cast from an object pointer that dlsym needs. */
static int find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);
	if (!symbol)
		snprintf(problem, sizeof problem, "libcublasLt has no %s", name);
	memcpy(function, &symbol, sizeof symbol);
	return symbol != NULL;
}

const struct cublaslt_api *cublaslt_api(char *why, size_t why_size)
{
	if (!tried) {
		tried = 1;
		void *library = open_library();
		if (!library)
			snprintf(problem, sizeof problem,
				"libcublasLt.so.13 or .12 is not on this machine, or not on the loader's path");
		else
			(void)(find(library, "cublasLtGetVersion", &api.version) &&
				find(library, "cublasLtCreate", &api.create) && find(library, "cublasLtDestroy", &api.destroy) &&
				find(library, "cublasLtMatmulDescCreate", &api.product_make) &&
				find(library, "cublasLtMatmulDescDestroy", &api.product_drop) &&
				find(library, "cublasLtMatmulDescSetAttribute", &api.product_set) &&
				find(library, "cublasLtMatrixLayoutCreate", &api.layout_make) &&
				find(library, "cublasLtMatrixLayoutDestroy", &api.layout_drop) &&
				find(library, "cublasLtMatmulPreferenceCreate", &api.wish_make) &&
				find(library, "cublasLtMatmulPreferenceDestroy", &api.wish_drop) &&
				find(library, "cublasLtMatmulPreferenceSetAttribute", &api.wish_set) &&
				find(library, "cublasLtMatmulAlgoGetHeuristic", &api.choose) &&
				find(library, "cublasLtMatmul", &api.multiply));
	}
	if (problem[0] && why && why_size > 0)
		snprintf(why, why_size, "%s", problem);
	return problem[0] ? NULL : &api;
}
