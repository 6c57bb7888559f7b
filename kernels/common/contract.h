/**
 * contract.h - helpers for the contract of fw_kernel.h: structs of other sizes, alignment, reasons of a refusal.
 */
#ifndef COMMON_CONTRACT_H
#define COMMON_CONTRACT_H

#include "fw_kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CONTRACT_ALIGNMENT = 256, CONTRACT_TEXT_BYTES = 256 };

/** Write a reason to `why`, unless that is NULL or has no space. Returns `status`. */
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

/**
 * Size of a struct that can be written for the caller. Units: bytes; `wanted` is the struct_size that the caller set, 0: the size
 * known here.
 */
static inline uint32_t contract_answer_bytes(uint32_t wanted, size_t ours)
{
	return wanted && wanted < ours ? wanted : (uint32_t)ours;
}

/** Round up to the alignment of workspaces. Units: bytes. */
static inline int64_t contract_align(int64_t bytes)
{
	return (bytes + CONTRACT_ALIGNMENT - 1) / CONTRACT_ALIGNMENT * CONTRACT_ALIGNMENT;
}

#endif
