/* Advice about a comparison that needs more device time than its budget: the key that selects cells, with a real one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/internal.h"

static const char *hint_of(const struct benchmark *run, int n_cells, double least_s)
{
	static struct hints hints;
	struct outcome_cell cell[4] = { { .key = "a/1" }, { .key = "a/2" }, { .key = "a/3" }, { .key = "a/4" } };
	struct outcome o = { .cell = cell, .n_cells = n_cells };
	hints.n = 0;
	hint_budget(&o, run, "tiny", least_s, 60, &hints);
	return hints.n ? hints.text[0] : "";
}

static struct benchmark benchmark_of(const char *reader)
{
	struct benchmark b = { .name = "rows", .n_command = 2, .command = { "./bench", "--all" } };
	snprintf(b.reader, sizeof b.reader, "%s", reader);
	return b;
}

static void a_suite_has_a_key_for_pushes(void **state)
{
	(void)state;
	assert_string_equal(hint_of(NULL, 4, 120),
		"4 cells need about 120 s, more than budget_s: 60: raise it, or measure fewer on a push: write push: {cells: 2} in tiny, "
		"or list only cells such as a/3");
	assert_non_null(strstr(hint_of(NULL, 4, 1000), "push: {cells: 1}"));
}

static void a_library_has_an_argument(void **state)
{
	(void)state;
	struct benchmark google = benchmark_of("google-benchmark"), kit = benchmark_of("flopwatch");
	assert_string_equal(hint_of(&google, 4, 120),
		"4 rows need about 120 s, more than budget_s: 60: raise it, or select rows in benchmarks.rows, such as command: "
		"[./bench, --all, \"--benchmark_filter=^a/3$\"]");
	assert_string_equal(hint_of(&kit, 4, 120),
		"4 rows need about 120 s, more than budget_s: 60: raise it in benchmarks.rows, or add an argument to its command with "
		"which the program runs fewer rows, such as only a/3");
}

static void no_hint_where_it_cannot_help(void **state)
{
	(void)state;
	assert_string_equal(hint_of(NULL, 4, 60), "");
	assert_string_equal(hint_of(NULL, 1, 120), "");
	assert_string_equal(hint_of(NULL, 0, 120), "");
}

static void whole_processes_are_named(void **state)
{
	static struct tree tree;
	static struct hints hints;
	struct outcome_cell cell[1] = { { .key = "a/1", .ms = 1 } };
	static struct outcome o;
	struct benchmark google = benchmark_of("google-benchmark"), other = benchmark_of("hyperfine");

	(void)state;
	o.cell = cell;
	o.n_cells = 1;
	o.is_sandboxed = true;
	hint_all(&tree, &o, &google, &hints);
	assert_int_equal(hints.n, 1);
	assert_string_equal(hints.text[0],
		"rows is timed as whole processes, one after the other; with BENCHMARK_MAIN() in its source instead of benchmark_main, "
		"or FLOPWATCH_MAIN() of flopwatch_benchmark.h its calls alternate with those of the base, which usually needs fewer "
		"runs (doc/interleave.md)");
	hint_all(&tree, &o, &other, &hints);
	assert_int_equal(hints.n, 0);
	o.n_notes = 1;
	snprintf(o.note[0], sizeof o.note[0], "interleaved programs: 4 turns, each 2 ms");
	hint_all(&tree, &o, &google, &hints);
	assert_int_equal(hints.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_suite_has_a_key_for_pushes),
		cmocka_unit_test(a_library_has_an_argument),
		cmocka_unit_test(no_hint_where_it_cannot_help),
		cmocka_unit_test(whole_processes_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
