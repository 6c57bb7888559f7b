/* Messages of a worker in a profile: each one once, of an existing cell that has not ended, and of bounded number. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "flopwatchd/job/job.h"

enum { CELLS = 2 };

static struct fw_err err;

static struct msg kernel(int cell, int repeat, int n, int n_values)
{
	struct msg m = { .t = MSG_KERNEL, .u.kernel = { .cell = cell, .repeat = repeat, .n = n, .n_values = n_values } };
	m.u.kernel.role = ROLE_BASE;
	m.u.kernel.value = calloc((size_t)n_values + 1, sizeof *m.u.kernel.value);
	assert_non_null(m.u.kernel.value);
	return m;
}

static struct msg code(int cell)
{
	struct msg m = { .t = MSG_CODE, .u.code = calloc(1, sizeof *m.u.code) };
	assert_non_null(m.u.code);
	m.u.code->cell = cell;
	return m;
}

/* Its memory is freed, whatever the result. */
static int add(struct profiled *p, struct msg m)
{
	err_clear(&err);
	int result = profiled_add(p, &m, CELLS, &err);
	msg_fini(&m);
	return result;
}

static void refused(struct profiled *p, struct msg m, enum err_code code)
{
	assert_int_equal(add(p, m), -1);
	assert_int_equal(err.code, code);
}

static void each_thing_is_reported_once(void **state)
{
	struct profiled p = { .n_ends = 0 };
	struct msg with = { .t = MSG_COUNTERFACTUAL, .u.counterfactual = { .cell = 1, .with_ms = 2 } };
	struct msg end = { .t = MSG_PROFILE, .u.profile = { .cell = 1, .path = EVIDENCE_CODE } };
	(void)state;
	assert_int_equal(add(&p, kernel(1, 0, 0, 2)), 0);
	assert_int_equal(add(&p, kernel(1, 1, 0, 2)), 0);
	refused(&p, kernel(1, 1, 0, 0), ERR_PROTOCOL);
	assert_int_equal(add(&p, code(1)), 0);
	assert_int_equal(add(&p, with), 0);
	refused(&p, with, ERR_PROTOCOL);
	assert_int_equal(add(&p, end), 0);
	refused(&p, end, ERR_PROTOCOL);
	refused(&p, code(1), ERR_PROTOCOL);
	refused(&p, kernel(1, 0, 1, 0), ERR_PROTOCOL);
	assert_int_equal(p.n_kernels, 2);
	assert_int_equal(p.n_values, 4);
	assert_non_null(profiled_end(&p, 1));
	assert_null(profiled_end(&p, 0));
	assert_true(profiled_with(&p, 1)->with_ms == 2);
	profiled_fini(&p);
}

static void cells_are_those_of_the_job(void **state)
{
	struct profiled p = { .n_ends = 0 };
	(void)state;
	refused(&p, kernel(CELLS, 0, 0, 1), ERR_PROTOCOL);
	refused(&p, kernel(-1, 0, 0, 1), ERR_PROTOCOL);
	refused(&p, code(CELLS), ERR_PROTOCOL);
	assert_int_equal(p.n_kernels + p.n_codes, 0);
	profiled_fini(&p);
}

static void every_cell_of_a_suite_fits(void **state)
{
	struct profiled p = { .n_ends = 0 };
	(void)state;
	for (int i = 0; i < EVIDENCE_SUITE_MAX; i++) {
		struct msg end = { .t = MSG_PROFILE, .u.profile = { .cell = i } };
		assert_int_equal(profiled_add(&p, &end, EVIDENCE_SUITE_MAX, &err), 0);
	}
	struct msg beyond = { .t = MSG_PROFILE, .u.profile = { .cell = EVIDENCE_SUITE_MAX } };
	assert_int_equal(profiled_add(&p, &beyond, EVIDENCE_SUITE_MAX + 1, &err), -1);
	assert_non_null(profiled_end(&p, EVIDENCE_SUITE_MAX - 1));
	profiled_fini(&p);
}

static void stored_records_are_bounded(void **state)
{
	struct profiled p = { .n_ends = 0 };
	int n = 0;
	(void)state;
	while (add(&p, code(0)) == 0)
		n++;
	assert_int_equal(err.code, ERR_FULL);
	assert_int_equal(n, PROFILED_CODES_MAX);
	for (n = 0; add(&p, kernel(0, n / EVIDENCE_KERNELS_MAX % 2, n % EVIDENCE_KERNELS_MAX, EVIDENCE_VALUES_MAX)) == 0;)
		n++;
	assert_int_equal(err.code, ERR_FULL);
	assert_int_equal(n, PROFILED_VALUES_MAX / EVIDENCE_VALUES_MAX);
	profiled_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_thing_is_reported_once),
		cmocka_unit_test(cells_are_those_of_the_job),
		cmocka_unit_test(every_cell_of_a_suite_fits),
		cmocka_unit_test(stored_records_are_bounded),
	};
	return cmocka_run_group_tests_name("what a profile tells", tests, NULL, NULL);
}
