/* Shards of a suite: every cell is in one, always the same one, together with the cells that it is compared with. */
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

static void take(const char *text, int shard, struct suite *s)
{
	struct fw_err err = { 0 };

	parse(text, s);
	if (suite_take_shard(s, shard, &err) != 0)
		fail_msg("%s", err.text);
}

static bool holds(const struct suite *s, const char *key)
{
	for (int i = 0; i < s->n_cells; i++)
		if (strcmp(s->cell[i].key, key) == 0)
			return true;
	return false;
}

/* Every cell of the sweep is in some shard, and in two only if others of both are compared with it. */
static void shards_cover_the_suite(void **state)
{
	struct suite whole, shard;
	int in_shards = 0;

	(void)state;
	parse(SWEEP, &whole);
	assert_int_equal(whole.n_cells, 576);
	int shards = suite_count_shards(&whole);
	char *seen = calloc((size_t)whole.n_cells, 1);

	assert_non_null(seen);
	assert_int_equal(shards, 1 + (576 - 40 + SHARD_CELLS - 1) / SHARD_CELLS);
	for (int p = 0; p < shards; p++) {
		take(SWEEP, p, &shard);
		assert_true(shard.n_cells >= 1 && shard.n_cells <= 2 * SHARD_CELLS);
		for (int i = 0, at = 0; i < shard.n_cells; i++) {
			while (strcmp(whole.cell[at].key, shard.cell[i].key) != 0) /* in the order of the file */
				assert_true(++at < whole.n_cells);
			assert_true(!seen[at] || !shard.cell[i].baseline[0]);
			in_shards += !seen[at];
			seen[at] = 1;
			if (shard.cell[i].baseline[0])
				assert_true(holds(&shard, shard.cell[i].baseline));
		}
		suite_fini(&shard);
	}
	assert_int_equal(in_shards, whole.n_cells);
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

static void small_suites_have_one_shard(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	parse(HEAD "shapes: [{name: llama}]\n", &s);
	assert_int_equal(suite_count_shards(&s), 1);
	assert_int_equal(suite_take_shard(&s, 0, &err), 0);
	assert_int_equal(s.n_cells, 4);
	assert_int_equal(suite_take_shard(&s, 1, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	suite_fini(&s);
	parse(HEAD "shapes: [{name: llama}]\npush: {cells: 4}\n", &s);
	assert_int_equal(suite_count_shards(&s), 1);
	suite_fini(&s);
}

static void cells_are_chosen_by_globs(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	parse(SWEEP, &s);
	assert_int_equal(suite_choose(&s, "*/none/*", 0, &err), -1);
	assert_non_null(strstr(err.text, "no cell of suite s matches */none/*"));
	suite_fini(&s);
	for (int more = 0; more < 2; more++) {
		err_clear(&err);
		parse(SWEEP, &s);
		s.n_cells = JOB_CELLS_MAX + more;
		assert_int_equal(suite_choose(&s, "*", 0, &err), -more);
		assert_int_equal(s.n_cells, JOB_CELLS_MAX + more);
		suite_fini(&s);
	}
	assert_non_null(strstr(err.text, "one comparison takes at most 400"));
	err_clear(&err);
	parse(SWEEP, &s);
	assert_int_equal(suite_choose(&s, "*/int8wo/*", 0, &err), 0);
	assert_true(s.n_cells > 0 && s.n_cells < 576);
	for (int i = 0; i < s.n_cells; i++)
		assert_non_null(strstr(s.cell[i].key, "/int8wo/"));
	suite_fini(&s);
	parse(SWEEP, &s);
	assert_int_equal(suite_choose(&s, "", 0, &err), 0); /* that of a push */
	assert_int_equal(s.n_cells, 40);
	suite_fini(&s);
}

/* Another draw would leave each cell of a push without its history. */
static void a_push_draws_the_same_cells_in_each_version(void **state)
{
	struct suite s;

	(void)state;
	take(SWEEP, 0, &s);
	static const char *const drawn[] = { "int4wo-32/m256/k256/n2048", "int4wo-64/m256/k256/n2048", "float8wo/m256/k512/n2048",
		"int4wo-256/m512/k256/n2048", "float8dq-row/m512/k256/n2048", "int8wo/m512/k1024/n1024" };
	for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
		char key[100];
		snprintf(key, sizeof key, "linear/linear/%s/bf16/forward", drawn[i]);
		assert_true(holds(&s, key));
	}
	suite_fini(&s);
}

static void a_shard_has_a_text(void **state)
{
	struct shard_counts p = { .cells = 40, .suite_cells = 576, .of = 14, .nights = 7, .measured = 3 };
	char text[300];

	(void)state;
	shard_describe(&p, text, sizeof text);
	assert_string_equal(text,
		"A push measures 40 of the 576 cells of this suite; the others are measured off-peak, in 14 shards "
		"within 7 off-peak periods; 3 of these shards had been measured before.");
	p.number = 2;
	shard_describe(&p, text, sizeof text);
	assert_string_equal(text, "Shard 2 of the 14 that are measured off-peak: 40 of the 576 cells of this suite.");
}

/* Shards are numbered by what a push measures, so that their histories are never mixed up. */
static void the_hash_covers_the_shards(void **state)
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

static void globs_choose_cells_of_the_whole(void **state)
{
	struct suite s;
	struct fw_err err = { 0 };

	(void)state;
	parse(SWEEP, &s);
	assert_int_equal(suite_size(&s).cells, s.n_cells);
	assert_true(suite_size(&s).shards > 1);
	assert_int_equal(suite_choose(&s, "*/m1/* *nothing*", 3, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.text, "no cell of suite"));
	suite_fini(&s);
	err_clear(&err);
	parse(SWEEP, &s);
	assert_int_equal(suite_choose(&s, "*", 0, &err), s.n_cells > JOB_CELLS_MAX ? -1 : 0);
	assert_true(err.code == ERR_NONE || strstr(err.text, "one comparison takes at most") != NULL);
	suite_fini(&s);
	err_clear(&err);
	parse(SWEEP, &s);
	int whole = s.n_cells;
	assert_int_equal(suite_choose(&s, "*/baseline/*", 3, &err), 0); /* of every shard */
	assert_true(s.n_cells > 0 && s.n_cells < whole);
	suite_fini(&s);
	parse(SWEEP, &s);
	assert_int_equal(suite_choose(&s, "", 0, &err), 0);
	assert_int_equal(s.n_cells, 40);
	assert_int_equal(suite_take_shard(&s, -1, &err), -1);
	assert_non_null(strstr(err.text, "has no shard -1, only 0 to"));
	suite_fini(&s);
}

static void the_text_of_a_shard(void **state)
{
	char text[240];

	(void)state;
	shard_describe(&(struct shard_counts){ .number = 2, .of = 5, .cells = 40, .suite_cells = 200 }, text, sizeof text);
	assert_string_equal(text, "Shard 2 of the 5 that are measured off-peak: 40 of the 200 cells of this suite.");
	shard_describe(&(struct shard_counts){ .of = 5, .cells = 40, .suite_cells = 200, .nights = 3, .measured = 4 }, text,
		sizeof text);
	assert_string_equal(text,
		"A push measures 40 of the 200 cells of this suite; the others are measured off-peak, in 5 shards "
		"within 3 off-peak periods; 4 of these shards had been measured before.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_cover_the_suite),
		cmocka_unit_test(a_push_is_drawn_by_keys),
		cmocka_unit_test(some_are_always_measured),
		cmocka_unit_test(small_suites_have_one_shard),
		cmocka_unit_test(cells_are_chosen_by_globs),
		cmocka_unit_test(a_push_draws_the_same_cells_in_each_version),
		cmocka_unit_test(a_shard_has_a_text),
		cmocka_unit_test(the_hash_covers_the_shards),
		cmocka_unit_test(globs_choose_cells_of_the_whole),
		cmocka_unit_test(the_text_of_a_shard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
