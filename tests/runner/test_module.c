/* Loading kernel libraries: what is accepted, what is refused and in which words. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner/call/module.h"
#include "runner_run.h"

static void problem_of(struct cell *c, struct fw_attention *a, struct fw_problem *p)
{
	const int32_t length[] = { 32 };
	*c = small_cell(FW_FULL, DIRECTION_FORWARD, 1, length);
	case_problem(c, a, p);
}

static void a_good_one(void **state)
{
	struct module m;
	struct cell c;
	struct fw_attention a;
	struct fw_problem p;
	struct fw_err err = { 0 };

	(void)state;
	problem_of(&c, &a, &p);
	assert_int_equal(module_open(&m, "build/tests/modules/good.so", &err), 0);
	assert_true(m.n >= 1);
	const struct fw_provider *first = module_choose(&m, "", FW_CPU, &p, &err);
	assert_non_null(first);
	assert_ptr_equal(module_choose(&m, first->name, FW_CPU, &p, &err), first);

	assert_null(module_choose(&m, "nonesuch", FW_CPU, &p, &err));
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "nonesuch"));
	err_clear(&err);
	assert_null(module_choose(&m, "", FW_CUDA, &p, &err));
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "another kind of device"));
	module_close(&m);
	module_close(&m);
}

static void by_descriptor(void **state)
{
	struct module m;
	struct fw_err err = { 0 };
	char path[64];
	int fd = open("build/tests/modules/good.so", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	assert_int_equal(module_open(&m, path, &err), 0);
	module_close(&m);
	close(fd);
}

static void refuse(const char *path, const char *words)
{
	struct module m;
	struct fw_err err = { 0 };
	assert_int_equal(module_open(&m, path, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	if (!strstr(err.text, words))
		fail_msg("'%s' does not say '%s'", err.text, words);
	assert_null(m.handle);
}

static void refused(void **state)
{
	(void)state;
	refuse("build/tests/modules/no_entry.so", "fw_entry");
	refuse("build/tests/modules/wrong_abi.so", "ABI");
	refuse("build/tests/modules/nonesuch.so", "nonesuch.so");
	refuse("Makefile", "cannot load");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_one),
		cmocka_unit_test(by_descriptor),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
