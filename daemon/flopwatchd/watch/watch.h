/** watch.h - from the refs of repositories to jobs. */
#ifndef FLOPWATCHD_WATCH_WATCH_H
#define FLOPWATCHD_WATCH_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "flopwatchd/config/config.h"
#include "lib/lib.h"
#include "model/model.h"

/* ---- gitread: Parsers for the output of flopwatch-git, which is not trusted. ---- */

enum { GITREAD_BLOBS_MAX = 24, GITREAD_PARENTS_MAX = 256 };

/** A commit, as returned by the verb `tree`. */
struct gitread_commit {
	struct store_commit commit;
	char problem[512]; /* fault of a requested path; "": none */
	int n_blobs;
	struct {
		char path[MANIFEST_TEXT_SIZE];
		bool present;
		struct buf text;
	} blob[GITREAD_BLOBS_MAX];
	int n_oids;
	struct {
		char path[MANIFEST_TEXT_SIZE];
		char oid[65]; /* "" absent */
	} oid[MANIFEST_LIST_MAX];
};

/** Parse the output of `tree`. Err: ERR_PROTOCOL. Own: on 0 gitread_commit_free. */
int gitread_tree(const struct buf *out, struct gitread_commit **commit, struct fw_err *err);
void gitread_commit_free(struct gitread_commit *c);
/** Return a requested blob; NULL if it was not requested or does not exist. */
const struct buf *gitread_blob(const struct gitread_commit *c, const char *path);
/** True if `path` was requested; `oid` is "" if the commit does not have it. */
bool gitread_oid(const struct gitread_commit *c, const char *path, const char **oid);

/**
 * Parse the output of `log`: call `each` for each commit in order, until it returns nonzero. Err: ERR_PROTOCOL, or from `each`
 * (-1).
 */
typedef int gitread_log_fn(void *arg, const struct store_commit *commit, struct fw_err *err);
int gitread_log(const struct buf *out, gitread_log_fn *each, void *arg, struct fw_err *err);

/** The output of the verb `base`. */
struct gitread_base {
	char merge_base[65]; /* "": none */
	char upstream[65];   /* tip of the upstream branch; "": none exists or none was requested */
	int n_first_parents;
	char first_parent[GITREAD_PARENTS_MAX][65];
};
int gitread_base(const struct buf *out, struct gitread_base *base, struct fw_err *err);

/** Parse the output of `contains`: whether a branch contains the commit. Err: ERR_PROTOCOL. */
int gitread_contains(const struct buf *out, bool *is_on_branch, struct fw_err *err);

/**
 * Parse the output of `changes`: the first changed files as a JSON list of texts, and the number of all. Err: ERR_PROTOCOL.
 * Shape: paths_json[size].
 */
int gitread_changes(const struct buf *out, char *paths_json, size_t size, int *number, struct fw_err *err);

/** Percent-encode a branch name as flopwatch-git writes it. Shape: out[size]. Err: ERR_INVALID it does not fit. */
int gitread_encode(const char *name, char *out, size_t size, struct fw_err *err);

/*
 * ---- watch ----
 * Detection of pushes: compares the branch tips of every configured repository with the stored ones and queues jobs. A local
 * repository is read in place when inotify reports a change of its refs; a remote one is fetched into a mirror. Child processes
 * (flopwatch-git) with deadlines do all git work, so the loop never blocks. The error of a failing repository is stored; it is
 * retried with growing delays (up to 5 minutes), and never delays the others.
 */

#define PULL_DISPLAY "pull:" /* PULL_BRANCH for people */

struct watch;

/**
 * Store the configured repositories, retire others, and start watching. `on_new_job(arg)` is called after each transaction that
 * queued a job. `l`, `c` and `db` must outlive the watch. Own: `*out` ends in watch_stop. Err: only failures that concern every
 * repository (database, state folder).
 */
int watch_start(struct loop *l, const struct config *c, struct db *db, void (*on_new_job)(void *arg), void *arg,
	struct watch **out, struct fw_err *err);
/**
 * Check this repository now, for a webhook or a user. Returns the number of the first check that starts after this call: a
 * running check may have read the tips before that push. 0: unknown name.
 */
int64_t watch_trigger(struct watch *w, const char *repo_name);

/** Result of the newest check. Own: the watch's, until the loop continues. */
struct watch_check_result {
	const char *error; /* why the repository could not be read; "": it was read */
	const char *held;  /* names, one a line, of branches whose stored tip is older than git's */
};

enum watch_check_state {
	WATCH_CHECK_UNKNOWN, /* a number of an earlier daemon */
	WATCH_CHECK_OPEN,    /* not started, or running */
	WATCH_CHECK_ENDED    /* this check or a later one has ended */
};

/** Status of the check with that number. `out` describes the newest check, all "" unless WATCH_CHECK_ENDED. */
enum watch_check_state watch_check_result(struct watch *w, const char *repo_name, int64_t number, struct watch_check_result *out);
/** Stop all timers and kill running children; accepts NULL. */
void watch_stop(struct watch *w);

#endif
