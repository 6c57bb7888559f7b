/* Percent of a peer's speed computed in three ways, names of peers, and times at another clock. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "verdict/verdict.h"

static void near(double got, double wanted)
{
	assert_true(fabs(got - wanted) < 1e-9 * fabs(wanted));
}

/* A target that takes `times` as long as its base, with a half-width of `half` in the logarithm. */
static struct peer_ratio_pair pair(double times, double half)
{
	double m = log(times);
	return (struct peer_ratio_pair){ m, 100 * expm1(-m - half), 100 * expm1(-m + half) };
}

static void side_by_side(void **state)
{
	struct peer_ratio_pair beside = pair(1.25, 0.01);
	struct peer_ratio s = peer_ratio_paired(&beside);
	(void)state;
	near(s.pct, 80);
	near(s.ci_low_pct, 80 * exp(-0.01));
	near(s.ci_high_pct, 80 * exp(0.01));
}

static void over_a_base(void **state)
{
	struct peer_ratio_pair base = pair(1.25, 0.03), target = pair(0.5, 0.04);
	struct peer_ratio s = peer_ratio_chained(&base, &target);
	(void)state;
	near(s.pct, 160);
	near(s.ci_low_pct, 160 * exp(-0.05)); /* 3 and 4 at right angles */
	near(s.ci_high_pct, 160 * exp(0.05));
	struct peer_ratio_pair unknown = { NAN, NAN, NAN };
	assert_true(isnan(peer_ratio_chained(&base, &unknown).pct));
}

static void from_other_times(void **state)
{
	(void)state;
	near(peer_ratio_scaled(1.5, 3).pct, 50);
	assert_true(isnan(peer_ratio_scaled(1.5, 3).ci_low_pct));
	assert_true(isnan(peer_ratio_scaled(NAN, 3).pct));
	assert_true(isnan(peer_ratio_scaled(1.5, 0).pct));
}

static void at_another_clock(void **state)
{
	(void)state;
	near(peer_ratio_at_clock(2, -1, 1500, 1800), 2 * 1500 / 1800.0); /* all of it scales with the clock */
	near(peer_ratio_at_clock(2, 0, 1500, 1800), 2);
	assert_true(isnan(peer_ratio_at_clock(2, -1, NAN, 1800)));
	assert_true(isnan(peer_ratio_at_clock(2, -1, 1500, NAN)));
}

static void names_convert_to_text_and_back(void **state)
{
	struct peers p = { .n = 0 };
	char text[PEERS_TEXT_SIZE];
	(void)state;
	peers_parse("cudnn@cuda naive  hopper.v1", &p);
	assert_int_equal(p.n, 3);
	assert_string_equal(p.of[0].provider, "cudnn");
	assert_int_equal(p.of[0].device, DEVICE_CUDA);
	assert_string_equal(p.of[2].provider, "hopper.v1");
	peers_write(&p, text);
	assert_string_equal(text, "cudnn@cuda naive hopper.v1");
	assert_int_equal(peers_next(&p, 0, DEVICE_CPU), 1);
	assert_int_equal(peers_next(&p, 0, DEVICE_CUDA), 0);
	assert_int_equal(peers_next(&p, 3, DEVICE_CUDA), 3);
	assert_int_equal(peers_find(&p, "cudnn"), 0);
	assert_int_equal(peers_find(&p, "naive"), 1);
	assert_int_equal(peers_find(&p, "hopper.v1"), 2);
	assert_int_equal(peers_find(&p, "hopper"), -1);
	peers_parse("cudnn@gpu a/b", &p);
	assert_int_equal(p.n, 0);
	peers_write(&p, text);
	assert_string_equal(text, "");
	assert_false(peers_is_provider(""));
	assert_false(peers_is_provider("a b"));
}

static void all_that_fit_are_written(void **state)
{
	struct peers p = { .n = PEERS_MAX };
	struct peers back;
	char text[PEERS_TEXT_SIZE];
	(void)state;
	for (int i = 0; i < PEERS_MAX; i++) {
		memset(p.of[i].provider, 'a' + i, sizeof p.of[i].provider - 1);
		p.of[i].provider[sizeof p.of[i].provider - 1] = 0;
		p.of[i].device = DEVICE_CUDA;
	}
	peers_write(&p, text);
	peers_parse(text, &back);
	assert_int_equal(back.n, PEERS_MAX);
	assert_string_equal(back.of[7].provider, p.of[7].provider);
}

static void lists_of_a_file(const char *text, const char *peers, const char *mistake)
{
	struct peers p = { .n = 1, .of = { { "kept", DEVICE_ANY } } };
	char line[PEERS_TEXT_SIZE];
	struct yaml *y = yaml_new(text, strlen(text), "f");
	peers_read(y, yaml_get(y, yaml_root(y), "peers"), &p);
	if (*mistake)
		assert_non_null(strstr(yaml_mistake_text(y), mistake));
	else
		assert_int_equal(yaml_mistakes(y), 0);
	peers_write(&p, line);
	assert_string_equal(line, peers);
	yaml_free(y);
}

static void in_a_file(void **state)
{
	(void)state;
	lists_of_a_file("peers: [cudnn@cuda, naive]\n", "cudnn@cuda naive", "");
	lists_of_a_file("peers: cudnn\n", "cudnn", "");
	lists_of_a_file("peers: []\n", "", "");
	lists_of_a_file("other: 1\n", "kept", "");
	lists_of_a_file("peers: [\"a b\"]\n", "", "f:1:9: peers[0]: is not a provider");
	lists_of_a_file("peers: [a@]\n", "", "names no kind of device after the @");
	lists_of_a_file("peers: [a, a@cpu]\n", "a", "f:1:12: peers[1]: is named twice");
	lists_of_a_file("peers: [a,b,c,d,e,f,g,h,i]\n", "a b c d e f g h", "is one too many");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(side_by_side),
		cmocka_unit_test(over_a_base),
		cmocka_unit_test(from_other_times),
		cmocka_unit_test(at_another_clock),
		cmocka_unit_test(names_convert_to_text_and_back),
		cmocka_unit_test(all_that_fit_are_written),
		cmocka_unit_test(in_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
