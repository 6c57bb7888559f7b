/* Alerts: each with its cells, its changes of state, and the next steps. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/api.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/site.h"

static void alert_cells(struct buf *out, const char *repo, const char *branch, const char *cells_json)
{
	size_t i;
	json_t *cell, *cells = json_loads(cells_json, 0, NULL);
	emit_raw(out, "<ul>");
	json_array_foreach(cells, i, cell)
	{
		const json_t *change = json_object_get(cell, "change_pct");
		const char *key = json_string_value(json_object_get(cell, "cell"));
		emit_raw(out, "<li>");
		layout_change(out, json_is_number(change) ? json_number_value(change) : NAN);
		emit_raw(out, " ");
		layout_cell_link(out, repo, branch, key ? key : "");
		emit_raw(out, json_is_true(json_object_get(cell, "borderline")) ? " borderline</li>" : "</li>");
	}
	emit_raw(out, "</ul>");
	json_decref(cells);
}

enum { ROWS = 100 };

struct alert_page {
	struct buf *out;
	struct site *site;
	int n;
	int64_t last;
};

static void alert_event_line(void *arg, const struct view_alert_event *row)
{
	struct buf *out = arg;
	emit_raw(out, "<li>");
	layout_time(out, row->at);
	emit_raw(out, " ");
	layout_verdict(out, row->state);
	emit_raw(out, " by ");
	emit_text(out, row->who);
	if (*row->reason) {
		emit_raw(out, ": ");
		emit_text(out, row->reason);
	}
	emit_raw(out, "</li>");
}

static void alert_section(void *arg, const struct view_alert *row)
{
	static const struct {
		const char *verb, *label;
	} steps[] = { { "acknowledge", "Acknowledge" }, { "accept", "Accept the new level" }, { "resolve", "Resolve" },
		{ "invalidate", "Not real" } };
	struct alert_page *page = arg;
	struct buf *out = page->out;
	struct fw_err err = { 0 };
	page->n++;
	page->last = row->id;
	emit_rawf(out, "<section class=alert><h2>Alert %lld: ", (long long)row->id);
	emit_text(out, row->repo);
	emit_raw(out, " ");
	layout_branch(out, row->branch);
	emit_raw(out, "</h2><p>");
	layout_verdict(out, row->state);
	emit_raw(out, " ");
	layout_sha(out, row->target);
	emit_raw(out, " ");
	emit_text(out, row->subject);
	emit_rawf(out, " <a href=\"/comparisons/%lld\">comparison %lld</a></p>", (long long)row->comparison,
		(long long)row->comparison);
	alert_cells(out, row->repo, row->branch, row->cells_json);
	emit_raw(out, "<ol class=events>");
	if (view_alert_events(page->site->db, row->id, alert_event_line, out, &err) != 0)
		out->failed = true;
	emit_raw(out, "</ol>");
	if (strcmp(row->state, "open") == 0 || strcmp(row->state, "acknowledged") == 0) {
		emit_raw(out, "<form method=post class=filter><label>Reason <input name=reason maxlength=2000></label> ");
		for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
			emit_rawf(out, "<button formaction=\"/api/v1/alerts/%lld/%s\">%s</button> ", (long long)row->id,
				steps[i].verb, steps[i].label);
		emit_raw(out, "</form>");
	}
	emit_raw(out, "</section>\n");
}

void page_alerts(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct alert_page page = { .out = &response->body, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, response, "state", API_ALERT_STATES, &state) != 0 || answer_cursor(r, response, &before) != 0)
		return;
	layout_begin(response, "Alerts", "alerts");
	if (view_alerts(site->db, state, before, ROWS, alert_section, &page, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	if (page.n == 0)
		emit_raw(&response->body,
			"<p class=lead>No alert. One opens for every commit with a cell that lost more than its threshold.</p>");
	layout_older(&response->body, r, page.n, ROWS, page.last);
	layout_end(response);
}
