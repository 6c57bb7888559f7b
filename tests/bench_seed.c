/*
 * Fill a database for the benchmarks: N comparisons of 20 cells, each with 4 launches and its stored body, each in one
 * transaction, as the daemon would store them. Prints how fast that went. Usage: bench_seed DB SUITE N
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "core/inputs.h"
#include "core/suite.h"
#include "db/migrate.h"
#include "db/store_epoch.h"
#include "db/store_job.h"
#include "db/store_repo.h"
#include "db/store_result.h"
#include "web/body.h"

enum { LAUNCHES = 4, PAIRS = 16 };

static struct fw_err err;

static void must(int result)
{
	if (result == 0)
		return;
	fprintf(stderr, "bench_seed: %s\n", err.text);
	exit(1);
}

/* A value near 1 that is the same at every run. */
static double noise(uint64_t a, uint64_t b)
{
	return 1 + 0.01 * ((double)(inputs_mix(a * 1000003 + b) >> 11) / 9007199254740992.0 - 0.5);
}

struct world {
	struct db *db;
	int64_t repo, suite_id, environment, device, epoch;
	struct suite suite;
};

static void sha_of(int64_t n, char sha[65])
{
	char hex[HASH_HEX];
	hash_hex(&n, sizeof n, hex);
	snprintf(sha, 65, "%.40s", hex);
}

static void add_comparison(struct world *w, int64_t n)
{
	int64_t now = clock_utc_ms(), launch[LAUNCHES];
	struct store_commit commit = { .author = "bench", .committed_at = now };
	sha_of(n, commit.sha);
	sha_of(n - 1, commit.first_parent);
	snprintf(commit.tree, sizeof commit.tree, "%s", commit.sha);
	snprintf(commit.subject, sizeof commit.subject, "commit number %lld", (long long)n);
	struct store_job job = { .repo = w->repo, .branch = "main", .kind = "change", .suite = "ffa", .origin = "push" };
	snprintf(job.target_sha, sizeof job.target_sha, "%s", commit.sha);
	struct store_comparison c = { .repo = w->repo,
		.suite = w->suite_id,
		.environment = w->environment,
		.branch = "main",
		.kind = "change",
		.base_how = "last-judged",
		.rule_json = "{}",
		.verdict = VERDICT_UNCHANGED,
		.gpu_s = 40,
		.wall_s = 60,
		.finished_at = now };
	snprintf(c.target_sha, sizeof c.target_sha, "%s", commit.sha);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", commit.first_parent);
	must(db_begin(w->db, &err));
	must(store_commit_put(w->db, w->repo, &commit, &err));
	must(store_job_insert(w->db, &job, now, &err));
	c.job = job.id;
	must(store_comparison_insert(w->db, &c, &err));
	for (int l = 0; l < LAUNCHES; l++)
		must(store_launch_insert(w->db, c.id, l + 1, 1, (uint64_t)n * LAUNCHES + (uint64_t)l, &launch[l], &err));
	for (int i = 0; i < w->suite.n_cells; i++) {
		const struct cell *cell = &w->suite.cell[i];
		double change = 100 * (noise((uint64_t)n, (uint64_t)i) - 1);
		struct store_cell row = { .comparison = c.id,
			.n = i,
			.flops = case_flops(cell),
			.threshold_pct = 1.5,
			.m = -change / 100,
			.m_raw = -change / 100,
			.se = 0.001,
			.beta = -1,
			.launches = LAUNCHES,
			.samples = LAUNCHES * PAIRS,
			.base_median_ms = 3.18,
			.target_median_ms = 3.18 / (1 + change / 100),
			.change_pct = change,
			.ci_low_pct = change - 0.3,
			.ci_high_pct = change + 0.3,
			.mde_pct = 0.8,
			.verdict = VERDICT_UNCHANGED,
			.epoch = w->epoch,
			.held_ms = 3.18 / (1 + change / 120),
			.anchor_change_pct = change,
			.anchor_ci_low_pct = change - 0.3,
			.anchor_ci_high_pct = change + 0.3,
			.seqlen = cell->attention.seqlen,
			.block = cell->attention.block,
			.sparsity_ratio = cell->attention.sparsity_ratio };
		snprintf(row.key, sizeof row.key, "%s", cell->key);
		snprintf(row.group, sizeof row.group, "%s", cell->group);
		snprintf(row.mask, sizeof row.mask, "%s", cell->mask);
		snprintf(row.direction, sizeof row.direction, "%s", direction_name(cell->direction));
		must(store_cell_insert(w->db, &row, &err));
		must(store_ratio_insert(
			w->db, &(struct store_ratio){ w->epoch, c.id, row.key, c.target_sha, row.m, row.se }, &err));
		for (int l = 0; l < LAUNCHES; l++) {
			float base[PAIRS], target[PAIRS];
			for (int p = 0; p < PAIRS; p++) {
				base[p] = (float)(3.18 * noise((uint64_t)(l * PAIRS + p), 7));
				target[p] = (float)(3.18 * noise((uint64_t)(l * PAIRS + p), 8));
			}
			struct msg_cell m = { .launch = l + 1,
				.set = 1,
				.cell = i,
				.series = "device",
				.n_subjects = 2,
				.role = { "base", "target" },
				.n = PAIRS,
				.ms = { base, target } };
			struct launch_estimate e = { .set = 1, .n = PAIRS, .d = row.m, .q = 1e-6, .d_raw = row.m };
			must(store_samples_insert(w->db, launch[l], row.id, &m, &e, &err));
		}
	}
	must(store_comparison_verdict(w->db, c.id, VERDICT_UNCHANGED, &err));
	must(body_store(w->db, c.id, &err));
	must(store_job_done(w->db, job.id, c.id, now, &err));
	must(db_commit(w->db, &err));
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
	struct msg_device device = { .kind = "sim", .uuid = "sim-0", .name = "benchmark" };
	bool is_new;
	must(store_device_put(w->db, &device, clock_utc_ms(), &w->device, &err));
	must(store_environment_put(
		w->db, w->device, &device, sha, "bench", "none", clock_utc_ms(), &w->environment, &is_new, &err));
	struct store_epoch epoch = { .repo = w->repo, .environment = w->environment, .suite = "ffa", .held_mhz = 1650 };
	sha_of(1, epoch.anchor_sha);
	must(store_epoch_insert(w->db, &epoch, &err));
	w->epoch = epoch.id;
	buf_fini(&text);
}

int main(int argc, char **argv)
{
	struct world w = { 0 };
	int n = argc == 4 ? atoi(argv[3]) : 0;
	if (n < 1) {
		fputs("usage: bench_seed DB SUITE N\n", stderr);
		return 2;
	}
	must(db_open(argv[1], false, &w.db, &err));
	must(migrate(w.db, &err));
	must(db_begin(w.db, &err));
	must(store_repo_put(w.db, "kernels", "/nowhere/kernels.git", true, "main", &w.repo, &err));
	read_suite(&w, argv[2]);
	must(db_commit(w.db, &err));
	int64_t start = clock_mono_ns();
	for (int i = 1; i <= n; i++)
		add_comparison(&w, i);
	double seconds = (double)(clock_mono_ns() - start) * 1e-9;
	printf("bench store.comparisons %.6g per_s\n", n / seconds);
	printf("cell %s\n", w.suite.cell[0].key);
	suite_fini(&w.suite);
	db_close(w.db);
	return 0;
}
