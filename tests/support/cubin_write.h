/* cubin_write.h - write small device code and modules that contain it, for tests of the readers. */
#ifndef TESTS_CUBIN_WRITE_H
#define TESTS_CUBIN_WRITE_H

#include <elf.h>
#include <lz4.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lib.h"

enum { ELF_SECTIONS_MAX = 64 };

/* An ELF file under construction: sections in order, their names and symbols. */
struct elf_write {
	int n;
	Elf64_Shdr header[ELF_SECTIONS_MAX];
	struct buf names, data, symbols, strings;
};

static inline void elf_begin(struct elf_write *w)
{
	static const Elf64_Sym none = { 0 };
	memset(w, 0, sizeof *w);
	w->n = 1; /* section 0 is none */
	buf_init(&w->names, 1 << 16);
	buf_init(&w->data, 1 << 20);
	buf_init(&w->symbols, 1 << 16);
	buf_init(&w->strings, 1 << 16);
	buf_append(&w->names, "", 1);
	buf_append(&w->strings, "", 1);
	buf_append(&w->symbols, &none, sizeof none);
}

/* Returns the section's number. `data` NULL: it takes memory only. `info`: the section it belongs to. */
static inline int elf_add(struct elf_write *w, const char *name, uint32_t type, int info, const void *data, size_t len)
{
	Elf64_Shdr *h = &w->header[w->n];
	h->sh_name = (uint32_t)w->names.len;
	h->sh_type = data ? type : SHT_NOBITS;
	h->sh_info = (uint32_t)info;
	h->sh_offset = w->data.len;
	h->sh_size = len;
	buf_append(&w->names, name, strlen(name) + 1);
	if (data)
		buf_append(&w->data, data, len);
	return w->n++;
}

/* Returns the symbol's number. */
static inline int elf_symbol(struct elf_write *w, const char *name, int type, int section)
{
	Elf64_Sym s = { .st_name = (uint32_t)w->strings.len,
		.st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type),
		.st_shndx = (uint16_t)section };
	buf_append(&w->strings, name, strlen(name) + 1);
	buf_append(&w->symbols, &s, sizeof s);
	return (int)(w->symbols.len / sizeof s) - 1;
}

/* One relocation of section `of`. Its list is linked to the symbols by elf_end. */
static inline void elf_relocate(struct elf_write *w, const char *name, int of, uint64_t offset, int symbol, int64_t addend)
{
	Elf64_Rela r = { .r_offset = offset, .r_info = ELF64_R_INFO((uint64_t)symbol, 2), .r_addend = addend };
	elf_add(w, name, SHT_RELA, of, &r, sizeof r);
}

/* Append the file to `out` and end `w`. */
static inline void elf_end(struct elf_write *w, struct buf *out)
{
	int strings = elf_add(w, ".strtab", SHT_STRTAB, 0, w->strings.data, w->strings.len);
	int symbols = elf_add(w, ".symtab", SHT_SYMTAB, 0, w->symbols.data, w->symbols.len);
	int names = elf_add(w, ".shstrtab", SHT_STRTAB, 0, "", 1);
	Elf64_Ehdr h = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_CUDA,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof h,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (uint16_t)w->n,
		.e_shstrndx = (uint16_t)names };
	w->header[symbols].sh_link = (uint32_t)strings;
	w->header[names].sh_offset = w->data.len;
	w->header[names].sh_size = w->names.len;
	buf_append(&w->data, w->names.data, w->names.len);
	while (w->data.len % 8)
		buf_append(&w->data, "", 1);
	h.e_shoff = sizeof h + w->data.len;
	for (int i = 1; i < w->n; i++) {
		w->header[i].sh_offset += sizeof h;
		if (w->header[i].sh_type == SHT_RELA)
			w->header[i].sh_link = (uint32_t)symbols;
	}
	buf_append(out, &h, sizeof h);
	buf_append(out, w->data.data, w->data.len);
	buf_append(out, w->header, (size_t)w->n * sizeof *w->header);
	buf_fini(&w->names);
	buf_fini(&w->data);
	buf_fini(&w->symbols);
	buf_fini(&w->strings);
}

enum { FATBIN_KIND_PTX = 1, FATBIN_KIND_CODE = 2 };

/* An entry of a container: device code of `len` bytes, which unpack to `full_len` where `flags` mark it as packed. */
static inline void fatbin_entry(struct buf *out, int kind, int sm, uint64_t flags, const void *data, size_t len, size_t full_len)
{
	size_t padded = (len + 7) / 8 * 8;
	uint16_t words[4] = { (uint16_t)kind, 0x101, 64, 0 };
	uint32_t more[8] = { (uint32_t)padded, 0, flags ? (uint32_t)len : 0, 0, 8 | 1 << 16, (uint32_t)sm, 0, 0 };
	uint64_t last[3] = { flags, 0, flags ? full_len : 0 };
	buf_append(out, words, sizeof words);
	buf_append(out, more, sizeof more);
	buf_append(out, last, sizeof last);
	buf_append(out, data, len);
	buf_append(out, "\0\0\0\0\0\0\0", padded - len);
}

/* A container around entries. */
static inline void fatbin_container(struct buf *out, const struct buf *entries)
{
	uint32_t head[4] = { 0xba55ed50u, 1 | 16 << 16, (uint32_t)entries->len, 0 };
	buf_append(out, head, sizeof head);
	buf_append(out, entries->data, entries->len);
}

/* As nvcc packs device code. */
static inline void lz4_pack(struct buf *out, const void *data, size_t len)
{
	int capacity = LZ4_compressBound((int)len);
	char *packed = malloc((size_t)capacity);
	if (packed)
		buf_append(out, packed, (size_t)LZ4_compress_default(data, packed, (int)len, capacity));
	free(packed);
}

#endif
