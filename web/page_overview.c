/* Overview: every watched repository, one line a branch with its verdict. */
#include <stdio.h>
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/site.h"

enum { REPOS_MAX = 64 }; /* as many as a configuration may name */

struct repos {
	struct {
		int64_t id;
		char name[128], state[16], error[512];
		int alerts;
	} repo[REPOS_MAX];
	int n;
};

static void remember_repo(void *arg, const struct view_repo *row)
{
	struct repos *all = arg;
	if (all->n == REPOS_MAX || strcmp(row->state, "gone") == 0)
		return;
	all->repo[all->n].id = row->id;
	snprintf(all->repo[all->n].name, sizeof all->repo[0].name, "%s", row->name);
	snprintf(all->repo[all->n].state, sizeof all->repo[0].state, "%s", row->state);
	snprintf(all->repo[all->n].error, sizeof all->repo[0].error, "%s", row->error);
	all->repo[all->n++].alerts = row->open_alerts;
}

static void branch_line(void *arg, const struct view_branch *row)
{
	struct buf *out = arg;
	if (!row->watched)
		return;
	emit_raw(out, "<tr><th scope=row><a href=\"/comparisons?repo=");
	emit_argument(out, row->repo);
	emit_raw(out, "&amp;branch=");
	emit_argument(out, row->name);
	emit_raw(out, "\">");
	emit_text(out, row->display);
	emit_raw(out, "</a></th><td>");
	layout_sha(out, row->commit);
	emit_raw(out, " ");
	emit_text(out, row->subject);
	emit_raw(out, "</td><td>");
	if (row->comparison) {
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)row->comparison);
		layout_verdict(out, row->verdict);
		emit_raw(out, "</a>");
		if (strcmp(row->compared, row->commit) != 0)
			emit_raw(out, " <small>of an earlier push</small>");
	} else {
		emit_raw(out, "\u2013");
	}
	emit_raw(out, "</td><td class=n>");
	layout_change(out, row->worst_pct);
	emit_raw(out, "</td><td>");
	if (row->job) {
		emit_rawf(out, "<a href=\"/jobs/%lld\">job %lld</a> ", (long long)row->job, (long long)row->job);
		layout_verdict(out, row->job_state);
	}
	emit_raw(out, "</td><td>");
	layout_time(out, row->finished_at);
	emit_raw(out, "</td></tr>\n");
}

void page_overview(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { "Branch", "Tip", "Verdict", ">Worst cell", "Job", "Finished (UTC)" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct repos all = { 0 };
	struct buf *out = &response->body;
	if (view_repos(site->db, remember_repo, &all, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	layout_begin(response, "Overview", "overview");
	if (all.n == 0)
		emit_raw(out,
			"<p class=lead>No repository is watched yet. Add one under <code>repos</code> in flopwatchd.yml.</p>");
	for (int i = 0; i < all.n; i++) {
		emit_raw(out, "<section><h2>");
		emit_text(out, all.repo[i].name);
		emit_raw(out, "</h2>");
		if (strcmp(all.repo[i].state, "error") == 0) {
			emit_raw(out, "<p class=banner role=alert>");
			emit_text(out, all.repo[i].error);
			emit_raw(out, "</p>");
		}
		if (all.repo[i].alerts)
			emit_rawf(out, "<p><a href=/alerts>%d open alert%s</a></p>", all.repo[i].alerts,
				all.repo[i].alerts == 1 ? "" : "s");
		layout_table(out, 6, columns);
		if (view_branches(site->db, all.repo[i].id, branch_line, out, &err) != 0) {
			answer_error(r, response, &err);
			return;
		}
		layout_table_end(out);
		emit_raw(out, "</section>\n");
	}
	layout_end(response);
}
