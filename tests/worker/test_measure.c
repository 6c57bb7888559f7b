/* measure.c, acceptance.c, bench.c with a runner made of shell: the runs, how many, and the verdicts from them. */
#include "measure_run.h"

#include <math.h>

#include "protocol/protocol.h"

static void next_takes_sets_in_order(void **state)
{
	struct scene *s = *state;
	struct bench *b = &s->bench;
	int list[CELLS], set;

	assert_int_equal(measure_next(b, list, &set), CELLS);
	assert_int_equal(set, 1);
	b->cell[0].found.typical.want_set = 2;
	b->cell[1].found.typical.want_set = 0;
	b->cell[1].found.typical.want_precision = true;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 2);
	assert_int_equal(set, 1);
	b->cell[2].open = false;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 0);
	assert_int_equal(set, 2);
	b->cell[0].found.typical.want_set = 0;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 1);
	assert_int_equal(set, 1);
	b->quick = true;
	assert_int_equal(measure_next(b, list, &set), 0);
}

static void every_side_begins_equally_often(void **state)
{
	struct bench b = { .seed = 5 };
	int firsts = 0;

	(void)state;
	for (int n = 2; n <= 4; n++) {
		int begun[4] = { 0 };

		for (int i = 0; i < 24; i++) {
			b.runs++;

			int first = order_first(n, 1, 0, bench_rotation(&b)), after = 1;

			begun[first]++;
			while ((first + after) % n > 1) /* neither base nor target */
				after++;

			int leads = first < 2 ? first : (first + after) % n;

			assert_int_equal(leads == 1, bench_rotation(&b) % 2 == 0); /* the base, in every second */
		}
		for (int i = 0; i < n; i++)
			assert_true(begun[i] >= 24 / (2 * n));
	}
	for (int i = 0; i < 100; i++)
		firsts += bench_rotation(&(struct bench){ .seed = (uint64_t)i, .runs = 1 }) % 2;
	assert_true(firsts > 30 && firsts < 70); /* by chance in the first */
}

static void equal_times_are_unchanged(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0");
	check_all(s);
	if (bench_failure(&s->bench, 0))
		fail_msg("%s", bench_failure(&s->bench, 0)->detail);
	assert_int_equal(s->checks, 2 * CELLS);
	assert_int_equal(runs_of(s, "check"), 2);
	measure_all(s);
	assert_int_equal(report_verdict(&s->bench), VERDICT_UNCHANGED);
	assert_true(s->runs >= 2);
	assert_int_equal(s->runs, runs_of(s, "time"));
	assert_int_equal(runs_of(s, "phases"), 1);
	assert_int_equal(s->faults, 0);
	assert_true(s->bench.gpu_s > 0);
}

static void a_slower_target_is_confirmed(void **state)
{
	struct scene *s = *state;
	int sets[3] = { 0 };

	runner(s, "pass", "if [ $i = 1 ]; then timings 1.019; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REGRESSION);
	for (int i = 0; i < s->bench.cell[1].n_runs; i++)
		sets[s->bench.cell[1].run[i].set]++;
	assert_int_equal(sets[1], s->bench.rule.runs_regression_min);
	assert_int_equal(sets[2], s->bench.rule.runs_regression_min);
	assert_true(s->bench.cell[0].n_runs < sets[1]);
	assert_true(stats_change_pct(s->bench.cell[1].found.typical.all.m) < -1.8);
}

/* At a low threshold a cell whose first set varies too much gets further runs while budget is left, others do not. */
static void a_set_without_a_verdict_continues(void **state)
{
	struct scene *s = *state;
	int sets[3] = { 0 };

	s->cell[1].threshold_pct = s->cell[2].threshold_pct = 0.5;
	runner(s, "pass",
		"if [ $i != 1 ]; then timings 1.0; elif [ $((run % 2)) = 1 ]; then timings 1.004; else timings 1.016; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
	for (int i = 0; i < s->bench.cell[1].n_runs; i++)
		sets[s->bench.cell[1].run[i].set]++;
	assert_int_equal(sets[1], s->bench.rule.runs_max);
	assert_true(sets[2] >= 4 && sets[1] + sets[2] <= s->bench.rule.runs_pooled_max);
	assert_true(s->bench.cell[2].n_runs < 4);
}

/* One cell becomes slower and one faster by far more than runs vary: neither waits for a second set. */
static void overwhelming_evidence_is_not_measured_twice(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then timings 1.06; else timings 0.94; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_IMPROVEMENT);
	for (int cell = 0; cell < 2; cell++) {
		struct bench_cell *c = &s->bench.cell[cell];

		assert_true(c->n_runs <= 4);
		assert_true(c->found.typical.flags & FLAG_OVERWHELMING);
		for (int i = 0; i < c->n_runs; i++)
			assert_int_equal(c->run[i].set, 1);
	}
	assert_int_equal(runs_of(s, "phases"), 2); /* or no phase would have an interval */
}

/* The same where the budget ends before four runs: the evidence stays as it is. */
static void the_budget_does_not_hide_overwhelming_evidence(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then timings 1.08; else timings 0.92; fi");
	check_all(s);
	measure_all(s);
	assert_true(s->bench.cell[1].n_runs < 4);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_IMPROVEMENT);

	/* without interim looks a regression after four runs at most is undecided */
	s->bench.rule.p_interim = 0;
	bench_judge(&s->bench, 1);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNDECIDED);
}

static void quick_is_one_run(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.05");
	s->bench.quick = true;
	s->bench.rule.runs_max = 1;
	s->bench.rule.confirm = false;
	measure_all(s);
	assert_int_equal(s->runs, 1);
}

static void the_budget_ends_it(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0");
	s->bench.limits.budget_s = 1e-9;
	measure_all(s);
	assert_int_equal(s->runs, 1);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNDECIDED);
}

/* A thread of the target that is still running crashes while no side is named: what was found before counts. */
static void a_crash_after_a_fault_does_not_hide_it(void **state)
{
	struct scene *s = *state;

	runner(s, "pass",
		"if [ $i = 1 ]; then fault target escaped; else timings 1.0; fi; at '' end; [ $i != 2 ] || kill -FPE $$");
	check_all(s);
	measure_all(s);
	assert_string_equal(bench_failure(&s->bench, 1)->failure, "escaped");
	assert_int_equal(bench_failure(&s->bench, 1)->role, ROLE_TARGET);
	assert_null(bench_failure(&s->bench, 0));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

static int spend_the_budget(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;

	if (m->t == MSG_CELL && m->u.cell->run == 2)
		s->bench.limits.budget_s = 0;
	return count(arg, m, err);
}

/* The second run ends before its second cell; the cells that it did not reach have the first one and no failure. */
static void the_budget_ends_a_run_between_cells(void **state)
{
	struct scene *s = *state;
	int with_two = 0;

	runner(s, "pass", "at target inputs; timings 1.0");
	check_all(s);
	s->bench.emit = spend_the_budget;
	measure_all(s);
	assert_int_equal(s->runs, 2);
	assert_int_equal(s->faults, 0);
	for (int i = 0; i < CELLS; i++) {
		assert_null(bench_failure(&s->bench, i));
		assert_in_range(s->bench.cell[i].n_runs, 1, 2);
		with_two += s->bench.cell[i].n_runs == 2;
	}
	assert_int_equal(with_two, 1);
}

static void wrong_results_are_not_timed(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 0target ] || [ $i$role = 1base ]; then wrong; else pass; fi", "timings 1.0");
	check_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_FAILED);
	assert_string_equal(bench_failure(&s->bench, 0)->failure, "wrong");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_NOT_COMPARABLE);
	measure_all(s);
	assert_int_equal(s->run.n_cells, 1);
	assert_int_equal(s->run.cell[0], 2);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
	assert_int_equal(report_verdict(&s->bench), VERDICT_FAILED);
}

static void an_error_of_both_sides_blames_the_base(void **state)
{
	struct scene *s = *state;

	runner(s, "wrong", "timings 1.0");
	check_all(s);
	assert_int_equal(report_verdict(&s->bench), VERDICT_NOT_COMPARABLE);
	measure_all(s);
	assert_int_equal(s->runs, 0);
}

static void a_repeated_error_blames_its_commit(void **state)
{
	struct scene *s = *state;

	runner(s, "wrong", "timings 1.0");
	s->bench.selfcheck = true;
	check_all(s);
	assert_int_equal(report_verdict(&s->bench), VERDICT_FAILED);
	assert_int_equal(bench_failure(&s->bench, 0)->role, ROLE_TARGET);
}

static void a_void_run_is_not_used(void **state)
{
	struct scene *s = *state;
	char text[16384];
	FILE *f = tmpfile();

	runner(s, "pass", "timings 1.0 64");
	s->bench.limits.budget_s = 1e-9;
	check_all(s);
	measure_all(s);
	assert_int_equal(s->runs, 1);
	assert_null(bench_failure(&s->bench, 0));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_REJECTED);
	assert_non_null(f);
	assert_int_equal(report_text(&s->bench, "tiny", f), 0);
	rewind(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	assert_non_null(strstr(text, ": rejected: not measured: device readings invalidated every run\n"));
}

static void different_inputs_are_not_comparable(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0");
	check_all(s);
	assert_int_equal(strlen(s->bench.cell[0].check_inputs[BENCH_TARGET]), 64);
	s->bench.cell[0].check_inputs[BENCH_TARGET][0] ^= 1;
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_NOT_COMPARABLE);
	assert_null(bench_failure(&s->bench, 0));
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNDECIDED);
}

static void unsupported_cells_of_a_side_are_skipped(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i = 0 ] || [ $i$role = 1base ] || [ $i$role = 2target ]; then fault $role unsupported; else pass; fi",
		"timings 1.0");
	check_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNSUPPORTED);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_ADDED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_FAILED); /* a functional regression */
	snprintf(s->bench.side[s->bench.base].provider, sizeof s->bench.side[0].provider, "peer");
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_REMOVED);
	measure_all(s);
	assert_int_equal(s->runs, 0);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REMOVED);
}

static void a_cell_that_the_reference_does_not_support_voids_no_other(void **state)
{
	struct scene *s = *state;
	struct bench *b = &s->bench;

	assert_int_equal(add_side(s, ROLE_REFERENCE, "another"), 0);
	bench_note(b, 1, ROLE_REFERENCE, "unsupported", "not this one");
	assert_false(b->side[b->n_sides - 1].dropped);
	assert_true(b->cell[1].open);
	bench_note(b, 2, ROLE_REFERENCE, "wrong", "O[1]");
	assert_true(b->side[b->n_sides - 1].dropped);
}

/* The worker judges a cell whose noise is stored like the daemon will. */
static void memory_yields_to_clear_runs(void **state)
{
	struct scene *s = *state;
	float base[8], target[8];
	struct msg_cell m = { .series = SERIES_DEVICE, .n_sides = 2, .n = 8, .ms = { base, target } };

	m.role[0] = ROLE_BASE;
	m.role[1] = ROLE_TARGET;
	device_check_unknown(&m.device_check);
	for (int cell = 0; cell < 2; cell++) {
		m.cell = cell;
		s->cell[cell].tau0 = cell ? 0.06 : 0.26;
		s->cell[cell].nu0 = 10;
		s->cell[cell].underpowered_pct = cell ? 12 : 27.9;
		for (m.run = 1; m.run <= 8; m.run++) {
			double off = (cell ? 0.06 : 0.01) * (m.run % 2 ? 1 : -1);

			m.set = m.run > 4 ? 2 : 1;
			for (int k = 0; k < m.n; k++) {
				base[k] = 1 + (float)(k % 3) / 1000;
				target[k] = (float)exp(0.1 + off) * base[k];
			}
			assert_int_equal(bench_add(&s->bench, &m, &s->err), 1);
			bench_judge(&s->bench, cell);
		}
	}
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_REGRESSION);
	assert_int_equal(s->bench.cell[0].found.typical.flags, 0);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNDECIDED);
	assert_int_equal(s->bench.cell[1].found.typical.flags, FLAG_UNDERPOWERED);
}

/* A module with the kernel "forward", for sm_90. */
static void write_module(struct buf *out)
{
	static const char body[64] = "instructions";
	struct buf code, entries, section;
	struct elf_write w;

	buf_init(&code, 1 << 16);
	buf_init(&entries, 1 << 16);
	buf_init(&section, 1 << 16);
	elf_begin(&w);
	elf_add(&w, ".text.forward", SHT_PROGBITS, 0, body, sizeof body);
	elf_end(&w, &code);
	fatbin_entry(&entries, FATBIN_KIND_CODE, 90, 0, code.data, code.len, 0);
	fatbin_container(&section, &entries);
	elf_begin(&w);
	elf_add(&w, ".nv_fatbin", SHT_PROGBITS, 0, section.data, section.len);
	elf_end(&w, out);
	buf_fini(&code);
	buf_fini(&entries);
	buf_fini(&section);
}

static void the_code_of_kernels_is_read_from_the_module(void **state)
{
	struct scene *s = *state;
	static const char lie[] = "1111111111111111111111111111111111111111111111111111111111111111";
	char script[1200], known[HASH_HEX], unknown[HASH_HEX];
	struct buf module;

	hash_hex("forward", 7, known);
	hash_hex("backward", 8, unknown);
	snprintf(script, sizeof script,
		"node() { say "
		"'{\"t\":\"node\",\"role\":\"'$role'\",\"cell\":'$i',\"phase\":\"run\",\"kernel\":\"k\",\"grid\":[1,1,1],"
		"\"block\":[1,1,1],\"sm\":90,\"symbol_sha256\":\"'$1'\",\"code_sha256\":\"%s\"}'; }\nnode %s; node %s; pass",
		lie, known, unknown);
	runner(s, script, "");
	buf_init(&module, 1 << 18);
	write_module(&module);
	for (int again = 0; again < 2; again++) { /* the second time the records come from the cache */
		bench_fini(&s->bench);
		assert_int_equal(open_bench(s), 0);
		assert_int_equal(add_side(s, ROLE_BASE, "no ELF file"), 0);
		assert_int_equal(add_module(s, ROLE_TARGET, module.data, module.len), 0);
		assert_int_equal(bench_ready(&s->bench, &s->err), 0);
		s->nodes = 0;
		check_all(s);
		assert_int_equal(s->nodes, 2);
		assert_int_equal(strlen(s->node[0].code_sha256), 64);
		assert_string_not_equal(s->node[0].code_sha256, lie);
		assert_string_equal(s->node[0].symbol_sha256, "");
		assert_string_equal(s->node[1].code_sha256, "");
	}
	assert_int_equal(runs_of(s, "check"), 2);
	buf_fini(&module);
}

static void times_beyond_the_device_limit_are_rejected(void **state)
{
	struct scene *s = *state;
	struct cell *c = &s->cell[0];

	runner(s, "pass", "timings 0.1");
	check_all(s);
	/* the base's 1 ms is just possible, the target's 0.1 ms is not; backward takes 2.5 times as much and is not possible for
	 * either */
	s->bench.device.peak_tflops = case_flops(c) / 1e9;
	s->bench.cell[2].open = false;
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_REJECTED);
	assert_string_equal(bench_failure(&s->bench, 0)->failure, "roofline");
	assert_int_equal(bench_failure(&s->bench, 0)->role, ROLE_TARGET);
	assert_non_null(strstr(bench_failure(&s->bench, 0)->detail, "cannot do it in less than 0.9 ms"));
	assert_int_equal(s->runs, 1);
}

static void runs_without_progress_end(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0 64"); /* hot: timings are left out */
	check_all(s);
	measure_all(s);
	assert_int_equal(s->runs, 3);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REJECTED);
	assert_non_null(strstr(bench_failure(&s->bench, 0)->detail, "heat reduced the clock (limit reasons 0x40), in 3 runs"));
}

static void reports_report_it_all(void **state)
{
	struct scene *s = *state;
	char text[16384];
	FILE *f = tmpfile();

	runner(s, "if [ $i$role = 0target ]; then wrong; else pass; fi",
		"if [ $i = 1 ]; then timings 1.05; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(report_text(&s->bench, "tiny", f), 0);
	rewind(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	assert_non_null(strstr(text, "warning: attention/dense/causal/s64/hq2/hk1/d64/bf16/forward: 4.76 % less"));
	assert_non_null(strstr(text, "failed: target wrong: O[1]"));
	rewind(f);
	assert_int_equal(report_json(&s->bench, "tiny", f), 0);
	rewind(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	assert_non_null(strstr(text, "\"verdict\":\"regression\",\"borderline\":false"));
	assert_non_null(strstr(text, "\"class\":\"wrong\",\"role\":\"target\",\"detail\":\"O[1]\""));
	assert_non_null(strstr(text, "\"median_ms\":null"));
	fclose(f);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(next_takes_sets_in_order),
		T(every_side_begins_equally_often),
		T(equal_times_are_unchanged),
		T(a_slower_target_is_confirmed),
		T(a_set_without_a_verdict_continues),
		T(overwhelming_evidence_is_not_measured_twice),
		T(the_budget_does_not_hide_overwhelming_evidence),
		T(quick_is_one_run),
		T(the_budget_ends_it),
		T(the_budget_ends_a_run_between_cells),
		T(a_crash_after_a_fault_does_not_hide_it),
		T(wrong_results_are_not_timed),
		T(an_error_of_both_sides_blames_the_base),
		T(a_repeated_error_blames_its_commit),
		T(different_inputs_are_not_comparable),
		T(a_void_run_is_not_used),
		T(unsupported_cells_of_a_side_are_skipped),
		T(a_cell_that_the_reference_does_not_support_voids_no_other),
		T(memory_yields_to_clear_runs),
		T(the_code_of_kernels_is_read_from_the_module),
		T(times_beyond_the_device_limit_are_rejected),
		T(runs_without_progress_end),
		T(reports_report_it_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
