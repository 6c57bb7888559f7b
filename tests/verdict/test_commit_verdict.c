/* The verdict of a commit: the worst of its suites, whichever ended last, in whatever order its jobs are read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/verdict.h"

static struct commit_job job(int64_t id, int64_t plan, const char *suite, enum commit_end end)
{
	static const enum jobstate states[] = { JOBSTATE_MEASURING, JOBSTATE_DONE, JOBSTATE_FAILED, JOBSTATE_SUPERSEDED };
	struct commit_job j = { .id = id, .plan = plan, .end = end, .verdict = VERDICT_NONE, .worst_pct = NAN, .best_pct = NAN };
	snprintf(j.suite, sizeof j.suite, "%s", suite);
	j.state = states[end];
	return j;
}

static struct commit_job judged(int64_t id, int64_t plan, const char *suite, enum verdict v, double worst_pct)
{
	struct commit_job j = job(id, plan, suite, COMMIT_JUDGED);
	j.comparison = 100 + id;
	j.verdict = v;
	j.worst_pct = worst_pct;
	j.best_pct = v == VERDICT_IMPROVEMENT ? worst_pct + 5 : NAN;
	j.cells = 3;
	j.regressions = v == VERDICT_REGRESSION;
	return j;
}

/* As one line: "regression final by gemm, worst second, 1 open: gemm regression, second -". */
static void report(const struct commit_verdict *v, char *text, size_t size)
{
	int n = snprintf(text, size, "%s%s", verdict_name(v->verdict), v->is_final ? " final" : "");
	if (v->decides >= 0)
		n += snprintf(text + n, size - (size_t)n, " by %s", v->suite[v->decides].job.suite);
	if (v->worst >= 0)
		n += snprintf(text + n, size - (size_t)n, ", worst %s", v->suite[v->worst].job.suite);
	if (v->best >= 0)
		n += snprintf(text + n, size - (size_t)n, ", best %s", v->suite[v->best].job.suite);
	if (v->n_open)
		n += snprintf(text + n, size - (size_t)n, ", %d open", v->n_open);
	if (v->n_unmeasured)
		n += snprintf(text + n, size - (size_t)n, ", %d unmeasured", v->n_unmeasured);
	for (int i = 0; i < v->n; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%s %s", i ? ", " : ": ",
			v->suite[i].job.suite[0] ? v->suite[i].job.suite : "plan",
			v->suite[i].word.id ? verdict_name(commit_verdict_of(&v->suite[i])) : "-");
}

enum { MOST = 5 };

/* Every order of n jobs gives the same answer. */
static void every_order(const struct commit_job *jobs, int n, const char *want)
{
	int order[MOST], orders = 1;
	for (int i = 2; i <= n; i++)
		orders *= i;
	for (int k = 0; k < orders; k++) {
		struct commit_verdict v;
		char got[512];
		for (int i = 0; i < n; i++)
			order[i] = i;
		for (int i = n - 1, rest = k; i > 0; rest /= i + 1, i--) {
			int at = rest % (i + 1), kept = order[i];
			order[i] = order[at];
			order[at] = kept;
		}
		commit_verdict_init(&v);
		for (int i = 0; i < n; i++)
			commit_verdict_add(&v, &jobs[order[i]]);
		commit_verdict_end(&v);
		report(&v, got, sizeof got);
		commit_verdict_fini(&v);
		if (strcmp(got, want) != 0)
			fail_msg("order %d: %s\ninstead of:  %s", k, got, want);
	}
}

#define ORDERS(want, ...)                                                                                                        \
	every_order((const struct commit_job[]){ __VA_ARGS__ },                                                                  \
		(int)(sizeof((const struct commit_job[]){ __VA_ARGS__ }) / sizeof(struct commit_job)), want)

static void the_worst_wins(void **state)
{
	(void)state;
	ORDERS("regression final by gemm, worst gemm: gemm regression, second unchanged",
		judged(1, 1, "gemm", VERDICT_REGRESSION, -9), judged(2, 1, "second", VERDICT_UNCHANGED, -0.1));
	ORDERS("regression final by second, worst second: gemm unchanged, second regression, third improvement",
		judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1), judged(2, 1, "second", VERDICT_REGRESSION, -2),
		judged(3, 1, "third", VERDICT_IMPROVEMENT, 4));
	ORDERS("failed final by a, worst b: a failed, b regression", judged(1, 1, "a", VERDICT_FAILED, NAN),
		judged(2, 1, "b", VERDICT_REGRESSION, -3));
	/* of two with the same verdict, the one that became slower by more */
	ORDERS("regression final by b, worst b: a regression, b regression", judged(1, 1, "a", VERDICT_REGRESSION, -2),
		judged(2, 1, "b", VERDICT_REGRESSION, -3));
	/* an improvement is represented by the largest gain, and no other verdict is */
	ORDERS("improvement final by a, worst c, best b: a improvement, b improvement, c unchanged",
		judged(1, 1, "a", VERDICT_IMPROVEMENT, 0.1), judged(2, 1, "b", VERDICT_IMPROVEMENT, 0.3),
		judged(3, 1, "c", VERDICT_UNCHANGED, -0.2));
	ORDERS("undecided final by b, worst a: a improvement, b undecided", judged(1, 1, "a", VERDICT_IMPROVEMENT, 0.1),
		judged(2, 1, "b", VERDICT_UNDECIDED, 0.3));
	ORDERS("identical final by a: a identical, b identical", judged(1, 1, "a", VERDICT_IDENTICAL, NAN),
		judged(2, 1, "b", VERDICT_IDENTICAL, NAN));
}

static void what_waits_is_named(void **state)
{
	(void)state;
	ORDERS("none, worst gemm, 1 open: gemm unchanged, second -", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		job(2, 1, "second", COMMIT_OPEN));
	ORDERS("regression by gemm, worst gemm, 1 open: gemm regression, second -", judged(1, 1, "gemm", VERDICT_REGRESSION, -9),
		job(2, 1, "second", COMMIT_OPEN));
	ORDERS("none, 1 open: plan -", job(1, 1, "", COMMIT_OPEN));
	/* measured again: the earlier verdict applies until there is a newer one */
	ORDERS("unchanged by gemm, worst gemm, 1 open: gemm unchanged, second unchanged",
		judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1), judged(2, 1, "second", VERDICT_UNCHANGED, 0.2),
		job(3, 0, "second", COMMIT_OPEN));
	ORDERS("unchanged by gemm, worst gemm, 1 open: gemm unchanged, plan -", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		job(2, 2, "", COMMIT_OPEN));
}

static void the_newest_word_of_a_suite_counts(void **state)
{
	(void)state;
	ORDERS("unchanged final by gemm, worst gemm: gemm unchanged", judged(1, 1, "gemm", VERDICT_REGRESSION, -9),
		judged(2, 0, "gemm", VERDICT_UNCHANGED, 0.1));
	/* a job that ended without a result changes nothing */
	ORDERS("regression final by gemm, worst gemm: gemm regression", judged(1, 1, "gemm", VERDICT_REGRESSION, -9),
		job(2, 0, "gemm", COMMIT_UNMEASURED), job(3, 0, "gemm", COMMIT_FAILED));
	struct commit_job cpu = judged(2, 0, "gemm", VERDICT_UNCHANGED, 0.1);
	snprintf(cpu.device_kind, sizeof cpu.device_kind, "cpu");
	ORDERS("regression final by gemm, worst gemm: gemm regression, gemm unchanged",
		judged(1, 1, "gemm", VERDICT_REGRESSION, -9), cpu);
}

static void what_nobody_measured(void **state)
{
	(void)state;
	ORDERS("undecided final by second, worst gemm, 1 unmeasured: gemm unchanged, second -",
		judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1), job(2, 1, "second", COMMIT_UNMEASURED));
	ORDERS("regression final by gemm, worst gemm, 1 unmeasured: gemm regression, second -",
		judged(1, 1, "gemm", VERDICT_REGRESSION, -9), job(2, 1, "second", COMMIT_UNMEASURED));
	ORDERS("none final, 2 unmeasured: gemm -, second -", job(1, 1, "gemm", COMMIT_UNMEASURED),
		job(2, 1, "second", COMMIT_UNMEASURED));
	ORDERS("failed final by second, worst gemm: gemm regression, second failed", judged(1, 1, "gemm", VERDICT_REGRESSION, -9),
		job(2, 1, "second", COMMIT_FAILED));
}

static void plans_that_could_not_be_made(void **state)
{
	(void)state;
	ORDERS("failed final by : plan failed", job(1, 1, "", COMMIT_FAILED));
	ORDERS("none final, 1 unmeasured: plan -", job(1, 1, "", COMMIT_UNMEASURED));
	/* one suite that a user requested does not replace the plan */
	ORDERS("failed final by , worst gemm: plan failed, gemm unchanged", job(1, 1, "", COMMIT_FAILED),
		judged(2, 0, "gemm", VERDICT_UNCHANGED, 0.1));
	ORDERS("unchanged final by gemm, worst gemm: gemm unchanged", job(1, 1, "", COMMIT_FAILED),
		judged(2, 2, "gemm", VERDICT_UNCHANGED, 0.1));
	ORDERS("unchanged by gemm, worst gemm, 1 open: gemm unchanged, plan -", job(1, 1, "", COMMIT_FAILED),
		judged(2, 2, "gemm", VERDICT_UNCHANGED, 0.1), job(3, 3, "", COMMIT_OPEN));
	ORDERS("failed final by , worst gemm: gemm unchanged, plan failed", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		job(2, 2, "", COMMIT_FAILED));
	ORDERS("unchanged final by gemm, worst gemm: gemm unchanged", job(1, 1, "", COMMIT_UNMEASURED),
		judged(2, 2, "gemm", VERDICT_UNCHANGED, 0.1));
}

static void nothing_was_requested_for(void **state)
{
	(void)state;
	struct commit_verdict v;
	commit_verdict_init(&v);
	commit_verdict_end(&v);
	assert_int_equal(v.verdict, VERDICT_NONE);
	assert_false(v.is_final);
	commit_verdict_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_wins),
		cmocka_unit_test(what_waits_is_named),
		cmocka_unit_test(the_newest_word_of_a_suite_counts),
		cmocka_unit_test(what_nobody_measured),
		cmocka_unit_test(plans_that_could_not_be_made),
		cmocka_unit_test(nothing_was_requested_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
