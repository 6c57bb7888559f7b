/**
 * nvdisasm.h - machine code as text, by NVIDIA's disassembler if this machine has it.
 *
 * The code may be hostile, so the disassembler gets bounded time, memory and output, and its output is only text.
 */
#ifndef WORKER_NVDISASM_H
#define WORKER_NVDISASM_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/sass.h"

/** Disassemble a piece of device code. Own: sass_fini. Err: it failed, took too long or printed too much. */
int nvdisasm_run(const char *path, const void *elf, size_t len, struct sass *out, struct fw_err *err);

#endif
