/* A replaced import and changed machine code are seen, and nothing is reported once they are as before. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "runner/internal.h"
#include "tests/modules/imports.h"

static int no_clock(clockid_t clock, struct timespec *out)
{
	(void)clock;
	*out = (struct timespec){ 0 };
	return 0;
}

static void nothing_is_compared_before_checksums_exist(void **state)
{
	struct failure f = { 0 };
	(void)state;
	assert_int_equal(own_code_check(OWN_CODE_ALL, &f), 0);
}

static void a_replaced_import_is_seen(void **state)
{
	struct failure f = { 0 };
	struct timespec t;
	(void)state;
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC_RAW, &t), 0); /* an import of this program */
	own_code_take();
	assert_int_equal(own_code_check(OWN_CODE_ALL, &f), 0);
	imports_replace_in_runner("clock_gettime", (void *)(uintptr_t)no_clock);
	int seen = own_code_check(OWN_CODE_IMPORTS, &f);
	imports_replace_in_runner("clock_gettime", (void *)(uintptr_t)clock_gettime);
	assert_int_equal(seen, -1);
	assert_string_equal(f.name, "forged");
	assert_non_null(strstr(f.detail, "the functions that the runner calls"));
}

/* Code that is never executed, on a page that may be written for a moment. */
static void changed_code_is_seen(void **state)
{
	struct failure f = { 0 }, tables = { 0 };
	unsigned char *code = (unsigned char *)(uintptr_t)no_clock;
	void *page = (void *)((uintptr_t)code & ~(uintptr_t)4095);
	(void)state;
	if (mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
		skip();
	own_code_take();
	code[0] ^= 0x55;
	int seen = own_code_check(OWN_CODE_ALL, &f), seen_in_tables = own_code_check(OWN_CODE_TABLES, &tables);
	code[0] ^= 0x55;
	assert_int_equal(own_code_check(OWN_CODE_ALL, &tables), 0);
	assert_int_equal(mprotect(page, 8192, PROT_READ | PROT_EXEC), 0);
	assert_int_equal(seen, -1);
	assert_int_equal(seen_in_tables, 0);
	assert_string_equal(f.name, "forged");
	assert_non_null(strstr(f.detail, "code that was loaded before it"));
}

static unsigned char *open_code(void)
{
	unsigned char *code = (unsigned char *)(uintptr_t)no_clock;
	void *page = (void *)((uintptr_t)code & ~(uintptr_t)4095);
	return mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 ? code : NULL;
}

/* Compare while `n` bytes of code are `byte`. */
static struct failure with_bytes(unsigned char *code, unsigned char byte, int n)
{
	struct failure f = { 0 };
	unsigned char was[4] = { 0 };
	for (int i = 0; i < n; i++) {
		was[i] = code[i];
		code[i] = byte;
	}
	int seen = own_code_check(OWN_CODE_ALL, &f);
	for (int i = 0; i < n; i++)
		code[i] = was[i];
	assert_int_equal(seen, -1);
	assert_true(f.lost); /* later calls would run it, and the next side would be accused */
	return f;
}

static void the_side_that_ran_is_blamed(void **state)
{
	unsigned char *code = open_code();
	struct failure f = { 0 };
	(void)state;
	if (!code)
		skip();
	own_code_take();
	assert_int_equal(with_bytes(code, 0x90, 2).by, ROLE_NONE); /* the caller's side */
	own_code_ran(ROLE_BASE);
	assert_int_equal(with_bytes(code, 0x90, 2).by, ROLE_BASE);
	own_code_ran(ROLE_TARGET);
	assert_int_equal(with_bytes(code, 0x90, 2).by, ROLE_TARGET);
	assert_int_equal(own_code_check(OWN_CODE_ALL, &f), 0);
	own_code_ran(ROLE_REFERENCE); /* the others ran before that comparison */
	assert_int_equal(with_bytes(code, 0x90, 2).by, ROLE_REFERENCE);
}

static void a_breakpoint_blames_no_side(void **state)
{
	unsigned char *code = open_code();
	(void)state;
	if (!code)
		skip();
	own_code_take();
	own_code_ran(ROLE_TARGET);
#ifdef __x86_64__
	struct failure f = with_bytes(code, 0xcc, 1);
	assert_string_equal(f.name, "unsure");
	assert_int_equal(f.by, ROLE_DEVICE);
	assert_non_null(strstr(f.detail, "a debugger or probe is attached to the runner"));
#endif
	assert_string_equal(with_bytes(code, 0xcc, 2).name, "forged"); /* no breakpoint has two bytes */
	assert_string_equal(with_bytes(code, 0xcb, 1).name, "forged");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_compared_before_checksums_exist),
		cmocka_unit_test(a_replaced_import_is_seen),
		cmocka_unit_test(changed_code_is_seen),
		cmocka_unit_test(the_side_that_ran_is_blamed),
		cmocka_unit_test(a_breakpoint_blames_no_side),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
