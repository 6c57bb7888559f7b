/* Notifications: receivers, texts, the result of each attempt, and a button to send one again. */
#include "web/page/internal.h"

enum { ROWS_BYTES = 64 << 20, ROWS = 50 };

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

struct counted {
	int64_t failed, waiting;
};

static void take_count(void *arg, const char *what, const char *state, int64_t n)
{
	struct counted *c = arg;
	if (strcmp(what, "notifications") != 0)
		return;
	c->failed += strcmp(state, "failed") == 0 ? n : 0;
	c->waiting += strcmp(state, "waiting") == 0 ? n : 0;
}

/* Write "Notifications: 2 failed, 1 waits" or "Notifications: all sent". */
static int write_title(struct db *db, struct buf *out, struct fw_err *err)
{
	struct counted c = { 0 };
	if (view_counts(db, take_count, &c, err) != 0)
		return -1;
	buf_puts(out, c.failed || c.waiting ? "Notifications: " : "Notifications: all sent");
	if (c.failed)
		buf_printf(out, "%lld failed%s", (long long)c.failed, c.waiting ? ", " : "");
	if (c.waiting)
		buf_printf(out, "%lld wait%s", (long long)c.waiting, c.waiting == 1 ? "s" : "");
	return 0;
}

int page_notifications(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct buf rows, title;
	struct drawing d = { .out = &rows, .site = site };
	const char *state;
	int64_t before;
	if (answer_choice(r, "state", ANSWER_NOTIFICATION_STATES, &state, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	buf_init(&title, 128);
	int result = write_title(site->db, &title, err);
	layout_begin(response, title.data, "alerts", NULL);
	buf_fini(&title);
	struct buf *out = &response->body;
	emit_raw(out, "<p>Notifications sent to webhooks, forges and git notes. A failed one is sent again for an hour.</p>");
	buf_init(&rows, ROWS_BYTES);
	if (result == 0)
		result = view_notifications(site->db, state, before, ROWS, notification_row, &d, err);
	if (d.n) {
		emit_raw(out, "<div class=wide>");
		layout_table(out, ">Notification|To|State|Written|Attempts|");
		buf_append(out, rows.data, rows.len);
		layout_table_end(out);
		emit_raw(out, "</div>");
	} else {
		layout_empty(out, "", "No notification yet.",
			"Configure receivers under <code>webhooks</code>, and <code>status</code> and <code>notes</code> of a repository, in flopwatchd.yml.");
	}
	out->failed |= rows.failed;
	buf_fini(&rows);
	layout_older(out, r, d.n, ROWS, d.last);
	return layout_end(response, "/api/v1/notifications", result);
}
