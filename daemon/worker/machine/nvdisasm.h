/**
 * nvdisasm.h - the machine code of a piece of device code as text, by NVIDIA's disassembler where this machine has one.
 *
 * The code may be hostile, and so may be what the disassembler makes of it: it gets time, memory and output within bounds, and what it
 * prints is only text.
 */
#ifndef WORKER_MACHINE_NVDISASM_H
#define WORKER_MACHINE_NVDISASM_H

#include <stdbool.h>
#include <stddef.h>

#include "core/machine/sass.h"

/** Take a piece of device code apart. Own: sass_fini. Err: it failed, took too long or printed too much. */
int nvdisasm_run(const char *path, const void *elf, size_t len, struct sass *out, struct fw_err *err);

#endif
