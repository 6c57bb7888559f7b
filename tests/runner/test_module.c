/* Loading kernel libraries: what is accepted, what is refused and with which messages. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attention_cell.h"
#include "runner/internal.h"
#include "runner_run.h"

static void problem_of(struct cell *c, struct fw_attention *a, struct fw_problem *p)
{
	const int32_t length[] = { 32 };
	*c = small_cell(FW_FULL, DIRECTION_FORWARD, 1, length);
	case_problem(c, a, p);
}

static void a_good_module(void **state)
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

/* It is accepted, counted and timed next to a current one. */
static void a_module_of_abi_1(void **state)
{
	static const char *const both[] = { "good", "abi_1" }, *const old[] = { "abi_1" };
	const int32_t length[] = { 24, 8 };
	struct cell c[2] = { small_cell(FW_CAUSAL, DIRECTION_FORWARD, 2, length),
		small_cell(FW_CAUSAL, DIRECTION_BACKWARD, 2, length) };
	static struct run_result result;
	struct module m;
	struct fw_err err = { 0 };
	int index[2];

	(void)state;
	assert_int_equal(module_open(&m, "build/tests/modules/abi_1.so", &err), 0);
	assert_int_equal(m.abi, 1);
	module_close(&m);
	struct msg_task task = small_task(TASK_CHECK, "cpu", old, 1, c, index, 2);

	run_task(&task, &result);
	assert_int_equal(result.status, 0);
	for (int i = 0; i < 2; i++) {
		const struct msg_check *check = find_check(&result, index[i]);

		assert_non_null(check);
		if (!check->ok)
			fail_msg("%s: %s", check->failure, check->detail);
	}
	run_result_fini(&result);
	task = small_task(TASK_TIME, "cpu", both, 2, c, index, 2);
	run_task(&task, &result);
	assert_int_equal(result.status, 0);
	for (int i = 0; i < 2; i++)
		assert_non_null(find_series(&result, index[i], SERIES_DEVICE, ""));
	run_result_fini(&result);
}

/* ABI 1 has only attention. */
static void abi_1_has_no_other_family(void **state)
{
	struct module m;
	struct fw_problem p = { .struct_size = sizeof p, .family = 2, .direction = FW_FORWARD };
	struct fw_err err = { 0 };
	char why[100] = "";

	(void)state;
	assert_int_equal(module_open(&m, "build/tests/modules/abi_1.so", &err), 0);
	assert_int_equal(module_can(&m, &m.provider[0], &p, why, sizeof why), FW_UNSUPPORTED);
	assert_non_null(strstr(why, "ABI 1"));
	module_close(&m);
}

/* ABI 1 has three masks, and its modules must not see a fourth. */
static void abi_1_has_no_later_mask(void **state)
{
	static const int32_t masks[] = { FW_TOKENS, FW_CACHE };
	struct fw_attention sizes = { .struct_size = sizeof sizes };
	struct fw_problem p = { .struct_size = sizeof p, .family = FW_ATTENTION, .direction = FW_FORWARD, .shape = &sizes };
	struct module m;
	struct fw_err err = { 0 };
	struct fw_plan *plan = NULL;
	struct fw_info info = { .struct_size = sizeof info };
	char why[100] = "";

	(void)state;
	assert_int_equal(module_open(&m, "build/tests/modules/abi_1.so", &err), 0);
	for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
		sizes.mask = masks[i];
		assert_int_equal(module_can(&m, &m.provider[0], &p, why, sizeof why), FW_UNSUPPORTED);
		assert_string_equal(why, "has ABI 1, which lacks this problem; build the module for ABI 2");
		assert_int_equal(module_plan(&m, &m.provider[0], &p, NULL, 0, &plan, &info, why, sizeof why), FW_UNSUPPORTED);
		assert_null(plan);
	}
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
	refuse("build/tests/modules/long_name.so",
		"'an_attention_for_the_lab_with_a_name_of_48_bytes' has a name of 48 bytes; at most 47");
	refuse("Makefile", "cannot load");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_module),
		cmocka_unit_test(abi_1_has_no_later_mask),
		cmocka_unit_test(a_module_of_abi_1),
		cmocka_unit_test(abi_1_has_no_other_family),
		cmocka_unit_test(by_descriptor),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
