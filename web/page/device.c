/* Devices: their properties, state and last device check, and the button that enables or disables them. */
#include "web/page/internal.h"

struct drawing {
	struct buf *out;
	struct site *site;
	int n;
};

/* A value of a device, or a dash with the reason. An unknown value is -1 in a device check and 0 in the device's hello. */
static void figure(struct buf *out, const char *name, double v, const char *unit, double from)
{
	emit_rawf(out, "<dt>%s</dt><dd>", name);
	if (isfinite(v) && v >= from)
		emit_rawf(out, "%.4g\u00a0%s", v, unit);
	else
		emit_raw(out, "<span class=dim>\u2013 not reported</span>");
	emit_raw(out, "</dd>");
}

/* Harmless bits come last. */
static void reasons(struct buf *out, const json_t *device_check)
{
	uint64_t bits = (uint64_t)json_integer_value(json_object_get(device_check, "reasons"));
	bool any = false;
	emit_raw(out, "<dt>Limited by</dt><dd>");
	for (int i = 0; i < DEVICE_CHECK_REASONS; i++) {
		if (!(bits & device_check_reason[i].bit))
			continue;
		emit_rawf(out, "%s%s", any ? ", " : "", device_check_reason[i].words);
		any = true;
	}
	emit_raw(out, any ? "</dd>" : "nothing</dd>");
}

static void last_seen_doing(struct drawing *d, int64_t device)
{
	struct buf text;
	struct fw_err err = { 0 };
	buf_init(&text, 1 << 16);
	if (view_last_device_check(d->site->db, device, &text, &err) != 0)
		d->out->failed = true;
	json_t *device_check = text.len ? json_loads(text.data, 0, NULL) : NULL;
	if (device_check) {
		const char *regime = json_string_value(json_object_get(device_check, "regime"));
		figure(d->out, "SM clock at its last run", comparison_number(device_check, "sm_mhz"), "MHz", 1);
		figure(d->out, "Power at its last run", comparison_number(device_check, "power_w"), "W", 0);
		figure(d->out, "Temperature at its last run", comparison_number(device_check, "temp_c"), "\u00b0C", 0);
		reasons(d->out, device_check);
		if (regime && *regime)
			emit_format(d->out, "<dt>Regime</dt><dd>%s{name}</dd>", regime);
		figure(d->out, "Other processes during the last run", comparison_number(device_check, "foreign"), "", 0);
	} else {
		emit_raw(d->out, "<dt>Last run</dt><dd class=dim>\u2013 none yet</dd>");
	}
	json_decref(device_check);
	buf_fini(&text);
}

static void hardware(struct buf *out, const char *info_json)
{
	json_t *info = json_loads(info_json, 0, NULL);
	figure(out, "Cores", comparison_number(info, "cores"), "", 1);
	figure(out, "Memory", comparison_number(info, "memory_bytes") / (1 << 30), "GiB", 1e-3);
	figure(out, "L2 cache", comparison_number(info, "l2_bytes") / (1 << 20), "MiB", 1e-3);
	figure(out, "Highest clock", comparison_number(info, "clock_max_mhz"), "MHz", 1);
	figure(out, "Power limit", comparison_number(info, "power_limit_w"), "W", 1);
	json_decref(info);
}

/* The rate at which equal builds were judged different on this device, and cells that are underpowered. */
static void false_alarms(struct drawing *d, int64_t device, const char *uuid)
{
	struct view_false_alarms f;
	struct view_calibrated known;
	struct fw_err err = { 0 };
	if (view_false_alarms(d->site->db, device, &f, &err) != 0 ||
		view_calibrated(d->site->db, uuid, clock_utc_ms(), &known, &err) != 0) {
		d->out->failed = true;
		return;
	}
	emit_raw(d->out, "<dt>False alarms</dt><dd>");
	if (f.comparisons)
		emit_rawf(
			d->out, "%d of %d comparisons of equal builds; below %.1f\u00a0%%", f.alarms, f.comparisons, f.upper_pct);
	else
		emit_raw(d->out, "<span class=dim>\u2013 not measured; run <code>flopwatch calibrate</code></span>");
	emit_raw(d->out, "</dd>");
	if (known.cells)
		emit_rawf(d->out,
			"<dt>Calibrated</dt><dd>%d cells; in %d of them runs of equal builds vary too much to detect a slowdown of the size of the threshold</dd>",
			known.cells, known.underpowered);
}

static void device_card(void *arg, const struct view_device *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	d->n++;
	emit_format(out,
		"<section class=card><h3>%s %s{verdict}</h3><p class=dim>%s <code>%s</code></p>"
		"%s{?<p class=\"banner warn\">*</p>}"
		"%s{?<p class=\"banner warn\">Outlier in its device class; not scheduled until it agrees again: *.</p>}"
		"<dl class=facts><dt>Works on</dt><dd>",
		row->name, devicestate_name(row->state), row->kind, row->uuid, row->state_why, row->stands_out);
	if (row->job)
		emit_format(out, "%lld{job}", (long long)row->job);
	else
		emit_raw(out, "nothing");
	emit_format(out,
		"</dd><dt>Last report</dt><dd>%lld{time} (%f{duration} ago)</dd><dt>Class</dt><dd>%lld: %s</dd><dt>Driver"
		"</dt><dd>%s</dd><dt>Toolkit</dt><dd>%s%s{?</dd><dt>cuDNN</dt><dd>*}</dd>",
		(long long)row->seen_at, (double)(clock_utc_ms() - row->seen_at) / 1000, (long long)row->class, row->model,
		*row->driver ? row->driver : "\u2013", *row->toolkit ? row->toolkit : "\u2013", row->cudnn);
	hardware(out, row->info_json);
	false_alarms(d, row->id, row->uuid);
	last_seen_doing(d, row->id);
	emit_raw(out, "</dl><div class=row>");
	if (row->state == DEVICESTATE_QUARANTINED)
		layout_button(out, "devices", row->uuid, "resume", "Try with a health check");
	else if (row->state == DEVICESTATE_PAUSED)
		layout_button(out, "devices", row->uuid, "resume", "Resume");
	else if (row->state == DEVICESTATE_OK)
		layout_button(out, "devices", row->uuid, "pause", "Pause");
	emit_raw(out, "</div></section>\n");
}

/* A share of the noise, or a note that it is unknown. */
static void percent(struct buf *out, double pct)
{
	if (isfinite(pct))
		emit_rawf(out, "%.2f\u00a0%%", pct);
	else
		emit_raw(out, "\u2013");
}

/* Calibration of each cell from equal builds: the smallest detectable slowdown, and cells where none can be detected. */
static void calibration_line(void *arg, const struct view_calibration *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	d->n++;
	emit_format(out,
		"<tr><th scope=row class=wrap>%s</th><td class=x>%s</td><td class=x>%s</td><td class=\"n x\">%d</td>"
		"<td class=\"n x\">%d</td><td class=\"n w\">%d</td><td class=n>",
		row->cell, row->repo, row->model, row->comparisons, row->alarms, row->runs);
	percent(out, row->tau0_pct);
	emit_raw(out, "</td><td class=n>");
	percent(out, row->mde_pct);
	emit_raw(out, "</td><td>");
	if (row->underpowered)
		emit_raw(out, "<span class=\"v warn\"><i aria-hidden=true>?</i>varies too much</span>");
	else
		emit_raw(out, "<span class=\"v plain\"><i aria-hidden=true>\u2713</i>can detect it</span>");
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)row->updated_at);
}

static int draw_calibration(struct drawing *d, struct fw_err *err)
{
	struct buf *page = d->out, rows;
	buf_init(&rows, 4 << 20);
	d->out = &rows;
	d->n = 0;
	int result = view_calibrations(d->site->db, NULL, NULL, clock_utc_ms(), calibration_line, d, err);
	d->out = page;
	if (d->n) {
		emit_rawf(page,
			"<h2>Calibration</h2><p>Comparisons of equal builds in the last %d days. The runs of some cells vary so much that a full set of them would miss a slowdown of the size of the threshold; if the runs of a comparison vary less, the comparison counts. <code>flopwatch calibrate</code> measures the noise again, <code>flopwatch calibrate forget</code> deletes it.</p>",
			CALIBRATION_DAYS_MAX);
		layout_table(page, "Cell|^Repository|^Device|^>Comparisons|^>False alarms|~>Runs|>Noise|>Detects||~Newest (UTC)");
		buf_append(page, rows.data, rows.len);
		layout_table_end(page);
	}
	buf_fini(&rows);
	return result;
}

struct banners {
	struct buf *out;
	char down[64]; /* worker reported last: its slots are adjacent */
};

static void pending_banner(struct buf *out, const struct worker_status *w)
{
	emit_format(out,
		"<p class=banner role=status>Worker <b>%s</b> waits for an allocation%s{? to *}%s{?, job *}%d{? at "
		"position * of its queue}%s{?: *}.</p>",
		w->name, w->aim, w->allocation, w->position, w->why);
}

static void worker_banner(void *to, const struct worker_status *w)
{
	struct banners *b = to;
	if (strcmp(w->state, "pending") == 0)
		pending_banner(b->out, w);
	if (strcmp(w->state, "down") != 0 || strcmp(b->down, w->name) == 0)
		return;
	snprintf(b->down, sizeof b->down, "%s", w->name);
	emit_format(b->out, "<p class=\"banner warn\" role=status>Worker <b>%s</b> is down; the daemon restarts it: %s.</p>",
		w->name, w->why);
}

void page_worker_banners(struct site *site, struct buf *out)
{
	struct banners b = { .out = out };
	struct unschedulable unschedulable = { .site = site };
	const char *hold = unschedulable_hold(&unschedulable);
	if (*hold)
		emit_format(out, "<p class=\"banner warn\" role=status>The daemon waits: %s.</p>", hold);
	unschedulable_fini(&unschedulable);
	if (site->act->workers)
		site->act->workers(site->control, worker_banner, &b);
}

int page_devices(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct drawing d = { .out = &response->body, .site = site };
	layout_begin(response, "Devices", "devices", "device. worker. job.state job.done");
	layout_live(d.out, "devices", "A device changed");
	page_worker_banners(site, d.out);
	emit_raw(d.out, "<div class=\"cards wide\">");
	if (view_devices(site->db, device_card, &d, err) != 0)
		return -1;
	emit_raw(d.out, "</div>");
	if (d.n == 0)
		layout_empty(d.out, "", "No device has reported yet.",
			"List workers under <code>workers</code> in flopwatchd.yml; they report their devices.");
	if (draw_calibration(&d, err) != 0)
		return -1;
	emit_raw(d.out, "</div>");
	return layout_end(response, "/api/v1/devices", 0);
}
