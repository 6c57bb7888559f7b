/* The effect of slow calls on the mean: of a cell alone, of a group together, in one set of runs and in two. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "verdict/verdict.h"

static struct rule rule;
static struct judgement pairs; /* of a cell whose typical call did not move */

static int setup(void **state)
{
	(void)state;
	rule_default(&rule, 20);
	pairs = (struct judgement){ .verdict = VERDICT_UNCHANGED,
		.all = { .runs = 4, .pairs = 128, .m = 0.0001, .se = 0.0002, .margin = 0.0007 } };
	return 0;
}

/* So many runs of `per` calls, `many` of which in total are slow, distributed as evenly as possible, and take `longer`. */
static struct tail of(int runs, int per, int base, int target, double longer)
{
	struct tail t = { .runs = runs, .calls = runs * per };
	const int slow[2] = { base, target };
	for (int k = 0; k < 2; k++) {
		struct tail_side *s = &t.side[k];
		s->slow = slow[k];
		s->longer = slow[k] * longer;
		s->squares = slow[k] * longer * longer;
		for (int i = 0; i < runs; i++) {
			double n = slow[k] * (i + 1) / runs - slow[k] * i / runs;
			s->spread += n * n / per;
		}
	}
	return t;
}

static struct mean_judgement alone(struct tail first, struct tail second)
{
	const struct tail own[MEAN_SETS] = { first, second };
	struct mean_judgement j;
	mean_judge(&rule, 1.5, &pairs, own, own, &j);
	return j;
}

static const struct tail nothing;

/* Every tenth call takes a quarter longer: 2.5 % of the mean. */
static void a_loss_of_the_mean_is_measured_twice(void **state)
{
	char words[EXPLAIN_SIZE];
	(void)state;
	struct mean_judgement j = alone(of(8, 32, 0, 26, 0.25), nothing);
	assert_true(j.is_tail && j.is_known && j.verdict == VERDICT_UNCHANGED && j.want_set == 2);
	assert_non_null(strstr(j.reason, "1 call in 10 takes 25 % longer: change of the mean -2.4"));
	assert_non_null(strstr(j.reason, "not confirmed by a second set"));
	assert_false(mean_decides(&j, &pairs));

	j = alone(of(8, 32, 0, 26, 0.25), of(1, 32, 0, 3, 0.25));
	assert_int_equal(j.want_set, 2); /* one process is not enough */
	j = alone(of(8, 32, 0, 26, 0.25), of(4, 32, 0, 13, 0.25));
	assert_true(j.verdict == VERDICT_REGRESSION && j.is_tail && !j.borderline && j.want_set == 0);
	assert_true(mean_decides(&j, &pairs) && j.reason[0] == '\0');
	assert_true(fabs(j.all.m - log1p(0.25 * 39 / 384) - pairs.all.m) < 1e-9 && j.all.se > 0 && j.all.se < 0.005);
	explain_slow_calls(j.all.share, mean_longer(&j.all), words);
	assert_string_equal(words, "1 call in 10 takes 25 % longer");

	rule.confirm = false;
	assert_int_equal(alone(of(8, 32, 0, 26, 0.25), nothing).verdict, VERDICT_REGRESSION);
}

/* The standard errors that docs and pages show, by hand: 26 of 256 calls take 25 % longer, on average, +- 5 %. */
static void errors_of_the_mean(void **state)
{
	struct tail t = of(8, 32, 0, 26, 0.25), few = of(8, 32, 0, 2, 0.25);
	(void)state;
	t.side[TAIL_TARGET].squares = 26 * (0.25 * 0.25 + 0.05 * 0.05);
	struct mean_judgement j = alone(t, nothing);
	double share = 26 / 256.0, lengths = 0.05 * 0.05 * 26 / 25 / 26;
	double variance = (0.0625 * tail_share_variance(&t, TAIL_TARGET) + share * share * lengths) / pow(1 + share * 0.25, 2) +
			  0.0625 * tail_share_variance(&t, TAIL_BASE);
	assert_true(fabs(j.all.se / hypot(0.0002, sqrt(variance)) - 1) < 1e-9);
	assert_true(fabs(j.all.margin / hypot(0.0007, 2 * sqrt(variance)) - 1) < 1e-9);
	/* two slow calls show nothing of how their lengths vary: half as long, or twice */
	j = alone(few, nothing);
	share = 2 / 256.0;
	variance = (0.0625 * tail_share_variance(&few, TAIL_TARGET) + share * share * 0.0625 / 2) / pow(1 + share * 0.25, 2) +
		   0.0625 * tail_share_variance(&few, TAIL_BASE);
	assert_true(fabs(j.all.se / hypot(0.0002, sqrt(variance)) - 1) < 1e-9);
	/* those of the group do, for as many as the cell has */
	const struct tail own[MEAN_SETS] = { few, nothing };
	struct tail group[MEAN_SETS] = { few, nothing };
	tail_pool(&group[0], &t);
	tail_pool(&group[0], &t);
	lengths = 0.05 * 0.05 * 52 / 53 / 2;
	mean_judge(&rule, 1.5, &pairs, own, group, &j);
	assert_true(fabs(j.all.share[TAIL_TARGET] - 2 / 256.0) < 1e-12); /* its share is not the group's */
	variance = (0.0625 * tail_share_variance(&few, TAIL_TARGET) + share * share * lengths) / pow(1 + share * 0.25, 2) +
		   0.0625 * tail_share_variance(&few, TAIL_BASE);
	assert_true(fabs(j.all.se / hypot(0.0002, sqrt(variance)) - 1) < 1e-9);
}

/* A loss is borderline if either set decided by its sign. */
static void either_set_may_be_borderline(void **state)
{
	const struct tail close = of(12, 32, 0, 26, 0.25), clear = of(12, 32, 0, 60, 0.25);
	(void)state;
	struct mean_judgement j = alone(close, clear);
	assert_true(j.verdict == VERDICT_REGRESSION && j.borderline);
	j = alone(clear, clear);
	assert_true(j.verdict == VERDICT_REGRESSION && !j.borderline);
	rule.confirm = false;
	j = alone(close, nothing);
	assert_true(j.verdict == VERDICT_REGRESSION && j.borderline);
	rule.runs_max = 3; /* a quick job has too few runs to decide by sign */
	j = alone(of(3, 128, 0, 26, 0.25), nothing);
	assert_true(j.verdict == VERDICT_UNCHANGED && !j.borderline);
}

static void an_unconfirmed_loss_is_no_loss(void **state)
{
	(void)state;
	struct mean_judgement j = alone(of(8, 32, 0, 26, 0.25), of(4, 32, 0, 0, 0));
	assert_true(j.verdict == VERDICT_UNCHANGED && j.is_tail && j.want_set == 0);
	assert_non_null(strstr(j.reason, "in the first set of runs, -0.01 % in the confirming one"));
}

static void a_possible_loss_requests_more_runs(void **state)
{
	(void)state;
	struct mean_judgement j = alone(of(2, 16, 0, 4, 0.25), nothing);
	assert_true(!j.is_tail && j.want_set == 1 && j.verdict == VERDICT_UNCHANGED && j.reason[0] == '\0');
	assert_int_equal(alone(of(2, 16, 0, 1, 0.25), nothing).want_set, 0);   /* by chance */
	assert_int_equal(alone(of(2, 16, 5, 6, 0.25), nothing).want_set, 0);   /* as the base's */
	assert_int_equal(alone(of(12, 16, 4, 12, 0.25), nothing).want_set, 0); /* the last run, and no decision */
	assert_int_equal(alone(of(12, 32, 0, 40, 0.06), nothing).want_set, 0); /* that cannot cost enough */
	/* certain, but around the threshold */
	j = alone(of(8, 32, 0, 16, 0.25), nothing);
	assert_true(j.is_tail && j.want_set == 1);
	assert_non_null(strstr(j.reason, "is undecided against -1.50 %"));
}

/* A regression below the threshold is a flag; a rare and long slow call counts like frequent short ones. */
static void the_cost_decides(void **state)
{
	(void)state;
	struct mean_judgement j = alone(of(12, 32, 0, 38, 0.1), nothing);
	assert_true(j.is_tail && j.verdict == VERDICT_UNCHANGED && j.want_set == 0 && j.all.m < 0.011);
	j = alone(of(12, 32, 0, 13, 1.0), of(12, 32, 0, 13, 1.0));
	assert_true(j.is_tail && j.verdict == VERDICT_REGRESSION);
	j = alone(of(12, 32, 0, 26, 0.25), of(12, 32, 0, 27, 0.25)); /* 1.7 %: by sign */
	assert_true(j.verdict == VERDICT_REGRESSION && j.borderline);
	/* a gain of the typical call is included in the mean */
	pairs.all.m = -0.02;
	pairs.verdict = VERDICT_IMPROVEMENT;
	j = alone(of(8, 32, 0, 26, 0.25), of(8, 32, 0, 26, 0.25));
	assert_true(j.is_tail && j.verdict == VERDICT_UNCHANGED && j.all.m < 0.006);
}

/* Six cells of 4 pairs and some runs, where every tenth call is slow: none of them shows it alone. */
static void long_calls_are_pooled(void **state)
{
	struct tail group[MEAN_SETS] = { of(0, 4, 0, 0, 0), of(0, 4, 0, 0, 0) },
		    some[MEAN_SETS] = { of(8, 4, 0, 4, 0.25), nothing }, quiet[MEAN_SETS] = { of(8, 4, 0, 0, 0), nothing };
	struct mean_judgement j;
	(void)state;
	for (int i = 0; i < 6; i++)
		tail_pool(&group[0], i < 5 ? &some[0] : &quiet[0]);
	mean_judge(&rule, 1.5, &pairs, some, group, &j);
	assert_true(j.is_tail && j.want_set == 2);
	assert_true(fabs(j.all.share[TAIL_TARGET] - 20.0 / 192) < 1e-9);
	/* one without any so far is run again before anything is reported about it */
	mean_judge(&rule, 1.5, &pairs, quiet, group, &j);
	assert_true(!j.is_tail && j.want_set == 1);
	quiet[0] = of(12, 4, 0, 0, 0);
	mean_judge(&rule, 1.5, &pairs, quiet, group, &j);
	assert_true(!j.is_tail && j.want_set == 0);

	some[1] = of(8, 4, 0, 3, 0.25);
	for (int i = 0; i < 5; i++)
		tail_pool(&group[1], &some[1]);
	mean_judge(&rule, 1.5, &pairs, some, group, &j);
	assert_int_equal(j.verdict, VERDICT_REGRESSION);
}

/* A cell whose own calls contradict its group is judged alone. */
static void a_cell_that_contradicts_its_group_is_left_alone(void **state)
{
	struct tail group[MEAN_SETS] = { of(32, 32, 0, 102, 0.25), of(16, 32, 0, 51, 0.25) },
		    clean[MEAN_SETS] = { of(8, 32, 0, 1, 0.25), nothing };
	struct mean_judgement j;
	(void)state;
	mean_judge(&rule, 1.5, &pairs, clean, group, &j);
	assert_true(!j.is_tail && j.verdict == VERDICT_UNCHANGED && j.want_set == 0);
	/* and how much longer they take differs by cell */
	struct tail mild[MEAN_SETS] = { of(8, 32, 0, 26, 0.05), of(8, 32, 0, 26, 0.05) };
	mean_judge(&rule, 1.5, &pairs, mild, group, &j);
	assert_true(j.is_tail && j.verdict == VERDICT_UNCHANGED);
}

static void fewer_slow_calls_are_a_gain(void **state)
{
	char words[EXPLAIN_SIZE];
	(void)state;
	struct mean_judgement j = alone(of(8, 32, 26, 0, 0.25), nothing);
	assert_true(j.verdict == VERDICT_UNCHANGED && j.want_set == 2); /* confirmed like a regression */
	j = alone(of(8, 32, 26, 0, 0.25), of(8, 32, 0, 0, 0.25));
	assert_true(j.verdict == VERDICT_UNCHANGED && j.want_set == 0);
	j = alone(of(8, 32, 26, 0, 0.25), of(8, 32, 26, 0, 0.25));
	assert_true(j.verdict == VERDICT_IMPROVEMENT && j.is_known && !j.is_tail && mean_decides(&j, &pairs));
	assert_true(j.all.m < -0.02);
	explain_slow_calls(j.all.share, mean_longer(&j.all), words);
	assert_string_equal(words, "1 call in 10 took 25 % longer");
	assert_int_equal(alone(of(2, 16, 4, 0, 0.25), nothing).want_set, 1); /* worth more runs, too */
	pairs.flags = FLAG_SUSTAINED;
	pairs.verdict = VERDICT_IMPROVEMENT;
	assert_false(mean_decides(&j, &pairs)); /* sustained runs show another gain */
}

/* A slower typical call is the main result; where sustained runs became slower, slow calls are a flag. */
static void other_losses_come_first(void **state)
{
	(void)state;
	pairs.verdict = VERDICT_REGRESSION;
	struct mean_judgement j = alone(of(8, 32, 0, 26, 0.25), of(8, 32, 0, 26, 0.25));
	assert_true(!j.is_tail && !j.is_known && j.want_set == 0 && !mean_decides(&j, &pairs));
	pairs.flags = FLAG_SUSTAINED;
	j = alone(of(8, 32, 0, 26, 0.25), nothing);
	assert_true(j.is_tail && j.want_set == 0 && !mean_decides(&j, &pairs) && j.reason[0] == '\0');
	pairs = (struct judgement){ .verdict = VERDICT_UNDECIDED, .all = { .se = INFINITY, .margin = INFINITY } };
	j = alone(nothing, nothing);
	assert_true(!j.is_known && j.want_set == 0);
}

static void the_sentence_has_the_number_of_slow_calls(void **state)
{
	char words[EXPLAIN_SIZE];
	(void)state;
	explain_slow_calls((const double[]){ 0, 0.02 }, 1.5, words);
	assert_string_equal(words, "1 call in 50 takes 150 % longer");
	explain_slow_calls((const double[]){ 0.05, 0.2 }, 0.3, words);
	assert_string_equal(words, "1 call in 5 takes 30 % longer, 1 call in 20 did before");
	explain_slow_calls((const double[]){ 0, 0.4 }, 0.25, words);
	assert_string_equal(words, "4 calls in 10 take 25 % longer");
	explain_slow_calls((const double[]){ 0.25, 0.05 }, 0.25, words);
	assert_string_equal(words, "1 call in 4 took 25 % longer, 1 call in 20 does");
	explain_slow_calls((const double[]){ NAN, NAN }, NAN, words);
	assert_string_equal(words, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_loss_of_the_mean_is_measured_twice, setup),
		cmocka_unit_test_setup(errors_of_the_mean, setup),
		cmocka_unit_test_setup(either_set_may_be_borderline, setup),
		cmocka_unit_test_setup(an_unconfirmed_loss_is_no_loss, setup),
		cmocka_unit_test_setup(a_possible_loss_requests_more_runs, setup),
		cmocka_unit_test_setup(the_cost_decides, setup),
		cmocka_unit_test_setup(long_calls_are_pooled, setup),
		cmocka_unit_test_setup(a_cell_that_contradicts_its_group_is_left_alone, setup),
		cmocka_unit_test_setup(fewer_slow_calls_are_a_gain, setup),
		cmocka_unit_test_setup(other_losses_come_first, setup),
		cmocka_unit_test_setup(the_sentence_has_the_number_of_slow_calls, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
