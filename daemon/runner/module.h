/**
 * module.h - a kernel library and its provider for a problem.
 *
 * All data of a library is checked before use: ABI number, sizes of its tables, names, missing functions.
 */
#ifndef RUNNER_MODULE_H
#define RUNNER_MODULE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"
#include "kernels/fw_kernel.h"

enum { MODULE_PROVIDERS_MAX = 32 };

struct module {
	void *handle; /* of dlopen */
	uint32_t abi; /* FW_ABI, or 1 */
	int n;
	struct fw_provider provider[MODULE_PROVIDERS_MAX]; /* copies; members that the library's table lacks are 0 */
};

/**
 * Load a shared object with RTLD_LOCAL and all symbols bound. `path` may be /proc/self/fd/N. Falls back to ABI 1. Err:
 * ERR_INVALID it does not load, has no fw_entry, another ABI or a broken table. Own: module_close.
 */
int module_open(struct module *m, const char *path, struct fw_err *err);
void module_close(struct module *m);

/** Call can, plan or count of a provider with the problem in its ABI. Err: FW_UNSUPPORTED its ABI has no such problem. */
int module_can(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, char *why, size_t why_size);
int module_plan(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	int index, struct fw_plan **plan, struct fw_info *info, char *why, size_t why_size);
int module_count(const struct module *m, const struct fw_provider *p, const struct fw_problem *problem, const char *config,
	const struct fw_io *host, struct fw_work *work);

/**
 * Find the provider `name`, or for "" the first that supports the problem on this kind of device. Returns NULL with `err`:
 * ERR_UNSUPPORTED with every provider's reason, ERR_NOT_FOUND no provider has that name.
 */
const struct fw_provider *module_choose(
	const struct module *m, const char *name, int32_t abi_device, const struct fw_problem *problem, struct fw_err *err);

#endif
