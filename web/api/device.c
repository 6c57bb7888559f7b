/* device.c - devices: the list, pause and resume. */

#include "web/api/internal.h"

#include <math.h>

/* State of writing a list of devices; each row needs further queries. */
struct listing {
	struct jsonw j;
	struct db *db;
	struct fw_err *err;
	bool failed;
};

/* Write a device's rate of false alarms, from comparisons of equal builds. */
static void write_false_alarms(struct jsonw *j, const struct view_false_alarms *f, const struct view_calibrated *known)
{
	jsonw_key(j, "aa");
	jsonw_format(j,
		"{ comparisons=%d alarms=%d alarm_rate_pct=%g alarm_rate_upper_pct=%g cells=%d underpowered=%d "
		"last_at=%lld{time} }",
		f->comparisons, f->alarms, f->comparisons ? 100.0 * f->alarms / f->comparisons : NAN, f->upper_pct, known->cells,
		known->underpowered, (long long)f->last_at);
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
	jsonw_format(j,
		"uuid=%s kind=%s name=%s state=%s state_why?=%s class=%lld model=%s outlier?=%s driver?=%s toolkit?=%s cudnn?=%s info=%s{json} job?=%lld seen_at=%lld{time}",
		row->uuid, row->kind, row->name, devicestate_name(row->state), row->state_why, (long long)row->class, row->model,
		row->outlier, row->driver, row->toolkit, row->cudnn, row->info_json, (long long)row->job,
		(long long)row->seen_at);
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

int api_device_change(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct jsonw j;
	bool paused = strcmp(strrchr(http_path(r), '/'), "/pause") == 0;
	const char *uuid = http_segment(r, 0);
	if (site->act->pause(site->control, uuid, paused, http_who(r), err) != 0)
		return -1;
	if (write_back_to(r, response, "/devices"))
		return 0;
	answer_json(response, &j);
	jsonw_object(&j);
	jsonw_format(&j, "uuid=%s paused=%i", uuid, paused);
	struct wanted wanted = { .uuid = uuid, .j = &j };
	if (view_devices(site->db, write_state, &wanted, err) != 0)
		return -1;
	jsonw_object_end(&j);
	return 0;
}
