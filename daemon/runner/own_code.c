/* own_code.c - sums of code and of the runner's table of imports, from the program headers of loaded objects. */
#include "runner/internal.h"

#include <link.h>
#include <sys/mman.h>

/* Larger code, such as drivers, is left out: a sum takes a tenth of a millisecond for each MiB. */
enum { CODE_MAX = 4 << 20, LANES = 4, REGIONS_MAX = 64, PROBES_MAX = 64 };

struct region {
	const uint64_t *word;
	size_t n;
	uint64_t sum;
	enum own_code_depth depth;
	const unsigned char *copy; /* copy of code; NULL: none */
};

static struct region region[REGIONS_MAX]; /* empty before own_code_take */
static int n_regions;
static unsigned ran; /* bits of the sides whose code ran since all code was compared */
static unsigned char *copies;
static size_t copies_bytes;

static void add(uintptr_t from, size_t bytes, enum own_code_depth depth)
{
	if (n_regions < REGIONS_MAX && bytes >= sizeof(uint64_t) && (depth < OWN_CODE_ALL || bytes <= CODE_MAX))
		region[n_regions++] = (struct region){ .word = (const uint64_t *)((from + 7) & ~(uintptr_t)7),
			.n = (bytes - 7) / sizeof(uint64_t),
			.depth = depth };
}

/* Add the object's table of imports, from the first to the last function. */
static void add_imports(const struct dl_phdr_info *object, const ElfW(Dyn) * dynamic)
{
	uintptr_t relocations = 0, first = UINTPTR_MAX, last = 0;
	size_t bytes = 0;

	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_JMPREL)
			relocations = d->d_un.d_ptr;
		else if (d->d_tag == DT_PLTRELSZ)
			bytes = d->d_un.d_val;
	for (size_t i = 0; relocations && i < bytes / sizeof(ElfW(Rela)); i++) {
		uintptr_t at = object->dlpi_addr + ((const ElfW(Rela) *)relocations)[i].r_offset;

		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	if (last > first)
		add(first, last - first + 2 * sizeof(uint64_t) - 1, OWN_CODE_IMPORTS);
}

/* Add the regions of a loaded object. The runner is the first one; its table is constant, since it binds all symbols at start. */
static int visit(struct dl_phdr_info *object, size_t size, void *arg)
{
	bool is_runner = n_regions == 0;

	(void)size, (void)arg;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && (header->p_flags & PF_X) && (header->p_flags & PF_R))
			add(from, header->p_memsz, OWN_CODE_ALL);
		else if (header->p_type == PT_GNU_RELRO && is_runner)
			add(from, header->p_memsz, OWN_CODE_TABLES);
		else if (header->p_type == PT_DYNAMIC && is_runner)
			add_imports(object, (const ElfW(Dyn) *)from);
	}
	return 0;
}

/* This function calls no function that a module could replace. */
/* ASan puts unreadable bytes between the variables of a table. */
__attribute__((no_sanitize("address"))) static uint64_t sum_of(const struct region *p)
{
	uint64_t lane[LANES] = { 1, 2, 3, 4 };
	const uint64_t factor = 0x9e3779b97f4a7c15u;
	size_t i = 0;

	for (; i + LANES <= p->n; i += LANES) { /* unrolled, so that the lanes are in registers */
		lane[0] = (lane[0] ^ p->word[i]) * factor;
		lane[1] = (lane[1] ^ p->word[i + 1]) * factor;
		lane[2] = (lane[2] ^ p->word[i + 2]) * factor;
		lane[3] = (lane[3] ^ p->word[i + 3]) * factor;
	}
	for (; i < p->n; i++)
		lane[i % LANES] = (lane[i % LANES] ^ p->word[i]) * factor;
	return lane[0] ^ (lane[1] << 1) ^ (lane[2] << 2) ^ (lane[3] << 3);
}

/* Copies without memcpy, which ASan checks: bytes between constants are unreadable with ASan. */
__attribute__((no_sanitize("address"))) static void copy_words(uint64_t *to, const struct region *p)
{
	for (size_t i = 0; i < p->n; i++)
		to[i] = p->word[i];
}

/* Copy the code, to classify later changes. Without memory every change counts as a forgery. */
static void copy_code(void)
{
	size_t bytes = 0;

	if (copies)
		munmap(copies, copies_bytes);
	for (int i = 0; i < n_regions; i++)
		bytes += region[i].depth == OWN_CODE_ALL ? region[i].n * sizeof(uint64_t) : 0;
	copies = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
	copies_bytes = bytes;
	if (copies == MAP_FAILED) {
		copies = NULL;
		return;
	}
	unsigned char *at = copies;
	for (int i = 0; i < n_regions; i++)
		if (region[i].depth == OWN_CODE_ALL) {
			copy_words((uint64_t *)(void *)at, &region[i]);
			region[i].copy = at;
			at += region[i].n * sizeof(uint64_t);
		}
	(void)mprotect(copies, copies_bytes, PROT_READ);
}

void own_code_take(void)
{
	n_regions = 0;
	ran = 0;
	dl_iterate_phdr(visit, NULL);
	for (int i = 0; i < n_regions; i++)
		region[i].sum = sum_of(&region[i]);
	copy_code();
}

void own_code_ran(enum role role)
{
	ran |= 1u << role;
}

/* Return whether only single bytes became breakpoints (int3). */
__attribute__((no_sanitize("address"))) static bool is_only_probed(const struct region *p)
{
#ifdef __x86_64__
	enum { INT3 = 0xcc };
	const unsigned char *now = (const unsigned char *)p->word, *then = p->copy;
	int n = 0;

	for (size_t i = 0; then && i < p->n * sizeof(uint64_t); i++)
		if (now[i] != then[i] && (now[i] != INT3 || (i && now[i - 1] != then[i - 1]) || ++n > PROBES_MAX))
			return false;
	return n > 0;
#else
	(void)p;
	return false;
#endif
}

/* Return the side at fault; of several the target: the base's code ran alone before, and was compared then. */
static enum role find_culprit(void)
{
	if (ran & 1u << ROLE_TARGET)
		return ROLE_TARGET;
	for (unsigned role = ROLE_BASE; role < ROLE_DEVICE; role++)
		if (ran & 1u << role)
			return (enum role)role;
	return ROLE_NONE;
}

/* Returns -1. */
static int report_probe(struct failure *f)
{
	char text[4096], tracer[48] = "";
	static const char name[] = "\nTracerPid:";

	fd_read_text("/proc/self/status", text, sizeof text);
	const char *at = strstr(text, name);
	int pid = at ? atoi(at + sizeof name - 1) : 0;
	if (pid)
		snprintf(tracer, sizeof tracer, " (process %d traces it)", pid);
	f->by = f->name[0] ? f->by : ROLE_DEVICE;
	return failure_set(f, "unsure",
		"a debugger or probe is attached to the runner%s: breakpoints were set in its code or libraries, so nothing is decided",
		tracer);
}

/* Returns -1. */
static int report_change(const struct region *p, struct failure *f)
{
	bool is_code = p->depth == OWN_CODE_ALL;

	f->lost = true;
	if (is_code && is_only_probed(p))
		return report_probe(f);
	if (is_code && !f->name[0])
		f->by = find_culprit();
	return failure_set(f, "forged", "changed %s: what the process reports is not what the runner measured",
		is_code ? "code that was loaded before it" : "the functions that the runner calls");
}

/* A forged region counts more than a probed one. */
int own_code_check(enum own_code_depth depth, struct failure *f)
{
	const struct region *changed = NULL;

	for (int i = 0; i < n_regions; i++)
		if (region[i].depth <= depth && sum_of(&region[i]) != region[i].sum &&
			(!changed || region[i].depth < OWN_CODE_ALL || !is_only_probed(&region[i])))
			changed = &region[i];
	if (changed)
		return report_change(changed, f);
	if (depth == OWN_CODE_ALL)
		ran = 0;
	return 0;
}
