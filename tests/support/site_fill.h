/* The database that the tests of the site read: two comparisons of a repository and their rows. */
#ifndef TESTS_SITE_FILL_H
#define TESTS_SITE_FILL_H

#include "site_run.h"

#include "db/db.h"

#define CELL "attention/dense/causal/s8192/hq64/hk8/d128/bf16/forward"

/* A regression of `team/a+b` with its alert, and an unchanged comparison before it. */
static inline int64_t fill(struct run *run)
{
	static const char changed[] =
		"{\"changed\":[{\"phase\":\"run\",\"kernel\":\"forward\",\"base\":{\"grid\":[1,1,1],\"block\":[128,1,1],"
		"\"registers\":168,"
		"\"local_bytes\":0,\"shared_bytes\":0},\"target\":{\"grid\":[2,1,1],\"block\":[128,1,1],\"registers\":172,"
		"\"local_bytes\":16,\"shared_bytes\":0}},{\"phase\":\"run\",\"kernel\":\"combine\",\"base\":null,\"target\":{}}],"
		"\"changes\":2,\"base\":3,\"target\":4}";
	struct fixture *f = run->f;
	struct store_commit commit = { .author = "Ada", .subject = "a faster tile", .committed_at = 5000 };
	snprintf(commit.sha, sizeof commit.sha, "%s", fixture_sha(0xb2));
	snprintf(commit.tree, sizeof commit.tree, "%s", fixture_sha(0x77));
	struct store_alert alert = { .repo = f->repo,
		.branch = "team/a%2Bb",
		.cells_json = "[{\"cell\":\"" CELL "\",\"change_pct\":-3.1,\"borderline\":false}]",
		.worst_pct = -3.1 };
	snprintf(alert.target_sha, sizeof alert.target_sha, "%s", fixture_sha(0xb2));
	bool is_new;
	ok(db_begin(f->db, &err));
	ok(store_commit_put(f->db, f->repo, &commit, &err));
	ok(store_tip_put(f->db, f->repo, "team/a%2Bb", "team/a+b", fixture_sha(0xb2), true, 4000, &err));
	ok(store_tip_put(f->db, f->repo, "main", "main", fixture_sha(0xb1), true, 4000, &err));
	int64_t first = fixture_comparison(f, "main", 0xa1, 0xb1, VERDICT_UNCHANGED, 6000);
	fixture_cell(f, first, 0, CELL, 0.001, VERDICT_UNCHANGED);
	ok(store_comparison_verdict(f->db, first, VERDICT_UNCHANGED, &err));
	ok(body_store(f->db, first, &err));
	int64_t second = fixture_comparison(f, "team/a%2Bb", 0xb1, 0xb2, VERDICT_REGRESSION, 7000);
	int64_t cell = fixture_cell(f, second, 0, CELL, 0.031, VERDICT_REGRESSION);
	ok(store_metric(f->db, cell, "phase.run.base_ms", "ms", 1.66, &err));
	ok(store_metric(f->db, cell, "phase.run.target_ms", "ms", 1.71, &err));
	ok(store_metric(f->db, cell, "phase.run.change_pct", "pct", -2.9, &err));
	ok(store_metric(f->db, cell, "base.error_ratio", "ratio", 0.31, &err));
	ok(store_artifact(f->db, "cell", cell, "nodes_changed", changed, sizeof changed - 1, &err));
	ok(store_comparison_verdict(f->db, second, VERDICT_REGRESSION, &err));
	ok(body_store(f->db, second, &err));
	alert.comparison = second;
	ok(store_alert_open(f->db, &alert, 7000, &is_new, &err));
	ok(store_job_log(f->db, 2, 6500, "queued: pushed", &err));
	ok(store_event(f->db, 7000, "job.done", "{\"job\":2}", NULL, &err));
	ok(db_commit(f->db, &err));
	return second;
}

#endif
