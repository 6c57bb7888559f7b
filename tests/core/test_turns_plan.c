/* test_turns_plan.c - which cells a session pairs, and when a program's times are not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/turns/plan.h"
#include "core/turns/trust.h"

static void chain_is(const char *a, const char *b, const char *c, const char *wanted, const char *expected)
{
	const char *text[TURNS_SIDES_MAX] = { a, b, c };
	struct turns_order side[TURNS_SIDES_MAX];
	int cell[TURNS_SIDES_MAX][32], out[26];
	bool want[26] = { false };
	char got[27] = "";

	for (int s = 0; s < (c ? 3 : 2); s++) {
		side[s] = (struct turns_order){ .n = (int)strlen(text[s]), .cell = cell[s] };
		for (int i = 0; i < side[s].n; i++)
			cell[s][i] = text[s][i] - 'a';
	}
	for (; *wanted; wanted++)
		want[*wanted - 'a'] = true;
	int n = turns_chain(side, c ? 3 : 2, want, 26, out);

	for (int i = 0; i < n; i++)
		got[i] = (char)('a' + out[i]);
	assert_string_equal(got, expected);
}

static void cells_come_in_any_order(void **state)
{
	(void)state;
	chain_is("abcd", "abcd", NULL, "abcd", "abcd");
	chain_is("abcd", "abcd", NULL, "bd", "bd");
	chain_is("abcd", "xbyd", NULL, "abcdxy", "bd");
	chain_is("abcdef", "fabcde", NULL, "abcdef", "abcde");
	chain_is("abc", "cba", NULL, "abc", "a");
	chain_is("abcd", "badc", NULL, "abcd", "ac");
	chain_is("abcd", "abcd", "dabc", "abcd", "abc");
	chain_is("abc", "xyz", NULL, "abcxyz", "");
	chain_is("", "abc", NULL, "abc", "");
}

static void pairs_fill_a_budget(void **state)
{
	(void)state;
	assert_int_equal(turns_pairs(7, 8, 0), 60);
	assert_int_equal(turns_pairs(20, 8, 0), 24);
	assert_int_equal(turns_pairs(1000, 8, 0), 8);
	assert_int_equal(turns_pairs(0.1, 1, 0), 60);
	assert_int_equal(turns_pairs(5, 200, 0), 12);
	assert_int_equal(turns_pairs(7, 8, 240), 240);
	assert_int_equal(turns_pairs(11.6, 8, 240), 172);
	assert_int_equal(turns_pairs(0.1, 1, 8), 8);
	assert_int_equal(turns_pairs(100, 8, 240), 20);
	assert_int_equal(turns_warm(1.5), 1);
	assert_int_equal(turns_warm(25), 0);
}

static struct turns_seen turns(double ms, double turn_ms, double idle_us)
{
	struct turns_seen s = { .n = 0 };

	for (int i = 0; i < 60; i++)
		turns_see(&s, ms, 0, turn_ms * (1 + 0.5 * (i % 3 == 0)) /* now and then the machine is busy */, idle_us);
	return s;
}

static void a_call_is_no_longer_than_its_turn(void **state)
{
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen honest = turns(1, 1.2, 0), liar = turns(1, 0.2, 0), one = turns(1, 1.2, 0);

	(void)state;
	assert_false(turns_overstates(&honest, why));
	turns_see(&one, 3, 0, 1.2, 0);
	assert_false(turns_overstates(&one, why));
	assert_true(turns_overstates(&liar, why));
	assert_non_null(strstr(why, "1 ms in a turn of 0.2 ms"));
}

static void a_gain_is_heard(void **state)
{
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen base = turns(1, 2.3, 0), quick = turns(0.5, 1.3, 0), liar = turns(0.5, 2.3, 0),
			  close = turns(0.9, 2.3, 0);

	(void)state;
	assert_false(turns_gain_is_missing(&base, &base, 2, why));
	assert_false(turns_gain_is_missing(&base, &quick, 2, why));
	assert_false(turns_gain_is_missing(&base, &close, 2, why));
	assert_true(turns_gain_is_missing(&base, &liar, 2, why));
	assert_non_null(strstr(why, "1 ms shorter"));
	struct turns_seen tiny = turns(0.004, 0.1, 0), tinier = turns(0.002, 0.1, 0);
	assert_false(turns_gain_is_missing(&tiny, &tinier, 2, why));
}

static struct turns_seen repeated(double ms, double repeats, double turn_ms)
{
	struct turns_seen s = { .n = 0 };

	for (int i = 0; i < 60; i++)
		turns_see(&s, ms, repeats, turn_ms, 0);
	return s;
}

/* Whoever runs for at least 2 ms makes a call of 2.5 ms once, and two of 1.5 ms behind one that showed how long they are. */
static void who_chooses_how_often_to_call_has_turns_of_any_length(void **state)
{
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen base = repeated(2.5, 1, 5), quick = repeated(1.5, 2, 9), untold = turns(2.5, 5, 0),
			  once = repeated(1.5, 1, 5), liar = repeated(1.5, 4, 5);

	(void)state;
	assert_false(turns_gain_is_missing(&base, &quick, 2, why));
	assert_true(turns_gain_is_missing(&untold, &quick, 2, why)); /* nobody begins to choose */
	assert_true(turns_gain_is_missing(&base, &once, 2, why));
	assert_false(turns_overstates(&quick, why));
	assert_true(turns_overstates(&liar, why));
	assert_non_null(strstr(why, "6 ms in a turn of 5 ms"));
}

/* Turns that are taken again are seen, too: they may be more than are kept. */
static void who_is_honest_at_first_is_seen_later(void **state)
{
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen base = { .n = 0 }, liar = { .n = 0 };

	(void)state;
	for (int i = 0; i < 2 * TURNS_SEEN_MAX; i++) {
		turns_see(&base, 1, 0, 2.3, 0);
		turns_see(&liar, i < TURNS_SEEN_MAX ? 1 : 0.5, 0, 2.3, 0);
	}
	assert_int_equal(liar.n, TURNS_SEEN_MAX);
	assert_true(turns_gain_is_missing(&base, &liar, 2, why));
}

static void work_that_goes_on_is_seen(void **state)
{
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen a = turns(1, 2, 30), b = turns(1, 2, 30);

	(void)state;
	a.rest.s = b.rest.s = 0.12;
	a.rest.cpu_s = 0.001;
	assert_false(turns_goes_on(&a, &b, why));
	a.rest.cpu_s = 0.1;
	assert_true(turns_goes_on(&a, &b, why));
	assert_false(turns_goes_on(&b, &a, why));
	assert_non_null(strstr(why, "processor time"));
	struct turns_seen late = turns(1, 2, 1500);
	assert_true(turns_goes_on(&b, &late, why));
	assert_non_null(strstr(why, "on the device"));
	assert_false(turns_goes_on(&late, &b, why));
	struct turns_seen untold = turns(1, 2, 0);
	assert_false(turns_goes_on(&untold, &late, why));
}

/* Twelve runnable threads on two cores: one of them that never rests gets a sixth of a core. */
static void work_that_waits_for_a_core_is_seen(void **state)
{
	const struct turns_rest spinning = { 0.01, 0.0012, 0.0085 }, ticking = { 0.01, 0.0003, 0.0085 },
				half = { 0.01, 0.0012, 0.004 };
	char why[TURNS_WHY_SIZE] = "";
	struct turns_seen spins = turns(1, 2, 0), ticks = turns(1, 2, 0), now_and_then = turns(1, 2, 0),
			  unwatched = turns(1, 2, 0);
	struct turns_seen other = turns(1, 2, 0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		turns_rest_note(&spins, &spinning, turns_is_restless(&spins));
		turns_rest_note(&ticks, &ticking, true);
		turns_rest_note(&now_and_then, &half, true);
		turns_rest_note(&unwatched, &spinning, false);
	}
	assert_true(turns_goes_on(&spins, &other, why));
	assert_non_null(strstr(why, "of waiting for it"));
	assert_false(turns_goes_on(&ticks, &other, why));
	assert_false(turns_goes_on(&now_and_then, &other, why));
	assert_false(turns_goes_on(&unwatched, &other, why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_come_in_any_order),
		cmocka_unit_test(pairs_fill_a_budget),
		cmocka_unit_test(a_call_is_no_longer_than_its_turn),
		cmocka_unit_test(a_gain_is_heard),
		cmocka_unit_test(who_chooses_how_often_to_call_has_turns_of_any_length),
		cmocka_unit_test(who_is_honest_at_first_is_seen_later),
		cmocka_unit_test(work_that_goes_on_is_seen),
		cmocka_unit_test(work_that_waits_for_a_core_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
