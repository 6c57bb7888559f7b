/*
 * Fill a database for the benchmarks: N comparisons of 20 cells, each with 4 runs, the metrics of a GPU's cell and its stored
 * body, each in one transaction, as the daemon would store them; in every tenth one cell has a regression, whose row is open on
 * the page. Prints the rate. With DAYS they have finished evenly over as many days until now, and are committed in hundreds: a
 * fixture for years of data, not a measurement. Usage: bench_seed DB SUITE N [DAYS]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "flopwatchd/job/job.h"
#include "lib/lib.h"
#include "model/model.h"

enum { RUNS = 4, PAIRS = 16, LOSS_EVERY = 10, BATCH = 100 };

static struct fw_err err;

static void must(int result)
{
	if (result == 0)
		return;
	fprintf(stderr, "bench_seed: %s\n", err.text);
	exit(1);
}

/* A value near 1 that is the same in every run. */
static double noise(uint64_t a, uint64_t b)
{
	return 1 + 0.01 * ((double)(inputs_mix(a * 1000003 + b) >> 11) / 9007199254740992.0 - 0.5);
}

struct world {
	struct db *db;
	int64_t repo, suite_id, environment, device, baseline_period;
	struct suite suite;
};

static void sha_of(int64_t n, char sha[65])
{
	char hex[HASH_HEX];
	hash_hex(&n, sizeof n, hex);
	snprintf(sha, 65, "%.40s", hex);
}

/* The values of a GPU's cell in addition to its verdict: phases, clocks, host times, errors, work. */
static void add_figures(struct world *w, int64_t cell, double change)
{
	static const char *const phases[] = { "lists", "run", "combine" };
	static const struct {
		const char *name, *unit;
		double value;
	} figures[] = { { "call.base_us", "us", 3201.7 }, { "call.target_us", "us", 3204.1 }, { "call.change_pct", "pct", -0.07 },
		{ "enqueue.base_us", "us", 11.3 }, { "enqueue.target_us", "us", 11.4 }, { "clock.base_mhz", "mhz", 1755 },
		{ "clock.target_mhz", "mhz", 1752.5 }, { "base.error_ratio", "ratio", 0.31 },
		{ "target.error_ratio", "ratio", 0.31 }, { "base.flops_issued", "count", 2.4e12 },
		{ "target.flops_issued", "count", 2.4e12 }, { "base.bytes_moved", "bytes", 1.2e9 },
		{ "target.bytes_moved", "bytes", 1.2e9 }, { "base.workspace_bytes", "bytes", 4194304 },
		{ "target.workspace_bytes", "bytes", 4194304 }, { "target.blocks_kept", "count", 58880 },
		{ "slow_calls.base_pct", "pct", 0.8 }, { "slow_calls.target_pct", "pct", 0.9 } };
	for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
		must(store_metric(w->db, cell, figures[i].name, figures[i].unit, figures[i].value, &err));
	for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
		const struct {
			const char *name, *unit;
			double value;
		} of_phase[] = { { "base_ms", "ms", 1.05 }, { "target_ms", "ms", 1.05 / (1 + change / 100) },
			{ "change_pct", "pct", change }, { "ci_low_pct", "pct", change - 0.4 },
			{ "ci_high_pct", "pct", change + 0.4 } };
		for (size_t k = 0; k < sizeof of_phase / sizeof of_phase[0]; k++) {
			char name[64];
			snprintf(name, sizeof name, "phase.%s.%s", phases[i], of_phase[k].name);
			must(store_metric(w->db, cell, name, of_phase[k].unit, of_phase[k].value, &err));
		}
	}
}

/* What an opened row shows in addition. */
static void add_kernels(struct world *w, int64_t cell)
{
	static const char node[] = "{\"phase\":\"run\",\"kernel\":\"attention_forward\",\"grid\":[132,1,1],\"block\":[384,1,1],"
				   "\"registers\":168,\"local_bytes\":0,\"shared_bytes\":230400}";
	char text[2048];
	int len = snprintf(text, sizeof text,
		"{\"base\":{\"provider\":\"hopper\",\"config\":\"tile 128x128\",\"nodes\":[%s,%s]},"
		"\"target\":{\"provider\":\"hopper\",\"config\":\"tile 128x128\",\"nodes\":[%s,%s]}}",
		node, node, node, node);
	must(store_artifact(w->db, "cell", cell, "nodes", text, (size_t)len, &err));
}

static void add_comparison(struct world *w, int64_t n, int64_t now)
{
	bool lost = n % LOSS_EVERY == 0; /* one cell of it */
	enum verdict verdict = lost ? VERDICT_REGRESSION : VERDICT_UNCHANGED;
	int64_t run[RUNS];
	struct store_commit commit = { .author = "bench", .committed_at = now };
	sha_of(n, commit.sha);
	sha_of(n - 1, commit.first_parent);
	snprintf(commit.tree, sizeof commit.tree, "%s", commit.sha);
	snprintf(commit.subject, sizeof commit.subject, "commit number %lld", (long long)n);
	struct store_job job = { .repo = w->repo, .branch = "main", .kind = JOBKIND_COMPARE, .suite = "ffa", .origin = "push" };
	snprintf(job.target_sha, sizeof job.target_sha, "%s", commit.sha);
	struct store_comparison c = { .repo = w->repo,
		.suite = w->suite_id,
		.environment = w->environment,
		.device = w->device,
		.branch = "main",
		.kind = JOBKIND_COMPARE,
		.base_how = "last-judged",
		.rule_json = "{\"k\":3.5,\"runs_min\":2,\"runs_max\":12}",
		.verdict = verdict,
		.gpu_s = 40,
		.wall_s = 60,
		.finished_at = now };
	snprintf(c.target_sha, sizeof c.target_sha, "%s", commit.sha);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", commit.first_parent);
	must(store_commit_put(w->db, w->repo, &commit, &err));
	must(store_job_insert(w->db, &job, now, &err));
	c.job = job.id;
	must(store_comparison_insert(w->db, &c, &err));
	for (int l = 0; l < RUNS; l++)
		must(store_run_insert(w->db, c.id, l + 1, 1, (uint64_t)n * RUNS + (uint64_t)l, &run[l], &err));
	for (int i = 0; i < w->suite.n_cells; i++) {
		const struct cell *cell = &w->suite.cell[i];
		bool is_loss = lost && i == n / LOSS_EVERY % w->suite.n_cells;
		double change = 100 * (noise((uint64_t)n, (uint64_t)i) - 1) - (is_loss ? 3 : 0);
		struct store_cell row = { .comparison = c.id,
			.n = i,
			.flops = case_flops(cell),
			.threshold_pct = 1.5,
			.m = -change / 100,
			.m_raw = -change / 100,
			.se = 0.001,
			.beta = -1,
			.runs = RUNS,
			.samples = RUNS * PAIRS,
			.base_median_ms = 3.18,
			.target_median_ms = 3.18 / (1 + change / 100),
			.change_pct = change,
			.ci_low_pct = change - 0.3,
			.ci_high_pct = change + 0.3,
			.mde_pct = 0.8,
			.verdict = is_loss ? VERDICT_REGRESSION : VERDICT_UNCHANGED,
			.baseline_period = w->baseline_period,
			.held_ms = 3.18 / (1 + change / 120),
			.reference_change_pct = change,
			.reference_ci_low_pct = change - 0.3,
			.reference_ci_high_pct = change + 0.3,
			.size = cell->size,
			.pieces = cell->pieces };
		snprintf(row.key, sizeof row.key, "%s", cell->key);
		snprintf(row.group, sizeof row.group, "%s", cell->group);
		snprintf(row.title, sizeof row.title, "%s", cell->title);
		snprintf(row.line, sizeof row.line, "%s", cell->line);
		snprintf(row.baseline, sizeof row.baseline, "%s", cell->baseline);
		struct buf shape;
		buf_init(&shape, sizeof row.shape - 1);
		family_json(case_family(cell), cell->shape.bytes, &shape);
		snprintf(row.shape, sizeof row.shape, "%s", shape.data);
		buf_fini(&shape);
		snprintf(row.direction, sizeof row.direction, "%s", direction_name(cell->direction));
		must(store_cell_insert(w->db, &row, &err));
		add_figures(w, row.id, change);
		if (is_loss)
			add_kernels(w, row.id);
		must(store_ratio_insert(
			w->db, &(struct store_ratio){ w->baseline_period, c.id, row.key, c.target_sha, row.m, row.se }, &err));
		for (int l = 0; l < RUNS; l++) {
			float base[PAIRS], target[PAIRS];
			for (int p = 0; p < PAIRS; p++) {
				base[p] = (float)(3.18 * noise((uint64_t)(l * PAIRS + p), 7));
				target[p] = (float)(3.18 * noise((uint64_t)(l * PAIRS + p), 8));
			}
			struct msg_cell m = { .run = l + 1,
				.set = 1,
				.cell = i,
				.series = SERIES_DEVICE,
				.n_sides = 2,
				.role = { ROLE_BASE, ROLE_TARGET },
				.n = PAIRS,
				.ms = { base, target } };
			struct run_estimate e = { .set = 1, .n = PAIRS, .d = row.m, .q = 1e-6, .d_raw = row.m };
			must(store_samples_insert(w->db, run[l], row.id, &m, &e, &err));
		}
	}
	must(store_comparison_verdict(w->db, c.id, verdict, &err));
	must(body_store(w->db, c.id, &err));
	must(store_job_done(w->db, job.id, now, &err));
}

static void read_suite(struct world *w, const char *path)
{
	struct buf text;
	char sha[HASH_HEX];
	FILE *file = fopen(path, "re");
	buf_init(&text, 1 << 20);
	if (!file || buf_read_fd(&text, fileno(file)) != 0) {
		fprintf(stderr, "bench_seed: cannot read %s\n", path);
		exit(1);
	}
	fclose(file);
	must(suite_parse(text.data, text.len, path, &w->suite, &err));
	suite_hash(&w->suite, sha);
	must(store_suite_put(w->db, sha, w->suite.name, text.data, text.len, "installed", &w->suite_id, &err));
	struct msg_device device = { .kind = DEVICE_SIM, .uuid = "sim-0", .name = "NVIDIA H200", .cores = 132 };
	bool is_new;
	must(store_device_put(w->db, &device, clock_utc_ms(), &w->device, &err));
	must(store_environment_put(w->db, &device, sha, "bench", "none", clock_utc_ms(), &w->environment, &is_new, &err));
	struct store_baseline_period baseline_period = {
		.repo = w->repo, .environment = w->environment, .suite = "ffa", .held_mhz = 1650
	};
	sha_of(1, baseline_period.reference_sha);
	must(store_baseline_period_insert(w->db, &baseline_period, &err));
	w->baseline_period = baseline_period.id;
	buf_fini(&text);
}

int main(int argc, char **argv)
{
	struct world w = { 0 };
	int n = argc == 4 || argc == 5 ? atoi(argv[3]) : 0, batch = argc == 5 ? BATCH : 1;
	int64_t ms = argc == 5 ? (int64_t)atoi(argv[4]) * 24 * 3600 * 1000 : 0;
	if (n < 1) {
		fputs("usage: bench_seed DB SUITE N [DAYS]\n", stderr);
		return 2;
	}
	must(db_open(argv[1], false, &w.db, &err));
	must(migrate(w.db, &err));
	must(db_begin(w.db, &err));
	must(store_repo_put(w.db, "kernels", "/nowhere/kernels.git", true, "main", &w.repo, &err));
	read_suite(&w, argv[2]);
	must(db_commit(w.db, &err));
	int64_t start = clock_mono_ns();
	for (int i = 1; i <= n; i++) {
		if ((i - 1) % batch == 0)
			must(db_begin(w.db, &err));
		add_comparison(&w, i, clock_utc_ms() - ms + ms / n * i);
		if (i % batch == 0 || i == n)
			must(db_commit(w.db, &err));
	}
	double seconds = (double)(clock_mono_ns() - start) * 1e-9;
	if (batch == 1)
		printf("bench store.comparisons %.6g per_s\n", n / seconds);
	printf("cell %s\n", w.suite.cell[0].key);
	suite_fini(&w.suite);
	db_close(w.db);
	return 0;
}
