/*
 * Replay the rule on recorded runs of a GPU: how often it reports identical builds, how many planted slowdowns it finds, and what
 * that costs in device time; compared with real processes that ran one after the other.
 *
 * Two recordings (tests/data/gpu-recorded; its README states their origin): the 20 cells of suite ffa, with the clock of each
 * call; and fourteen kernels from an older harness without it, among them a GEMM of 0.2 ms and a copy. A run of a comparison is
 * one recorded run of that cell, sides as recorded, none twice; the older recording has seven per kernel, which are drawn again
 * once all were, and for the confirming set. The worker's own code decides what to run next, when to confirm and when to stop; a
 * cell whose recording is used up stays as it is.
 * Usage: bench_rule DIR SAMPLES.jsonl COMPARISONS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_cell.h"
#include "replay.h"
#include "worker/internal.h"

enum { CALLS_MAX = 256, PROCESSES_MAX = 8 };

static const double threshold_pct = 1.5, budget_s = 600;
/* The cost of a run in addition to its pairs: warm-up of the process and of each cell, as the worker requests them from the
 * runner. */
static const double warm_s = 1.5, cell_warm_s = 0.1;

/* Processes that ran one variant after the other, or several variants alternately. */
struct process {
	int n;
	float ms[CALLS_MAX];
};

static struct samples clocked, unclocked;
static struct noise dice = { .state = 20260922 };

static int draw(int n)
{
	return (int)(noise_uniform(&dice) * n);
}

/* ---- processes ------------------------------------------------------------------------------------------------------ */

/* All processes of one variant. Shape: out[PROCESSES_MAX]. Returns their number. */
static int read_processes(const char *dir, const char *mode, const char *variant, struct process *out)
{
	char line[256], m[16], v[16];
	FILE *f = recorded_open(dir, "h200-processes.csv", line);
	int proc, cycle, n = 0;
	float ms;

	memset(out, 0, PROCESSES_MAX * sizeof *out);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%15[^,],%d,%d,%15[^,],%f", m, &proc, &cycle, v, &ms) != 5 || proc < 0 ||
			proc >= PROCESSES_MAX || cycle < 0 || cycle >= CALLS_MAX)
			recorded_stop("is no row of a recording", line);
		if (strcmp(m, mode) != 0 || strcmp(v, variant) != 0)
			continue;
		out[proc].ms[cycle] = ms;
		out[proc].n = cycle + 1;
		n = n > proc ? n : proc + 1;
	}
	fclose(f);
	if (n < 2)
		recorded_stop("has fewer than two processes in the recording", variant);
	return n;
}

/* ---- one comparison by the rule ---------------------------------------------------------------------------------------- */

struct outcome {
	bool alarm;     /* any cell is a regression */
	bool found;     /* the slowed cell is one */
	bool undecided; /* any cell is, though its recording continues */
	int runs;       /* processes */
	int cell_runs, confirming;
	double calls, gpu_s;           /* in all */
	double calls_word, gpu_word_s; /* until every cell was decided: without the runs that only narrow intervals */
};

/* Which runs of a cell a comparison has drawn. */
struct drawn {
	int order[SAMPLES_RUNS_MAX], n;
	int set; /* that the order was shuffled for */
};

static bool open_verdict(const struct bench *b)
{
	for (int i = 0; i < b->n_cells; i++)
		if (b->cell[i].open && b->cell[i].found.typical.want_set != 0)
			return true;
	return false;
}

/* The next run of a cell; NULL: none is left. */
static const struct samples_run *next_run(const struct samples *s, int cell, int set, struct drawn *d)
{
	const struct samples_cell *c = &s->cell[cell];

	bool again = s == &unclocked && (d->set != set || d->n == c->n_runs); /* seven are fewer than a set may take */

	if (d->set == 0 || again) {
		replay_shuffle(&dice, d->order, c->n_runs);
		d->n = 0;
		d->set = set;
	}
	return d->n < c->n_runs ? &c->run[d->order[d->n++]] : NULL;
}

static void make_run(struct bench *b, const struct samples *s, struct drawn *drawn, const int *list, int n, int set, int slowed,
	double slower, struct outcome *out)
{
	struct msg_cell m = { .set = set, .run = ++b->runs, .n_sides = 2, .role = { ROLE_BASE, ROLE_TARGET } };
	bool for_a_word = open_verdict(b);
	struct fw_err err;
	double calls = 0, gpu_s = warm_s;

	for (int i = 0; i < n; i++) {
		const struct samples_run *from = next_run(s, list[i], set, &drawn[list[i]]);
		struct samples_run played;

		if (!from) {
			b->cell[list[i]].open = false;
			continue;
		}
		replay_plant(from, &(struct replay_plant){ .time = list[i] == slowed ? log(slower) : 0 }, 0, &played);
		m.cell = list[i];
		m.n = played.n;
		m.ms[0] = played.base_ms, m.ms[1] = played.target_ms;
		m.mhz[0] = s == &clocked ? played.base_mhz : NULL;
		m.mhz[1] = s == &clocked ? played.target_mhz : NULL;
		if (bench_add(b, &m, &err) < 0)
			recorded_stop(err.text, s->cell[list[i]].name);
		bench_judge(b, list[i]);
		calls += 2 * m.n;
		gpu_s += cell_warm_s;
		for (int p = 0; p < m.n; p++)
			gpu_s += ((double)played.base_ms[p] + (double)played.target_ms[p]) / 1000;
	}
	b->gpu_s += gpu_s;
	out->runs++;
	out->cell_runs += n;
	out->confirming += set == 2 ? n : 0;
	out->calls += calls;
	out->gpu_s += gpu_s;
	if (for_a_word) {
		out->calls_word += calls;
		out->gpu_word_s += gpu_s;
	}
}

/* `slowed` -1: identical builds. */
static struct outcome compare(const struct samples *s, int slowed, double slower)
{
	static struct cell cells[SAMPLES_CELLS_MAX];
	struct drawn drawn[SAMPLES_CELLS_MAX] = { { .n = 0 } };
	struct bench_cell state[SAMPLES_CELLS_MAX];
	struct bench b = { .n_cells = s->n, .cells = cells, .cell = state, .limits = { .budget_s = budget_s } };
	struct outcome out = { 0 };
	int list[SAMPLES_CELLS_MAX], n, set;

	memset(state, 0, sizeof state);
	rule_default(&b.rule, s->n);
	for (int i = 0; i < s->n; i++) {
		cells[i].threshold_pct = threshold_pct;
		attention_of(&cells[i])->mask = s->cell[i].is_sparse ? FW_BLOCKS : FW_FULL;
		state[i].open = true;
		state[i].found.typical.want_set = 1;
	}
	while ((n = measure_next(&b, list, &set)) > 0 && b.gpu_s < b.limits.budget_s)
		make_run(&b, s, drawn, list, n, set, slowed, slower, &out);
	for (int i = 0; i < s->n; i++) {
		enum verdict v = state[i].found.typical.verdict;
		out.alarm = out.alarm || v == VERDICT_REGRESSION;
		out.undecided = out.undecided || (v == VERDICT_UNDECIDED && state[i].open);
		out.found = out.found || (i == slowed && v == VERDICT_REGRESSION);
		for (int l = 0; l < state[i].n_runs; l++)
			free(state[i].run[l].values);
	}
	return out;
}

/* ---- results
 * ---------------------------------------------------------------------------------------------------------------- */

static void figure(const char *name, const char *who, double value, const char *unit)
{
	printf("bench rule.%s %s %.6g %s\n", name, who, value, unit);
}

static void identical_builds(const struct samples *s, const char *who, int n)
{
	struct outcome sum = { 0 };
	int alarms = 0, undecided = 0;

	for (int i = 0; i < n; i++) {
		struct outcome o = compare(s, -1, 1);
		alarms += o.alarm;
		undecided += o.undecided;
		sum.runs += o.runs;
		sum.cell_runs += o.cell_runs;
		sum.calls += o.calls;
		sum.calls_word += o.calls_word;
		sum.gpu_s += o.gpu_s;
		sum.gpu_word_s += o.gpu_word_s;
	}
	figure("comparisons", who, n, "count");
	figure("cells", who, s->n, "count");
	figure("false_alarms", who, alarms, "count");
	figure("without_a_word", who, undecided, "count");
	figure("processes", who, (double)sum.runs / n, "count");
	figure("runs_a_cell", who, (double)sum.cell_runs / n / s->n, "count");
	figure("calls_a_cell.verdict", who, sum.calls_word / n / s->n, "count");
	figure("calls_a_cell.with_width", who, sum.calls / n / s->n, "count");
	figure("gpu_time.verdict", who, 1000 * sum.gpu_word_s / n, "ms");
	figure("gpu_time.with_width", who, 1000 * sum.gpu_s / n, "ms");
}

/* One cell after the other is slower by `pct` in time. */
static void planted(const struct samples *s, const char *who, int n, double pct, const char *level)
{
	int found = 0, others = 0, of_cell[SAMPLES_CELLS_MAX] = { 0 }, tried[SAMPLES_CELLS_MAX] = { 0 }, worst = 0;
	double slower = 1 + pct / 100, gpu_s = 0, processes = 0;
	char name[96];

	for (int i = 0; i < n; i++) {
		int slowed = i % s->n;
		struct outcome o = compare(s, slowed, slower);
		found += o.found;
		of_cell[slowed] += o.found;
		tried[slowed]++;
		others += o.alarm && !o.found;
		gpu_s += o.gpu_s;
		processes += o.runs;
	}
	for (int i = 0; i < s->n; i++)
		if (tried[i] && of_cell[i] * tried[worst] < of_cell[worst] * tried[i])
			worst = i;
	snprintf(name, sizeof name, "found.%s", level);
	figure(name, who, 100.0 * found / n, "pct");
	snprintf(name, sizeof name, "found.%s.worst_cell.%s", level, s->cell[worst].name);
	figure(name, who, 100.0 * of_cell[worst] / tried[worst], "pct");
	snprintf(name, sizeof name, "found.%s.wrong_cell", level);
	figure(name, who, others, "count");
	snprintf(name, sizeof name, "found.%s.gpu_time", level);
	figure(name, who, 1000 * gpu_s / n, "ms");
	snprintf(name, sizeof name, "found.%s.processes", level);
	figure(name, who, processes / n, "count");
}

static void replayed(const struct samples *s, const char *who, int n)
{
	identical_builds(s, who, n);
	planted(s, who, n, 1.0, "1_0");
	planted(s, who, n, 1.5, "1_5");
	planted(s, who, n, 2.0, "2_0");
	planted(s, who, n, 3.0, "3_0");
	planted(s, who, n, 5.0, "5_0");
}

static double window_mean(const struct process *p, int from, int calls)
{
	double sum = 0;

	for (int i = from; i < from + calls; i++)
		sum += (double)p->ms[i];
	return sum / calls;
}

static bool is_called(const struct process *base, const struct process *target, int warm, int calls)
{
	return 100 * (window_mean(base, warm, calls) / window_mean(target, warm, calls) - 1) < -threshold_pct;
}

/*
 * Means of real processes, one after the other as they were recorded: every two processes of one kernel in either order, and each
 * of them before each of a kernel that takes 1.54 % longer.
 */
static void sequential(const char *dir, int warm, int calls, const char *name)
{
	struct process same[2 * PROCESSES_MAX], slower[PROCESSES_MAX];
	int n = read_processes(dir, "seq", "f8192a", same), n_slower = read_processes(dir, "seq", "f8320", slower);
	int alarms = 0, found = 0;
	char who[32];

	n += read_processes(dir, "seq", "f8192b", same + n);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++)
			alarms += i != k && is_called(&same[i], &same[k], warm, calls);
		for (int k = 0; k < n_slower; k++)
			found += is_called(&same[i], &slower[k], warm, calls);
	}
	snprintf(who, sizeof who, "mean_of_%d.%s", calls, name);
	printf("bench rule.sequential.false_alarms %s %d of_%d\n", who, alarms, n * (n - 1));
	printf("bench rule.sequential.slower_1_54_found %s %d of_%d\n", who, found, n * n_slower);
}

/* Slower kernels that really ran: the pairs of one interleaved process are a run. */
static void real_slowdown(const char *dir, const char *base, const char *target, int n, const char *name)
{
	struct process a[PROCESSES_MAX], b[PROCESSES_MAX];
	int processes = read_processes(dir, "inter", base, a);
	int found = 0;

	if (read_processes(dir, "inter", target, b) != processes)
		recorded_stop("has other processes than its base", target);
	for (int i = 0; i < n; i++) {
		struct rule r;
		struct judgement j = { .want_set = 1 };
		struct run_estimate e[STATS_RUNS_MAX];
		int runs = 0;

		rule_default(&r, clocked.n);
		while (j.want_set != 0 && runs < STATS_RUNS_MAX) {
			int p = draw(processes);
			double y[RECORDED_PAIRS_MAX];
			for (int k = 0; k < RECORDED_PAIRS_MAX; k += RECORDED_BLOCK) {
				int block = draw(a[p].n / RECORDED_BLOCK) * RECORDED_BLOCK;
				for (int c = 0; c < RECORDED_BLOCK; c++)
					y[k + c] = log((double)b[p].ms[block + c] / (double)a[p].ms[block + c]);
			}
			e[runs] = (struct run_estimate){ .set = j.want_set, .n = RECORDED_PAIRS_MAX };
			stats_trimmed(y, RECORDED_PAIRS_MAX, &e[runs].d, &e[runs].q);
			e[runs].d_raw = e[runs].d;
			runs++;
			verdict_judge(&r, threshold_pct, false, e, runs, &j);
		}
		found += j.verdict == VERDICT_REGRESSION;
	}
	figure(name, "flopwatch", 100.0 * found / n, "pct");
}

int main(int argc, char **argv)
{
	int n = argc == 4 ? atoi(argv[3]) : 0;

	if (n < 1) {
		fprintf(stderr, "usage: bench_rule DIR SAMPLES.jsonl COMPARISONS\n");
		return 2;
	}
	if (replay_read_clocked(argv[1], argv[2], &clocked))
		return 1;
	replay_read_unclocked(argv[1], &unclocked);
	replayed(&clocked, "flopwatch", n);
	replayed(&unclocked, "flopwatch.without_clocks", n);
	sequential(argv[1], 0, 20, "cold");
	sequential(argv[1], 20, 20, "after_20");
	sequential(argv[1], 0, 100, "cold");
	sequential(argv[1], 100, 100, "after_100");
	real_slowdown(argv[1], "f8192a", "f8192b", n, "recorded.same_forward");
	real_slowdown(argv[1], "b8192a", "b8192b", n, "recorded.same_backward");
	real_slowdown(argv[1], "f8192a", "f8320", n, "recorded.slower_1_54");
	real_slowdown(argv[1], "f8192a", "f8448", n, "recorded.slower_3_03");
	return 0;
}
