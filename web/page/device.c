/* Devices: their properties, state and last device check, and the button that enables or disables them. */
#include "web/page/internal.h"

#include <math.h>

enum { ALARMS_FROM = 20, BAR_WIDTH = 96, BAR_HEIGHT = 10 }; /* ALARMS_FROM: comparisons from which on the rate is shown */

struct drawing {
	struct buf *out;
	struct site *site;
	int n, ready, absent;
	char other[192];     /* a device that is neither ready nor absent, and its state */
	struct buf absences; /* names of values that the device does not report */
};

/* Write a value of a device. An unknown value is -1 in a device check and 0 in the worker's hello. */
static void write_value(struct drawing *d, const char *name, double v, const char *unit, double from)
{
	if (isfinite(v) && v >= from)
		emit_rawf(d->out, "<dt>%s</dt><dd>%.4g\u00a0%s</dd>", name, v, unit);
	else
		buf_printf(&d->absences, "%s%s", d->absences.len ? ", " : "", name);
}

/* Harmless bits come last. */
static void draw_reasons(struct buf *out, const json_t *device_check)
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

static void draw_last_check(struct drawing *d, int64_t device)
{
	struct buf text;
	struct fw_err err = { 0 };
	buf_init(&text, 1 << 16);
	if (view_last_device_check(d->site->db, device, &text, &err) != 0)
		d->out->failed = true;
	json_t *device_check = text.len ? json_loads(text.data, 0, NULL) : NULL;
	if (device_check) {
		const char *regime = json_string_value(json_object_get(device_check, "regime"));
		write_value(d, "SM clock at its last run", comparison_number(device_check, "sm_mhz"), "MHz", 1);
		write_value(d, "Power at its last run", comparison_number(device_check, "power_w"), "W", 0);
		write_value(d, "Temperature at its last run", comparison_number(device_check, "temp_c"), "\u00b0C", 0);
		draw_reasons(d->out, device_check);
		if (regime && *regime)
			emit_format(d->out, "<dt>Regime</dt><dd>%s{name}</dd>", regime);
		write_value(d, "Other processes during the last run", comparison_number(device_check, "foreign"), "", 0);
	} else {
		emit_raw(d->out, "<dt>Last run</dt><dd class=dim>\u2013 none yet</dd>");
	}
	json_decref(device_check);
	buf_fini(&text);
}

static void draw_hardware(struct drawing *d, const char *info_json)
{
	json_t *info = json_loads(info_json, 0, NULL);
	write_value(d, "Cores", comparison_number(info, "cores"), "", 1);
	write_value(d, "Memory", comparison_number(info, "memory_bytes") / (1 << 30), "GiB", 1e-3);
	write_value(d, "L2 cache", comparison_number(info, "l2_bytes") / (1 << 20), "MiB", 1e-3);
	write_value(d, "Highest clock", comparison_number(info, "clock_max_mhz"), "MHz", 1);
	write_value(d, "Power limit", comparison_number(info, "power_limit_w"), "W", 1);
	json_decref(info);
}

/* Write how often equal builds were judged different on this device, and its underpowered cells. */
static void draw_false_alarms(struct drawing *d, int64_t device, const char *uuid)
{
	struct view_false_alarms f;
	struct view_calibrated known;
	struct fw_err err = { 0 };
	if (view_false_alarms(d->site->db, device, &f, &err) != 0 ||
		view_calibrated(d->site->db, uuid, clock_utc_ms(), &known, &err) != 0) {
		d->out->failed = true;
		return;
	}
	if (f.comparisons >= ALARMS_FROM)
		emit_rawf(d->out, "<dt>False alarms</dt><dd>%d of %d comparisons of equal builds; below %.1f\u00a0%%</dd>",
			f.alarms, f.comparisons, f.upper_pct);
	else
		emit_rawf(d->out,
			"<dt>False alarms</dt><dd class=dim>not known yet: after %d of at least %d comparisons of equal builds, which <code>flopwatch "
			"calibrate</code> measures</dd>",
			f.comparisons, ALARMS_FROM);
	if (known.cells && !known.underpowered)
		emit_rawf(d->out, "<dt>Calibrated</dt><dd>%d cell%s, each can show a slowdown of the size of its threshold</dd>",
			known.cells, known.cells == 1 ? "" : "s");
	else if (known.cells)
		emit_rawf(d->out,
			"<dt>Calibrated</dt><dd>%d cells; in %d of them runs vary too much to detect a slowdown of the size of the threshold</dd>",
			known.cells, known.underpowered);
}

static void draw_device_card(void *arg, const struct view_device *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	d->n++;
	d->ready += row->state == DEVICESTATE_OK;
	d->absent += row->state == DEVICESTATE_ABSENT;
	if (row->state != DEVICESTATE_OK && row->state != DEVICESTATE_ABSENT && !*d->other)
		snprintf(d->other, sizeof d->other, "%.120s is %s", row->name, devicestate_name(row->state));
	buf_clear(&d->absences);
	emit_format(out,
		"<section class=card><h3>%s %s{verdict}</h3><p class=dim>%s <code>%s</code></p>"
		"%s{?<p class=\"banner warn\">*</p>}"
		"%s{?<p class=\"banner warn\">Outlier in its device class; not scheduled until it agrees again: *.</p>}"
		"<dl class=facts><dt>Works on</dt><dd>",
		row->name, devicestate_name(row->state), row->kind, row->uuid, row->state_why, row->outlier);
	if (row->job)
		emit_format(out, "%lld{job}", (long long)row->job);
	else
		emit_raw(out, "nothing");
	emit_format(out,
		"</dd><dt>Last report</dt><dd>%lld{time}</dd><dt>Class</dt><dd>%lld: %s</dd>%s{?<dt>Driver</dt><dd>*</dd>}"
		"%s{?<dt>Toolkit</dt><dd>*</dd>}%s{?<dt>cuDNN</dt><dd>*</dd>}",
		(long long)row->seen_at, (long long)row->class, row->model, row->driver, row->toolkit, row->cudnn);
	draw_hardware(d, row->info_json);
	draw_false_alarms(d, row->id, row->uuid);
	draw_last_check(d, row->id);
	if (d->absences.len)
		emit_format(out, "<dt>Not reported</dt><dd class=dim>%s</dd>", d->absences.data);
	emit_raw(out, "</dl><div class=row>");
	if (row->state == DEVICESTATE_QUARANTINED)
		layout_button(out, "devices", row->uuid, "resume", "Try with a health check");
	else if (row->state == DEVICESTATE_PAUSED)
		layout_button(out, "devices", row->uuid, "resume", "Resume");
	else if (row->state == DEVICESTATE_OK)
		layout_button(out, "devices", row->uuid, "pause", "Pause");
	emit_raw(out, "</div></section>\n");
}

/* Write a share of the noise, or that it is unknown. */
static void draw_percent(struct buf *out, double pct)
{
	if (isfinite(pct))
		emit_rawf(out, "%.2f\u00a0%%", pct);
	else
		emit_raw(out, "\u2013");
}

struct calibrated {
	double mde_pct;
	bool underpowered;
	size_t begin, bar, end; /* range of its row in the text; the bar is inserted at `bar` */
};

struct calibrations {
	struct buf text;
	struct calibrated *cell; /* cell[n] */
	int n, underpowered;
	double most_pct; /* largest minimum detectable slowdown */
};

/* Add a cell's calibration, from comparisons without a change: its smallest detectable slowdown, if any. */
static void calibration_line(void *arg, const struct view_calibration *row)
{
	struct calibrations *all = arg;
	struct buf *out = &all->text;
	all->cell = mem_grow(all->cell, (size_t)all->n + 1, sizeof *all->cell);
	struct calibrated *cell = &all->cell[all->n++];
	*cell = (struct calibrated){ .mde_pct = row->mde_pct, .underpowered = row->underpowered, .begin = out->len };
	all->underpowered += row->underpowered;
	all->most_pct = fmax(all->most_pct, row->mde_pct);
	emit_format(out,
		"<tr><th scope=row class=wrap>%s</th><td class=x>%s</td><td class=x>%s</td><td class=\"n x\">%d</td>"
		"<td class=\"n w\">%d</td><td class=\"n w\">",
		row->cell, row->repo, row->model, row->comparisons, row->runs);
	draw_percent(out, row->tau0_pct);
	emit_raw(out, "</td><td class=n>");
	cell->bar = out->len;
	draw_percent(out, row->mde_pct);
	emit_rawf(out, "</td><td>%s",
		row->underpowered ? "<span class=\"v warn\"><i aria-hidden=true>?</i>varies too much</span>" : "");
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)row->updated_at);
	cell->end = out->len;
}

/* Draw a bar whose length is the smallest detectable slowdown. */
static void draw_bar(struct buf *out, const struct calibrated *cell, double most_pct)
{
	if (!isfinite(cell->mde_pct) || !(most_pct > 0))
		return;
	emit_rawf(out, "<svg class=\"share %s\" viewBox=\"0 0 %d %d\" aria-hidden=true><path class=part d=\"M0 5H%.0f\"/></svg> ",
		cell->underpowered ? "warn" : "dim", BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH * fmax(0, cell->mde_pct / most_pct));
}

static int draw_calibration(struct drawing *d, struct fw_err *err)
{
	struct buf *out = d->out;
	struct calibrations all = { .n = 0 };
	buf_init(&all.text, 4 << 20);
	int result = view_calibrations(d->site->db, NULL, NULL, clock_utc_ms(), calibration_line, &all, err);
	if (all.n) {
		emit_rawf(out,
			"<h2>The smallest slowdown that each cell can show</h2><p>From calibrations, and cells of pushes that did not change, in the last %d days. ",
			CALIBRATION_DAYS_MAX);
		if (all.underpowered)
			emit_rawf(out,
				"The runs of %d of %d cells vary so much that a full set of them would miss a slowdown of the size of the "
				"threshold; if the runs of a comparison vary less, the comparison counts. ",
				all.underpowered, all.n);
		emit_raw(out,
			"<code>flopwatch calibrate</code> measures the noise again, <code>flopwatch calibrate forget</code> "
			"deletes it.</p>");
		layout_table(out, "Cell|^Repository|^Device|^>Comparisons|~>Runs|~>Noise|>Smallest slowdown|Note|~Newest");
		for (int i = 0; i < all.n; i++) {
			const struct calibrated *cell = &all.cell[i];
			buf_append(out, all.text.data + cell->begin, cell->bar - cell->begin);
			draw_bar(out, cell, all.most_pct);
			buf_append(out, all.text.data + cell->bar, cell->end - cell->bar);
		}
		layout_table_end(out);
	}
	out->failed |= all.text.failed;
	free(all.cell);
	buf_fini(&all.text);
	return result;
}

struct banners {
	struct buf *out;
	char down[64]; /* last reported worker: the slots of a worker are adjacent */
};

static void draw_pending_banner(struct buf *out, const struct worker_status *w)
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
		draw_pending_banner(b->out, w);
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

/* Write "1 device ready", and the first device that is not. */
static void write_title(struct buf *out, const struct drawing *d)
{
	if (*d->other)
		buf_printf(out, "%s; ", d->other);
	if (d->n)
		buf_printf(out, "%d of %d device%s ready", d->ready, d->n, d->n == 1 ? "" : "s");
	else
		buf_puts(out, "No device has reported yet");
}

int page_devices(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct buf cards, title, *out = &response->body;
	struct drawing d = { .out = &cards, .site = site };
	buf_init(&cards, 8 << 20);
	buf_init(&title, 512);
	buf_init(&d.absences, 1024);
	int result = view_devices(site->db, draw_device_card, &d, err);
	write_title(&title, &d);
	layout_begin(response, title.data, "devices", "device. worker. job.state job.done");
	layout_live(out, "devices", "A device changed");
	page_worker_banners(site, out);
	emit_raw(out, "<div class=\"cards wide\">");
	buf_append(out, cards.data, cards.len);
	emit_raw(out, "</div>");
	if (d.n == 0)
		layout_empty(out, "", "No device has reported yet.",
			"List workers under <code>workers</code> in flopwatchd.yml; they report their devices.");
	d.out = out;
	if (result == 0)
		result = draw_calibration(&d, err);
	emit_raw(out, "</div>");
	out->failed |= cards.failed || title.failed || d.absences.failed;
	buf_fini(&d.absences);
	buf_fini(&title);
	buf_fini(&cards);
	return layout_end(response, "/api/v1/devices", result);
}
