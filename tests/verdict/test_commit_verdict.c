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
			v->suite[i].result.id ? verdict_name(commit_verdict_of(&v->suite[i])) : "-");
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

static void waiting_suites_are_named(void **state)
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

static void the_newest_verdict_of_a_suite_counts(void **state)
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

static struct commit_job alone(int64_t id, const char *suite, enum verdict v, double worst_pct)
{
	struct commit_job j = judged(id, 1, suite, v, worst_pct);
	j.is_alone = true;
	return j;
}

/* A benchmark that the commit adds has no base: its noise says nothing about the others, but its failure counts. */
static void a_noisy_new_benchmark_decides_nothing(void **state)
{
	(void)state;
	ORDERS("unchanged final by gemm, worst gemm: gemm unchanged, new undecided", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		alone(2, "new", VERDICT_UNDECIDED, -7));
	ORDERS("improvement final by gemm, worst gemm, best gemm: gemm improvement, new undecided",
		judged(1, 1, "gemm", VERDICT_IMPROVEMENT, 2), alone(2, "new", VERDICT_UNDECIDED, -7));
	ORDERS("identical final by gemm: gemm identical, new undecided", judged(1, 1, "gemm", VERDICT_IDENTICAL, NAN),
		alone(2, "new", VERDICT_UNDECIDED, NAN));
	ORDERS("failed final by new, worst gemm: gemm unchanged, new failed", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		alone(2, "new", VERDICT_FAILED, NAN));
	ORDERS("rejected final by new, worst gemm: gemm unchanged, new rejected", judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1),
		alone(2, "new", VERDICT_REJECTED, NAN));
	ORDERS("undecided final by gemm, worst gemm: gemm undecided, new undecided", judged(1, 1, "gemm", VERDICT_UNDECIDED, -2),
		alone(2, "new", VERDICT_UNDECIDED, -7));
	ORDERS("undecided final by second, worst gemm, 1 unmeasured: gemm unchanged, second -, new undecided",
		judged(1, 1, "gemm", VERDICT_UNCHANGED, 0.1), job(2, 1, "second", COMMIT_UNMEASURED),
		alone(3, "new", VERDICT_UNDECIDED, -7));
	ORDERS("none, worst new, 1 open: gemm -, new undecided", job(1, 1, "gemm", COMMIT_OPEN),
		alone(2, "new", VERDICT_UNDECIDED, -7));
	/* the first push has no base at all: a cell that is undecided is not unchanged */
	ORDERS("undecided final by b, worst b: a unchanged, b undecided", alone(1, "a", VERDICT_UNCHANGED, 0.1),
		alone(2, "b", VERDICT_UNDECIDED, -7));
}

static void unmeasured_commits(void **state)
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

static struct commit_job accepted(int64_t id, const char *suite, int64_t alert)
{
	struct commit_job j = judged(id, 1, suite, VERDICT_ACCEPTED, -9);
	j.measured = VERDICT_REGRESSION;
	j.accepted = 77;
	j.accepted_alert = alert;
	return j;
}

/* Who wants to know what was measured gets no acceptance; who wants to know who accepted it, the newest one. */
static void accepted_losses(void **state)
{
	(void)state;
	struct commit_verdict v;
	const struct commit_job jobs[] = { accepted(1, "a", 4), accepted(2, "b", 9), accepted(3, "c", 6),
		judged(4, 1, "d", VERDICT_UNCHANGED, 0.1), job(5, 1, "e", COMMIT_FAILED) };
	commit_verdict_init(&v);
	assert_null(commit_verdict_acceptance(&v));
	for (int i = 0; i < 4; i++) {
		commit_verdict_add(&v, &jobs[i]);
		if (i == 3)
			v.suite[3].result.measured = VERDICT_UNCHANGED;
	}
	commit_verdict_end(&v);
	assert_int_equal(v.verdict, VERDICT_ACCEPTED);
	assert_string_equal(commit_verdict_acceptance(&v)->suite, "b");
	commit_verdict_strict(&v);
	assert_int_equal(v.verdict, VERDICT_REGRESSION);
	assert_null(commit_verdict_acceptance(&v));
	for (int i = 0; i < v.n; i++)
		assert_int_equal(v.suite[i].result.accepted, 0);
	/* a failure has no measured verdict */
	commit_verdict_add(&v, &jobs[4]);
	commit_verdict_strict(&v);
	assert_int_equal(v.verdict, VERDICT_FAILED);
	commit_verdict_fini(&v);
}

static void json_is(const struct commit_verdict *v, const char *branch, const char *wanted)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, 1 << 16);
	jsonw_init(&j, &out);
	commit_verdict_write(&j, "kernels", "c0ffee", branch, v);
	assert_string_equal(out.data, wanted);
	buf_fini(&out);
}

static void a_commit_as_json(void **state)
{
	(void)state;
	struct commit_verdict v;
	struct commit_job lost = accepted(1, "gemm", 4), open = job(2, 1, "sums", COMMIT_OPEN);
	commit_verdict_init(&v);
	commit_verdict_end(&v);
	json_is(&v, "",
		"{\"repo\":\"kernels\",\"commit\":\"c0ffee\",\"branch\":null,\"branch_display\":null,\"verdict\":null,\"final\":false,"
		"\"suite\":null,\"comparison\":null,\"regressions\":0,\"accepted\":null,\"worst_pct\":null,\"worst_suite\":null,"
		"\"worst_cell\":null,\"best_pct\":null,\"best_suite\":null,\"best_cell\":null,\"unfinished\":[],\"suites\":[]}");
	lost.regressions = 2;
	lost.finished_at = 1000;
	snprintf(lost.worst_key, sizeof lost.worst_key, "a/forward");
	snprintf(lost.accepted_by, sizeof lost.accepted_by, "ada");
	snprintf(lost.accepted_why, sizeof lost.accepted_why, "meant");
	snprintf(open.why, sizeof open.why, "no device");
	snprintf(open.device_kind, sizeof open.device_kind, "cuda");
	commit_verdict_add(&v, &lost);
	commit_verdict_add(&v, &open);
	commit_verdict_end(&v);
	json_is(&v, "main",
		"{\"repo\":\"kernels\",\"commit\":\"c0ffee\",\"branch\":\"main\",\"branch_display\":\"main\",\"verdict\":null,"
		"\"final\":false,\"suite\":null,\"comparison\":null,\"regressions\":2,"
		"\"accepted\":{\"alert\":4,\"by\":\"ada\",\"reason\":\"meant\"},\"worst_pct\":-9,\"worst_suite\":\"gemm\","
		"\"worst_cell\":\"a/forward\",\"best_pct\":null,\"best_suite\":null,\"best_cell\":null,\"unfinished\":[\"sums\"],"
		"\"suites\":[{\"suite\":\"gemm\",\"device_kind\":null,\"job\":1,\"state\":\"done\",\"state_why\":null,"
		"\"verdict\":\"regression (accepted)\",\"comparison\":101,\"cells\":3,\"regressions\":2,\"accepted\":77,\"worst_pct\":-9,"
		"\"worst_cell\":\"a/forward\",\"best_pct\":null,\"best_cell\":null,\"finished_at\":\"1970-01-01T00:00:01.000Z\"},"
		"{\"suite\":\"sums\",\"device_kind\":\"cuda\",\"job\":2,\"state\":\"measuring\",\"state_why\":\"no device\","
		"\"verdict\":null,\"comparison\":null,\"cells\":0,\"regressions\":0,\"accepted\":0,\"worst_pct\":null,"
		"\"worst_cell\":null,\"best_pct\":null,\"best_cell\":null,\"finished_at\":null}]}");
	commit_verdict_fini(&v);
}

static void no_jobs_give_no_verdict(void **state)
{
	(void)state;
	struct commit_verdict v;
	commit_verdict_init(&v);
	commit_verdict_end(&v);
	assert_int_equal(v.verdict, VERDICT_NONE);
	assert_false(v.is_final);
	commit_verdict_fini(&v);
}

static void write_json(const struct commit_verdict *v, const char *branch, struct buf *out)
{
	struct jsonw j;
	buf_clear(out);
	jsonw_init(&j, out);
	commit_verdict_write(&j, "kernels", "b2", branch, v);
}

/* An undecided cell of another suite shows a larger change, which is not the loss of the commit. */
static void the_worst_suite_has_a_regression(void **state)
{
	(void)state;
	struct commit_job open = judged(1, 1, "norm", VERDICT_UNDECIDED, -9), slow = judged(2, 1, "gemm", VERDICT_REGRESSION, -4);
	struct commit_verdict v;
	open.regressions = 0;
	slow.regressions = 1;
	commit_verdict_init(&v);
	commit_verdict_add(&v, &open);
	commit_verdict_end(&v);
	assert_int_equal(v.worst, 0);
	commit_verdict_add(&v, &slow);
	commit_verdict_end(&v);
	assert_string_equal(v.suite[v.worst].job.suite, "gemm");
	commit_verdict_fini(&v);
}

/* A user accepted the regression of gemm: the commit's verdict is `accepted`, and strictly still a regression. */
static void an_acceptance_can_be_ignored(void **state)
{
	(void)state;
	struct commit_job gemm = judged(1, 1, "gemm", VERDICT_ACCEPTED, -4.5), norm = judged(2, 1, "norm", VERDICT_ACCEPTED, -2);
	struct commit_verdict v;
	struct buf out;
	gemm.measured = norm.measured = VERDICT_REGRESSION;
	gemm.accepted = norm.accepted = gemm.regressions = norm.regressions = 1;
	gemm.accepted_alert = 7, norm.accepted_alert = 9;
	snprintf(gemm.accepted_by, sizeof gemm.accepted_by, "ann");
	snprintf(norm.accepted_by, sizeof norm.accepted_by, "bob");
	snprintf(norm.accepted_why, sizeof norm.accepted_why, "needed for \"correct\" results");
	snprintf(gemm.worst_key, sizeof gemm.worst_key, "linear/gemm/forward");
	gemm.finished_at = 1000;
	commit_verdict_init(&v);
	commit_verdict_add(&v, &gemm);
	commit_verdict_add(&v, &norm);
	commit_verdict_end(&v);
	assert_int_equal(v.verdict, VERDICT_ACCEPTED);
	assert_string_equal(commit_verdict_acceptance(&v)->accepted_by, "bob"); /* the newest */
	buf_init(&out, 1 << 16);
	write_json(&v, "team/a%2Bb", &out);
	assert_non_null(strstr(out.data,
		"\"branch\":\"team/a%2Bb\",\"branch_display\":\"team/a+b\",\"verdict\":\"regression (accepted)\",\"final\":true"));
	assert_non_null(
		strstr(out.data, "\"accepted\":{\"alert\":9,\"by\":\"bob\",\"reason\":\"needed for \\\"correct\\\" results\"}"));
	assert_non_null(strstr(out.data, "\"worst_pct\":-4.5,\"worst_suite\":\"gemm\",\"worst_cell\":\"linear/gemm/forward\""));
	assert_non_null(strstr(out.data, "\"finished_at\":\"1970-01-01T00:00:01.000Z\""));
	commit_verdict_strict(&v);
	assert_int_equal(v.verdict, VERDICT_REGRESSION);
	assert_null(commit_verdict_acceptance(&v));
	write_json(&v, "", &out);
	assert_non_null(strstr(out.data, "\"branch\":null,\"branch_display\":null,\"verdict\":\"regression\""));
	assert_non_null(strstr(out.data, "\"accepted\":null"));
	commit_verdict_fini(&v);
	buf_fini(&out);
}

static void unknown_values_are_null(void **state)
{
	(void)state;
	struct commit_job open = job(1, 1, "gemm", COMMIT_OPEN), gain = judged(2, 1, "norm", VERDICT_IMPROVEMENT, 3);
	struct commit_verdict v;
	struct buf out;
	snprintf(open.why, sizeof open.why, "waits for a device");
	buf_init(&out, 1 << 16);
	commit_verdict_init(&v);
	commit_verdict_end(&v);
	write_json(&v, "main", &out);
	assert_non_null(strstr(out.data,
		"\"verdict\":null,\"final\":false,\"suite\":null,\"comparison\":null,\"regressions\":0,\"accepted\":null,"
		"\"worst_pct\":null,\"worst_suite\":null,\"worst_cell\":null,\"best_pct\":null,\"best_suite\":null,\"best_cell\":null,"
		"\"unfinished\":[],\"suites\":[]}"));
	commit_verdict_add(&v, &open);
	commit_verdict_add(&v, &gain);
	commit_verdict_end(&v);
	write_json(&v, "main", &out);
	assert_non_null(strstr(out.data, "\"unfinished\":[\"gemm\"]"));
	assert_non_null(strstr(out.data,
		"{\"suite\":\"gemm\",\"device_kind\":null,\"job\":1,\"state\":\"measuring\",\"state_why\":\"waits for a device\","
		"\"verdict\":null,\"comparison\":null"));
	assert_non_null(strstr(out.data, "\"verdict\":\"improvement\",\"comparison\":102"));
	json_t *root = json_loads(out.data, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	json_decref(root);
	commit_verdict_fini(&v);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worst_wins),
		cmocka_unit_test(waiting_suites_are_named),
		cmocka_unit_test(the_newest_verdict_of_a_suite_counts),
		cmocka_unit_test(a_noisy_new_benchmark_decides_nothing),
		cmocka_unit_test(unmeasured_commits),
		cmocka_unit_test(plans_that_could_not_be_made),
		cmocka_unit_test(accepted_losses),
		cmocka_unit_test(a_commit_as_json),
		cmocka_unit_test(no_jobs_give_no_verdict),
		cmocka_unit_test(the_worst_suite_has_a_regression),
		cmocka_unit_test(an_acceptance_can_be_ignored),
		cmocka_unit_test(unknown_values_are_null),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
