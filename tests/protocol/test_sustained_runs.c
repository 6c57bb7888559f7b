/* sustained.c: which side each sustained run belongs to, and which calls of it a record gets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "protocol/protocol.h"

static void letters_go_by_rounds(void **state)
{
	char order[16];
	(void)state;
	sustained_order(2, 1, 0, order);
	assert_string_equal(order, "AABB");
	sustained_order(4, 2, 0, order);
	assert_string_equal(order, "AABBBBAA");
	sustained_order(2, 2, 1, order);
	assert_string_equal(order, "BAAB");
}

/* Sustained runs have different numbers of calls; a record gets as many of each as the shortest has, distributed over the whole
 * run. */
static void calls_are_spread_evenly(void **state)
{
	static const int kept[SUSTAINED_RUNS_MAX] = { 4, 2, 5, 32 };
	static const float wanted[2][4] = { { 1, 3, 308, 324 }, { 100, 101, 201, 203 } };
	struct sustained_calls b[SUSTAINED_RUNS_MAX];
	struct sustained_side side[2];
	(void)state;
	for (int i = 0; i < SUSTAINED_RUNS_MAX; i++) {
		b[i].kept = kept[i];
		for (int k = 0; k < kept[i]; k++) {
			b[i].ms[k] = (float)(100 * i + k);
			b[i].mhz[k] = -b[i].ms[k];
		}
	}
	for (int first = 0; first < 2; first++) {
		assert_int_equal(sustained_gather(b, 2, first, side), 4);
		for (int s = 0; s < 2; s++)
			for (int i = 0; i < 4; i++)
				assert_true(side[s ^ first].ms[i] == wanted[s][i] && side[s ^ first].mhz[i] == -wanted[s][i]);
	}
	assert_int_equal(sustained_gather(b, 1, 0, side), 2);
	assert_true(side[0].ms[0] == 1 && side[0].ms[1] == 3 && side[1].ms[0] == 100 && side[1].ms[1] == 101);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_go_by_rounds),
		cmocka_unit_test(calls_are_spread_evenly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
