/** fixture_daemon.h - for tests of the daemon's components: a real repository, database and loop in one temporary folder. */
#ifndef TESTS_FIXTURE_DAEMON_H
#define TESTS_FIXTURE_DAEMON_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>

#include "gitrepo.h"

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "lib/lib.h"

#define FIXTURE_SUITE                                                                                                            \
	"suite: tiny\nfamily: attention\ncommon: {nhq: 2, nhk: 1, headdim: 64, dtype: bf16}\n"                                   \
	"dense: {seqlens: [64], masks: [full]}\ndirections: [forward]\nseed: 1\n"

/* Ends a test that would hang; nothing else depends on it. */
enum { FIXTURE_DEVICE_CHECK_NS = 180 * 1000000000ll, FIXTURE_TICK_MS = 2 };

static struct loop *loop;
static struct db *db;
static struct config *config;
static struct fw_err err;
static int64_t repo_id;

#define ok(call)                                                                                                                 \
	do {                                                                                                                     \
		err_clear(&err);                                                                                                 \
		if ((call) != 0)                                                                                                 \
			fail_msg("%s: %s", #call, err.text);                                                                     \
	} while (0)

static inline int fixture_setup(void **state)
{
	char path[PATH_MAX + 32];
	mallopt(M_MMAP_THRESHOLD,
		4096); /* larger blocks become separate mappings, in which a use after free is a fault at once */
	if (gitrepo_setup(state) != 0)
		return -1;
	log_open("test", LOG_ERROR - 1); /* errors here are intended */
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	snprintf(config->state_dir, sizeof config->state_dir, "%.400s/state", gitrepo_root);
	snprintf(config->cache_dir, sizeof config->cache_dir, "%.400s/cache", gitrepo_root);
	snprintf(config->suites_dir, sizeof config->suites_dir, "%.400s/suites", gitrepo_root);
	snprintf(config->sandbox, sizeof config->sandbox, "none");
	config->queue_max = 100;
	config->job_timeout_ms = 3600000;
	config->hello_ms = 300000;
	config->build_s = config->check_s = config->run_s = 60;
	config->n_repos = 1;
	struct config_repo *r = &config->repo[0];
	snprintf(r->name, sizeof r->name, "kernels");
	snprintf(r->url, sizeof r->url, "%.400s/w", gitrepo_root);
	snprintf(r->upstream, sizeof r->upstream, "main");
	r->is_local = true;
	if (mkdir(config->state_dir, 0700) != 0)
		return -1;
	snprintf(path, sizeof path, "%s/flopwatch.db", config->state_dir);
	ok(loop_new(&loop, &err));
	ok(db_open(path, false, &db, &err));
	ok(migrate(db, &err));
	ok(db_begin(db, &err));
	ok(store_repo_put(db, "kernels", r->url, true, "main", &repo_id, &err));
	ok(db_commit(db, &err));
	/* a repository whose inputs are one file, and which contains its suite */
	GIT(".", "init", "-q", "-b", "main", "w");
	GITREPO_RUN("w", "mkdir", "-p", "kernels", "etc/suites");
	gitrepo_write("w/kernels/code", "1\n");
	gitrepo_write("w/etc/suites/tiny.yaml", FIXTURE_SUITE);
	gitrepo_write("w/.flopwatch.yaml", "flopwatch: 1\nsuites: [tiny]\n");
	return 0;
}

static inline int fixture_teardown(void **state)
{
	loop_free(loop);
	loop = NULL;
	db_close(db);
	config_free(config);
	return gitrepo_teardown(state);
}

/** Write kernels/code and commit everything. Shape: sha[65]. */
static inline void fixture_commit(const char *code, const char *subject, char sha[65])
{
	gitrepo_write("w/kernels/code", code);
	GIT("w", "add", "-A");
	GIT("w", "commit", "-q", "--allow-empty", "-m", subject);
	snprintf(sha, 65, "%.64s", GIT("w", "rev-parse", "HEAD"));
}

/** Queue a job as a push does. */
static inline struct store_job fixture_push(const char *branch, const char *sha)
{
	struct store_job j = { .repo = repo_id, .kind = JOBKIND_COMPARE, .origin = "push" };
	snprintf(j.branch, sizeof j.branch, "%s", branch);
	snprintf(j.target_sha, sizeof j.target_sha, "%s", sha);
	ok(db_begin(db, &err));
	ok(store_job_insert(db, &j, clock_utc_ms(), &err));
	ok(db_commit(db, &err));
	return j;
}

static inline int64_t fixture_number(const char *sql)
{
	struct stmt *s = db_stmt(db, sql, &err);
	int64_t n = -1;
	if (!s)
		fail_msg("%s", err.text);
	if (stmt_step(s, &err) == 1)
		n = row_int(s, 0);
	stmt_reset(s);
	return n;
}

/** First column of the first row. Own: a static buffer, until the next call. */
static inline const char *fixture_text(const char *sql)
{
	static char found[4096];
	struct stmt *s = db_stmt(db, sql, &err);
	if (!s)
		fail_msg("%s", err.text);
	snprintf(found, sizeof found, "%s", stmt_step(s, &err) == 1 ? row_text(s, 0) : "(no row)");
	stmt_reset(s);
	return found;
}

static struct {
	const char *sql;
	int64_t until_ns;
} fixture_goal;

static inline void fixture_look(void *arg)
{
	(void)arg;
	if (fixture_number(fixture_goal.sql) != 0 || clock_mono_ns() > fixture_goal.until_ns)
		loop_stop(loop);
	else
		loop_after(loop, FIXTURE_TICK_MS, fixture_look, NULL, NULL);
}

/** Run the loop until the query's number is not 0. */
static inline void fixture_until(const char *sql)
{
	fixture_goal.sql = sql;
	fixture_goal.until_ns = clock_mono_ns() + FIXTURE_DEVICE_CHECK_NS;
	loop_after(loop, 0, fixture_look, NULL, NULL);
	ok(loop_run(loop, &err));
	if (fixture_number(sql) == 0)
		fail_msg("it never came true: %s", sql);
}

#endif
