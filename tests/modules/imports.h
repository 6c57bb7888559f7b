/*
 * imports.h - put a function in the place of one that a loaded object imports. It is called through a table of addresses, and
 * whoever is loaded into a process can write to it.
 */
#ifndef TESTS_IMPORTS_H
#define TESTS_IMPORTS_H

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct imports {
	const char *name;
	void *instead;
	const ElfW(Sym) * symbols;
	const char *names;
	ElfW(Addr) base;
};

static inline void imports_patch(const struct imports *in, const ElfW(Rela) * table, size_t bytes)
{
	for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
		uintptr_t entry = in->base + table[i].r_offset, page = entry & ~(uintptr_t)4095;
		if (strcmp(in->names + in->symbols[ELF64_R_SYM(table[i].r_info)].st_name, in->name) != 0)
			continue;
		if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE) == 0)
			*(void **)entry = in->instead;
	}
}

/* In one object, as dl_iterate_phdr shows it. */
static inline void imports_replace(const struct dl_phdr_info *object, const char *name, void *instead)
{
	struct imports in = { .name = name, .instead = instead, .base = object->dlpi_addr };
	const ElfW(Rela) *plt = NULL, *all = NULL;
	size_t plt_bytes = 0, all_bytes = 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (const ElfW(Dyn) *d = (void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); d->d_tag; d++) {
			if (d->d_tag == DT_SYMTAB)
				in.symbols = (void *)d->d_un.d_ptr;
			else if (d->d_tag == DT_STRTAB)
				in.names = (void *)d->d_un.d_ptr;
			else if (d->d_tag == DT_JMPREL)
				plt = (void *)d->d_un.d_ptr;
			else if (d->d_tag == DT_PLTRELSZ)
				plt_bytes = d->d_un.d_val;
			else if (d->d_tag == DT_RELA)
				all = (void *)d->d_un.d_ptr;
			else if (d->d_tag == DT_RELASZ)
				all_bytes = d->d_un.d_val;
		}
	}
	imports_patch(&in, plt, plt_bytes);
	imports_patch(&in, all, all_bytes);
}

#endif
