/**
 * branch.h - state of branches. The rules of comparison.h hold: texts of a row are valid inside the callback only, absent numbers are NAN,
 * absent ids and times 0.
 */
#ifndef DB_BRANCH_H
#define DB_BRANCH_H

#include "verdict/commit_verdict.h"
#include "db/db.h"

struct view_branch {
	int64_t id;
	const char *repo, *name, *display, *commit, *subject, *author; /* name percent-encoded, display UTF-8 */
	bool watched, gone;
	int64_t seen_at;
	int64_t job;                      /* an open one of the tip, else the latest of the branch; 0 none */
	enum jobstate job_state;          /* JOBSTATE_N: no job */
	const char *job_progress;         /* JSON, "" none yet */
	const struct commit_verdict *tip; /* verdict of the tip */
	/* fields below: of the tip once it has a verdict, else of the newest push with a verdict */
	const char *compared; /* commit; "" none */
	const struct commit_verdict *stands;
	enum verdict verdict; /* its verdict */
	const char *suite;    /* that decides it, "" none */
	int64_t comparison;   /* that decides it, 0 none */
	double worst_pct;     /* lowest change of a timed cell of any suite */
	double best_pct;      /* of an improvement the highest; NAN: it is none */
	int64_t finished_at;  /* last of its comparisons */
};
typedef void view_branch_fn(void *arg, const struct view_branch *row);
/** Which rows of a repository. */
struct view_branch_filter {
	int64_t repo;
	const char *name;    /* branch name, percent-encoded; NULL or "": all */
	const char *display; /* matches display names where no branch has `name`; NULL or "": not used */
	bool watched;        /* only watched branches */
	bool strict;         /* ignore accepted alerts */
	int64_t after;       /* id of the last row of the previous page; 0: from the first */
	int limit;
};
/** Branches that are not gone, by name. */
int view_branches(struct db *db, const struct view_branch_filter *f, view_branch_fn *each, void *arg, struct fw_err *err);
/** The repository of a row. ERR_NOT_FOUND. */
int view_branch_repo(struct db *db, int64_t id, int64_t *repo, struct fw_err *err);

typedef void view_branch_name_fn(void *arg, const char *name, const char *display, const char *subject);
/** Names of branches and subjects of their tips only; at most `limit`. */
int view_branch_names(struct db *db, int64_t repo, int limit, view_branch_name_fn *each, void *arg, struct fw_err *err);

typedef void view_suite_fn(void *arg, const char *suite);
/**
 * Suites of the comparisons of a branch's tip, or of its newest measured push, in the order of the plan; else the suite of the
 * branch's newest comparison of any kind.
 */
int view_branch_suites(struct db *db, const char *repo, const char *branch, view_suite_fn *each, void *arg, struct fw_err *err);

#endif
