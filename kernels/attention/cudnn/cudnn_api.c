/*
 * cudnn_api.c - finds libcudnn.so.9 when it is first asked for: in the process, on the loader's path, or beside the toolkit.
 */
#include "attention/cudnn/cudnn_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static struct cudnn_api api;
static char problem[200]; /* why there is none; "" while there is one */
static int tried;

static void *open_library(void)
{
	static const char *const places[] = { "libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9" };
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
		snprintf(problem, sizeof problem, "libcudnn.so.9 has no %s", name);
	memcpy(function, &symbol, sizeof symbol);
	return symbol != NULL;
}

const struct cudnn_api *cudnn_api(char *why, size_t why_size)
{
	if (!tried) {
		tried = 1;
		void *library = open_library();
		if (!library)
			snprintf(problem, sizeof problem, "libcudnn.so.9 is not on this machine, or not on the loader's path");
		else if (find(library, "cudnnGetVersion", &api.version) &&
			 find(library, "cudnnGetLastErrorString", &api.last_error) && find(library, "cudnnCreate", &api.create) &&
			 find(library, "cudnnDestroy", &api.destroy) && find(library, "cudnnSetStream", &api.set_stream) &&
			 find(library, "cudnnBackendCreateDescriptor", &api.make) &&
			 find(library, "cudnnBackendDestroyDescriptor", &api.drop) &&
			 find(library, "cudnnBackendFinalize", &api.finalize) &&
			 find(library, "cudnnBackendSetAttribute", &api.set) &&
			 find(library, "cudnnBackendGetAttribute", &api.get) &&
			 find(library, "cudnnBackendExecute", &api.execute) && api.version() < CUDNN_OLDEST)
			snprintf(problem, sizeof problem, "cuDNN %zu is too old, %d is needed", api.version(), CUDNN_OLDEST);
	}
	if (problem[0] && why && why_size > 0)
		snprintf(why, why_size, "%s", problem);
	return problem[0] ? NULL : &api;
}
