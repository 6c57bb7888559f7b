/* Branches: a table by urgency, all branches of all repositories, and one branch with its pushes. */

#include "web/page/internal.h"

#include <math.h>

enum { BRANCHES_MAX = 100, PUSHES_MAX = 50, NAME_BYTES = 16 * BRANCH_KEY_MAX, ROWS_BYTES = 16 << 20 };

/* ---- row ----------------------------------------------------------------------------------------------------------- */

struct branch_row {
	enum urgency urgency;
	double change_pct; /* NAN: none */
	size_t begin, end; /* range of its HTML in `text` */
	int n;             /* index in the order of names */
};

struct drawing {
	struct site *site;
	struct buf text;
	struct branch_row row[BRANCHES_MAX];
	struct branches *found;
	const struct slow_branches *slow;
	int n, result;
	struct fw_err *err;
};

static enum urgency urgency_of(const struct view_branch *row)
{
	bool is_open = row->job && row->job_state != JOBSTATE_N && !jobstate_is_final(row->job_state);
	switch (row->verdict) {
	case VERDICT_FAILED:
	case VERDICT_REJECTED:
		return URGENCY_FAILED;
	case VERDICT_REGRESSION:
		return URGENCY_REGRESSION;
	case VERDICT_UNDECIDED:
	case VERDICT_NOT_COMPARABLE:
		return URGENCY_UNDECIDED;
	case VERDICT_NONE:
		return URGENCY_MEASURING;
	case VERDICT_IMPROVEMENT:
		return is_open ? URGENCY_MEASURING : URGENCY_IMPROVEMENT;
	default:
		return is_open ? URGENCY_MEASURING : URGENCY_UNCHANGED;
	}
}

/* Draw the progress of a job; static/live.js writes the same text when an event arrives. */
static void job_progress(struct buf *out, int64_t job, const char *progress_json)
{
	json_t *p = *progress_json ? json_loads(progress_json, 0, NULL) : NULL;
	json_int_t run = json_integer_value(json_object_get(p, "run")), set = json_integer_value(json_object_get(p, "set")),
		   checks = json_integer_value(json_object_get(p, "checks"));
	emit_rawf(out, " <small class=dim data-progress=%lld>", (long long)job);
	if (run)
		emit_rawf(out, "run %lld%s", (long long)run, set == 2 ? ", confirming" : "");
	else if (checks)
		emit_rawf(out, "%lld of %lld checks", (long long)json_integer_value(json_object_get(p, "checked")),
			(long long)checks);
	emit_raw(out, "</small>");
	json_decref(p);
}

static void draw_job(struct buf *out, const struct view_branch *row)
{
	suites_unfinished(out, row->tip);
	if (!row->job || row->job_state == JOBSTATE_DONE)
		return;
	emit_format(out, " <small>next:</small> %lld{job} %s{verdict}", (long long)row->job, jobstate_name(row->job_state));
	job_progress(out, row->job,
		row->job_progress); /* also before the job runs: a short job ends before the browser reloads the page */
}

/* Draw the verdict, the push that has it, and the job of the tip. */
static void draw_verdict(struct buf *out, const struct view_branch *row)
{
	suites_verdict(out, row->judged);
	if (row->compared[0] && strcmp(row->compared, row->commit) != 0)
		emit_raw(out, " <small>of an earlier push</small>");
	suites_which(out, row->judged, row->compared);
	draw_job(out, row);
}

/* Draw the reason of the verdict: the cause that a profile found, or the result of the measurement. */
static int draw_cause(
	struct db *db, struct buf *out, const struct view_branch *row, const struct headline *headline, struct fw_err *err)
{
	const struct commit_verdict *v = row->judged;
	struct alarm_id alert;
	if (row->verdict == VERDICT_REGRESSION || row->verdict == VERDICT_ACCEPTED)
		return alarm_cause(db, out, row->comparison, &alert, err);
	if (!headline_cause(out, headline, row->verdict) && row->verdict == VERDICT_FAILED && v->decides >= 0)
		emit_text(out, v->suite[v->decides].result.why);
	return 0;
}

/* Draw verdict, change and cause of the newest push. */
static int draw_newest(struct drawing *d, const struct view_branch *row, const struct headline *headline)
{
	struct buf *out = &d->text;
	draw_verdict(out, row);
	emit_raw(out, "<span class=why>");
	headline_cells(out, headline);
	emit_raw(out, "</span></td><td class=n>");
	headline_change(out, headline, row->verdict, isfinite(row->best_pct) ? row->best_pct : row->worst_pct);
	emit_raw(out, "</td><td class=w><span class=\"why cause\">");
	return draw_cause(d->site->db, out, row, headline, d->err);
}

/* Draw a branch that an older push made slower: that push, then the newest one. */
static int draw_slow(struct drawing *d, const struct view_branch *row, const struct slow_branch *slow)
{
	struct buf *out = &d->text, cause;
	int n = 0;
	buf_init(&cause, 1 << 14);
	int result = slow_branch_finding(d->site->db, slow, row->display, row->verdict, NULL, &cause, &n, d->err);
	bool is_judged = row->verdict != VERDICT_NONE;
	emit_format(out,
		"<a href=\"/alerts/%lld\">%s{verdict}</a> %lld{alert} <small>%-s; newest push <a href=\"/commits/%s\">%-s</a></small>",
		(long long)slow->alert, verdict_name(VERDICT_REGRESSION), (long long)slow->alert, alertstate_name(slow->state),
		is_judged ? row->compared : row->commit, is_judged ? verdict_name(row->verdict) : "not judged");
	draw_job(out, row);
	emit_format(out, "<span class=why>%d cell%-s ", n, n == 1 ? "" : "s");
	result = result ? result : slow_branch_since(d->site->db, out, slow, d->err);
	emit_format(out, "</span></td><td class=n>%f{decided %d}</td><td class=w><span class=\"why cause\">%-s", slow->worst_pct,
		true, cause.len ? cause.data : "");
	out->failed |= cause.failed;
	buf_fini(&cause);
	return result;
}

static int draw_row(
	struct drawing *d, const struct view_branch *row, const struct headline *headline, const struct slow_branch *slow)
{
	struct buf *out = &d->text;
	emit_format(out,
		"<tr><th scope=row class=branch><a href=\"/branches?repo=%s&amp;branch=%s\">%s</a><span class=why>"
		"<a href=\"/commits/%s\">%s</a></span></th><td>",
		row->repo, row->name, row->display, row->commit, *row->subject ? row->subject : row->commit);
	int result = slow ? draw_slow(d, row, slow) : draw_newest(d, row, headline);
	emit_raw(out, "</span></td><td class=w>");
	if (*row->author)
		emit_format(out, "<a href=\"/comparisons?author=%s\">%s</a>", row->author, row->author);
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)row->finished_at);
	return result;
}

static void take_row(void *arg, const struct view_branch *row)
{
	struct drawing *d = arg;
	struct headline headline;
	if (d->n == BRANCHES_MAX) {
		d->found->more = true;
		return;
	}
	struct branch_row *r = &d->row[d->n];
	const struct slow_branch *slow = slow_branch_of(d->slow, row);
	*r = (struct branch_row){ .urgency = slow ? URGENCY_REGRESSION : urgency_of(row), .begin = d->text.len, .n = d->n };
	if (d->result != 0 || reported_read(d->site->db, row->comparison, NULL, &headline, d->err) != 0 ||
		draw_row(d, row, &headline, slow) != 0) {
		d->result = -1;
		return;
	}
	r->change_pct = slow ? slow->worst_pct : headline.change_pct;
	r->end = d->text.len;
	d->n++;
	d->found->n[r->urgency]++;
	d->found->last = row->id;
}

/* ---- table --------------------------------------------------------------------------------------------------------- */

/* Compare: the largest slowdown first, improvements after all slowdowns, the largest first. */
static int by_urgency(const void *a, const void *b)
{
	const struct branch_row *x = a, *y = b;
	if (x->urgency != y->urgency)
		return x->urgency < y->urgency ? -1 : 1;
	if (x->urgency == URGENCY_REGRESSION && x->change_pct != y->change_pct && isfinite(x->change_pct) &&
		isfinite(y->change_pct))
		return x->change_pct < y->change_pct ? -1 : 1;
	return x->n - y->n;
}

static void draw_rows(struct buf *out, const struct drawing *d, int from, int to)
{
	layout_table(out, "Branch|Verdict|>Worst / best|~Cause|~Author|~Judged");
	for (int i = from; i < to; i++)
		buf_append(out, d->text.data + d->row[i].begin, d->row[i].end - d->row[i].begin);
	layout_table_end(out);
}

int branches_table(struct site *site, struct buf *out, int64_t repo, const struct slow_branches *slow, bool is_folded,
	int64_t after, struct branches *found, struct fw_err *err)
{
	struct drawing *d = mem_alloc_zero(1, sizeof *d);
	struct view_branch_filter filter = { .repo = repo, .watched = true, .after = after, .limit = BRANCHES_MAX + 1 };
	*found = (struct branches){ .more = false };
	*d = (struct drawing){ .site = site, .found = found, .slow = slow, .err = err };
	buf_init(&d->text, 4 << 20);
	int result = view_branches(site->db, &filter, take_row, d, err) != 0 || d->result != 0 ? -1 : 0;
	qsort(d->row, (size_t)d->n, sizeof d->row[0], by_urgency);
	int urgent = is_folded ? d->n - found->n[URGENCY_UNCHANGED] : d->n;
	if (result == 0 && urgent)
		draw_rows(out, d, 0, urgent);
	if (result == 0 && urgent < d->n) {
		emit_rawf(out, "<details id=unchanged-%lld><summary>%d unchanged</summary>", (long long)repo, d->n - urgent);
		draw_rows(out, d, urgent, d->n);
		emit_raw(out, "</details>\n");
	}
	out->failed |= d->text.failed;
	buf_fini(&d->text);
	free(d);
	return result;
}

void branches_summary(struct buf *out, const struct branches *found)
{
	static const char *const words[URGENCY_N] = { [URGENCY_FAILED] = "failed",
		[URGENCY_REGRESSION] = "slower",
		[URGENCY_UNDECIDED] = "undecided",
		[URGENCY_MEASURING] = "measuring",
		[URGENCY_IMPROVEMENT] = "faster",
		[URGENCY_UNCHANGED] = "unchanged" };
	bool any = false;
	for (int i = 0; i < URGENCY_N; i++)
		if (found->n[i]) {
			buf_printf(out, "%s%d %s", any ? ", " : "", found->n[i], words[i]);
			any = true;
		}
	if (!any)
		buf_puts(out, "no branch yet");
}

void branches_paging(struct buf *out, const char *repo, const struct branches *found, int64_t after)
{
	if (!after && !found->more)
		return;
	emit_raw(out, "<p>");
	if (after)
		emit_format(out, "<a href=\"/repos/%s\">First branches</a> ", repo);
	if (found->more)
		emit_format(out, "<a rel=next href=\"/repos/%s?cursor=%lld\">Next branches</a>", repo, (long long)found->last);
	emit_raw(out, "</p>\n");
}

/* ---- all branches -------------------------------------------------------------------------------------------------- */

struct list {
	struct site *site;
	struct buf *out;
	struct branches all;
	struct slow_branches slow;
	int n, result;
	struct fw_err *err;
};

static void take_repo(void *arg, const struct view_repo *row)
{
	struct list *list = arg;
	struct branches found;
	if (strcmp(row->state, "gone") == 0 || list->result != 0)
		return;
	list->n++;
	emit_format(list->out, "<section><h2><a href=\"/repos/%s\">%s</a></h2>", row->name, row->name);
	list->result = branches_table(list->site, list->out, row->id, &list->slow, false, 0, &found, list->err);
	branches_paging(list->out, row->name, &found, 0);
	emit_raw(list->out, "</section>\n");
	for (int i = 0; i < URGENCY_N; i++)
		list->all.n[i] += found.n[i];
}

static int list_branches(struct site *site, struct http_response *response, struct fw_err *err)
{
	struct buf rows, title;
	struct list list = { .site = site, .out = &rows, .err = err };
	buf_init(&rows, ROWS_BYTES);
	buf_init(&title, 256);
	int result = slow_branches_read(site->db, &list.slow, err) != 0 || view_repos(site->db, take_repo, &list, err) != 0
			     ? -1
			     : list.result;
	slow_branches_fini(&list.slow);
	buf_puts(&title, "Branches: ");
	branches_summary(&title, &list.all);
	layout_begin(response, title.data, "branches", "job.queued job.state job.done alert. branch.");
	layout_live(&response->body, "branches", "The branches changed");
	buf_append(&response->body, rows.data, rows.len);
	if (list.n == 0)
		layout_empty(&response->body, "", "No repository is watched yet.",
			"Add one under <code>repos</code> in flopwatchd.yml.");
	emit_raw(&response->body, "</div>");
	response->body.failed |= rows.failed;
	buf_fini(&title);
	buf_fini(&rows);
	return layout_end(response, "/api/v1/branches", result);
}

/* ---- one branch ---------------------------------------------------------------------------------------------------- */

struct branch_page {
	struct site *site;
	struct http_response *response;
	const char *repo, *branch; /* its name; its key */
	bool is_known;
	int result;
	struct fw_err *err;
};

/* Draw a line for a comparison of the branch; the newest push comes first. */
static void push_row(void *arg, const struct view_comparison *row)
{
	struct branch_page *page = arg;
	struct buf *out = &page->response->body;
	struct headline headline;
	if (page->result != 0 || reported_read(page->site->db, row->id, NULL, &headline, page->err) != 0) {
		page->result = -1;
		return;
	}
	emit_format(out,
		"<tr><th scope=row class=branch>%lld{comparison} %s{commit}<span class=why>%s</span></th><td>"
		"<a href=\"/comparisons/%lld\">%s{verdict}</a>",
		(long long)row->id, row->target, row->subject, (long long)row->id, verdict_label(row->kind, row->verdict));
	reported_why(out, &headline, row->verdict);
	emit_raw(out, "</td><td class=n>");
	headline_change(out, &headline, row->verdict, isfinite(row->best_pct) ? row->best_pct : row->worst_pct);
	emit_format(out, "</td><td class=w>%s</td><td class=w>%s</td><td class=w>%lld{time}</td></tr>\n", row->author, row->suite,
		(long long)row->finished_at);
}

static int draw_pushes(struct branch_page *page)
{
	struct buf *out = &page->response->body;
	struct view_filter filter = { .repo = page->repo, .branch = page->branch, .limit = PUSHES_MAX };
	emit_raw(out, "<h2>Pushes</h2>");
	layout_table(out, "Push|Verdict|>Worst / best<small class=ends>95 % interval</small>|~Author|~Suite|~Judged");
	int result = view_comparisons(page->site->db, &filter, push_row, page, page->err);
	layout_table_end(out);
	emit_format(out, "<p><a href=\"/comparisons?repo=%s&amp;branch=%s\">All comparisons</a> of this branch</p>\n", page->repo,
		page->branch);
	return result != 0 ? -1 : page->result;
}

static void draw_facts(struct buf *out, const struct view_branch *row, bool is_slow)
{
	emit_format(out,
		"<dl class=\"facts card\"><dt>Repository</dt><dd><a href=\"/repos/%s\">%s</a></dd><dt>Tip</dt><dd>%s{commit} %s</dd>"
		"<dt>Author</dt><dd>%s</dd><dt>%-s</dt><dd>",
		row->repo, row->repo, row->commit, row->subject, *row->author ? row->author : "\u2013",
		is_slow ? "Newest push" : "Verdict");
	draw_verdict(out, row);
	emit_format(out, "</dd><dt>Judged</dt><dd>%lld{time}</dd></dl>\n", (long long)row->finished_at);
}

/* Draw the result of the newest judged push, unless the bar of its alert shows that result. */
static int draw_outcome(struct branch_page *page, const struct view_branch *row, const struct alarms *alarms)
{
	struct outcome outcome;
	int result = outcome_read(page->site->db, row->comparison, &outcome, page->err);
	outcome.is_whole = row->judged->is_final && strcmp(row->compared, row->commit) == 0;
	if (result == 0 && !(outcome.verdict == VERDICT_REGRESSION && alarms_contain(alarms, outcome.alert.id)))
		outcome_draw(&page->response->body, &outcome);
	outcome_fini(&outcome);
	return result;
}

/* Write the state of the branch: its open alert, or the verdict of its newest push. */
static int write_title(struct branch_page *page, struct buf *title, const struct view_branch *row,
	const struct headline *headline, const struct slow_branch *slow)
{
	int n;
	if (slow)
		return slow_branch_finding(page->site->db, slow, row->display, row->verdict, title, NULL, &n, page->err);
	headline_sentence(title, row->display, headline, row->verdict);
	return 0;
}

/* Draw the worst cell of the open alert, or of the newest push. */
static int draw_worst_cell(struct branch_page *page, const struct headline *headline, const struct slow_branch *slow)
{
	char worst[256] = "";
	struct cell_chart of = {
		.repo = page->repo, .branch = page->branch, .cell = headline->key, .comparison = headline->comparison
	};
	if (slow && slow_branch_worst(page->site->db, slow, worst, &of.comparison, page->err) != 0)
		return -1;
	if (slow)
		of.cell = worst;
	if (!of.comparison || !*of.cell)
		return 0;
	emit_raw(&page->response->body, "<h2>Worst cell against the base</h2>");
	return cell_chart_draw(page->site->db, &page->response->body, &of, page->err);
}

static int draw_branch(struct branch_page *page, const struct view_branch *row, const struct slow_branch *slow)
{
	struct buf *out = &page->response->body, title;
	struct headline headline;
	struct alarms alarms = { .site = page->site, .repo = page->repo, .branch = page->branch };
	const struct commit_job *failed = row->judged->decides >= 0 ? &row->judged->suite[row->judged->decides].result : NULL;
	if (reported_read(page->site->db, row->comparison, NULL, &headline, page->err) != 0)
		return -1;
	buf_init(&title, NAME_BYTES + 256);
	int result = write_title(page, &title, row, &headline, slow);
	layout_begin(page->response, title.data, "branch", "job.queued job.state job.done alert. branch.");
	alarms.title = title.data;
	layout_live(out, "branch", "The branch changed");
	result = alarms_read(&alarms, page->err) != 0 ? -1 : result;
	out->failed |= title.failed;
	buf_fini(&title);
	if (result == 0)
		alarms_draw(out, &alarms);
	if (result == 0 && slow && !alarms_contain(&alarms, slow->alert)) /* an acknowledged alert has no bar */
		emit_format(out, "<p class=sub>%lld{alert} is %s.</p>\n", (long long)slow->alert, alertstate_name(slow->state));
	if (result == 0 && row->comparison && !slow)
		result = draw_outcome(page, row, &alarms);
	else if (row->verdict == VERDICT_FAILED && failed)
		step_draw_failure(out, JOBKIND_COMPARE, failed->id, failed->why);
	alarms_fini(&alarms);
	draw_facts(out, row, slow);
	if (result == 0 && row->judged->n > 1)
		result = suites_table(page->site->db, out, row->judged, page->err);
	if (result == 0)
		result = draw_worst_cell(page, &headline, slow);
	return result == 0 ? draw_pushes(page) : -1;
}

static void take_branch(void *arg, const struct view_branch *row)
{
	struct branch_page *page = arg;
	page->is_known = true;
	page->branch = row->name; /* the request may have the display name */
	struct slow_branches slow;
	page->result = slow_branches_read(page->site->db, &slow, page->err);
	if (page->result == 0)
		page->result = draw_branch(page, row, slow_branch_of(&slow, row));
	slow_branches_fini(&slow);
}

/* Draw only the comparisons of a branch that was deleted, or that only imported results name. */
static int draw_former(struct branch_page *page)
{
	struct buf title;
	buf_init(&title, NAME_BYTES + 64);
	branch_text(&title, page->branch);
	buf_puts(&title, " is not a branch of the repository any more");
	layout_begin(page->response, title.data, "branch", NULL);
	page->response->body.failed |= title.failed;
	buf_fini(&title);
	layout_live(&page->response->body, "branch", NULL);
	return draw_pushes(page);
}

int page_branches(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	char branch[BRANCH_KEY_MAX];
	const char *repo = http_query(r, "repo"), *key = scope_branch(r, branch);
	struct branch_page page = { .site = site, .response = response, .repo = repo, .branch = key, .err = err };
	struct view_branch_filter filter = { .name = key, .display = http_query(r, "branch"), .limit = 1 };
	if (!key || !*key)
		return list_branches(site, response, err);
	if (!repo || !*repo)
		return err_set(err, ERR_INVALID, "the page of a branch needs its repository: /branches?repo=NAME&branch=NAME");
	if (view_repo_id(site->db, repo, &filter.repo, err) != 0 ||
		view_branches(site->db, &filter, take_branch, &page, err) != 0 || page.result != 0)
		return -1;
	int result = page.is_known ? 0 : draw_former(&page);
	emit_raw(&response->body, "</div>");
	return layout_end(response, "/api/v1/branches", result);
}
