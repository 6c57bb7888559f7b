/* Every state of a profile as the sentence below a regression: none states that nothing differs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/profile.h"

static void says(const struct cause_known *k, const char *want)
{
	char text[CAUSE_ANSWER_SIZE];
	cause_answer(k, text);
	assert_string_equal(text, want);
}

static struct cause_known done(const char *state, const char *why)
{
	return (struct cause_known){ .is_done = true,
		.profile_state = "done",
		.profile_why = "",
		.cell = *state ? cause_cell_from_name(state) : CAUSE_CELL_NONE,
		.why = why,
		.base_ms = 1,
		.target_ms = 4 };
}

static void a_profile_without_a_result(void **state)
{
	(void)state;
	says(&(struct cause_known){ .is_pending = true, .profile_state = "queued" }, "not known yet: the profile is queued");
	says(&(struct cause_known){ .profile_state = "failed", .profile_why = "the worker went away" },
		"not known: the profile ended without a result: the worker went away");
	says(&(struct cause_known){ .profile_state = "cancelled", .profile_why = "" },
		"not known: the profile ended without a result: cancelled");
	struct cause_known none = done("", "");
	says(&none, "not known: the profile does not include this cell");
}

static void a_cell_without_a_profile(void **state)
{
	(void)state;
	struct cause_known k = done("unsupported", "A program shows only its times: profiles need a module");
	says(&k, "not known. A program shows only its times: profiles need a module");
	k = done("unsupported", "base does not support it: not this direction");
	says(&k, "not known: base does not support it: not this direction");
	k = done("failed", "target: crash: killed by SIGSEGV");
	says(&k, "not known: profiling this cell failed: target: crash: killed by SIGSEGV");
	k = done("identical", "both sides are built from the same files, or to the same module");
	says(&k,
		"not known: the profile found nothing to compare; both sides are built from the same files, or to the same module");
}

static void a_profile_without_a_cause(void **state)
{
	(void)state;
	struct cause_known k = done("done", "");
	k.target_ms = 1.002;
	says(&k,
		"not known: the medians, 1 and 1 ms, differ by less than their noise, so the profile has no difference to explain");
	k.base_ms = NAN;
	says(&k, "not known: the comparison has no times of this cell to explain");
	k = done("done", "counters are left to administrators");
	k.is_open = true;
	says(&k, "not known: counters were not read, and machine code, kernels and configurations show no cause");
	k.is_counted = true;
	says(&k, "not known: nothing that was counted or compared explains the difference");
}

static void a_cause_is_the_reason_only_where_it_explains_half(void **state)
{
	(void)state;
	struct cause_known k = done("done", "");
	k.sentence = "forward executes 2 times the tensor instructions: 2 of 3 ms";
	k.confidence = "measured";
	says(&k, "forward executes 2 times the tensor instructions: 2 of 3 ms");
	k.is_open = true;
	k.sentence = "forward reads more: 0.2 of 3 ms";
	says(&k, "known in part: forward reads more: 0.2 of 3 ms");
	k.confidence = "seen";
	k.sentence = "TILE_Q 64 -> 16; cost not measured";
	says(&k, "likely: TILE_Q 64 -> 16; cost not measured");
	k.is_counted = true; /* the counters do not explain the difference by it */
	says(&k, "not known; also changed: TILE_Q 64 -> 16; cost not measured");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profile_without_a_result),
		cmocka_unit_test(a_cell_without_a_profile),
		cmocka_unit_test(a_profile_without_a_cause),
		cmocka_unit_test(a_cause_is_the_reason_only_where_it_explains_half),
	};
	return cmocka_run_group_tests_name("why, in words", tests, NULL, NULL);
}
