/* sustained.c: the order of both sides' sustained runs, and which of their calls a record gets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "protocol/protocol.h"

static void the_side_that_begins_has_the_first_letters(void **state)
{
	char order[16];
	(void)state;
	sustained_write_order(2, 0, order);
	assert_string_equal(order, "AABB");
	sustained_write_order(3, 1, order);
	assert_string_equal(order, "BBBAAA");
	sustained_write_order(0, 1, order);
	assert_string_equal(order, "");
}

/* Both sides' sustained runs have different numbers of calls; a record gets as many of each as the shorter one has, distributed
 * over the whole run. */
static void calls_are_spread_evenly(void **state)
{
	static const int kept[][2] = { { 5, 2 }, { 2, 5 }, { SUSTAINED_RECORDED_MAX, 4 }, { 3, 3 } };
	static const float wanted[][2][4] = { { { 1, 3 }, { 100, 101 } }, { { 0, 1 }, { 101, 103 } },
		{ { 4, 12, 20, 28 }, { 100, 101, 102, 103 } }, { { 0, 1, 2 }, { 100, 101, 102 } } };
	struct sustained_calls side[2];
	(void)state;
	for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++) {
		int n = kept[k][0] < kept[k][1] ? kept[k][0] : kept[k][1];
		for (int s = 0; s < 2; s++) {
			side[s].n = kept[k][s];
			for (int i = 0; i < kept[k][s]; i++) {
				side[s].ms[i] = (float)(100 * s + i);
				side[s].mhz[i] = -side[s].ms[i];
			}
		}
		assert_int_equal(sustained_gather(side), n);
		for (int s = 0; s < 2; s++) {
			assert_int_equal(side[s].n, n);
			for (int i = 0; i < n; i++)
				assert_true(side[s].ms[i] == wanted[k][s][i] && side[s].mhz[i] == -wanted[k][s][i]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_side_that_begins_has_the_first_letters),
		cmocka_unit_test(calls_are_spread_evenly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
