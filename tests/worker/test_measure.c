/*
 * measure.c, acceptance.c, runner_child.c, bench.c with a runner made of shell: what is launched, how often, and who is
 * blamed when a process dies, hangs or talks nonsense.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "core/protocol/guard.h"
#include "cubin_write.h"
#include "tmp_folder.h"
#include "worker/bench/acceptance.h"
#include "worker/bench/measure.h"
#include "worker/box/procs.h"
#include "worker/report.h"
#include "worker/box/sealed.h"

enum { CELLS = 3 };

struct scene {
	struct tmp_folder folder;
	struct cache cache;
	struct sandbox sandbox;
	struct peer peer;
	struct cell cell[CELLS];
	struct bench bench;
	struct fw_err err;
	int launches, checks, faults; /* records seen */
	struct msg_fault fault;       /* the last one */
	struct msg_launch launch;
	int nodes;
	struct msg_node node[2]; /* of the target's cell 0, in order */
};

static int count(void *arg, const struct msg *m, struct fw_err *err)
{
	struct scene *s = arg;

	(void)err;
	s->launches += m->t == MSG_LAUNCH;
	s->checks += m->t == MSG_CHECK;
	s->faults += m->t == MSG_FAULT;
	if (m->t == MSG_FAULT)
		s->fault = m->u.fault;
	if (m->t == MSG_LAUNCH)
		s->launch = *m->u.launch;
	if (m->t == MSG_NODE && m->u.node.cell == 0 && m->u.node.role[0] == 't')
		s->node[s->nodes++ % 2] = m->u.node;
	return 0;
}

static int add_module(struct scene *s, const char *role, const char *content, size_t len)
{
	char sha[HASH_HEX];
	int fd = sealed_once(role, content, len, &s->err);

	hash_hex(content, len, sha);
	return fd < 0 ? -1 : bench_subject(&s->bench, role, "", fd, sha, &s->err);
}

static int add_subject(struct scene *s, const char *role, const char *content)
{
	return add_module(s, role, content, strlen(content));
}

static int open_bench(struct scene *s)
{
	struct bench *b = &s->bench;

	if (bench_init(b, s->cell, CELLS, &s->err) < 0)
		return -1;
	snprintf(b->runner, sizeof b->runner, "%s/flopwatch-runner", s->folder.path);
	b->peer = &s->peer;
	b->sandbox = &s->sandbox;
	b->cache = &s->cache;
	b->emit = count;
	b->emit_arg = s;
	snprintf(b->device.kind, sizeof b->device.kind, "sim");
	rule_default(&b->rule, CELLS);
	b->limits = (struct msg_limits){ .check_s = 30, .launch_s = 30, .budget_s = 600 };
	return 0;
}

static int start_bench(struct scene *s)
{
	struct bench *b = &s->bench;

	if (open_bench(s) < 0)
		return -1;
	return add_subject(s, "base", "b") < 0 || add_subject(s, "target", "t") < 0 ? -1 : bench_ready(b, &s->err);
}

static int setup(void **state)
{
	static const int masks[CELLS] = { FW_FULL, FW_CAUSAL, FW_FULL };
	struct scene *s = calloc(1, sizeof *s);
	char path[4200];

	*state = s;
	if (!s || tmp_folder_open(&s->folder) < 0 || cache_open(&s->cache, s->folder.path, &s->err) < 0)
		return -1;
	procs_adopt();
	peer_init(&s->peer, -1, -1);
	for (int i = 0; i < CELLS; i++) {
		s->cell[i] = (struct cell){ .family = "attention",
			.direction = i == 2 ? DIRECTION_BACKWARD : DIRECTION_FORWARD,
			.threshold_pct = 1.5,
			.attention = { .mask = masks[i],
				.seqlen = 64,
				.nhq = 2,
				.nhk = 1,
				.headdim = 64,
				.dtype = FW_BF16,
				.n_seqs = 1,
				.length = { 64 },
				.seed = 1 } };
		case_name(&s->cell[i]);
	}
	/* any program of that name will do: each test writes its own */
	if (tmp_folder_write(&s->folder, "flopwatch-runner", "#!/bin/sh\n", 0755) < 0)
		return -1;
	snprintf(path, sizeof path, "%s:/usr/bin:/bin", s->folder.path);
	setenv("PATH", path, 1);
	return start_bench(s);
}

static int teardown(void **state)
{
	struct scene *s = *state;

	bench_fini(&s->bench);
	cache_close(&s->cache);
	peer_fini(&s->peer);
	tmp_folder_close(&s->folder);
	free(s);
	return 0;
}

/*
 * The runner of a test. `check` and `launch` are shell, run once per cell $i; $role is the first role, $both is there when there
 * are two. Helpers: at ROLE STEP, pass (with $alone as the time of a call), wrong, timings TARGET_MS, single MS.
 */
static void runner(struct scene *s, const char *check, const char *launch)
{
	static const char seal[] =
		"import hmac, sys\n"
		"for line in sys.stdin:\n"
		"  print(hmac.new(sys.argv[1].encode(), line[:-1].encode(), 'sha256').hexdigest()[:32], flush=True)\n";
	struct buf b;

	assert_int_equal(tmp_folder_write(&s->folder, "seal.py", seal, 0644), 0);
	buf_init(&b, 1 << 16);
	buf_printf(&b,
		"#!/bin/bash\n"
		"read -r line\n"
		"[[ $line =~ '\"mode\":\"'([a-z]+) ]]; mode=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"launch\":'([0-9]+) ]]; launch=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"set\":'([0-9]+) ]]; set=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"role\":\"'([a-z]+) ]]; role=${BASH_REMATCH[1]}\n"
		"[[ $line =~ '\"seal\":\"'([0-9a-f]+) ]]; key=${BASH_REMATCH[1]} number=0 inputs=%064d\n"
		"coproc sealer { exec python3 %s/seal.py $key; }\n"
		"say() { echo \"$number $1\" >&${sealer[1]}; read -r mac <&${sealer[0]}; echo \"$mac $number $1\" >&3; "
		"number=$((number + 1)); }\n"
		"echo $mode >>%s/runs\n"
		"at() { say "
		"\"{\\\"t\\\":\\\"at\\\",\\\"launch\\\":$launch,\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"step\\\":\\\"$2\\\"}"
		"\"; }\n"
		"pass() { say "
		"\"{\\\"t\\\":\\\"check\\\",\\\"role\\\":\\\"$role\\\",\\\"cell\\\":$i,\\\"ok\\\":true,\\\"class\\\":\\\"\\\","
		"\\\"error_ratio\\\":0.5,\\\"alone_ms\\\":${alone:-0},\\\"input_sha256\\\":\\\"$inputs\\\"}\"; }\n"
		"wrong() { say "
		"\"{\\\"t\\\":\\\"check\\\",\\\"role\\\":\\\"$role\\\",\\\"cell\\\":$i,\\\"ok\\\":false,\\\"class\\\":"
		"\\\"wrong\\\",\\\"error_ratio\\\":9,\\\"input_sha256\\\":\\\"\\\",\\\"detail\\\":\\\"O[1]\\\"}\"; }\n"
		"fault() { say "
		"\"{\\\"t\\\":\\\"fault\\\",\\\"cell\\\":$i,\\\"role\\\":\\\"$1\\\",\\\"class\\\":\\\"$2\\\",\\\"detail\\\":"
		"\\\"as told\\\"}\"; }\n"
		"timings() { b=1.0 t=$1; say "
		"\"{\\\"t\\\":\\\"cell\\\",\\\"launch\\\":$launch,\\\"set\\\":$set,\\\"cell\\\":$i,\\\"series\\\":\\\"device\\\","
		"\\\"phase\\\":\\\"\\\",\\\"input_sha256\\\":\\\"$inputs\\\",\\\"order\\\":\\\"ABBAABBA\\\",\\\"n\\\":4,"
		"\\\"ms\\\":{"
		"\\\"base\\\":[$b,$b,$b,$b],"
		"\\\"target\\\":[$t,$t,$t,$t]},\\\"guard\\\":{\\\"power_w\\\":-1,\\\"temp_c\\\":-1,\\\"sm_mhz\\\":-1,"
		"\\\"reasons\\\":${2:-0},"
		"\\\"foreign\\\":-1,\\\"regime\\\":\\\"\\\"},\\\"redo\\\":0}\"; }\n"
		"single() { say "
		"\"{\\\"t\\\":\\\"cell\\\",\\\"launch\\\":$launch,\\\"set\\\":$set,\\\"cell\\\":$i,\\\"series\\\":\\\"device\\\","
		"\\\"phase\\\":\\\"\\\",\\\"input_sha256\\\":\\\"$inputs\\\",\\\"order\\\":\\\"AAAA\\\",\\\"n\\\":4,\\\"ms\\\":{"
		"\\\"$role\\\":[$1,$1,$1,$1]},\\\"redo\\\":0}\"; echo alone $role >>%s/runs; }\n"
		"[[ $line =~ '\"role\":\"base\"'.*'\"role\":\"target\"' ]] && both=1\n"
		"for i in $(grep -oE '\"i\":[0-9]+' <<<\"$line\" | cut -d: -f2); do\n"
		"if [ $mode = check ]; then at $role check\n%s\nelif [ -z \"$both\" ]; then at $role time\n%s\nelse at base "
		"time; at target time\n%s\nfi\n"
		"done\n",
		7, s->folder.path, s->folder.path, s->folder.path, check, launch, launch);
	assert_int_equal(tmp_folder_write(&s->folder, "flopwatch-runner", b.data, 0755), 0);
	buf_fini(&b);
}

static int runs_of(struct scene *s, const char *mode)
{
	char text[4096];
	const char *p = tmp_folder_read(&s->folder, "runs", text, sizeof text);
	int n = 0;

	for (; (p = strstr(p, mode)); p++)
		n++;
	return n;
}

static void check_all(struct scene *s)
{
	if (acceptance_run(&s->bench, &s->err) < 0)
		fail_msg("%s", s->err.text);
}

static void measure_all(struct scene *s)
{
	if (measure_run(&s->bench, &s->err) < 0)
		fail_msg("%s", s->err.text);
}

static void next_takes_sets_in_order(void **state)
{
	struct scene *s = *state;
	struct bench *b = &s->bench;
	int list[CELLS], set;

	assert_int_equal(measure_next(b, list, &set), CELLS);
	assert_int_equal(set, 1);
	b->cell[0].judgement.want_set = 2;
	b->cell[1].judgement.want_set = 0;
	b->cell[1].judgement.want_precision = true;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 2);
	assert_int_equal(set, 1);
	b->cell[2].open = false;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 0);
	assert_int_equal(set, 2);
	b->cell[0].judgement.want_set = 0;
	assert_int_equal(measure_next(b, list, &set), 1);
	assert_int_equal(list[0], 1);
	assert_int_equal(set, 1);
	b->quick = true;
	assert_int_equal(measure_next(b, list, &set), 0);
}

static void equal_times_are_unchanged(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0");
	check_all(s);
	if (bench_trouble(&s->bench, 0))
		fail_msg("%s", bench_trouble(&s->bench, 0)->detail);
	assert_int_equal(s->checks, 2 * CELLS);
	assert_int_equal(runs_of(s, "check"), 2);
	measure_all(s);
	assert_int_equal(report_verdict(&s->bench), VERDICT_UNCHANGED);
	assert_true(s->launches >= 2);
	assert_int_equal(s->launches, runs_of(s, "launch"));
	assert_int_equal(s->faults, 0);
	assert_true(s->bench.gpu_s > 0);
}

static void a_slower_target_is_confirmed(void **state)
{
	struct scene *s = *state;
	int sets[3] = { 0 };

	runner(s, "pass", "if [ $i = 1 ]; then timings 1.05; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REGRESSION);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REGRESSION);
	for (int i = 0; i < s->bench.cell[1].n_launches; i++)
		sets[s->bench.cell[1].launch[i].set]++;
	assert_int_equal(sets[1], s->bench.rule.launches_regression_min);
	assert_int_equal(sets[2], s->bench.rule.launches_regression_min);
	assert_true(s->bench.cell[0].n_launches < sets[1]);
	assert_true(stats_change_pct(s->bench.cell[1].judgement.all.m) < -4.7);
}

static void quick_is_one_launch(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.05");
	s->bench.quick = true;
	s->bench.rule.launches_max = 1;
	s->bench.rule.confirm = false;
	measure_all(s);
	assert_int_equal(s->launches, 1);
}

static void the_budget_ends_it(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0");
	s->bench.limits.budget_s = 1e-9;
	measure_all(s);
	assert_int_equal(s->launches, 1);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNDECIDED);
}

static void wrong_results_are_not_timed(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 0target ] || [ $i$role = 1base ]; then wrong; else pass; fi", "timings 1.0");
	check_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_FAILED);
	assert_string_equal(bench_trouble(&s->bench, 0)->failure, "wrong");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_NOT_COMPARABLE);
	measure_all(s);
	assert_int_equal(s->launch.n_cells, 1);
	assert_int_equal(s->launch.cell[0], 2);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
	assert_int_equal(report_verdict(&s->bench), VERDICT_FAILED);
}

static void what_both_sides_share_is_the_bases(void **state)
{
	struct scene *s = *state;

	runner(s, "wrong", "timings 1.0");
	check_all(s);
	assert_int_equal(report_verdict(&s->bench), VERDICT_NOT_COMPARABLE);
	measure_all(s);
	assert_int_equal(s->launches, 0);
}

static void what_a_side_does_not_do_is_passed_over(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i = 0 ] || [ $i$role = 1base ] || [ $i$role = 2target ]; then fault $role unsupported; else pass; fi",
		"timings 1.0");
	check_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNSUPPORTED);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_ADDED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_FAILED); /* a function that was lost */
	snprintf(s->bench.subject[s->bench.base].provider, sizeof s->bench.subject[0].provider, "peer");
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_REMOVED);
	measure_all(s);
	assert_int_equal(s->launches, 0);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REMOVED);
}

static void a_cell_that_the_anchor_does_not_do_costs_it_no_other(void **state)
{
	struct scene *s = *state;
	struct bench *b = &s->bench;

	assert_int_equal(add_subject(s, "anchor", "another"), 0);
	bench_note(b, 1, "anchor", "unsupported", "not this one");
	assert_false(b->subject[b->n_subjects - 1].dropped);
	assert_true(b->cell[1].open);
	bench_note(b, 2, "anchor", "wrong", "O[1]");
	assert_true(b->subject[b->n_subjects - 1].dropped);
}

static void outcomes_are_kept_and_deaths_are_not(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then kill -SEGV $$; elif [ $i = 2 ]; then wrong; else pass; fi", "");
	check_all(s);
	assert_int_equal(runs_of(s, "check"), 3); /* the target's first process died in cell 1, a second one went on */
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "crash");
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "SIGSEGV"));
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_NOT_COMPARABLE);
	assert_int_equal(s->checks, 2 * CELLS);

	bench_fini(&s->bench);
	s->checks = 0;
	assert_int_equal(start_bench(s), 0);
	runner(s, "pass", "");
	/* the same runner, as the cache sees it: only the death is tried again */
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "%s", "");
	check_all(s);
	assert_int_equal(s->checks, 2 * CELLS);
	bench_fini(&s->bench);
	s->checks = 0;
	assert_int_equal(start_bench(s), 0);
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "%s", "");
	int before = runs_of(s, "check");

	check_all(s);
	assert_int_equal(s->checks, 2 * CELLS);
	assert_int_equal(runs_of(s, "check"), before);
	assert_true(s->bench.cell[0].open);
}

static void a_hanging_check_ends(void **state)
{
	struct scene *s = *state;

	s->bench.limits.check_s = 1;
	runner(s, "if [ $i$role = 1target ]; then sleep 100; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "timeout");
	assert_string_equal(bench_trouble(&s->bench, 2)->failure, "timeout");
	assert_non_null(strstr(bench_trouble(&s->bench, 2)->detail, "not reached"));
	assert_true(s->bench.cell[0].open);
	assert_int_equal(procs_count(), 0);
}

static void a_process_that_just_ends(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then exit 0; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "crash");
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "exit 0"));
	assert_true(s->bench.cell[2].open);
}

static void a_runner_that_does_nothing(void **state)
{
	struct scene *s = *state;

	assert_int_equal(tmp_folder_write(&s->folder, "flopwatch-runner", "#!/bin/sh\necho no libraries >&2\nexit 1\n", 0755), 0);
	assert_int_equal(acceptance_run(&s->bench, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	assert_string_equal(s->err.text, "the runner: exit 1 before branch code ran; last words: \"no libraries\"");
	assert_int_equal(s->faults, 0); /* a trouble of this machine says nothing of the two sides */
}

/* Whoever killed it, it was neither side: the job is for another time. */
static void a_runner_that_is_killed(void **state)
{
	static const char *const signals[] = { "KILL", "TERM", "HUP" };
	struct scene *s = *state;
	char script[128];

	for (int i = 0; i < 3; i++) {
		snprintf(script, sizeof script, "if [ $i$role = 1target ]; then kill -%s $$; else pass; fi", signals[i]);
		runner(s, script, "");
		assert_int_equal(acceptance_run(&s->bench, &s->err), -1);
		assert_int_equal(s->err.code, ERR_BUSY);
		assert_non_null(strstr(s->err.text, "in step check; for want of memory, or by somebody on this machine"));
		assert_int_equal(s->faults, 0);
		err_clear(&s->err);
		bench_fini(&s->bench);
		assert_int_equal(start_bench(s), 0);
	}
	runner(s, "pass", "if [ $i = 1 ]; then kill -KILL $$; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(measure_run(&s->bench, &s->err), -1);
	assert_int_equal(s->err.code, ERR_BUSY);
	assert_int_equal(s->faults, 0);
}

static void nonsense_is_the_subjects(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $i$role = 1target ]; then say '{\"t\":\"check\"'; sleep 100; else pass; fi", "");
	check_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "protocol");
	assert_true(s->bench.cell[2].open);
	bench_fini(&s->bench);
	assert_int_equal(start_bench(s), 0);
	snprintf(s->bench.runner_sha, sizeof s->bench.runner_sha, "other");
	runner(s, "if [ $i$role = 1target ]; then role=base; pass; else pass; fi", "");
	check_all(s);
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "another task"));
}

/* The worker judges a cell of which scatter is remembered as the daemon will. */
static void memory_yields_to_clear_launches(void **state)
{
	struct scene *s = *state;
	float base[8], target[8];
	struct msg_cell m = { .series = "device", .n_subjects = 2, .n = 8, .ms = { base, target } };

	snprintf(m.role[0], sizeof m.role[0], "base");
	snprintf(m.role[1], sizeof m.role[1], "target");
	guard_unknown(&m.guard);
	for (int cell = 0; cell < 2; cell++) {
		m.cell = cell;
		s->cell[cell].tau0 = cell ? 0.06 : 0.26;
		s->cell[cell].nu0 = 10;
		s->cell[cell].blind_pct = cell ? 12 : 27.9;
		for (m.launch = 1; m.launch <= 8; m.launch++) {
			double off = (cell ? 0.06 : 0.01) * (m.launch % 2 ? 1 : -1);

			m.set = m.launch > 4 ? 2 : 1;
			for (int k = 0; k < m.n; k++) {
				base[k] = 1 + (float)(k % 3) / 1000;
				target[k] = (float)exp(0.1 + off) * base[k];
			}
			assert_int_equal(bench_add(&s->bench, &m, &s->err), 1);
			bench_judge(&s->bench, cell);
		}
	}
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_REGRESSION);
	assert_int_equal(s->bench.cell[0].judgement.flags, 0);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNDECIDED);
	assert_int_equal(s->bench.cell[1].judgement.flags, FLAG_BLIND);
}

static void lines_without_the_seal_are_not_the_runners(void **state)
{
	struct scene *s = *state;

	/* the key alone does not help without the number */
	runner(s, "if [ $i$role = 1target ]; then number=5; fi; pass",
		"if [ $i = 2 ]; then echo '{\"t\":\"ping\"}' >&3; sleep 100; else timings 1.0; fi");
	check_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "forged");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 2)->failure, "forged");
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_REJECTED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

static void a_seal_is_good_for_one_line(void **state)
{
	struct scene *s = *state;

	runner(s, "pass",
		"if [ $i = 1 ]; then say() { echo \"$mac $number $1\" >&3; }; timings 1.0; sleep 100; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "forged");
	assert_int_equal(s->bench.cell[1].n_launches, 0);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void timings_of_unknown_inputs_are_forged(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then inputs=${inputs//0/a}; fi; timings 1.0");
	check_all(s);
	assert_int_equal(strlen(s->bench.cell[0].input_sha256), 64);
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "forged");
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "other inputs than those that were checked"));
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void timings_without_inputs_are_refused(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then inputs=; fi; timings 1.0");
	check_all(s);
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "protocol");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_FAILED);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
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
		assert_int_equal(add_subject(s, "base", "no ELF file"), 0);
		assert_int_equal(add_module(s, "target", module.data, module.len), 0);
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

static void a_launch_that_dies_is_blamed_by_solo_checks(void **state)
{
	struct scene *s = *state;

	char script[300];

	snprintf(script, sizeof script, "if [ $i$role = 1base ] && [ -e %s/armed ]; then kill -BUS $$; else pass; fi",
		s->folder.path);
	runner(s, script, "if [ $i = 1 ]; then kill -SEGV $$; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(tmp_folder_write(&s->folder, "armed", "", 0644), 0);
	measure_all(s);
	/* the last `at` named the target; alone it was the base that died */
	assert_string_equal(bench_trouble(&s->bench, 1)->role, "base");
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "SIGBUS"));
	assert_int_equal(s->faults, 1);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void a_death_that_nobody_repeats_is_the_last_ones(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then kill -SEGV $$; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_FAILED);
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "alone both sides pass"));
	assert_int_equal(bench_verdict(&s->bench, 2), VERDICT_UNCHANGED);
}

static void a_hanging_launch_ends(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 0 ]; then setsid sleep 100; else timings 1.0; fi");
	check_all(s);
	s->bench.limits.launch_s = 1;
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 0)->failure, "timeout");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_UNCHANGED);
	assert_int_equal(procs_count(), 0);
}

static void a_fault_of_both_is_taken_apart(void **state)
{
	struct scene *s = *state;
	char script[300];

	snprintf(script, sizeof script, "if [ $i$role = 2target ] && [ -e %s/armed ]; then fault target oob; else pass; fi",
		s->folder.path);
	runner(s, script, "if [ $i = 2 ]; then fault device oob; else timings 1.0; fi");
	check_all(s);
	assert_int_equal(tmp_folder_write(&s->folder, "armed", "", 0644), 0);
	measure_all(s);
	assert_string_equal(bench_trouble(&s->bench, 2)->role, "target");
	assert_string_equal(bench_trouble(&s->bench, 2)->failure, "oob");
	assert_int_equal(s->faults, 1);
}

static void a_base_that_fails_beside_the_target_is_not_blamed(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "if [ $i = 1 ]; then fault base wrong; else timings 1.0; fi");
	check_all(s);
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_string_equal(bench_trouble(&s->bench, 1)->role, "device");
	assert_non_null(strstr(bench_trouble(&s->bench, 1)->detail, "base: as told; alone both sides pass"));
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_UNCHANGED);
}

/* Alone the target takes `alone` ms and the base 1; beside each other 0.5 and 1, and so in every launch. */
static void beside_and_alone(struct scene *s, const char *alone)
{
	char check[200], launch[200];

	snprintf(check, sizeof check, "if [ $role = base ]; then alone=1; else alone=%s; fi; pass", alone);
	snprintf(launch, sizeof launch,
		"if [ $i != 1 ]; then timings 1.0; elif [ \"$both\" ]; then timings 0.5; elif [ $role = base ]; then single 1; "
		"else single %s; fi",
		alone);
	runner(s, check, launch);
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
}

static void a_base_that_is_slower_beside_the_target_is_no_yardstick(void **state)
{
	struct scene *s = *state;

	beside_and_alone(s, "0.9");
	assert_int_equal(bench_verdict(&s->bench, 1), VERDICT_REJECTED);
	assert_string_equal(bench_trouble(&s->bench, 1)->failure, "slowed");
	assert_string_equal(bench_trouble(&s->bench, 1)->role, "target");
	assert_non_null(
		strstr(bench_trouble(&s->bench, 1)->detail, "2 times the base's speed beside it, 1.11 times when each is alone"));
	assert_int_equal(runs_of(s, "alone"), 12);
	assert_int_equal(s->bench.cell[1].n_launches, s->launches); /* nobody hears of the others */
}

static void a_target_that_is_as_fast_alone_is_believed(void **state)
{
	struct scene *s = *state;

	beside_and_alone(s, "0.5");
	assert_null(bench_trouble(&s->bench, 1));
	assert_int_equal(runs_of(s, "alone"), 0);
}

static void a_check_that_errs_costs_two_launches(void **state)
{
	struct scene *s = *state;

	runner(s, "if [ $role = base ]; then alone=1; else alone=5; fi; pass",
		"if [ \"$both\" ]; then timings 0.5; elif [ $role = base ]; then single 1; else single 0.5; fi");
	check_all(s);
	s->bench.cell[0].open = s->bench.cell[2].open = false;
	measure_all(s);
	assert_null(bench_trouble(&s->bench, 1));
	assert_int_equal(runs_of(s, "alone"), 2);
}

static void nothing_is_faster_than_the_device(void **state)
{
	struct scene *s = *state;
	struct cell *c = &s->cell[0];

	runner(s, "pass", "timings 0.1");
	check_all(s);
	/* the base's 1 ms is just possible, the target's 0.1 ms is not; backward takes 2.5 times as much and is not for either */
	s->bench.device.peak_tflops = case_flops(c) / 1e9;
	s->bench.cell[2].open = false;
	measure_all(s);
	assert_int_equal(bench_verdict(&s->bench, 0), VERDICT_REJECTED);
	assert_string_equal(bench_trouble(&s->bench, 0)->failure, "roofline");
	assert_string_equal(bench_trouble(&s->bench, 0)->role, "target");
	assert_non_null(strstr(bench_trouble(&s->bench, 0)->detail, "cannot do it in less than 0.9 ms"));
	assert_int_equal(s->launches, 1);
}

static void launches_that_bring_nothing_end(void **state)
{
	struct scene *s = *state;

	runner(s, "pass", "timings 1.0 64"); /* hot: timings are left out */
	check_all(s);
	measure_all(s);
	assert_int_equal(s->launches, 3);
	assert_int_equal(report_verdict(&s->bench), VERDICT_REJECTED);
	assert_non_null(
		strstr(bench_trouble(&s->bench, 0)->detail, "heat held the clock back (limit reasons 0x40), in 3 launches"));
}

static void reports_say_it_all(void **state)
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
		T(equal_times_are_unchanged),
		T(a_slower_target_is_confirmed),
		T(quick_is_one_launch),
		T(the_budget_ends_it),
		T(wrong_results_are_not_timed),
		T(what_both_sides_share_is_the_bases),
		T(what_a_side_does_not_do_is_passed_over),
		T(a_cell_that_the_anchor_does_not_do_costs_it_no_other),
		T(outcomes_are_kept_and_deaths_are_not),
		T(a_hanging_check_ends),
		T(a_process_that_just_ends),
		T(a_runner_that_does_nothing),
		T(a_runner_that_is_killed),
		T(nonsense_is_the_subjects),
		T(memory_yields_to_clear_launches),
		T(lines_without_the_seal_are_not_the_runners),
		T(a_seal_is_good_for_one_line),
		T(timings_of_unknown_inputs_are_forged),
		T(timings_without_inputs_are_refused),
		T(the_code_of_kernels_is_read_from_the_module),
		T(a_launch_that_dies_is_blamed_by_solo_checks),
		T(a_death_that_nobody_repeats_is_the_last_ones),
		T(a_hanging_launch_ends),
		T(a_fault_of_both_is_taken_apart),
		T(a_base_that_fails_beside_the_target_is_not_blamed),
		T(a_base_that_is_slower_beside_the_target_is_no_yardstick),
		T(a_target_that_is_as_fast_alone_is_believed),
		T(a_check_that_errs_costs_two_launches),
		T(nothing_is_faster_than_the_device),
		T(launches_that_bring_nothing_end),
		T(reports_say_it_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
