/*
 * loadable.c - ELF parser for the hash. The file comes from a branch's build, so every offset is checked against the file's size
 * before use.
 */
#include "worker/sandbox/internal.h"

#include <elf.h>

enum { SEGMENTS_MAX = 64, SECTIONS_MAX = 4096, NAMES_MAX = 1 << 20, NOTES_MAX = 1 << 16, MASKS_MAX = 8, CHUNK = 1 << 16 };

/* Bytes of the file that hash as zero. */
struct mask {
	uint64_t from, to;
};

struct image {
	int fd;
	uint64_t size, end; /* size of the file; end of the data that its tables describe */
	Elf64_Ehdr head;
	Elf64_Phdr segment[SEGMENTS_MAX];
	Elf64_Shdr *section; /* section[head.e_shnum] */
	char *names;
	uint64_t names_len;
	int n_masks;
	struct mask mask[MASKS_MAX];
};

static bool read_at(const struct image *m, uint64_t offset, void *out, size_t len)
{
	return offset <= m->size && len <= m->size - offset && pread(m->fd, out, len, (off_t)offset) == (ssize_t)len;
}

/* Return whether [offset, offset + len) is inside the file; if so, extend m->end to its end. */
static bool covers(struct image *m, uint64_t offset, uint64_t len)
{
	if (offset > m->size || len > m->size - offset)
		return false;
	if (offset + len > m->end)
		m->end = offset + len;
	return true;
}

static bool add_mask(struct image *m, uint64_t from, uint64_t len)
{
	if (m->n_masks == MASKS_MAX)
		return false;
	m->mask[m->n_masks++] = (struct mask){ from, from + len };
	return true;
}

/* Mask the build id, which is a hash of the whole file, including debug sections. */
static bool mask_build_id(struct image *m, const Elf64_Phdr *notes)
{
	unsigned char *text;
	bool good = notes->p_filesz <= NOTES_MAX;

	text = good ? malloc(notes->p_filesz + 1) : NULL;
	good = text && read_at(m, notes->p_offset, text, notes->p_filesz);
	for (uint64_t at = 0; good && at + sizeof(Elf64_Nhdr) <= notes->p_filesz;) {
		Elf64_Nhdr n;

		memcpy(&n, text + at, sizeof n);
		uint64_t name = at + sizeof n, value = name + (((uint64_t)n.n_namesz + 3) & ~UINT64_C(3));

		if (value > notes->p_filesz || n.n_descsz > notes->p_filesz - value)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && memcmp(text + name, "GNU", 4) == 0)
			good = add_mask(m, notes->p_offset + value, n.n_descsz);
		at = value + (((uint64_t)n.n_descsz + 3) & ~UINT64_C(3));
	}
	free(text);
	return good;
}

/* Read all tables. Returns false if the file must be hashed completely. */
static bool open_image(struct image *m)
{
	const Elf64_Ehdr *h = &m->head;

	if (!read_at(m, 0, &m->head, sizeof m->head) || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 ||
		h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
		(h->e_type != ET_EXEC && h->e_type != ET_DYN && h->e_type != ET_REL))
		return false;
	size_t segments = h->e_phnum * sizeof(Elf64_Phdr), sections = h->e_shnum * sizeof(Elf64_Shdr);

	bool has_segments = h->e_phnum > 0 && h->e_phnum <= SEGMENTS_MAX && h->e_phentsize == sizeof(Elf64_Phdr);

	if ((h->e_type == ET_REL ? h->e_phnum > 0 : !has_segments) || h->e_shnum == 0 || h->e_shnum > SECTIONS_MAX ||
		h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shstrndx >= h->e_shnum || !covers(m, 0, sizeof *h) ||
		!covers(m, h->e_phoff, segments) || !covers(m, h->e_shoff, sections))
		return false;
	m->section = malloc(sections);
	if (!m->section || !read_at(m, h->e_phoff, m->segment, segments) || !read_at(m, h->e_shoff, m->section, sections))
		return false;
	for (int i = 0; i < h->e_phnum; i++)
		if (!covers(m, m->segment[i].p_offset, m->segment[i].p_filesz))
			return false;
	for (int i = 0; i < h->e_shnum; i++)
		if (m->section[i].sh_type != SHT_NOBITS && !covers(m, m->section[i].sh_offset, m->section[i].sh_size))
			return false;
	const Elf64_Shdr *names = &m->section[h->e_shstrndx];

	m->names_len = names->sh_size;
	m->names =
		names->sh_type == SHT_STRTAB && names->sh_size > 0 && names->sh_size <= NAMES_MAX ? malloc(names->sh_size) : NULL;
	if (!m->names || !read_at(m, names->sh_offset, m->names, names->sh_size) || m->names[names->sh_size - 1])
		return false;
	/* the offset of the section table depends on the sizes of the excluded sections */
	if (!add_mask(m, offsetof(Elf64_Ehdr, e_shoff), sizeof h->e_shoff) ||
		!add_mask(m, offsetof(Elf64_Ehdr, e_shnum), sizeof h->e_shnum) ||
		!add_mask(m, offsetof(Elf64_Ehdr, e_shstrndx), sizeof h->e_shstrndx))
		return false;
	for (int i = 0; i < h->e_phnum; i++)
		if (m->segment[i].p_type == PT_NOTE && !mask_build_id(m, &m->segment[i]))
			return false;
	return true;
}

static int hash_range(struct hash_state *s, const struct image *m, uint64_t from, uint64_t len, struct fw_err *err)
{
	static const unsigned char none[CHUNK];
	unsigned char *text = mem_alloc(CHUNK);
	int result = 0;

	while (len > 0 && result == 0) {
		size_t n = len < CHUNK ? (size_t)len : CHUNK;

		if (!read_at(m, from, text, n)) {
			result = err_sys(err, "read a built file");
			break;
		}
		for (int i = 0; i < m->n_masks; i++) {
			uint64_t a = m->mask[i].from > from ? m->mask[i].from : from;
			uint64_t b = m->mask[i].to < from + n ? m->mask[i].to : from + n;

			if (a < b)
				memcpy(text + (a - from), none, b - a);
		}
		hash_update(s, text, n);
		from += n;
		len -= n;
	}
	free(text);
	return result;
}

static bool is_debug(const char *name)
{
	static const char *const whole[] = { ".symtab", ".strtab", ".shstrtab", ".comment", ".gnu_debuglink", ".gnu_debugaltlink",
		".gdb_index" };

	if (strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0)
		return true;
	for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	return false;
}

/*
 * Hash an object file. It has no segments, and a linker also reads its symbols and relocations, so all sections are hashed except
 * debug sections and their relocations.
 */
static int hash_object(struct hash_state *s, const struct image *m, struct fw_err *err)
{
	int result = 0;

	hash_update(s, "object", 7);
	hash_update(s, &m->head.e_machine, sizeof m->head.e_machine);
	hash_update(s, &m->head.e_flags, sizeof m->head.e_flags);
	for (int i = 0; i < m->head.e_shnum && result == 0; i++) {
		const Elf64_Shdr *section = &m->section[i];
		const char *name = section->sh_name < m->names_len ? m->names + section->sh_name : "";
		const char *of = section->sh_type == SHT_RELA && strncmp(name, ".rela", 5) == 0 ? name + 5 : name;

		if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_NOBITS && is_debug(of) &&
			strcmp(name, ".strtab") != 0)
			continue;
		hash_text(s, name);
		hash_update(s, &section->sh_type, sizeof section->sh_type);
		hash_update(s, &section->sh_flags, sizeof section->sh_flags);
		hash_update(s, &section->sh_size, sizeof section->sh_size);
		hash_update(s, &section->sh_link, sizeof section->sh_link);
		hash_update(s, &section->sh_info, sizeof section->sh_info);
		hash_update(s, &section->sh_addralign, sizeof section->sh_addralign);
		hash_update(s, &section->sh_entsize, sizeof section->sh_entsize);
		if (section->sh_type != SHT_NOBITS)
			result = hash_range(s, m, section->sh_offset, section->sh_size, err);
	}
	return result;
}

/* Whether a section lies in a segment. The flag SHF_ALLOC alone does not show it: a program may read its own file. */
static bool is_in_segment(const struct image *m, const Elf64_Shdr *section)
{
	for (int i = 0; i < m->head.e_phnum; i++) {
		const Elf64_Phdr *segment = &m->segment[i];

		if (section->sh_offset >= segment->p_offset && section->sh_size <= segment->p_filesz &&
			section->sh_offset - segment->p_offset <= segment->p_filesz - section->sh_size)
			return true;
	}
	return false;
}

static int hash_program(struct hash_state *s, const struct image *m, struct fw_err *err)
{
	int result = 0;

	hash_update(s, "segments", 9);
	hash_update(s, m->segment, m->head.e_phnum * sizeof m->segment[0]);
	for (int i = 0; i < m->head.e_phnum && result == 0; i++)
		result = hash_range(s, m, m->segment[i].p_offset, m->segment[i].p_filesz, err);
	for (int i = 0; i < m->head.e_shnum && result == 0; i++) {
		const Elf64_Shdr *section = &m->section[i];
		const char *name = section->sh_name < m->names_len ? m->names + section->sh_name : "";

		if (((section->sh_flags & SHF_ALLOC) && is_in_segment(m, section)) || section->sh_type == SHT_NOBITS ||
			section->sh_type == SHT_NULL || is_debug(name))
			continue;
		hash_text(s, name);
		hash_update(s, &section->sh_size, sizeof section->sh_size);
		result = hash_range(s, m, section->sh_offset, section->sh_size, err);
	}
	return result;
}

static int hash_image(struct hash_state *s, const struct image *m, struct fw_err *err)
{
	int result = m->head.e_type == ET_REL ? hash_object(s, m, err) : hash_program(s, m, err);

	hash_update(s, "appended", 9);
	return result ? -1 : hash_range(s, m, m->end, m->size - m->end, err);
}

int loadable_hash(int fd, char hex[HASH_HEX], struct fw_err *err)
{
	struct image *m = mem_alloc_zero(1, sizeof *m);
	struct hash_state s;
	struct stat st;
	int result;

	m->fd = fd;
	result = fstat(fd, &st) < 0 ? err_sys(err, "read a built file") : 0;
	m->size = result == 0 ? (uint64_t)st.st_size : 0;
	hash_begin(&s);
	if (result == 0 && open_image(m)) {
		hash_update(&s, "program", 8);
		result = hash_image(&s, m, err);
	} else if (result == 0) {
		m->n_masks = 0;
		hash_update(&s, "bytes", 6);
		result = hash_range(&s, m, 0, m->size, err);
	}
	hash_end(&s, hex);
	free(m->section);
	free(m->names);
	free(m);
	return result;
}
