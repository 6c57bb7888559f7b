/* Which core is assigned to which device. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "lib/lib.h"

/* Cores from 64 on, whose threads no machine that runs this knows: each is on its own. */
enum { FIRST = 512 };

static cpu_set_t set_of(int first, int n)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	for (int i = 0; i < n; i++)
		CPU_SET(FIRST + first + i, &set);
	return set;
}

static void expect_share(const cpu_set_t *all, const cpu_set_t *near, int n, int k, int first, int count)
{
	cpu_set_t out, wanted = set_of(first, count);
	char got[CORES_TEXT], text[CORES_TEXT];
	cores_share(all, near, n, k, &out);
	cores_text(&out, got);
	cores_text(&wanted, text);
	assert_string_equal(got, text);
}

static void test_cores_are_divided(void **state)
{
	(void)state;
	cpu_set_t all = set_of(0, 8), near[8] = { 0 };
	expect_share(&all, near, 2, 0, 0, 4);
	expect_share(&all, near, 2, 1, 4, 4);
	expect_share(&all, near, 8, 7, 7, 1);
	expect_share(&all, near, 1, 0, 0, 8);
}

static void test_each_device_gets_near_cores(void **state)
{
	(void)state;
	cpu_set_t all = set_of(1, 15); /* the first one is used */
	cpu_set_t near[4] = { set_of(0, 8), set_of(8, 8), set_of(8, 8), set_of(0, 8) };
	expect_share(&all, near, 4, 0, 1, 4);
	expect_share(&all, near, 4, 3, 5, 3);
	expect_share(&all, near, 4, 1, 8, 4);
	expect_share(&all, near, 4, 2, 12, 4);
}

/* The cores that the system reports as near to two devices may overlap and differ. */
static void test_no_core_is_shared_where_lists_overlap(void **state)
{
	(void)state;
	cpu_set_t all = set_of(0, 16), near[3] = { set_of(0, 8), set_of(4, 12), set_of(0, 16) };
	cpu_set_t share[3], both;
	for (int k = 0; k < 3; k++) {
		cores_share(&all, near, 3, k, &share[k]);
		assert_true(CPU_COUNT(&share[k]) > 0);
		for (int i = 0; i < k; i++) {
			CPU_AND(&both, &share[k], &share[i]);
			assert_int_equal(CPU_COUNT(&both), 0);
		}
	}
	near[0] = set_of(0, 1);
	near[1] = set_of(0, 8);
	expect_share(&all, near, 2, 0, 0, 1); /* it has no other */
	expect_share(&all, near, 2, 1, 1, 7);
}

static void test_near_cores_outside_the_own_set(void **state)
{
	(void)state;
	cpu_set_t all = set_of(0, 4), near[2] = { set_of(100, 4), set_of(0, 4) };
	expect_share(&all, near, 2, 0, 0, 2);
	expect_share(&all, near, 2, 1, 2, 2);
}

static void test_fewer_cores_than_jobs(void **state)
{
	(void)state;
	cpu_set_t all = set_of(0, 2), near[4] = { 0 };
	for (int k = 0; k < 4; k++)
		expect_share(&all, near, 4, k, 0, 2);
}

static void test_an_absent_device_has_no_near_cores(void **state)
{
	(void)state;
	cpu_set_t set;
	cores_near("", &set);
	assert_int_equal(CPU_COUNT(&set), 0);
	cores_near("../../../../etc", &set);
	assert_int_equal(CPU_COUNT(&set), 0);
	cores_near("ffff:ff:1f.7", &set);
	assert_int_equal(CPU_COUNT(&set), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores_are_divided),
		cmocka_unit_test(test_each_device_gets_near_cores),
		cmocka_unit_test(test_no_core_is_shared_where_lists_overlap),
		cmocka_unit_test(test_near_cores_outside_the_own_set),
		cmocka_unit_test(test_fewer_cores_than_jobs),
		cmocka_unit_test(test_an_absent_device_has_no_near_cores),
	};
	return cmocka_run_group_tests_name("cores", tests, NULL, NULL);
}
