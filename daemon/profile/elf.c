/* elf.c - ELF headers are copied before reading: an offset need not be aligned. */
#include "profile/profile.h"

#include <elf.h>

static bool within(uint64_t offset, uint64_t size, uint64_t len)
{
	return offset <= len && size <= len - offset;
}

static bool section_header(const struct elf *e, size_t i, Elf64_Shdr *out)
{
	if (!within(e->table + i * sizeof *out, sizeof *out, e->len))
		return false;
	memcpy(out, e->data + e->table + i * sizeof *out, sizeof *out);
	return true;
}

int elf_open(struct elf *e, const void *data, size_t len, struct fw_err *err)
{
	Elf64_Ehdr h;
	Elf64_Shdr first = { 0 };
	struct elf_section names;
	*e = (struct elf){ .data = data, .len = len, .names = "", .names_len = 1 };
	if (len < sizeof h)
		return err_set(err, ERR_INVALID, "no ELF file: only %zu bytes", len);
	memcpy(&h, data, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, ERR_INVALID, "no 64-bit little-endian ELF file");
	if (h.e_shoff == 0)
		return 0;
	if (h.e_shentsize != sizeof(Elf64_Shdr) || !within(h.e_shoff, sizeof(Elf64_Shdr), len))
		return err_set(err, ERR_INVALID, "the ELF section table lies outside of the file");
	e->table = h.e_shoff;
	section_header(e, 0, &first);
	/* too many for the header's field: the first section has the number */
	uint64_t n = h.e_shnum ? h.e_shnum : first.sh_size;
	if (n > (len - h.e_shoff) / sizeof(Elf64_Shdr))
		return err_set(err, ERR_INVALID, "the ELF section table lies outside of the file");
	e->n_sections = n;
	uint32_t at = h.e_shstrndx == SHN_XINDEX ? first.sh_link : h.e_shstrndx;
	if (at == SHN_UNDEF)
		return 0;
	if (!elf_section(e, at, &names) || !names.len || names.data[names.len - 1])
		return err_set(err, ERR_INVALID, "the ELF section names are no strings");
	e->names = (const char *)names.data;
	e->names_len = names.len;
	return 0;
}

bool elf_section(const struct elf *e, size_t i, struct elf_section *out)
{
	Elf64_Shdr h;
	if (i >= e->n_sections || !section_header(e, i, &h))
		return false;
	*out = (struct elf_section){ .name = h.sh_name < e->names_len ? e->names + h.sh_name : "",
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.size = h.sh_size };
	if (h.sh_type == SHT_NOBITS || h.sh_type == SHT_NULL)
		return true;
	if (!within(h.sh_offset, h.sh_size, e->len))
		return false;
	out->data = e->data + h.sh_offset;
	out->len = h.sh_size;
	return true;
}

const char *elf_string(const struct elf_section *strings, size_t offset)
{
	if (!strings->len || strings->data[strings->len - 1] || offset >= strings->len)
		return "";
	return (const char *)strings->data + offset;
}
