/* profiled.c - signs of a profiler in the environment, the memory map and the tracer. */
#include "runner/internal.h"

#include <stdio.h>
#include <stdlib.h>

extern char **environ;

/* Variables that profilers set in processes that they start; a name that ends in _ is a prefix. */
static const struct {
	const char *name, *who;
} variables[] = {
	{ "NV_NSIGHT_INJECTION_", "ncu" }, /* port, transport */
	{ "NV_COMPUTE_PROFILER_", "ncu" },
	{ "NSYS_PROFILING_SESSION_ID", "nsys" },
	{ "NVPROF_ID", "nvprof" },
	{ "CUDA_INJECTION64_PATH", "a CUDA injection" },
};

/* Parts of library names that profilers, tracers and sanitizers load into a process. */
static const struct {
	const char *part, *who;
} libraries[] = {
	{ "sanitizer-collection", "compute-sanitizer" },
	{ "libToolsInjection", "nsys" },
	{ "libcuda-injection", "ncu" },
	{ "libTreeLauncher", "an Nsight tool" },
	{ "libInterceptorInjection", "an Nsight tool" },
	{ "libcuinj", "nvprof" },
	{ "vgpreload_", "valgrind" },
};

enum { LIBRARIES = sizeof libraries / sizeof libraries[0], VARIABLES = sizeof variables / sizeof variables[0] };

static bool by_variable(char *what, size_t size)
{
	for (int k = 0; k < VARIABLES; k++)
		for (char **e = environ; *e; e++) {
			size_t len = strcspn(*e, "="), wanted = strlen(variables[k].name);
			bool all = variables[k].name[wanted - 1] == '_';
			if (strncmp(*e, variables[k].name, wanted) != 0 || (!all && len != wanted) || !(*e)[len] ||
				!(*e)[len + 1])
				continue;
			snprintf(what, size, "%s (%.*s)", variables[k].who, (int)len, *e);
			return true;
		}
	return false;
}

static bool by_library(char *what, size_t size)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;
	while (maps && !found && fgets(line, sizeof line, maps)) {
		const char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') + 1 : "";
		for (int k = 0; k < LIBRARIES && !found; k++) {
			found = strstr(name, libraries[k].part) != NULL;
			if (found)
				snprintf(what, size, "%s (%.*s)", libraries[k].who, (int)strcspn(name, "\n"), name);
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

static bool by_tracer(char *what, size_t size)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	int tracer = 0;
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (status)
		fclose(status);
	if (tracer > 0)
		snprintf(what, size, "process %d, which traces it", tracer);
	return tracer > 0;
}

bool profiled_by(char *what, size_t size)
{
	return by_variable(what, size) || by_library(what, size) || by_tracer(what, size);
}
