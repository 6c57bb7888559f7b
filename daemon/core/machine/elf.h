/**
 * elf.h - the section table of a 64-bit little-endian ELF file in memory. Files may be hostile: nothing is believed that does not lie in them.
 */
#ifndef CORE_MACHINE_ELF_H
#define CORE_MACHINE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct elf {
	const unsigned char *data;
	size_t len, table; /* bytes; where the section table begins */
	size_t n_sections;
	const char *names; /* ends with a NUL */
	size_t names_len;
};

struct elf_section {
	const char *name; /* "" where the table names none */
	uint32_t type, link, info;
	uint64_t size;             /* bytes in memory */
	const unsigned char *data; /* bytes in the file; NULL: it has none there */
	size_t len;                /* of data */
};

/** Borrows `data`. Err: ERR_INVALID no such file, or its tables lie outside of it. */
int elf_open(struct elf *e, const void *data, size_t len, struct fw_err *err);
/** Section `i`. False: there is none, or it lies outside of the file. */
bool elf_section(const struct elf *e, size_t i, struct elf_section *out);
/** A string at `offset` of a string section; "" where that is none. */
const char *elf_string(const struct elf_section *strings, size_t offset);

#endif
