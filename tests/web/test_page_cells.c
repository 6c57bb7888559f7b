/* Choosing a cell of a sharded suite: every cell can be found, by a part of its name, and no page is long. */
#include "site_fill.h"

enum { CELLS = 8192, OF_PUSH = 400, OF_SHARD = 40, SHARDS = 1 + (CELLS - OF_PUSH + OF_SHARD - 1) / OF_SHARD, PAGE_BYTES = 60000 };

static void name_cell(char key[96], int i)
{
	static const char *const masks[] = { "full", "causal" };
	snprintf(key, 96, "attention/dense/%s/s%d/hq64/hk8/d128/bf16/%s", masks[i % 2], 8 * (1 + i / 4),
		i / 2 % 2 ? "backward" : "forward");
}

/* Cells from `first` on, measured on main. `shard` 0: by a push. */
static int64_t measure(struct fixture *f, int shard, unsigned target, int first, int n, int64_t now)
{
	int64_t id = fixture_comparison(f, "main", target - 1, target, VERDICT_UNCHANGED, now);
	struct stmt *s = db_stmt(f->db,
		"UPDATE job SET shard = :shard, some_cells = :shard > 0 WHERE id = (SELECT job FROM comparison WHERE id = :id)",
		&err);
	stmt_int(s, ":shard", shard);
	stmt_int(s, ":id", id);
	ok(stmt_run(s, &err));
	for (int i = 0; i < n && first + i < CELLS; i++) {
		char key[96];
		name_cell(key, first + i);
		fixture_cell(f, id, i, key, 0.001, VERDICT_UNCHANGED);
	}
	return id;
}

static void fill_shards(struct run *run)
{
	struct fixture *f = run->f;
	const struct suite_size size = { .cells = CELLS, .shards = SHARDS, .nights = 7 };
	int64_t now = clock_utc_ms() - 86400000;
	ok(db_begin(f->db, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(0xd1), true, now, &err));
	ok(store_suite_size(f->db, f->suite, &size, &err));
	measure(f, 0, 0xd1, 0, OF_PUSH, now);
	for (int shard = 1; shard < SHARDS; shard++)
		measure(f, shard, 0xd1, OF_PUSH + (shard - 1) * OF_SHARD, OF_SHARD, now + shard);
	ok(db_commit(f->db, &err));
}

static struct answer page(struct run *run, const char *target)
{
	struct answer a = get(run, target);
	assert_int_equal(a.status, 200);
	if (strlen(a.body) > PAGE_BYTES)
		fail_msg("%s: %zu bytes", target, strlen(a.body));
	return a;
}

static void every_cell_has_a_page(void **state)
{
	struct run *run = *state;
	fill_shards(run);
	json_t *root = get_json(run, "/api/v1/cells?repo=kernels");
	assert_int_equal(json_array_size(json_object_get(root, "items")), CELLS);
	json_decref(root);
	/* by a part of its name, in upper or lower case and without a script: the form's own field */
	for (int i = 0; i < CELLS; i += 1023) {
		char key[96], target[200], link[200];
		name_cell(key, i);
		snprintf(target, sizeof target, "/history?repo=kernels&cell=CAUSAL+s%d/+forward", 8 * (1 + i / 4));
		if (i % 2 == 0)
			snprintf(target, sizeof target, "/history?repo=kernels&cell=full+s%d/+forward", 8 * (1 + i / 4));
		if (i / 2 % 2)
			memcpy(strstr(target, "forward"), "backwar", 7); /* an incomplete term */
		struct answer a = page(run, target);
		snprintf(link, sizeof link, "\">%s</a></li>", key);
		assert_non_null(strstr(a.body, "Which cell?"));
		assert_non_null(strstr(a.body, link));
		assert_int_equal(count(a.body, "</a></li>"), 1);
		answer_free(&a);
	}
}

static void typed_text_becomes_a_selection(void **state)
{
	struct run *run = *state;
	char key[96], target[300];
	fill_shards(run);
	struct answer a = page(run, "/history?repo=kernels");
	assert_non_null(strstr(a.body, " of 8192; type more terms of the name above"));
	answer_free(&a);
	a = page(run, "/history?repo=kernels&cell=backward&branch=main");
	assert_non_null(strstr(a.body, " of 4096; type more terms of the name above"));
	assert_null(strstr(a.body, "forward</a></li>"));
	assert_non_null(strstr(a.body, "&amp;branch=main"));
	answer_free(&a);
	a = page(run, "/history?repo=kernels&cell=no+such"); /* unchanged */
	assert_non_null(strstr(a.body, "0 points"));
	answer_free(&a);
	/* a complete name is not treated as a part of one, also if other names contain it */
	name_cell(key, CELLS - 1);
	snprintf(target, sizeof target, "/history?repo=kernels&cell=%s", key);
	a = page(run, target);
	assert_non_null(strstr(a.body, "1 point"));
	assert_null(strstr(a.body, "Which cell?"));
	answer_free(&a);
	/* in the field of a further cell, list and links are for that cell, and preserve the first one */
	snprintf(target, sizeof target, "/history?repo=kernels&cell=%s&also=s80/&also=&axis=date", key);
	a = page(run, target);
	assert_non_null(strstr(a.body, "Which additional cell?"));
	assert_int_equal(count(a.body, "<option value=\"attention/"), 4);
	assert_int_equal(count(a.body, "</a></li>"), 4);
	assert_int_equal(count(a.body, "&amp;axis=date"), 4);
	assert_int_equal(count(a.body, "&amp;also=attention"), 4);
	assert_non_null(strstr(a.body, "1 point"));
	answer_free(&a);
	a = page(run, "/search?q=s16384");
	assert_int_equal(count(a.body, "<li>cell "), 4);
	answer_free(&a);
}

static void a_shard_is_listed_with_its_last_result(void **state)
{
	struct run *run = *state;
	struct fixture *f = run->f;
	json_t *root;
	fill_shards(run);
	ok(db_begin(f->db, &err));
	/* after off-peak jobs one shard has only half of its cells, and many comparisons of shards are newer than the push */
	for (int i = 0; i < 100; i++)
		measure(f, 1, 0xd2, OF_PUSH, OF_SHARD / 2, clock_utc_ms() + i);
	ok(db_commit(f->db, &err));
	root = get_json(run, "/api/v1/cells?repo=kernels");
	assert_int_equal(json_array_size(json_object_get(root, "items")), CELLS - OF_SHARD / 2);
	json_decref(root);
	/* a cell that is no longer measured still has a history */
	char key[96], target[200];
	name_cell(key, OF_PUSH + OF_SHARD - 1);
	snprintf(target, sizeof target, "/history?repo=kernels&cell=%s", key);
	struct answer a = page(run, target);
	assert_non_null(strstr(a.body, "1 point"));
	answer_free(&a);
}

#define CELLS_TEST(name) cmocka_unit_test_setup_teardown(name, run_setup, run_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CELLS_TEST(every_cell_has_a_page),
		CELLS_TEST(typed_text_becomes_a_selection),
		CELLS_TEST(a_shard_is_listed_with_its_last_result),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
