/**
 * commit.h - what a commit deserves: the jobs that count for it, handed to core/verdict/commit_verdict.h. Every place that tells where a
 * commit or a branch stands asks here.
 *
 * Jobs of peers, reference commits, calibrations, searches and imports do not count, nor do quick ones, ones of some cells, and ones whose base a
 * person gave. Own: each `out` is the caller's, also after an error: commit_verdict_fini. Loop only.
 */
#ifndef DB_STORE_COMMIT_H
#define DB_STORE_COMMIT_H

#include "core/verdict/commit_verdict.h"
#include "db/sqlite/db.h"

/**
 * By whole sha. `branch` NULL or "": of the commit; else by the jobs of that branch. Where the branch (the commit) has none, by those of
 * any branch, and last by those asked for by commit alone. Without any job n is 0.
 */
int store_commit_verdict(
	struct db *db, int64_t repo, const char *sha, const char *branch, struct commit_verdict *out, struct fw_err *err);
/** Of all jobs that were asked for together with `job`, where it is the first of them; else of it alone. Jobs of every kind. */
int store_commit_plan(struct db *db, int64_t job, struct commit_verdict *out, struct fw_err *err);
/**
 * Of the newest push of a branch before `tip` that was measured whole, or lost; else of the newest of which anything is known. `sha` is ""
 * where there is none. Shape: sha[65].
 */
int store_commit_before(struct db *db, int64_t repo, const char *branch, const char *tip, char *sha, struct commit_verdict *out,
	struct fw_err *err);

struct store_commit_found {
	int n; /* commits that begin so, at most 2 */
	int64_t repo;
	char repo_name[128], sha[65]; /* of the first */
};
/** Commits that begin with `prefix` (hex) and were asked for, or are a branch's tip. `repo` NULL or "": in every repository. */
int store_commit_find(struct db *db, const char *repo, const char *prefix, struct store_commit_found *out, struct fw_err *err);

/** The one commit or tip of a repository that begins with `prefix` (hex). 1, 0 none, -1; ERR_CONFLICT there are several. Shape: sha[65]. */
int store_commit_abbreviated(struct db *db, int64_t repo, const char *prefix, char *sha, struct fw_err *err);

#endif
