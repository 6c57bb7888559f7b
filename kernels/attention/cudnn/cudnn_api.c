/* cudnn_api.c - names of the functions of libcudnn.so.9 and of the library itself. */
#include "attention/cudnn/cudnn_api.h"

#include "common/library.h"

static struct cudnn_api api;
static struct library library;

static void open_library(void)
{
	static const char *const places[] = { "libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9", NULL };
	static const struct library_function functions[] = { { "cudnnGetVersion", &api.version },
		{ "cudnnGetLastErrorString", &api.last_error }, { "cudnnCreate", &api.create }, { "cudnnDestroy", &api.destroy },
		{ "cudnnSetStream", &api.set_stream }, { "cudnnBackendCreateDescriptor", &api.make },
		{ "cudnnBackendDestroyDescriptor", &api.drop }, { "cudnnBackendFinalize", &api.finalize },
		{ "cudnnBackendSetAttribute", &api.set }, { "cudnnBackendGetAttribute", &api.get },
		{ "cudnnBackendExecute", &api.execute }, { NULL, NULL } };
	if (library_open(&library, "libcudnn.so.9", places, functions) && api.version() < CUDNN_OLDEST)
		snprintf(library.why, sizeof library.why, "cuDNN %zu is too old, %d is needed", api.version(), CUDNN_OLDEST);
}

const struct cudnn_api *cudnn_api(char *why, size_t why_size)
{
	if (!library.is_tried)
		open_library();
	return library_is_there(&library, why, why_size) ? &api : NULL;
}
