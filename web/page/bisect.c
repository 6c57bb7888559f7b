/* Bisects: the list, and one bisect with its measurements and culprits. */

#include "web/page/internal.h"

#include <math.h>

enum { ROWS = 50, ROWS_BYTES = 1 << 20, TITLE_BYTES = 512, FOUND_BYTES = 1 << 15 };

/* ---- the list --------------------------------------------------------------------------------------------------------- */

/* "b31846a035 is the culprit: -4.0 % in 6 cells". */
static void write_culprit(char *out, size_t size, const json_t *culprit, int n)
{
	int commits = (int)json_integer_value(json_object_get(culprit, "commits")), cells;
	double change = comparison_number(culprit, "change_pct");
	size_t at = 0;
	if (commits > 1)
		at = (size_t)snprintf(out, size, "one of %d commits up to ", commits);
	at += (size_t)snprintf(out + at, size - at, "%.10s is the culprit", comparison_text(culprit, "to"));
	cells = (int)json_array_size(json_object_get(culprit, "cells"));
	if (isfinite(change) && at < size)
		at += (size_t)snprintf(out + at, size - at, ": %+.1f %% in %d cell%s", change, cells, cells == 1 ? "" : "s");
	if (n > 1 && at < size)
		snprintf(out + at, size - at, ", and %d more", n - 1);
}

struct found {
	struct db *db;
	struct buf text;
};

/* Append the alert's finding: "ada/tiles is up to 4.0 % slower in 6 of 20 cells". */
static void take_finding(void *arg, const struct view_alert *row)
{
	struct found *found = arg;
	struct headline headline;
	struct fw_err err = { 0 };
	if (reported_read(found->db, row->comparison, NULL, &headline, &err) == 0)
		alarm_finding(&found->text, row, &headline);
}

/*
 * "Bisect 7: b31846a035 is the culprit: -4.0 % in 6 cells"; "Bisect 7 searches the culprit: ada/tiles is up to 4.0 % slower in 6 of
 * 20 cells"; without an alert "Bisect 7: which commit after 736ae31d6e makes a851f9a236 slower?"; else its state.
 */
static void write_title(struct db *db, char *out, size_t size, const struct store_bisect *b)
{
	json_t *culprits = json_loads(b->culprits_json, 0, NULL);
	int n = (int)json_array_size(culprits), at = snprintf(out, size, "Bisect %lld", (long long)b->id);
	struct found found = { .db = db };
	struct fw_err err = { 0 };
	out += at, size -= (size_t)at;
	buf_init(&found.text, FOUND_BYTES);
	if (n) {
		at = snprintf(out, size, ": ");
		write_culprit(out + at, size - (size_t)at, json_array_get(culprits, 0), n);
	} else if (b->ended_at)
		snprintf(out, size, ": %s", b->state);
	else if (b->alert && view_alert(db, b->alert, take_finding, &found, &err) == 0 && found.text.len)
		snprintf(out, size, " searches the culprit: %.400s", found.text.data);
	else if (!*b->goal)
		snprintf(out, size, ": which commit after %.10s, up to %.10s?", b->good_sha, b->bad_sha);
	else
		snprintf(out, size, ": which commit after %.10s makes %.10s %s?", b->good_sha, b->bad_sha,
			strcmp(b->goal, "failing") == 0 ? "fail" : "slower");
	buf_fini(&found.text);
	json_decref(culprits);
}

struct drawing {
	struct db *db;
	struct buf *out;
	char title[TITLE_BYTES]; /* of the newest */
	int n;
	int64_t last;
};

static void list_line(void *arg, const struct store_bisect *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	if (d->n++ == 0)
		write_title(d->db, d->title, sizeof d->title, row);
	d->last = row->id;
	emit_format(out,
		"<tr><th scope=row><a href=\"/bisects/%lld\">%lld</a></th><td>%s{verdict}</td><td>%s{commit} \u2026 "
		"%s{commit}</td><td>%lld{?<a href=\"/alerts/*\">A*</a>}</td><td class=\"n w\">%d</td><td class=\"n w\">%d</td><td "
		"class=w>%lld{time}</td></tr>\n",
		(long long)row->id, (long long)row->id, row->state, row->good_sha, row->bad_sha, (long long)row->alert,
		row->commits, row->n_jobs, (long long)row->created_at);
}

int page_bisects(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf rows;
	struct drawing d = { .db = site->db, .out = &rows, .title = "No bisect" };
	int64_t before;
	if (answer_cursor(r, &before, err) != 0)
		return -1;
	buf_init(&rows, ROWS_BYTES);
	int result = view_bisects(site->db, before, ROWS, list_line, &d, err);
	d.out = &response->body;
	layout_begin(response, d.title, "alerts", "bisect. job.done");
	layout_live(d.out, "bisects", "A search moved");
	layout_table(d.out, "No.|State|Between|For|~>Commits|~>Jobs|~Started");
	buf_append(d.out, rows.data, rows.len);
	layout_table_end(d.out);
	d.out->failed |= rows.failed;
	buf_fini(&rows);
	if (d.n == 0)
		layout_empty(d.out, "", "No bisect yet.",
			"The daemon starts one for an alert with several commits; <code>flopwatch bisect GOOD "
			"BAD</code>.");
	layout_older(d.out, r, d.n, ROWS, d.last);
	emit_raw(d.out, "</div>");
	return layout_end(response, "/api/v1/bisects", result);
}

/* ---- one search ------------------------------------------------------------------------------------------------------- */

struct one {
	struct db *db;
	struct buf facts;
	char title[TITLE_BYTES];
};

static void facts(void *arg, const struct store_bisect *row)
{
	struct one *one = arg;
	struct buf *out = &one->facts;
	char id[24];
	write_title(one->db, one->title, sizeof one->title, row);
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	emit_format(out, "<p class=lead>%s{verdict} %s</p>", row->state, row->state_why);
	culprits_show(out, row->culprits_json);
	if (!row->ended_at) {
		emit_raw(out, "<div class=row>");
		layout_button(out, "bisects", id, "cancel", "Cancel");
		emit_raw(out, "</div>");
	}
	emit_format(out,
		"<dl class=\"facts card\"><dt>Repository</dt><dd>%s</dd><dt>Good</dt><dd>%s{commit}</dd><dt>Bad</dt><dd>"
		"%s{commit}</dd><dt>Commits</dt><dd>%d{?* after the good one}%-s</dd><dt>Jobs</dt><dd>%d",
		row->repo_name, row->good_sha, row->bad_sha, row->commits, row->commits ? "" : "not listed yet", row->n_jobs);
	if (row->job)
		emit_format(out, ", waits for %lld{job}", (long long)row->job);
	emit_format(out, "</dd><dt>Suite</dt><dd>%s</dd>%lld{?<dt>For</dt><dd><a href=\"/alerts/*\">A*</a></dd>}", row->suite,
		(long long)row->alert);
	if (row->comparison)
		emit_format(out, "<dt>Both ends</dt><dd>%lld{comparison}</dd>", (long long)row->comparison);
	emit_format(out, "<dt>Started</dt><dd>%lld{time}</dd>", (long long)row->created_at);
	if (row->ended_at)
		emit_format(out, "<dt>Ended</dt><dd>%lld{time}</dd><dt>What to do</dt><dd>%-s</dd></dl>\n",
			(long long)row->ended_at,
			strcmp(row->culprits_json, "[]") != 0 ? "push a fix of the culprit" : "nothing, or request it again");
	else
		emit_format(out,
			"<dt>Next</dt><dd>the daemon measures commits between both ends; each measurement rules out about half of those "
			"that remain</dd><dt>What to do</dt><dd>nothing; the culprit appears here%-s</dd></dl>\n",
			row->alert ? " and at its alert" : "");
}

struct measured {
	struct buf *out;
	int64_t comparison; /* comparison whose cells are being summarised */
	int base_n, target_n;
	enum verdict verdict;
	double worst_pct;
	int cells, rows;
};

static void measured_row(struct measured *m)
{
	if (!m->comparison)
		return;
	if (m->rows++ == 0) {
		emit_raw(m->out, "<h2>Measurements</h2><p>Commit 0 is the good end.</p>");
		layout_table(m->out, "Commits by number|Verdict|>Worst cell|>Cells");
	}
	emit_format(m->out,
		"<tr><th scope=row>%d \u2026 %d</th><td><a href=\"/comparisons/%lld\">%s{verdict}</a></td><td class=n>"
		"%f{change}</td><td class=n>%d</td></tr>\n",
		m->base_n, m->target_n, (long long)m->comparison, verdict_name(m->verdict), m->worst_pct, m->cells);
}

static void take_point(void *arg, const struct store_bisect_point *p)
{
	struct measured *m = arg;
	if (p->comparison != m->comparison) {
		measured_row(m);
		*m = (struct measured){ .out = m->out,
			.rows = m->rows,
			.comparison = p->comparison,
			.base_n = p->base_n,
			.target_n = p->target_n,
			.verdict = VERDICT_NONE };
	}
	m->cells++;
	m->verdict = verdict_worse(m->verdict, p->verdict);
	if (p->change_pct < m->worst_pct)
		m->worst_pct = p->change_pct;
}

static int measurements(struct site *site, struct buf *out, const struct store_bisect *b, struct fw_err *err)
{
	struct measured m = { .out = out };
	int result = store_bisect_points(site->db, b, take_point, &m, err);
	measured_row(&m);
	if (m.rows)
		layout_table_end(out);
	return result;
}

static int draw_one(struct site *site, struct http_response *response, int64_t id, const struct one *one, struct fw_err *err)
{
	struct buf *out = &response->body;
	struct store_bisect *b = mem_alloc_zero(1, sizeof *b);
	char data[64];
	snprintf(data, sizeof data, "/api/v1/bisects/%lld", (long long)id);
	layout_begin(response, one->title, "alerts", "bisect. job.done job.queued");
	layout_live(out, "bisect", "The bisect changed");
	buf_append(out, one->facts.data, one->facts.len);
	out->failed |= one->facts.failed;
	int result = store_bisect_get(site->db, id, b, err) != 0 ? -1 : measurements(site, out, b, err);
	emit_raw(out, "</div>");
	free(b);
	return layout_end(response, data, result);
}

int page_bisect(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct one one = { .db = site->db, .title = "" };
	int64_t id = answer_path_id(r, "bisect", err);
	if (id < 0)
		return -1;
	buf_init(&one.facts, 4 << 20);
	int result = view_bisect(site->db, id, facts, &one, err) != 0 ? -1 : draw_one(site, response, id, &one, err);
	buf_fini(&one.facts);
	return result;
}
