/*
 * fuzz_kernelcode.c - arbitrary bytes as a module and as a piece of device code: reads stay inside them, end, and report only
 * complete hashes.
 *
 * As a test it changes a good module 20,000 times (fixed seed), or replays the files and folders
 * given as arguments.
 *
 * Attacks: daemon/worker/sandbox/kernelcode.c daemon/profile daemon/lib
 */
#include <sys/mman.h>
#include <unistd.h>

#include "cubin_write.h"
#include "fuzz_replay.h"
#include "model/model.h"
#include "profile/profile.h"
#include "worker/sandbox/sandbox.h"

static int take_function(void *arg, const struct cubin_function *f, struct fw_err *err)
{
	(void)arg, (void)err;
	must(f->symbol[0] && strlen(f->symbol) < 1 << 24, "a function without a symbol");
	must(strspn(f->code_sha256, "0123456789abcdef") == HASH_HEX - 1, "half a hash");
	const struct resources *r = f->resources;
	must(r->registers >= -1 && r->stack_bytes >= -1 && r->shared_bytes >= 0 && r->code_bytes >= 0, "resources below none");
	must(r->constant_bytes >= 0 && r->parameter_bytes >= -1 && r->max_threads >= -1 && r->max_threads <= 1024,
		"or beyond any");
	struct occupancy o;
	for (int sm = 60; sm < 130; sm++)
		if (occupancy_of(sm, r, &o))
			must(o.ctas >= 0 && o.ctas <= 32 && o.warps >= 0 && o.warps <= 64 && o.limit, "more blocks than fit");
	return 0;
}

static void read_code(const void *data, size_t len)
{
	struct fw_err err = { 0 };
	/* an exact copy, so that a sanitizer sees a read beyond its end */
	void *copy = malloc(len ? len : 1);
	must(copy != NULL, "out of memory");
	memcpy(copy, data, len);
	if (cubin_read(copy, len, take_function, NULL, &err) == 0)
		must(err.code == ERR_NONE, "device code that was read left an error");
	else
		must((err.code == ERR_INVALID || err.code == ERR_FULL) && err.text[0], "a refusal without words");
	free(copy);
}

static int take_entry(void *arg, const struct fatbin_entry *e, struct fw_err *err)
{
	const unsigned char *module = arg;
	(void)err;
	must(e->sm > 0 && (const unsigned char *)e->data >= module, "an entry outside of its module");
	if (e->packing == FATBIN_PLAIN)
		read_code(e->data, e->len);
	return 0;
}

static int take_kernel(void *arg, int sm, const struct cubin_function *f, struct fw_err *err)
{
	must(sm > 0, "a kernel of no architecture");
	return take_function(arg, f, err);
}

/* All steps, including packed code. */
static void read_file(const uint8_t *data, size_t size)
{
	struct fw_err err = { 0 };
	int fd = memfd_create("module", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file");
	if (kernelcode_each(fd, take_kernel, NULL, &err) != 0)
		must((err.code == ERR_INVALID || err.code == ERR_FULL) && err.text[0], "a refusal without words");
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fw_err err = { 0 };
	uint8_t *copy = malloc(size ? size : 1);
	must(copy != NULL, "out of memory");
	memcpy(copy, data, size);
	if (fatbin_read(copy, size, take_entry, copy, &err) != 0)
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	free(copy);
	read_code(data, size);
	read_file(data, size);
	return 0;
}

/* Two kernels that call each other, with constants, relocations and names that contain a file's numbers. */
static void write_code(struct buf *out)
{
	static const char body[128] = "instructions";
	struct elf_write w;
	elf_begin(&w);
	int a = elf_add(&w, ".text._ZN36_GLOBAL__N__3c4aacd4_4_a_cu_73fc6ea71aE", SHT_PROGBITS, 3, body, sizeof body);
	int b = elf_add(&w, ".text.b", SHT_PROGBITS, 3, body, sizeof body);
	static const unsigned char info[] = { 4, 0x2f, 8, 0, 2, 0, 0, 0, 40, 0, 0, 0, 4, 0x12, 8, 0, 2, 0, 0, 0, 80, 0, 0, 0 };
	static const unsigned char own[] = { 1, 0x5b, 0, 0, 4, 5, 12, 0, 128, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0x19, 16, 0, 2,
		0x4c, 1, 0 };
	elf_add(&w, ".nv.info", 0x70000000, 0, info, sizeof info);
	elf_add(&w, ".nv.info.b", 0x70000000, b, own, sizeof own);
	int constant = elf_add(&w, ".nv.constant2.b", SHT_PROGBITS, b, body, 16);
	elf_add(&w, ".nv.shared.b", SHT_NOBITS, b, NULL, 1 << 20);
	int of_a = elf_symbol(&w, "_ZN36_GLOBAL__N__3c4aacd4_4_a_cu_73fc6ea71aE", STT_FUNC, a);
	int of_b = elf_symbol(&w, "b", STT_FUNC, b);
	elf_relocate(&w, ".rela.text.a", a, 16, of_b, 0);
	elf_relocate(&w, ".rela.text.b", b, 32, of_a, 0);
	elf_relocate(&w, ".rela.nv.constant2.b", constant, 0, of_a, 8);
	elf_end(&w, out);
}

static void write_module(struct buf *out)
{
	struct buf code, packed, entries, section;
	struct elf_write w;
	buf_init(&code, 1 << 16);
	buf_init(&packed, 1 << 16);
	buf_init(&entries, 1 << 16);
	buf_init(&section, 1 << 16);
	write_code(&code);
	lz4_pack(&packed, code.data, code.len);
	fatbin_entry(&entries, FATBIN_KIND_CODE, 90, 0, code.data, code.len, 0);
	fatbin_entry(&entries, FATBIN_KIND_CODE, 80, 0x2011, packed.data, packed.len, code.len);
	fatbin_container(&section, &entries);
	elf_begin(&w);
	elf_add(&w, ".nv_fatbin", SHT_PROGBITS, 0, section.data, section.len);
	elf_end(&w, out);
	buf_fini(&code);
	buf_fini(&packed);
	buf_fini(&entries);
	buf_fini(&section);
}

#ifdef FUZZ_SEARCH
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct buf good;

	(void)argc, (void)argv;
	buf_init(&good, 1 << 18);
	write_module(&good);
	fuzz_first_input("module", good.data, good.len);
	buf_clear(&good);
	write_code(&good);
	fuzz_first_input("code", good.data, good.len);
	buf_fini(&good);
	return 0;
}
#else
int main(int argc, char **argv)
{
	static const uint64_t values[] = { 0, 1, 0xff, 0x7fffffff, 0xffffffff, UINT64_MAX, 1ull << 63, 64, 4096 };
	struct buf good, bad;
	uint64_t random = 1;

	if (argc > 1)
		return fuzz_replay_main(argc, argv, NULL);
	buf_init(&good, 1 << 18);
	buf_init(&bad, 1 << 18);
	write_module(&good);
	LLVMFuzzerTestOneInput((const uint8_t *)good.data, good.len);
	for (int round = 0; round < 20000; round++) {
		buf_clear(&bad);
		buf_append(&bad, good.data, good.len);
		for (int changes = 1 + round % 4; changes > 0; changes--) {
			uint64_t r = random = inputs_mix(random);
			size_t wide = (size_t)1 << (r >> 60 & 3), at = r % (bad.len - 8);
			if (r >> 50 & 1) /* fields are at even offsets */
				at &= ~(wide - 1);
			uint64_t value = r >> 51 & 1 ? values[(r >> 40) % 9] : inputs_mix(r);
			memcpy(bad.data + at, &value, wide);
		}
		LLVMFuzzerTestOneInput((const uint8_t *)bad.data, round % 8 == 7 ? random % bad.len : bad.len);
	}
	buf_fini(&good);
	buf_fini(&bad);
	printf("ok 1 - 20000 changed modules are read or refused\n1..1\n");
	return 0;
}
#endif
