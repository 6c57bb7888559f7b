/* Jobs: the queue and what ended lately; one job with its log and its builds. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "db/store_view.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/site.h"

static bool is_open(const char *state)
{
	static const char *const open[] = { "queued", "sent", "building", "checking", "measuring" };
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (strcmp(state, open[i]) == 0)
			return true;
	return false;
}

static void progress_text(struct buf *out, const char *progress)
{
	json_t *p = progress && *progress ? json_loads(progress, 0, NULL) : NULL;
	const char *cell = json_string_value(json_object_get(p, "cell")), *step = json_string_value(json_object_get(p, "step"));
	json_int_t launch = json_integer_value(json_object_get(p, "launch"));
	if (launch)
		emit_rawf(out, "launch %lld ", (long long)launch);
	if (cell)
		emit_text(out, cell);
	if (step) {
		emit_raw(out, " ");
		emit_text(out, step);
	}
	json_decref(p);
}

enum { ROWS = 100 };

struct drawing {
	struct buf *out;
	int n;
	int64_t last;
};

static void job_line(void *arg, const struct view_job *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	d->n++;
	d->last = row->id;
	emit_rawf(out, "<tr><th scope=row><a href=\"/jobs/%lld\">%lld</a></th><td>", (long long)row->id, (long long)row->id);
	layout_verdict(out, row->state);
	emit_raw(out, "</td><td>");
	emit_text(out, row->repo);
	emit_raw(out, "</td><td>");
	layout_branch(out, row->branch);
	emit_raw(out, "</td><td>");
	layout_sha(out, row->target);
	emit_raw(out, " ");
	emit_text(out, row->subject);
	emit_raw(out, "</td><td>");
	emit_text(out, row->suite);
	emit_raw(out, "</td><td>");
	if (row->comparison) {
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)row->comparison);
		layout_verdict(out, row->verdict);
		emit_raw(out, "</a>");
	} else if (is_open(row->state)) {
		progress_text(out, row->progress);
	} else {
		emit_text(out, row->state_why);
	}
	emit_raw(out, "</td><td>");
	layout_time(out, row->ended_at ? row->ended_at : row->queued_at);
	emit_raw(out, "</td></tr>\n");
}

void page_jobs(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { "Job", "State", "Repository", "Branch", "Target", "Suite", "Outcome",
		"Since (UTC)" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct drawing d = { .out = &response->body };
	const char *state;
	int64_t before;
	if (answer_choice(r, response, "state", API_JOB_STATES, &state) != 0 || answer_cursor(r, response, &before) != 0)
		return;
	layout_begin(response, "Jobs", "jobs");
	layout_table(d.out, 8, columns);
	if (view_jobs(site->db, state, before, ROWS, job_line, &d, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	layout_table_end(d.out);
	layout_older(d.out, r, d.n, ROWS, d.last);
	layout_end(response);
}

enum { LOG_LINES = 2000, BUILD_LOG_BYTES = 32768 }; /* shown here; all of it is behind the link */

struct job_page {
	struct buf *out;
	int64_t comparison;
	const char *side;
};

static void job_facts(void *arg, const struct view_job *row)
{
	struct job_page *page = arg;
	struct buf *out = page->out;
	char id[24];
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	page->comparison = row->comparison;
	emit_raw(out, "<p class=lead>");
	layout_verdict(out, row->state);
	emit_raw(out, " ");
	emit_text(out, row->state_why);
	if (is_open(row->state))
		progress_text(out, row->progress);
	if (row->comparison)
		emit_rawf(out, " <a href=\"/comparisons/%lld\">comparison %lld</a>", (long long)row->comparison,
			(long long)row->comparison);
	emit_raw(out, "</p><p>");
	if (is_open(row->state))
		layout_button(out, "jobs", id, "cancel", "Cancel");
	else
		layout_button(out, "jobs", id, "retry", "Measure again");
	emit_raw(out, "</p><dl class=facts><dt>Repository</dt><dd>");
	emit_text(out, row->repo);
	emit_raw(out, "</dd><dt>Branch</dt><dd>");
	layout_branch(out, row->branch);
	emit_raw(out, "</dd><dt>Target</dt><dd>");
	emit_text(out, row->target);
	emit_raw(out, "</dd><dt>Subject</dt><dd>");
	emit_text(out, row->subject);
	emit_raw(out, "</dd><dt>Base</dt><dd>");
	emit_text(out, row->base);
	emit_raw(out, " ");
	emit_text(out, row->base_how);
	emit_raw(out, "</dd><dt>Suite</dt><dd>");
	emit_text(out, row->suite);
	emit_rawf(out, "</dd><dt>Attempt</dt><dd>%d</dd><dt>Queued</dt><dd>", row->attempt);
	layout_time(out, row->queued_at);
	emit_raw(out, "</dd><dt>Started</dt><dd>");
	layout_time(out, row->started_at);
	emit_raw(out, "</dd><dt>Ended</dt><dd>");
	layout_time(out, row->ended_at);
	emit_rawf(out,
		"</dd><dt>Data</dt><dd><a href=\"/api/v1/jobs/%lld\">JSON</a> <a href=\"/api/v1/jobs/%lld/log\">log with "
		"builds</a></dd></dl>\n",
		(long long)row->id, (long long)row->id);
}

static void log_line(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)id;
	struct buf *out = arg;
	char text[32];
	clock_format(at, text);
	emit_rawf(out, "%.8s  ", text + 11);
	emit_text(out, line);
	emit_raw(out, "\n");
}

/* The end of a build's log, where its error is. */
static void build_section(void *arg, const struct view_build *row)
{
	struct job_page *page = arg;
	struct buf *out = page->out, tail;
	size_t shown = row->log_len < BUILD_LOG_BYTES ? row->log_len : BUILD_LOG_BYTES;
	buf_init(&tail, BUILD_LOG_BYTES);
	buf_append(&tail, (const char *)row->log + (row->log_len - shown), shown);
	for (size_t i = 0; i < tail.len; i++)
		if (tail.data[i] == '\0')
			tail.data[i] = '?';
	emit_rawf(out, "<h2>Build of %s</h2><p>", page->side);
	layout_verdict(out, row->state);
	emit_rawf(out, " %.1f s, ", (double)row->duration_ms / 1000);
	emit_text(out, row->toolchain);
	emit_raw(out, " ");
	emit_text(out, row->detail);
	emit_raw(out, "</p><pre class=log>");
	emit_text(out, tail.data);
	emit_raw(out, "</pre>\n");
	buf_fini(&tail);
}

void page_job(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const sides[] = { "base", "target" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct job_page page = { .out = &response->body };
	int64_t id = answer_path_id(r, response, "job");
	char title[64];
	if (id < 0)
		return;
	snprintf(title, sizeof title, "Job %lld", (long long)id);
	layout_begin(response, title, "jobs");
	int result = view_job(site->db, id, job_facts, &page, &err);
	emit_raw(page.out, "<h2>Log</h2><pre class=log>");
	if (result == 0)
		result = view_log(site->db, id, 0, LOG_LINES, log_line, page.out, &err);
	emit_raw(page.out, "</pre>\n");
	for (int i = 0; result == 0 && page.comparison && i < 2; i++) {
		page.side = sides[i];
		result = view_build(site->db, page.comparison, sides[i], build_section, &page, &err);
		if (result != 0 && err.code == ERR_NOT_FOUND) { /* that side was not built */
			err_clear(&err);
			result = 0;
		}
	}
	if (result != 0)
		answer_error(r, response, &err);
	else
		layout_end(response);
}
