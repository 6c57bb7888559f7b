/* Notifications: receivers, texts, how each attempt ended, and a button to send it again. */
#include <stdio.h>

#include "db/db.h"
#include "web/answer/answer.h"
#include "web/html/html.h"
#include "web/page/page.h"

enum { ROWS = 50 };

struct drawing {
	struct buf *out;
	struct site *site;
	int n;
	int64_t last;
};

static void attempt_item(void *arg, const struct store_attempt *row)
{
	struct buf *out = arg;
	emit_raw(out, "<li>");
	layout_time(out, row->at);
	emit_rawf(out, ", %lld ms", (long long)row->duration_ms);
	if (row->status)
		emit_rawf(out, ", HTTP %d", row->status);
	emit_raw(out, *row->error ? ": " : ": delivered");
	emit_text(out, row->error);
	emit_raw(out, "</li>");
}

static void notification_row(void *arg, const struct view_notification *row)
{
	struct drawing *d = arg;
	struct fw_err err = { 0 };
	char id[24];
	bool waits = strcmp(row->state, "waiting") == 0;
	d->n++;
	d->last = row->id;
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	emit_rawf(d->out, "<tr id=notification-%s><td class=num>%s</td><td>", id, id);
	emit_text(d->out, row->kind);
	emit_raw(d->out, " to ");
	emit_text(d->out, row->target);
	emit_raw(d->out, "</td><td>");
	layout_verdict(d->out, row->state);
	if (waits) {
		emit_raw(d->out, " next try ");
		layout_time(d->out, row->next_at);
	}
	emit_raw(d->out, "</td><td>");
	layout_time(d->out, row->created_at);
	emit_raw(d->out, "</td><td><details><summary>message</summary><code>");
	emit_text(d->out, row->message_id);
	emit_raw(d->out, "</code><pre>");
	emit_text(d->out, row->payload);
	emit_raw(d->out, "</pre></details><ol>");
	if (view_attempts(d->site->db, row->id, attempt_item, d->out, &err) != 0)
		d->out->failed = true;
	emit_raw(d->out, "</ol></td><td>");
	layout_button(d->out, "notifications", id, "redeliver", waits ? "Try now" : "Send again");
	emit_raw(d->out, "</td></tr>\n");
}

int page_notifications(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	static const char *const columns[] = { ">Notification", "To", "State", "Written", "Attempts", "" };
	struct drawing d = { .out = &response->body, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", ANSWER_NOTIFICATION_STATES, &state, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	layout_begin(response, "Notifications", "alerts");
	emit_raw(d.out,
		"<p>Notifications sent to webhooks, forges and git notes. A failed one is sent again for an hour.</p><div class=wide>");
	layout_table(d.out, 6, columns);
	if (view_notifications(site->db, state, before, ROWS, notification_row, &d, err) != 0)
		return -1;
	layout_table_end(d.out);
	emit_raw(d.out, "</div>");
	if (d.n == 0)
		layout_empty(d.out, "", "No notification yet.",
			"Configure receivers under <code>webhooks</code>, and <code>status</code> and <code>notes</code> of a repository, in flopwatchd.yml.");
	layout_older(d.out, r, d.n, ROWS, d.last);
	layout_end_data(response, "/api/v1/notifications");
	return 0;
}
