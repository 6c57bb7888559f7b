/* The stored body: every key that the API documents, null for unknown values, equal bytes for equal rows, bounded size. */
#include "attention_cell.h"
#include "fixture_result.h"
#include "fixture_transaction.h"

#include <jansson.h>
#include <math.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"

static int64_t judged(struct fixture *f, struct result *r)
{
	struct judge_outcome out;
	ok(judge_finish(f->db, NULL, r, 1763692800123, &out, &err));
	result_free(r);
	return out.comparison;
}

/** The stored body, parsed; its text in `text`. */
static json_t *body_of(struct fixture *f, int64_t id, struct buf *text)
{
	char etag[65], hash[HASH_HEX];
	json_error_t where;
	buf_init(text, 8 << 20);
	ok(view_body(f->db, id, text, etag, &err));
	hash_hex(text->data, text->len, hash);
	assert_string_equal(etag, hash);
	json_t *j = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES, &where);
	if (!j)
		fail_msg("%s in %.200s", where.text, text->data);
	return j;
}

static const char *text(const json_t *j, const char *key)
{
	const char *s = json_string_value(json_object_get(j, key));
	return s ? s : "(none)";
}

static double number(const json_t *j, const char *key)
{
	const json_t *v = json_object_get(j, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool is_null(const json_t *j, const char *key)
{
	return json_is_null(json_object_get(j, key));
}

static void report_work(struct result *r, enum role role, int cell, const char *config)
{
	struct msg m = { .t = MSG_WORK,
		.u.work = { .cell = cell, .flops_issued = -1, .bytes_moved = -1, .workspace_bytes = -1 } };
	m.u.work.role = role;
	snprintf(m.u.work.provider, sizeof m.u.work.provider, "hopper");
	snprintf(m.u.work.config, sizeof m.u.work.config, "%s", config);
	fixture_add(r, &m);
}

static void every_documented_key_is_present(void **state)
{
	struct fixture *f = *state;
	static const double shift[] = { 0.04, 0, 0, -0.04 };
	struct store_commit c = { .author = "Ann <b>", .subject = "tile \"64\" \xff", .committed_at = 1 };
	struct buf body;
	snprintf(c.sha, sizeof c.sha, "%s", fixture_sha(2));
	snprintf(c.tree, sizeof c.tree, "%s", fixture_sha(99));
	ok(store_commit_put(f->db, f->repo, &c, &err));
	struct result *r = fixture_result(f, "feature/x", 1, 2, 4);
	fixture_measured(r, shift);
	report_work(r, ROLE_BASE, 0, "BLOCK_M=128 STAGES=2");
	report_work(r, ROLE_TARGET, 0, "BLOCK_M=64 \"STAGES\"=3");
	json_t *j = body_of(f, judged(f, r), &body);
	assert_int_equal(number(j, "id"), 1);
	assert_string_equal(text(j, "repo"), "kernels");
	assert_string_equal(text(j, "branch"), "feature/x");
	assert_string_equal(text(j, "kind"), "compare");
	assert_string_equal(text(j, "suite"), "ffa");
	assert_string_equal(text(j, "verdict"), "regression");
	assert_string_equal(text(j, "isolation"), "none");
	assert_string_equal(text(j, "base_how"), "merge-base");
	assert_string_equal(text(j, "finished_at"), "2025-11-21T02:40:00.123Z");
	assert_int_equal(number(j, "runs"), 12);
	assert_true(number(j, "gpu_s") == 12.5);
	assert_int_equal(number(j, "job"), 1);
	const json_t *base = json_object_get(j, "base"), *target = json_object_get(j, "target");
	assert_string_equal(text(base, "commit"), fixture_sha(1));
	assert_true(is_null(base, "tree")); /* that commit was never stored */
	assert_string_equal(text(base, "module_sha256"), "aaaa0000000000000000000000000000000000000001");
	assert_string_equal(text(target, "tree"), fixture_sha(99));
	assert_string_equal(text(target, "module_sha256"), "bbbb0000000000000000000000000000000000000002");
	assert_string_equal(text(target, "subject"), "tile \"64\" \xef\xbf\xbd");
	const json_t *environment = json_object_get(j, "environment");
	assert_string_equal(text(environment, "device"), "sim-0");
	assert_int_equal(number(environment, "power_limit_w"), 700);
	assert_true(number(json_object_get(j, "rule"), "k") == 3.5);

	const json_t *cells = json_object_get(j, "cells"), *slow = json_array_get(cells, 0);
	assert_int_equal(json_array_size(cells), 4);
	assert_string_equal(text(slow, "cell"), "attention/dense/causal/s1024/hq4/hk1/d128/bf16/forward");
	assert_string_equal(text(slow, "verdict"), "regression");
	assert_true(json_is_false(json_object_get(slow, "borderline")));
	assert_true(number(slow, "change_pct") < -3.5 && number(slow, "change_pct") > -4.5);
	assert_true(number(slow, "ci_low_pct") < number(slow, "change_pct"));
	assert_true(number(slow, "ci_high_pct") > number(slow, "change_pct"));
	assert_true(number(slow, "mde_pct") > 0);
	assert_int_equal(number(slow, "runs"), 12);
	assert_int_equal(number(slow, "samples"), 192);
	const json_t *b = json_object_get(slow, "base"), *t = json_object_get(slow, "target");
	double flops = number(slow, "flops_useful");
	assert_true(fabs(number(b, "tflops") / (flops / number(b, "median_ms") * 1e-9) - 1) < 1e-5);
	assert_true(number(t, "tflops") < number(b, "tflops"));
	assert_string_equal(text(b, "provider"), "hopper");
	assert_string_equal(text(b, "configuration"), "BLOCK_M=128 STAGES=2");
	assert_string_equal(text(t, "configuration"), "BLOCK_M=64 \"STAGES\"=3");
	assert_true(is_null(json_object_get(json_array_get(cells, 1), "base"), "configuration"));
	const json_t *phases = json_object_get(slow, "phases");
	assert_int_equal(json_array_size(phases), 2);
	assert_string_equal(text(json_array_get(phases, 0), "phase"), "prepare"); /* in the order of execution */
	assert_true(fabs(number(json_array_get(phases, 0), "change_pct")) < 1);
	assert_true(number(json_array_get(phases, 1), "change_pct") < -3);
	assert_true(number(json_object_get(slow, "call"), "base_us") > 1000);
	assert_true(number(json_object_get(slow, "error_ratio"), "target") == 0.31);
	assert_true(is_null(slow, "failure") && is_null(slow, "reason") && is_null(slow, "nodes"));
	assert_int_equal(number(json_object_get(json_array_get(cells, 3), "shape"), "block"), 64);
	json_decref(j);
	buf_fini(&body);
}

static void report_mask(struct result *r, enum role role, int cell, int64_t claimed)
{
	struct msg m = { .t = MSG_WORK,
		.u.work = { .cell = cell,
			.flops_issued = -1,
			.bytes_moved = 1e6,
			.tiles_total = 1024,
			.tiles_skipped = 800,
			.tiles_partial = 32,
			.blocks_kept = claimed,
			.workspace_bytes = 100,
			.persist_bytes = 20,
			.tensor_bytes = 3000,
			.mask_blocks = 4096,
			.mask = { .pairs = 1000,
				.pairs_kept = 250,
				.rows = 8192,
				.rows_empty = 3,
				.tiles = 2048,
				.tiles_masked = 1600 },
			.mask_kept = 819 } };
	m.u.work.role = role;
	snprintf(m.u.work.provider, sizeof m.u.work.provider, "hopper");
	fixture_add(r, &m);
}

/* The median of the base's times of a cell in a run, from one record; NAN if the record is another's. */
static double middle(const struct msg_cell *m, int cell)
{
	float sorted[STATS_PAIRS_MAX];
	if (m->cell != cell || m->series != SERIES_DEVICE)
		return NAN;
	int side = m->role[0] == ROLE_BASE ? 0 : 1;
	memcpy(sorted, m->ms[side], (size_t)m->n * sizeof *sorted);
	return stats_median(sorted, m->n);
}

/* How much faster the base is in `cell` than in `baseline`, run by run. */
static double beside_in_runs(const struct result *r, int cell, int baseline)
{
	double sum = 0;
	int n = 0;
	for (int i = 0; i < r->n_cells; i++)
		for (int k = 0; k < r->n_cells; k++) {
			double over = middle(r->cell[k], baseline) / middle(r->cell[i], cell);
			if (r->cell[i]->run != r->cell[k]->run || !isfinite(over))
				continue;
			sum += log(over);
			n++;
		}
	return exp(sum / n);
}

static void masks_are_next_to_claims_and_dense_cases(void **state)
{
	struct fixture *f = *state;
	static const double shift[4] = { 0 };
	struct buf body;
	struct result *r = fixture_result(f, "feature/x", 1, 2, 4);
	struct cell *dense = &r->plan.request.cell[1];
	attention_of(dense)->mask = FW_FULL;
	attention_of(dense)->seqlen = attention_of(dense)->length[0] = 4096;
	case_name(dense);
	fixture_measured(r, shift);
	report_mask(r, ROLE_BASE, 3, 819);
	report_mask(r, ROLE_TARGET, 3, 800);
	double expected = beside_in_runs(r, 3, 1);
	json_t *j = body_of(f, judged(f, r), &body);
	const json_t *cells = json_object_get(j, "cells"), *full = json_array_get(cells, 1), *sparse = json_array_get(cells, 3);
	assert_true(is_null(full, "sparsity") && is_null(full, "over_baseline") && is_null(full, "peak"));
	const json_t *sparsity = json_object_get(sparse, "sparsity"), *base = json_object_get(sparsity, "base"),
		     *target = json_object_get(sparsity, "target");
	assert_int_equal(number(sparsity, "blocks"), 4096);
	assert_int_equal(number(sparsity, "masked"), 4096 - 819);
	assert_true(fabs(number(sparsity, "density") - 0.25) < 1e-9);
	assert_int_equal(number(sparsity, "tiles_masked"), 1600);
	assert_int_equal(number(sparsity, "rows_empty"), 3);
	assert_true(number(sparsity, "expected_low") == 1.5 && number(sparsity, "expected_high") == 3);
	assert_string_equal(text(base, "text"),
		"density 0.25, tiles of 64x64 fully masked 1600/2048 (78.1 %), tiles skipped 800/1024, "
		"partial 3.12 %; skipping on");
	assert_true(is_null(base, "contradiction"));
	assert_int_equal(number(target, "blocks_kept"), 800);
	assert_string_equal(text(target, "contradiction"), "claims 800 active blocks, the mask has 819");
	assert_int_equal(number(json_object_get(sparse, "peak"), "target_bytes"), 3120);
	const json_t *over = json_object_get(sparse, "over_baseline");
	assert_true(fabs(number(over, "base") / expected - 1) < 1e-5);
	assert_non_null(strstr(text(over, "base_expected"), "expected 1.5 to 3: "));
	assert_int_equal(number(over, "runs"), number(sparse, "runs")); /* each run timed both */
	assert_true(fabs(number(over, "ideal") - 64.0 / 12) < 1e-4);    /* 0.2 selects 12 of 64 blocks */
	const json_t *lines = json_object_get(j, "long_over_short"), *line = json_array_get(lines, 0);
	assert_int_equal(json_array_size(lines), 1); /* causal at 1024 and 3072 tokens; the others have one length */
	assert_string_equal(text(line, "title"), "causal");
	assert_int_equal(number(line, "shortest"), 1024);
	assert_int_equal(number(line, "longest"), 3072);
	expected = number(json_object_get(json_array_get(cells, 2), "target"), "tflops") /
		   number(json_object_get(json_array_get(cells, 0), "target"), "tflops");
	assert_true(fabs(number(line, "target") / expected - 1) < 1e-5);
	json_decref(j);
	buf_fini(&body);
}

static void unmeasured_values_are_null(void **state)
{
	struct fixture *f = *state;
	struct buf body;
	struct result *r = fixture_result(f, "", 1, 2, 1);
	fixture_build(r, ROLE_BASE, "ok", "aaaa");
	fixture_build(r, ROLE_TARGET, "failed", "");
	memset(&r->device, 0, sizeof r->device);
	json_t *j = body_of(f, judged(f, r), &body);
	const json_t *cell = json_array_get(json_object_get(j, "cells"), 0);
	assert_string_equal(text(j, "verdict"), "failed");
	assert_true(is_null(j, "branch") && is_null(j, "environment") && is_null(j, "isolation"));
	assert_true(is_null(json_object_get(j, "target"), "module_sha256"));
	assert_string_equal(text(json_object_get(j, "target"), "build"), "failed");
	assert_string_equal(text(cell, "failure"), "build");
	assert_string_equal(text(cell, "reason"), "make: exit 2");
	assert_true(is_null(cell, "change_pct") && is_null(cell, "ci_low_pct") && is_null(cell, "mde_pct"));
	assert_true(is_null(json_object_get(cell, "base"), "median_ms") && is_null(json_object_get(cell, "base"), "tflops"));
	assert_int_equal(json_array_size(json_object_get(cell, "phases")), 0);
	assert_true(is_null(cell, "call") && is_null(cell, "clock"));
	json_decref(j);
	buf_fini(&body);
}

static void twenty_cells_stay_small(void **state)
{
	struct fixture *f = *state;
	double shift[20];
	struct buf body;
	for (int i = 0; i < 20; i++)
		shift[i] = 0.002 * i;
	struct result *r = fixture_result(f, "main", 1, 2, 20);
	fixture_measured(r, shift);
	json_t *j = body_of(f, judged(f, r), &body);
	print_message("body of 20 cells: %zu bytes\n", body.len);
	assert_true(body.len < 40000);
	json_decref(j);
	buf_fini(&body);
}

static void equal_rows_give_equal_bytes(void **state)
{
	struct fixture *f = *state;
	double shift = 0.01;
	struct buf one, two;
	struct result *r = fixture_result(f, "main", 1, 2, 1);
	fixture_measured(r, &shift);
	int64_t id = judged(f, r);
	json_t *j = body_of(f, id, &one);
	buf_init(&two, 1 << 20);
	ok(body_comparison(f->db, id, &two, &err));
	assert_string_equal(one.data, two.data);
	refused(ERR_NOT_FOUND, body_comparison(f->db, 4711, &two, &err));
	struct buf small;
	buf_init(&small, 100);
	refused(ERR_FULL, body_comparison(f->db, id, &small, &err));
	json_decref(j);
	buf_fini(&one);
	buf_fini(&two);
	buf_fini(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_documented_key_is_present, setup, teardown),
		cmocka_unit_test_setup_teardown(masks_are_next_to_claims_and_dense_cases, setup, teardown),
		cmocka_unit_test_setup_teardown(unmeasured_values_are_null, setup, teardown),
		cmocka_unit_test_setup_teardown(twenty_cells_stay_small, setup, teardown),
		cmocka_unit_test_setup_teardown(equal_rows_give_equal_bytes, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
