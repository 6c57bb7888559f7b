/* The display of causes: on the opened cell and on the alert, with counters and without, and while the cause is unknown. */
#include "site_run.h"

#include "db/db.h"
#include "profile_put.h"
#include "web/page/internal.h"

#define CELL "attention/dense/causal/s8192/hq64/hk8/d128/bf16/backward"

static int64_t comparison(struct fixture *f)
{
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 0xa1, 0xb1, VERDICT_REGRESSION, 6000);
	fixture_cell(f, id, 0, CELL, 0.031, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	ok(db_script(f->db, "UPDATE device SET info = json_set(info, '$.peak_tflops', 989, '$.peak_gb_s', 4800, '$.cores', 132)",
		&err));
	return id;
}

static int64_t alert_of(struct fixture *f, int64_t comparison)
{
	struct store_alert alert = {
		.repo = f->repo, .branch = "main", .comparison = comparison, .cells_json = "[]", .worst_pct = -3
	};
	bool is_new;

	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xb1));
	ok(store_alert_open(f->db, &alert, 7000, &is_new, &err));
	return alert.id;
}

static struct profile_case *case_of(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "tests/data/profiles/%s.jsonl", name);
	return profile_case_new(path);
}

static void put(struct fixture *f, int64_t comparison, int64_t alert, struct profile_case *c)
{
	profile_cell_put(f, put_profile_request(f, comparison, alert, "done", ""), 0, CELL, c, 0, 0);
	profile_case_free(c);
}

static void shows(const char *page, const char *text)
{
	if (!strstr(page, text))
		fail_msg("the page lacks '%s'", text);
}

static void hides(const char *page, const char *text)
{
	if (strstr(page, text))
		fail_msg("the page has '%s'", text);
}

/* The table under a heading, up to its end. Own: the caller's to free. */
static char *table(const char *page, const char *heading)
{
	const char *start = strstr(page, heading), *end = start ? strstr(start, "</table>") : NULL;

	if (!end)
		fail_msg("there is no table under '%s'", heading);
	return strndup(start, (size_t)(end - start));
}

static void everything_of_a_profile_is_on_the_opened_cell(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f);
	char *part;

	put(run->f, id, 0, case_of("02-register-cap"));
	struct answer a = get(run, "/comparisons/1");

	assert_int_equal(a.status, 200);
	shows(a.body, "<h3>Why</h3>");
	shows(a.body,
		"<b>Why:</b> v2_backward_kernel&lt;128, 128, 1&gt; executes 11.9 times the loads and stores of spilled registers");
	part = table(a.body, ">How sure<");
	shows(part,
		"with 216 registers instead of 240: 0.36 of the 0.36 ms that a call lost</span></th><td class=n>0.36 <span class=dim>of 0.36</span></td>");
	shows(part, "<td>measured</td>");
	shows(part, "<td>consequence</td>");
	free(part);
	part = table(a.body, "Kernels of a call");
	shows(part, "<code>cast_kernel&lt;__nv_bfloat16&gt;</code> <span class=dim>cast</span>");
	shows(part, "240\u00a0\u2192\u00a0<b>216</b>");
	shows(part, "24\u00a0\u2192\u00a0<b>184</b>");
	shows(part, "<td>changed</td>");
	shows(part, "<td>same</td>");
	free(part);
	part = table(a.body, "Memory traffic");
	shows(part, "<td>base</td>");
	shows(part, "<td>target</td>");
	shows(part, "<th scope=row>all</th>");
	shows(part, "48.6 GB"); /* L2 of the base's backward kernel */
	free(part);
	part = table(a.body, "Hit rates and use");
	shows(part, "<td class=\"n x\">97.3</td>");
	free(part);
	part = table(a.body, "What warps wait for");
	shows(part, "long_scoreboard");
	shows(part, "<svg class=wait");
	free(part);
	shows(a.body, "<svg class=\"chart roofline\"");
	shows(a.body, ">DRAM, 4.8 TB/s</text>");
	shows(a.body, "<path class=arrow d=\"M");
	shows(a.body, "peak 989 TFLOP/s");
	shows(a.body, "<code>LDL</code> 6 \u2192 46");
	shows(a.body, "<summary>All values as they were read</summary>");
	shows(a.body, "smsp__inst_executed_op_local_ld.sum 2900000 2900000 4.4e+07 4.4e+07");
	hides(a.body, "Counters were denied");
	answer_free(&a);
}

static void a_configuration_is_shown_key_by_key(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f);

	put(run->f, id, 0, case_of("06-other-parts"));
	struct answer a = get(run, "/comparisons/1");

	shows(a.body,
		"<b>Why:</b> PARTS 2 -&gt; 1: 0.217 of the 0.22 ms that a call lost; with the base's configuration the slowdown is gone; v2_backward_kernel");
	shows(a.body, "<th scope=row><code>PARTS</code></th><td><code>2</code></td><td><code>1</code></td>");
	hides(a.body, "<code>STAGES</code>");
	shows(a.body, "The target in the base\u2019s configuration takes 8.87");
	answer_free(&a);
}

static void ptxas_differences_are_shown(void **state)
{
	static const struct profile_diagnostic said[] = {
		{ 0, "new", "serial", "C7512", "v2_backward_kernel<128, 128, 1>",
			"wgmma is serialised because there are too few registers" },
		{ 1, "new", "serial", "C7512", "v2_backward_kernel<64, 64, 1>",
			"wgmma is serialised because there are too few registers" },
		{ 2, "more", "setmaxnreg", "C7508", "", "setmaxnreg is ignored; <why>" },
	};
	struct run *run = *state;
	int64_t id = comparison(run->f);

	put(run->f, id, 0, case_of("02-register-cap"));
	for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
		ok(store_profile_diagnostic_put(run->f->db, 1, &said[i], &err));
	struct answer a = get(run, "/comparisons/1");

	shows(a.body,
		"<li>new: (C7512) wgmma is serialised because there are too few registers in <code>v2_backward_kernel&lt;128, 128, 1&gt;</code></li>");
	shows(a.body, "<li>more: (C7508) setmaxnreg is ignored; &lt;why&gt;</li>");
	shows(a.body, "1 more about kernels that this cell does not run");
	hides(a.body, "64, 64, 1");
	answer_free(&a);
}

static void without_counters_the_page_has_the_reason_and_the_remedy(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f);
	struct profile_case *c = case_of("08-barrier-a-step");

	c->e.is_counted = false;
	for (size_t i = 0; i < c->n_lines; i++) {
		if (c->line[i].t == MSG_KERNEL)
			c->line[i].u.kernel.n_values = 0;
		if (c->line[i].t != MSG_PROFILE)
			continue;
		c->line[i].u.profile.path = EVIDENCE_CODE;
		snprintf(c->line[i].u.profile.why, sizeof c->line[i].u.profile.why,
			"the driver keeps <counters> to administrators");
	}
	for (size_t i = 0; i < c->e.n_kernels; i++)
		c->kernel[i].n_values = 0;
	put(run->f, id, 0, c);
	struct answer a = get(run, "/comparisons/1");

	shows(a.body, "Counters were denied:</b> the driver keeps &lt;counters&gt; to administrators");
	shows(a.body, "Remedy:");
	shows(a.body, "flopwatch doctor");
	shows(a.body, "<th scope=row>barrier<span class=why>");
	shows(a.body, " ms slower</span></th><td class=n>\u2013</td>");
	hides(a.body, "Memory traffic");
	hides(a.body, "Roofline");
	hides(a.body, "All values");
	answer_free(&a);
	ok(db_script(run->f->db, "UPDATE profile_cell SET why = 'it is a processor'; UPDATE job SET ended_at = 10", &err));
	a = get(run, "/comparisons/1");
	shows(a.body, "No counters were read:</b> it is a processor.");
	hides(a.body, "NVreg_");
	answer_free(&a);
}

static void peers_are_listed_below_both_sides(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	int64_t id = comparison(f);

	put(f, id, 0, case_of("03-swizzle-removed"));
	int64_t beside = fixture_comparison(f, "main", 0xb1, 0xb1, VERDICT_REGRESSION, 6500);
	put(f, beside, 0, case_of("04-tile-order"));
	struct screen_facts facts = { .n_peers = 1 };
	struct explanation ours, theirs;
	struct buf out;

	assert_int_equal(explanation_read(f->db, &(struct explanation_source){ .comparison = id, .key = CELL }, &ours, &err), 1);
	assert_int_equal(
		explanation_read(f->db, &(struct explanation_source){ .comparison = beside, .key = CELL }, &theirs, &err), 1);
	facts.peer[0].provider = "cudnn";
	facts.peer[0].explanation = &theirs;
	buf_init(&out, 1 << 20);
	traffic_draw(&out, &ours, &facts);
	shows(out.data, "<td>peer, cudnn</td><th scope=row class=wrap><code>v2_forward_kernel&lt;128&gt;</code></th>");
	assert_true(strstr(out.data, "<td>target</td>") < strstr(out.data, "<td>peer, cudnn</td>"));
	buf_fini(&out);
	explanation_fini(&ours);
	explanation_fini(&theirs);
}

static void an_alert_has_the_sentence_and_the_screen(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f), alert = alert_of(run->f, id);
	struct answer a = get(run, "/alerts/1");

	hides(a.body, "Why:");
	answer_free(&a);
	put(run->f, id, alert, case_of("03-swizzle-removed"));
	a = get(run, "/alerts/1");
	shows(a.body, "<summary>Why, in " CELL "</summary>");
	shows(a.body, "bank conflicts in shared memory (202 M instead of 84");
	shows(a.body, "<svg class=\"chart roofline\"");
	answer_free(&a);
	a = get(run, "/alerts"); /* the list has only the sentence */
	shows(a.body, "<b>Why:</b> v2_backward_kernel");
	hides(a.body, "Memory traffic");
	answer_free(&a);
}

static void warp_stalls_are_next_to_the_code(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f);
	struct profile_case *c = case_of("08-barrier-a-step");

	for (size_t i = 0; i < c->n_lines; i++) {
		struct msg *m = &c->line[i];

		if (m->t == MSG_CODE)
			m->u.code->hot[1] = (struct evidence_hot){ .samples = 1000,
				.n = 2,
				.line = { { { 0xa0, 423, "barrier", 401 }, "BAR.SYNC <script>" },
					{ { 0x10, 7, "selected", 7 }, "" } } };
		if (m->t == MSG_PROFILE)
			snprintf(m->u.profile.stalls_why, sizeof m->u.profile.stalls_why, "the base <b> died");
	}
	put(run->f, id, 0, c);
	struct answer a = get(run, "/comparisons/1");

	shows(a.body, "<td>target</td><th scope=row><code>00a0</code></th><td class=wrap><code>BAR.SYNC "
		      "&lt;script&gt;</code></td><td class=n>42.3</td><td>barrier <span class=dim>95 %</span></td>");
	shows(a.body, "<code>0010</code></th><td class=wrap><code>\u2013</code></td><td class=n>0.7</td><td>selected");
	shows(a.body, "warps wait is not known: the base &lt;b&gt; died.");
	hides(a.body, "<td>base</td><th scope=row><code>");
	answer_free(&a);
}

static void a_profile_without_a_result_has_its_state(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	int64_t id = comparison(f), alert = alert_of(f, id);
	struct answer a;

	put_profile_request(f, id, alert, "measuring", "");
	a = get(run, "/comparisons/1");
	shows(a.body, "<b>Why:</b> not known yet: the profile is measuring. <a href=\"/jobs/");
	answer_free(&a);
	a = get(run, "/alerts/1");
	shows(a.body, "not known yet: the profile is measuring.");
	answer_free(&a);
	ok(db_script(
		f->db, "UPDATE job SET state = 'failed', state_why = 'its worker <went> away' WHERE kind = 'profile'", &err));
	a = get(run, "/comparisons/1");
	shows(a.body, "<b>Why:</b> not known: the profile ended without a result: its worker &lt;went&gt; away.");
	answer_free(&a);
	a = get(run, "/alerts/1");
	shows(a.body, "<b>Why:</b> not known: the profile ended without a result: its worker &lt;went&gt; away.");
	answer_free(&a);
}

/* Below any regression of a program, on every page and in every format. */
static void every_page_shows_only_times_of_a_program(void **state)
{
	static const char *const where[] = { "/comparisons/1", "/alerts/1", "/alerts", "/api/v1/comparisons/1.md",
		"/api/v1/profiles/1", "/api/v1/profiles/1.md", "/api/v1/alerts/1" };
	struct run *run = *state;
	struct fixture *f = run->f;
	int64_t id = comparison(f), profile = put_profile_request(f, id, alert_of(f, id), "done", "");
	struct store_profile_cell cell = { .profile = profile,
		.key = CELL,
		.state = STORE_PROFILE_UNSUPPORTED,
		.why = "A program shows only its times: profiles need a module",
		.base_ms = 1,
		.target_ms = 4 };

	ok(store_profile_cell_put(f->db, &cell, &err));
	for (size_t i = 0; i < sizeof where / sizeof where[0]; i++) {
		struct answer a = get(run, where[i]);

		assert_int_equal(a.status, 200);
		shows(a.body, "not known. A program shows only its times: profiles need a module");
		hides(a.body, "do not differ");
		answer_free(&a);
	}
}

/* The suite names the cell with the smallest regression first. */
static void the_cell_that_lost_most_comes_first(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	int64_t id = comparison(f), profile = put_profile_request(f, id, alert_of(f, id), "done", "");
	struct profile_case *little = case_of("06-other-parts"), *much = case_of("02-register-cap");

	profile_cell_put(f, profile, 0, "attention/little", little, 1, 1.02);
	profile_cell_put(f, profile, 1, CELL, much, 1, 1.5);
	profile_case_free(little);
	profile_case_free(much);
	struct answer a = get(run, "/alerts/1");
	const char *first = strstr(a.body, "<summary>Why, in " CELL),
		   *second = strstr(a.body, "<summary>Why, in attention/little");

	assert_true(first && second && first < second);
	answer_free(&a);
	a = get(run, "/api/v1/profiles/1");
	first = strstr(a.body, "\"cell\":\"" CELL "\",\"state\"");
	second = strstr(a.body, "\"cell\":\"attention/little\",\"state\":\"done\",\"why\"");
	assert_true(first && second && first < second);
	answer_free(&a);
}

static void text_of_a_branch_is_escaped(void **state)
{
	struct run *run = *state;
	int64_t id = comparison(run->f);
	struct profile_case *c = case_of("06-other-parts");

	for (size_t i = 0; i < c->n_lines; i++) {
		struct msg *m = &c->line[i];

		if (m->t == MSG_KERNEL)
			snprintf(m->u.kernel.kernel, sizeof m->u.kernel.kernel, "\"><script>k</script>");
		if (m->t == MSG_CODE)
			snprintf(m->u.code->hunks, sizeof m->u.code->hunks, "</pre><script>h</script>");
		if (m->t == MSG_PROFILE)
			snprintf(m->u.profile.target_config, sizeof m->u.profile.target_config, "<script>=<b> PARTS=</code>");
	}
	put(run->f, id, 0, c);
	struct answer a = get(run, "/comparisons/1");

	shows(a.body, "&lt;/pre&gt;&lt;script&gt;h&lt;/script&gt;");
	hides(a.body, "<script>k");
	hides(a.body, "<script>h");
	shows(a.body, "<code>&lt;script&gt;</code></th><td><code>none</code></td><td><code>&lt;b&gt;</code></td>");
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(everything_of_a_profile_is_on_the_opened_cell, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_configuration_is_shown_key_by_key, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(ptxas_differences_are_shown, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(without_counters_the_page_has_the_reason_and_the_remedy, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(peers_are_listed_below_both_sides, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(an_alert_has_the_sentence_and_the_screen, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_profile_without_a_result_has_its_state, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(every_page_shows_only_times_of_a_program, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(the_cell_that_lost_most_comes_first, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(warp_stalls_are_next_to_the_code, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(text_of_a_branch_is_escaped, run_setup, run_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
