#include "flopwatchd/notify/internal.h"

#include <math.h>

/* ---- status_update ---- */

enum { PAYLOAD_MAX = 64 << 10, FINDINGS_MAX = 5 };

/* The worst cells of a comparison, for the annotations of a check run. */
struct bad_cells {
	int n;
	struct bad_cell {
		char cell[160], text[EXPLAIN_SIZE];
		double change_pct;
		bool is_loss;
	} worst[FINDINGS_MAX];
};

static bool is_worse(const struct bad_cell *one, const struct bad_cell *other)
{
	return one->is_loss != other->is_loss ? one->is_loss : one->change_pct < other->change_pct;
}

static void add_finding(void *arg, const struct store_cell *c)
{
	struct bad_cells *f = arg;
	struct bad_cell one = { .change_pct = isfinite(c->change_pct) ? c->change_pct : 0,
		.is_loss = c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_FAILED };
	int at = f->n;
	snprintf(one.cell, sizeof one.cell, "%s", c->key);
	int len = snprintf(one.text, sizeof one.text, "%s", verdict_name(c->verdict));
	if (isfinite(c->ci_low_pct) && isfinite(c->ci_high_pct) && isfinite(c->change_pct))
		snprintf(one.text + len, sizeof one.text - (size_t)len, " %+.2f %% (%+.2f .. %+.2f)", c->change_pct,
			c->ci_low_pct, c->ci_high_pct);
	else if (c->failure[0])
		snprintf(one.text + len, sizeof one.text - (size_t)len, ": %.200s", c->failure);
	while (at > 0 && is_worse(&one, &f->worst[at - 1]))
		at--;
	if (at == FINDINGS_MAX)
		return;
	f->n += f->n < FINDINGS_MAX;
	for (int i = f->n - 1; i > at; i--)
		f->worst[i] = f->worst[i - 1];
	f->worst[at] = one;
}

static int write_findings(struct db *db, int64_t comparison, struct jsonw *j, struct fw_err *err)
{
	enum { CELLS_MAX = 100000 };
	struct bad_cells *f = mem_alloc_zero(1, sizeof *f);
	int result = find_notification_each(db, comparison, CELLS_MAX, add_finding, f, err);
	jsonw_kv_array(j, "findings");
	for (int i = 0; i < f->n; i++)
		jsonw_format(j, "{ cell=%s text=%s is_loss=%i }", f->worst[i].cell, f->worst[i].text, f->worst[i].is_loss);
	jsonw_array_end(j);
	free(f);
	return result;
}

/* Queue the status for the forge of `repo`, inside the transaction that causes it. */
static int status_update_enqueue(
	struct db *db, int64_t repo_id, const char *repo, const struct status_update *update, int64_t now_ms, struct fw_err *err)
{
	char context[100], subject[180], sha[65], request[20] = "";
	int number;
	struct buf text;
	struct jsonw j;
	/* a forge shows statuses of a request's head, not of its merge result; the head may have statuses, too */
	if (store_pull_head_of(db, repo_id, update->sha, sha, &number, err) != 0)
		return -1;
	if (number)
		snprintf(request, sizeof request, "/pull/%d", number);
	snprintf(context, sizeof context, "flopwatch%s%s%.64s", request, update->suite[0] ? "/" : "", update->suite);
	snprintf(subject, sizeof subject, "%.64s %s", sha, context);
	buf_init(&text, PAYLOAD_MAX);
	jsonw_init(&j, &text);
	jsonw_format(&j, "{ sha=%s state=%s context=%s description=%s page=%s", sha, update->state, context, update->description,
		update->page);
	if (update->comparison && write_findings(db, update->comparison, &j, err) != 0) {
		buf_fini(&text);
		return -1;
	}
	jsonw_object_end(&j);
	int result = text.failed ? err_set(err, ERR_FULL, "the status of commit %.12s does not fit", update->sha)
				 : store_outbox_replace(db, "status", repo, subject, text.data, now_ms, err);
	buf_fini(&text);
	return result;
}

/* Return the state of a verdict. */
static const char *status_update_of(enum verdict v)
{
	switch (v) {
	case VERDICT_REGRESSION:
	case VERDICT_FAILED:
		return "failure";
	case VERDICT_REJECTED:
		return "error";
	case VERDICT_UNDECIDED:
	case VERDICT_NOT_COMPARABLE:
	case VERDICT_REMOVED: /* set by no commit: see verdict/verdict.c */
	case VERDICT_ADDED:
	case VERDICT_UNSUPPORTED:
		return "neutral";
	default:
		return "success";
	}
}

/* ---- status_summary ---- */

enum { DESCRIPTION_MAX = 4096 };

/* Write "gemm regression -9.02 %", "second not measured: cancelled by ada", "third waits". */
static void write_suite(struct buf *out, const struct commit_suite *s)
{
	const struct commit_job *result = &s->result;
	const char *why = s->job.why;
	bool is_timed = result->end == COMMIT_JUDGED && isfinite(result->worst_pct);
	if (s->job.suite[0])
		buf_printf(out, "%s ", s->job.suite);
	if (commit_verdict_is_open(s)) {
		buf_puts(out, s->job.state == JOBSTATE_QUEUED ? "waits" : "is being measured");
	} else if (result->id && result->end == COMMIT_JUDGED) {
		buf_puts(out, verdict_name(commit_verdict_of(s)));
		if (result->accepted && result->verdict == VERDICT_ACCEPTED)
			buf_printf(out, " by %s", result->accepted_by);
		if (is_timed && result->regressions)
			buf_printf(out, " %+.2f %%", result->worst_pct);
		else if (isfinite(result->best_pct))
			buf_printf(out, " %+.2f %%", result->best_pct);
	} else {
		buf_printf(out, "not measured%s%s", why[0] ? ": " : "", why);
	}
}

/* Worst first: a forge shows the beginning of the text. */
static int compare_severity(const void *a, const void *b)
{
	const struct commit_suite *x = *(const struct commit_suite *const *)a, *y = *(const struct commit_suite *const *)b;
	int v = (int)commit_verdict_of(x), w = (int)commit_verdict_of(y);
	return v != w ? (v > w) - (v < w) : (x->first > y->first) - (x->first < y->first);
}

static int write_description(const struct commit_verdict *v, struct buf *out, struct fw_err *err)
{
	const struct commit_suite **order = mem_alloc_zero((size_t)v->n, sizeof *order);
	for (int i = 0; i < v->n; i++)
		order[i] = &v->suite[i];
	qsort(order, (size_t)v->n, sizeof *order, compare_severity);
	if (v->n > 1 && v->n_open)
		buf_printf(out, "%d of %d suites ended: ", v->n - v->n_open, v->n);
	else if (v->n > 1 && v->verdict != VERDICT_NONE)
		buf_printf(out, "%s: ", verdict_name(v->verdict));
	for (int i = 0; i < v->n; i++) {
		buf_puts(out, i ? ", " : "");
		write_suite(out, order[i]);
	}
	free(order);
	return out->failed ? err_set(err, ERR_FULL, "the description of a status does not fit") : 0;
}

static const char *get_state(const struct commit_verdict *v)
{
	const struct commit_suite *decides = v->decides < 0 ? NULL : &v->suite[v->decides];
	if (v->n_open)
		return "pending";
	if (v->verdict == VERDICT_NONE && v->n_unmeasured)
		return "cancelled";
	if (decides && decides->result.id && decides->result.end == COMMIT_FAILED)
		return "error"; /* flopwatch or the plan failed, not the commit */
	return status_update_of(v->verdict);
}

static void find_page(const struct commit_verdict *v, const char *sha, char *page, size_t size)
{
	if (v->n > 1)
		snprintf(page, size, "/commits/%.64s", sha);
	else if (v->suite[0].result.comparison && !v->n_open)
		snprintf(page, size, "/comparisons/%lld", (long long)v->suite[0].result.comparison);
	else
		snprintf(page, size, "/jobs/%lld", (long long)v->suite[0].job.id);
}

static bool is_planned(const struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].job.suite[0] || v->suite[i].result.id)
			return true;
	return false;
}

/* The profile whose cause a comment has. */
static void take_profile(void *arg, const struct view_profile *row)
{
	if (jobstate_is_final(row->state))
		*(int64_t *)arg = row->id;
}

/* Queue the comment on the request whose newest head this commit measures: the deciding suite, and `words` about all. */
static int comment_enqueue(struct db *db, int64_t repo, const char *repo_name, const char *sha, const struct commit_verdict *v,
	const char *words, int64_t now_ms, struct fw_err *err)
{
	int number, found = store_pull_of(db, repo, sha, &number, err);
	int64_t comparison = 0, why = 0;
	char subject[40];
	struct buf text;
	struct jsonw j;
	if (found != 1)
		return found;
	const struct commit_suite *decides = v->decides >= 0 ? &v->suite[v->decides] : v->n ? &v->suite[0] : NULL;
	if (decides)
		comparison = decides->result.comparison;
	bool has_others = v->n > 1 || !comparison;
	/* with the cause, or after a user accepted a regression, the same comment is written again */
	if (comparison && view_profile_of(db, 0, comparison, take_profile, &why, err) < 0)
		return -1;
	snprintf(subject, sizeof subject, "pull %d", number);
	buf_init(&text, PAYLOAD_MAX);
	jsonw_init(&j, &text);
	jsonw_format(&j, "{ number=%d sha=%s comparison=%ld words=%s why=%ld state=%s }", number, sha, comparison,
		has_others ? words : "", why, get_state(v));
	int result = text.failed ? err_set(err, ERR_FULL, "the comment of request %d does not fit", number)
				 : store_outbox_replace(db, "comment", repo_name, subject, text.data, now_ms, err);
	buf_fini(&text);
	return result;
}

/* Queue the summary; no effect before the commit has a plan. */
static int status_summary_enqueue(
	struct db *db, int64_t repo, const struct config_repo *conf, const char *sha, int64_t now_ms, struct fw_err *err)
{
	struct commit_verdict v;
	struct buf text;
	char page[80];
	buf_init(&text, DESCRIPTION_MAX);
	int result = store_commit_verdict(db, repo, sha, NULL, &v, err);
	if (result == 0 && is_planned(&v)) {
		result = write_description(&v, &text, err);
		find_page(&v, sha, page, sizeof page);
		struct status_update update = { sha, "", get_state(&v), text.data, page, 0 };
		if (result == 0)
			result = status_update_enqueue(db, repo, conf->name, &update, now_ms, err);
		if (result == 0 && conf->pulls.comment && v.n_open == 0)
			result = comment_enqueue(db, repo, conf->name, sha, &v, text.data, now_ms, err);
	}
	commit_verdict_fini(&v);
	buf_fini(&text);
	return result;
}

/* ---- commit_status ---- */

enum { ENDED_MAX = 4096 }; /* above the limit of queued jobs */

bool status_is_reported(const struct store_job *job)
{
	return (job->kind == JOBKIND_COMPARE || job->kind == JOBKIND_SELFCHECK) && !job->quick && !job->cells_glob[0] &&
	       !job->shard && job->branch[0];
}

static const struct config_repo *find_repo(const struct config *config, const char *name)
{
	int at = config ? config_repo_find(config, name) : -1;
	return at >= 0 && config->repo[at].status.kind[0] ? &config->repo[at] : NULL;
}

static int queue_statuses(struct db *db, const struct config_repo *repo, int64_t repo_id, const struct status_update *update,
	int64_t now_ms, struct fw_err *err)
{
	if (update->suite[0] && status_update_enqueue(db, repo_id, repo->name, update, now_ms, err) != 0)
		return -1;
	return status_summary_enqueue(db, repo_id, repo, update->sha, now_ms, err);
}

int status_job(struct db *db, const struct config *config, const struct store_job *job, const char *suite, enum jobstate state,
	const char *why, int64_t now_ms, struct fw_err *err)
{
	static const struct {
		const char *state, *text; /* NULL: no status */
	} words[JOBSTATE_N] = {
		[JOBSTATE_QUEUED] = { "pending", "waits to be measured" },
		[JOBSTATE_BUILDING] = { "running", "is being measured" },
		[JOBSTATE_CHECKING] = { "running", "is being measured" },
		[JOBSTATE_MEASURING] = { "running", "is being measured" },
		[JOBSTATE_FAILED] = { "error", "not measured" },
		[JOBSTATE_CANCELLED] = { "cancelled", "cancelled" },
		[JOBSTATE_SUPERSEDED] = { "cancelled", "not measured" },
		[JOBSTATE_TARGET_MISSING] = { "cancelled", "not measured" },
	};
	const struct config_repo *repo = find_repo(config, job->repo_name);
	char text[640], page[40];
	if (!suite)
		suite = job->suite;
	if (!repo || !status_is_reported(job) || state >= JOBSTATE_N || !words[state].state)
		return 0;
	bool has_reason = why[0] && (state == JOBSTATE_QUEUED || jobstate_is_final(state));
	snprintf(text, sizeof text, "%s%s%s", words[state].text, has_reason ? ": " : "", has_reason ? why : "");
	snprintf(page, sizeof page, "/jobs/%lld", (long long)job->id);
	struct status_update update = { job->target_sha, suite, words[state].state, text, page, 0 };
	return queue_statuses(db, repo, job->repo, &update, now_ms, err);
}

int status_ended(struct db *db, const struct config *config, const struct config_repo *only, int64_t now_ms, struct fw_err *err)
{
	if (only && !only->status.kind[0])
		return 0;
	struct find_notification_job *ended = mem_alloc_zero(ENDED_MAX, sizeof *ended);
	int n = 0, result = find_notification_ended(db, now_ms, only ? only->name : "", ended, ENDED_MAX, &n, err);
	for (int i = 0; i < n && result == 0; i++) {
		const struct config_repo *repo = only ? only : find_repo(config, ended[i].repo_name);
		char text[640], page[40];
		bool newer = strncmp(ended[i].why, "superseded by ", 14) == 0;
		snprintf(page, sizeof page, "/jobs/%lld", (long long)ended[i].id);
		snprintf(text, sizeof text, "not measured: %s", newer ? "superseded by a newer push" : ended[i].why);
		struct status_update update = { ended[i].sha, ended[i].suite,
			ended[i].state == JOBSTATE_FAILED ? "error" : "cancelled", text, page, 0 };
		if (repo)
			result = queue_statuses(db, repo, ended[i].repo, &update, now_ms, err);
	}
	free(ended);
	return result;
}

/* Describe a verdict: "regression: 4 of 20 cells, worst -2.26 % in attention/.../forward"; of an improvement the best. */
static int describe_verdict(struct db *db, const struct store_comparison *c, const struct store_accepted *accepted, char *text,
	size_t size, struct fw_err *err)
{
	char verdict[200];
	struct find_notification_cells cells;
	if (accepted->covered && !accepted->lost)
		snprintf(verdict, sizeof verdict, "regression (accepted by %.100s)%s%s", accepted->who,
			accepted->verdict == VERDICT_ACCEPTED ? "" : ", else ",
			accepted->verdict == VERDICT_ACCEPTED ? "" : verdict_name(accepted->verdict));
	else
		snprintf(verdict, sizeof verdict, "%s", verdict_name(c->verdict));
	int found = find_notification_cells(db, c->id, c->verdict, &cells, err);
	snprintf(text, size, "%s", verdict);
	if (found != 1)
		return found;
	int len = snprintf(text, size, "%s: %lld of %lld cells", verdict, (long long)cells.n, (long long)cells.all);
	if (c->verdict == VERDICT_IDENTICAL)
		snprintf(text, size, "identical: %s", cells.reason[0] ? cells.reason : "nothing that is measured changed");
	else if (c->verdict == VERDICT_REGRESSION || c->verdict == VERDICT_IMPROVEMENT)
		snprintf(text + len, size - (size_t)len, ", %s %+.2f %% in %s",
			c->verdict == VERDICT_REGRESSION ? "worst" : "best", cells.decided_pct, cells.key);
	else if (cells.reason[0])
		snprintf(text + len, size - (size_t)len, ": %s", cells.reason);
	return 0;
}

int status_verdict(struct db *db, const struct config *config, const struct store_job *job, const struct store_comparison *c,
	int64_t now_ms, struct fw_err *err)
{
	const struct config_repo *repo = find_repo(config, job->repo_name);
	char text[900] = "", page[40];
	if (!repo || !status_is_reported(job))
		return 0;
	struct store_accepted accepted = { .verdict = c->verdict };
	if ((c->verdict == VERDICT_REGRESSION && store_accepted_of(db, c->id, &accepted, err)) ||
		describe_verdict(db, c, &accepted, text, sizeof text, err))
		return -1;
	snprintf(page, sizeof page, "/comparisons/%lld", (long long)c->id);
	struct status_update update = { c->target_sha, job->suite, status_update_of(accepted.verdict), text, page,
		repo->status.checks ? c->id : 0 };
	return queue_statuses(db, repo, job->repo, &update, now_ms, err);
}

int status_cause(struct db *db, const struct config *config, const char *repo_name, int64_t repo_id, const char *sha,
	int64_t now_ms, struct fw_err *err)
{
	const struct config_repo *repo = find_repo(config, repo_name);
	return repo && repo->pulls.comment ? status_summary_enqueue(db, repo_id, repo, sha, now_ms, err) : 0;
}
