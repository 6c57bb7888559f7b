/** fixture_db.h - a migrated database in a separate folder, with a repository, a device and a suite, for tests. */
#ifndef TESTS_FIXTURE_DB_H
#define TESTS_FIXTURE_DB_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "db/db.h"

#ifndef FIXTURE_TRIES /* failing_statements.h repeats a call */
#define FIXTURE_TRIES(result, call)
#endif
/** Run a call that has to succeed. */
#define ok(call)                                                                                                                 \
	do {                                                                                                                     \
		int result_of_call = 0;                                                                                          \
		FIXTURE_TRIES(result_of_call, call)                                                                              \
		{                                                                                                                \
			err_clear(&err);                                                                                         \
			result_of_call = (call);                                                                                 \
		}                                                                                                                \
		if (result_of_call != 0)                                                                                         \
			fail_msg("%s: %s", #call, err.text);                                                                     \
	} while (0)
/** The same, of a call that must not be repeated, such as one whose callback counts. */
#define ok_once(call)                                                                                                            \
	do {                                                                                                                     \
		err_clear(&err);                                                                                                 \
		if ((call) != 0)                                                                                                 \
			fail_msg("%s: %s", #call, err.text);                                                                     \
	} while (0)
/** Run a call that has to fail with `want`. */
#define refused(want, call)                                                                                                      \
	do {                                                                                                                     \
		err_clear(&err);                                                                                                 \
		assert_int_equal((call), -1);                                                                                    \
		if (err.code != (want))                                                                                          \
			fail_msg("%s: %s instead of %s: %s", #call, err_name(err.code), err_name(want), err.text);               \
	} while (0)

static struct fw_err err;

struct fixture {
	char folder[64];
	char path[128];
	struct db *db;
	int64_t repo, device, environment, suite;
};

static inline struct msg_device fixture_device(void)
{
	struct msg_device d = { .kind = DEVICE_SIM,
		.uuid = "sim-0",
		.name = "simulated",
		.driver = "1",
		.toolkit = "gcc 12.2.0",
		.cores = 4,
		.power_limit_w = 700 };
	return d;
}

static inline void fixture_open(struct fixture *f)
{
	if (db_open(f->path, false, &f->db, &err) != 0)
		fail_msg("%s", err.text);
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);
	if (!f)
		return -1;
	const char *parent = getenv("FUZZ_FOLDER"); /* in memory, for a search */
	snprintf(f->folder, sizeof f->folder, "%s/fw-db-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(f->folder))
		return -1;
	snprintf(f->path, sizeof f->path, "%s/flopwatch.db", f->folder);
	fixture_open(f);
	if (migrate(f->db, &err) != 0)
		fail_msg("%s", err.text);
	*state = f;
	return 0;
}

/** Remove the archive next to the database. */
static inline void fixture_remove_archive(struct fixture *f)
{
	char path[512];
	snprintf(path, sizeof path, "%s/samples", f->folder);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		snprintf(path, sizeof path, "%s/samples/%s", f->folder, e->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
	snprintf(path, sizeof path, "%s/samples", f->folder);
	rmdir(path);
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	static const char *const files[] = { "flopwatch.db", "flopwatch.db-wal", "flopwatch.db-shm", "copy.db", "copy.db.part" };
	char path[160];
	db_close(f->db);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", f->folder, files[i]);
		unlink(path);
	}
	fixture_remove_archive(f);
	rmdir(f->folder);
	free(f);
	return 0;
}

/** Move the single times of all comparisons that finished before `before` to the archive. Inside a transaction. Returns their
 * number. */
static inline int fixture_archive(struct fixture *f, int64_t before)
{
	int n, all = 0;
	do {
		ok(archived_move(f->db, before, &n, &err));
		all += n;
	} while (n > 0);
	return all;
}

/** And out of it: only the summaries of runs remain. */
static inline void fixture_forget_times(struct fixture *f, int64_t before)
{
	char month[ARCHIVE_MONTH_SIZE];
	int n;
	fixture_archive(f, before);
	do
		ok(archived_forget(f->db, "9999-12", month, &n, &err));
	while (n > 0);
}

/** The rows to which all others refer. Opens and commits a transaction. */
static inline void fixture_ground(struct fixture *f)
{
	struct msg_device d = fixture_device();
	bool is_new;
	ok(db_begin(f->db, &err));
	ok(store_repo_put(f->db, "kernels", "/srv/git/kernels.git", true, "main", &f->repo, &err));
	ok(store_device_put(f->db, &d, 1000, &f->device, &err));
	ok(store_suite_put(f->db, "5a17e", "ffa", "suite: ffa\n", 11, "installed", &f->suite, &err));
	ok(store_environment_put(f->db, &d, "5a17e", "pairs", "none", 1000, &f->environment, &is_new, &err));
	ok(db_commit(f->db, &err));
}

/** A commit-like text: 40 digits that end in `n`. Own: one of four static buffers. */
static inline const char *fixture_sha(unsigned n)
{
	static char text[4][41];
	static unsigned turn;
	char *t = text[turn++ % 4];
	snprintf(t, 41, "%040x", n);
	return t;
}

/** Give a queued job an empty plan, so that it counts as resolved. Inside a transaction. */
static inline void fixture_plan(struct fixture *f, int64_t job)
{
	struct buf empty;
	struct store_plan p = { .sides = &empty, .suite_text = &empty };
	buf_init(&empty, 1);
	ok(store_plan_put(f->db, job, &p, &err));
	buf_fini(&empty);
}

/** Queue a resolved job. Inside a transaction. */
static inline int64_t fixture_job(struct fixture *f, const char *branch, unsigned base, unsigned target, int64_t now_ms)
{
	struct store_job j = { .repo = f->repo, .kind = JOBKIND_COMPARE, .base_how = "merge-base", .origin = "push" };
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.base_sha, sizeof j.base_sha, "%s", fixture_sha(base));
	snprintf(j.target_sha, sizeof j.target_sha, "%s", fixture_sha(target));
	ok(store_job_insert(f->db, &j, now_ms, &err));
	ok(store_job_resolve(f->db, j.id, j.base_sha, j.base_how, j.kind, "ffa", &err));
	fixture_plan(f, j.id);
	return j.id;
}

/** A comparison for a job, without cells. Inside a transaction. */
static inline int64_t fixture_comparison(
	struct fixture *f, const char *branch, unsigned base, unsigned target, enum verdict verdict, int64_t now_ms)
{
	struct store_comparison c = { .job = fixture_job(f, branch, base, target, now_ms),
		.repo = f->repo,
		.suite = f->suite,
		.environment = f->environment,
		.device = f->device,
		.kind = JOBKIND_COMPARE,
		.base_how = "merge-base",
		.rule_json = "{}",
		.verdict = verdict,
		.finished_at = now_ms };
	snprintf(c.branch, sizeof c.branch, "%s", branch);
	snprintf(c.base_sha, sizeof c.base_sha, "%s", fixture_sha(base));
	snprintf(c.target_sha, sizeof c.target_sha, "%s", fixture_sha(target));
	ok(store_comparison_insert(f->db, &c, &err));
	ok(store_job_done(f->db, c.job, now_ms, &err));
	return c.id;
}

/** A timed cell of a comparison: `m` is its log time ratio. Inside a transaction. */
static inline int64_t fixture_cell(struct fixture *f, int64_t comparison, int n, const char *key, double m, enum verdict verdict)
{
	struct store_cell c = { .comparison = comparison,
		.n = n,
		.group = "dense",
		.title = "causal",
		.shape = "{\"mask\":\"causal\",\"seqlen\":8192}",
		.direction = "forward",
		.size = 8192,
		.flops = 1.1e12,
		.threshold_pct = 1.5,
		.m = m,
		.m_raw = m,
		.se = 0.001,
		.runs = 4,
		.samples = 96,
		.base_median_ms = 1.71,
		.target_median_ms = 1.71 * (1 + m),
		.change_pct = stats_change_pct(m),
		.decided_m = m,
		.decided_se = 0.001,
		.decided_pct = stats_change_pct(m),
		.ci_low_pct = stats_change_pct(m + 0.003),
		.ci_high_pct = stats_change_pct(m - 0.003),
		.mde_pct = 2,
		.verdict = verdict };
	snprintf(c.key, sizeof c.key, "%s", key);
	ok(store_cell_insert(f->db, &c, &err));
	return c.id;
}

/** The number that a query returns; for assertions about rows. */
#define fixture_number(f, sql)                                                                                                   \
	({                                                                                                                       \
		struct stmt *number_stmt = db_stmt((f)->db, sql, &err);                                                          \
		if (!number_stmt || stmt_step(number_stmt, &err) != 1)                                                           \
			fail_msg("%s: %s", sql, err.text);                                                                       \
		int64_t number_value = row_int(number_stmt, 0);                                                                  \
		stmt_reset(number_stmt);                                                                                         \
		number_value;                                                                                                    \
	})

#endif
