/* Device code: which changes alter a kernel's hash and which do not, in which modules it is found, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cubin_write.h"
#include "profile/profile.h"
#include "worker/sandbox/sandbox.h"

/* ---- one piece of device code ----------------------------------------------------------------------------------------- */

/* Two kernels, "alpha" and "beta", and a function that alpha calls. What a test changes: */
struct recipe {
	char alpha_code, beta_code, called_code; /* a byte of their instructions */
	char constant;                           /* a byte of alpha's constants */
	size_t shared_bytes, parameter_bytes;    /* of alpha */
	int64_t addend;                          /* of its relocation */
	const char *refers;                      /* name of the variable there */
	const char *alpha;                       /* its symbol */
	bool beta_first, debug;
};

static const struct recipe usual = { 'a', 'b', 'c', 'k', 1024, 528, 4, "table", "alpha", false, false };

static int add_kernel(struct elf_write *w, const char *symbol, char code)
{
	char name[200], body[256];
	memset(body, code, sizeof body);
	snprintf(name, sizeof name, ".text.%s", symbol);
	int text = elf_add(w, name, SHT_PROGBITS, 3, body, sizeof body);
	elf_symbol(w, symbol, STT_FUNC, text);
	/* its info contains numbers of symbols, which any other kernel changes */
	snprintf(name, sizeof name, ".nv.info.%s", symbol);
	snprintf(body, sizeof body, "symbol %zu", w->symbols.len);
	elf_add(w, name, 0x70000000, text, body, sizeof body);
	return text;
}

static void add_alpha(struct elf_write *w, const struct recipe *r)
{
	char name[200], parameters[1024] = { 0 };
	int text = add_kernel(w, r->alpha, r->alpha_code);
	snprintf(name, sizeof name, ".nv.constant0.%s", r->alpha);
	elf_add(w, name, SHT_PROGBITS, text, parameters, r->parameter_bytes);
	snprintf(name, sizeof name, ".nv.constant2.%s", r->alpha);
	int constant = elf_add(w, name, SHT_PROGBITS, text, &r->constant, 1);
	snprintf(name, sizeof name, ".nv.shared.%s", r->alpha);
	elf_add(w, name, SHT_NOBITS, text, NULL, r->shared_bytes);
	int called = add_kernel(w, "called", r->called_code);
	int callee = (int)(w->symbols.len / sizeof(Elf64_Sym)) - 1;
	snprintf(name, sizeof name, ".rela.text.%s", r->alpha);
	elf_relocate(w, name, text, 32, callee, 0);
	snprintf(name, sizeof name, ".rela.nv.constant2.%s", r->alpha);
	elf_relocate(w, name, constant, 0, elf_symbol(w, r->refers, STT_OBJECT, 0), r->addend);
	assert_true(called > text);
}

static void write_cubin(struct buf *out, const struct recipe *r)
{
	struct elf_write w;
	elf_begin(&w);
	if (r->debug)
		elf_add(&w, ".debug_frame", SHT_PROGBITS, 0, "where from", 10);
	if (r->beta_first)
		add_kernel(&w, "beta", r->beta_code);
	add_alpha(&w, r);
	if (!r->beta_first)
		add_kernel(&w, "beta", r->beta_code);
	elf_end(&w, out);
}

struct codes {
	int n;
	char symbol[8][200], code[8][HASH_HEX];
};

static int take(void *arg, const struct cubin_function *f, struct fw_err *err)
{
	struct codes *c = arg;
	(void)err;
	assert_true(c->n < 8);
	snprintf(c->symbol[c->n], sizeof c->symbol[0], "%s", f->symbol);
	memcpy(c->code[c->n++], f->code_sha256, HASH_HEX);
	return 0;
}

static const char *code_of(const struct codes *c, const char *symbol)
{
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->symbol[i], symbol) == 0)
			return c->code[i];
	fail_msg("no %s", symbol);
	return NULL;
}

static struct codes read_recipe(const struct recipe *r)
{
	struct codes c = { 0 };
	struct fw_err err = { 0 };
	struct buf file;
	buf_init(&file, 1 << 20);
	write_cubin(&file, r);
	if (cubin_read(file.data, file.len, take, &c, &err) != 0)
		fail_msg("%s", err.text);
	buf_fini(&file);
	assert_int_equal(c.n, 3);
	return c;
}

static bool same(const struct recipe *a, const struct recipe *b, const char *symbol)
{
	struct codes x = read_recipe(a), y = read_recipe(b);
	return strcmp(code_of(&x, symbol), code_of(&y, symbol)) == 0;
}

static void data_of_a_kernel_counts(void **state)
{
	(void)state;
	struct recipe r = usual;
	assert_true(same(&usual, &r, "alpha") && same(&usual, &r, "beta"));
	r.alpha_code = 'A';
	assert_false(same(&usual, &r, "alpha"));
	assert_true(same(&usual, &r, "beta"));
	r = usual, r.constant = 'K';
	assert_false(same(&usual, &r, "alpha"));
	r = usual, r.shared_bytes = 2048;
	assert_false(same(&usual, &r, "alpha"));
	r = usual, r.parameter_bytes = 536;
	assert_false(same(&usual, &r, "alpha"));
	r = usual, r.addend = 8;
	assert_false(same(&usual, &r, "alpha"));
	r = usual, r.refers = "other_table";
	assert_false(same(&usual, &r, "alpha"));
	r = usual, r.called_code = 'C'; /* the function that it calls is part of its code */
	assert_false(same(&usual, &r, "alpha"));
	assert_true(same(&usual, &r, "beta"));
}

static void data_of_other_kernels_does_not_count(void **state)
{
	(void)state;
	struct recipe r = usual;
	r.beta_code = 'B';
	assert_true(same(&usual, &r, "alpha"));
	assert_false(same(&usual, &r, "beta"));
	r = usual, r.beta_first = true; /* every number of a section and a symbol changes */
	assert_true(same(&usual, &r, "alpha") && same(&usual, &r, "beta") && same(&usual, &r, "called"));
	r = usual, r.debug = true;
	assert_true(same(&usual, &r, "alpha"));
}

static void numbers_of_a_file_in_names_do_not_count(void **state)
{
	(void)state;
	struct recipe a = usual, b = usual;
	a.refers = "_ZN34_INTERNAL_3c4aacd4_4_a_cu_73fc6ea736_GLOBAL__N__3c4aacd4_4_a_cu_73fc6ea77counterE";
	b.refers = "_ZN34_INTERNAL_00000001_4_a_cu_0000000236_GLOBAL__N__00000001_4_a_cu_000000027counterE";
	assert_true(same(&a, &b, "alpha"));
	b.refers = "_ZN34_INTERNAL_00000001_4_b_cu_0000000236_GLOBAL__N__00000001_4_b_cu_000000027counterE";
	assert_false(same(&a, &b, "alpha"));                      /* of another file */
	a.refers = "f_12345678_9_x", b.refers = "f_87654321_9_x"; /* looks like one, and is none */
	assert_false(same(&a, &b, "alpha"));
	a = usual, b = usual;
	a.alpha = "_ZN36_GLOBAL__N__3c4aacd4_4_a_cu_73fc6ea75alphaE"; /* a kernel's own name never counts */
	b.alpha = "_ZN36_GLOBAL__N__00000001_4_a_cu_000000025alphaE";
	struct codes x = read_recipe(&a), y = read_recipe(&b);
	assert_string_equal(code_of(&x, a.alpha), code_of(&y, b.alpha));
}

static void kernels_private_to_a_file_keep_their_name(void **state)
{
	(void)state;
	assert_string_equal(cubin_plain_symbol("__nv_static_25__c65a33c0_4_s_cu__Z3go2Pf__Z2skPf"), "_Z2skPf");
	static const char *const others[] = { "_Z2skPf", "plain", "", "__nv_static_", "__nv_static_x", "__nv_static_25",
		"__nv_static_25_short", "__nv_static_5_abcdef_Z", "__nv_static_6_abcdef", "__nv_static_6_abcdef_",
		"__nv_static_0__x", "__nv_static_99999999999999999999_x" };
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		assert_ptr_equal(cubin_plain_symbol(others[i]), others[i]);
}

static void functions_that_call_each_other_end(void **state)
{
	(void)state;
	struct codes c = { 0 };
	struct fw_err err = { 0 };
	struct elf_write w;
	struct buf file;
	int text[3], symbol[3];
	buf_init(&file, 1 << 20);
	elf_begin(&w);
	for (int i = 0; i < 3; i++) {
		char name[8] = { 'f', (char)('0' + i), 0 };
		text[i] = add_kernel(&w, name, (char)i);
		symbol[i] = (int)(w.symbols.len / sizeof(Elf64_Sym)) - 1;
	}
	for (int i = 0; i < 3; i++)
		elf_relocate(&w, ".rela", text[i], 0, symbol[(i + 1) % 3], 0);
	elf_end(&w, &file);
	assert_int_equal(cubin_read(file.data, file.len, take, &c, &err), 0);
	assert_int_equal(c.n, 3);
	assert_string_not_equal(c.code[0], c.code[1]);
	buf_fini(&file);
}

static void work_has_an_end(void **state)
{
	(void)state;
	struct codes c = { 0 };
	struct fw_err err = { 0 };
	struct elf_write w;
	struct buf file;
	static char body[1 << 18];
	buf_init(&file, 4 << 20);
	elf_begin(&w);
	int text = elf_add(&w, ".text.k", SHT_PROGBITS, 0, body, sizeof body);
	/* overlapping sections: a small file with much to hash */
	for (int i = 0; i < 50; i++) {
		elf_add(&w, ".nv.constant2.k", SHT_PROGBITS, text, body, 0);
		w.header[w.n - 1].sh_offset = w.header[text].sh_offset;
		w.header[w.n - 1].sh_size = sizeof body;
	}
	elf_end(&w, &file);
	assert_int_equal(cubin_read(file.data, file.len, take, &c, &err), -1);
	assert_int_equal(err.code, ERR_FULL);
	assert_int_equal(c.n, 0);
	buf_fini(&file);
}

/* ---- modules ---------------------------------------------------------------------------------------------------------- */

#define FLAG_LZ4  0x2011u
#define FLAG_ZSTD 0x8011u

struct module {
	struct buf entries, section;
};

static void module_begin(struct module *m)
{
	buf_init(&m->entries, 1 << 20);
	buf_init(&m->section, 1 << 20);
}

static void module_add(struct module *m, int sm, const struct recipe *r)
{
	struct buf file;
	buf_init(&file, 1 << 20);
	write_cubin(&file, r);
	fatbin_entry(&m->entries, FATBIN_KIND_CODE, sm, 0, file.data, file.len, 0);
	buf_fini(&file);
}

static void module_add_packed(struct module *m, int sm, const struct recipe *r)
{
	struct buf file, packed;
	buf_init(&file, 1 << 20);
	buf_init(&packed, 1 << 20);
	write_cubin(&file, r);
	lz4_pack(&packed, file.data, file.len);
	fatbin_entry(&m->entries, FATBIN_KIND_CODE, sm, FLAG_LZ4, packed.data, packed.len, file.len);
	buf_fini(&packed);
	buf_fini(&file);
}

static void module_close_container(struct module *m)
{
	fatbin_container(&m->section, &m->entries);
	buf_append(&m->section, "\0\0\0\0\0\0\0", 8); /* the linker's padding between two */
	buf_clear(&m->entries);
}

/* Returns a descriptor of the whole file. */
static int module_end(struct module *m)
{
	struct elf_write w;
	struct buf file;
	if (m->entries.len)
		module_close_container(m);
	buf_init(&file, 4 << 20);
	elf_begin(&w);
	elf_add(&w, ".rodata", SHT_PROGBITS, 0, "words", 6);
	elf_add(&w, ".nv_fatbin", SHT_PROGBITS, 0, m->section.data, m->section.len);
	elf_end(&w, &file);
	int fd = memfd_create("module", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, file.data, file.len), file.len);
	buf_fini(&file);
	buf_fini(&m->entries);
	buf_fini(&m->section);
	return fd;
}

static struct kernelcode *open_module(struct module *m)
{
	struct kernelcode *k;
	struct fw_err err = { 0 };
	int fd = module_end(m);
	if (kernelcode_open(fd, &k, &err) != 0)
		fail_msg("%s", err.text);
	close(fd);
	return k;
}

/* "" if it is unknown. */
static const char *find(const struct kernelcode *k, const char *symbol, int sm)
{
	static char code[HASH_HEX];
	char name[HASH_HEX];
	hash_hex(symbol, strlen(symbol), name);
	bool known = kernelcode_find(k, name, sm, code);
	assert_int_equal(known, code[0] != 0);
	return code;
}

static void kernels_are_found_by_symbol_and_architecture(void **state)
{
	(void)state;
	struct recipe newer = usual, ptx = usual;
	struct module m;
	newer.alpha_code = 'N';
	ptx.alpha_code = 'P';
	module_begin(&m);
	module_add(&m, 80, &usual);
	module_add_packed(&m, 90, &newer);
	struct buf text;
	buf_init(&text, 1 << 16);
	write_cubin(&text, &ptx);
	fatbin_entry(&m.entries, FATBIN_KIND_PTX, 90, 0, text.data, text.len, 0);
	buf_fini(&text);
	struct kernelcode *k = open_module(&m);
	struct codes old = read_recipe(&usual), now = read_recipe(&newer);
	assert_string_equal(find(k, "alpha", 80), code_of(&old, "alpha"));
	assert_string_equal(find(k, "alpha", 90), code_of(&now, "alpha"));
	assert_string_equal(find(k, "beta", 90), code_of(&old, "beta"));
	assert_string_equal(find(k, "alpha", 100), "");
	assert_string_equal(find(k, "gamma", 90), "");
	char code[HASH_HEX];
	assert_false(kernelcode_find(k, "", 90, code));
	kernelcode_free(k);
}

static void equal_kernels_of_two_files_are_one(void **state)
{
	(void)state;
	struct recipe other = usual;
	struct module m;
	other.beta_code = 'B';
	module_begin(&m);
	module_add(&m, 90, &usual);
	module_close_container(&m);
	module_add(&m, 90, &other);
	struct kernelcode *k = open_module(&m);
	struct codes old = read_recipe(&usual);
	assert_string_equal(find(k, "alpha", 90), code_of(&old, "alpha"));
	assert_string_equal(find(k, "beta", 90), ""); /* it is unknown which of them runs */
	kernelcode_free(k);
}

static void what_cannot_be_unpacked_is_not_known(void **state)
{
	(void)state;
	struct module m;
	static const unsigned flags[] = { FLAG_LZ4, FLAG_ZSTD };
	module_begin(&m);
	for (int i = 0; i < 2; i++) {
		fatbin_entry(&m.entries, FATBIN_KIND_CODE, 90, flags[i], "no such thing at all", 20, 4000);
		fatbin_entry(&m.entries, FATBIN_KIND_CODE, 90, flags[i], "no such thing at all", 20, (size_t)1 << 40);
		fatbin_entry(&m.entries, FATBIN_KIND_CODE, 90, flags[i], "", 0, 0);
	}
	fatbin_entry(&m.entries, FATBIN_KIND_CODE, 90, 0, "nor is this", 11, 0);
	module_add(&m, 90, &usual);
	struct kernelcode *k = open_module(&m);
	assert_int_equal(strlen(find(k, "alpha", 90)), 64);
	kernelcode_free(k);
}

static void refused(int fd)
{
	struct kernelcode *k = NULL;
	struct fw_err err = { 0 };
	assert_int_equal(kernelcode_open(fd, &k, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(k);
	close(fd);
}

static void broken_modules_are_refused(void **state)
{
	(void)state;
	struct module m;
	refused(memfd_create("empty", MFD_CLOEXEC));
	int fd = memfd_create("text", MFD_CLOEXEC);
	assert_int_equal(write(fd, "#!/bin/sh\n", 10), 10);
	refused(fd);
	module_begin(&m); /* an entry longer than its container */
	module_add(&m, 90, &usual);
	m.entries.data[8] ^= 0x40;
	m.entries.data[9] ^= 0x40;
	refused(module_end(&m));
	module_begin(&m); /* a container longer than its section */
	module_add(&m, 90, &usual);
	module_close_container(&m);
	m.section.data[10] ^= 0x40;
	refused(module_end(&m));
}

static void a_module_without_device_code_has_no_kernels(void **state)
{
	(void)state;
	struct module m;
	module_begin(&m);
	struct kernelcode *k = open_module(&m);
	assert_string_equal(find(k, "alpha", 90), "");
	kernelcode_free(k);
	kernelcode_free(NULL);
}

/* ---- LZ4 -------------------------------------------------------------------------------------------------------------- */

/* Whether the kernels of a module are known whose device code is this block. */
static bool is_read(const struct buf *packed, size_t len, size_t full_len)
{
	struct module m;
	module_begin(&m);
	fatbin_entry(&m.entries, FATBIN_KIND_CODE, 90, FLAG_LZ4, packed->data, len, full_len);
	struct kernelcode *k = open_module(&m);
	struct codes right = read_recipe(&usual);
	const char *code = find(k, "alpha", 90);
	if (*code)
		assert_string_equal(code, code_of(&right, "alpha"));
	kernelcode_free(k);
	return *code;
}

static void a_block_has_exactly_its_declared_size(void **state)
{
	(void)state;
	struct buf file, packed;
	buf_init(&file, 1 << 20);
	buf_init(&packed, 1 << 20);
	write_cubin(&file, &usual);
	lz4_pack(&packed, file.data, file.len);
	assert_true(packed.len > 0 && packed.len < file.len / 2);
	assert_true(is_read(&packed, packed.len, file.len));
	assert_false(is_read(&packed, packed.len, file.len + 1));
	assert_false(is_read(&packed, packed.len, file.len - 1));
	for (size_t len = 0; len < packed.len; len++)
		assert_false(is_read(&packed, len, file.len));
	buf_putc(&packed, '\0');
	assert_false(is_read(&packed, packed.len, file.len));
	buf_fini(&packed);
	buf_fini(&file);
}

/* Device code as literals; after it, in an unused area, `match` and ten more literals. */
static bool is_read_before(const char *match, size_t match_len, size_t n_matched)
{
	struct buf file, packed;
	buf_init(&file, 1 << 20);
	buf_init(&packed, 1 << 20);
	write_cubin(&file, &usual);
	buf_putc(&packed, (char)(0xf0 | match[0]));
	size_t rest = file.len - 15;
	for (; rest >= 255; rest -= 255)
		buf_putc(&packed, (char)255);
	buf_putc(&packed, (char)rest);
	buf_append(&packed, file.data, file.len);
	buf_append(&packed, match + 1, match_len - 1);
	buf_append(&packed, "\xa0", 1);
	buf_append(&packed, "0123456789", 10);
	bool result = is_read(&packed, packed.len, file.len + n_matched + 10);
	buf_fini(&packed);
	buf_fini(&file);
	return result;
}

/* The low half of a token, the offset of the match, and the continuation of its length. */
static void a_block_has_no_reference_outside_itself(void **state)
{
	(void)state;
	assert_true(is_read_before("\x04\x01\x00", 3, 8));
	assert_true(is_read_before("\x0f\x01\x00\xff\x05", 5, 15 + 255 + 5 + 4));
	assert_false(is_read_before("\x04\xff\xff", 3, 8));               /* from before its beginning */
	assert_false(is_read_before("\x0f\x01\x00\xff\xff\x05", 6, 279)); /* more than fits */
	assert_false(is_read_before("\x0f\x01\x00\xff\xff\xff\xff\xff\xff", 9, 279));
	struct buf literals; /* more than there are */
	buf_init(&literals, 64);
	buf_puts(&literals, "\xf0\xff\xff\xff\xffliterals");
	assert_false(is_read(&literals, literals.len, 4 * 255 + 15 + 'l'));
	buf_fini(&literals);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_of_a_kernel_counts),
		cmocka_unit_test(data_of_other_kernels_does_not_count),
		cmocka_unit_test(numbers_of_a_file_in_names_do_not_count),
		cmocka_unit_test(kernels_private_to_a_file_keep_their_name),
		cmocka_unit_test(functions_that_call_each_other_end),
		cmocka_unit_test(work_has_an_end),
		cmocka_unit_test(kernels_are_found_by_symbol_and_architecture),
		cmocka_unit_test(equal_kernels_of_two_files_are_one),
		cmocka_unit_test(what_cannot_be_unpacked_is_not_known),
		cmocka_unit_test(broken_modules_are_refused),
		cmocka_unit_test(a_module_without_device_code_has_no_kernels),
		cmocka_unit_test(a_block_has_exactly_its_declared_size),
		cmocka_unit_test(a_block_has_no_reference_outside_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
