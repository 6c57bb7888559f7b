/* One commit: its author and parents, its verdict, its jobs and its results. */

#include "web/page/internal.h"

#include <math.h>

struct found {
	int n;
	int64_t repo_id;
	char repo[128], sha[65], tree[65], parent[65], author[256], subject[1024];
	int64_t committed_at;
	struct buf *out; /* receives a line for each commit if several match */
};

static void take_commit(void *arg, const struct view_commit *row)
{
	struct found *f = arg;
	f->n++;
	f->repo_id = row->repo_id;
	snprintf(f->repo, sizeof f->repo, "%s", row->repo);
	snprintf(f->sha, sizeof f->sha, "%s", row->sha);
	snprintf(f->tree, sizeof f->tree, "%s", row->tree);
	snprintf(f->parent, sizeof f->parent, "%s", row->first_parent);
	snprintf(f->author, sizeof f->author, "%s", row->author);
	snprintf(f->subject, sizeof f->subject, "%s", row->subject);
	f->committed_at = row->committed_at;
	emit_format(f->out, "<li>%s{commit} %s <small>%s</small></li>", row->sha, row->subject, row->repo);
}

static void comparison_row(void *arg, const struct view_comparison *row)
{
	struct buf *out = arg;
	emit_format(out, "<tr><th scope=row>%lld{comparison}</th><td>%s{verdict}</td><td class=n>%f{decided %d}</td><td>%s",
		(long long)row->id, verdict_label(row->kind, row->verdict),
		isfinite(row->best_pct) ? row->best_pct : row->worst_pct, verdict_is_change(row->verdict), row->suite);
	if (row->kind != JOBKIND_COMPARE)
		emit_format(out, " <small>%s</small>", jobkind_name(row->kind));
	emit_format(out,
		"</td><td>%s{commit} <small>%s</small></td><td class=w>%s{branch}</td><td class=w>%lld{time}</td></tr>\n",
		row->base, row->base_how, row->branch, (long long)row->finished_at);
}

static void job_row(void *arg, const struct view_job *row)
{
	struct buf *out = arg;
	emit_format(out,
		"<tr><th scope=row>%lld{job}</th><td>%s{verdict}</td><td>%s</td><td>%s</td><td class=wrap>%s</td><td class=n>",
		(long long)row->id, jobstate_name(row->state), row->suite, row->origin, row->state_why);
	if (row->started_at && row->ended_at)
		layout_duration(out, (double)(row->ended_at - row->started_at) / 1000);
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)row->queued_at);
}

/* Draw the worst verdict of the suites; if there are several, or one is not judged yet, also each verdict. */
static int draw_verdict(struct site *site, struct buf *out, const struct commit_verdict *v, bool is_judged, struct fw_err *err)
{
	if (v->n == 0 || (v->n == 1 && is_judged && v->is_final))
		return 0;
	emit_raw(out, "<h2>Verdict</h2><p class=lead>");
	suites_verdict(out, v);
	suites_unfinished(out, v);
	emit_raw(out, "</p>\n");
	return suites_table(site->db, out, v, err);
}

/* Return the job without a comparison that decides the verdict; NULL: none. */
static const struct commit_job *failure_of(const struct commit_verdict *v)
{
	const struct commit_job *job = v->decides >= 0 ? &v->suite[v->decides].result : NULL;
	return job && job->id && job->end == COMMIT_FAILED ? job : NULL;
}

/* Write "a851f9a236 of ada/three-stages is 4.0 % slower in 6 of 20 cells". */
static void write_title(struct buf *out, const struct found *f, const struct commit_verdict *v, const struct outcome *outcome)
{
	const struct commit_job *failure = failure_of(v);
	struct buf subject;
	if (!outcome) {
		buf_printf(out, "%s%.10s", failure ? "" : "Commit ", f->sha);
		if (failure && v->n > 1 && *failure->suite) /* other suites may have results */
			buf_printf(out, " was not measured in suite %s: %.100s", failure->suite, failure->why);
		else if (failure)
			buf_printf(out, " was not measured: %.100s", failure->why);
		return;
	}
	buf_init(&subject, FINDING_BYTES);
	outcome_subject(&subject, outcome);
	outcome_sentence(out, subject.data, outcome);
	out->failed |= subject.failed;
	buf_fini(&subject);
}

/* Draw why the commit was not measured, and its alert. Err: the database's. */
static int draw_unmeasured(
	struct db *db, struct buf *out, const struct found *f, const struct commit_job *failure, struct fw_err *err)
{
	struct buf line;
	if (failure)
		step_draw_failure(out, JOBKIND_COMPARE, failure->id, failure->why);
	buf_init(&line, 1 << 15);
	int result = alarm_line_of_commit(db, &line, f->repo, f->sha, err);
	if (line.len)
		emit_format(out, "<p class=\"banner warn\">%-s</p>\n", line.data);
	out->failed |= line.failed;
	buf_fini(&line);
	return result;
}

static int draw(struct site *site, struct http_response *response, const struct found *f, const struct commit_verdict *v,
	const struct outcome *outcome, struct fw_err *err)
{
	struct buf *out = &response->body, title;
	buf_init(&title, FINDING_BYTES + 512);
	write_title(&title, f, v, outcome);
	layout_begin(response, title.data, "", NULL);
	out->failed |= title.failed;
	buf_fini(&title);
	layout_follow(out, "job. alert.");
	layout_live(out, "commit", "This commit changed");
	if (outcome)
		outcome_draw(out, outcome);
	else if (draw_unmeasured(site->db, out, f, failure_of(v), err) != 0)
		return -1;
	emit_format(out,
		"<p class=lead>%s</p><dl class=facts><dt>Commit</dt><dd><code>%s</code></dd><dt>Author</dt><dd>%s</dd>"
		"<dt>Committed</dt><dd>%lld{time}</dd><dt>Repository</dt><dd><a href=\"/repos/%s\">%s</a></dd><dt>Parent</dt><dd>",
		f->subject, f->sha, f->author, (long long)f->committed_at, f->repo, f->repo);
	if (*f->parent)
		layout_commit(out, f->parent);
	else
		emit_raw(out, "\u2013 a root");
	emit_format(out, "</dd><dt>Tree</dt><dd>%s{sha}</dd></dl>\n", f->tree);
	if (draw_verdict(site, out, v, outcome, err))
		return -1;
	struct view_filter filter = { .repo = f->repo, .target = f->sha, .limit = 50 };
	emit_raw(out, "<h2>Comparisons</h2>");
	layout_table(out, "No.|Verdict|>Worst / best|Suite|Base|~Branch|~Finished");
	if (view_comparisons(site->db, &filter, comparison_row, out, err))
		return -1;
	layout_table_end(out);
	emit_raw(out, "<h2>Jobs</h2>");
	layout_table(out, "Job|State|Suite|Origin|Why|>Took|~Queued");
	if (view_jobs_of(site->db, f->repo_id, f->sha, 20, job_row, out, err))
		return -1;
	layout_table_end(out);
	emit_raw(out, "</div>");
	return 0;
}

/* Answer with the page; for a measured commit, the result of the suite that decides its verdict comes first. */
static int answer(struct site *site, struct http_response *response, const struct found *f, struct fw_err *err)
{
	struct commit_verdict v;
	struct outcome outcome;
	int result = store_commit_verdict(site->db, f->repo_id, f->sha, NULL, &v, err);
	int64_t comparison = result == 0 && v.decides >= 0 ? v.suite[v.decides].result.comparison : 0;
	if (comparison)
		result = outcome_read(site->db, comparison, &outcome, err);
	if (result == 0 && comparison)
		outcome.is_whole = v.is_final;
	if (result == 0)
		result = draw(site, response, f, &v, comparison ? &outcome : NULL, err);
	if (comparison)
		outcome_fini(&outcome);
	commit_verdict_fini(&v);
	return result;
}

int page_commit(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf list;
	struct found found = { .out = &list };
	char data[128];
	const char *prefix = http_segment(r, 0);
	buf_init(&list, 1 << 20);
	int result = strlen(prefix) >= 4 ? view_commits(site->db, prefix, 20, take_commit, &found, err) : 0;
	if (result == 0 && found.n == 0)
		result = err_set(
			err, ERR_NOT_FOUND, "no known commit begins with %.64s; at least four digits are required", prefix);
	if (result == 0 && found.n > 1) {
		layout_begin(response, "Which commit?", "", NULL);
		emit_raw(&response->body, "<ul>");
		buf_append(&response->body, list.data, list.len);
		emit_raw(&response->body, "</ul>");
		layout_end(response, NULL, 0);
	} else if (result == 0) {
		snprintf(data, sizeof data, "/api/v1/commits/%.64s", found.sha);
		result = answer(site, response, &found, err);
		if (result == 0)
			layout_end(response, data, 0);
	}
	buf_fini(&list);
	return result;
}
