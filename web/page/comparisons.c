/* The list of comparisons, newest first, by repository, branch, verdict, time, author, and who requested them. */

#include "web/page/internal.h"

#include <math.h>

enum { ROWS = 100, ROWS_BYTES = 8 << 20 };

struct drawing {
	struct site *site;
	struct buf *out;
	struct answer_list list;        /* rows, and the cursor of the next page */
	int verdicts[VERDICT_NONE + 1]; /* number of rows by verdict */
	const char *work, *author;
	int result;
	struct fw_err *err;
};

/* ---- filter -------------------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct drawing *d, const struct view_comparison *row)
{
	if (strcmp(d->work, WORK_ALL) != 0 && jobkind_is_upkeep(row->kind) != (strcmp(d->work, WORK_UPKEEP) == 0))
		return false;
	return !*d->author || strcasestr(row->author, d->author);
}

/* ---- row ----------------------------------------------------------------------------------------------------------- */

static int draw_line(struct drawing *d, const struct view_comparison *row, const struct headline *headline)
{
	struct buf *out = d->out;
	d->verdicts[row->verdict]++;
	emit_format(out, "<tr><th scope=row class=n>%lld{comparison}</th><td><a href=\"/comparisons/%lld\">%s{verdict}</a>",
		(long long)row->id, (long long)row->id, verdict_label(row->kind, row->verdict));
	reported_why(out, headline, row->verdict);
	int result = alarm_line(d->site->db, out, row->id, row->job, row->verdict, d->err);
	emit_raw(out, "</td><td class=n>");
	headline_change(out, headline, row->verdict, isfinite(row->best_pct) ? row->best_pct : row->worst_pct);
	emit_format(out, "</td><td class=branch>%s{branch}", row->branch);
	if (row->kind != JOBKIND_COMPARE)
		emit_format(out, " <small>%s</small>", jobkind_name(row->kind));
	emit_format(out,
		"</td><td class=w><span class=commit>%s{commit} %s</span>%s{author}</td><td class=w>%s{commit}</td>"
		"<td class=w>%s</td><td class=w>%s</td><td class=w>%lld{time}</td></tr>\n",
		row->target, row->subject, row->author, row->base, row->repo, row->suite, (long long)row->finished_at);
	return result;
}

static void comparison_line(void *arg, const struct view_comparison *row)
{
	struct drawing *d = arg;
	struct headline headline;
	if (!is_wanted(d, row))
		answer_list_pass(&d->list, row->id);
	else if (answer_list_take(&d->list, row->id, row->finished_at, NULL) && d->result == 0) {
		d->result = reported_read(d->site->db, row->id, NULL, &headline, d->err);
		if (d->result == 0)
			d->result = draw_line(d, row, &headline);
	}
}

/* ---- form ---------------------------------------------------------------------------------------------------------- */

static void work_options(struct buf *out, const char *work)
{
	emit_raw(out, "<label>Measured for <select name=work data-go>");
	layout_option(out, WORK_REQUESTED, "pushes and requests", work);
	layout_option(out, WORK_UPKEEP, "peers, calibration, history", work);
	layout_option(out, WORK_ALL, "all", work);
	emit_raw(out, "</select></label>");
}

static int filter_form(
	const struct drawing *d, struct buf *out, const struct view_filter *filter, const char *since, struct fw_err *err)
{
	emit_raw(out, "<form class=filter action=/comparisons>");
	int result = picker_repo(out, d->site->db, filter->repo, true, err) ||
				     picker_branch(out, d->site->db, filter->repo, "branch", "Branch", filter->branch, "all", err)
			     ? -1
			     : 0;
	emit_raw(out, "<label>Verdict <select name=verdict data-go>");
	layout_option(out, "", "all", filter->verdict);
	for (const char *word = ANSWER_VERDICTS; *word; word += strcspn(word, " "), word += *word == ' ') {
		char one[32];
		snprintf(one, sizeof one, "%.*s", (int)strcspn(word, " "), word);
		layout_option(out, one, NULL, filter->verdict);
	}
	emit_raw(out, "</select></label>");
	picker_since(
		out, (const char *const[]){ "", "any time", "1d", "yesterday", "7d", "last week", "30d", "last month" }, since);
	work_options(out, d->work);
	emit_format(out,
		"<label>Author <input name=author size=12 placeholder=anybody value=\"%s\"></label><button>Show</button>"
		"<a class=button href=\"/compare",
		d->author);
	if (filter->repo && *filter->repo) {
		emit_raw(out, "?repo=");
		emit_argument(out, filter->repo);
	}
	emit_raw(out, "\">Compare two commits</a></form>\n");
	return result;
}

/* ---- page ---------------------------------------------------------------------------------------------------------- */

static int draw_rows(struct drawing *d, struct view_filter *filter)
{
	int result;
	do {
		filter->limit = d->list.rows;
		result = view_comparisons(d->site->db, filter, comparison_line, d, d->err);
		result = result != 0 ? result : d->result;
	} while (result == 0 && answer_list_more(&d->list, &filter->before));
	return result;
}

/* Write "Comparisons: 1 failed, 2 slower, 26 unchanged". */
static void write_title(const struct drawing *d, struct buf *out)
{
	static const enum verdict order[] = { VERDICT_FAILED, VERDICT_REJECTED, VERDICT_REGRESSION, VERDICT_UNDECIDED,
		VERDICT_NOT_COMPARABLE, VERDICT_IMPROVEMENT, VERDICT_UNCHANGED, VERDICT_IDENTICAL };
	bool any = false;
	buf_puts(out, "Comparisons");
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		int n = d->verdicts[order[i]];
		if (n)
			buf_printf(out, "%s%d %s", any ? ", " : ": ", n,
				order[i] == VERDICT_REGRESSION    ? "slower"
				: order[i] == VERDICT_IMPROVEMENT ? "faster"
								  : verdict_name(order[i]));
		any = any || n;
	}
}

/* Read the filters of the request. Err: ERR_INVALID. */
static int read_requested(struct drawing *d, struct http_request *r, struct view_filter *filter, struct fw_err *err)
{
	const char *work, *author = http_query(r, "author");
	d->list.limit = ROWS;
	d->list.rows = ROWS + 1;
	d->author = author ? author : "";
	if (answer_choice(r, "verdict", ANSWER_VERDICTS, &filter->verdict, err) != 0 ||
		answer_choice(r, "work", WORK_WORDS, &work, err) != 0 || answer_cursor(r, &filter->before, err) != 0 ||
		period_read(r, &d->list.period, err) != 0 ||
		answer_list_seek(d->site->db, &d->list, VIEW_LIST_COMPARISONS, &filter->before, err) != 0)
		return -1;
	d->work = work ? work : WORK_REQUESTED;
	return 0;
}

int page_comparisons(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct drawing d = { .site = site, .out = &response->body, .err = err };
	char branch[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, branch) };
	const char *since = http_query(r, "since");
	struct buf rows, title;
	if (read_requested(&d, r, &filter, err) != 0)
		return -1;
	buf_init(&rows, ROWS_BYTES);
	buf_init(&title, 512);
	d.out = &rows;
	int result = draw_rows(&d, &filter);
	d.out = &response->body;
	write_title(&d, &title);
	layout_begin(response, title.data, "comparison_list", "job.done");
	if (result == 0)
		result = filter_form(&d, d.out, &filter, since ? since : "", err);
	layout_live(d.out, "list", "A comparison finished");
	layout_table(d.out,
		">No.|Verdict|>Worst / best<small class=ends>95 % interval</small>|Branch|~Target|~Base|~Repository|~Suite|~Finished");
	buf_append(d.out, rows.data, rows.len);
	d.out->failed |= rows.failed || title.failed;
	buf_fini(&rows);
	buf_fini(&title);
	if (result != 0)
		return -1;
	layout_table_end(d.out);
	if (d.list.n == 0)
		layout_empty(d.out, "", "No such comparison.",
			"Each push of a watched branch creates one; <code>flopwatch compare BASE TARGET</code> does, too. <a "
			"href=/comparisons>Show all</a>");
	layout_older(d.out, r, d.list.more || d.list.cut, 1, d.list.more ? d.list.last : d.list.seen);
	emit_raw(d.out, "</div>");
	return layout_end(response, "/api/v1/comparisons", 0);
}
