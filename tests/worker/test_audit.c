/* What the supervisor's clock believes of an improvement. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "worker/bench/audit.h"

/* Batches whose calls take base_ms and target_ms here, and `share` of that by the device, with `noise` ms on some of them. */
static struct audit batches(double base_ms, double target_ms, double share, double noise)
{
	struct audit a = { .n = { 2 * AUDIT_PAIRS, 2 * AUDIT_PAIRS } };
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < 2 * AUDIT_PAIRS; i++) {
			double ms = side ? target_ms : base_ms;
			struct audit_batch *b = &a.batch[side][i / 2][i % 2];
			b->calls = i % 2 ? 31 + i : 10;
			b->wall_ms = 0.4 + ms * b->calls + (i == 1 || i == 4 ? noise : 0);
			b->device_ms = share * ms * b->calls;
		}
	}
	return a;
}

static void honest_ones_are_believed(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 1, 0);
	assert_true(audit_believes(&a, 1, 0.5, why, sizeof why));
	assert_true(audit_believes(&a, 1.3, 0.6, why, sizeof why)); /* cold calls take longer than warm ones */
	a = batches(1, 0.5, 1, 50);                                 /* two bad pairs of five */
	assert_true(audit_believes(&a, 1, 0.5, why, sizeof why));
	a = batches(0.010, 0.005, 0.5, 0); /* launching costs the host more than the work takes */
	assert_true(audit_believes(&a, 0.010, 0.005, why, sizeof why));
}

static void a_clock_that_runs_slow_is_seen(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 0.7, 0);
	assert_false(audit_believes(&a, 1, 0.5, why, sizeof why));
	assert_non_null(strstr(why, "for a call of the base that took 1 ms by the supervisor's clock"));
}

static void a_clock_that_was_forged_only_before_is_seen(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 1, 1, 0);
	assert_false(audit_believes(&a, 1, 0.25, why, sizeof why));
	assert_string_equal(why, "4 times the base's speed was reported, 1 times it is by the supervisor's clock");
}

static void an_audit_that_did_not_happen_is_no_proof(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 1, 0);
	a.n[1]--;
	assert_false(audit_believes(&a, 1, 0.5, why, sizeof why));
	a = batches(1, 0.5, 1, 0);
	a.batch[0][2][1].calls = a.batch[0][2][0].calls;
	assert_false(audit_believes(&a, 1, 0.5, why, sizeof why));
	a = batches(1, 0, 1, 0);
	assert_false(audit_believes(&a, 1, 0.5, why, sizeof why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_ones_are_believed),
		cmocka_unit_test(a_clock_that_runs_slow_is_seen),
		cmocka_unit_test(a_clock_that_was_forged_only_before_is_seen),
		cmocka_unit_test(an_audit_that_did_not_happen_is_no_proof),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
