/* The first sentence about a comparison or a branch, for every verdict. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "verdict/verdict.h"

static void reads(struct finding f, const char *wanted)
{
	char text[FINDING_SIZE];
	f.subject = "ada/tiles";
	f.why = f.why ? f.why : "";
	finding_text(&f, text);
	assert_string_equal(text, wanted);
}

static void changes_have_a_size_and_a_place(void **state)
{
	(void)state;
	reads(
		(struct finding){
			.verdict = VERDICT_REGRESSION, .cells = 20, .regressions = 6, .worst_pct = -4.02, .least_pct = -3.98 },
		"ada/tiles is 4.0 % slower in 6 of 20 cells"); /* as printed */
	reads(
		(struct finding){
			.verdict = VERDICT_REGRESSION, .cells = 20, .regressions = 3, .worst_pct = -5, .least_pct = -1.6 },
		"ada/tiles is up to 5.0 % slower in 3 of 20 cells");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .cells = 20, .regressions = 3, .worst_pct = -5, .least_pct = NAN },
		"ada/tiles is up to 5.0 % slower in 3 of 20 cells");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .cells = 1, .regressions = 1, .worst_pct = -75.15 },
		"ada/tiles is 75.2 % slower in 1 of 1 cell");
	reads((struct finding){ .verdict = VERDICT_ACCEPTED, .cells = 4, .regressions = 4, .worst_pct = -4, .least_pct = -4 },
		"ada/tiles is 4.0 % slower in 4 of 4 cells (accepted)");
	reads(
		(struct finding){
			.verdict = VERDICT_IMPROVEMENT, .cells = 20, .improvements = 3, .best_pct = 12.04, .least_pct = 2 },
		"ada/tiles is up to 12.0 % faster in 3 of 20 cells");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .worst_pct = NAN }, "ada/tiles is slower");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .worst_pct = 2 }, "ada/tiles is slower"); /* the mean is */
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .worst_pct = 0 }, "ada/tiles is slower");
	reads((struct finding){ .verdict = VERDICT_IMPROVEMENT, .best_pct = INFINITY }, "ada/tiles is faster");
	reads((struct finding){ .verdict = VERDICT_IMPROVEMENT, .best_pct = 0.994 }, "ada/tiles is 0.99 % faster");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .regressions = 6, .worst_pct = -4.02, .least_pct = -4.02 },
		"ada/tiles is 4.0 % slower in 6 cells");
	reads((struct finding){ .verdict = VERDICT_REGRESSION, .cells = 2, .regressions = 1, .worst_pct = -3, .is_quick = true },
		"ada/tiles is 3.0 % slower in 1 of 2 cells (quick comparison, not confirmed)");
}

static void a_new_benchmark_is_named(void **state)
{
	(void)state;
	reads((struct finding){ .verdict = VERDICT_UNCHANGED, .cells = 3, .unchanged = 3, .new_suite = "rows" },
		"ada/tiles adds benchmark rows, which does not differ from itself in 3 of 3 cells");
	reads((struct finding){ .verdict = VERDICT_UNDECIDED, .cells = 3, .undecided = 1, .unchanged = 2, .new_suite = "rows" },
		"ada/tiles adds benchmark rows, which is undecided in 1 of 3 cells; 2 are unchanged");
	reads((struct finding){ .verdict = VERDICT_FAILED, .cells = 3, .failed = 1, .why = "crash", .new_suite = "rows" },
		"ada/tiles adds benchmark rows, which failed in 1 of 3 cells: crash");
	reads((struct finding){ .verdict = VERDICT_REJECTED, .cells = 3, .failed = 3, .why = "clock", .new_suite = "rows" },
		"ada/tiles adds benchmark rows: times are rejected in 3 of 3 cells: clock");
	reads((struct finding){ .verdict = VERDICT_UNCHANGED, .cells = 3, .unchanged = 3, .new_suite = "" },
		"ada/tiles is unchanged in 3 of 3 cells");
}

static void a_quick_comparison_confirms_no_time(void **state)
{
	(void)state;
	reads((struct finding){ .verdict = VERDICT_ACCEPTED, .cells = 2, .regressions = 1, .worst_pct = -3, .is_quick = true },
		"ada/tiles is 3.0 % slower in 1 of 2 cells (accepted) (quick comparison, not confirmed)");
	reads((struct finding){ .verdict = VERDICT_UNCHANGED, .cells = 2, .unchanged = 2, .is_quick = true },
		"ada/tiles is unchanged in 2 of 2 cells (quick comparison, not confirmed)");
	reads((struct finding){ .verdict = VERDICT_FAILED, .why = "build", .is_quick = true }, "ada/tiles failed: build");
	reads((struct finding){ .verdict = VERDICT_IDENTICAL, .is_quick = true }, "ada/tiles is identical to its base");
}

static void no_change_is_never_claimed_without_one(void **state)
{
	(void)state;
	reads((struct finding){ .verdict = VERDICT_UNCHANGED, .cells = 20, .unchanged = 20 },
		"ada/tiles is unchanged in 20 of 20 cells");
	reads((struct finding){ .verdict = VERDICT_IDENTICAL, .cells = 20 }, "ada/tiles is identical to its base");
	reads((struct finding){ .verdict = VERDICT_UNDECIDED, .cells = 20, .undecided = 5, .close = 5, .unchanged = 15 },
		"ada/tiles: too close to call in 5 of 20 cells; 15 are unchanged");
	reads((struct finding){ .verdict = VERDICT_UNDECIDED, .cells = 20, .undecided = 5, .close = 4, .unchanged = 15 },
		"ada/tiles is undecided in 5 of 20 cells; 15 are unchanged");
	reads((struct finding){ .verdict = VERDICT_UNDECIDED, .cells = 8, .undecided = 3, .unchanged = 4, .accepted = 1 },
		"ada/tiles is undecided in 3 of 8 cells; 4 are unchanged; 1 is slower (accepted)");
	reads(
		(struct finding){
			.verdict = VERDICT_UNDECIDED, .cells = 4, .undecided = 1, .close = 1, .unchanged = 1, .accepted = 2 },
		"ada/tiles: too close to call in 1 of 4 cells; 1 is unchanged; 2 are slower (accepted)");
	reads((struct finding){ .verdict = VERDICT_UNDECIDED }, "ada/tiles is undecided");
	reads((struct finding){ .verdict = VERDICT_NONE }, "ada/tiles has no verdict yet");
	reads((struct finding){ .verdict = VERDICT_ADDED }, "ada/tiles has nothing to compare: its cells are added");
	reads((struct finding){ .verdict = VERDICT_REMOVED, .cells = 3, .removed = 3 },
		"ada/tiles has nothing to compare: its cells are removed");
	reads((struct finding){ .verdict = VERDICT_REMOVED, .removed = 1, .added = 2 },
		"ada/tiles has nothing to compare: 1 cell removed, 2 added");
	reads((struct finding){ .verdict = VERDICT_IDENTICAL, .cells = 20, .removed = 2 },
		"ada/tiles is identical to its base; 2 cells removed");
	reads((struct finding){ .verdict = VERDICT_IDENTICAL, .cells = 20, .added = 1 },
		"ada/tiles is identical to its base; 1 cell added");
}

static void failures_name_their_class(void **state)
{
	(void)state;
	reads((struct finding){ .verdict = VERDICT_FAILED, .cells = 20, .failed = 2, .why = "wrong" },
		"ada/tiles failed in 2 of 20 cells: wrong results");
	reads((struct finding){ .verdict = VERDICT_FAILED, .cells = 20, .failed = 2, .why = "oob" },
		"ada/tiles failed in 2 of 20 cells: writes out of bounds");
	reads((struct finding){ .verdict = VERDICT_FAILED, .cells = 2, .failed = 2, .why = "build" }, "ada/tiles failed: build");
	reads((struct finding){ .verdict = VERDICT_FAILED, .why = "build" }, "ada/tiles failed: build");
	reads((struct finding){ .verdict = VERDICT_REJECTED, .cells = 2, .failed = 1, .why = "clock" },
		"ada/tiles: times are rejected in 1 of 2 cells: clock");
	reads((struct finding){ .verdict = VERDICT_NOT_COMPARABLE, .cells = 2, .failed = 2 },
		"ada/tiles: not comparable in 2 of 2 cells");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_have_a_size_and_a_place),
		cmocka_unit_test(a_new_benchmark_is_named),
		cmocka_unit_test(a_quick_comparison_confirms_no_time),
		cmocka_unit_test(no_change_is_never_claimed_without_one),
		cmocka_unit_test(failures_name_their_class),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
