/* The comparison page's table of kernels: which stand beside which, and whether their compiled code is the same. */
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

/* What both sides run: a kernel more in the target, twice the same name, code that is the same, another, not known. */
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

/* One figure for one change: the quotient of the medians stands beside it only with what it is. */
static void a_change_explains_itself(void **state)
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
	assert_non_null(strstr(end, "The change is the middle of paired ratios, each call beside its neighbour of the other "
				    "side; the quotient of the "
				    "two medians reads "));
	answer_free(&a);
	a = get(run, "/api/v1/comparisons/1.md");
	assert_non_null(strstr(a.body, "Changes are the middle of paired ratios, not the quotient of the medians beside them."));
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kernels_are_compared_one_by_one, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(a_change_explains_itself, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
