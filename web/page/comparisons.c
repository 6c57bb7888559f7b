/* The list of comparisons, newest first, by repository, branch and verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/suite/peers.h"
#include "db/view/comparison.h"
#include "web/answer/answer.h"
#include "web/api/api.h"
#include "web/html/emit.h"
#include "web/html/layout.h"
#include "web/page/page.h"
#include "web/html/picker.h"
#include "web/answer/scope.h"
#include "web/answer/site.h"

enum { ROWS = 100 };

struct drawing {
	struct buf *out;
	int n;
	int64_t last;
};

static void comparison_line(void *arg, const struct view_comparison *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	d->n++;
	d->last = row->id;
	emit_rawf(out, "<tr><th scope=row class=n><a href=\"/comparisons/%lld\">%lld</a></th><td><a href=\"/comparisons/%lld\">",
		(long long)row->id, (long long)row->id, (long long)row->id);
	layout_verdict(out, verdict_word(row->kind, row->verdict));
	emit_raw(out, "</a></td><td class=n>");
	layout_change(out, isfinite(row->best_pct) ? row->best_pct : row->worst_pct);
	emit_raw(out, "</td><td>");
	layout_branch(out, row->branch);
	if (row->kind != JOBKIND_CHANGE) {
		emit_raw(out, " <small>");
		emit_text(out, jobkind_name(row->kind));
		emit_raw(out, "</small>");
	}
	emit_raw(out, "</td><td class=w><span class=commit>");
	layout_commit(out, row->target);
	emit_raw(out, " ");
	emit_text(out, row->subject);
	emit_raw(out, "</span></td><td class=w>");
	layout_commit(out, row->base);
	emit_raw(out, "</td><td class=w>");
	emit_text(out, row->repo);
	emit_raw(out, "</td><td class=w>");
	emit_text(out, row->suite);
	emit_raw(out, "</td><td class=w>");
	layout_time(out, row->finished_at);
	emit_raw(out, "</td></tr>\n");
}

static int filter_form(struct site *site, struct buf *out, const struct view_filter *filter, struct fw_err *err)
{
	emit_raw(out, "<form class=filter action=/comparisons>");
	int result = picker_repo(out, site->db, filter->repo, true, err);
	if (result == 0)
		result = picker_branch(out, site->db, filter->repo, "branch", "Branch", filter->branch, "all", err);
	emit_raw(out, "<label>Verdict <select name=verdict data-go>");
	layout_option(out, "", "all", filter->verdict);
	for (const char *word = API_VERDICTS; *word; word += strcspn(word, " "), word += *word == ' ') {
		char one[32];
		snprintf(one, sizeof one, "%.*s", (int)strcspn(word, " "), word);
		layout_option(out, one, NULL, filter->verdict);
	}
	emit_raw(out, "</select></label><button>Show</button><a class=button href=\"/compare");
	if (filter->repo && *filter->repo) {
		emit_raw(out, "?repo=");
		emit_argument(out, filter->repo);
	}
	emit_raw(out, "\">Compare any two</a></form>\n");
	return result;
}

void page_comparisons(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { ">No.", "Verdict", ">Worst / best", "Branch", "~Target", "~Base", "~Repository",
		"~Suite", "~Finished (UTC)" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct drawing d = { .out = &response->body };
	char branch[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, branch), .limit = ROWS };
	if (answer_choice(r, response, "verdict", API_VERDICTS, &filter.verdict) != 0 ||
		answer_cursor(r, response, &filter.before) != 0)
		return;
	layout_begin(response, "Comparisons", "comparisons");
	layout_follow(d.out, "job.done");
	int result = filter_form(site, d.out, &filter, &err);
	layout_live(d.out, "list", "A comparison finished");
	layout_table(d.out, 9, columns);
	if (result == 0)
		result = view_comparisons(site->db, &filter, comparison_line, &d, &err);
	if (result != 0) {
		answer_error(r, response, &err);
		return;
	}
	layout_table_end(d.out);
	if (d.n == 0)
		layout_empty(d.out, "", "No comparison yet.",
			"One comes with every push of a watched branch, or by <code>flopwatch compare BASE TARGET</code>.");
	layout_older(d.out, r, d.n, ROWS, d.last);
	emit_raw(d.out, "</div>");
	layout_end_data(response, "/api/v1/comparisons");
}
