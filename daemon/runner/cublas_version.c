/* cublas_version.c - properties read from libcublas, which needs no handle and so no context. */
#include "runner/internal.h"

#include <dlfcn.h>
#include <stdio.h>

typedef int property_fn(int which, int *value);

enum { PROPERTIES = 3 /* major, minor, patch */ };

void cublas_version(char *out, size_t size)
{
	static const char *const positions[] = { "libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so" };
	void *library = NULL, *symbol;
	property_fn *property = NULL;
	int value[PROPERTIES] = { 0 };
	bool is_reported = false;

	snprintf(out, size, "%s", "");
	for (size_t i = 0; i < sizeof positions / sizeof *positions && !library; i++)
		library = dlopen(positions[i],
			RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE); /* unloading does not undo all effects of loading */
	if (!library)
		return;
	/* ISO C forbids the cast from an object pointer that dlsym needs */
	symbol = dlsym(library, "cublasGetProperty");
	memcpy(&property, &symbol, sizeof symbol);
	for (int i = 0; i < PROPERTIES && property; i++)
		is_reported = property(i, &value[i]) == 0;
	if (is_reported)
		snprintf(out, size, "%d.%d.%d", value[0], value[1], value[2]);
	dlclose(library);
}
