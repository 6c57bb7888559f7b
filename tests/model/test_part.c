/* Parts of a suite: every cell is in one, always the same one, together with the cells that it is compared with. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define HEAD "suite: s\nfamily: linear\ndirections: [forward]\n"
#define SWEEP                                                                                                                               \
	HEAD "shapes: [{name: sweep, max_power: 11}]\nrecipes: [baseline, int8wo, int4wo-32, int4wo-64, int4wo-128, int4wo-256, float8wo, " \
	     "float8dq-tensor, float8dq-row]\n"

static void parse(const char *text, struct suite *s)
{
	struct fw_err err = { 0 };

	if (suite_parse(text, strlen(text), "s.yaml", s, &err) != 0)
		fail_msg("%s", err.text);
}

static void take(const char *text, int part, struct suite *s)
{
	struct fw_err err = { 0 };

	parse(text, s);
	if (suite_take_part(s, part, &err) != 0)
		fail_msg("%s", err.text);
}

static bool holds(const struct suite *s, const char *key)
{
	for (int i = 0; i < s->n_cells; i++)
		if (strcmp(s->cell[i].key, key) == 0)
			return true;
	return false;
}

/* Every cell of the sweep is in some part, and in two only if others of both are compared with it. */
static void parts_are_the_whole(void **state)
{
	struct suite whole, part;
	int in_parts = 0;

	(void)state;
	parse(SWEEP, &whole);
	assert_int_equal(whole.n_cells, 576);
	int parts = suite_parts(&whole);
	char *seen = calloc((size_t)whole.n_cells, 1);

	assert_non_null(seen);
	assert_int_equal(parts, 1 + (576 - 40 + PART_CELLS - 1) / PART_CELLS);
	for (int p = 0; p < parts; p++) {
		take(SWEEP, p, &part);
		assert_true(part.n_cells >= 1 && part.n_cells <= 2 * PART_CELLS);
		for (int i = 0, at = 0; i < part.n_cells; i++) {
			while (strcmp(whole.cell[at].key, part.cell[i].key) != 0) /* in the order of the file */
				assert_true(++at < whole.n_cells);
			assert_true(!seen[at] || !part.cell[i].baseline[0]);
			in_parts += !seen[at];
			seen[at] = 1;
			if (part.cell[i].baseline[0])
				assert_true(holds(&part, part.cell[i].baseline));
		}
		suite_fini(&part);
	}
	assert_int_equal(in_parts, whole.n_cells);
	free(seen);
	suite_fini(&whole);
}

static void a_push_is_drawn_by_keys(void **state)
{
	struct suite few, more;
	int same = 0;

	(void)state;
	take(SWEEP, 0, &few);
	assert_int_equal(few.n_cells, 40);
	take(HEAD
		"shapes: [{name: sweep, max_power: 11}, {name: custom, shapes: [[1, 512, 512]]}]\nrecipes: [baseline, int8wo, int4wo-32, int4wo-64, "
		"int4wo-128, int4wo-256, float8wo, float8dq-tensor, float8dq-row]\n",
		0, &more);
	for (int i = 0; i < few.n_cells; i++)
		same += holds(&more, few.cell[i].key);
	assert_true(same >= 36); /* of a shape more, at most its nine cells displace others; mostly none */
	suite_fini(&few);
	suite_fini(&more);
}

static void some_are_always_measured(void **state)
{
	struct suite s;

	(void)state;
	take(HEAD
		"shapes: [{name: pow2}, {name: llama}]\nrecipes: [baseline, int8wo]\npush: {cells: 3, always: ['*/int8wo/m1024/*', "
		"'*/n1280/*']}\n",
		0, &s);
	assert_int_equal(s.n_cells, 4);
	assert_true(holds(&s, "linear/linear/int8wo/m1024/k1024/n1024/bf16/forward"));
	assert_true(holds(&s, "linear/linear/baseline/m1024/k1024/n1024/bf16/forward"));
	assert_true(holds(&s, "linear/linear/int8wo/m16384/k8192/n1280/bf16/forward"));
	assert_true(holds(&s, "linear/linear/baseline/m16384/k8192/n1280/bf16/forward"));
	suite_fini(&s);
}

static void small_suites_have_one_part(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	parse(HEAD "shapes: [{name: llama}]\n", &s);
	assert_int_equal(suite_parts(&s), 1);
	assert_int_equal(suite_take_part(&s, 0, &err), 0);
	assert_int_equal(s.n_cells, 4);
	assert_int_equal(suite_take_part(&s, 1, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	suite_fini(&s);
	parse(HEAD "shapes: [{name: llama}]\npush: {cells: 4}\n", &s);
	assert_int_equal(suite_parts(&s), 1);
	suite_fini(&s);
}

/* Parts are numbered by what a push measures, so that their histories are never mixed up. */
static void the_hash_knows_the_parts(void **state)
{
	struct suite s;
	char whole[65], three[65], two[65];

	(void)state;
	parse(HEAD "shapes: [{name: llama}]\n", &s);
	suite_hash(&s, whole);
	suite_fini(&s);
	parse(HEAD "shapes: [{name: llama}]\npush: {cells: 3}\n", &s);
	suite_hash(&s, three);
	suite_fini(&s);
	parse(HEAD "shapes: [{name: llama}]\npush: {cells: 2}\n", &s);
	suite_hash(&s, two);
	suite_fini(&s);
	assert_string_not_equal(whole, three);
	assert_string_not_equal(two, three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_the_whole),
		cmocka_unit_test(a_push_is_drawn_by_keys),
		cmocka_unit_test(some_are_always_measured),
		cmocka_unit_test(small_suites_have_one_part),
		cmocka_unit_test(the_hash_knows_the_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
