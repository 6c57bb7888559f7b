/* Sustained runs, each as long as one oscillation of a GPU's clock, on the CPU: their calls are watched like those of other
 * passes. */
/* Left to `make check`: loads test modules, takes seconds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "attention_cell.h"
#include "runner_run.h"

/* A run with sustained runs only, good.c against `target`. */
static void run_sustained_runs(const char *target, struct run_result *r, int *index)
{
	const char *const modules[] = { "good", target };
	const int32_t one[] = { 32 };
	static enum sustained_order sustained[] = { SUSTAINED_BASE_FIRST };
	struct cell cell[] = { small_cell(FW_FULL, DIRECTION_FORWARD, 1, one) };
	struct msg_task task = small_task(TASK_TIME, "cpu", modules, 2, cell, index, 1);
	task.phases = task.calls = false;
	task.sustained = sustained;
	task.only_sustained_runs = true;
	run_task(&task, r);
	assert_int_equal(r->status, 0);
}

static const struct msg_fault *find_fault(const struct run_result *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->record[i].t == MSG_FAULT)
			return &r->record[i].u.fault;
	return NULL;
}

static void honest_sustained_runs_are_recorded(void **state)
{
	static struct run_result r;
	int index[1];
	(void)state;
	run_sustained_runs("good", &r, index);
	const struct msg_cell *sustained = find_series(&r, index[0], SERIES_SUSTAINED, "");
	assert_null(find_fault(&r));
	assert_non_null(sustained);
	assert_int_equal(sustained->n_sides, 2);
	assert_in_range(sustained->n, 1, SUSTAINED_RECORDED_MAX);
	assert_int_equal(strlen(sustained->order), 2 * sustained->n);
	for (int i = 0; i < r.n; i++)
		assert_true(r.record[i].t != MSG_NOTE || !strstr(r.record[i].u.note.text, "no memory"));
	run_result_fini(&r);
}

static void a_module_that_cheats_in_sustained_runs_is_found(void **state)
{
	static struct run_result r;
	int index[1];
	(void)state;
	run_sustained_runs("cheat_sustained", &r, index);
	const struct msg_fault *f = find_fault(&r);
	assert_non_null(f);
	assert_int_equal(f->role, ROLE_TARGET);
	assert_string_equal(f->failure, "wrong");
	/* on a slow machine checks are late enough for the module to cheat in them, too */
	assert_non_null(strstr(f->detail, " the timed calls: "));
	assert_null(find_series(&r, index[0], SERIES_SUSTAINED, ""));
	run_result_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(honest_sustained_runs_are_recorded),
		cmocka_unit_test(a_module_that_cheats_in_sustained_runs_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
