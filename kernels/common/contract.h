/**
 * contract.h - what every provider needs to keep the contract of fw_kernel.h: structs of other sizes, words for a refusal.
 */
#ifndef COMMON_CONTRACT_H
#define COMMON_CONTRACT_H

#include "fw_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CONTRACT_ALIGNMENT = 256, CONTRACT_TEXT_BYTES = 256 };

/** Say why in words, where there is room for words. Returns `status`. */
__attribute__((format(printf, 4, 5))) static inline int contract_refuse(
	int status, char *why, size_t why_size, const char *format, ...)
{
	if (why && why_size > 0) {
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(why, why_size, format, arguments);
		va_end(arguments);
	}
	return status;
}

/** How much of an answer a caller has room for. Units: bytes; `wanted` is the struct_size that the caller set, 0: as ours. */
static inline uint32_t contract_answer_bytes(uint32_t wanted, size_t ours)
{
	return wanted && wanted < ours ? wanted : (uint32_t)ours;
}

/** Units: bytes; the next multiple of what workspaces are aligned to. */
static inline int64_t contract_align(int64_t bytes)
{
	return (bytes + CONTRACT_ALIGNMENT - 1) / CONTRACT_ALIGNMENT * CONTRACT_ALIGNMENT;
}

#endif
