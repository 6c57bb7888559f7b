/*
 * Replay the rule on recorded launches of a GPU: how often it accuses identical builds, how much of a planted slowdown it
 * finds, and what that costs in device time, beside the rule that compares means of one branch after the other.
 *
 * The launches are those of tests/data/gpu-recorded (its README says where they come from). A launch of a comparison is one
 * recorded launch of that kernel, sides swapped at random: as many pairs in a row as the rule asks for, or all where fewer
 * were recorded. The clock of each call was not, so the rule goes without. What to launch next, when to confirm and when to stop is asked of the worker's own code.
 * Usage: bench_rule DIR COMPARISONS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "recorded.h"
#include "worker/bench.h"
#include "worker/measure.h"

enum { SUITE_CELLS = 20, CALLS_MAX = 256, PROCESSES_MAX = 8 };

static const double threshold_pct = 1.5, budget_s = 600;
/* What a launch costs beside its pairs: warm-up of the process and of each cell, as the worker asks the runner for. */
static const double warm_s = 1.5, cell_warm_s = 0.1;

/* Processes that ran one variant after the other, or several variants in turn. */
struct process {
	int n;
	float ms[CALLS_MAX];
};

static struct recording recording;
static struct noise dice = { .state = 20260922 };

static int draw(int n)
{
	return (int)(noise_uniform(&dice) * n);
}

/* ---- the recording --------------------------------------------------------------------------------------------------- */

/* All processes of one variant. Shape: out[PROCESSES_MAX]. Returns how many. */
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

/* The suite of 20: dense and varlen as recorded, and the four block-sparse kernels in place of six cases twice. */
static const char *const suite[SUITE_CELLS] = { "dense_full_forward", "dense_full_backward", "dense_causal_forward",
	"dense_causal_backward", "varlen_full_forward", "varlen_full_backward", "varlen_causal_forward", "varlen_causal_backward",
	"sparse_r0.1_b128_forward", "sparse_r0.1_b128_backward", "sparse_r0.1_b128_forward", "sparse_r0.1_b128_backward",
	"sparse_r0.1_b128_forward", "sparse_r0.1_b128_backward", "sparse_r0.2_b128_forward", "sparse_r0.2_b128_backward",
	"sparse_r0.2_b128_forward", "sparse_r0.2_b128_backward", "sparse_r0.2_b128_forward", "sparse_r0.2_b128_backward" };

struct outcome {
	bool alarm;     /* any cell is a regression */
	bool found;     /* the slowed cell is one */
	bool undecided; /* any cell is */
	int launches;   /* processes */
	int cell_launches, confirming;
	double calls, gpu_s;           /* in all */
	double calls_word, gpu_word_s; /* until every cell had its word: without the launches that only narrow intervals */
};

static bool open_verdict(const struct bench *b)
{
	for (int i = 0; i < b->n_cells; i++)
		if (b->cell[i].judgement.want_set != 0)
			return true;
	return false;
}

static void launch(struct bench *b, const int *list, int n, int set, int slowed, double slower, struct outcome *out)
{
	float values[2][RECORDED_PAIRS_MAX];
	struct msg_cell m = { .set = set, .launch = ++b->launches, .n_subjects = 2, .role = { "base", "target" } };
	bool for_a_word = open_verdict(b);
	struct fw_err err;
	double calls = 0, gpu_s = warm_s;

	for (int s = 0; s < 2; s++)
		m.ms[s] = values[s];
	for (int i = 0; i < n; i++) {
		const struct recorded *k = recorded_named(&recording, suite[list[i]]);
		int pairs = stats_pairs(&b->rule, 2 * k->ms / 1000, false);

		m.cell = list[i];
		m.n = recorded_play(k, &dice, pairs, list[i] == slowed ? slower : 1, values[0], values[1]);
		if (bench_add(b, &m, &err) < 0)
			recorded_stop(err.text, suite[list[i]]);
		bench_judge(b, list[i]);
		calls += 2 * m.n;
		gpu_s += cell_warm_s + 2 * m.n * k->ms / 1000;
	}
	b->gpu_s += gpu_s;
	out->launches++;
	out->cell_launches += n;
	out->confirming += set == 2 ? n : 0;
	out->calls += calls;
	out->gpu_s += gpu_s;
	if (for_a_word) {
		out->calls_word += calls;
		out->gpu_word_s += gpu_s;
	}
}

/* `slowed` -1: identical builds. */
static struct outcome compare(int slowed, double slower)
{
	static struct cell cells[SUITE_CELLS];
	struct bench_cell state[SUITE_CELLS];
	struct bench b = { .n_cells = SUITE_CELLS, .cells = cells, .cell = state, .limits = { .budget_s = budget_s } };
	struct outcome out = { 0 };
	int list[SUITE_CELLS], n, set;

	memset(state, 0, sizeof state);
	rule_default(&b.rule, SUITE_CELLS);
	for (int i = 0; i < SUITE_CELLS; i++) {
		cells[i].threshold_pct = threshold_pct;
		cells[i].attention.mask = strncmp(suite[i], "sparse", 6) == 0 ? FW_BLOCKS : FW_FULL;
		state[i].open = true;
		state[i].judgement.want_set = 1;
	}
	while ((n = measure_next(&b, list, &set)) > 0 && b.gpu_s < b.limits.budget_s)
		launch(&b, list, n, set, slowed, slower, &out);
	for (int i = 0; i < SUITE_CELLS; i++) {
		enum verdict v = state[i].judgement.verdict;
		out.alarm = out.alarm || v == VERDICT_REGRESSION;
		out.undecided = out.undecided || v == VERDICT_UNDECIDED;
		out.found = out.found || (i == slowed && v == VERDICT_REGRESSION);
		for (int l = 0; l < state[i].n_launches; l++)
			free(state[i].launch[l].values);
	}
	return out;
}

/* ---- the naive rule ------------------------------------------------------------------------------------------------------ */

/* Mean of `calls` calls of one side in a process of its own: blocks of one recorded launch, which is not `other`. */
static double mean_ms(const struct recorded *k, int calls, int other, int *from)
{
	double sum = 0;

	do
		*from = draw(k->n_launches);
	while (*from == other);
	const float *v = draw(2) ? k->launch[*from].a : k->launch[*from].b;
	for (int c = 0; c < calls; c += RECORDED_BLOCK) {
		int block = draw(k->launch[*from].n / RECORDED_BLOCK) * RECORDED_BLOCK;
		for (int i = 0; i < RECORDED_BLOCK; i++)
			sum += (double)v[block + i];
	}
	return sum / calls;
}

static bool naive_alarm(double base_ms, double target_ms)
{
	return 100 * (base_ms / target_ms - 1) < -threshold_pct;
}

/* Returns whether the slowed cell is accused; `alarm`: any. */
static bool naive_compare(int calls, int slowed, double slower, bool *alarm)
{
	bool found = false;

	*alarm = false;
	for (int i = 0; i < SUITE_CELLS; i++) {
		const struct recorded *k = recorded_named(&recording, suite[i]);
		int first, second;
		double base = mean_ms(k, calls, -1, &first), target = mean_ms(k, calls, first, &second);
		bool accused = naive_alarm(base, i == slowed ? slower * target : target);

		*alarm = *alarm || accused;
		found = found || (accused && i == slowed);
	}
	return found;
}

/* As many calls again to warm up, on both sides. */
static double naive_gpu_s(int calls)
{
	double sum = 0;

	for (int i = 0; i < SUITE_CELLS; i++)
		sum += 4 * calls * recorded_named(&recording, suite[i])->ms / 1000;
	return sum;
}

/* ---- figures ---------------------------------------------------------------------------------------------------------------- */

static void figure(const char *name, const char *peer, double value, const char *unit)
{
	printf("bench rule.%s %s %.6g %s\n", name, peer, value, unit);
}

static void identical_builds(int n)
{
	struct outcome sum = { 0 };
	int alarms = 0, undecided = 0, naive[2] = { 0, 0 };
	static const int calls[2] = { 20, 100 };

	for (int i = 0; i < n; i++) {
		struct outcome o = compare(-1, 1);
		alarms += o.alarm;
		undecided += o.undecided;
		sum.launches += o.launches;
		sum.cell_launches += o.cell_launches;
		sum.confirming += o.confirming;
		sum.calls += o.calls;
		sum.calls_word += o.calls_word;
		sum.gpu_s += o.gpu_s;
		sum.gpu_word_s += o.gpu_word_s;
		for (int c = 0; c < 2; c++) {
			bool alarm;
			naive_compare(calls[c], -1, 1, &alarm);
			naive[c] += alarm;
		}
	}
	figure("comparisons", "flopwatch", n, "count");
	figure("false_alarms", "flopwatch", alarms, "count");
	figure("false_alarms", "mean_of_20", naive[0], "count");
	figure("false_alarms", "mean_of_100", naive[1], "count");
	figure("without_a_word", "flopwatch", undecided, "count");
	figure("processes", "flopwatch", (double)sum.launches / n, "count");
	figure("launches_a_cell", "flopwatch", (double)sum.cell_launches / n / SUITE_CELLS, "count");
	figure("calls_a_cell.verdict", "flopwatch", sum.calls_word / n / SUITE_CELLS, "count");
	figure("calls_a_cell.with_width", "flopwatch", sum.calls / n / SUITE_CELLS, "count");
	figure("calls_a_cell", "mean_of_20", 80, "count");
	figure("calls_a_cell", "mean_of_100", 400, "count");
	figure("gpu_time.verdict", "flopwatch", 1000 * sum.gpu_word_s / n, "ms");
	figure("gpu_time.with_width", "flopwatch", 1000 * sum.gpu_s / n, "ms");
	figure("gpu_time", "mean_of_20", 1000 * naive_gpu_s(20), "ms");
	figure("gpu_time", "mean_of_100", 1000 * naive_gpu_s(100), "ms");
	figure("gpu_time_share.verdict", "flopwatch", sum.gpu_word_s / n / naive_gpu_s(100), "ratio");
	figure("gpu_time_share.with_width", "flopwatch", sum.gpu_s / n / naive_gpu_s(100), "ratio");
}

/* One cell in turn is slower by `pct` in time. */
static void planted(int n, double pct, const char *level)
{
	int found = 0, naive20 = 0, naive100 = 0, others = 0, of_cell[SUITE_CELLS] = { 0 }, tried[SUITE_CELLS] = { 0 };
	double slower = 1 + pct / 100, gpu_s = 0, processes = 0, calls = 0, worst = 100;
	char name[64];

	for (int i = 0; i < n; i++) {
		int slowed = i % SUITE_CELLS;
		bool alarm;
		struct outcome o = compare(slowed, slower);
		found += o.found;
		of_cell[slowed] += o.found;
		tried[slowed]++;
		others += o.alarm && !o.found;
		gpu_s += o.gpu_s;
		processes += o.launches;
		calls += o.calls;
		naive20 += naive_compare(20, slowed, slower, &alarm);
		naive100 += naive_compare(100, slowed, slower, &alarm);
	}
	for (int i = 0; i < SUITE_CELLS; i++)
		if (tried[i] && 100.0 * of_cell[i] / tried[i] < worst)
			worst = 100.0 * of_cell[i] / tried[i];
	snprintf(name, sizeof name, "found.%s", level);
	figure(name, "flopwatch", 100.0 * found / n, "pct");
	figure(name, "mean_of_20", 100.0 * naive20 / n, "pct");
	figure(name, "mean_of_100", 100.0 * naive100 / n, "pct");
	snprintf(name, sizeof name, "found.%s.worst_cell", level);
	figure(name, "flopwatch", worst, "pct");
	snprintf(name, sizeof name, "found.%s.wrong_cell", level);
	figure(name, "flopwatch", others, "count");
	snprintf(name, sizeof name, "found.%s.gpu_time", level);
	figure(name, "flopwatch", 1000 * gpu_s / n, "ms");
	snprintf(name, sizeof name, "found.%s.processes", level);
	figure(name, "flopwatch", processes / n, "count");
	snprintf(name, sizeof name, "found.%s.calls_a_cell", level);
	figure(name, "flopwatch", calls / n / SUITE_CELLS, "count");
}

static double window_mean(const struct process *p, int from, int calls)
{
	double sum = 0;

	for (int i = from; i < from + calls; i++)
		sum += (double)p->ms[i];
	return sum / calls;
}

/* Real processes, one variant after the other, as they were recorded: every pair of two processes of one kernel. */
static void sequential(const char *dir, int warm, int calls, const char *name)
{
	struct process a[PROCESSES_MAX], b[PROCESSES_MAX];
	int n_a = read_processes(dir, "seq", "f8192a", a), n_b = read_processes(dir, "seq", "f8192b", b), off = 0, n = 0;
	char peer[32];

	for (int i = 0; i < n_a; i++)
		for (int k = 0; k < n_b; k++) {
			double change = 100 * (window_mean(&a[i], warm, calls) / window_mean(&b[k], warm, calls) - 1);
			off += fabs(change) > threshold_pct;
			n++;
		}
	snprintf(peer, sizeof peer, "mean_of_%d", calls);
	figure(name, peer, 100.0 * off / n, "pct");
}

/* Slower kernels that really ran: the pairs of one interleaved process are a launch. */
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
		struct launch_estimate e[STATS_LAUNCHES_MAX];
		int launches = 0;

		rule_default(&r, SUITE_CELLS);
		while (j.want_set != 0 && launches < STATS_LAUNCHES_MAX) {
			int p = draw(processes);
			double y[RECORDED_PAIRS_MAX];
			for (int k = 0; k < RECORDED_PAIRS_MAX; k += RECORDED_BLOCK) {
				int block = draw(a[p].n / RECORDED_BLOCK) * RECORDED_BLOCK;
				for (int c = 0; c < RECORDED_BLOCK; c++)
					y[k + c] = log((double)b[p].ms[block + c] / (double)a[p].ms[block + c]);
			}
			e[launches] = (struct launch_estimate){ .set = j.want_set, .n = RECORDED_PAIRS_MAX };
			stats_trimmed(y, RECORDED_PAIRS_MAX, &e[launches].d, &e[launches].q);
			e[launches].d_raw = e[launches].d;
			launches++;
			verdict_judge(&r, threshold_pct, false, e, launches, &j);
		}
		found += j.verdict == VERDICT_REGRESSION;
	}
	figure(name, "flopwatch", 100.0 * found / n, "pct");
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 0;

	if (n < SUITE_CELLS) {
		fprintf(stderr, "usage: bench_rule DIR COMPARISONS (at least %d)\n", SUITE_CELLS);
		return 2;
	}
	recorded_read(argv[1], &recording);
	for (int i = 0; i < SUITE_CELLS; i++)
		if (!recorded_named(&recording, suite[i]))
			recorded_stop("is not in the recording", suite[i]);
	identical_builds(n);
	planted(n, 1.0, "1_0");
	planted(n, 1.5, "1_5");
	planted(n, 2.0, "2_0");
	planted(n, 3.0, "3_0");
	planted(n, 5.0, "5_0");
	sequential(argv[1], 0, 20, "sequential_false_alarms.cold");
	sequential(argv[1], 20, 20, "sequential_false_alarms.warm_20");
	sequential(argv[1], 0, 100, "sequential_false_alarms.cold");
	sequential(argv[1], 100, 100, "sequential_false_alarms.warm_100");
	real_slowdown(argv[1], "f8192a", "f8192b", n, "recorded.same_forward");
	real_slowdown(argv[1], "b8192a", "b8192b", n, "recorded.same_backward");
	real_slowdown(argv[1], "f8192a", "f8320", n, "recorded.slower_1_54");
	real_slowdown(argv[1], "f8192a", "f8448", n, "recorded.slower_3_03");
	return 0;
}
