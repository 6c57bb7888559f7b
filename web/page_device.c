/* Devices: what measures, its state, and the switch for it. */
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/site.h"

static void device_line(void *arg, const struct view_device *row)
{
	struct buf *out = arg;
	emit_raw(out, "<tr><th scope=row>");
	emit_text(out, row->name);
	emit_raw(out, "<br><small>");
	emit_text(out, row->uuid);
	emit_raw(out, "</small></th><td>");
	emit_text(out, row->kind);
	emit_raw(out, "</td><td>");
	layout_verdict(out, row->state);
	emit_raw(out, " ");
	emit_text(out, row->state_why);
	emit_raw(out, "</td><td>");
	emit_text(out, row->driver);
	emit_raw(out, "</td><td>");
	emit_text(out, row->toolkit);
	emit_raw(out, "</td><td>");
	if (row->job)
		emit_rawf(out, "<a href=\"/jobs/%lld\">job %lld</a>", (long long)row->job, (long long)row->job);
	emit_raw(out, "</td><td>");
	layout_time(out, row->seen_at);
	emit_raw(out, "</td><td>");
	if (strcmp(row->state, "paused") == 0)
		layout_button(out, "devices", row->uuid, "resume", "Resume");
	else if (strcmp(row->state, "ok") == 0)
		layout_button(out, "devices", row->uuid, "pause", "Pause");
	emit_raw(out, "</td></tr>\n");
}

void page_devices(void *arg, struct http_request *r, struct http_response *response)
{
	static const char *const columns[] = { "Device", "Kind", "State", "Driver", "Toolkit", "Job", "Seen (UTC)", "Action" };
	struct site *site = arg;
	struct fw_err err = { 0 };
	layout_begin(response, "Devices", "devices");
	layout_table(&response->body, 8, columns);
	if (view_devices(site->db, device_line, &response->body, &err) != 0) {
		answer_error(r, response, &err);
		return;
	}
	layout_table_end(&response->body);
	layout_end(response);
}
