/* cudatool.c - search for NVIDIA's programs. */
#include "worker/internal.h"

static bool in_folder(const char *folder, size_t folder_len, const char *program, char *path, size_t size)
{
	int n = snprintf(path, size, "%.*s/%s", (int)folder_len, folder, program);
	return folder_len > 0 && n > 0 && (size_t)n < size && access(path, X_OK) == 0;
}

static bool in_path(const char *program, char *path, size_t size)
{
	const char *p = getenv("PATH");
	while (p && *p) {
		size_t len = strcspn(p, ":");
		if (in_folder(p, len, program, path, size))
			return true;
		p += len + (p[len] == ':');
	}
	return false;
}

/* nvcc in PATH may be a link into the toolkit. */
static bool is_next_to_nvcc(const char *program, char *path, size_t size)
{
	if (!in_path("nvcc", path, size))
		return false;
	char *real = realpath(path, NULL);
	const char *end = real ? strrchr(real, '/') : NULL;
	bool found = end && in_folder(real, (size_t)(end - real), program, path, size);
	free(real);
	return found;
}

bool cudatool_find(const char *program, char *path, size_t size)
{
	static const char usual[] = "/usr/local/cuda/bin";
	const char *home = getenv("CUDA_HOME");
	char bin[4096];
	if (in_path(program, path, size) || is_next_to_nvcc(program, path, size))
		return true;
	int n = home && *home ? snprintf(bin, sizeof bin, "%s/bin", home) : 0;
	return (n > 0 && (size_t)n < sizeof bin && in_folder(bin, (size_t)n, program, path, size)) ||
	       in_folder(usual, sizeof usual - 1, program, path, size);
}
