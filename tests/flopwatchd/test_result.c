/* Messages of a worker about a job: stored, replaced, or rejected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flopwatchd/job/job.h"

static struct result *requested(void)
{
	struct plan p;
	plan_init(&p);
	p.request.n_sides = 2;
	p.request.kind = JOBKIND_COMPARE;
	p.request.side[0].role = ROLE_BASE;
	p.request.side[1].role = ROLE_TARGET;
	p.request.n_cells = 3;
	p.request.cell = calloc(3, sizeof *p.request.cell);
	assert_non_null(p.request.cell);
	struct result *r = result_new(&p);
	assert_non_null(r);
	assert_null(p.request.cell);
	plan_fini(&p);
	return r;
}

static int add(struct result *r, const char *line, const char *diagnostic)
{
	struct msg m;
	struct fw_err err = { 0 };
	if (protocol_parse(line, strlen(line), &m, &err) != 0)
		fail_msg("%s: %s", line, err.text);
	int got = result_add(r, &m, &err);
	msg_fini(&m);
	if (diagnostic)
		assert_string_equal(err.text, diagnostic);
	else if (got != 0)
		fail_msg("%s: %s", line, err.text);
	return got;
}

#define INPUTS "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define RUN    "{\"t\":\"run\",\"run\":1,\"set\":1,\"seed\":\"7\",\"cells\":[0,2]}"
#define CELL(run, cell, ms, redo)                                                                                                \
	"{\"t\":\"cell\",\"run\":" run ",\"set\":1,\"cell\":" cell ",\"series\":\"device\",\"phase\":\"\","                      \
	"\"input_sha256\":\"" INPUTS "\",\"order\":\"ABBA\",\"n\":2,\"ms\":{\"base\":[1,2],\"target\":[" ms                      \
	"]},\"device_check\":{},\"redo\":" redo "}"

static void test_rows_of_a_program_become_cells(void **state)
{
	(void)state;
	struct result *r = requested();
	add(r, "{\"t\":\"found\",\"cells\":[{\"key\":\"a\"}]}", "found names cells for a job that has cells already");
	result_free(r);
	r = requested();
	r->plan.request.n_cells = 0;
	r->plan.request.side[0].benchmark = (struct benchmark){ .name = "sums", .threshold_pct = 4 };
	add(r, "{\"t\":\"found\",\"cells\":[{\"key\":\"a\",\"flops\":2e9},{\"key\":\"b\"}]}", NULL);
	assert_int_equal(r->plan.request.n_cells, 2);
	assert_string_equal(r->plan.request.cell[1].key, "b");
	assert_true(case_flops(&r->plan.request.cell[0]) == 2e9 &&
		    case_flops(&r->plan.request.cell[1]) != case_flops(&r->plan.request.cell[1]));
	assert_true(r->plan.request.cell[0].threshold_pct == 4);
	add(r, "{\"t\":\"found\",\"cells\":[{\"key\":\"c\"}]}", "found names cells for a job that has cells already");
	result_free(r);
	r = requested(); /* no build: one row reports it */
	r->plan.request.n_cells = 0;
	r->plan.request.side[0].benchmark = (struct benchmark){ .name = "sums", .threshold_pct = 4 };
	result_end(r);
	assert_int_equal(r->plan.request.n_cells, 1);
	assert_string_equal(r->plan.request.cell[0].key, "sums");
	result_free(r);
}

static void test_messages_are_stored(void **state)
{
	(void)state;
	struct result *r = requested();
	add(r, "{\"t\":\"build\",\"role\":\"target\",\"state\":\"start\"}", NULL);
	add(r,
		"{\"t\":\"build\",\"role\":\"target\",\"state\":\"failed\",\"exit\":2,\"log_b64\":\"aGk=\",\"detail\":\"make: "
		"exit 2\"}",
		NULL);
	assert_int_equal(r->build[0].role, ROLE_NONE);
	assert_string_equal(r->build[1].state, "failed");
	assert_int_equal(r->build[1].exit, 2);
	assert_string_equal(r->build[1].log.data, "hi");
	add(r,
		"{\"t\":\"check\",\"role\":\"base\",\"cell\":2,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" INPUTS
		"\",\"error_ratio\":"
		"0.5}",
		NULL);
	assert_true(result_check(r, ROLE_BASE, 2)->ok);
	assert_null(result_check(r, ROLE_BASE, 1));
	assert_null(result_check(r, ROLE_TARGET, 2));
	add(r, RUN, NULL);
	add(r, CELL("1", "2", "3,4", "0"), NULL);
	assert_int_equal(r->n_runs, 1);
	assert_int_equal(r->n_cells, 1);
	assert_true(r->cell[0]->ms[1][1] == 4);
	add(r, "{\"t\":\"done\",\"gpu_s\":2.5,\"wall_s\":3}", NULL);
	assert_true(r->done.gpu_s == 2.5);
	result_free(r);
}

static void test_later_messages_replace_earlier_ones(void **state)
{
	(void)state;
	struct result *r = requested();
	add(r,
		"{\"t\":\"check\",\"role\":\"base\",\"cell\":2,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" INPUTS
		"\",\"error_ratio\":"
		"0.5}",
		NULL);
	add(r,
		"{\"t\":\"check\",\"role\":\"base\",\"cell\":2,\"ok\":false,\"class\":\"wrong\",\"input_sha256\":\"" INPUTS
		"\",\"detail\":"
		"\"x\"}",
		NULL);
	assert_int_equal(r->n_checks, 1);
	assert_string_equal(result_check(r, ROLE_BASE, 2)->failure, "wrong");
	add(r, RUN, NULL);
	add(r, CELL("1", "0", "3,4", "0"), NULL);
	add(r, CELL("1", "0", "5,6", "1"), NULL);
	assert_int_equal(r->n_cells, 1);
	assert_true(r->cell[0]->ms[1][0] == 5);
	const char *work = "{\"t\":\"work\",\"role\":\"base\",\"cell\":0,\"provider\":\"cpu\"}";
	const char *node = "{\"t\":\"node\",\"role\":\"base\",\"cell\":0,\"phase\":\"run\",\"kernel\":\"k\",\"grid\":[1,1,1],"
			   "\"block\":[1,1,1]}";
	const char *other = "{\"t\":\"node\",\"role\":\"target\",\"cell\":0,\"phase\":\"run\",\"kernel\":\"o\",\"grid\":[1,1,1],"
			    "\"block\":[1,1,1]}";
	add(r, work, NULL);
	add(r, node, NULL);
	add(r, other, NULL);
	add(r, node, NULL);
	assert_int_equal(r->n_nodes, 3);
	add(r, work, NULL);
	assert_int_equal(r->n_works, 1);
	assert_int_equal(r->n_nodes, 1);
	assert_string_equal(r->node[0].kernel, "o");
	for (int i = 0; i < 20; i++)
		add(r, node, NULL);
	assert_int_equal(r->n_nodes, 21);
	result_free(r);
}

static void test_what_the_job_does_not_have_is_refused(void **state)
{
	(void)state;
	struct result *r = requested();
	add(r, "{\"t\":\"check\",\"role\":\"base\",\"cell\":3,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" INPUTS "\"}",
		"check names cell 3 of 3");
	add(r, "{\"t\":\"check\",\"role\":\"reference\",\"cell\":0,\"ok\":true,\"class\":\"\",\"input_sha256\":\"" INPUTS "\"}",
		"check names the role `reference`, which the job does not have");
	add(r, "{\"t\":\"build\",\"role\":\"reference\",\"state\":\"start\"}",
		"build names the role `reference`, which the job does not have");
	add(r, CELL("1", "0", "3,4", "0"), "cell names run 1, which has not begun");
	add(r, RUN, NULL);
	add(r, RUN, "run 1 was sent twice");
	add(r, CELL("1", "0", "3,4", "0"), NULL);
	add(r, CELL("1", "0", "3,4", "0"), "cell 0 of run 1 was sent twice");
	add(r, CELL("1", "7", "3,4", "0"), "cell names cell 7 of 3");
	add(r, "{\"t\":\"fault\",\"cell\":0,\"role\":\"reference\",\"class\":\"crash\",\"detail\":\"\"}",
		"fault names the role `reference`, which the job does not have");
	result_free(r);
}

static void test_faults_belong_to_a_cell_or_to_all(void **state)
{
	(void)state;
	struct result *r = requested();
	add(r, "{\"t\":\"fault\",\"cell\":1,\"role\":\"target\",\"class\":\"crash\",\"detail\":\"one\"}", NULL);
	add(r, "{\"t\":\"fault\",\"cell\":null,\"role\":\"base\",\"class\":\"abi\",\"detail\":\"all\"}", NULL);
	add(r, "{\"t\":\"fault\",\"cell\":null,\"role\":\"device\",\"class\":\"device\",\"detail\":\"hot\"}", NULL);
	assert_null(result_fault(r, ROLE_TARGET, 0));
	assert_string_equal(result_fault(r, ROLE_TARGET, 1)->detail, "one");
	assert_string_equal(result_fault(r, ROLE_BASE, 2)->detail, "all");
	assert_string_equal(result_fault(r, ROLE_DEVICE, 0)->detail, "hot");
	result_free(r);
}

static void test_equal_modules_are_identical_except_in_a_selfcheck(void **state)
{
	(void)state;
	char line[256], sha[65];
	memset(sha, 'a', 64);
	sha[64] = 0;
	for (int selfcheck = 0; selfcheck < 2; selfcheck++) {
		struct result *r = requested();
		result_end(r);
		assert_string_equal(r->identical_by, "");
		for (int i = 0; i < 2; i++) {
			snprintf(line, sizeof line,
				"{\"t\":\"build\",\"role\":\"%s\",\"state\":\"ok\",\"modules\":{\"attention\":\"%s\"}}",
				i ? "target" : "base", sha);
			add(r, line, NULL);
		}
		if (selfcheck)
			r->plan.request.kind = JOBKIND_SELFCHECK;
		result_end(r);
		assert_string_equal(r->identical_by, selfcheck ? "" : "module");
		result_free(r);
	}
}

static void test_only_programs_are_the_same_except_for_comments(void **state)
{
	(void)state;
	static const char line[] = "{\"t\":\"same\",\"why\":\"Python files differ only in comments or layout: a.py\"}";
	struct result *r = requested();
	add(r, line, "same was sent for a job that is not of a program, or was measured");
	result_free(r);
	r = requested();
	r->plan.request.n_cells = 0;
	r->plan.request.side[0].benchmark = (struct benchmark){ .name = "sums", .threshold_pct = 4 };
	add(r, line, NULL);
	result_end(r);
	assert_string_equal(r->identical_by, ""); /* nothing was built */
	memset(r->build[0].module_sha256, 'a', 64);
	memset(r->build[1].module_sha256, 'b', 64);
	result_end(r);
	assert_string_equal(r->identical_by, "comment");
	struct store_cell cell;
	struct judge_timed timed;
	judge_cell(r, 0, &timed, &cell);
	assert_string_equal(cell.reason, "Python files differ only in comments or layout: a.py");
	result_free(r);
}

#define CASE(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_rows_of_a_program_become_cells),
		CASE(test_messages_are_stored),
		CASE(test_later_messages_replace_earlier_ones),
		CASE(test_what_the_job_does_not_have_is_refused),
		CASE(test_faults_belong_to_a_cell_or_to_all),
		CASE(test_equal_modules_are_identical_except_in_a_selfcheck),
		CASE(test_only_programs_are_the_same_except_for_comments),
	};
	return cmocka_run_group_tests_name("result", tests, NULL, NULL);
}
