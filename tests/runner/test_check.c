/* Mode check: good modules pass and their work is reported; each error has its class and its message. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "runner_run.h"

static const int32_t one[] = { 48 };
static const int32_t two[] = { 20, 28 };

static void good_modules_pass(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good" };
	struct cell cell[] = {
		small_cell(FW_FULL, DIRECTION_FORWARD, 1, one),
		small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one),
		small_cell(FW_CAUSAL, DIRECTION_FORWARD, 2, two),
		small_cell(FW_CAUSAL, DIRECTION_BACKWARD, 2, two),
		small_cell(FW_BLOCKS, DIRECTION_FORWARD, 1, one),
		small_cell(FW_BLOCKS, DIRECTION_BACKWARD, 1, one),
	};
	int index[6], work = 0;
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 6);
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	for (int i = 0; i < 6; i++) {
		const struct msg_check *c = find_check(&r, index[i]);
		assert_non_null(c);
		assert_true(c->ok);
		assert_true(c->error_ratio >= 0 && c->error_ratio <= 1);
		assert_int_equal(strlen(c->input_sha256), 64);
	}
	for (int i = 0; i < r.n; i++) {
		if (r.record[i].t != MSG_WORK)
			continue;
		work += r.record[i].u.work.taken_bytes < 0; /* reported again with the time of a call */
		assert_true(r.record[i].u.work.flops_issued > 0);
		assert_true(r.record[i].u.work.phases & FW_RUN);
		const struct msg_work *w = &r.record[i].u.work;
		bool blocks = w->cell == index[4] || w->cell == index[5];
		assert_int_equal(w->mask_blocks, blocks ? 3 * 3 : 0); /* 48 tokens in blocks of 16, half of them retained */
		assert_int_equal(w->mask_kept, blocks ? 3 : 0);
		int64_t query = 48 * 2 * 16 * 2, key = query / 2, lse = 48 * 2 * 4, bits = 3 * 4;
		bool backward = w->cell % 2 == 1, varlen = w->cell == index[2] || w->cell == index[3];
		assert_int_equal(w->tensor_bytes, query * (backward ? 4 : 2) + key * (backward ? 4 : 2) + lse +
							  (blocks ? bits : 0) + (varlen ? 2 * 3 * 4 : 0));
	}
	assert_int_equal(work, 6);
	run_result_fini(&r);
}

static void every_pattern_is_right_and_a_wrong_one_is_seen(void **state)
{
	static struct run_result r;
	static const int32_t rows[] = { 192 };
	const char *const good[] = { "good" }, *const one_mask[] = { "one_mask" };
	struct cell cell[2 * PATTERNS];
	int index[2 * PATTERNS];
	(void)state;
	for (int i = 0; i < 2 * PATTERNS; i++) {
		cell[i] = small_cell(FW_BLOCKS, i % 2 ? DIRECTION_BACKWARD : DIRECTION_FORWARD, 1, rows);
		attention_of(&cell[i])->pattern = (enum pattern)(i / 2);
		case_name(&cell[i]);
	}
	struct msg_task task = small_task(TASK_CHECK, "cpu", good, 1, cell, index, 2 * PATTERNS);
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	for (int i = 0; i < 2 * PATTERNS; i++)
		if (!find_check(&r, index[i]) || !find_check(&r, index[i])->ok)
			fail_msg(
				"%s: %s", cell[i].key, find_check(&r, index[i]) ? find_check(&r, index[i])->detail : "no record");
	run_result_fini(&r);
	/* caches the lists of the first mask that it saw */
	task = small_task(TASK_CHECK, "cpu", one_mask, 1, cell, index, 2 * PATTERNS);
	run_task(&task, &r);
	for (int i = 0; i < 2 * PATTERNS; i += 2) {
		assert_false(find_check(&r, index[i])->ok);
		assert_non_null(strstr(find_check(&r, index[i])->detail, "another mask"));
	}
	run_result_fini(&r);
}

static void backward_alone_checks_its_forward(void **state)
{
	static struct run_result r;
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one) };
	const char *const good[] = { "good" }, *const nan[] = { "nan_result" };
	int index[1];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", good, 1, cell, index, 1);
	run_task(&task, &r);
	assert_true(find_check(&r, index[0])->ok);
	run_result_fini(&r);
	task = small_task(TASK_CHECK, "cpu", nan, 1, cell, index, 1);
	run_task(&task, &r);
	assert_false(find_check(&r, index[0])->ok);
	assert_non_null(strstr(find_check(&r, index[0])->detail, "forward"));
	run_result_fini(&r);
}

static void each_fault_has_its_class(void **state)
{
	static struct run_result r;
	const struct {
		const char *module, *failure, *words;
		int cell; /* 0 forward, 1 backward */
	} bad[] = {
		{ "wrong_result", "wrong", "O[query 0, head 0, 1]", 0 },
		{ "nan_result", "wrong", "nan", 0 },
		{ "out_of_bounds", "oob", "outside O", 0 },
		{ "stale_workspace", "wrong", "other bytes in its workspace", 0 },
		{ "one_phase", "wrong", "one by one", 1 },
	};
	struct cell cell[] = {
		small_cell(FW_CAUSAL, DIRECTION_FORWARD, 2, two),
		small_cell(FW_CAUSAL, DIRECTION_BACKWARD, 2, two),
	};
	int index[2];
	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
		const char *const modules[] = { bad[k].module };
		struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 2);
		run_task(&task, &r);
		assert_int_equal(r.status, 0);
		const struct msg_check *c = find_check(&r, index[bad[k].cell]);
		assert_non_null(c);
		assert_false(c->ok);
		assert_string_equal(c->failure, bad[k].failure);
		if (!strstr(c->detail, bad[k].words))
			fail_msg("%s: '%s' does not say '%s'", bad[k].module, c->detail, bad[k].words);
		run_result_fini(&r);
	}
}

static void a_backward_is_not_tried_on_a_wrong_forward(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "out_of_bounds" };
	struct cell cell[] = {
		small_cell(FW_FULL, DIRECTION_FORWARD, 1, one),
		small_cell(FW_FULL, DIRECTION_BACKWARD, 1, one),
	};
	int index[2];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 2);
	run_task(&task, &r);
	const struct msg_check *c = find_check(&r, index[1]);
	assert_non_null(c);
	assert_string_equal(c->failure, "oob");
	assert_non_null(strstr(c->detail, "forward"));
	run_result_fini(&r);
}

static void an_unknown_provider_is_reported(void **state)
{
	static struct run_result r;
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
	snprintf(task.side[0].provider, sizeof task.side[0].provider, "nonesuch");
	run_task(&task, &r);
	assert_int_equal(r.status, 0);
	assert_string_equal(find_check(&r, index[0])->failure, "provider");
	assert_string_equal(find_check(&r, index[0])->detail, "the module has no provider 'nonesuch'; it has naive");
	run_result_fini(&r);
}

static void the_resources_of_a_call_are_measured(void **state)
{
	static struct run_result r;
	const char *const hoards[] = { "hoards" }, *const good[] = { "good" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	int64_t taken[2] = { -1, -1 };
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct msg_task task = small_task(TASK_CHECK, "cpu", k ? hoards : good, 1, cell, index, 1);
		run_task(&task, &r);
		for (int i = 0; i < r.n; i++)
			if (r.record[i].t == MSG_WORK)
				taken[k] = r.record[i].u.work.taken_bytes;
		run_result_fini(&r);
	}
	assert_true(taken[0] >= 0 && taken[0] < 48 << 20);
	assert_true(taken[1] >= 60 << 20);
}

static const struct msg_work *work_reported(const struct run_result *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_WORK)
			return &r->record[i].u.work;
	return NULL;
}

static void configurations_of_a_search_are_reported(void **state)
{
	static struct run_result r;
	const char *const tuner[] = { "honest_tuner" }, *const older[] = { "older_info" }, *const boastful[] = { "boastful" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", tuner, 1, cell, index, 1);
	run_task(&task, &r);
	assert_true(find_check(&r, index[0])->ok);
	const struct tried *t = &work_reported(&r)->tried;
	assert_int_equal(t->of, 9);
	assert_int_equal(t->n, 9);
	assert_string_equal(t->config[0].config, "TILE=0"); /* the fastest first, failed ones last */
	assert_true(t->config[0].ms == 1 && t->config[7].ms == 1.14);
	assert_string_equal(t->config[8].config, "TILE=8");
	assert_true(t->config[8].ms == 0);
	run_result_fini(&r);
	/* a library of an earlier header has no such field, and runs as before */
	task = small_task(TASK_CHECK, "cpu", older, 1, cell, index, 1);
	run_task(&task, &r);
	assert_true(find_check(&r, index[0])->ok);
	assert_int_equal(work_reported(&r)->tried.n, 0);
	run_result_fini(&r);
	task = small_task(TASK_CHECK, "cpu", boastful, 1, cell, index, 1);
	run_task(&task, &r);
	assert_true(find_check(&r, index[0])->ok);
	t = &work_reported(&r)->tried;
	assert_int_equal(t->of, TRIED_OF_MAX);
	assert_int_equal(t->n, TRIED_MAX);
	assert_string_equal(t->config[0].config, "");
	assert_true(t->config[0].ms == 1 && t->config[1].ms == 6);
	assert_null(strchr(t->config[1].config, '\033'));
	run_result_fini(&r);
}

static void a_pinned_configuration_reports_no_search(void **state)
{
	static struct run_result r;
	const char *const tuner[] = { "honest_tuner" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one), small_cell(FW_CAUSAL, DIRECTION_FORWARD, 1, one) };
	int index[2];
	(void)state;
	struct msg_task task = small_task(TASK_CHECK, "cpu", tuner, 1, cell, index, 2);
	struct msg_pin pin = { .cell = index[1], .config = "TILE=5" };
	task.n_pins = 1;
	task.pin = &pin;
	run_task(&task, &r);
	int reported = 0;
	for (int i = 0; i < r.n; i++) {
		const struct msg_work *w = &r.record[i].u.work;
		if (r.record[i].t != MSG_WORK)
			continue;
		reported += w->taken_bytes < 0;
		assert_int_equal(w->tried.n, w->cell == index[1] ? 0 : 9);
		if (w->cell == index[1])
			assert_string_equal(w->config, "TILE=5");
	}
	assert_int_equal(reported, 2);
	run_result_fini(&r);
}

/* A process that has the task under another number, as the sandbox's first process does, has an empty file. */
static void a_task_file_is_removed(void **state)
{
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	int index[1], in = memfd_create("in", 0), records = memfd_create("records", 0), held = dup(in);
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
	struct msg m = { .t = MSG_TASK, .u.task = &task };
	struct buf line;
	char left[64];

	(void)state;
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &m);
	assert_int_equal(write(in, line.data, line.len), line.len);
	assert_int_equal(lseek(in, 0, SEEK_SET), 0);
	assert_int_equal(task_run(in, records), 0);
	assert_true(lseek(records, 0, SEEK_END) > 0);
	assert_int_equal(pread(held, left, sizeof left, 0), 0);
	assert_int_equal(pread(in, left, sizeof left, 0), 0);
	buf_fini(&line);
	close(in);
	close(records);
	close(held);
}

static void a_malformed_task_is_refused(void **state)
{
	static const char *const lines[] = { "", "{\"t\":\"task\"}\n", "{\"t\":\"ping\"}\n", "not JSON\n", "{\"t\":\"task\"" };
	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
		int in = memfd_create("in", 0), records = memfd_create("records", 0);
		assert_true(in >= 0 && records >= 0);
		assert_int_equal(write(in, lines[i], strlen(lines[i])), strlen(lines[i]));
		assert_int_equal(lseek(in, 0, SEEK_SET), 0);
		assert_int_equal(task_run(in, records), 2);
		assert_int_equal(lseek(records, 0, SEEK_END), 0);
		close(in);
		close(records);
	}
	assert_int_equal(task_run(STDIN_FILENO, 999), 2); /* nowhere to write records */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_modules_pass),
		cmocka_unit_test(every_pattern_is_right_and_a_wrong_one_is_seen),
		cmocka_unit_test(backward_alone_checks_its_forward),
		cmocka_unit_test(each_fault_has_its_class),
		cmocka_unit_test(a_backward_is_not_tried_on_a_wrong_forward),
		cmocka_unit_test(an_unknown_provider_is_reported),
		cmocka_unit_test(the_resources_of_a_call_are_measured),
		cmocka_unit_test(configurations_of_a_search_are_reported),
		cmocka_unit_test(a_pinned_configuration_reports_no_search),
		cmocka_unit_test(a_task_file_is_removed),
		cmocka_unit_test(a_malformed_task_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
