/* kernels_module.h - the module of one family from kernels/, built for CPUs like that of a branch, and with the sanitizers where
 * the test is. */
#ifndef TESTS_LIB_KERNELS_MODULE_H
#define TESTS_LIB_KERNELS_MODULE_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "kernels/fw_kernel.h"
#include "lib/lib.h"

#ifdef __SANITIZE_ADDRESS__
#define KERNELS_VARIANT "san"
#define KERNELS_EXTRA   "EXTRA=-O2 -fsanitize=address,undefined -fno-sanitize-recover=undefined"
#else
#define KERNELS_VARIANT "plain"
#define KERNELS_EXTRA   "EXTRA="
#endif

/* The module of the family of this name; NULL, and the reason on standard error. It stays loaded. */
static inline const struct fw_module *kernels_module(const char *family)
{
	char folder[96], library[128], path[128];
	snprintf(folder, sizeof folder, "O=../build/tests/%s-" KERNELS_VARIANT, family);
	snprintf(library, sizeof library, "../build/tests/%s-" KERNELS_VARIANT "/lib%s.so", family, family);
	const char *const argv[] = { "make", "-s", "-C", "kernels", "DEVICE=cpu", folder, KERNELS_EXTRA, library, NULL };
	struct proc_spec spec = { .argv = argv };
	struct proc_exit how;
	struct fw_err err = { 0 };
	struct buf log;
	buf_init(&log, 1 << 20);
	bool is_built = proc_run(&spec, NULL, &log, &log, 240000, &how, &err) == 0 && how.status == 0;
	if (!is_built)
		fprintf(stderr, "make -C kernels failed: %s%s\n", err.text, log.data);
	buf_fini(&log);
	snprintf(path, sizeof path, "%s", library + strlen("../"));
	void *loaded = is_built ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (is_built && !loaded)
		fprintf(stderr, "%s\n", dlerror());
	if (!loaded)
		return NULL;
	const struct fw_module *(*entry)(uint32_t) = (const struct fw_module *(*)(uint32_t))dlsym(loaded, "fw_entry");
	return entry(FW_ABI + 1) == NULL ? entry(FW_ABI) : NULL;
}

#endif
