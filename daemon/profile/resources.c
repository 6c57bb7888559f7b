/*
 * resources.c - attributes in .nv.info (of any function, named by a symbol) and .nv.info.K (of K). An attribute is a format, a
 * number, and 16 bits that are its value or the length of its data. Unknown ones are skipped.
 */
#include "profile/profile.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>

enum { FORMAT_NONE = 1, FORMAT_BYTE, FORMAT_HALF, FORMAT_SIZED };

enum attribute {
	FIXED_THREADS_EACH = 0x10, /* x, y, z */
	FRAME_BYTES = 0x11,        /* symbol, bytes: its own */
	STACK_BYTES = 0x12,        /* symbol, bytes: with called functions */
	MAX_THREADS_EACH = 0x05,   /* x, y, z */
	PARAMETER_BYTES = 0x19,
	REGISTERS = 0x2f, /* symbol, number */
	BARRIERS = 0x4c
};

enum {
	ENTRY_POINT = 0x10, /* in st_other of a symbol */
	SYSTEM_SHARED_BYTES = 1024,
	SYSTEM_SHARED_SINCE = 90, /* from here on static shared memory begins with it */
	WORK_FACTOR = 16          /* limit of bytes read, as a multiple of the file */
};

struct resource_reader {
	const struct elf *elf;
	struct resources *all;
	uint32_t *named; /* text section of the function that symbol i names; 0: none */
	size_t n_named;
	uint64_t work; /* bytes that may still be read: sections of a hostile file may overlap */
};

static bool pay(struct resource_reader *r, uint64_t cost)
{
	bool good = cost <= r->work;
	r->work = good ? r->work - cost : 0;
	return good;
}

static const char *own_name(const struct elf_section *s, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(s->name, prefix, len) == 0 && s->name[len] ? s->name + len : NULL;
}

static bool is_text(const struct resource_reader *r, size_t at, struct elf_section *s)
{
	return at < r->elf->n_sections && elf_section(r->elf, at, s) && s->type == SHT_PROGBITS && own_name(s, ".text.");
}

static bool read_symbols(struct resource_reader *r, const struct elf_section *table)
{
	Elf64_Sym symbol;
	struct elf_section strings, s;
	r->n_named = table->len / sizeof symbol;
	r->named = calloc(r->n_named + 1, sizeof *r->named);
	if (!r->named)
		return false;
	bool has_names = elf_section(r->elf, table->link, &strings);
	for (size_t i = 0; has_names && i < r->n_named; i++) {
		memcpy(&symbol, table->data + i * sizeof symbol, sizeof symbol);
		if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !is_text(r, symbol.st_shndx, &s) || !pay(r, strlen(s.name)) ||
			strcmp(own_name(&s, ".text."), elf_string(&strings, symbol.st_name)) != 0)
			continue; /* others in the section belong to its function */
		r->named[i] = symbol.st_shndx;
		r->all[symbol.st_shndx].is_kernel = (symbol.st_other & ENTRY_POINT) != 0;
	}
	return true;
}

static uint32_t word_at(const unsigned char *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return v;
}

static int as_int(uint32_t v)
{
	return v > INT_MAX ? -1 : (int)v;
}

static void take_named(struct resource_reader *r, int attribute, const unsigned char *value)
{
	uint32_t symbol = word_at(value), v = word_at(value + 4);
	if (symbol >= r->n_named || !r->named[symbol])
		return;
	struct resources *f = &r->all[r->named[symbol]];
	if (attribute == REGISTERS)
		f->registers = as_int(v);
	else if ((int64_t)as_int(v) > f->stack_bytes)
		f->stack_bytes = as_int(v);
}

static void take_threads(struct resources *f, bool is_fixed, const unsigned char *value)
{
	uint64_t x = word_at(value), y = word_at(value + 4), z = word_at(value + 8);
	if (x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 1024 || x * y * z > 1024)
		return;
	if (f->is_block_fixed && !is_fixed)
		return;
	f->max_threads = (int)(x * y * z);
	f->is_block_fixed = is_fixed;
}

/* `f`: the section's function; NULL: none. */
static void take_sized(struct resource_reader *r, struct resources *f, int attribute, const unsigned char *value, size_t len)
{
	bool has_name = attribute == REGISTERS || attribute == FRAME_BYTES || attribute == STACK_BYTES;
	if (has_name && len == 8)
		take_named(r, attribute, value);
	if (f && len == 12 && (attribute == MAX_THREADS_EACH || attribute == FIXED_THREADS_EACH))
		take_threads(f, attribute == FIXED_THREADS_EACH, value);
}

static void read_attributes(struct resource_reader *r, const struct elf_section *s, struct resources *f)
{
	for (size_t at = 0; pay(r, 4) && s->len - at >= 4;) {
		const unsigned char *p = s->data + at;
		int format = p[0], attribute = p[1], value = p[2] | p[3] << 8;
		at += 4;
		if (format == FORMAT_SIZED) {
			if (s->len - at < (size_t)value)
				return;
			take_sized(r, f, attribute, p + 4, (size_t)value);
			at += (size_t)value;
		} else if (format < FORMAT_NONE || format > FORMAT_SIZED) {
			return; /* the start of the next one is unknown */
		} else if (f && format == FORMAT_HALF && attribute == PARAMETER_BYTES) {
			f->parameter_bytes = value;
		} else if (f && format == FORMAT_BYTE && attribute == BARRIERS) {
			f->barriers = p[2];
		}
	}
}

static int64_t plus(int64_t sum, uint64_t v)
{
	return v > (uint64_t)(INT64_MAX - sum) ? INT64_MAX : sum + (int64_t)v;
}

static void take_section(struct resource_reader *r, size_t at, const struct elf_section *s)
{
	struct elf_section owner;
	struct resources *f = is_text(r, s->info, &owner) ? &r->all[s->info] : NULL;
	if (is_text(r, at, &owner))
		r->all[at].code_bytes = (int64_t)s->len;
	else if (s->data && (strcmp(s->name, ".nv.info") == 0 || own_name(s, ".nv.info.")))
		read_attributes(r, s, own_name(s, ".nv.info.") ? f : NULL);
	else if (f && own_name(s, ".nv.shared."))
		f->shared_bytes = plus(f->shared_bytes, s->size);
	else if (f && own_name(s, ".nv.constant"))
		f->constant_bytes = plus(f->constant_bytes, s->size);
}

int resources_architecture(const struct elf *elf)
{
	Elf64_Ehdr h;
	enum { FIRST_WITH_NEW_FLAGS = 8 };
	if (elf->len < sizeof h)
		return 0;
	memcpy(&h, elf->data, sizeof h);
	if (h.e_machine != EM_CUDA)
		return 0;
	return (int)(h.e_ident[EI_ABIVERSION] >= FIRST_WITH_NEW_FLAGS ? h.e_flags >> 8 & 0xff : h.e_flags & 0xff);
}

struct resources *resources_read(const struct elf *elf)
{
	static const struct resources unknown = {
		.registers = -1, .barriers = -1, .max_threads = -1, .stack_bytes = -1, .parameter_bytes = -1
	};
	struct resource_reader r = {
		.elf = elf, .all = calloc(elf->n_sections + 1, sizeof *r.all), .work = WORK_FACTOR * (uint64_t)elf->len
	};
	struct elf_section s;
	bool has_symbols = false, good = r.all;
	for (size_t i = 0; good && i < elf->n_sections; i++)
		r.all[i] = unknown;
	for (size_t i = 1; good && !has_symbols && i < elf->n_sections; i++)
		if (elf_section(elf, i, &s) && s.type == SHT_SYMTAB && s.data) {
			has_symbols = true;
			good = read_symbols(&r, &s);
		}
	for (size_t i = 1; good && i < elf->n_sections; i++)
		if (elf_section(elf, i, &s))
			take_section(&r, i, &s);
	bool is_counted = resources_architecture(elf) >= SYSTEM_SHARED_SINCE;
	for (size_t i = 0; good && is_counted && i < elf->n_sections; i++)
		if (r.all[i].shared_bytes >= SYSTEM_SHARED_BYTES)
			r.all[i].shared_bytes -= SYSTEM_SHARED_BYTES;
	free(r.named);
	if (good)
		return r.all;
	free(r.all);
	return NULL;
}
