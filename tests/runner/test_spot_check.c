/* What a watched call is accused of, and what not, where the device itself behaves unusually. */
/* Left to `make check`: loads test modules. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "families/linear/linear.h"
#include "kernels/fw_layernorm.h"
#include "runner/internal.h"
#include "runner_run.h"

/* Device cpu, except for the behaviour that a test sets. */
static struct {
	int waits, late;       /* calls of wait_all so far; how many of the first report that work continues */
	int allocations, room; /* allowed; -1: any number */
} odd;

static int odd_wait_all(struct device *d, double *late_us, struct fw_err *err)
{
	int rc = device_cpu.wait_all(d, late_us, err);
	*late_us = odd.waits++ < odd.late ? 12000 : 0;
	return rc;
}

static int odd_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err)
{
	if (odd.room >= 0 && odd.allocations++ >= odd.room)
		return err_set(err, ERR_FULL, "no memory for %zu bytes", bytes);
	return device_cpu.alloc(d, bytes, out, err);
}

enum { SPOILED = -1 }; /* for `late`: the copy from which V is restored has changed by then */

/* One forward of module good.c, watched, with records in `text`. Returns the result of spot_check_call. */
static int watch(int late, int room, struct failure *f, int *copies, char *text, size_t size)
{
	const int32_t one[] = { 32 };
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_CAUSAL, DIRECTION_FORWARD, 1, one) };
	int index[1], fd = memfd_create("records", 0);
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
	struct device_ops ops = device_cpu;
	struct records records;
	static struct runner runner;
	static struct problem p;
	static struct spot_check w;
	struct fw_err err = { 0 };
	struct side *u = &runner.side[0];

	assert_int_equal(records_init(&records, fd, 1, &err), 0);
	assert_int_equal(runner_open(&runner, &task, &records, &err), 0);
	ops.wait_all = odd_wait_all;
	ops.alloc = odd_alloc;
	runner.ops = &ops;
	memset(&odd, 0, sizeof odd);
	odd.room = -1;
	assert_int_equal(problem_open(&p, &ops, runner.dev, cell, &err), 0);
	assert_int_equal(side_plan(u, &p, DIRECTION_FORWARD, f), 0);
	assert_int_equal(side_bind(u, f), 0);
	odd.late = late;
	odd.room = room;
	assert_int_equal(spot_check_open(&w, &runner, &p, SPOT_CHECK_ANY, 1, f), 0);
	if (late == SPOILED)
		*(unsigned char *)p.slot[FW_V].master ^= 1;
	*copies = 0;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++)
		*copies += w.copy.data[i] != NULL;
	int result = spot_check_call(&w, u, 3, false, "watched: ", f);
	assert_int_equal(w.unnamed, late == SPOILED);
	spot_check_close(&w);
	side_unplan(u);
	problem_close(&p);
	runner.ops = &device_cpu;
	runner_close(&runner);
	records_fini(&records);
	ssize_t n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return result;
}

static void one_interruption_blames_no_side(void **state)
{
	(void)state;
	for (int late = 0; late < 3; late++) {
		struct failure f = { 0 };
		char text[4096];
		int copies;
		assert_int_equal(watch(late, -1, &f, &copies, text, sizeof text), 0);
		assert_string_equal(f.name, "");
		assert_int_equal(odd.waits, late + 1); /* checked again only in case of doubt */
		assert_int_equal(copies, 2);           /* O and LSE */
		assert_null(strstr(text, "no memory"));
	}
}

static void work_after_every_call_escapes(void **state)
{
	struct failure f = { 0 };
	char text[4096];
	int copies;
	(void)state;
	assert_int_equal(watch(1000, -1, &f, &copies, text, sizeof text), -1);
	assert_string_equal(f.name, "escaped");
	assert_non_null(strstr(f.detail, "12 ms"));
}

static void a_changed_copy_of_an_input_blames_no_side(void **state)
{
	struct failure f = { 0 };
	char text[4096];
	int copies;
	(void)state;
	assert_int_equal(watch(SPOILED, -1, &f, &copies, text, sizeof text), -1);
	assert_string_equal(f.name, "oob");
	assert_string_equal(f.detail, "the data that V is restored from has changed");
}

static void a_full_device_is_timed_without_copies(void **state)
{
	(void)state;
	for (int room = 0; room < 2; room++) {
		struct failure f = { 0 };
		char text[4096];
		int copies;
		assert_int_equal(watch(0, room, &f, &copies, text, sizeof text), 0);
		assert_string_equal(f.name, "");
		assert_int_equal(copies, 0);
		assert_non_null(strstr(text, "no memory for copies of the results"));
	}
}

/* Draws of one problem: each input changes, V never with K, and backward's K, V, O and LSE only together. */
static void draw_many(enum direction direction, int32_t tokens)
{
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_FULL, direction, 1, &tokens) };
	int index[1], seconds = 0, shifted = 0;
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
	struct fw_err err = { 0 };
	struct records records;
	static struct runner runner;
	static struct problem p;

	assert_int_equal(records_init(&records, -1, 1, &err), 0);
	assert_int_equal(runner_open(&runner, &task, &records, &err), 0);
	assert_int_equal(problem_open(&p, runner.ops, runner.dev, cell, &err), 0);
	spot_check_vary(&runner, &p);
	assert_int_equal(p.varied, direction == DIRECTION_BACKWARD);
	for (int i = 0; i < 100; i++) {
		struct input_variant a;
		int first = direction == DIRECTION_BACKWARD ? FW_DO : FW_Q;
		spot_check_draw(&runner, &p, SPOT_CHECK_ANY, &a);
		for (int slot = 0; slot < FW_ATTENTION_SLOTS; slot++)
			if (p.slot[slot].bytes) /* steps are rows, or parts of few rows */
				assert_in_range(a.roll[slot], 0, p.slot[slot].bytes / variant_step(&p, slot) - 1);
		assert_true(a.roll[first] > 0);
		seconds += a.second;
		assert_int_equal(a.shift[first] % VARIANT_SHIFT_BYTES, 0);
		shifted += a.shift[first] != 0;
		if (direction == DIRECTION_BACKWARD) {
			assert_int_equal(a.roll[FW_Q], 0);
			assert_int_equal(a.roll[FW_K], a.second ? p.second.roll[FW_K] : 0);
			assert_int_equal(a.roll[FW_V], a.second ? p.second.roll[FW_V] : 0);
		}
		if (a.second || direction == DIRECTION_FORWARD)
			assert_true(a.roll[FW_K] > 0 && a.roll[FW_K] != a.roll[FW_V]);
		spot_check_draw(&runner, &p, SPOT_CHECK_FIRST, &a);
		assert_true(!a.second && a.roll[FW_K] == 0 && a.roll[FW_V] == 0);
		spot_check_draw(&runner, &p, SPOT_CHECK_OTHER, &a);
		assert_int_equal(a.second, direction == DIRECTION_BACKWARD);
	}
	/* a row of these inputs is no row of the others, so that no result of an earlier call has only to be moved */
	assert_true(tokens < 16 ? shifted == 0 : shifted > 20); /* few rows roll by elements */
	if (direction == DIRECTION_BACKWARD)
		assert_in_range(seconds, 20, 80); /* of 100, with even chances */
	problem_close(&p);
	runner_close(&runner);
	records_fini(&records);
}

static void every_call_has_inputs_of_its_own(void **state)
{
	(void)state;
	for (int32_t tokens = 1; tokens <= 33; tokens += tokens < 4 ? 1 : 29) {
		draw_many(DIRECTION_FORWARD, tokens);
		draw_many(DIRECTION_BACKWARD, tokens);
	}
}

/* Products have no rows that have to stay intact: one row of X, or of W, differs in every call, too. */
static void few_rows_are_rolled_within(void **state)
{
	static const struct linear_case cases[] = { { .m = 1, .k = 64, .n = 40 }, { .m = 2, .k = 256, .n = 1 },
		{ .m = 3, .k = 7, .n = 2 }, { .m = 1, .k = 8192, .n = 1 }, { .m = 16, .k = 64, .n = 16 } };
	static const size_t step_bytes[] = { 2, 16, 2, 16, 128 };
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *const modules[] = { "good" };
		struct cell cell[] = { { .direction = DIRECTION_FORWARD, .family = "linear", .seed = 42 } };
		int index[1];
		struct fw_err err = { 0 };
		struct records records;
		struct input_variant a, b;
		static struct runner runner;
		static struct problem p;
		bool differs[2] = { false, false }, shifted = false;

		memcpy(cell[0].shape.bytes, &cases[i], sizeof cases[i]);
		case_name(&cell[0]);
		struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
		assert_int_equal(records_init(&records, -1, 1, &err), 0);
		assert_int_equal(runner_open(&runner, &task, &records, &err), 0);
		assert_int_equal(problem_open(&p, runner.ops, runner.dev, cell, &err), 0);
		for (int again = 0; again < 20; again++) {
			spot_check_draw(&runner, &p, SPOT_CHECK_OTHER, &a);
			assert_int_equal(variant_sum(&p, &a, &err), 0);
			assert_true(
				a.sum[FW_LINEAR_X] != p.named.sum[FW_LINEAR_X] && a.sum[FW_LINEAR_W] != p.named.sum[FW_LINEAR_W]);
			for (int slot = FW_LINEAR_X; again > 0 && slot <= FW_LINEAR_W; slot++)
				differs[slot] = differs[slot] || a.sum[slot] != b.sum[slot];
			shifted = shifted || (a.shift[FW_LINEAR_X] && a.shift[FW_LINEAR_W]);
			b = a;
		}
		assert_true(shifted == (cases[i].m == 16)); /* in the others steps are parts of rows */
		assert_true(differs[FW_LINEAR_X] && differs[FW_LINEAR_W]);
		assert_int_equal(variant_step(&p, FW_LINEAR_X), step_bytes[i]);
		problem_close(&p);
		runner_close(&runner);
		records_fini(&records);
	}
}

/* BETA of layer normalisation, which backward does not read: a second forward on the same inputs would give the same result. */
static void inputs_of_forward_are_rotated_in_the_second_round(void **state)
{
	const char *const modules[] = { "good" };
	const struct fw_layernorm shape = { sizeof shape, 4, 40, 1e-5f };
	struct cell cell[] = { { .direction = DIRECTION_BACKWARD, .family = "layernorm", .seed = 42 } };
	int index[1];
	struct fw_err err = { 0 };
	struct records records;
	static struct runner runner;
	static struct problem p;
	const struct problem_slot *beta = &p.slot[FW_LAYERNORM_BETA];
	char names[60];
	(void)state;

	memcpy(cell[0].shape.bytes, &shape, sizeof shape);
	case_name(&cell[0]);
	struct msg_task task = small_task(TASK_CHECK, "cpu", modules, 1, cell, index, 1);
	assert_int_equal(records_init(&records, -1, 1, &err), 0);
	assert_int_equal(runner_open(&runner, &task, &records, &err), 0);
	assert_int_equal(problem_open(&p, runner.ops, runner.dev, cell, &err), 0);
	assert_int_equal(beta->use, SLOT_UNUSED);
	spot_check_vary(&runner, &p);
	assert_true(p.second.roll[FW_LAYERNORM_BETA] > 0);
	size_t ahead = (size_t)p.second.roll[FW_LAYERNORM_BETA] * variant_step(&p, FW_LAYERNORM_BETA);
	assert_int_equal(variant_slot(&p, FW_LAYERNORM_BETA, &p.second, &err), 0);
	assert_memory_equal(beta->data, (char *)beta->master + ahead, beta->bytes - ahead);
	assert_int_equal(variant_slot(&p, FW_LAYERNORM_BETA, &p.named, &err), 0);
	assert_memory_equal(beta->data, beta->master, beta->bytes);
	spot_check_names(&p, SPOT_CHECK_OTHERS, names, sizeof names);
	assert_string_equal(names, "X and gamma"); /* as reported for backward */
	problem_close(&p);
	runner_close(&runner);
	records_fini(&records);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_interruption_blames_no_side),
		cmocka_unit_test(work_after_every_call_escapes),
		cmocka_unit_test(a_changed_copy_of_an_input_blames_no_side),
		cmocka_unit_test(a_full_device_is_timed_without_copies),
		cmocka_unit_test(every_call_has_inputs_of_its_own),
		cmocka_unit_test(few_rows_are_rolled_within),
		cmocka_unit_test(inputs_of_forward_are_rotated_in_the_second_round),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
