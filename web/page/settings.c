/* Settings, read-only: the configuration that the daemon has read, its suites, receivers, disk and version. */

#include "web/page/internal.h"

struct drawing {
	struct site *site;
	struct buf *out;
	int n;
	int result;
	struct fw_err *err;
};

static void setting_row(void *to, const char *name, const char *value, int line)
{
	struct drawing *d = to;
	d->n++;
	emit_format(d->out, "<tr><td class=n>%d</td><th scope=row class=wrap>%s</th><td class=wrap>%s</td></tr>\n", line, name,
		*value ? value : "\u2013");
}

static void notification_cell(void *arg, const struct view_notification *row)
{
	struct drawing *d = arg;
	d->n++;
	emit_format(d->out, "%lld{time} %s{verdict}%s{?<span class=why>*</span>}", (long long)row->created_at, row->state,
		row->last_error);
}

static void receiver_row(void *to, const struct site_receiver *row)
{
	struct drawing *d = to;
	if (d->result != 0)
		return;
	emit_format(d->out, "<tr><th scope=row>%s</th><td class=w>%s</td><td class=wrap>%s</td><td class=w>%-s</td><td>",
		row->name, row->kind, row->address, row->has_secret ? "set" : "not set");
	d->n = 0;
	d->result = view_notification_last(d->site->db, row->kind, row->name, notification_cell, d, d->err);
	emit_raw(d->out, d->n ? "</td></tr>\n" : "none stored</td></tr>\n");
}

static void suite_row(void *arg, const struct view_suite_version *row)
{
	struct drawing *d = arg;
	emit_format(d->out, "<tr><th scope=row>%s</th><td>%s</td><td><code>%-.10s</code></td></tr>\n", row->name, row->origin,
		row->sha);
}

static void draw_table(struct buf *out, const char *columns, const struct buf *rows)
{
	layout_table(out, columns);
	buf_append(out, rows->data, rows->len);
	layout_table_end(out);
}

static int draw_suites(struct drawing *d)
{
	struct buf *out = d->out, rows;
	buf_init(&rows, 4 << 20);
	d->out = &rows;
	int result = view_suite_versions(d->site->db, suite_row, d, d->err);
	d->out = out;
	emit_raw(out, "<h2>Suites</h2>");
	if (rows.len)
		draw_table(out, "Suite|Origin|Content", &rows);
	else
		layout_empty(out, "", "No suite was measured yet.", NULL);
	out->failed |= rows.failed;
	buf_fini(&rows);
	return result;
}

static void draw_bytes(struct buf *out, double bytes)
{
	emit_rawf(out, bytes < 1e9 ? "%.1f\u00a0MB" : "%.1f\u00a0GB", bytes < 1e9 ? bytes / 1e6 : bytes / 1e9);
}

static int draw_daemon(struct drawing *d, const struct site_settings *settings)
{
	int64_t bytes;
	if (view_size(d->site->db, &bytes, d->err) != 0)
		return -1;
	emit_format(d->out,
		"<dl class=\"facts card\"><dt>Version</dt><dd>" FW_VERSION
		"</dd>%s{?<dt>Configuration</dt><dd><code>*</code></dd>}"
		"%s{?<dt>State</dt><dd><code>*</code></dd>}",
		settings->file, settings->folder);
	if (settings->total_bytes) {
		emit_raw(d->out, "<dt>Free disk space</dt><dd>");
		draw_bytes(d->out, (double)settings->free_bytes);
		emit_raw(d->out, " of ");
		draw_bytes(d->out, (double)settings->total_bytes);
		emit_raw(d->out, "</dd>");
	}
	emit_raw(d->out, "<dt>Database</dt><dd>");
	draw_bytes(d->out, (double)bytes);
	emit_raw(d->out, "</dd></dl>\n");
	if (*settings->restart)
		emit_format(d->out,
			"<p class=\"banner warn\">The daemon has read these changed settings, but applies them only after a restart: %s.</p>\n",
			settings->restart);
	return 0;
}

int page_settings(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct buf receivers, rows, *out = &response->body;
	struct drawing d = { .site = site, .out = &rows, .err = err }, to = { .site = site, .out = &receivers, .err = err };
	struct site_settings settings = { .file = "",
		.folder = "",
		.restart = "",
		.setting = setting_row,
		.receiver = receiver_row,
		.to = &d,
		.to_receiver = &to };
	buf_init(&rows, 4 << 20);
	buf_init(&receivers, 4 << 20);
	int result = page_count_alerts(site, response, err);
	if (result == 0 && site->act->settings)
		result = site->act->settings(site->control, &settings, err);
	int n = d.n;
	layout_begin(response, "Settings of this daemon", "", NULL);
	d.out = out;
	if (result == 0)
		result = to.result == 0 ? draw_daemon(&d, &settings) : -1;
	emit_raw(out, "<h2>Receivers</h2>");
	if (receivers.len)
		draw_table(out, "Receiver|~Kind|Address|~Secret|Last notification", &receivers);
	else
		layout_empty(out, "", "No receiver.",
			"Name them under <code>webhooks</code>, and <code>status</code> and <code>notes</code> of a repository.");
	if (result == 0)
		result = draw_suites(&d);
	emit_raw(out, "<h2>Configuration</h2>");
	if (n)
		draw_table(out, ">Line|Setting|Value", &rows);
	else
		layout_empty(out, "", *settings.file ? "All settings have their defaults." : "It is not known here.", NULL);
	out->failed |= rows.failed || receivers.failed;
	buf_fini(&receivers);
	buf_fini(&rows);
	return layout_end(response, NULL, result);
}
