/*
 * cubin.c - functions of a cubin. Section .text.K contains the instructions of kernel K; headers of sections such as
 * .nv.constant0.K and .nv.shared.K name their owner, and so do relocations. Called functions outside .text.K are found through
 * its relocations.
 */
#include "profile/profile.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>

/* Limit of hashed bytes as a multiple of the file: functions that many kernels call are hashed for each. */
enum { WORK_FACTOR = 16, WORK_LEAST = 1 << 20, STEP_COST = 64 };

struct image {
	struct elf elf;
	uint32_t *first, *next; /* sections that belong to section i, as a list; 0 ends it */
	uint32_t *seen;         /* last kernel that visited section i, plus 1 */
	uint32_t *queue;        /* text sections of the current kernel */
	uint32_t *group;        /* sections of one text section, in order */
	size_t n_queue;
	struct resources *resources; /* by section */
	uint64_t work;               /* bytes that may still be hashed */
	bool spent;
};

static bool pay(struct image *m, uint64_t cost)
{
	m->spent = m->spent || cost > m->work;
	m->work -= m->spent ? 0 : cost;
	return !m->spent;
}

static void feed(struct image *m, struct hash_state *h, const void *data, size_t len)
{
	if (pay(m, len))
		hash_update(h, data, len);
}

static void feed_number(struct image *m, struct hash_state *h, uint64_t v)
{
	feed(m, h, &v, sizeof v);
}

static bool is_mark(const char *p)
{
	return strspn(p, "0123456789abcdef") >= 8;
}

/*
 * The compiler marks names private to a file: "_3c4aacd4_4_a_cu_73fc6ea7" is a number of the source, the length of the file's
 * name, the name, and a second number. Both numbers change with the file. Returns the bytes of such a mark at `p`, with the
 * file name in *name and *name_len; 0: none.
 */
static size_t mark_at(const char *p, const char **name, size_t *name_len)
{
	if (p[0] != '_' || !is_mark(p + 1) || p[9] != '_')
		return 0;
	char *end;
	if (p[10] < '1' || p[10] > '9')
		return 0;
	unsigned long n = strtoul(p + 10, &end, 10);
	if (*end != '_' || n > NAME_MAX || strnlen(end + 1, n) < n)
		return 0;
	*name = end + 1;
	*name_len = n;
	const char *behind = end + 1 + n;
	bool second = behind[0] == '_' && is_mark(behind + 1);
	return (size_t)(behind - p) + (second ? 9 : 0);
}

static void feed_name(struct image *m, struct hash_state *h, const char *name)
{
	const char *from = name, *file;
	size_t file_len;
	for (const char *p = strchr(name, '_'); p && pay(m, 1); p = strchr(p, '_')) {
		size_t mark = mark_at(p, &file, &file_len);
		if (!mark) {
			p++;
			continue;
		}
		feed(m, h, from, (size_t)(p - from));
		feed(m, h, file, file_len);
		p += mark;
		from = p;
	}
	feed(m, h, from, strlen(from) + 1);
}

/* "__nv_static_25__c65a33c0_4_s_cu__Z3go2Pf__Z2skPf": length of the mark and its contents, both, and the symbol. */
const char *cubin_plain_symbol(const char *symbol)
{
	static const char prefix[] = "__nv_static_";
	char *end;
	if (strncmp(symbol, prefix, sizeof prefix - 1) != 0)
		return symbol;
	const char *digits = symbol + sizeof prefix - 1;
	unsigned long n = *digits >= '1' && *digits <= '9' ? strtoul(digits, &end, 10) : 0;
	if (n == 0 || *end != '_' || n >= strlen(end + 1) || end[1 + n] != '_' || !end[2 + n])
		return symbol;
	return end + 2 + n;
}

void cubin_steady_symbol(const char *symbol, struct buf *out)
{
	const char *from = cubin_plain_symbol(symbol), *file;
	size_t file_len;
	for (const char *p = strchr(from, '_'); p;) {
		size_t mark = mark_at(p, &file, &file_len);
		if (mark) {
			buf_append(out, from, (size_t)(p - from));
			buf_append(out, file, file_len);
			from = p + mark;
		}
		p = strchr(p + (mark ? mark : 1), '_');
	}
	buf_puts(out, from);
}

/* Symbol of a text section; NULL: no function. */
static const char *symbol_of(const struct elf_section *s)
{
	static const char prefix[] = ".text.";
	bool code = s->type == SHT_PROGBITS && s->data && strncmp(s->name, prefix, sizeof prefix - 1) == 0;
	return code && s->name[sizeof prefix - 1] ? s->name + sizeof prefix - 1 : NULL;
}

static bool is_relocations(const struct elf_section *s)
{
	return s->type == SHT_REL || s->type == SHT_RELA;
}

static bool counts(const struct elf_section *s)
{
	static const char *const kinds[] = { ".nv.constant", ".nv.shared.", ".nv.local." };
	if (is_relocations(s))
		return s->len > 0;
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		if (strncmp(s->name, kinds[k], strlen(kinds[k])) == 0)
			return true;
	return false;
}

static void list_owned(struct image *m)
{
	/* from the end, so that lists have the order of the file */
	for (size_t i = m->elf.n_sections; i-- > 1;) {
		struct elf_section s;
		if (!elf_section(&m->elf, i, &s) || !counts(&s) || s.info >= m->elf.n_sections || s.info == i)
			continue;
		m->next[i] = m->first[s.info];
		m->first[s.info] = (uint32_t)i;
	}
}

/* Queue the function that a relocation refers to, if it has its own code. */
static void call(struct image *m, const Elf64_Sym *symbol, uint32_t kernel)
{
	struct elf_section s;
	uint32_t at = symbol->st_shndx;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || at >= m->elf.n_sections || m->seen[at] == kernel ||
		!elf_section(&m->elf, at, &s) || !symbol_of(&s))
		return;
	m->seen[at] = kernel;
	m->queue[m->n_queue++] = at;
}

static void feed_symbol(struct image *m, struct hash_state *h, const struct elf_section *table, uint64_t which, uint32_t kernel)
{
	Elf64_Sym symbol;
	struct elf_section strings, s;
	if (which >= table->len / sizeof symbol) {
		feed_number(m, h, which);
		return;
	}
	memcpy(&symbol, table->data + which * sizeof symbol, sizeof symbol);
	const char *name = elf_section(&m->elf, table->link, &strings) ? elf_string(&strings, symbol.st_name) : "";
	if (ELF64_ST_TYPE(symbol.st_info) == STT_SECTION && elf_section(&m->elf, symbol.st_shndx, &s))
		name = s.name;
	feed_name(m, h, name);
	call(m, &symbol, kernel);
}

static void feed_relocations(struct image *m, struct hash_state *h, const struct elf_section *list, uint32_t kernel)
{
	size_t each = list->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	struct elf_section table;
	if (!list->data || !elf_section(&m->elf, list->link, &table) || table.type != SHT_SYMTAB)
		return;
	for (size_t at = 0; list->len - at >= each && !m->spent; at += each) {
		Elf64_Rela r = { 0 };
		memcpy(&r, list->data + at, each);
		feed_number(m, h, r.r_offset);
		feed_number(m, h, ELF64_R_TYPE(r.r_info));
		feed_number(m, h, (uint64_t)r.r_addend);
		feed_symbol(m, h, &table, ELF64_R_SYM(r.r_info), kernel);
	}
}

/* ".nv.constant2.K" of K becomes ".nv.constant2": the section's name without its function's. */
static void feed_kind(struct image *m, struct hash_state *h, const char *name, const char *symbol)
{
	size_t len = strlen(name), own = strlen(symbol);
	if (!pay(m, len + own))
		return;
	if (len > own && strcmp(name + len - own, symbol) == 0)
		len -= own;
	feed(m, h, name, len);
	feed(m, h, "", 1);
}

static void feed_section(struct image *m, struct hash_state *h, const struct elf_section *s, const char *symbol, uint32_t kernel)
{
	feed_kind(m, h, s->name, symbol);
	if (is_relocations(s)) {
		feed_relocations(m, h, s, kernel);
		return;
	}
	feed_number(m, h, s->size);
	feed(m, h, s->data ? s->data : (const void *)"", s->len);
}

/* Hash section `at` with its sections, recursively: constants have relocations too. */
static void feed_owned(struct image *m, struct hash_state *h, uint32_t at, const char *symbol, uint32_t kernel)
{
	size_t n = 0;
	m->seen[at] = kernel;
	m->group[n++] = at;
	for (size_t k = 0; k < n && !m->spent; k++) {
		struct elf_section s;
		if (elf_section(&m->elf, m->group[k], &s))
			feed_section(m, h, &s, symbol, kernel);
		for (uint32_t i = m->first[m->group[k]]; i && pay(m, STEP_COST); i = m->next[i])
			if (m->seen[i] != kernel) {
				m->seen[i] = kernel;
				m->group[n++] = i;
			}
	}
}

static void hash_function(struct image *m, uint32_t at, char code_sha256[HASH_HEX])
{
	struct hash_state h;
	struct elf_section s;
	uint32_t kernel = at + 1;
	hash_begin(&h);
	m->seen[at] = kernel;
	m->queue[0] = at;
	m->n_queue = 1;
	for (size_t k = 0; k < m->n_queue && !m->spent; k++)
		if (elf_section(&m->elf, m->queue[k], &s))
			feed_owned(m, &h, m->queue[k], symbol_of(&s), kernel);
	hash_end(&h, code_sha256);
}

static int read_functions(struct image *m, cubin_fn *function, void *arg, struct fw_err *err)
{
	list_owned(m);
	for (size_t i = 1; i < m->elf.n_sections; i++) {
		struct elf_section s;
		struct cubin_function f = { .resources = &m->resources[i] };
		if (!elf_section(&m->elf, i, &s) || !symbol_of(&s))
			continue;
		f.symbol = symbol_of(&s);
		hash_function(m, (uint32_t)i, f.code_sha256);
		if (m->spent)
			return err_set(err, ERR_FULL, "the device code refers to itself too often");
		if (function(arg, &f, err) != 0)
			return -1;
	}
	return 0;
}

int cubin_read(const void *elf, size_t len, cubin_fn *function, void *arg, struct fw_err *err)
{
	struct image m = { .work = (uint64_t)len * WORK_FACTOR + WORK_LEAST };
	if (elf_open(&m.elf, elf, len, err) != 0)
		return -1;
	size_t n = m.elf.n_sections;
	if (n >= UINT32_MAX)
		return err_set(err, ERR_FULL, "%zu sections of device code", n);
	uint32_t *memory = calloc(5 * n + 1, sizeof *memory);
	m.resources = memory ? resources_read(&m.elf) : NULL;
	if (!m.resources) {
		free(memory);
		return err_set(err, ERR_FULL, "no memory for %zu sections of device code", n);
	}
	m.first = memory;
	m.next = m.first + n;
	m.seen = m.next + n;
	m.queue = m.seen + n;
	m.group = m.queue + n;
	int result = read_functions(&m, function, arg, err);
	free(m.resources);
	free(memory);
	return result;
}
