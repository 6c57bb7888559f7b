/**
 * commit.h - verdicts of commits and branches: reads the jobs that count and passes them to verdict/commit_verdict.h.
 *
 * Only jobs of kind compare and selfcheck count; not quick ones, ones of some cells, and ones with a given base. Own: each `out` is the
 * caller's, also after an error: commit_verdict_fini. Loop only.
 */
#ifndef DB_COMMIT_H
#define DB_COMMIT_H

#include "verdict/commit_verdict.h"
#include "db/db.h"

/**
 * By whole sha, from the jobs of `branch` (NULL or "": of any branch). Where it has none, from the jobs of any branch, then from those
 * requested for the commit without a branch. Without any job n is 0.
 */
int store_commit_verdict(
	struct db *db, int64_t repo, const char *sha, const char *branch, struct commit_verdict *out, struct fw_err *err);
/** From all jobs of one request, where `job` is its first; else from `job` alone. Jobs of every kind count. */
int store_commit_plan(struct db *db, int64_t job, struct commit_verdict *out, struct fw_err *err);
/**
 * Of the newest push of a branch before `tip` that was measured whole or has a regression; else of the newest with any job. `sha`
 * is "" where there is none. Shape: sha[65].
 */
int store_commit_before(struct db *db, int64_t repo, const char *branch, const char *tip, char *sha, struct commit_verdict *out,
	struct fw_err *err);

struct store_commit_found {
	int n; /* matching commits, at most 2 */
	int64_t repo;
	char repo_name[128], sha[65]; /* of the first */
};
/** Targets of jobs and tips of branches whose sha begins with `prefix` (hex). `repo` NULL or "": in every repository. */
int store_commit_find(struct db *db, const char *repo, const char *prefix, struct store_commit_found *out, struct fw_err *err);

/** As store_commit_find in one repository. 1, 0 none, -1. Err: ERR_CONFLICT several match. Shape: sha[65]. */
int store_commit_abbreviated(struct db *db, int64_t repo, const char *prefix, char *sha, struct fw_err *err);

#endif
