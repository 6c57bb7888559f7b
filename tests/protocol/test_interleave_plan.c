/* test_interleave_plan.c - which cells a session pairs, and when a program's times are rejected. */
/* Left to `make check`: takes seconds, only computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "protocol/protocol.h"

static void chain_is(const char *a, const char *b, const char *c, const char *wanted, const char *expected)
{
	const char *text[INTERLEAVE_SIDES_MAX] = { a, b, c };
	struct interleave_order side[INTERLEAVE_SIDES_MAX];
	int cell[INTERLEAVE_SIDES_MAX][32], out[26];
	bool want[26] = { false };
	char got[27] = "";

	for (int s = 0; s < (c ? 3 : 2); s++) {
		side[s] = (struct interleave_order){ .n = (int)strlen(text[s]), .cell = cell[s] };
		for (int i = 0; i < side[s].n; i++)
			cell[s][i] = text[s][i] - 'a';
	}
	for (; *wanted; wanted++)
		want[*wanted - 'a'] = true;
	int n = interleave_chain(side, c ? 3 : 2, want, 26, out);

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
	assert_int_equal(interleave_pairs(7, 8, 0), 60);
	assert_int_equal(interleave_pairs(20, 8, 0), 24);
	assert_int_equal(interleave_pairs(1000, 8, 0), 8);
	assert_int_equal(interleave_pairs(0.1, 1, 0), 60);
	assert_int_equal(interleave_pairs(5, 200, 0), 12);
	assert_int_equal(interleave_pairs(7, 8, 240), 240);
	assert_int_equal(interleave_pairs(11.6, 8, 240), 172);
	assert_int_equal(interleave_pairs(0.1, 1, 8), 8);
	assert_int_equal(interleave_pairs(100, 8, 240), 20);
	assert_int_equal(interleave_warm(1.5), 1);
	assert_int_equal(interleave_warm(25), 0);
}

/* A cell whose runs cost `others_s` in addition to their pairs of 4 ms, and whose pairs vary by 2 % (the deviation of their
 * trimmed mean). */
static int wanted(double others_s, double tau, int most)
{
	static const float base[8] = { 1, 1, 1, 1, 1, 1, 1, 1 },
			   target[8] = { 0.99F, 1.01F, 0.99F, 1.01F, 0.99F, 1.01F, 0.99F, 1.01F };
	struct interleave_cost cost = { .runs = 0 };

	if (others_s > 0) {
		interleave_cost_add(&cost, 8, 8 * 0.004, others_s, base, target);
		interleave_cost_add(&cost, 8, 8 * 0.004, others_s, base, target);
	}
	return interleave_pairs_wanted(&cost, tau, most);
}

static void runs_of_few_pairs_are_bought(void **state)
{
	struct interleave_cost untold = { .runs = 0 };

	(void)state;
	assert_int_equal(wanted(0, 0.004, 60), INTERLEAVE_PAIRS_FIRST);
	assert_int_equal(wanted(0, 0.004, 12), 12);    /* a long call has no more */
	assert_int_equal(wanted(0.002, 0.004, 60), 8); /* a process that starts at once, */
	assert_int_equal(wanted(0.2, 0.004, 60), 40);  /* one that takes 50 pairs for it: sqrt(50) * 0.021 / 0.004, */
	assert_int_equal(wanted(20, 0.004, 60), 60);   /* and one that compiles for a long time */
	assert_int_equal(wanted(0.2, 0.02, 60), 8);    /* runs that vary by percents are worth more than pairs */
	interleave_cost_add(&untold, 3, 1, 1, NULL, NULL);
	assert_int_equal(untold.runs, 0);
}

/* Three runs that vary by 1 % are evidence of noise between runs; two, or runs that vary as their pairs do, are none. */
static void noisy_runs_have_fewer_pairs(void **state)
{
	struct interleave_cost cost = {
		.runs = 3, .pairs = 120, .pairs_s = 0.12, .others_s = 0.6, .variance = 3 * 0.021 * 0.021
	};
	double se = 0.01 / sqrt(3), noise;

	(void)state;
	assert_true(interleave_run_noise(&cost, 0.004, se, 2) == 0.004);
	assert_true(interleave_run_noise(&cost, 0.004, 0.001, 3) == 0.004);
	assert_true(interleave_run_noise(&(struct interleave_cost){ .runs = 0 }, 0.004, se, 3) == 0.004);
	noise = interleave_run_noise(&cost, 0.004, se, 3);
	assert_true(fabs(noise - sqrt(0.01 * 0.01 - 0.021 * 0.021 / 40)) < 1e-9);
	assert_int_equal(interleave_pairs_wanted(&cost, 0.004, 60), 60);
	assert_int_equal(interleave_pairs_wanted(&cost, noise, 60), 32);
}

/* ---- simulated sessions -------------------------------------------------------------------------------------------------- */

static struct noise dice = { .state = 1 };

static void see(struct interleave_turns *s, double ms, double turn_ms, double idle_us)
{
	interleave_add_turn(s, &(struct interleave_one){ .ms = ms, .turn_ms = turn_ms, .idle_us = idle_us });
}

static struct interleave_turns interleave(double ms, double turn_ms, double idle_us)
{
	struct interleave_turns s = { .n = 0 };

	for (int i = 0; i < 60; i++)
		see(&s, ms, turn_ms * (1 + 0.5 * (i % 5 == 0)) /* now and then the machine is busy */, idle_us);
	return s;
}

static void a_call_is_no_longer_than_its_turn(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns honest = interleave(1, 1.2, 0), liar = interleave(1, 0.2, 0), one = interleave(1, 1.2, 0);

	(void)state;
	assert_false(interleave_overstates(&honest, why));
	see(&one, 3, 1.2, 0);
	assert_false(interleave_overstates(&one, why));
	assert_true(interleave_overstates(&liar, why));
	assert_non_null(strstr(why, "1 ms in a turn of 0.2 ms; "));
}

static void one_session_rejects_no_side(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_evidence liar = { .sessions = 0 }, spins = { .sessions = 0 }, other = { .sessions = 0 };
	struct interleave_turns lie = interleave(1, 0.2, 0), fine = interleave(1, 1.2, 0), spin = interleave(1, 1.2, 0),
				short_spin = interleave(1, 1.2, 0);

	(void)state;
	interleave_add_background(&spin, &(struct interleave_background){ .s = 0.03, .cpu_s = 0.01 }, false);
	interleave_add_background(&short_spin, &(struct interleave_background){ .s = 0.006, .cpu_s = 0.002 }, false);
	interleave_evidence_add(&liar, &lie);
	assert_null(interleave_find_fault(&liar, &other, why));
	interleave_evidence_add(&liar, &lie);
	assert_string_equal(interleave_find_fault(&liar, &other, why), "clock");
	assert_true(interleave_overlaps(&spin, &fine, why));
	interleave_evidence_add(&spins, &spin);
	interleave_evidence_add(&other, &fine);
	assert_null(interleave_find_fault(&spins, &other, why));
	assert_true(interleave_may_overlap(&spins)); /* another run decides */
	interleave_evidence_add(&spins, &spin);
	interleave_evidence_add(&other, &fine);
	assert_string_equal(interleave_find_fault(&spins, &other, why), "escaped");
	assert_null(interleave_find_fault(&other, &spins, why));
	assert_false(interleave_may_overlap(&other));

	/* the evidence of sessions with few turns is added up */
	memset(&spins, 0, sizeof spins);
	assert_false(interleave_overlaps(&short_spin, &fine, why));
	for (int i = 0; i < 5; i++) {
		interleave_evidence_add(&spins, &short_spin);
		assert_null(interleave_find_fault(&spins, &other, why));
		assert_true(interleave_may_overlap(&spins));
	}
	interleave_evidence_add(&spins, &short_spin);
	assert_string_equal(interleave_find_fault(&spins, &other, why), "escaped");
}

/* A program that overstates its calls in one half of the sessions and computes on in the other half. */
static void false_times_and_escaped_work_are_caught(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_evidence liar = { .sessions = 0 }, other = { .sessions = 0 };
	struct interleave_turns lie = interleave(1, 0.2, 0), fine = interleave(1, 1.2, 0), spin = interleave(1, 1.2, 0);

	(void)state;
	interleave_add_background(&spin, &(struct interleave_background){ .s = 0.03, .cpu_s = 0.01 }, false);
	interleave_evidence_add(&liar, &lie);
	interleave_evidence_add(&other, &fine);
	assert_null(interleave_find_fault(&liar, &other, why));
	interleave_evidence_add(&liar, &spin);
	interleave_evidence_add(&other, &fine);
	assert_string_equal(interleave_find_fault(&liar, &other, why), "escaped");
	assert_non_null(strstr(why, "computes while the other side has the turn"));
	assert_null(interleave_find_fault(&other, &liar, why));
}

/* Excluded sessions do not dilute a false gain of the others. */
static void sessions_that_do_not_count_hide_no_gain(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_evidence b = { .sessions = 0 }, t = { .sessions = 0 };
	struct interleave_turns base = interleave(1, 2.3, 0), liar = interleave(0.7, 2.3, 0), honest = interleave(1, 2.3, 0);

	(void)state;
	for (int i = 0; i < 4; i++) { /* every second session differs, and its times are excluded */
		interleave_evidence_add(&b, &base);
		interleave_evidence_add(&t, i % 2 ? &honest : &liar);
		if (i % 2)
			continue;
		interleave_evidence_add_times(&b, &base);
		interleave_evidence_add_times(&t, &liar);
	}
	assert_int_equal(interleave_gain(&b, &t, 2, why), INTERLEAVE_GAIN_MISSING);
}

/* The gain by the worker's clock after so many equal runs of so many turns per side. */
static enum interleave_gain after(const struct interleave_turns *base, const struct interleave_turns *target, int runs, char *why)
{
	struct interleave_evidence b = { .sessions = 0 }, t = { .sessions = 0 };

	for (int i = 0; i < runs; i++) {
		interleave_evidence_add_times(&b, base);
		interleave_evidence_add_times(&t, target);
	}
	return interleave_gain(&b, &t, 2, why);
}

static void a_gain_is_confirmed_by_turns(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = interleave(1, 2.3, 0), quick = interleave(0.5, 1.3, 0), liar = interleave(0.5, 2.3, 0),
				close = interleave(0.85, 2.3, 0);

	(void)state;
	assert_int_equal(after(&base, &base, 2, why), INTERLEAVE_GAIN_NONE);
	assert_int_equal(after(&base, &quick, 2, why), INTERLEAVE_GAIN_NONE);
	assert_int_equal(after(&base, &close, 2, why), INTERLEAVE_GAIN_NONE);
	assert_int_equal(after(&base, &liar, 1, why), INTERLEAVE_GAIN_UNCONFIRMED); /* one run is no ground to reject a program */
	assert_int_equal(after(&base, &liar, 2, why), INTERLEAVE_GAIN_MISSING);
	assert_non_null(strstr(
		why, "calls of 0.5 instead of 1 ms should make a turn 1 ms shorter; by the worker's clock the turn became 0 ms"));

	struct interleave_turns tiny = interleave(0.004, 0.1, 0), tinier = interleave(0.002, 0.1, 0);

	assert_int_equal(after(&tiny, &tinier, 2, why), INTERLEAVE_GAIN_NONE);
}

static void interrupted_turns_reject_no_side(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = interleave(1, 2.3, 0), liar = { .n = 0 }, hidden = { .n = 0 };

	(void)state;
	for (int i = 0; i < 60; i++) {
		interleave_add_turn(&liar, &(struct interleave_one){ .ms = 0.5, .turn_ms = 2.3, .cut = true });
		interleave_add_turn(&hidden, &(struct interleave_one){ .ms = 0.5, .turn_ms = 2.3, .cut = i % 2 == 0 });
	}
	assert_int_equal(after(&base, &liar, 12, why), INTERLEAVE_GAIN_UNCONFIRMED); /* and are no improvement, either */
	assert_int_equal(after(&base, &hidden, 2, why), INTERLEAVE_GAIN_MISSING);
}

static void twenty_turns_reject_a_side(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = { .n = 0 }, liar = { .n = 0 };

	(void)state;
	for (int i = 0; i < 8; i++) {
		see(&base, 1 + 1e-3 * noise_normal(&dice), 2.3 + 1e-2 * noise_normal(&dice), 0);
		see(&liar, 0.5 + 1e-3 * noise_normal(&dice), 2.3 + 1e-2 * noise_normal(&dice), 0);
	}
	assert_int_equal(after(&base, &liar, 2, why), INTERLEAVE_GAIN_UNCONFIRMED);
	assert_int_equal(after(&base, &liar, 3, why), INTERLEAVE_GAIN_MISSING);
}

/* False times in just enough calls to change a verdict, the others correct. */
static void some_false_times_are_found(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = interleave(1, 2.3, 0), liar = { .n = 0 };

	(void)state;
	for (int i = 0; i < 60; i++)
		see(&liar, i % 20 < 9 ? 0.1 : 1, 2.3, 0);
	assert_int_equal(after(&base, &liar, 2, why), INTERLEAVE_GAIN_MISSING);
}

static struct interleave_turns repeated(double ms, double repeats, double turn_ms)
{
	struct interleave_turns s = { .n = 0 };

	for (int i = 0; i < 60; i++)
		interleave_add_turn(&s, &(struct interleave_one){ .ms = ms, .repeats = repeats, .turn_ms = turn_ms });
	return s;
}

/* ... and `n` turns of single calls, each still repeated `repeats` times. */
static struct interleave_turns with_singles(struct interleave_turns s, int n, double ms, double repeats, double turn_ms)
{
	for (int i = 0; i < n; i++)
		interleave_add_single(&s,
			&(struct interleave_one){ .ms = ms, .repeats = repeats, .turn_ms = turn_ms * (1 + 0.5 * (i % 5 == 0)) });
	return s;
}

/* A framework that repeats short calls makes turns longer as calls become shorter: turns of single calls show it. */
static void gains_of_repeated_calls_are_confirmed_by_single_calls(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = repeated(2.5, 1, 5), quick = repeated(1.5, 2, 9), untold = interleave(2.5, 5, 0),
				once = repeated(1.5, 1, 9), liar = repeated(1.5, 8, 9);
	struct interleave_turns base_once = with_singles(base, 16, 2.5, 1, 5), quick_once = with_singles(quick, 16, 1.5, 1, 3);

	(void)state;
	assert_int_equal(after(&base_once, &quick_once, 2, why), INTERLEAVE_GAIN_NONE);
	assert_int_equal(after(&untold, &quick, 2, why), INTERLEAVE_GAIN_MISSING); /* a target may not start to choose */
	assert_int_equal(after(&base, &once, 2, why), INTERLEAVE_GAIN_MISSING);
	assert_false(interleave_overstates(&quick, why));
	assert_true(interleave_overstates(&liar, why));

	/* a gain that cannot be checked does not count: there are no such turns, or the sides repeat differently in them */
	assert_int_equal(after(&base, &quick, 8, why), INTERLEAVE_GAIN_UNCONFIRMED);
	assert_non_null(strstr(why, "cannot be compared with the worker's clock"));
	struct interleave_turns stubborn = with_singles(quick, 16, 1.5, 2, 5);

	assert_int_equal(after(&base_once, &stubborn, 8, why), INTERLEAVE_GAIN_UNCONFIRMED);
	/* a fixed number on both sides can be checked */
	struct interleave_turns four = with_singles(repeated(2.5, 4, 20), 16, 2.5, 4, 20),
				four_quick = with_singles(repeated(1.5, 4, 12), 16, 1.5, 4, 12),
				four_false = with_singles(repeated(1.5, 4, 20), 16, 1.5, 4, 20);

	assert_int_equal(after(&four, &four_quick, 2, why), INTERLEAVE_GAIN_NONE);
	assert_int_equal(after(&four, &four_false, 2, why), INTERLEAVE_GAIN_MISSING);
}

/* Both sides take 1 ms; the target reports a quarter of that and repeats accordingly. */
static void repeats_hide_no_gain(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = with_singles(repeated(1, 1, 2.1), 16, 1, 1, 2.1);

	(void)state;
	for (int repeats = 2; repeats <= 4; repeats++) {
		struct interleave_turns liar = repeated(0.25, repeats, 2.1), lies_again = with_singles(liar, 16, 0.25, 1, 2.1);

		assert_int_equal(after(&base, &liar, 8, why), INTERLEAVE_GAIN_UNCONFIRMED);
		assert_int_equal(after(&base, &lies_again, 2, why), INTERLEAVE_GAIN_MISSING);
		assert_false(interleave_overstates(&lies_again, why));
	}
}

/* A wait before the turn, in the turn of the other side or while the program checked a result, does not confirm that a call was
 * interrupted. */
static void only_waits_in_the_turn_confirm_that_a_call_was_cut(void **state)
{
	struct interleave_wait w = { .is_counted = false };

	(void)state;
	interleave_wait_begin(&w, 0);
	assert_false(interleave_wait_end(&w, 5, 2)); /* the first time it is unknown how much of it was before */
	assert_true(w.is_counted);
	interleave_wait_begin(&w, 9); /* 4 s since then */
	assert_false(interleave_wait_end(&w, 9.00001, 2));
	interleave_wait_begin(&w, 9.1);
	assert_true(interleave_wait_end(&w, 9.102, 2));
	interleave_wait_begin(&w, 0);
	assert_true(interleave_wait_end(&w, 0, 2)); /* a system that does not count */
}

static void late_false_times_are_found(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns base = { .n = 0 }, liar = { .n = 0 };

	(void)state;
	for (int i = 0; i < 2 * INTERLEAVE_TURNS_MAX; i++) {
		see(&base, 1, 2.3, 0);
		see(&liar, i < INTERLEAVE_TURNS_MAX ? 1 : 0.5, 2.3, 0);
	}
	assert_int_equal(base.n, INTERLEAVE_TURNS_MAX);
	assert_int_equal(after(&base, &liar, 2, why), INTERLEAVE_GAIN_MISSING);
}

/*
 * Equal programs, some of whose calls have a time of nearly nothing (from a kit that read the counter of waiting outside the
 * clock), on a machine that preempts one turn in ten: a comparison of up to 12 runs, evaluated after each. Returns the number of
 * rejected programs.
 */
static int accused(int comparisons, int interleave_of_a_side, double wrong, double speed)
{
	int n = 0;
	char why[INTERLEAVE_WHY_SIZE];

	for (int i = 0; i < comparisons; i++) {
		struct interleave_evidence e[2] = { { .sessions = 0 }, { .sessions = 0 } };
		bool is_accused = false;

		for (int run = 0; run < 12 && !is_accused; run++) {
			for (int side = 0; side < 2; side++) {
				struct interleave_turns s = { .n = 0 };

				for (int k = 0; k < interleave_of_a_side; k++) {
					double ms = 1.2 * (side ? speed : 1) * (1 + 0.01 * noise_normal(&dice));
					double turn_ms = 2 * ms + 0.1 * (1 + noise_uniform(&dice)) +
							 (noise_uniform(&dice) < 0.1 ? 6 * noise_uniform(&dice) : 0);

					see(&s, noise_uniform(&dice) < wrong ? 1e-6 : ms, turn_ms, 0);
				}
				interleave_evidence_add_times(&e[side], &s);
			}
			is_accused = interleave_gain(&e[0], &e[1], 2, why) == INTERLEAVE_GAIN_MISSING;
		}
		n += is_accused;
	}
	return n;
}

static void equal_programs_are_not_rejected(void **state)
{
	static const double wrong[] = { 0.003, 0.009, 0.03 };
	static const int sessions[] = { 8, 12, 60 };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t k = 0; k < 3; k++) {
			assert_int_equal(accused(1000, sessions[k], wrong[i], 1), 0);
			assert_int_equal(accused(300, sessions[k], wrong[i], 0.7), 0); /* nor is one that became faster */
		}
}

static void work_that_goes_on_is_seen(void **state)
{
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns a = interleave(1, 2, 30), b = interleave(1, 2, 30);

	(void)state;
	a.background.s = b.background.s = 0.12;
	a.background.cpu_s = 0.001;
	assert_false(interleave_overlaps(&a, &b, why));
	a.background.cpu_s = 0.1;
	assert_true(interleave_overlaps(&a, &b, why));
	assert_false(interleave_overlaps(&b, &a, why));
	assert_non_null(strstr(why, "processor time"));
	struct interleave_turns late = interleave(1, 2, 1500);
	assert_true(interleave_overlaps(&b, &late, why));
	assert_non_null(strstr(why, "on the device"));
	assert_false(interleave_overlaps(&late, &b, why));
	struct interleave_turns untold = interleave(1, 2, 0);
	assert_false(interleave_overlaps(&untold, &late, why));
}

/* Twelve runnable threads on two cores: one of them that never sleeps gets a sixth of a core. */
static void work_that_waits_for_a_core_is_seen(void **state)
{
	const struct interleave_background spinning = { 0.01, 0.0012, 0.0085 }, ticking = { 0.01, 0.0003, 0.0085 },
					   half = { 0.01, 0.0012, 0.004 };
	char why[INTERLEAVE_WHY_SIZE] = "";
	struct interleave_turns spins = interleave(1, 2, 0), ticks = interleave(1, 2, 0), now_and_then = interleave(1, 2, 0),
				unwatched = interleave(1, 2, 0);
	struct interleave_turns other = interleave(1, 2, 0);

	(void)state;
	for (int i = 0; i < 40; i++) {
		interleave_add_background(&spins, &spinning, interleave_has_background(&spins));
		interleave_add_background(&ticks, &ticking, true);
		interleave_add_background(&now_and_then, &half, true);
		interleave_add_background(&unwatched, &spinning, false);
	}
	assert_true(interleave_overlaps(&spins, &other, why));
	assert_non_null(strstr(why, "of waiting for a core"));
	assert_false(interleave_overlaps(&ticks, &other, why));
	assert_false(interleave_overlaps(&now_and_then, &other, why));
	assert_false(interleave_overlaps(&unwatched, &other, why));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_come_in_any_order),
		cmocka_unit_test(pairs_fill_a_budget),
		cmocka_unit_test(runs_of_few_pairs_are_bought),
		cmocka_unit_test(noisy_runs_have_fewer_pairs),
		cmocka_unit_test(a_call_is_no_longer_than_its_turn),
		cmocka_unit_test(one_session_rejects_no_side),
		cmocka_unit_test(a_gain_is_confirmed_by_turns),
		cmocka_unit_test(interrupted_turns_reject_no_side),
		cmocka_unit_test(twenty_turns_reject_a_side),
		cmocka_unit_test(some_false_times_are_found),
		cmocka_unit_test(equal_programs_are_not_rejected),
		cmocka_unit_test(gains_of_repeated_calls_are_confirmed_by_single_calls),
		cmocka_unit_test(repeats_hide_no_gain),
		cmocka_unit_test(only_waits_in_the_turn_confirm_that_a_call_was_cut),
		cmocka_unit_test(false_times_and_escaped_work_are_caught),
		cmocka_unit_test(sessions_that_do_not_count_hide_no_gain),
		cmocka_unit_test(late_false_times_are_found),
		cmocka_unit_test(work_that_goes_on_is_seen),
		cmocka_unit_test(work_that_waits_for_a_core_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
