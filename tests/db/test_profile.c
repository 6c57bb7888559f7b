/* Profiles as rows: stored values are read back, rows are small, and the sentence names the cell with the worst regression. */
#include "failing_statements.h"

#include "fixture_views.h"

#include "db/db.h"
#include "lib/lib.h"
#include "protocol/protocol.h"

enum { VALUES = 60 };
static const int kernels[] = { 2, 5, 3 }; /* kernels of a forward, a backward and a sparse cell */

static int64_t number(struct fixture *f, const char *sql)
{
	struct stmt *s = db_stmt(f->db, sql, &err);
	int64_t n = -1;
	assert_non_null(s);
	ok(stmt_first_int(s, &n, &err) == 1 ? 0 : -1);
	return n;
}

static int64_t request(struct fixture *f, int64_t comparison, int64_t alert, const char *cells)
{
	struct store_job job = {
		.repo = f->repo, .kind = JOBKIND_PROFILE, .origin = "alert", .base_how = "given", .suite = "ffa"
	};
	struct store_profile p = { .comparison = comparison, .alert = alert };
	snprintf(job.cells_glob, sizeof job.cells_glob, "%s", cells);
	snprintf(job.base_sha, sizeof job.base_sha, "%s", fixture_sha(1));
	snprintf(job.target_sha, sizeof job.target_sha, "%s", fixture_sha(2));
	ok(store_job_insert(f->db, &job, 5, &err));
	p.job = job.id;
	ok(store_profile_insert(f->db, &p, &err));
	return p.id;
}

static int64_t put_cell(struct fixture *f, int64_t profile, int n, const char *key, double base_ms, double target_ms)
{
	const struct msg_profile end = {
		.path = EVIDENCE_RANGE, .tool = "CUPTI 130001", .passes = 4, .gpu_s = 3.25, .base_config = "TILE=2"
	};
	const struct msg_counterfactual with = { .config = "TILE=2", .base_ms = 1, .target_ms = 1.5, .with_ms = 1.01 };
	struct store_profile_cell c = { .profile = profile,
		.n = n,
		.key = key,
		.state = STORE_PROFILE_DONE,
		.why = "",
		.end = &end,
		.with = n == 0 ? &with : NULL,
		.base_ms = base_ms,
		.target_ms = target_ms };
	ok(store_profile_cell_put(f->db, &c, &err));
	return c.id;
}

static void put_cause(struct fixture *f, int64_t cell, int rank, const char *sentence)
{
	struct store_profile_cause cause = { .rank = rank,
		.code = "dram",
		.kernel = "forward",
		.explained_ms = 0.4,
		.of_ms = 0.5,
		.confidence = "measured",
		.sentence = sentence };
	ok(store_profile_cause_put(f->db, cell, &cause, &err));
}

static void note_row(void *arg, const struct view_profile *row)
{
	struct buf *out = arg;
	buf_printf(out, "%lld %s %.4s-%.4s %s[%s] \"%s\"; ", (long long)row->id, jobstate_name(row->state), row->base + 36,
		row->target + 36, row->suite, row->cells_glob, row->sentence);
}

static void note_cell(void *arg, const struct view_profile_cell *row)
{
	buf_printf(arg, "%d %s %s %s %d %s %.2f", row->n, row->key, row->state, row->path, row->passes, row->base_config,
		row->gpu_s);
	if (row->has_with)
		buf_printf(arg, " with %s %.2f", row->with_config, row->with_ms);
	buf_puts(arg, "; ");
}

static void note_kernel(void *arg, const struct view_profile_kernel *row)
{
	buf_printf(arg, "%s%d%d %s %.1f [%s] [%s] %d; ", row->side, row->repeat, row->n, row->kernel, row->ms, row->grid,
		row->block, row->registers);
}

static void note_value(void *arg, const char *metric, double value)
{
	buf_printf(arg, "%s %.1f; ", metric, value);
}

static void note_code(void *arg, const struct view_profile_code *row)
{
	buf_printf(arg, "%s>%s %s %s %s |%s|; ", row->base, row->target, row->what, row->opcodes_json, row->base_takes_json,
		row->hunks);
}

static void what_was_stored_comes_back(void **state)
{
	struct fixture *f = *state;
	struct buf out;
	static struct msg_code code = { .base = "forward",
		.target = "forward",
		.what = EVIDENCE_CODE_CHANGED,
		.base_takes = { 168, -1, 0, 1 },
		.n_opcodes = 1,
		.opcode = { { "HGMMA", 24, 48 } },
		.hunks = "+ HGMMA\n+ \xc3\xa4\n" };
	struct evidence_value values[] = { { "b.sum", 2 }, { "a.sum", 1.5 } };
	struct msg_kernel k = { .role = ROLE_TARGET,
		.repeat = 1,
		.kernel = "forward",
		.ms = -1,
		.grid = { 132, 1, 1 },
		.block = { 384, 1, 1 },
		.registers = 168,
		.n_values = 2,
		.value = values };
	fill(f, 3);
	buf_init(&out, 1 << 16);
	ok(db_begin(f->db, &err));
	int64_t id = request(f, 2, 0, "*/forward"), cell = put_cell(f, id, 0, keys[0], 1, 1.5);
	ok(store_profile_kernel_put(f->db, cell, &k, &err));
	k.role = ROLE_BASE;
	ok(store_profile_kernel_put(f->db, cell, &k, &err));
	ok(store_profile_code_put(f->db, cell, &code, &err));
	ok(db_commit(f->db, &err));
	ok(view_profile(f->db, id, note_row, &out, &err));
	assert_string_equal(out.data, "1 queued 0001-0002 ffa[*/forward] \"\"; ");
	buf_clear(&out);
	ok(view_profile_cells(f->db, id, note_cell, &out, &err));
	assert_string_equal(out.data, "0 attention/dense/causal/s8192/forward done range 4 TILE=2 3.25 with TILE=2 1.01; ");
	buf_clear(&out);
	ok(view_profile_kernels(f->db, cell, note_kernel, &out, &err));
	assert_string_equal(
		out.data, "base10 forward nan [132 1 1] [384 1 1] 168; target10 forward nan [132 1 1] [384 1 1] 168; ");
	buf_clear(&out);
	ok(view_profile_values(f->db, 1, note_value, &out, &err));
	assert_string_equal(out.data, "a.sum 1.5; b.sum 2.0; ");
	buf_clear(&out);
	ok(view_profile_codes(f->db, cell, note_code, &out, &err));
	assert_string_equal(out.data,
		"forward>forward changed [[\"HGMMA\",24,48]] "
		"{\"registers\":168,\"local_bytes\":-1,\"shared_bytes\":0,\"ctas_per_sm\":1} |+ HGMMA\n+ \xc3\xa4\n|; ");
	refused(ERR_NOT_FOUND, view_profile(f->db, 77, note_row, &out, &err));
	buf_fini(&out);
}

static void the_sentence_is_of_the_cell_that_lost_most(void **state)
{
	struct fixture *f = *state;
	struct buf out;
	struct jsonw j;
	fill(f, 3);
	buf_init(&out, 1 << 16);
	ok(db_begin(f->db, &err));
	int64_t id = request(f, 2, 0, "");
	int64_t little = put_cell(f, id, 0, keys[0], 10, 10.5), much = put_cell(f, id, 1, keys[1], 1, 1.5);
	ok(db_script(f->db, "UPDATE job SET state = 'done' WHERE kind = 'profile'", &err));
	put_cause(f, little, 0, "it reads more");
	put_cause(f, much, 1, "and waits");
	put_cause(f, much, 0, "it spills");
	int64_t open = put_cell(f, id, 2, "attention/open", 1, 2); /* the worst regression, without an explanation */
	struct store_profile_cause left = {
		.code = "not_explained", .kernel = "", .confidence = "open", .sentence = "1 ms is not explained"
	};
	ok(store_profile_cause_put(f->db, open, &left, &err));
	int64_t later = request(f, 2, 0, ""); /* has no result yet */
	ok(db_commit(f->db, &err));
	jsonw_init(&j, &out);
	ok(view_profile_why(f->db, 0, 2, &j, &err));
	assert_string_equal(out.data,
		"{\"profile\":1,\"state\":\"done\",\"state_why\":null,\"answer\":\"in attention/dense/causal/s8192/backward: it spills\",\"sentence\":"
		"\"in attention/dense/causal/s8192/backward: it spills\",\"cause\":\"dram\",\"href\":\"/api/v1/profiles/1\"}");
	buf_clear(&out);
	jsonw_init(&j, &out);
	ok(view_profile_why(f->db, 0, 3, &j, &err));
	assert_string_equal(out.data, "null");
	buf_clear(&out);
	struct view_profile_filter all = { .comparison = 2 };
	ok_once(view_profiles(f->db, &all, note_row, &out, &err));
	assert_string_equal(out.data,
		"2 queued 0001-0002 ffa[] \"\"; 1 done 0001-0002 ffa[] \"in attention/dense/causal/s8192/backward: it spills\"; ");
	buf_clear(&out);
	all = (struct view_profile_filter){ .before = later };
	ok(view_profiles(f->db, &all, note_row, &out, &err));
	assert_string_equal(out.data, "1 done 0001-0002 ffa[] \"in attention/dense/causal/s8192/backward: it spills\"; ");
	buf_fini(&out);
}

static int find(
	struct fixture *f, int base, int target, const char *provider, const char *config, const char *suite, int64_t *comparison)
{
	struct store_profile_of of = { .repo = f->repo };
	snprintf(of.base_sha, sizeof of.base_sha, "%s", fixture_sha(base));
	snprintf(of.target_sha, sizeof of.target_sha, "%s", fixture_sha(target));
	snprintf(of.base_provider, sizeof of.base_provider, "%s", provider);
	snprintf(of.target_config, sizeof of.target_config, "%s", config);
	snprintf(of.suite, sizeof of.suite, "%s", suite);
	return store_profile_comparison(f->db, &of, comparison, &err);
}

static void a_comparison_names_what_its_profile_measures(void **state)
{
	struct fixture *f = *state;
	struct store_profile_of of;
	int64_t comparison = 0;
	fill(f, 3);
	ok(store_profile_read_comparison(f->db, 2, &of, &err));
	assert_string_equal(of.suite, "ffa");
	assert_string_equal(of.device_uuid, "sim-0");
	assert_string_equal(of.target_sha, fixture_sha(2));
	refused(ERR_NOT_FOUND, store_profile_read_comparison(f->db, 99, &of, &err));
	assert_int_equal(find(f, 1, 2, "", "", "", &comparison), 1);
	assert_int_equal(comparison, 2);
	assert_int_equal(find(f, 1, 2, "cudnn", "", "", &comparison), 0);
	assert_int_equal(find(f, 1, 2, "", "TILE=3", "", &comparison), 0);
	assert_int_equal(find(f, 2, 1, "", "", "ffa", &comparison), 0);
}

/* Three cells, four processes, sixty counters a kernel, and the longest allowed code difference in one kernel of each cell. */
static void the_profile_of_an_alert_is_small(void **state)
{
	struct fixture *f = *state;
	static struct msg_code code = { .base = "forward", .target = "forward", .what = EVIDENCE_CODE_CHANGED };
	struct evidence_value values[VALUES];
	struct buf hunks;
	char copy[160], cells[3][64];
	fill(f, 3);
	ok(db_begin(f->db, &err));
	for (int v = 0; v < VALUES; v++) /* their names are stored once, for all profiles */
		snprintf(values[v].metric, sizeof values[v].metric, "smsp__inst_executed_op_local_%d.sum", v);
	buf_init(&hunks, EVIDENCE_HUNKS_MAX);
	for (unsigned at = 0; !hunks.failed; at += 16)
		buf_printf(&hunks, "%c %05x  IMAD.WIDE.U32 R%u, R%u, UR%u, R%u\n", "+- "[at / 16 * 7 % 3], at, at * 31 % 251,
			at * 17 % 241, at * 13 % 61, at * 29 % 239);
	memcpy(code.hunks, hunks.data, hunks.len);
	buf_fini(&hunks);
	ok(db_commit(f->db, &err));
	snprintf(copy, sizeof copy, "%s/copy.db", f->folder);
	int64_t size[2];
	for (int part = 0; part < 2; part++) {
		ok(db_begin(f->db, &err));
		int64_t id = request(f, 2, 0, "");
		for (int c = 0; c < (part ? 3 : 1); c++) { /* the first one only inserts the names */
			snprintf(cells[c], sizeof cells[c], "attention/dense/full/s%d/forward", c);
			int64_t cell = put_cell(f, id, c, cells[c], 1, 1.5);
			for (int k = 0; k < 4 * kernels[c]; k++) {
				struct msg_kernel m = { .role = k / kernels[c] % 2 ? ROLE_TARGET : ROLE_BASE,
					.repeat = k / kernels[c] / 2,
					.n = k % kernels[c],
					.phase = "run",
					.kernel = "flash_forward_kernel<128, 64, 3>",
					.ms = 0.5,
					.grid = { 132, 16, 1 },
					.block = { 384, 1, 1 },
					.n_values = VALUES,
					.value = values };
				snprintf(m.code_sha256, sizeof m.code_sha256, "%064x", (unsigned)(k % kernels[c]));
				for (int v = 0; v < VALUES; v++)
					values[v].value = 1e6 * (v + 1) + 977 * k + 31 * c;
				ok(store_profile_kernel_put(f->db, cell, &m, &err));
			}
			ok(store_profile_code_put(f->db, cell, &code, &err));
		}
		ok(db_commit(f->db, &err));
		size[part] = number(f, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
	}
	print_message("# %lld bytes a profile\n", (long long)(size[1] - size[0]));
	assert_true(size[1] - size[0] < 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_stored_comes_back, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_sentence_is_of_the_cell_that_lost_most, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_comparison_names_what_its_profile_measures, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(the_profile_of_an_alert_is_small, setup, fixture_teardown),
	};
	return run_twice(tests);
}
