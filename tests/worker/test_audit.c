/* When the supervisor's clock confirms an improvement. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "worker/internal.h"

/* Batches whose calls take base_ms and target_ms here, `share` of which is device time, with `noise` ms on some of them. */
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

/* Pairs that report base_ms and target_ms per call. */
static const struct audit_claim *gains(double base_ms, double target_ms)
{
	static struct audit_claim claim;
	claim = (struct audit_claim){ .gain = log(base_ms / target_ms), .base_ms = base_ms };
	return &claim;
}

static void honest_modules_are_accepted(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 1, 0);
	assert_true(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
	assert_true(audit_confirms(&a, gains(1.3, 0.6), why, sizeof why)); /* cold calls take longer than warm ones */
	a = batches(1, 0.5, 1, 50);                                        /* two bad pairs of five */
	assert_true(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
	a = batches(0.010, 0.005, 0.5, 0); /* launching costs the host more than the work takes */
	assert_true(audit_confirms(&a, gains(0.010, 0.005), why, sizeof why));
}

static void a_slow_clock_is_detected(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 0.7, 0);
	assert_false(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
	assert_non_null(strstr(why, "for a call of the base that took 1 ms by the supervisor's clock"));
}

static void a_clock_forged_only_before_the_audit_is_detected(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 1, 1, 0);
	assert_false(audit_confirms(&a, gains(1, 0.25), why, sizeof why));
	assert_string_equal(why, "the runner reported 4 times the base's speed; the supervisor's clock measured 1 times");
}

static void an_audit_that_did_not_happen_is_no_proof(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(1, 0.5, 1, 0);
	a.n[1]--;
	assert_false(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
	a = batches(1, 0.5, 1, 0);
	a.batch[0][2][1].calls = a.batch[0][2][0].calls;
	assert_false(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
	a = batches(1, 0, 1, 0);
	assert_false(audit_confirms(&a, gains(1, 0.5), why, sizeof why));
}

/* AUDIT_TRIES audits of calls of base_ms and target_ms, each slope off by up to `noise` of itself. */
static struct audit_pool pooled(double base_ms, double target_ms, double share, double noise)
{
	struct audit_pool pool = { .n = 0 };
	unsigned state = 7;
	for (int t = 0; t < AUDIT_TRIES; t++) {
		struct audit a = batches(base_ms, target_ms, share, 0);
		for (int i = 0; i < 4 * AUDIT_PAIRS; i++) {
			struct audit_batch *b = &a.batch[i / 2 % 2][i / 4][i % 2];
			double off = 1 + noise * ((double)((state = 1664525 * state + 1013904223) >> 8) / (1 << 23) - 1);
			b->wall_ms *= off;
			b->device_ms *= off;
		}
		audit_pool_add(&pool, &a);
	}
	return pool;
}

static void a_busy_machine_rejects_no_gain(void **state)
{
	(void)state;
	/* no disturbance: half of the gain, no less */
	struct audit_pool quiet = pooled(1, 0.7, 1, 0);
	assert_false(audit_contradicts(&quiet, gains(1, 1 / 1.9)));
	assert_true(audit_contradicts(&quiet, gains(1, 1 / 2.1)));
	/* batches that lose up to two thirds to other processes: a median that occurs by chance is no proof */
	struct audit_pool busy = pooled(1, 0.7, 1, 0.66);
	assert_false(audit_contradicts(&busy, gains(1, 1 / 2.1)));
	/* and still a clock that reports ten times the speed is detected, and one that drops most of its ticks */
	struct audit_pool forged = pooled(1, 1, 1, 0.66);
	assert_true(audit_contradicts(&forged, gains(1, 1 / 10)));
	forged = pooled(1, 1, 0.3, 0.66);
	assert_true(audit_contradicts(&forged, gains(1, 1 / 1.3)));
}

/* 4 us less of 20, as in the pairs; here each call costs 25 us more, in copies and runs. */
static void overhead_does_not_hide_short_calls(void **state)
{
	char why[256];
	(void)state;
	struct audit a = batches(0.045, 0.041, 1, 0);
	assert_true(audit_confirms(&a, gains(0.020, 0.0157), why, sizeof why));
	/* the host takes the time: nothing can be measured, and no module is accused */
	a = batches(0.045, 0.045, 1, 0);
	assert_false(audit_confirms(&a, gains(0.020, 0.0157), why, sizeof why));
	struct audit_pool pool = pooled(0.045, 0.045, 1, 0);
	assert_false(audit_contradicts(&pool, gains(0.020, 0.0157)));
	/* and still a tenth of the time of a long call is not caused by runs */
	pool = pooled(0.225, 0.225, 1, 0);
	assert_true(audit_contradicts(&pool, gains(0.200, 0.100)));
	/* nor does the overhead of a long call explain half of it */
	pool = pooled(3, 3, 1, 0);
	assert_true(audit_contradicts(&pool, gains(2, 1)));
}

static void a_module_that_ends_every_audit_is_rejected(void **state)
{
	struct audit_pool none = { .n = 0 };
	struct audit broken = batches(1, 0.5, 1, 0);
	(void)state;
	broken.n[1]--;
	audit_pool_add(&none, &broken);
	assert_int_equal(none.n, 0);
	assert_true(audit_contradicts(&none, gains(1, 1 / 2)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_modules_are_accepted),
		cmocka_unit_test(a_slow_clock_is_detected),
		cmocka_unit_test(a_clock_forged_only_before_the_audit_is_detected),
		cmocka_unit_test(an_audit_that_did_not_happen_is_no_proof),
		cmocka_unit_test(a_busy_machine_rejects_no_gain),
		cmocka_unit_test(overhead_does_not_hide_short_calls),
		cmocka_unit_test(a_module_that_ends_every_audit_is_rejected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
