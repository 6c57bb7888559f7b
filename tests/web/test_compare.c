/* /compare: any two commits, by branch or hash, lead to their comparison, or to the button that requests one. */
#include "site_fill.h"

static struct answer request(struct run *run, const char *base, const char *target)
{
	char path[400];
	snprintf(path, sizeof path, "/compare?repo=kernels&base=%s&target=%s", base, target);
	return get(run, path);
}

static void two_that_were_compared_lead_to_their_comparison(void **state)
{
	struct run *run = *state;
	char digits[13];
	fill(run);
	struct answer a = request(run, "main", "team/a%2Bb"); /* unescaped, as users read it */
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/comparisons/2");
	answer_free(&a);
	snprintf(digits, sizeof digits, "%s", fixture_sha(0xb2));
	a = request(run, "main", digits);
	assert_int_equal(a.status, 303);
	assert_string_equal(header_of(&a, "Location"), "/comparisons/2");
	answer_free(&a);
}

static void two_that_were_not_can_be_measured(void **state)
{
	struct run *run = *state;
	char wanted[200];
	fill(run);
	struct answer a = request(run, "team/a%2Bb", "main"); /* the opposite direction is another comparison */
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "These two were not compared yet"));
	assert_non_null(strstr(a.body, "<form method=post action=/api/v1/jobs>"));
	assert_non_null(strstr(a.body, "name=quick> quick: fewer runs"));
	assert_non_null(strstr(a.body, "name=cells"));
	snprintf(wanted, sizeof wanted, "name=base value=\"%s\"", fixture_sha(0xb2));
	assert_non_null(strstr(a.body, wanted));
	snprintf(wanted, sizeof wanted, "name=target value=\"%s\"", fixture_sha(0xb1));
	assert_non_null(strstr(a.body, wanted));
	assert_non_null(strstr(a.body, "<option value=\"team/a+b\">a faster tile</option>"));
	assert_non_null(strstr(a.body, "Cost: not known, no comparison of this repository has used a device yet; 0 jobs ahead."));
	answer_free(&a);
	ok(db_script(run->f->db, "UPDATE comparison SET gpu_s = 50 + 10 * id", &err));
	fixture_job(run->f, "main", 1, 0xe1, 1000);
	a = request(run, "team/a%2Bb", "main");
	assert_non_null(strstr(
		a.body, "Cost: about 1\u00a0min 5\u00a0s of a device, the median of the last 2 comparisons here; 1 job ahead."));
	answer_free(&a);
}

static void unknown_commits_are_reported(void **state)
{
	struct run *run = *state;
	fill(run);
	struct answer a = request(run, "nobody%3Cb%3E", "main");
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "Base: no branch or commit matches <b>nobody&lt;b&gt;</b>"));
	assert_null(strstr(a.body, "Target: "));
	assert_null(strstr(a.body, "id=measure"));
	answer_free(&a);
	a = get(run, "/compare"); /* only the form, of the first repository */
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "<option value=\"kernels\" selected>"));
	assert_null(strstr(a.body, "banner"));
	answer_free(&a);
	a = get(run, "/compare?repo=nobody");
	assert_int_equal(a.status, 404);
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_that_were_compared_lead_to_their_comparison, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(two_that_were_not_can_be_measured, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(unknown_commits_are_reported, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
