/* Devices: what measures, and whether it may. */

#include "db/db.h"
#include "lib/lib.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

/* A list of devices under way; each row has a view of its own to ask. */
struct listing {
	struct jsonw j;
	struct db *db;
	struct fw_err *err;
	bool failed;
};

/* What comparisons of equal builds have shown: how often this device cries wolf. */
static void write_false_alarms(struct jsonw *j, const struct view_false_alarms *f, const struct view_calibrated *known)
{
	jsonw_key(j, "aa");
	jsonw_object(j);
	jsonw_kv_int(j, "comparisons", f->comparisons);
	jsonw_kv_int(j, "alarms", f->alarms);
	jsonw_kv_figure(j, "alarm_rate_pct", f->comparisons ? 100.0 * f->alarms / f->comparisons : NAN);
	jsonw_kv_figure(j, "alarm_rate_upper_pct", f->upper_pct);
	jsonw_kv_int(j, "cells", known->cells);
	jsonw_kv_int(j, "underpowered", known->underpowered);
	answer_time(j, "last_at", f->last_at);
	jsonw_object_end(j);
}

static void device_row(void *arg, const struct view_device *row)
{
	struct listing *l = arg;
	struct jsonw *j = &l->j;
	struct view_false_alarms f;
	struct view_calibrated known;
	l->failed = l->failed || view_false_alarms(l->db, row->id, &f, l->err) != 0 ||
		    view_calibrated(l->db, row->uuid, clock_utc_ms(), &known, l->err) != 0;
	if (l->failed)
		return;
	jsonw_object(j);
	jsonw_kv_string(j, "uuid", row->uuid);
	jsonw_kv_string(j, "kind", row->kind);
	jsonw_kv_string(j, "name", row->name);
	jsonw_kv_string(j, "state", devicestate_name(row->state));
	answer_text(j, "state_why", row->state_why);
	jsonw_kv_int(j, "class", row->class);
	jsonw_kv_string(j, "model", row->model);
	answer_text(j, "stands_out", row->stands_out);
	answer_text(j, "driver", row->driver);
	answer_text(j, "toolkit", row->toolkit);
	answer_text(j, "cudnn", row->cudnn);
	jsonw_key(j, "info");
	jsonw_raw(j, row->info_json, strlen(row->info_json));
	answer_id(j, "job", row->job);
	answer_time(j, "seen_at", row->seen_at);
	write_false_alarms(j, &f, &known);
	jsonw_object_end(j);
}

int api_devices(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct listing l = { .db = site->db, .err = err };
	(void)r;
	answer_items_begin(response, &l.j);
	return answer_items_end(&l.j, view_devices(site->db, device_row, &l, err) != 0 || l.failed);
}

struct wanted {
	const char *uuid;
	struct jsonw *j;
};

static void write_state(void *arg, const struct view_device *row)
{
	struct wanted *w = arg;
	if (strcmp(row->uuid, w->uuid) == 0)
		jsonw_kv_string(w->j, "state", devicestate_name(row->state));
}

static int set_paused(struct site *site, struct http_request *r, struct http_response *response, bool paused, struct fw_err *err)
{
	struct jsonw j;
	const char *uuid = http_segment(r, 0);
	if (site->act->pause(site->control, uuid, paused, http_who(r), err) != 0)
		return -1;
	if (write_back_to(r, response, "/devices"))
		return 0;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_kv_string(&j, "uuid", uuid);
	jsonw_kv_bool(&j, "paused", paused);
	struct wanted wanted = { .uuid = uuid, .j = &j };
	if (view_devices(site->db, write_state, &wanted, err) != 0)
		return -1;
	jsonw_object_end(&j);
	return 0;
}

int api_device_pause(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return set_paused(site, r, response, true, err);
}

int api_device_resume(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	return set_paused(site, r, response, false, err);
}
