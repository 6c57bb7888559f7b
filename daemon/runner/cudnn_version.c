/* cudnn_version.c - version read from libcudnn, at the paths where provider "cudnn" searches. */
#include "runner/internal.h"

#include <dlfcn.h>
#include <stdio.h>

typedef size_t version_fn(void);

void cudnn_version(char *out, size_t size)
{
	static const char *const positions[] = { "libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9" };
	void *library = NULL, *symbol;
	version_fn *version = NULL;

	snprintf(out, size, "%s", "");
	for (size_t i = 0; i < sizeof positions / sizeof *positions && !library; i++)
		library = dlopen(positions[i], RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return;
	/* ISO C forbids the cast from an object pointer that dlsym needs */
	symbol = dlsym(library, "cudnnGetVersion");
	memcpy(&version, &symbol, sizeof symbol);
	if (version) {
		size_t v = version(); /* major 10000, minor 100, patch */
		snprintf(out, size, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
	}
	dlclose(library);
}
