/* Resources of a kernel on a multiprocessor: which attributes of device code are read, and how many blocks fit. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cubin_write.h"
#include "profile/profile.h"

enum { INFO = 0x70000000, HOPPER = 90 << 8 | 2 };

static void put(struct buf *out, int format, int attribute, unsigned value)
{
	const unsigned char head[4] = { (unsigned char)format, (unsigned char)attribute, (unsigned char)value,
		(unsigned char)(value >> 8) };
	buf_append(out, head, sizeof head);
}

static void put_words(struct buf *out, int attribute, int n, const uint32_t *words)
{
	put(out, 4, attribute, (unsigned)n * 4);
	buf_append(out, words, (size_t)n * 4);
}

struct found {
	int n;
	struct resources of[4];
};

static int take(void *arg, const struct cubin_function *f, struct fw_err *err)
{
	struct found *all = arg;
	(void)err;
	assert_true(all->n < 4);
	all->of[all->n++] = *f->resources;
	return 0;
}

/* A kernel "k" with constants, shared memory and two symbols, whose attributes are `common` and `own`. */
static struct resources read_kernel(const struct buf *common, const struct buf *own, uint32_t flags, size_t shared_bytes)
{
	static const char body[512];
	struct elf_write w;
	struct buf file;
	struct found all = { 0 };
	struct fw_err err = { 0 };
	buf_init(&file, 1 << 20);
	elf_begin(&w);
	int text = elf_add(&w, ".text.k", SHT_PROGBITS, 0, body, 384);
	elf_add(&w, ".nv.info", INFO, 0, common->data, common->len);
	elf_add(&w, ".nv.info.k", INFO, text, own->data, own->len);
	elf_add(&w, ".nv.constant0.k", SHT_PROGBITS, text, body, 500);
	elf_add(&w, ".nv.constant2.k", SHT_PROGBITS, text, body, 12);
	elf_add(&w, ".nv.shared.k", SHT_NOBITS, text, NULL, shared_bytes);
	elf_symbol(&w, "$k$part", STT_FUNC, text);       /* 1 */
	int entry = elf_symbol(&w, "k", STT_FUNC, text); /* 2 */
	((Elf64_Sym *)(void *)w.symbols.data)[entry].st_other = 0x10;
	elf_end(&w, &file);
	file.data[EI_ABIVERSION] = 8;
	memcpy(file.data + offsetof(Elf64_Ehdr, e_flags), &flags, sizeof flags);
	if (cubin_read(file.data, file.len, take, &all, &err) != 0)
		fail_msg("%s", err.text);
	buf_fini(&file);
	assert_int_equal(all.n, 1);
	return all.of[0];
}

static void resources_written_by_the_compiler_are_read(void **state)
{
	(void)state;
	struct buf common, own;
	buf_init(&common, 4096);
	buf_init(&own, 4096);
	put_words(&common, 0x11, 2, (const uint32_t[]){ 2, 48 });
	put_words(&common, 0x2f, 2, (const uint32_t[]){ 2, 168 });
	put_words(&common, 0x12, 2, (const uint32_t[]){ 2, 808 });
	put_words(&common, 0x2f, 2, (const uint32_t[]){ 1, 255 }); /* a substring does not match */
	put_words(&common, 0x2f, 2, (const uint32_t[]){ 99, 255 });
	put(&own, 1, 0x5b, 0);
	put_words(&own, 0x77, 1, (const uint32_t[]){ 4 }); /* of a future format */
	put_words(&own, 0x05, 3, (const uint32_t[]){ 128, 3, 1 });
	put(&own, 3, 0x19, 16);
	put(&own, 2, 0x4c, 2);
	struct resources r = read_kernel(&common, &own, HOPPER, 1024 + 4096);
	assert_true(r.is_kernel);
	assert_false(r.is_block_fixed);
	assert_int_equal(r.registers, 168);
	assert_int_equal(r.stack_bytes, 808);
	assert_int_equal(r.max_threads, 384);
	assert_int_equal(r.parameter_bytes, 16);
	assert_int_equal(r.constant_bytes, 512);
	assert_int_equal(r.barriers, 2);
	assert_int_equal(r.code_bytes, 384);
	assert_int_equal(r.shared_bytes, 4096); /* the system's kilobyte is not the kernel's */
	r = read_kernel(&common, &own, 80 << 8, 4096);
	assert_int_equal(r.shared_bytes, 4096);
	put_words(&own, 0x10, 3, (const uint32_t[]){ 128, 1, 1 });
	put_words(&own, 0x05, 3, (const uint32_t[]){ 1024, 1, 1 });
	r = read_kernel(&common, &own, HOPPER, 0);
	assert_true(r.is_block_fixed);
	assert_int_equal(r.max_threads, 128);
	buf_fini(&common);
	buf_fini(&own);
}

static void values_missing_in_the_file_are_unknown(void **state)
{
	(void)state;
	struct buf common, own;
	struct occupancy o;
	buf_init(&common, 4096);
	buf_init(&own, 4096);
	put_words(&own, 0x05, 3, (const uint32_t[]){ 4096, 4096, 1 });
	put(&own, 4, 0x05, 12); /* and its value is truncated */
	struct resources r = read_kernel(&common, &own, HOPPER, 0);
	assert_int_equal(r.registers, -1);
	assert_int_equal(r.stack_bytes, -1);
	assert_int_equal(r.max_threads, -1);
	assert_int_equal(r.parameter_bytes, -1);
	assert_int_equal(r.barriers, -1);
	assert_int_equal(r.shared_bytes, 0);
	assert_false(occupancy_of(90, &r, &o));
	put(&own, 9, 0, 0); /* after an unknown format */
	put(&own, 3, 0x19, 16);
	assert_int_equal(read_kernel(&common, &own, HOPPER, 0).parameter_bytes, -1);
	buf_fini(&common);
	buf_fini(&own);
}

static void blocks(int sm, int registers, int threads, int64_t shared_bytes, int barriers, int ctas, const char *limit)
{
	struct resources r = {
		.registers = registers, .max_threads = threads, .shared_bytes = shared_bytes, .barriers = barriers
	};
	struct occupancy o;
	assert_true(occupancy_of(sm, &r, &o));
	assert_int_equal(o.ctas, ctas);
	assert_string_equal(o.limit, limit);
	assert_int_equal(o.warps, ctas * ((threads + 31) / 32));
}

/* The values of cudaOccMaxActiveBlocksPerMultiprocessor for the same kernels. */
static void blocks_fit_as_the_toolkit_counts_them(void **state)
{
	(void)state;
	blocks(90, 168, 384, 0, 1, 1, "registers");
	blocks(90, 32, 1024, 0, 1, 2, "warps");
	blocks(90, 16, 32, 0, 1, 32, "blocks");
	blocks(90, 255, 256, 0, 1, 1, "registers");
	blocks(90, 255, 288, 0, 1, 0, "registers");
	blocks(90, 40, 96, 0, 0, 16, "registers"); /* 12 warps of a partition, 3 each block */
	blocks(90, 32, 128, 48 << 10, 1, 4, "shared memory");
	blocks(90, 32, 128, (int64_t)1 << 60, 1, 0, "shared memory");
	blocks(90, 32, 32, 0, 16, 4, "barriers");
	blocks(89, 32, 256, 4096, 1, 6, "warps");
	blocks(86, 32, 32, 0, 1, 16, "blocks");
	blocks(75, 64, 256, 4096, 1, 4, "warps");
	blocks(120, 128, 256, 0, 1, 2, "registers");
	struct resources r = { .registers = 32, .max_threads = 128 };
	struct occupancy o;
	assert_false(occupancy_of(999, &r, &o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resources_written_by_the_compiler_are_read),
		cmocka_unit_test(values_missing_in_the_file_are_unknown),
		cmocka_unit_test(blocks_fit_as_the_toolkit_counts_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
