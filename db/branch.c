/** branch.c - one row a branch: the open job of its tip, and its newest verdict. */
#include "db/db.h"

#include <math.h>

/** Job of a branch's row: the one that its tip waits for, else the latest. */
static int64_t job_to_show(const struct commit_verdict *tip, int64_t latest)
{
	int64_t waiting = 0;
	for (int i = 0; i < tip->n; i++) {
		const struct commit_job *job = &tip->suite[i].job;
		if (!commit_verdict_is_open(&tip->suite[i]))
			continue;
		if (job->state != JOBSTATE_QUEUED)
			return job->id;
		if (!waiting || job->id < waiting)
			waiting = job->id;
	}
	return waiting ? waiting : latest;
}

/** Columns of a branch's job. */
struct shown_job {
	int64_t id;
	enum jobstate state;
	struct buf progress;
};

static int read_shown_job(struct db *db, int64_t id, struct shown_job *out, struct fw_err *err)
{
	out->id = id;
	out->state = JOBSTATE_N;
	buf_clear(&out->progress);
	if (!id)
		return 0;
	struct stmt *s = db_query(db, err, "SELECT state, progress FROM job WHERE id = :id", "id=%ld", id);
	const char *progress;
	int result = stmt_next(s, err, COLUMN_NAMED(out->state, jobstate_from_name), progress);
	if (result == 1)
		buf_puts(&out->progress, progress);
	stmt_reset(s);
	return result < 0 ? -1 : 0;
}

/** Add the verdicts of its branch to `row`, and pass it to the callback. */
static int pass_branch(struct db *db, const struct view_branch_filter *f, struct view_branch *row, struct shown_job *job,
	view_branch_fn *each, void *arg, struct fw_err *err)
{
	struct commit_verdict tip, before;
	char sha[65] = "";
	commit_verdict_init(&before);
	int result = store_commit_verdict(db, f->repo, row->commit, row->name, &tip, err);
	if (result == 0 && f->strict)
		commit_verdict_strict(&tip);
	bool is_known = tip.verdict != VERDICT_NONE;
	if (result == 0 && !is_known)
		result = store_commit_before(db, f->repo, row->name, row->commit, sha, &before, err);
	if (result == 0 && f->strict)
		commit_verdict_strict(&before);
	if (result == 0)
		result = read_shown_job(db, job_to_show(&tip, row->job), job, err);
	if (result == 0) {
		const struct commit_verdict *v = is_known ? &tip : &before;
		row->job = job->id;
		row->job_state = job->state;
		row->job_progress = job->progress.data ? job->progress.data : "";
		row->tip = &tip;
		row->judged = v;
		row->compared = is_known ? row->commit : sha;
		row->verdict = v->verdict;
		row->suite = v->decides >= 0 ? v->suite[v->decides].job.suite : "";
		row->comparison = v->decides >= 0 ? v->suite[v->decides].result.comparison : 0;
		row->finished_at = 0;
		row->best_pct = v->best >= 0 ? v->suite[v->best].result.best_pct : NAN;
		row->worst_pct = v->worst >= 0 ? v->suite[v->worst].result.worst_pct : NAN;
		for (int i = 0; i < v->n; i++)
			if (v->suite[i].result.finished_at > row->finished_at)
				row->finished_at = v->suite[i].result.finished_at;
		each(arg, row);
	}
	commit_verdict_fini(&tip);
	commit_verdict_fini(&before);
	return result;
}

/* A page begins after the name of the last row of the previous page. */
#define BRANCHES(which)                                                                                                          \
	"SELECT b.id, r.name, b.name, b.display, b.commit_sha, coalesce(m.subject, ''), b.watched, b.gone, b.seen_at, "          \
	"(SELECT max(id) FROM job x WHERE x.repo = b.repo AND x.branch = b.name), coalesce(m.author, '') FROM "                  \
	"branch_tip b JOIN repo r ON r.id = b.repo LEFT JOIN git_commit m ON m.repo = b.repo AND m.sha = b.commit_sha "          \
	"WHERE b.repo = :repo AND b.gone = 0 AND b.name > coalesce((SELECT name FROM branch_tip WHERE id = :after), "            \
	"'') AND b.watched >= :watched" which " ORDER BY b.name LIMIT :limit"

/** Run a statement of BRANCHES. Returns the number of rows, -1. */
static int read_branches(struct db *db, struct stmt *s, const struct view_branch_filter *f, const char *name,
	view_branch_fn *each, void *arg, struct fw_err *err)
{
	struct shown_job job = { .id = 0 };
	int result, n = 0;
	s = stmt_bind(s, err, "repo=%ld after=%ld watched=%d limit=%d", f->repo, f->after, f->watched,
		store_page_size(f->limit, VIEW_ROWS_MAX));
	if (name)
		s = stmt_bind(s, err, "name=%s", name);
	buf_init(&job.progress, 1 << 16);
	struct view_branch row = { 0 };
	for (; (result = stmt_next(s, err, row.id, row.repo, row.name, row.display, row.commit, row.subject, row.watched,
			row.gone, row.seen_at, row.job, row.author)) == 1;
		n++) {
		if (pass_branch(db, f, &row, &job, each, arg, err) != 0) {
			stmt_reset(s);
			result = -1;
			break;
		}
	}
	buf_fini(&job.progress);
	return result < 0 ? -1 : n;
}

int view_branches(struct db *db, const struct view_branch_filter *f, view_branch_fn *each, void *arg, struct fw_err *err)
{
	int n;
	if (!store_page_given(f->name)) {
		n = read_branches(db, db_stmt(db, BRANCHES(""), err), f, NULL, each, arg, err);
	} else {
		n = read_branches(db, db_stmt(db, BRANCHES(" AND b.name = :name"), err), f, f->name, each, arg, err);
		if (n == 0 && store_page_given(f->display))
			n = read_branches(
				db, db_stmt(db, BRANCHES(" AND b.display = :name"), err), f, f->display, each, arg, err);
	}
	return n < 0 ? -1 : 0;
}

int view_branch_repo(struct db *db, int64_t id, int64_t *repo, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, "SELECT repo FROM branch_tip WHERE id = :id", "id=%ld", id);
	return store_page_require_row(stmt_first_int(s, repo, err), "branch", id, err);
}

int view_branch_names(struct db *db, int64_t repo, int limit, view_branch_name_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT b.name, b.display, coalesce(m.subject, '') FROM branch_tip b LEFT JOIN git_commit m ON m.repo = b.repo "
		"AND m.sha = b.commit_sha WHERE b.repo = :repo AND b.gone = 0 ORDER BY b.name LIMIT :limit",
		"repo=%ld limit=%d", repo, limit);
	const char *name, *display, *subject;
	return stmt_each(s, err, each(arg, name, display, subject), name, display, subject);
}

static bool was_named(const struct commit_verdict *v, int n)
{
	for (int i = 0; i < n; i++)
		if (v->suite[i].result.comparison && strcmp(v->suite[i].job.suite, v->suite[n].job.suite) == 0)
			return true;
	return false;
}

/** Returns how many. */
static int name_suites(const struct commit_verdict *v, view_suite_fn *each, void *arg)
{
	int n = 0;
	for (int i = 0; i < v->n; i++) {
		if (!v->suite[i].result.comparison || was_named(v, i))
			continue;
		each(arg, v->suite[i].job.suite);
		n++;
	}
	return n;
}

static int name_newest_suite(struct db *db, int64_t repo, const char *branch, view_suite_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT t.name FROM comparison c JOIN suite t ON t.id = c.suite WHERE c.repo = :repo AND c.branch = :branch "
		"ORDER BY c.id DESC LIMIT 1",
		"repo=%ld branch=%s", repo, branch);
	const char *suite;
	return stmt_each(s, err, each(arg, suite), suite);
}

int view_branch_suites(struct db *db, const char *repo, const char *branch, view_suite_fn *each, void *arg, struct fw_err *err)
{
	struct commit_verdict v, before;
	char tip[65] = "", sha[65];
	bool gone;
	int64_t id;
	if (view_repo_id(db, repo, &id, err) != 0)
		return -1;
	if (store_tip_get(db, id, branch, tip, &gone, err) != 0) {
		if (err->code != ERR_NOT_FOUND)
			return -1;
		err_clear(err); /* results may be imported for a branch without pushes */
		return name_newest_suite(db, id, branch, each, arg, err);
	}
	commit_verdict_init(&before);
	int result = store_commit_verdict(db, id, tip, branch, &v, err), n = result == 0 ? name_suites(&v, each, arg) : 0;
	if (result == 0 && n == 0)
		result = store_commit_before(db, id, branch, tip, sha, &before, err);
	if (result == 0 && n == 0)
		n = name_suites(&before, each, arg);
	commit_verdict_fini(&v);
	commit_verdict_fini(&before);
	return result == 0 && n == 0 ? name_newest_suite(db, id, branch, each, arg, err) : result;
}
