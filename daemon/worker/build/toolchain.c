/* toolchain.c - two compilers of the same name give different machine code; their versions belong to every result. */
#include "worker/build/toolchain.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "worker/box/sandbox.h"

/* First line (or all) of what a program prints; "" when it cannot be run. The environment is the build's, so that the same program is found. */
static void ask(const char *program, const char *option, char *out, size_t size)
{
	const char *argv[] = { program, option, NULL };
	struct proc_spec spec = { .argv = argv, .env = sandbox_build_env };
	struct proc_exit how;
	struct buf said;

	out[0] = '\0';
	buf_init(&said, 4096);
	if (proc_run(&spec, NULL, &said, NULL, 10000, &how, NULL) == 0 && how.status == 0)
		snprintf(out, size, "%s", said.data);
	buf_fini(&said);
}

void toolchain_nvcc_version(const char *text, char *out, size_t size)
{
	const char *release = strstr(text, "release ");
	const char *version = release ? strstr(release, ", V") : NULL;

	out[0] = '\0';
	if (version)
		snprintf(out, size, "%.*s", (int)strspn(version + 3, "0123456789."), version + 3);
}

void toolchain_describe(enum device_kind kind, char *out, size_t size)
{
	char gcc[64], said[4096], nvcc[32] = "";
	const char *const place = "/usr/local/cuda/bin/nvcc";

	ask("gcc", "-dumpfullversion", gcc, sizeof gcc);
	gcc[strcspn(gcc, "\n")] = '\0';
	if (kind == DEVICE_CUDA) {
		ask(access(place, X_OK) == 0 ? place : "nvcc", "--version", said, sizeof said);
		toolchain_nvcc_version(said, nvcc, sizeof nvcc);
	}
	if (*nvcc)
		snprintf(out, size, "nvcc %s%s%s", nvcc, *gcc ? " gcc " : "", gcc);
	else
		snprintf(out, size, "%s%s", *gcc ? "gcc " : "none", gcc);
}
