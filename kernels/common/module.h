/**
 * module.c - the only exported symbol of a library, and its table of providers.
 */
#ifndef COMMON_MODULE_H
#define COMMON_MODULE_H

#include "fw_kernel.h"

/** Define fw_entry() of a library whose providers are providers[], the default first. */
#define MODULE(text)                                                                                                             \
	static const struct fw_module module = {                                                                                 \
		.abi = FW_ABI,                                                                                                   \
		.struct_size = sizeof module,                                                                                    \
		.n_providers = sizeof providers / sizeof providers[0],                                                           \
		.build = (text),                                                                                                 \
		.provider = providers,                                                                                           \
	};                                                                                                                       \
	const struct fw_module *fw_entry(uint32_t host_abi)                                                                      \
	{                                                                                                                        \
		return host_abi == FW_ABI ? &module : 0;                                                                         \
	}                                                                                                                        \
	const struct fw_module *fw_entry(uint32_t host_abi) /* requires a semicolon after the macro */

#endif
