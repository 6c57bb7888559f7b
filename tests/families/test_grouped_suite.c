/* Suites of grouped products: keys and their mistakes, names, sizes of groups, useful work by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "families/grouped/grouped.h"
#include "lib/lib.h"
#include "model/model.h"

#define HEAD "suite: t\nfamily: grouped\ndirections: [forward]\nlayers:\n"

enum { GROUPS = 64, TOKENS = 100, TOP = 6 };

static void good(const char *text, struct suite *s)
{
	struct fw_err err = { 0 };

	if (suite_parse(text, strlen(text), "s.yaml", s, &err) != 0)
		fail_msg("%s", err.text);
}

static void bad(const char *text, const char *why)
{
	struct suite s;
	struct fw_err err = { 0 };

	assert_int_equal(suite_parse(text, strlen(text), "s.yaml", &s, &err), -1);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" lacks \"%s\"", err.text, why);
}

static const struct grouped_case *case_of(const struct suite *s, int i)
{
	return (const void *)s->cell[i].shape.bytes;
}

static void keys_name_what_differs(void **state)
{
	struct suite s;

	(void)state;
	good(HEAD "  - {experts: 16, top_k: 2, tokens: [4, 2048], routing: [balanced, skewed], shapes: [[64, 128]]}\n"
		  "  - {sizes: [0, 5, 200, 0], shapes: [[64, 128], [128, 64]]}\n"
		  "  - {sizes: [5, 0, 200, 0], shapes: [[64, 128]]}\n",
		&s);
	assert_int_equal(s.n_cells, 7);
	assert_string_equal(s.cell[0].key, "grouped/balanced/e16/top2/t4/k64/n128/bf16/forward");
	assert_string_equal(s.cell[1].key, "grouped/balanced/e16/top2/t2048/k64/n128/bf16/forward");
	assert_string_equal(s.cell[2].key, "grouped/skewed/e16/top2/t4/k64/n128/bf16/forward");
	assert_string_equal(s.cell[2].title, "skewed, 2 of 16, 64 x 128");
	assert_int_equal(s.cell[2].size, 4);
	assert_string_equal(s.cell[2].baseline, s.cell[0].key);
	assert_string_equal(s.cell[0].baseline, "");
	assert_int_equal(strncmp(s.cell[4].key, "grouped/sizes/e4-", 17), 0);
	assert_string_equal(s.cell[4].key + 25, "/m205/k64/n128/bf16/forward");
	assert_string_equal(s.cell[4].title, "4 given sizes, 64 x 128");
	assert_int_equal(s.cell[4].size, 205);
	assert_string_not_equal(s.cell[4].key, s.cell[6].key); /* the same sizes in another order are other groups */
	suite_fini(&s);
}

/* Few rows of a group are bound by reading its weights. */
static void speed_is_in_bytes_if_groups_are_small(void **state)
{
	struct suite s;

	(void)state;
	good(HEAD "  - {experts: 16, top_k: 2, tokens: [4, 1023, 1024], routing: [balanced], shapes: [[64, 128]]}\n"
		  "  - {sizes: [0, 0, 128, 0], shapes: [[64, 128]]}\n",
		&s);
	assert_int_equal(case_metric(&s.cell[0]), METRIC_GBPS);
	assert_int_equal(case_metric(&s.cell[1]), METRIC_GBPS);
	assert_int_equal(case_metric(&s.cell[2]), METRIC_TFLOPS);
	assert_int_equal(case_metric(&s.cell[3]), METRIC_TFLOPS);
	suite_fini(&s);
}

static void work_counts_the_groups_that_have_rows(void **state)
{
	struct suite s;
	const double x = 2.0 * 205 * 64, y = 2.0 * 205 * 128, w = 2.0 * 64 * 128, offsets = 5 * 4;

	(void)state;
	good("suite: t\nfamily: grouped\nlayers: [{sizes: [0, 5, 200, 0], shapes: [[64, 128]]}]\n", &s);
	assert_int_equal(s.n_cells, 3);
	for (int i = 0; i < 3; i++)
		assert_true(case_flops(&s.cell[i]) == 2.0 * 205 * 64 * 128);
	assert_true(case_bytes(&s.cell[0]) == x + y + 2 * w + offsets); /* forward and dgrad read W of two groups */
	assert_true(case_bytes(&s.cell[1]) == x + y + 2 * w + offsets);
	assert_true(case_bytes(&s.cell[2]) == x + y + 4 * w + offsets); /* wgrad writes dW of all */
	suite_fini(&s);
}

/* A shape that is written and parsed is the same: the worker receives it so. */
static void shapes_are_read_back(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	good(HEAD
		"  - {experts: 16, top_k: 2, tokens: [4], shapes: [[64, 128]]}\n  - {sizes: [0, 5, 200], shapes: [[64, 128]]}\n",
		&s);
	for (int i = 0; i < s.n_cells; i++) {
		const struct family *f = case_family(&s.cell[i]);
		struct grouped_case again = { 0 };
		struct buf text;
		struct fields fields;

		buf_init(&text, 4096);
		family_json(f, s.cell[i].shape.bytes, &text);
		json_t *object = json_loadb(text.data, text.len, 0, NULL);
		assert_non_null(object);
		field_begin(&fields, object, &err, "shape");
		f->parse(&fields, &again);
		assert_false(fields.failed);
		assert_memory_equal(&again, case_of(&s, i), sizeof again);
		json_decref(object);
		buf_fini(&text);
	}
	suite_fini(&s);
}

static void impossible_cases_are_refused(void **state)
{
	(void)state;
	bad(HEAD "  - {experts: 4, top_k: 5, tokens: [4], shapes: [[64, 128]]}\n",
		"s.yaml:5:5: layers[0]: top_k 5 must be 1 to 32, and at most the 4 experts");
	bad(HEAD "  - {experts: 4, top_k: 2, tokens: [4], shapes: [[64, 100]]}\n", "k 64 and n 100 must be multiples of 8");
	bad(HEAD "  - {experts: 1024, top_k: 2, tokens: [4], shapes: [[4096, 4096]]}\n", "more than 2^31 - 1 elements");
	bad(HEAD "  - {experts: 4, top_k: 2, tokens: [4], shapes: [[64]]}\n", "must be [k, n]");
	bad(HEAD "  - {experts: 4, top_k: 2, tokens: [4], routing: [even], shapes: [[64, 8]]}\n",
		"use balanced, uniform or skewed");
	bad(HEAD "  - {experts: 4, tokens: [4], shapes: [[64, 8]]}\n", "top_k");
	bad(HEAD "  - {sizes: [0, 0], shapes: [[64, 8]]}\n", "sizes sum up to 0");
	bad(HEAD "  - {sizes: [-1, 4], shapes: [[64, 8]]}\n", "-1");
	bad(HEAD "  - {sizes: [2147483647, 2147483647], shapes: [[64, 8]]}\n", "rows");
	bad(HEAD "  - {sizes: [4], experts: 4, shapes: [[64, 8]]}\n", "applies to drawn sizes only");
	bad("suite: t\nfamily: grouped\n", "layers");
}

static void sizes_of(enum grouped_routing routing, int32_t turned, uint64_t seed, int32_t *out)
{
	const struct grouped_case a = { .k = 8,
		.n = 8,
		.groups = GROUPS,
		.routing = routing,
		.top_k = TOP,
		.tokens = TOKENS,
		.rows = TOKENS * TOP,
		.turned = turned };

	grouped_sizes(&a, seed, out);
}

/* The hashes are those of tests/support/inputs.py, too. */
static void drawn_sizes_are_golden(void **state)
{
	static const struct {
		const char *name, *hash;
		enum grouped_routing routing;
	} golden[] = {
		{ "groups_seed42_64_top6_100tokens", "bf8cf250e7cdc299c58c955081d56a7c4832eda1e94264f82fe7683954bb9a61",
			GROUPED_UNIFORM },
		{ "groups_seed42_64_top6_100tokens_skewed", "e08d3968a1cb28330266366eaf954ffb92915796da65b25ffc6fb7abd4d8a75d",
			GROUPED_SKEWED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof golden / sizeof golden[0]; i++) {
		int32_t sizes[GROUPS];
		char hex[HASH_HEX];

		sizes_of(golden[i].routing, 0, 42, sizes);
		hash_hex(sizes, sizeof sizes, hex);
		assert_string_equal(hex, golden[i].hash);
	}
}

static void routings_lie_as_they_are_named(void **state)
{
	(void)state;
	for (int routing = GROUPED_BALANCED; routing < GROUPED_SIZES; routing++) {
		int64_t most = 0, total = 0;

		for (uint64_t seed = 0; seed < 20; seed++) {
			int32_t sizes[GROUPS], largest = 0;

			sizes_of((enum grouped_routing)routing, 0, seed, sizes);
			for (int g = 0; g < GROUPS; g++) {
				assert_in_range(sizes[g], 0, TOKENS); /* a token draws a group once */
				total += sizes[g];
				largest = sizes[g] > largest ? sizes[g] : largest;
			}
			most += largest;
		}
		assert_int_equal(total, 20 * TOKENS * TOP);
		most = most * 10 * GROUPS / total; /* tenths of the average size */
		assert_in_range(most,
			routing == GROUPED_BALANCED  ? 10
			: routing == GROUPED_UNIFORM ? 14
						     : 30,
			routing == GROUPED_BALANCED  ? 11
			: routing == GROUPED_UNIFORM ? 25
						     : 70);
	}
}

/* The second problem of a plan: the same sizes in another order. */
static void turned_sizes_are_the_same_sizes(void **state)
{
	struct grouped_case a = { .groups = 4, .routing = GROUPED_SIZES, .rows = 9, .used = 3, .size = { 1, 0, 3, 5 } };
	int32_t sizes[4];

	(void)state;
	assert_true(family_grouped.has_second(&a));
	family_grouped.second(&a, 0);
	grouped_sizes(&a, 1, sizes);
	assert_memory_equal(sizes, ((int32_t[]){ 5, 3, 0, 1 }), sizeof sizes);
	family_grouped.second(&a, 1);
	grouped_sizes(&a, 1, sizes);
	assert_memory_equal(sizes, ((int32_t[]){ 1, 5, 3, 0 }), sizeof sizes);
	assert_int_equal(grouped_used(&a, 1), 3);
	a = (struct grouped_case){ .groups = 3, .routing = GROUPED_SIZES, .rows = 9, .size = { 3, 3, 3 } };
	assert_false(family_grouped.has_second(&a));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_name_what_differs),
		cmocka_unit_test(speed_is_in_bytes_if_groups_are_small),
		cmocka_unit_test(work_counts_the_groups_that_have_rows),
		cmocka_unit_test(shapes_are_read_back),
		cmocka_unit_test(impossible_cases_are_refused),
		cmocka_unit_test(drawn_sizes_are_golden),
		cmocka_unit_test(routings_lie_as_they_are_named),
		cmocka_unit_test(turned_sizes_are_the_same_sizes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
