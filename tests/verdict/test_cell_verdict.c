/* Which failure precedes a measurement, and what decides the measurement: the same for worker and daemon. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "noise.h"
#include "verdict/verdict.h"

static const struct cell_failure clear = { .base = "", .target = "", .outside = "" };

static void expect(struct cell_failure t, enum verdict v, enum cell_cause cause)
{
	enum cell_cause got;
	assert_int_equal(cell_obstacle(&t, &got), v);
	assert_int_equal(got, cause);
}

static void a_clear_cell_is_left_to_its_timings(void **state)
{
	(void)state;
	expect(clear, VERDICT_NONE, CELL_CLEAR);
	assert_int_equal(cell_unmeasured(0), VERDICT_UNDECIDED);
	assert_int_equal(cell_unmeasured(1), VERDICT_REJECTED);
}

static void a_failure_blames_its_side(void **state)
{
	struct cell_failure t = clear;
	(void)state;
	t.target = "crash";
	expect(t, VERDICT_FAILED, CELL_TARGET);
	t.base = "wrong";
	expect(t, VERDICT_FAILED, CELL_TARGET);
	t.base = "crash"; /* a failure that both share is the base's */
	expect(t, VERDICT_NOT_COMPARABLE, CELL_BASE);
	t.is_itself = true; /* unless both are one commit */
	expect(t, VERDICT_FAILED, CELL_TARGET);
	t = clear;
	t.base = "crash";
	t.is_itself = true;
	expect(t, VERDICT_NOT_COMPARABLE, CELL_BASE);
	t = clear;
	t.target = "roofline";
	expect(t, VERDICT_REJECTED, CELL_TARGET);
}

static void absence_is_no_failure(void **state)
{
	struct cell_failure t = clear;
	(void)state;
	t.base = "unsupported";
	expect(t, VERDICT_NOT_COMPARABLE, CELL_BASE); /* it is unknown whether the target fails */
	t.target_does = true;
	expect(t, VERDICT_ADDED, CELL_ABSENT);
	t.target = "unsupported";
	expect(t, VERDICT_UNSUPPORTED, CELL_ABSENT);
	t.base = "";
	expect(t, VERDICT_FAILED, CELL_TARGET);
	t.may_be_absent = true;
	expect(t, VERDICT_REMOVED, CELL_ABSENT);
}

static void sides_come_before_the_outside(void **state)
{
	struct cell_failure t = clear;
	(void)state;
	t.outside = "device";
	expect(t, VERDICT_REJECTED, CELL_OUTSIDE);
	t.outside = "unsure";
	expect(t, VERDICT_UNDECIDED, CELL_OUTSIDE);
	t.other_inputs = true;
	expect(t, VERDICT_NOT_COMPARABLE, CELL_INPUTS);
	t.base = "crash";
	expect(t, VERDICT_NOT_COMPARABLE, CELL_BASE);
	t.target = "wrong";
	expect(t, VERDICT_FAILED, CELL_TARGET);
}

enum { PAIRS = 32, RUNS = 6 };

static struct noise_run samples[RUNS];

static void play(double shift, struct cell_runs *l)
{
	struct noise noise = { .state = 3, .white = 0.002, .run = 0.0003, .clock = 0.003 };
	memset(l, 0, sizeof *l);
	for (l->n = 0; l->n < RUNS; l->n++)
		noise_pairs(&noise, shift, PAIRS, 1 + l->n % 2, &samples[l->n], &l->pairs[l->n]);
}

static void runs_without_samples_are_judged_by_their_estimates(void **state)
{
	static struct cell_runs l, none;
	const struct verdict_options options = { .threshold_pct = 1.5, .is_over = true };
	struct cell_finding now, later;
	struct rule rule;
	(void)state;
	rule_default(&rule, 1);
	memset(&now, 0, sizeof now);
	play(0.04, &l);
	assert_true(cell_judge(&rule, &options, &l, &none, &now));
	assert_int_equal(now.typical.verdict, VERDICT_REGRESSION);
	assert_int_equal(now.tail[0].calls + now.tail[1].calls, RUNS * PAIRS);
	assert_true(now.typical.beta < 0);
	later = now;
	l.pairs[2].target_ms = NULL;
	assert_false(cell_judge(&rule, &options, &l, &none, &later));
	assert_memory_equal(&later.typical.all, &now.typical.all, sizeof now.typical.all);
	assert_true(later.typical.verdict == now.typical.verdict && later.typical.beta == now.typical.beta);
	assert_memory_equal(later.tail, now.tail, sizeof now.tail);
}

static void sustained_runs_decide_where_they_alone_show_a_change(void **state)
{
	struct cell_finding f;
	struct cell_verdict v;
	struct rule rule;
	(void)state;
	rule_default(&rule, 1);
	memset(&f, 0, sizeof f);
	f.typical = (struct judgement){ .verdict = VERDICT_REGRESSION, .all = { .m = 0.001, .se = 0.0002 } };
	f.sustained.all = (struct estimate){ .m = 0.05, .se = 0.003 };
	cell_decide(&rule, 1.5, &f, NULL, &v);
	assert_true(v.decider == DECIDER_PAIRS && v.m == f.typical.all.m && v.se == f.typical.all.se);
	f.typical.flags = FLAG_SUSTAINED | FLAG_CALL;
	cell_decide(&rule, 1.5, &f, NULL, &v);
	assert_true(v.decider == DECIDER_SUSTAINED_RUNS && v.m == f.sustained.all.m && v.se == f.sustained.all.se);
	assert_int_equal(v.flags, FLAG_SUSTAINED | FLAG_CALL);
}

static void the_mean_decides_and_takes_flags_of_pairs_away(void **state)
{
	const struct tail slow = { .runs = 8, .calls = 256, .side = { [TAIL_TARGET] = { 26, 6.5, 1.625, 2.6 } } };
	struct cell_finding f;
	struct cell_verdict v;
	struct rule rule;
	(void)state;
	rule_default(&rule, 20);
	memset(&f, 0, sizeof f);
	f.typical = (struct judgement){ .verdict = VERDICT_UNDECIDED,
		.flags = FLAG_NOISY | FLAG_CALL,
		.reason = "too close to call",
		.all = { .runs = 16, .pairs = 512, .m = 0.0001, .se = 0.0002, .margin = 0.0007 } };
	f.tail[0] = slow;
	cell_decide(&rule, 1.5, &f, f.tail, &v); /* it has to appear again in a second set */
	assert_true(v.decider == DECIDER_PAIRS && v.verdict == VERDICT_UNDECIDED && v.mean.want_set == 2);
	assert_int_equal(v.flags, FLAG_NOISY | FLAG_CALL | FLAG_TAIL);
	assert_string_equal(v.reason, "too close to call");
	f.typical.reason[0] = '\0';
	cell_decide(&rule, 1.5, &f, f.tail, &v);
	assert_string_equal(v.reason, v.mean.reason);
	f.tail[1] = slow;
	snprintf(f.typical.reason, sizeof f.typical.reason, "too close to call"); /* which the mean has decided */
	cell_decide(&rule, 1.5, &f, f.tail, &v);
	assert_true(v.decider == DECIDER_MEAN && v.verdict == VERDICT_REGRESSION);
	assert_int_equal(v.flags, FLAG_CALL | FLAG_TAIL);
	assert_true(v.m == v.mean.all.m && v.se == v.mean.all.se);
	assert_string_equal(v.reason, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clear_cell_is_left_to_its_timings),
		cmocka_unit_test(a_failure_blames_its_side),
		cmocka_unit_test(absence_is_no_failure),
		cmocka_unit_test(sides_come_before_the_outside),
		cmocka_unit_test(runs_without_samples_are_judged_by_their_estimates),
		cmocka_unit_test(sustained_runs_decide_where_they_alone_show_a_change),
		cmocka_unit_test(the_mean_decides_and_takes_flags_of_pairs_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
