/* The comparison page's table of kernels: how kernels of both sides are paired, and whether their compiled code is the same. */
#include "site_run.h"

#define CELL "attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward"

static void write_kernel(struct buf *out, const char *kernel, const char *code)
{
	buf_printf(out,
		"%s{\"phase\":\"run\",\"kernel\":\"%s\",\"grid\":[132,1,1],\"block\":[384,1,1],\"registers\":168,\"local_bytes\":"
		"0,"
		"\"shared_bytes\":0,\"code_sha256\":%s%s%s}",
		out->data[out->len - 1] == '[' ? "" : ",", kernel, code ? "\"" : "", code ? code : "null", code ? "\"" : "");
}

/* The kernels of both sides: one more in the target, one name twice, equal code, changed code, unknown code. */
static void put_kernels(struct fixture *f, int64_t cell)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	buf_puts(&text, "{\"base\":{\"provider\":\"hopper\",\"nodes\":[");
	write_kernel(&text, "lists_kernel", fixture_sha(0x11));
	write_kernel(&text, "step_kernel", fixture_sha(0x12));
	write_kernel(&text, "step_kernel", fixture_sha(0x13));
	write_kernel(&text, "library_kernel", NULL);
	write_kernel(&text, "gone_kernel", fixture_sha(0x16));
	buf_puts(&text, "]},\"target\":{\"provider\":\"hopper\",\"nodes\":[");
	write_kernel(&text, "added_kernel", fixture_sha(0x14));
	write_kernel(&text, "lists_kernel", fixture_sha(0x11));
	write_kernel(&text, "step_kernel", fixture_sha(0x12));
	write_kernel(&text, "step_kernel", fixture_sha(0x15));
	write_kernel(&text, "library_kernel", NULL);
	buf_puts(&text, "]}}");
	assert_false(text.failed);
	ok(store_artifact(f->db, "cell", cell, "nodes", text.data, text.len, &err));
	buf_fini(&text);
}

/* The last column of the nth row of a kernel, without its tags. */
static void expect_code(const char *page, const char *kernel, int nth, const char *wanted)
{
	char start[100];
	snprintf(start, sizeof start, "<code>%s</code>", kernel);
	const char *at = page;
	while ((at = strstr(at, start)) && nth-- > 0)
		at++;
	const char *end = at ? strstr(at, "</tr>") : NULL, *last = end;
	while (last && last > at && strncmp(last, "<td", 3) != 0)
		last--;
	if (!last || last == at)
		fail_msg("no row of %s", kernel);
	char cell[300] = "";
	size_t n = 0;
	bool tag = false;
	for (; last < end && n + 1 < sizeof cell; last++) {
		tag = tag || *last == '<';
		if (!tag)
			cell[n++] = *last;
		tag = tag && *last != '>';
	}
	cell[n] = 0;
	assert_string_equal(cell, wanted);
}

static void kernels_are_compared_one_by_one(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 0xa1, 0xb1, VERDICT_REGRESSION, 6000);
	put_kernels(f, fixture_cell(f, id, 0, CELL, 0.031, VERDICT_REGRESSION));
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/comparisons/1");
	assert_int_equal(a.status, 200);
	expect_code(a.body, "added_kernel", 0, "\u2013");
	assert_non_null(strstr(a.body, "not in the base"));
	expect_code(a.body, "gone_kernel", 0, "\u2013");
	assert_non_null(strstr(a.body, "not in the target"));
	expect_code(a.body, "lists_kernel", 0, "yes");
	expect_code(a.body, "step_kernel", 0, "yes");
	expect_code(a.body, "step_kernel", 1, "no");
	expect_code(a.body, "library_kernel", 0, "not known");
	answer_free(&a);
}

/* One value for one change: the quotient of the medians is shown with it only with an explanation. */
static void a_change_has_its_explanation(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 0xa1, 0xb1, VERDICT_REGRESSION, 6000);
	fixture_cell(f, id, 0, CELL, 0.031, VERDICT_REGRESSION);
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/comparisons/1");
	const char *times = strstr(a.body, "<h3>Throughput</h3>"), *end = times ? strstr(times, "</table>") : NULL;
	assert_non_null(end);
	int judged = 0;
	for (const char *at = times; (at = strstr(at, "3.05")) && at < end; at++)
		judged++;
	assert_int_equal(judged, 2); /* of the time and of the useful throughput */
	const char *quotient = strstr(times, "3.01");
	assert_true(quotient && quotient > end);
	assert_non_null(strstr(end,
		"The change is the trimmed mean of paired ratios, each call with the next call of the other side; the quotient of the two medians is "));
	answer_free(&a);
	a = get(run, "/api/v1/comparisons/1.md");
	assert_non_null(strstr(a.body, "Changes are trimmed means of paired ratios, not quotients of these medians."));
	answer_free(&a);
}

/* Eight regressions and two unchanged cells: the comment has the five worst, and fewer than 25 lines. */
static void a_comment_is_short(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	char key[80], line[100];
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "team/tiles", 0xa1, 0xb1, VERDICT_REGRESSION, 6000);
	for (int i = 0; i < 10; i++) {
		snprintf(key, sizeof key, "attention/dense/causal/s%d/hq64/hk8/d128/bf16/forward", 8 * (i + 1));
		fixture_cell(f, id, i, key, i < 8 ? 0.02 + 0.01 * i : 0.001, i < 8 ? VERDICT_REGRESSION : VERDICT_UNCHANGED);
	}
	ok(store_comparison_verdict(f->db, id, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/api/v1/comparisons/1.md");
	assert_int_equal(a.status, 200);
	static const char first[] = "**flopwatch: regression**: team/tiles is up to 8.6 % slower in 8 of 10 cells\n";
	assert_int_equal(strncmp(a.body, first, strlen(first)), 0);
	const char *last = a.body;
	for (int i = 7; i >= 3; i--) {
		snprintf(line, sizeof line, "\n| `attention/dense/causal/s%d/", 8 * (i + 1));
		last = strstr(last, line);
		assert_non_null(last);
	}
	assert_int_equal(count(a.body, "\n| `"), 5);
	assert_non_null(strstr(a.body, "\n3 more cells with a finding, 2 unchanged or identical. "));
	assert_non_null(strstr(a.body, "\nHow sure: seen in one set of runs: at least 8.33 % slower, threshold 1.5 %"));
	assert_non_null(strstr(a.body, "\nWhat to do: push a fix; `flopwatch reproduce C1`"));
	assert_non_null(strstr(a.body, "\nMore: [C1](http://"));
	assert_true(count(a.body, "\n") < 25);
	answer_free(&a);
	a = get(run, "/comparisons/1");
	assert_non_null(strstr(a.body, "<h1>team/tiles is up to 8.6 % slower in 8 of 10 cells</h1>"));
	answer_free(&a);
}

static int64_t insert_cell(struct fixture *f, int64_t comparison, int n, const char *key, const char *mask, int block, int seqlen)
{
	struct store_cell c = { .comparison = comparison,
		.n = n,
		.group = "dense",
		.direction = "forward",
		.size = seqlen,
		.flops = seqlen * (block ? 1e8 : 1e9),
		.threshold_pct = 1.5,
		.runs = 4,
		.base_median_ms = block ? 0.5 : 1,
		.target_median_ms = block ? 0.4 : 1,
		.verdict = VERDICT_UNCHANGED };
	snprintf(c.key, sizeof c.key, "%s", key);
	snprintf(c.title, sizeof c.title, block ? "%s, keep 0.1, block 64" : "%s", mask);
	snprintf(c.baseline, sizeof c.baseline, "%s", block ? "d/8192" : "");
	ok(store_cell_insert(f->db, &c, &err));
	return c.id;
}

/* An opened cell shows what its mask excludes, which claim is impossible, and the effect of sparsity and length. */
static void masks_are_reported(void **state)
{
	static const struct {
		const char *name;
		double value;
	} metrics[] = { { "target.mask_blocks", 800 }, { "target.mask_kept", 80 }, { "target.blocks_kept", 90 },
		{ "target.tiles_total", 56320 }, { "target.tiles_skipped", 51200 }, { "target.tiles_partial", 1690 },
		{ "base.blocks_kept", 80 }, { "target.peak_bytes", 3.5e6 }, { "target.mask_pairs", 1e6 },
		{ "target.mask_pairs_kept", 1e5 }, { "target.mask_tiles", 400 }, { "target.mask_tiles_masked", 360 },
		{ "target.mask_rows", 1e4 }, { "target.mask_rows_empty", 0 }, { "target.mask_common_tiles", 0 },
		{ "target.mask_common_masked", 0 } };
	struct run *run = *state;
	struct fixture *f = run->f;
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "main", 0xa1, 0xb1, VERDICT_UNCHANGED, 6000);
	insert_cell(f, id, 0, "d/512", "full", 0, 512);
	insert_cell(f, id, 1, "d/8192", "full", 0, 8192);
	int64_t cell = insert_cell(f, id, 2, "s/8192", "banded", 64, 8192);
	for (size_t i = 0; i < sizeof metrics / sizeof metrics[0]; i++)
		ok(store_metric(f->db, cell, metrics[i].name, "count", metrics[i].value, &err));
	ok(store_comparison_verdict(f->db, id, VERDICT_UNCHANGED, &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/comparisons/1?open=2");
	assert_int_equal(a.status, 200);
	assert_non_null(
		strstr(a.body, "Target: density 0.1, tiles of 64x64 fully masked 360/400 (90 %), tiles skipped 51200/56320, "
			       "partial 3 %; skipping on."));
	assert_non_null(strstr(a.body, "Times as fast as dense: expected 2 to 4: met."));
	assert_non_null(strstr(a.body, "<b>Target claims 90 active blocks, the mask has 80.</b>"));
	assert_non_null(strstr(a.body, "Base: density 0.1, tiles of 64x64 fully masked 360/400 (90 %)."));
	assert_null(strstr(a.body, "<b>Base"));
	assert_non_null(strstr(a.body, "banded, keep 0.1, block 64"));
	assert_non_null(strstr(a.body, ", forward</th><td class=n>2.00</td><td class=n>2.50</td><td class=n>10.00</td>"));
	assert_non_null(strstr(a.body, "<td class=n>8192 / 512</td><td class=n>16.00</td><td class=n>16.00</td>"));
	assert_non_null(strstr(a.body, "tensors and workspace, as allocated"));
	answer_free(&a);
}

static void metric(struct fixture *f, int64_t cell, const char *name, double value)
{
	ok(store_metric(f->db, cell, name, "ms", value, &err));
}

/* A user who pushed a change of the manifest alone reads which of its settings apply. */
static void a_push_of_the_manifest_alone_is_explained(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	static const char note[] =
		"<p>Settings: only .flopwatch.yaml differs: its build, command and reader apply to this commit";
	ok(db_begin(f->db, &err));
	int64_t id[2];
	for (unsigned i = 0; i < 2; i++) {
		id[i] = fixture_comparison(f, "team/tiles", 0xa1, 0xb1 + i, VERDICT_UNCHANGED, 6000 + i);
		fixture_cell(f, id[i], 0, "attention/dense/causal/s64/hq64/hk8/d128/bf16/forward", 0, VERDICT_UNCHANGED);
		ok(store_changed_files_put(f->db, f->repo, fixture_sha(0xa1), fixture_sha(0xb1 + i),
			i ? "[\".flopwatch.yaml\",\"bench.c\"]" : "[\".flopwatch.yaml\"]", i ? 2 : 1, &err));
		ok(body_store(f->db, id[i], &err));
	}
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/comparisons/1");
	assert_non_null(strstr(a.body, note));
	answer_free(&a);
	a = get(run, "/comparisons/2");
	assert_null(strstr(a.body, "Settings: only"));
	answer_free(&a);
}

/* A gain of a branch that leaves the upstream one: why, and what to do. */
static void a_gain_has_a_cause_and_a_next_step(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "team/tiles", 0xa1, 0xb1, VERDICT_IMPROVEMENT, 6000);
	int64_t cell =
		fixture_cell(f, id, 0, "attention/dense/causal/s64/hq64/hk8/d128/bf16/forward", -0.05, VERDICT_IMPROVEMENT);
	metric(f, cell, "phase.run.base_ms", 1.6);
	metric(f, cell, "phase.run.target_ms", 1.52);
	metric(f, cell, "phase.run.change_pct", 5);
	metric(f, cell, "phase.run.ci_low_pct", 4.8);
	metric(f, cell, "phase.run.ci_high_pct", 5.2);
	ok(store_comparison_verdict(f->db, id, VERDICT_IMPROVEMENT, &err));
	ok(db_script(f->db, "UPDATE comparison SET base_how = 'merge-base'", &err));
	ok(body_store(f->db, id, &err));
	ok(db_commit(f->db, &err));
	struct answer a = get(run, "/comparisons/1");
	assert_non_null(strstr(a.body, "<b>Why:</b> phase <b>run</b> 1.6000 \u2192 1.5200 ms, of the call\u2019s "));
	assert_non_null(strstr(a.body, "<b>What to do:</b> nothing to fix here.</p>"));
	assert_null(strstr(a.body, "Answer A"));
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels_are_compared_one_by_one, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(masks_are_reported, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_change_has_its_explanation, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_comment_is_short, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_push_of_the_manifest_alone_is_explained, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_gain_has_a_cause_and_a_next_step, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
