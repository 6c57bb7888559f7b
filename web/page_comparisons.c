/* The list of comparisons, newest first. */
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/scope.h"
#include "web/site.h"

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
	emit_rawf(
		out, "<tr><th scope=row><a href=\"/comparisons/%lld\">%lld</a></th><td>", (long long)row->id, (long long)row->id);
	layout_verdict(out, row->verdict);
	emit_raw(out, "</td><td>");
	emit_text(out, row->repo);
	emit_raw(out, "</td><td>");
	layout_branch(out, row->branch);
	emit_raw(out, "</td><td>");
	layout_sha(out, row->base);
	emit_raw(out, "\u2026");
	layout_sha(out, row->target);
	emit_raw(out, " ");
	emit_text(out, row->subject);
	emit_raw(out, "</td><td>");
	emit_text(out, row->suite);
	emit_raw(out, "</td><td class=n>");
	layout_change(out, row->worst_pct);
	emit_raw(out, "</td><td>");
	layout_time(out, row->finished_at);
	emit_raw(out, "</td></tr>\n");
}

void page_comparisons(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { "No.", "Verdict", "Repository", "Branch", "Commits", "Suite", ">Worst cell",
		"Finished (UTC)" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct drawing d = { .out = &response->body };
	char branch[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, branch), .limit = ROWS };
	if (answer_choice(r, response, "verdict", API_VERDICTS, &filter.verdict) != 0 ||
		answer_cursor(r, response, &filter.before) != 0)
		return;
	layout_begin(response, "Comparisons", "comparisons");
	layout_table(d.out, 8, columns);
	if (view_comparisons(site->db, &filter, comparison_line, &d, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	layout_table_end(d.out);
	layout_older(d.out, r, d.n, ROWS, d.last);
	layout_end(response);
}
