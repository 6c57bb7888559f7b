/* outcome.c: the step that a page names for an undecided comparison is the one that helps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "web/page/internal.h"

static void check_step(const char *reason, const char *wanted)
{
	struct step step = {
		.kind = JOBKIND_COMPARE, .verdict = VERDICT_UNDECIDED, .base_how = "merge-base", .job = 7, .reason = reason
	};
	struct buf out;

	buf_init(&out, 4096);
	step_draw(&out, &step);
	if (!strstr(out.data, wanted))
		fail_msg("%s: %s", reason ? reason : "", out.data);
	buf_fini(&out);
}

static void an_undecided_comparison_has_the_step_that_helps(void **state)
{
	(void)state;
	check_step("runs vary; the base's budget of 60 s ended first", "push a larger budget_s to the upstream branch");
	check_step("runs vary too much; even 32 would not decide: interleave the program", "interleave the program (doc/");
	check_step("runs vary too much; even 32 would not decide: the base is not interleaved yet",
		"once the base is interleaved, too");
	check_step(
		"runs vary too much; even 32 would not decide: use a quieter machine, or make calls do equal work", "measure ");
	check_step("runs vary too much; up to 2 more may decide", "measure ");
	check_step(NULL, "measure ");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(an_undecided_comparison_has_the_step_that_helps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
