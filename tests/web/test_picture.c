/*
 * A comparison as SVG; doc/comparison.svg is the program's output for a recorded one: main against the branch that puts a memset
 * before each forward kernel, as an H200 measured it (tests/data/gpu). `make picture` (PICTURE=FILE) writes the file again.
 */
#include "site_run.h"

#define FIGURES "tests/data/gpu/h200-2026-11-22-losses.jsonl"
#define BENCH   "verdicts.memset."

struct story {
	json_t *body, *cells;
	int regressions;
};

/* The content of the key, as in the daemon's own body. */
static json_t *cell_of(const char *key)
{
	char mask[32] = "block_sparse";
	int seqlen = 0, block = 0;
	double keep = 0;
	const char *direction = strrchr(key, '/');
	assert_non_null(direction);
	bool is_sparse = sscanf(key, "attention/block_sparse/s%d/r%lf/b%d/", &seqlen, &keep, &block) == 3;
	if (!is_sparse)
		assert_int_equal(sscanf(key, "attention/dense/%31[^/]/s%d/", mask, &seqlen), 2);
	char title[80];
	snprintf(title, sizeof title, is_sparse ? "keep %g, block %d" : "", keep, block);
	for (char *at = mask; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	json_t *cell = json_pack("{s:s, s:s, s:s, s:s, s:i, s:f, s:{}, s:{}}", "cell", key, "group",
		is_sparse ? "block_sparse" : "dense", "title", is_sparse ? title : mask, "direction", direction + 1, "size",
		seqlen, "threshold_pct", 1.5, "base", "target");
	assert_non_null(cell);
	return cell;
}

static json_t *find_cell(struct story *s, const char *key)
{
	size_t i;
	json_t *cell;
	json_array_foreach(s->cells, i, cell) if (strcmp(text_at(cell, "cell"), key) == 0) return cell;
	json_array_append_new(s->cells, cell_of(key));
	return json_array_get(s->cells, json_array_size(s->cells) - 1);
}

static void take_verdict(struct story *s, json_t *cell, const char *words)
{
	size_t len = strcspn(words, " "); /* flags follow */
	json_object_set_new(cell, "verdict", json_stringn(words, len));
	s->regressions += strncmp(words, "regression", len) == 0;
}

static void take(struct story *s, const json_t *figure)
{
	const char *name = text_at(figure, "bench"), *key = text_at(figure, "cell");
	json_t *value = json_object_get(figure, "value");
	if (strncmp(name, BENCH, strlen(BENCH)) != 0)
		return;
	name += strlen(BENCH);
	if (!key) {
		if (strcmp(name, "gpu") == 0)
			json_object_set(s->body, "gpu_s", value);
		else if (strcmp(name, "runs") == 0)
			json_object_set(s->body, "runs", value);
		return;
	}
	json_t *cell = find_cell(s, key), *base = json_object_get(cell, "base"), *target = json_object_get(cell, "target");
	if (strcmp(name, "verdict") == 0)
		take_verdict(s, cell, json_string_value(value));
	else if (strcmp(name, "base_median") == 0)
		json_object_set(base, "median_ms", value);
	else if (strcmp(name, "target_median") == 0)
		json_object_set(target, "median_ms", value);
	else if (strcmp(name, "target_tflops") == 0)
		json_object_set(target, "tflops", value);
	else if (strcmp(name, "change") == 0)
		json_object_set(cell, "change_pct", value);
	else if (strcmp(name, "ci_low") == 0)
		json_object_set(cell, "ci_low_pct", value);
	else if (strcmp(name, "ci_high") == 0)
		json_object_set(cell, "ci_high_pct", value);
}

/* Both sides do the same work. */
static void add_base_tflops(struct story *s)
{
	size_t i;
	json_t *cell;
	json_array_foreach(s->cells, i, cell)
	{
		json_t *base = json_object_get(cell, "base"), *target = json_object_get(cell, "target");
		double work = json_number_value(json_object_get(target, "tflops")) *
			      json_number_value(json_object_get(target, "median_ms"));
		json_object_set_new(base, "tflops", json_real(work / json_number_value(json_object_get(base, "median_ms"))));
	}
}

static char *recorded(void)
{
	char line[4096];
	struct story s = { .cells = json_array() };
	s.body = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s}}", "repo", "kernels", "branch", "memset", "kind",
		"change", "suite", "ffa", "verdict", "regression", "base", "commit", "932b27dcaed2", "target", "commit",
		"98d6ede329ba", "environment", "name", "NVIDIA H200");
	FILE *file = fopen(FIGURES, "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file)) {
		json_t *figure = json_loads(line, 0, NULL);
		assert_non_null(figure);
		take(&s, figure);
		json_decref(figure);
	}
	fclose(file);
	assert_int_equal(json_array_size(s.cells), 20);
	add_base_tflops(&s);
	json_object_set_new(s.body, "regressions", json_integer(s.regressions));
	json_object_set_new(s.body, "cells", s.cells);
	char *text = json_dumps(s.body, JSON_COMPACT);
	json_decref(s.body);
	return text;
}

static int64_t put(struct fixture *f, const char *body)
{
	ok(db_begin(f->db, &err));
	int64_t id = fixture_comparison(f, "memset", 0xa1, 0xb1, VERDICT_REGRESSION, 6000);
	ok(store_comparison_body(f->db, id, body, strlen(body), "etag", &err));
	ok(db_commit(f->db, &err));
	return id;
}

static void the_picture_in_the_readme_is_drawn_by_the_program(void **state)
{
	struct run *run = *state;
	static char stored[1 << 17];
	char *body = recorded();
	put(run->f, body);
	free(body);
	struct answer a = get(run, "/api/v1/comparisons/1.svg");
	assert_int_equal(a.status, 200);
	assert_string_equal(header_of(&a, "Cross-Origin-Resource-Policy"), "cross-origin"); /* pages of forges may show it */
	const char *path = getenv("PICTURE");
	FILE *file = fopen(path ? path : "doc/comparison.svg", path ? "we" : "re");
	assert_non_null(file);
	if (path) {
		assert_int_equal(fwrite(a.body, 1, strlen(a.body), file), strlen(a.body));
	} else {
		stored[fread(stored, 1, sizeof stored - 1, file)] = '\0';
		assert_string_equal(stored, a.body);
	}
	assert_int_equal(fclose(file), 0);
	answer_free(&a);
}

/* No text of a branch becomes markup; unknown values are dashes; outliers do not leave the picture. */
static void hostile_and_missing_values_are_drawn(void **state)
{
	struct run *run = *state;
	put(run->f, "{\"verdict\":\"failed\",\"environment\":{\"name\":\"<b>&\"},\"cells\":["
		    "{\"cell\":\"<script>\",\"verdict\":\"failed\",\"group\":\"<i>\"},"
		    "{\"cell\":\"far\",\"verdict\":\"regression\",\"group\":\"<i>\",\"threshold_pct\":1,\"change_pct\":-90,"
		    "\"ci_low_pct\":-91,\"ci_high_pct\":-89,\"base\":{\"median_ms\":1},\"target\":{\"median_ms\":10}}]}");
	struct answer a = get(run, "/api/v1/comparisons/1.svg");
	assert_int_equal(a.status, 200);
	assert_null(strstr(a.body, "<script"));
	assert_null(strstr(a.body, "<b>"));
	assert_null(strstr(a.body, "<i>"));
	assert_null(strstr(a.body, "nan"));
	assert_non_null(strstr(a.body, "&lt;script&gt;"));
	assert_non_null(strstr(a.body, ">ms:<"));
	assert_non_null(strstr(a.body, "\u221290.00 %"));
	const char *dot = strstr(a.body, "<circle class=\"p bad\" cx=\""),
		   *interval = strstr(a.body, "<path class=\"c bad\" d=\"M");
	assert_non_null(dot);
	assert_non_null(interval);
	double x = strtod(dot + strlen("<circle class=\"p bad\" cx=\""), NULL),
	       low = strtod(interval + strlen("<path class=\"c bad\" d=\"M"), NULL);
	assert_true(430 < low && low < x && x < 580); /* left of 0, on the axis */
	answer_free(&a);
	a = get(run, "/api/v1/comparisons/7.svg");
	assert_int_equal(a.status, 404);
	answer_free(&a);
}

static void only_so_many_cells_are_drawn(void **state)
{
	struct run *run = *state;
	struct buf body;
	buf_init(&body, 1 << 16);
	buf_puts(&body, "{\"verdict\":\"unchanged\",\"cells\":[");
	for (int i = 0; i < 75; i++)
		buf_printf(&body, "%s{\"cell\":\"row/%d\",\"verdict\":\"unchanged\"}", i ? "," : "", i);
	buf_puts(&body, "]}");
	put(run->f, body.data);
	buf_fini(&body);
	struct answer a = get(run, "/api/v1/comparisons/1.svg");
	assert_non_null(strstr(a.body, ">row/59<"));
	assert_null(strstr(a.body, "row/60"));
	assert_non_null(strstr(a.body, "15 more cells"));
	answer_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_picture_in_the_readme_is_drawn_by_the_program, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(hostile_and_missing_values_are_drawn, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(only_so_many_cells_are_drawn, run_setup, run_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
