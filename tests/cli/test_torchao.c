/* Comparisons in torchao's columns: the file of a case, its total time, and the reason of a failed one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/internal.h"

enum { COLUMNS = 40 };

static struct buf text;
static char *column[COLUMNS]; /* values of the only row, in `text` */

static const char *cell_of(const char *name)
{
	char head[2000];
	int i = 0;

	snprintf(head, sizeof head, "%.*s", (int)strcspn(text.data, "\n"), text.data);
	for (char *rest = head, *word; (word = strsep(&rest, ",")); i++)
		if (strcmp(word, name) == 0)
			return column[i];
	fail_msg("no column %s", name);
	return NULL;
}

static const char *recipe = "float8dq-row";

/* Cells of one case of `recipe` as "direction ms" or "direction -failure", into `text`. */
static void export(bool is_training, const char *const *cells)
{
	json_t *all = json_array(), *comparison = json_pack("{s:s, s:o}", "suite", "s", "cells", all);

	for (int i = 0; cells[i]; i++) {
		const char *value = strchr(cells[i], ' ') + 1;
		char direction[20];

		snprintf(direction, sizeof direction, "%.*s", (int)(value - 1 - cells[i]), cells[i]);
		json_t *cell = json_pack("{s:s, s:{s:s, s:i, s:i, s:i}, s:{s:f}}", "direction", direction, "shape", "recipe",
			recipe, "m", 1000, "k", 1000, "n", 1000, "over_baseline", "base", 1.5);
		if (*value == '-')
			json_object_set_new(cell, "failure", json_string(value + 1));
		else
			json_object_set_new(cell, "base", json_pack("{s:f}", "median_ms", atof(value)));
		json_array_append_new(all, cell);
	}
	buf_fini(&text);
	buf_init(&text, 1 << 16);
	assert_int_equal(torchao_write(comparison, "base", !is_training, NULL, &text), 0);
	assert_int_equal(torchao_write(comparison, "base", is_training, NULL, &text), 1);
	char *row = strchr(text.data, '\n') + 1;
	memset(column, 0, sizeof column);
	*strchr(row, '\n') = '\0';
	for (int i = 0; row && i < COLUMNS; i++)
		column[i] = strsep(&row, ",");
	json_decref(comparison);
}

static void is(const char *name, double wanted)
{
	double got = atof(cell_of(name));

	if (!(fabs(got - wanted) <= 1e-9 * fmax(1, wanted)))
		fail_msg("%s is %.9g, should be %.9g", name, got, wanted);
}

static void a_total_alone_is_training(void **state)
{
	(void)state;
	export(true, (const char *[]){ "total 4", NULL });
	is("total_time_ms", 4);
	is("reference_total_time_ms", 6);
	is("speedup", 1.5);
	is("tops_sec", 1.5e9 * 1e3);
	is("forward_time_ms", 0);
	is("backward_time_ms", 0);
	assert_string_equal(cell_of("failure"), "");
	export(true, (const char *[]){ "forward 1", "total 4", NULL });
	is("forward_time_ms", 1);
	is("total_time_ms", 4);
	assert_string_equal(cell_of("failure"), "");
}

static void a_failed_total_is_no_training_row(void **state)
{
	(void)state;
	export(true, (const char *[]){ "forward 1", "dgrad 1", "wgrad 2", "total -wrong", NULL });
	is("forward_time_ms", 1);
	is("backward_time_ms", 3);
	is("total_time_ms", 0);
	is("reference_total_time_ms", 0);
	is("speedup", 0);
	is("tops_sec", 0);
	assert_string_equal(cell_of("failure"), "total: wrong");
}

static void parts_add_up_to_no_total(void **state)
{
	(void)state;
	export(true, (const char *[]){ "forward 1", "dgrad 1", "wgrad 2", NULL });
	is("backward_time_ms", 3);
	is("total_time_ms", 0);
	is("speedup", 0);
	assert_string_equal(cell_of("failure"), "");
	export(true, (const char *[]){ "dgrad 1", NULL });
	assert_string_equal(cell_of("failure"), "forward: is not in the suite; wgrad: is not in the suite");
}

static void scopes_of_scales_are_called_as_there(void **state)
{
	static const char *const scopes[][2] = { { "float8dq-tensor", "tensorwise" }, { "float8dq-row", "axiswise" },
		{ "float8dq-block", "blockwise" } };

	(void)state;
	for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
		recipe = scopes[i][0];
		export(true, (const char *[]){ "total 4", NULL });
		assert_string_equal(cell_of("scaling_granularity"), scopes[i][1]);
		assert_string_equal(cell_of("scaling_type_weight"), "dynamic");
	}
	recipe = "float8dq-row";
}

static void forward_alone_is_inference(void **state)
{
	(void)state;
	export(false, (const char *[]){ "forward 2", NULL });
	is("quantized_model_compiled_inference_time_in_ms", 2);
	is("compile speedup on baseline", 1.5);
	assert_string_equal(cell_of("failure"), "");
}

static int free_text(void **state)
{
	(void)state;
	buf_fini(&text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_total_alone_is_training),
		cmocka_unit_test(a_failed_total_is_no_training_row),
		cmocka_unit_test(parts_add_up_to_no_total),
		cmocka_unit_test(scopes_of_scales_are_called_as_there),
		cmocka_unit_test(forward_alone_is_inference),
	};
	return cmocka_run_group_tests(tests, NULL, free_text);
}
