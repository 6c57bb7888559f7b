/* Profiles over HTTP: JSON, CSV and Markdown of what a branch's processes reported, under any name; and requests of one. */
#include "site_fill.h"

#include <math.h>

#include "db/db.h"

#define HOSTILE "fwd<b>|`x`\",=1"

/* The regression's alert with a profile whose names of kernels and machine code are special in other formats. */
static void put(struct run *run)
{
	struct fixture *f = run->f;
	static struct msg_code code = { .base = HOSTILE,
		.target = HOSTILE,
		.what = EVIDENCE_CODE_CHANGED,
		.n_opcodes = 1,
		.opcode = { { "HGMMA", 24, 48 } },
		.hunks = "+ HGMMA\n</details>\n```\n",
		.hot = { [1] = { .samples = 200, .n = 1, .line = { { { 0x10, 50, "gmma", 40 }, "HGMMA <i>" } } } } };
	const struct msg_profile end = {
		.path = EVIDENCE_CODE, .why = "counters need a GPU", .stalls_why = "nobody <b> sampled"
	};
	struct evidence_value value = { "dram__bytes_read.sum", 123 };
	struct msg_kernel k = { .kernel = HOSTILE, .phase = "run", .ms = 1.5, .registers = 168, .n_values = 1, .value = &value };
	struct store_job job = {
		.repo = f->repo, .kind = JOBKIND_PROFILE, .origin = "alert", .base_how = "given", .suite = "ffa"
	};
	int64_t comparison = fill(run);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", fixture_sha(0xb1));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(0xb2));
	ok(db_begin(f->db, &err));
	ok(store_job_insert(f->db, &job, 8000, &err));
	struct store_profile p = { .job = job.id, .comparison = comparison, .alert = 1 };
	ok(store_profile_insert(f->db, &p, &err));
	struct store_profile_cell c = { .profile = p.id,
		.key = CELL,
		.state = STORE_PROFILE_DONE,
		.why = end.why,
		.end = &end,
		.base_ms = 1.66,
		.target_ms = 1.71 };
	ok(store_profile_cell_put(f->db, &c, &err));
	for (int i = 0; i < 4; i++) {
		k.role = i % 2 ? ROLE_TARGET : ROLE_BASE;
		k.repeat = i / 2;
		k.ms = i % 2 ? 1.5 + i : 1 + i; /* 1 and 3, 2.5 and 4.5 */
		k.registers = i % 2 ? 200 : 168;
		ok(store_profile_kernel_put(f->db, c.id, &k, &err));
	}
	ok(store_profile_code_put(f->db, c.id, &code, &err));
	struct store_profile_cause cause = { .code = "tensor_instructions",
		.kernel = HOSTILE,
		.confidence = "measured",
		.sentence = "twice the products @everyone <i>",
		.explained_ms = 0.04,
		.of_ms = 0.05 };
	ok(store_profile_cause_put(f->db, c.id, &cause, &err));
	ok(store_profile_diagnostic_put(f->db, p.id,
		&(struct profile_diagnostic){
			.change = "new", .kind = "serial", .code = "C7512", .kernel = HOSTILE, .what = "for <i> want" },
		&err));
	ok(store_job_done(f->db, job.id, 9000, &err));
	ok(db_commit(f->db, &err));
}

static void test_as_json(void **state)
{
	struct run *run = *state;
	put(run);
	json_t *root = get_json(run, "/api/v1/profiles/1"), *cell = json_array_get(json_object_get(root, "cells"), 0);
	assert_string_equal(text_at(root, "state"), "done");
	assert_string_equal(text_at(cell, "why"), "counters need a GPU");
	assert_int_equal(json_array_size(json_object_get(cell, "processes")), 4);
	json_t *said = json_array_get(json_object_get(root, "diagnostics"), 0);
	assert_string_equal(text_at(said, "change"), "new");
	assert_string_equal(text_at(said, "kind"), "serial");
	assert_string_equal(text_at(said, "code"), "C7512");
	assert_string_equal(text_at(said, "kernel"), HOSTILE);
	json_t *kernels = json_object_get(cell, "kernels"), *kernel = json_array_get(kernels, 0);
	assert_int_equal(json_array_size(kernels), 1); /* one kernel for both sides and all processes */
	assert_string_equal(text_at(kernel, "kernel"), HOSTILE);
	assert_true(json_number_value(json_object_get(json_object_get(kernel, "base"), "ms")) == 2);
	assert_true(json_number_value(json_object_get(json_object_get(kernel, "target"), "ms")) == 3.5);
	assert_true(json_is_null(json_object_get(kernel, "same_code")));
	json_t *piece = json_array_get(json_object_get(cell, "code"), 0), *seen = json_object_get(piece, "target_stalls"),
	       *line = json_array_get(json_object_get(seen, "lines"), 0);
	assert_string_equal(text_at(piece, "hunks"), "+ HGMMA\n</details>\n```\n");
	assert_true(json_is_null(json_object_get(piece, "base_stalls")));
	assert_int_equal(json_integer_value(json_object_get(seen, "samples")), 200);
	assert_int_equal(json_integer_value(json_array_get(line, 0)), 0x10);
	assert_string_equal(json_string_value(json_array_get(line, 2)), "gmma");
	assert_string_equal(json_string_value(json_array_get(line, 4)), "HGMMA <i>");
	assert_string_equal(text_at(cell, "stalls_why"), "nobody <b> sampled");
	json_decref(root);
	root = get_json(run, "/api/v1/alerts/1");
	assert_string_equal(text_at(json_object_get(root, "why"), "sentence"), "twice the products @everyone <i>");
	assert_string_equal(text_at(json_object_get(root, "why"), "href"), "/api/v1/profiles/1");
	json_decref(root);
	static const char *const lists[] = { "?alert=1", "?comparison=2", "?repo=kernels", "" };
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		char path[64];
		snprintf(path, sizeof path, "/api/v1/profiles%s", lists[i]);
		root = get_json(run, path);
		assert_int_equal(json_array_size(json_object_get(root, "items")), 1);
		json_decref(root);
	}
	root = get_json(run, "/api/v1/profiles?comparison=1");
	assert_int_equal(json_array_size(json_object_get(root, "items")), 0);
	json_decref(root);
	assert_problem(get(run, "/api/v1/profiles/2"), 404, "there is no profile 2");
	assert_problem(get(run, "/api/v1/profiles?alert=1&comparison=2"), 400, "exclude each other");
}

/* Two kernels a call, counted by two processes of each side: values of the call. */
static void test_configurations(void **state)
{
	static const struct {
		const char *metric;
		double value;
	} counted[] = { { "gpu__time_duration.sum", 1e6 }, { "dram__bytes_read.sum", 2e9 }, { "dram__bytes_write.sum", 1e9 },
		{ "lts__t_sectors.sum", 400 }, { "lts__t_sectors_lookup_hit.sum", 300 }, { "l1tex__t_sectors.sum", 200 },
		{ "l1tex__t_sectors_lookup_hit.sum", 20 },
		{ "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", 60 },
		{ "smsp__issue_active.avg.pct_of_peak_sustained_active", 40 }, { "smsp__inst_executed.sum", 100 },
		{ "smsp__thread_inst_executed.sum", 2400 }, { "smsp__sass_data_bytes_mem_global_op_ld.sum", 1600 },
		{ "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 100 },
		{ "smsp__warps_issue_stalled_long_scoreboard.sum", 30 }, { "smsp__warps_issue_stalled_barrier.sum", 5 },
		{ "smsp__warps_issue_stalled_selected.sum", 65 } };
	enum { COUNTED = sizeof counted / sizeof counted[0], TENSOR = 7 };
	struct run *run = *state;
	struct evidence_value value[COUNTED];
	put(run);
	for (size_t i = 0; i < COUNTED; i++) {
		value[i] = (struct evidence_value){ .value = counted[i].value };
		snprintf(value[i].metric, sizeof value[i].metric, "%s", counted[i].metric);
	}
	ok(db_begin(run->f->db, &err));
	for (int i = 0; i < 4; i++) { /* the second kernel takes as long and does not use the tensor cores */
		struct msg_kernel k = { .role = ROLE_TARGET,
			.repeat = i / 2,
			.n = 10 + i % 2,
			.kernel = "counted",
			.phase = "run",
			.n_values = COUNTED,
			.value = value };
		value[TENSOR].value = i % 2 ? 0 : 60;
		ok(store_profile_kernel_put(run->f->db, 1, &k, &err));
	}
	int64_t cell;
	ok(db_first_int(run->f->db, &cell, &err,
		   "SELECT c.id FROM cell c JOIN profile p ON p.comparison = c.comparison WHERE p.id = 1 AND c.key = :key",
		   "key=%s", CELL) == 1
			? 0
			: -1);
	ok(store_metric(run->f->db, cell, "target.peak_bytes", "bytes", 3.5e6, &err));
	ok(db_commit(run->f->db, &err));
	json_t *root = get_json(run, "/api/v1/profiles/1"), *row = json_array_get(json_object_get(root, "configurations"), 0),
	       *base = json_object_get(row, "base"), *target = json_object_get(row, "target");
	assert_int_equal(json_array_size(json_object_get(root, "configurations")), 1);
	assert_int_equal(json_array_size(json_object_get(root, "beside_dense")), 0); /* no cell has a baseline */
	assert_string_equal(text_at(row, "cell"), CELL);
	assert_true(json_number_value(json_object_get(target, "ms")) == 1.71);
	assert_true(fabs(json_number_value(json_object_get(row, "speedup")) - 1.66 / 1.71) < 1e-6);
	assert_true(json_number_value(json_object_get(target, "tflops")) > 0);
	assert_true(json_number_value(json_object_get(target, "dram_gb_s")) == 3000);
	assert_true(json_number_value(json_object_get(target, "dram_mb")) == 6000);
	assert_true(json_number_value(json_object_get(target, "l2_hit_pct")) == 75);
	assert_true(json_number_value(json_object_get(target, "l1_hit_pct")) == 10);
	assert_true(json_number_value(json_object_get(target, "tensor_pct")) == 30);
	assert_true(json_number_value(json_object_get(target, "issue_pct")) == 40);
	assert_true(json_number_value(json_object_get(target, "warp_execution_pct")) == 75);
	assert_true(json_number_value(json_object_get(target, "load_sector_pct")) == 50);
	assert_true(json_is_null(json_object_get(target, "store_sector_pct"))); /* its sectors were not counted */
	assert_true(json_number_value(json_object_get(target, "long_scoreboard_pct")) == 30);
	assert_true(json_number_value(json_object_get(target, "barrier_pct")) == 5);
	assert_true(json_number_value(json_object_get(target, "allocated_mb")) == 3.5);
	assert_true(json_is_null(json_object_get(base, "allocated_mb")));
	assert_true(json_is_null(json_object_get(base, "long_scoreboard_pct")));
	assert_true(json_is_null(json_object_get(target, "bank_conflicts_pct")));
	assert_true(json_is_null(json_object_get(base, "dram_gb_s"))); /* its time was not counted */
	json_decref(root);
	struct answer a = get(run, "/api/v1/profiles/1/configurations.csv");
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body,
		"cell,title,direction,size,side,configuration,ms,tflops,allocated_mb,dram_mb,dram_gb_s,l2_hit_pct,l1_hit_pct,"
		"bank_conflicts_pct,tensor_pct,issue_pct,warp_execution_pct,load_sector_pct,store_sector_pct,"
		"long_scoreboard_pct,barrier_pct,speedup\r\n"));
	assert_non_null(strstr(a.body, ",3.5,6000,3000,75,10,,30,40,75,50,,30,5,0.9708\r\n"));
	answer_free(&a);
	a = get(run, "/api/v1/profiles/1/configurations.md");
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body, "| 3.5 | 6000 | 3000 | 75 | 10 | 30 | 40 | 75 | 50 | 30 | 5 | 0.9708 |"));
	assert_null(strstr(a.body, "bank conflicts")); /* counted on no side: no column */
	answer_free(&a);
	assert_problem(get(run, "/api/v1/profiles/2/configurations.csv"), 404, "there is no profile 2");
	assert_problem(get(run, "/api/v1/profiles/2/configurations.md"), 404, "there is no profile 2");
}

static void put_counted(struct run *run, int64_t cell, double scale)
{
	static const char *const metrics[] = { "gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
		"lts__t_sectors.sum", "smsp__issue_active.avg.pct_of_peak_sustained_active",
		"smsp__warps_issue_stalled_barrier.sum", "smsp__warps_issue_stalled_selected.sum" };
	static const double values[] = { 1e6, 3e6, 1e6, 1e6, 40, 8e6, 5e6 };
	enum { COUNTED = sizeof values / sizeof *values, ISSUE = 4 };
	struct evidence_value value[COUNTED];
	for (int i = 0; i < COUNTED; i++) {
		value[i] = (struct evidence_value){ .value = values[i] * (i == ISSUE ? 1 : scale) };
		snprintf(value[i].metric, sizeof value[i].metric, "%s", metrics[i]);
	}
	for (int repeat = 0; repeat < 2; repeat++)
		ok(store_profile_kernel_put(run->f->db, cell,
			&(struct msg_kernel){ .role = ROLE_TARGET,
				.repeat = repeat,
				.n = 10,
				.kernel = "counted",
				.phase = "run",
				.n_values = COUNTED,
				.value = value },
			&err));
}

/* A cell with a mask, and the dense one that it is compared with, were counted in the same profile. */
static void test_beside_dense(void **state)
{
	struct run *run = *state;
	const struct msg_profile end = { .path = EVIDENCE_RANGE };
	struct store_profile_cell dense = { .profile = 1,
		.n = 1,
		.key = "attention/dense/full",
		.state = STORE_PROFILE_DONE,
		.why = "",
		.end = &end,
		.base_ms = 2,
		.target_ms = 2 };
	put(run);
	ok(db_begin(run->f->db, &err));
	ok(store_profile_cell_put(run->f->db, &dense, &err));
	put_counted(run, 1, 0.5);
	put_counted(run, dense.id, 2);
	ok(db_script(run->f->db, "UPDATE cell_shape SET baseline = 'attention/dense/full'", &err));
	ok(db_commit(run->f->db, &err));
	json_t *root = get_json(run, "/api/v1/profiles/1");
	const json_t *row = json_array_get(json_object_get(root, "beside_dense"), 0), *target = json_object_get(row, "target");
	assert_int_equal(json_array_size(json_object_get(root, "beside_dense")), 1);
	assert_string_equal(text_at(row, "cell"), CELL);
	assert_string_equal(text_at(row, "dense"), "attention/dense/full");
	static const struct {
		const char *key;
		double value;
	} expected[] = { { "dram_mb", 2 }, { "dense_dram_mb", 8 }, { "l2_mb", 16 }, { "dense_l2_mb", 64 }, { "issue_pct", 40 },
		{ "dense_issue_pct", 40 }, { "stalled_mcycles", 4 }, { "dense_stalled_mcycles", 16 } };
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_true(fabs(json_number_value(json_object_get(target, expected[i].key)) - expected[i].value) <
			    1e-3); /* with the 123 bytes of put */
	assert_true(json_is_null(json_object_get(json_object_get(row, "base"), "dram_mb")));
	json_decref(root);
	struct answer a = get(run, "/api/v1/profiles/1/configurations.md");
	assert_non_null(strstr(a.body, "` | target | 2 | 8 | 16 | 64 | 40 | 40 | 4 | 16 |\n"));
	answer_free(&a);
}

static void assert_holds(struct run *run, const char *path, const char *text)
{
	struct answer a = get(run, path);
	assert_int_equal(a.status, 200);
	if (!strstr(a.body, text))
		fail_msg("%s does not hold %s: %.3000s", path, text, a.body);
	answer_free(&a);
}

static void test_as_tables(void **state)
{
	struct run *run = *state;
	put(run);
	assert_holds(
		run, "/api/v1/profiles/1.csv", "cell,side,repeat,n,phase,kernel,code_sha,metric,value\r\n" CELL ",base,0,0,run,");
	assert_holds(run, "/api/v1/profiles/1.csv", ",\"fwd<b>|`x`\"\",=1\",,dram__bytes_read.sum,123\r\n");
	assert_holds(run, "/api/v1/profiles/1.md", "1.66 ms → 1.71 ms, read by code: counters need a GPU\n");
	assert_holds(run, "/api/v1/profiles/1.md", " | 2 | 3.5 | 168 → 200 | 0 | 0 | 0 | not known |\n");
	assert_holds(run, "/api/v1/profiles/1.md", "\n    + HGMMA\n    </details>\n    ```\n");
	assert_holds(run, "/api/v1/profiles/1.md", "\n- new: (C7512) for ");
	assert_holds(run, "/api/v1/comparisons/2.md", "\nWhy: twice the products ");
	struct answer a = get(run, "/api/v1/profiles/1.md");
	assert_null(strstr(a.body, "<i>"));
	assert_null(strstr(a.body, " @everyone"));
	answer_free(&a);
}

static void test_request_of_a_profile(void **state)
{
	struct run *run = *state;
	struct answer a = post(run, "/api/v1/profiles", "{\"alert\":1}");
	assert_int_equal(a.status, 201);
	assert_string_equal(header_of(&a, "Location"), "/api/v1/profiles/6");
	answer_free(&a);
	assert_string_equal(run->requested.what, "profile - -..- alert=1 comparison=0 cells=\n");
	run->requested.what[0] = '\0';
	a = post(run, "/api/v1/profiles", "{\"repo\":\"r\",\"base\":\"a\",\"target\":\"b\",\"cells\":\"*/forward\"}");
	assert_int_equal(a.status, 201);
	answer_free(&a);
	assert_string_equal(run->requested.what, "profile r a..b alert=0 comparison=0 cells=*/forward\n");
	run->requested.what[0] = '\0';
	static const char *const wrong[] = { "{}", "{\"alert\":1,\"comparison\":2}", "{\"repo\":\"r\",\"target\":\"b\"}",
		"{\"comparison\":2,\"target\":\"b\"}", "{\"alert\":0}", "{\"alert\":\"x\"}" };
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_problem(post(run, "/api/v1/profiles", wrong[i]), 400, "");
	assert_string_equal(run->requested.what, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_as_json, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(test_configurations, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(test_beside_dense, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(test_as_tables, run_setup, run_teardown),
		cmocka_unit_test_setup_teardown(test_request_of_a_profile, run_setup, run_teardown),
	};
	return cmocka_run_group_tests_name("profiles over HTTP", tests, NULL, NULL);
}
