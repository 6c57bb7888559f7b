/* The charts of an opened cell agree with its samples: values are read back from the drawn marks. */
#include "fixture_result.h"

#include <math.h>

#include "db/db.h"
#include "web/html/html.h"
#include "web/html/internal.h"

enum { RUNS = 4, PAIRS = 32 };

struct timed {
	struct store_runs l;
	float base_ms[RUNS][PAIRS], target_ms[RUNS][PAIRS], mhz[RUNS][PAIRS];
};

/* Every pair is `loss_pct` slower; the clock of run i is 1700 + 10 i, the power 500 + 50 i. */
static struct timed *timed(double loss_pct)
{
	struct timed *t = calloc(1, sizeof *t);
	assert_non_null(t);
	t->l.n = RUNS;
	t->l.raw = true;
	for (int i = 0; i < RUNS; i++) {
		for (int k = 0; k < PAIRS; k++) {
			t->base_ms[i][k] = 2;
			t->target_ms[i][k] = (float)(2 / (1 - loss_pct / 100));
			t->mhz[i][k] = (float)(1700 + 10 * i);
		}
		t->l.pairs[i] = (struct run_pairs){ .set = 1,
			.n = PAIRS,
			.base_ms = t->base_ms[i],
			.target_ms = t->target_ms[i],
			.base_mhz = t->mhz[i],
			.target_mhz = t->mhz[i] };
		t->l.device_check[i].power_w = 500 + 50 * i;
		t->l.device_check[i].temp_c = 60;
	}
	return t;
}

static struct buf drawing(void)
{
	struct buf out;
	buf_init(&out, 1 << 20);
	return out;
}

static int count(const char *text, const char *what)
{
	int n = 0;
	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static double number_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);
	if (!at)
		fail_msg("no %s in %s", what, text);
	return strtod(at + strlen(what), NULL);
}

static void equal_pairs_are_one_bar(void **state)
{
	(void)state;
	struct timed *t = timed(4);
	struct buf out = drawing();
	ratios_draw(&out, &t->l, &(struct ratios_about){ -4, -4.2, -3.8, 1.5 });
	assert_non_null(strstr(out.data, "128 pairs by their change"));
	assert_non_null(strstr(out.data, "between -4.00 and -4.00 percent"));
	const char *bars = strstr(out.data, "class=bars d=\"");
	assert_non_null(bars);
	assert_int_equal(count(bars, "V20H"), 1); /* a bar of the full height, and no other */
	assert_int_equal(count(bars, "V100"), 1);
	/* it is below the estimate's dot */
	double bar = number_after(bars, "H"), dot = number_after(out.data, "<circle cx=");
	assert_true(dot >= bar - 1 && dot <= bar + 12);
	buf_fini(&out);
	free(t);
}

static void two_kinds_of_pairs_are_two_peaks(void **state)
{
	(void)state;
	struct timed *t = timed(4);
	struct buf out = drawing();
	for (int k = 0; k < PAIRS; k++) /* one run of four has an equal gain */
		t->target_ms[0][k] = (float)(2 / 1.04);
	ratios_draw(&out, &t->l, &(struct ratios_about){ -2, -4, 0, 1.5 });
	const char *bars = strstr(out.data, "class=bars d=\"");
	assert_non_null(bars);
	assert_int_equal(count(bars, "V20H"), 1);
	assert_int_equal(count(bars, "V73H"), 1); /* a third of the height */
	assert_int_equal(count(bars, "V100"), 2);
	buf_fini(&out);
	free(t);
}

static void expired_samples_leave_only_power(void **state)
{
	(void)state;
	struct timed *t = timed(4);
	struct buf out = drawing();
	t->l.raw = false;
	for (int i = 0; i < RUNS; i++)
		t->l.pairs[i].base_ms = t->l.pairs[i].target_ms = t->l.pairs[i].base_mhz = t->l.pairs[i].target_mhz = NULL;
	ratios_draw(&out, &t->l, &(struct ratios_about){ -4, -4.2, -3.8, 1.5 });
	assert_int_equal(out.len, 0);
	device_state_draw(&out, &t->l);
	assert_non_null(strstr(out.data, "<figcaption>Power over the runs</figcaption>"));
	assert_int_equal(count(out.data, "class=power"), RUNS);
	buf_fini(&out);
	free(t);
}

static void clock_and_power_rise_over_the_runs(void **state)
{
	(void)state;
	struct timed *t = timed(4);
	struct buf out = drawing();
	device_state_draw(&out, &t->l);
	assert_non_null(strstr(out.data, "clock from 1700 to 1730 MHz, power from 500 to 650 W over 4 runs"));
	assert_int_equal(count(out.data, "class=power"), RUNS);
	assert_non_null(strstr(out.data, "<title>run 4: 650 W, 60 \u00b0C</title>"));
	assert_int_equal(count(out.data, "class=\"line l"), 2);
	/* a line for each run and side, not joined */
	char *base = strstr(out.data, "class=\"line l0\" d=\"") + strlen("class=\"line l0\" d=\"");
	*strchr(base, '"') = '\0';
	assert_int_equal(count(base, "M"), RUNS);
	out.len = 0;
	for (int i = 0; i < RUNS; i++) {
		t->l.pairs[i].base_mhz = t->l.pairs[i].target_mhz = NULL;
		t->l.device_check[i].power_w = -1;
	}
	device_state_draw(&out, &t->l); /* a device that reports neither */
	assert_int_equal(out.len, 0);
	buf_fini(&out);
	free(t);
}

static void each_call_is_a_dot_over_its_run_s_median(void **state)
{
	(void)state;
	struct timed *t = timed(0);
	struct buf out = drawing();
	t->l.n = 2;
	for (int k = 0; k < PAIRS; k++)
		t->base_ms[1][k] = 4; /* another speed: still normal for its own run */
	t->base_ms[0][0] = 1;         /* outside on the left */
	t->base_ms[1][1] = 10;        /* outside on the right */
	t->target_ms[0][2] = 2.4f;
	strip_draw(&out, &t->l);
	assert_int_equal(count(out.data, "h0"), 2 * 2 * PAIRS);
	assert_int_equal(count(out.data, "M152 "), 2 * 2 * PAIRS - 3);
	assert_non_null(strstr(out.data, "<path class=\"calls\" d=\"M58 12h0M152 19h0M152 26h0"));
	assert_non_null(
		strstr(out.data, "<path class=\"calls slow\" d=\"M528 27h0\"/><path class=\"calls slow\" d=\"M340 60h0\"/>"));
	buf_fini(&out);
	free(t);
}

static void phases_are_as_long_as_they_take(void **state)
{
	(void)state;
	static const struct stack_part part[] = { { "prepare", 1, 1, false }, { "run", 3, 4, true }, { "cast", NAN, 1, false } };
	struct buf out = drawing();
	stack_draw(&out, part, 3);
	assert_int_equal(count(out.data, "<rect"), 5); /* the base has no cast */
	assert_int_equal(count(out.data, " moved"), 1);
	double base = number_after(strstr(out.data, "p1"), "width="), target = number_after(strstr(out.data, "moved"), "width=");
	assert_true(fabs(target / base - 4.0 / 3) < 0.01);
	assert_non_null(strstr(out.data, "phases of the base, 4 ms in total, above those of the target, 6 ms"));
	out.len = 0;
	stack_draw(&out, &(struct stack_part){ "run", NAN, NAN, false }, 1);
	assert_int_equal(out.len, 0);
	buf_fini(&out);
}

static void a_run_is_drawn_with_its_interval(void **state)
{
	(void)state;
	struct mark_run run[2] = { { .change_pct = -3, .low_pct = -5, .high_pct = -1, .set = 1 },
		{ .change_pct = -2, .low_pct = NAN, .high_pct = NAN, .set = 2 } };
	struct buf out = drawing();
	mark_runs(&out, run, 2, 1.5, "two");
	assert_int_equal(count(out.data, "class=range"), 1);
	const char *range = strstr(out.data, "class=range d=\"M");
	double x = number_after(range, "d=\"M"), dot = number_after(range, "cx="), top = strtod(strchr(range + 16, ' '), NULL),
	       end = number_after(range, "V"), y = number_after(range, "cy=");
	assert_true(fabs(x - dot) < 0.1 && top < y && y < end);
	assert_true(fabs((top + end) / 2 - y) < 0.2);
	buf_fini(&out);
}

#define PICTURE_TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PICTURE_TEST(equal_pairs_are_one_bar),
		PICTURE_TEST(two_kinds_of_pairs_are_two_peaks),
		PICTURE_TEST(expired_samples_leave_only_power),
		PICTURE_TEST(clock_and_power_rise_over_the_runs),
		PICTURE_TEST(each_call_is_a_dot_over_its_run_s_median),
		PICTURE_TEST(phases_are_as_long_as_they_take),
		PICTURE_TEST(a_run_is_drawn_with_its_interval),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
