/* Notifications: receivers, texts, the result of each attempt, and a button to send one again. */
#include "web/page/internal.h"

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
	emit_format(out, "<li>%lld{time}, %lld ms%d{?, HTTP *}%-s%s</li>", (long long)row->at, (long long)row->duration_ms,
		row->status, *row->error ? ": " : ": delivered", row->error);
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
	emit_format(d->out, "<tr id=notification-%-s><td class=num>%-s</td><td>%s to %s</td><td>%s{verdict}", id, id, row->kind,
		row->target, row->state);
	if (waits)
		emit_format(d->out, " next try %lld{time}", (long long)row->next_at);
	emit_format(d->out,
		"</td><td>%lld{time}</td><td><details><summary>message</summary><code>%s</code><pre>%s</pre></details>"
		"<ol>",
		(long long)row->created_at, row->message_id, row->payload);
	if (view_attempts(d->site->db, row->id, attempt_item, d->out, &err) != 0)
		d->out->failed = true;
	emit_raw(d->out, "</ol></td><td>");
	layout_button(d->out, "notifications", id, "redeliver", waits ? "Try now" : "Send again");
	emit_raw(d->out, "</td></tr>\n");
}

int page_notifications(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct drawing d = { .out = &response->body, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", ANSWER_NOTIFICATION_STATES, &state, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	layout_begin(response, "Notifications", "alerts", NULL);
	emit_raw(d.out,
		"<p>Notifications sent to webhooks, forges and git notes. A failed one is sent again for an hour.</p><div class=wide>");
	layout_table(d.out, ">Notification|To|State|Written|Attempts|");
	if (view_notifications(site->db, state, before, ROWS, notification_row, &d, err) != 0)
		return -1;
	layout_table_end(d.out);
	emit_raw(d.out, "</div>");
	if (d.n == 0)
		layout_empty(d.out, "", "No notification yet.",
			"Configure receivers under <code>webhooks</code>, and <code>status</code> and <code>notes</code> of a repository, in flopwatchd.yml.");
	layout_older(d.out, r, d.n, ROWS, d.last);
	return layout_end(response, "/api/v1/notifications", 0);
}
