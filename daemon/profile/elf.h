/** elf.h - the section table of a 64-bit little-endian ELF file in memory. Files may be hostile: every offset is checked. */
#ifndef PROFILE_ELF_H
#define PROFILE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

struct elf {
	const unsigned char *data;
	size_t len, table; /* bytes; start of the section table */
	size_t n_sections;
	const char *names; /* ends with a NUL */
	size_t names_len;
};

struct elf_section {
	const char *name; /* "" if unnamed */
	uint32_t type, link, info;
	uint64_t size;             /* bytes in memory */
	const unsigned char *data; /* bytes in the file; NULL: none */
	size_t len;                /* of data */
};

/** Open a file. Own: borrows `data`. Err: ERR_INVALID no such file, or its tables lie outside of it. */
int elf_open(struct elf *e, const void *data, size_t len, struct fw_err *err);
/** Read section `i`. Returns false if it does not exist or lies outside of the file. */
bool elf_section(const struct elf *e, size_t i, struct elf_section *out);
/** Return the string at `offset` of a string section; "" if none. */
const char *elf_string(const struct elf_section *strings, size_t offset);

#endif
