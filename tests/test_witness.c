/* What a watched call is accused of, and what not, where the device itself behaves unusually. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "runner/witness.h"
#include "runner_run.h"

/* Device cpu, but for what a test wants of it. */
static struct {
	int settles, late;     /* calls of settle so far; how many of the first say that something went on */
	int allocations, room; /* allowed; -1: any number */
} odd;

static int odd_settle(struct device *d, double *late_us, struct fw_err *err)
{
	int rc = device_cpu.settle(d, late_us, err);
	*late_us = odd.settles++ < odd.late ? 12000 : 0;
	return rc;
}

static int odd_alloc(struct device *d, size_t bytes, void **out, struct fw_err *err)
{
	if (odd.room >= 0 && odd.allocations++ >= odd.room)
		return err_set(err, ERR_FULL, "no memory for %zu bytes", bytes);
	return device_cpu.alloc(d, bytes, out, err);
}

/* One forward of module good.c, watched, with records in `text`. Returns witness_call's. */
static int watch(int late, int room, struct failure *f, int *copies, char *text, size_t size)
{
	const int32_t one[] = { 32 };
	const char *const modules[] = { "good" };
	struct cell cell[] = { small_cell(FW_CAUSAL, DIRECTION_FORWARD, 1, one) };
	int index[1], fd = memfd_create("records", 0);
	struct msg_run run = small_run("check", "cpu", modules, 1, cell, index, 1);
	struct device_ops ops = device_cpu;
	struct records records;
	static struct runner runner;
	static struct problem p;
	static struct witness w;
	struct fw_err err = { 0 };
	struct subject *u = &runner.subject[0];

	assert_int_equal(records_init(&records, fd, 1, &err), 0);
	assert_int_equal(runner_open(&runner, &run, &records, &err), 0);
	ops.settle = odd_settle;
	ops.alloc = odd_alloc;
	runner.ops = &ops;
	memset(&odd, 0, sizeof(odd));
	odd.room = -1;
	assert_int_equal(problem_open(&p, &ops, runner.dev, cell, &err), 0);
	assert_int_equal(subject_plan(u, &p, DIRECTION_FORWARD, f), 0);
	assert_int_equal(subject_bind(u, f), 0);
	odd.late = late;
	odd.room = room;
	assert_int_equal(witness_open(&w, &runner, &p, 1, f), 0);
	*copies = 0;
	for (int i = 0; i < FW_ATTENTION_SLOTS; i++)
		*copies += w.copy[i] != NULL;
	int rc = witness_call(&w, u, 3, "watched: ", f);
	witness_close(&w);
	subject_unplan(u);
	problem_close(&p);
	runner.ops = &device_cpu;
	runner_close(&runner);
	records_fini(&records);
	ssize_t n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return rc;
}

static void one_interruption_is_nobodys_fault(void **state)
{
	(void)state;
	for (int late = 0; late < 3; late++) {
		struct failure f = { 0 };
		char text[4096];
		int copies;
		assert_int_equal(watch(late, -1, &f, &copies, text, sizeof(text)), 0);
		assert_string_equal(f.name, "");
		assert_int_equal(odd.settles, late + 1); /* looked at again only where there is doubt */
		assert_int_equal(copies, 2);             /* O and LSE */
		assert_null(strstr(text, "no memory"));
	}
}

static void work_after_every_call_escapes(void **state)
{
	struct failure f = { 0 };
	char text[4096];
	int copies;
	(void)state;
	assert_int_equal(watch(1000, -1, &f, &copies, text, sizeof(text)), -1);
	assert_string_equal(f.name, "escaped");
	assert_non_null(strstr(f.detail, "12 ms"));
}

static void a_full_device_is_timed_without_copies(void **state)
{
	(void)state;
	for (int room = 0; room < 2; room++) {
		struct failure f = { 0 };
		char text[4096];
		int copies;
		assert_int_equal(watch(0, room, &f, &copies, text, sizeof(text)), 0);
		assert_string_equal(f.name, "");
		assert_int_equal(copies, 0);
		assert_non_null(strstr(text, "no memory for copies of the results"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_interruption_is_nobodys_fault),
		cmocka_unit_test(work_after_every_call_escapes),
		cmocka_unit_test(a_full_device_is_timed_without_copies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
