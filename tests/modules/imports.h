/*
 * imports.h - replace a function that a loaded object imports. It is called through a table of addresses, and any code in the
 * process can write to it.
 */
#ifndef TESTS_IMPORTS_H
#define TESTS_IMPORTS_H

#ifndef _GNU_SOURCE
#error dl_iterate_phdr needs _GNU_SOURCE before the first header
#endif
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
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

/* In one object, as dl_iterate_phdr reports it. */
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

struct imports_others {
	const char *name;
	void *instead;
	int n;
};

static inline int imports_visit(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct imports_others *others = arg;
	bool is_module = strncmp(object->dlpi_name, "/proc/self/fd/", 14) == 0, is_own = false;
	(void)size;
	for (int i = 0; is_module && i < object->dlpi_phnum; i++) {
		uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, here = (uintptr_t)imports_visit;
		is_own = is_own || (here >= begin && here < begin + object->dlpi_phdr[i].p_memsz);
	}
	if (!is_module || is_own)
		return 0;
	others->n++;
	if (others->instead)
		imports_replace(object, others->name, others->instead);
	return 0;
}

/* In every other module that the runner has loaded. Returns the number of modules. `instead` NULL: only count them. */
static inline int imports_replace_in_others(const char *name, void *instead)
{
	struct imports_others others = { .name = name, .instead = instead };
	dl_iterate_phdr(imports_visit, &others);
	return others.n;
}

/* Load the other module that the runner was handed, if it has not done so yet. It gets the same one when it does. */
static inline void imports_load_other(void)
{
	static const char of[2][20] = { "/proc/self/fd/10", "/proc/self/fd/11" };
	Dl_info own;
	if (dladdr((void *)(uintptr_t)imports_load_other, &own) != 0)
		(void)dlopen(of[strcmp(own.dli_fname, of[0]) == 0], RTLD_NOW | RTLD_LOCAL);
}

static inline int imports_visit_runner(struct dl_phdr_info *object, size_t size, void *arg)
{
	struct imports_others *runner = arg;
	(void)size;
	if (!object->dlpi_name[0])
		imports_replace(object, runner->name, runner->instead);
	return 0;
}

/* In the runner itself. */
static inline void imports_replace_in_runner(const char *name, void *instead)
{
	struct imports_others runner = { .name = name, .instead = instead };
	dl_iterate_phdr(imports_visit_runner, &runner);
}

#endif
