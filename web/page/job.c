/* Jobs: the queue and the jobs that ended recently; one job with its log and its builds. */

#include "web/page/internal.h"

#include <math.h>

/* ---- timeline ---- */

enum { BARS_MAX = 300, WIDTH = 960, LEFT = 8, RIGHT = 8, LANE = 52, NAME = 28, BAR = 18, FOOT = 40 };
#define HOUR_MS INT64_C(3600000)
enum { PAST_HOURS_MAX = 24, PAST_MINUTES_MIN = 15 };
#define BAR_MIN 3.0 /* width of the shortest bar */

struct bar {
	int64_t job, from, to; /* ms UTC */
	bool is_done, is_expected;
	char device[64], label[24], about[160];
};

struct lane {
	char device[64], name[128];
};

struct timeline {
	int64_t now;
	struct bar bar[BARS_MAX];
	struct lane lane[BARS_MAX]; /* devices that have a bar */
	int n, n_lanes;
	bool is_cut; /* there were more jobs than BARS_MAX */
	struct forecast *forecast;
};

/* ---- bars ---------------------------------------------------------------------------------------------------------- */

static struct bar *add(struct timeline *t, const struct view_job *row, int64_t from, int64_t to, const char *label)
{
	struct buf branch;
	if (t->n == BARS_MAX) {
		t->is_cut = true;
		return NULL;
	}
	struct bar *b = &t->bar[t->n++];
	*b = (struct bar){ .job = row->id, .from = from, .to = to };
	buf_init(&branch, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&branch, row->branch);
	snprintf(b->device, sizeof b->device, "%s", row->device);
	snprintf(b->label, sizeof b->label, "%s", label);
	snprintf(b->about, sizeof b->about, "J%lld, %s %.60s %.8s", (long long)row->id,
		row->kind == JOBKIND_COMPARE ? "" : jobkind_name(row->kind), branch.len ? branch.data : "", row->target);
	buf_fini(&branch);
	return b;
}

static void take_ended(void *arg, const struct view_job *row)
{
	struct timeline *t = arg;
	if (!row->started_at || !*row->device)
		return;
	struct bar *b = add(t, row, row->started_at, row->ended_at,
		row->comparison ? verdict_label(row->kind, row->verdict) : jobstate_name(row->state));
	if (b)
		b->is_done = true;
}

static void take_running(void *arg, const struct view_job *row)
{
	struct timeline *t = arg;
	if (row->started_at)
		add(t, row, row->started_at, t->now, jobstate_name(row->state));
}

static void take_waiting(void *arg, const struct view_job *row)
{
	struct timeline *t = arg;
	const char *device;
	double in_s = forecast_start_s(t->forecast, row->id, &device), usual = forecast_usual_s(t->forecast, row);
	if (in_s < 0 || usual <= 0)
		return;
	int64_t from = t->now + (int64_t)(1000 * in_s);
	struct bar *b = add(t, row, from, from + (int64_t)(1000 * usual), "expected");
	if (b) {
		b->is_expected = true;
		snprintf(b->device, sizeof b->device, "%s", device);
	}
}

static void take_device(void *arg, const struct view_device *row)
{
	struct timeline *t = arg;
	bool is_used = false;
	for (int i = 0; i < t->n && !is_used; i++)
		is_used = strcmp(t->bar[i].device, row->uuid) == 0;
	if (!is_used || t->n_lanes == BARS_MAX)
		return;
	snprintf(t->lane[t->n_lanes].device, sizeof t->lane[0].device, "%s", row->uuid);
	snprintf(t->lane[t->n_lanes++].name, sizeof t->lane[0].name, "%s", row->name);
}

/* ---- picture ------------------------------------------------------------------------------------------------------- */

struct span {
	int64_t from, to;
};

/* Compute the period: from the oldest drawn job to the last expected one, with a minimum duration and a margin. */
static struct span span_of(const struct timeline *t)
{
	struct span s = { t->now - PAST_MINUTES_MIN * HOUR_MS / 60, t->now };
	for (int i = 0; i < t->n; i++) {
		s.from = t->bar[i].from < s.from ? t->bar[i].from : s.from;
		s.to = t->bar[i].to > s.to ? t->bar[i].to : s.to;
	}
	if (s.from < t->now - PAST_HOURS_MAX * HOUR_MS)
		s.from = t->now - PAST_HOURS_MAX * HOUR_MS;
	s.to += (s.to - s.from) / 50;
	return s;
}

static double x_of(const struct span *s, int64_t at)
{
	double share = (double)(at - s->from) / (double)(s->to - s->from);
	return LEFT + (WIDTH - LEFT - RIGHT) * fmin(1, fmax(0, share));
}

static void draw_bar(struct buf *out, const struct span *s, const struct bar *b, int lane)
{
	double x = x_of(s, b->from), width = fmax(BAR_MIN, x_of(s, b->to) - x);
	const char *tone = b->is_expected ? "next" : b->is_done ? layout_tone(b->label) : "now";
	emit_format(out,
		"<a href=\"/jobs/%lld\"><rect class=%-s x=%.1f y=%d width=%.1f height=%d rx=2><title>%s, %s, %f{duration}"
		"</title></rect></a>",
		(long long)b->job, tone, fmin(x, WIDTH - RIGHT - width), lane * LANE + NAME, width, BAR, b->about, b->label,
		(double)(b->to - b->from) / 1000);
}

static void draw_lane(
	struct buf *out, const struct timeline *t, const struct span *s, int lane, const char *device, const char *name)
{
	emit_format(out, "<path class=grid d=\"M%d %dH%d\"/><text x=%d y=%d>%s</text>", LEFT, lane * LANE + NAME + BAR,
		WIDTH - RIGHT, LEFT, lane * LANE + NAME - 5, name);
	for (int i = t->n - 1; i >= 0; i--)
		if (strcmp(t->bar[i].device, device) == 0)
			draw_bar(out, s, &t->bar[i], lane);
}

static void draw_axis(struct buf *out, const struct timeline *t, const struct span *s, int height)
{
	char first[32], now[32];
	clock_format(s->from, first);
	clock_format(t->now, now);
	double x = x_of(s, t->now);
	emit_rawf(out,
		"<path class=mark d=\"M%.1f 0V%d\"/><text x=%d y=%d>%.10s %.5s</text><text text-anchor=end x=%.1f y=%d>now, %.5s UTC</text>",
		x, height - FOOT + 6, LEFT, height - 10, first, first + 11, fmax(x, WIDTH / 2.0), height - 10, now + 11);
}

static void draw(struct buf *out, const struct timeline *t)
{
	struct span s = span_of(t);
	int height = t->n_lanes * LANE + FOOT;
	emit_rawf(out,
		"<figure><figcaption>Past and expected jobs of each device; the color is the verdict, each bar links to "
		"its job</figcaption><svg class=\"chart timeline\" viewBox=\"0 0 %d %d\" role=group aria-label=\"%d jobs on %d "
		"device%s\">",
		WIDTH, height, t->n, t->n_lanes, t->n_lanes == 1 ? "" : "s");
	for (int i = 0; i < t->n_lanes; i++)
		draw_lane(out, t, &s, i, t->lane[i].device, t->lane[i].name);
	draw_axis(out, t, &s, height);
	emit_raw(out, "</svg></figure>\n");
	if (t->is_cut)
		emit_rawf(out, "<p><small>%d jobs are drawn; the list below has the older ones.</small></p>\n", BARS_MAX);
}

/* Draw the last hours up to `now_ms` and the expected jobs after it; nothing if no device had a job. Err: the database's. */
static int timeline_draw(struct db *db, struct forecast *forecast, struct buf *out, int64_t now_ms, struct fw_err *err)
{
	struct timeline *t = mem_alloc_zero(1, sizeof *t);
	t->now = now_ms;
	t->forecast = forecast;
	int result = view_running(db, BARS_MAX, take_running, t, err) ||
				     view_waiting(db, FORECAST_WAITING_MAX, take_waiting, t, err) ||
				     view_jobs_ended(db, now_ms - PAST_HOURS_MAX * HOUR_MS, BARS_MAX, take_ended, t, err) ||
				     view_devices(db, take_device, t, err)
			     ? -1
			     : 0;
	if (result == 0 && t->n_lanes)
		draw(out, t);
	free(t);
	return result;
}

/* ---- job ---- */

static void draw_progress_text(struct buf *out, const json_t *p)
{
	const char *cell = json_string_value(json_object_get(p, "cell")), *step = json_string_value(json_object_get(p, "step")),
		   *note = json_string_value(json_object_get(p, "note"));
	json_int_t run = json_integer_value(json_object_get(p, "run")), set = json_integer_value(json_object_get(p, "set"));
	if (run)
		emit_rawf(out, "run %lld%s, ", (long long)run, set == 2 ? " (confirming)" : "");
	if (step)
		emit_format(out, "%s ", strcmp(step, "time") == 0 ? "timing" : step);
	if (cell)
		emit_text(out, cell);
	if (note)
		emit_format(out, " <b class=warn>%s</b>", note);
}

/* ---- queue --------------------------------------------------------------------------------------------------------- */

enum { ROWS = 100, RUNNING_MAX = 100, QUEUE_BYTES = 16 << 20 };

struct drawing {
	struct site *site;
	struct buf *out;
	int n;
	bool more;               /* not all waiting jobs are shown */
	bool skip_open;          /* open jobs are shown above */
	struct answer_list list; /* list of ended jobs */
	struct unschedulable unschedulable;
	const char *work;
	struct forecast *forecast;
	struct buf first; /* display name of the first running job */
	int result;       /* -1: a row could not be read */
	struct fw_err *err;
};

static void draw_job_head(struct buf *out, const struct view_job *row)
{
	emit_text(out, row->repo);
	if (row->kind != JOBKIND_COMPARE)
		emit_format(out, " <span class=\"v plain\">%s</span>", jobkind_name(row->kind));
	if (*row->branch)
		emit_format(out, " <b>%s{branch}</b>", row->branch);
}

static void job_name(struct buf *out, const struct view_job *row)
{
	draw_job_head(out, row);
	emit_format(out, " %s{commit} %s", row->target, row->subject);
}

static void stage_list(struct buf *out, enum jobstate state)
{
	emit_raw(out, "<ol class=steps>");
	for (enum jobstate at = JOBSTATE_QUEUED; !jobstate_is_final(at); at++)
		emit_rawf(out, "<li class=%s>%s</li>", at < state ? "past" : at == state ? "now" : "next", jobstate_name(at));
	emit_raw(out, "</ol>");
}

/* Draw progress: the share of checks, then of the usual measuring time, since the number of runs is not known in advance. */
static void draw_progress_bar(struct buf *out, const struct view_job *row, const json_t *p, double elapsed_s, double usual)
{
	json_int_t checked = json_integer_value(json_object_get(p, "checked")),
		   checks = json_integer_value(json_object_get(p, "checks"));
	if (row->state == JOBSTATE_CHECKING && checks > 0)
		emit_rawf(out, "<progress max=%lld value=%lld aria-label=\"checks done\"></progress>", (long long)checks,
			(long long)checked);
	else if (usual > 0)
		emit_rawf(out, "<progress max=100 value=%.0f aria-label=\"share of the usual time\"></progress>",
			fmin(99, 100 * elapsed_s / usual));
	else
		emit_raw(out, "<progress aria-label=\"at work\"></progress>");
}

/* Write "measuring noor/swizzle". */
static void write_first(struct buf *out, const struct view_job *row)
{
	buf_printf(out, "%s ", jobstate_name(row->state));
	if (*row->branch)
		branch_text(out, row->branch);
	else
		buf_printf(out, "%.10s", row->target);
	if (row->kind != JOBKIND_COMPARE)
		buf_printf(out, " (%s)", jobkind_name(row->kind));
}

/* Draw the verdict of a job's comparison, its cells, and the reason. */
static int draw_outcome(struct drawing *d, int64_t comparison, int64_t job, enum jobkind kind, enum verdict verdict)
{
	struct buf *out = d->out;
	struct headline headline;
	if (reported_read(d->site->db, comparison, NULL, &headline, d->err) != 0)
		return -1;
	emit_format(out, "<a href=\"/comparisons/%lld\">%s{verdict}</a>", (long long)comparison, verdict_label(kind, verdict));
	if (verdict_is_change(verdict))
		emit_format(out, " %f{decided %d}", headline.change_pct, true);
	emit_raw(out, " ");
	reported_why(out, &headline, verdict);
	emit_raw(out, " ");
	return alarm_line(d->site->db, out, comparison, job, verdict, d->err);
}

struct last {
	struct drawing *drawing;
	const struct view_job *job;
	bool is_found;
};

/* Store the newest comparison of another push of the branch. */
static void draw_last(void *arg, const struct view_comparison *row)
{
	struct last *last = arg;
	struct drawing *d = last->drawing;
	if (last->is_found || row->kind != JOBKIND_COMPARE || strcmp(row->target, last->job->target) == 0)
		return;
	last->is_found = true;
	emit_format(d->out, "<p>Last verdict of %s{branch}: %lld{comparison} ", row->branch, (long long)row->id);
	if (draw_outcome(d, row->id, row->job, row->kind, row->verdict) != 0)
		d->result = -1;
	emit_raw(d->out, "</p>");
}

/* Draw the verdict of an earlier push of a running job's branch. */
static void draw_last_verdict(struct drawing *d, const struct view_job *row)
{
	enum { COMPARISONS_READ_MAX = 16 }; /* comparisons of other suites of this push, and with peers, are among them */
	struct view_filter of = { .repo = row->repo, .branch = row->branch, .limit = COMPARISONS_READ_MAX };
	struct last last = { .drawing = d, .job = row };
	if (*row->branch && view_comparisons(d->site->db, &of, draw_last, &last, d->err) != 0)
		d->result = -1;
}

/* Return why the daemon queued the job, in the terms of doc/glossary.md: "main has a new commit". */
static const char *cause_of(const char *origin)
{
	static const char *const words[][2] = { { "push", "a push" }, { "api", "a user's request" },
		{ "retry", "a user's retry" }, { "bisect", "a search for the commit that made a cell slower" },
		{ "baseline_period", "the beginning of a baseline period" }, { "rereference", "a new reference commit" },
		{ "environment", "a change of the environment" }, { "trend", "a step in the history" },
		{ "backfill", "a gap in the history" }, { "remeasure", "a doubtful point of the history" },
		{ "import", "imported results" }, { "idle", "an idle device" }, { "again", "runs that varied too much" },
		{ "alert", "an alert, to find its cause" }, { "off_peak", "the off-peak schedule" } };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(origin, words[i][0]) == 0)
			return words[i][1];
	return origin;
}

static void draw_compared(struct buf *out, const struct view_job *row)
{
	emit_format(out, "<dt>Measures</dt><dd>%s{commit} %s</dd><dt>Against</dt><dd>", row->target, row->subject);
	if (!*row->base)
		emit_raw(out, "a base that is not chosen yet");
	else if (strcmp(row->base, row->target) == 0)
		emit_raw(out, "itself, to learn the noise");
	else
		emit_format(out, "%s{commit}%s{? <small>*</small>}", row->base, row->base_how);
	emit_format(out, "</dd><dt>Because of</dt><dd>%s</dd>", cause_of(row->origin));
}

/* Draw cells, runs and device time so far. */
static void draw_extent(struct buf *out, const struct view_job *row, const json_t *p, double elapsed_s)
{
	json_int_t cells = json_integer_value(json_object_get(p, "cells")), open = json_integer_value(json_object_get(p, "open")),
		   runs = json_integer_value(json_object_get(p, "run"));
	double budget_s = comparison_number(p, "budget_s");
	emit_raw(out, "<dt>So far</dt><dd>");
	if (runs && cells)
		emit_rawf(out, "run %lld, %lld of %lld cells decided", (long long)runs, (long long)(cells - open),
			(long long)cells);
	else if (cells)
		emit_rawf(out, "%lld cell%s, none timed yet", (long long)cells, cells == 1 ? "" : "s");
	else if (runs)
		emit_rawf(out, "run %lld", (long long)runs);
	else
		emit_raw(out, "no cell is timed yet");
	if (budget_s > 0)
		emit_format(out, "; %f{duration} since the start, at most %f{duration} of device time", elapsed_s, budget_s);
	emit_format(out, "%s{?; suite *}</dd>", row->suite);
}

static void draw_step_of(struct drawing *d, const struct view_job *row)
{
	struct buf *out = d->out;
	long long next = (long long)forecast_next(d->forecast, row->device);
	emit_raw(out, "<dt>Next</dt><dd>");
	emit_raw(out, row->kind == JOBKIND_PROFILE ? "the cause at its alert" : "its verdict here");
	if (*row->branch)
		emit_format(out, " and at <a href=\"/branches?repo=%s&amp;branch=%s\">%s{branch}</a>", row->repo, row->branch,
			row->branch);
	emit_format(out, "%lld{?, then J*}</dd><dt>What to do</dt><dd>nothing%-s; Cancel ends it without a result</dd></dl>",
		next, *row->branch ? ", a newer push of the branch starts after it" : "");
}

static void draw_running_card(void *arg, const struct view_job *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	char id[24];
	json_t *p = *row->progress ? json_loads(row->progress, 0, NULL) : NULL;
	double elapsed_s = row->started_at ? (double)(clock_utc_ms() - row->started_at) / 1000 : 0,
	       usual = forecast_usual_s(d->forecast, row);
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	if (d->n++ == 0)
		write_first(&d->first, row);
	emit_format(out, "<section class=card><h3>%lld{job} %s{verdict}</h3><p>", (long long)row->id, jobstate_name(row->state));
	draw_job_head(out, row);
	emit_raw(out, "</p>");
	stage_list(out, row->state);
	draw_progress_bar(out, row, p, elapsed_s, usual);
	emit_raw(out, "<p><small>");
	draw_progress_text(out, p);
	emit_format(out, "<br>running for %f{duration}", elapsed_s);
	if (usual > 0) {
		emit_format(out, "%-s%f{duration}",
			elapsed_s > 1.5 * usual ? ", <b class=warn>! longer than usual</b>, which is " : "; similar jobs take ",
			usual);
		if (elapsed_s < usual)
			emit_format(out, ", so the verdict comes in about %f{duration}", usual - elapsed_s);
	} else {
		emit_raw(out, "; no similar job has ended yet");
	}
	emit_raw(out, "</small></p><dl class=facts>");
	draw_compared(out, row);
	draw_extent(out, row, p, elapsed_s);
	draw_step_of(d, row);
	draw_last_verdict(d, row);
	layout_button(out, "jobs", id, "cancel", "Cancel");
	emit_raw(out, "</section>\n");
	json_decref(p);
}

/* Draw why a job waits: its stored reason, or the jobs before it on its expected device. */
static void draw_reason(struct drawing *d, const struct view_job *row, const char *unschedulable)
{
	const char *why = *unschedulable    ? unschedulable
			  : *row->state_why ? row->state_why
					    : unschedulable_hold(&d->unschedulable);
	emit_raw(d->out, "<span class=why>");
	struct forecast_behind behind;
	if (*why)
		emit_text(d->out, why);
	else if (!forecast_behind(d->forecast, row->id, &behind))
		emit_raw(d->out, "waits for a device");
	else if (behind.job)
		emit_format(
			d->out, "waits for its device, behind %lld{job} (%s)", (long long)behind.job, jobkind_name(behind.kind));
	else
		emit_raw(d->out, behind.queued ? "waits for its device" : "starts next");
	if (!*why && forecast_behind(d->forecast, row->id, &behind) && behind.queued)
		emit_format(d->out, " and %d queued job%-s", behind.queued, behind.queued == 1 ? "" : "s");
	emit_raw(d->out, "</span>");
}

static void waiting_line(void *arg, const struct view_job *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	char id[24];
	const char *unschedulable = unschedulable_of(&d->unschedulable, row->id), *device;
	if (d->n == FORECAST_WAITING_MAX) {
		d->more = true;
		return;
	}
	double in_s = forecast_start_s(d->forecast, row->id, &device);
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	emit_format(out, "<tr><td class=\"n w\">%d</td><th scope=row>%lld{job}</th><td>", ++d->n, (long long)row->id);
	job_name(out, row);
	draw_reason(d, row, unschedulable);
	emit_format(out, "</td><td class=w>%lld{time}</td><td class=n>", (long long)row->queued_at);
	if (in_s >= 0) {
		emit_raw(out, in_s < 1 ? "next" : "about ");
		if (in_s >= 1)
			layout_duration(out, in_s);
	} else if (forecast_is_late(d->forecast, row->id)) {
		emit_rawf(out, "<span class=words>%sthe running job is late</span>", d->n == 1 ? "next; " : "unknown: ");
	} else {
		emit_raw(out, "\u2013");
	}
	emit_raw(out, "</td><td>");
	layout_button(out, "jobs", id, "cancel", "Cancel");
	emit_raw(out, "</td></tr>\n");
}

static bool is_wanted(const struct drawing *d, const struct view_job *row)
{
	if (d->skip_open && !jobstate_is_final(row->state))
		return false;
	return strcmp(d->work, WORK_ALL) == 0 || jobkind_is_upkeep(row->kind) == (strcmp(d->work, WORK_UPKEEP) == 0);
}

static void ended_line(void *arg, const struct view_job *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	if (!is_wanted(d, row)) {
		answer_list_pass(&d->list, row->id);
		return;
	}
	if (!answer_list_take(&d->list, row->id, 0, NULL) || d->result != 0)
		return;
	emit_format(out, "<tr><th scope=row>%lld{job}</th><td class=w>%s{verdict}</td><td>", (long long)row->id,
		jobstate_name(row->state));
	if (row->comparison)
		d->result = draw_outcome(d, row->comparison, row->id, row->kind, row->verdict);
	else
		emit_format(out, "%s{verdict}<span class=why>%s</span>", jobstate_name(row->state), row->state_why);
	emit_raw(out, "</td><td><span class=commit>");
	job_name(out, row);
	emit_format(out, "</span></td><td class=w>%s</td><td class=\"n w\">", row->suite);
	if (row->started_at && row->ended_at)
		layout_duration(out, (double)(row->ended_at - row->started_at) / 1000);
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)(row->ended_at ? row->ended_at : row->queued_at));
}

static int draw_running(struct drawing *d, struct fw_err *err)
{
	emit_raw(d->out, "<h2>Running</h2><div class=cards>");
	if (view_running(d->site->db, RUNNING_MAX, draw_running_card, d, err) != 0 || d->result != 0)
		return -1;
	emit_raw(d->out, "</div>");
	if (d->n == 0)
		layout_empty(d->out, "good", "No running job.",
			forecast_is_idle(d->forecast) ? "The next push of a watched branch starts at once." : NULL);
	return 0;
}

static int draw_waiting(struct drawing *d, struct fw_err *err)
{
	struct buf *page = d->out, rows;
	buf_init(&rows, 4 << 20);
	d->n = 0;
	d->out = &rows;
	int result = view_waiting(d->site->db, FORECAST_WAITING_MAX + 1, waiting_line, d, err);
	d->out = page;
	if (d->n) {
		emit_raw(page, "<h2>Waiting</h2>");
		layout_table(page, "~>Position|Job|For|~Queued|>Starts in|");
		buf_append(page, rows.data, rows.len);
		layout_table_end(page);
	}
	if (d->more)
		emit_rawf(page, "<p>The first %d; more are queued.</p>\n", FORECAST_WAITING_MAX);
	buf_fini(&rows);
	return result;
}

/* Draw missing workers, then running and queued jobs. */
static int draw_queue(struct drawing *d, struct fw_err *err)
{
	int64_t now = clock_utc_ms();
	int result = -1;
	page_worker_banners(d->site, d->out);
	d->forecast = forecast_new(&d->unschedulable, now, err);
	if (d->forecast && timeline_draw(d->site->db, d->forecast, d->out, now, err) == 0 && draw_running(d, err) == 0)
		result = draw_waiting(d, err);
	forecast_free(d->forecast);
	return result;
}

static int draw_ended(struct drawing *d, struct http_request *r, const char *state, int64_t before, struct fw_err *err)
{
	int result;
	d->list.limit = ROWS;
	d->list.rows = ROWS + 1;
	layout_table(d->out, "Job|~State|Outcome|For|~Suite|~>Took|~Ended");
	do {
		result = view_jobs(d->site->db, state, before, d->list.rows, ended_line, d, err);
		result = result != 0 ? result : d->result;
	} while (result == 0 && answer_list_more(&d->list, &before));
	layout_table_end(d->out);
	if (d->list.n == 0)
		layout_empty(d->out, "", "No job here.", NULL);
	layout_older(d->out, r, d->list.more || d->list.cut, 1, d->list.more ? d->list.last : d->list.seen);
	return result;
}

/* Draw the tabs: jobs of users, and jobs that the daemon queued itself, among them most off-peak jobs. */
static void draw_work_tabs(struct buf *out, const char *work, const char *state)
{
	static const char *const tabs[][2] = { { WORK_REQUESTED, "pushes and requests" },
		{ WORK_UPKEEP, "peers, calibration, history" }, { WORK_ALL, "all" } };
	emit_raw(out, "<nav class=tabs aria-label=\"Jobs by origin\">");
	for (size_t i = 0; i < sizeof tabs / sizeof tabs[0]; i++)
		emit_rawf(out, "<a href=\"/jobs?work=%s%s%s\"%s>%s</a>", tabs[i][0], state ? "&amp;state=" : "",
			state ? state : "", strcmp(work, tabs[i][0]) == 0 ? " aria-current=true" : "", tabs[i][1]);
	emit_raw(out, "</nav>\n");
}

struct queue_size {
	int running, waiting;
};

static void count_jobs(void *arg, const char *what, const char *state, int64_t n)
{
	struct queue_size *size = arg;
	enum jobstate one = jobstate_from_name(state);
	if (strcmp(what, "jobs") == 0 && one == JOBSTATE_QUEUED)
		size->waiting += (int)n;
	else if (strcmp(what, "jobs") == 0 && !jobstate_is_final(one))
		size->running += (int)n;
}

/* Write "Queue: measuring noor/swizzle, 2 jobs wait". */
static int write_queue_title(struct drawing *d, const char *state, struct buf *title, struct fw_err *err)
{
	struct queue_size n = { .running = 0 };
	if (state) {
		buf_printf(title, "Jobs in state %s", state);
		return 0;
	}
	if (view_counts(d->site->db, count_jobs, &n, err) != 0)
		return -1;
	if (n.running == 1 && d->first.len)
		buf_printf(title, "Queue: %s", d->first.data);
	else if (n.running)
		buf_printf(title, "Queue: %d job%s running", n.running, n.running == 1 ? "" : "s");
	else
		buf_puts(title, "Queue: idle");
	if (n.waiting)
		buf_printf(title, ", %d job%s", n.waiting, n.waiting == 1 ? " waits" : "s wait");
	return 0;
}

int page_jobs(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct drawing d = { .site = site, .unschedulable = { .site = site }, .err = err };
	const char *state, *work;
	int64_t before;
	if (answer_choice(r, "state", answer_job_states(), &state, err) != 0 ||
		answer_choice(r, "work", WORK_WORDS, &work, err) != 0 || answer_cursor(r, &before, err) != 0)
		return -1;
	d.work = work ? work : WORK_REQUESTED;
	bool is_whole = !state && !before;
	struct buf queue, title;
	buf_init(&queue, QUEUE_BYTES);
	buf_init(&title, FINDING_BYTES);
	buf_init(&d.first, FINDING_BYTES);
	d.out = &queue;
	int result = is_whole ? draw_queue(&d, err) : 0;
	d.out = &response->body;
	if (result == 0)
		result = write_queue_title(&d, state, &title, err);
	layout_begin(response, title.len ? title.data : "Queue", "jobs", "job.");
	emit_raw(d.out, "<noscript><p><small>This page does not refresh by itself without scripts.</small></p></noscript>");
	layout_live(d.out, "queue", "The queue changed");
	d.skip_open = is_whole;
	buf_append(d.out, queue.data, queue.len);
	d.out->failed |= queue.failed || title.failed || d.first.failed;
	buf_fini(&d.first);
	buf_fini(&title);
	buf_fini(&queue);
	if (result == 0) {
		emit_format(d.out, "<h2>%s</h2>", state ? state : "Recent");
		draw_work_tabs(d.out, d.work, state);
		result = draw_ended(&d, r, state, before, err);
	}
	emit_raw(d.out, "</div>");
	unschedulable_fini(&d.unschedulable);
	return layout_end(response, "/api/v1/jobs", result);
}

/* ---- page of a job ------------------------------------------------------------------------------------------------- */

enum { LOG_LINES = 2000, LOG_BYTES = 4 << 20, BUILD_LOG_BYTES = 32768 }; /* shown; a link leads to the whole text */

struct job_page {
	struct unschedulable unschedulable;
	struct http_response *response;
	struct buf *out;                                       /* its body */
	int64_t comparison, profile_alert, profile_comparison; /* the job's; those that a profile explains; 0: none */
	char profile_answer[1024];                             /* the profile's first cause as a sentence */
	bool is_open;                                          /* the job has not ended */
	struct view_repeat repeat;                             /* of its comparison */
	const char *side;
	int result;
	struct fw_err *err;
};

static void draw_fact(struct buf *out, const char *name, const char *value)
{
	if (*value)
		emit_format(out, "<dt>%s</dt><dd>%s</dd>", name, value);
}

static void draw_moment(struct buf *out, const char *name, int64_t at)
{
	if (at)
		emit_format(out, "<dt>%-s</dt><dd>%lld{time}</dd>", name, (long long)at);
}

static void take_profile(void *arg, const struct view_profile *row)
{
	struct job_page *page = arg;
	page->profile_alert = row->alert;
	page->profile_comparison = row->comparison;
	snprintf(page->profile_answer, sizeof page->profile_answer, "%s", row->sentence);
}

/* Write the object of the job in plain text: its branch, or the subject of its commit. */
static void write_object(struct buf *out, const struct job_page *page, const struct view_job *row)
{
	if (row->kind == JOBKIND_PROFILE && page->profile_alert)
		buf_printf(out, "A%lld", (long long)page->profile_alert);
	else if (row->kind == JOBKIND_PROFILE && page->profile_comparison)
		buf_printf(out, "C%lld", (long long)page->profile_comparison);
	else if (*row->branch)
		branch_text(out, row->branch);
	else
		buf_printf(out, "%.60s", *row->target_name ? row->target_name : *row->subject ? row->subject : row->target);
	if (row->kind != JOBKIND_COMPARE && row->kind != JOBKIND_PROFILE)
		buf_printf(out, " (%s)", jobkind_name(row->kind));
}

/* Write "ada/three-stages is 4.0 % slower in 6 of 20 cells", or for a job without a result its state and reason. */
static void write_title(struct buf *out, const struct job_page *page, const struct view_job *row, const struct outcome *outcome)
{
	bool is_profile = row->kind == JOBKIND_PROFILE;
	struct buf object;
	buf_init(&object, FINDING_BYTES);
	write_object(&object, page, row);
	if (outcome)
		outcome_sentence(out, object.data, outcome);
	else if (row->state == JOBSTATE_DONE || row->state == JOBSTATE_MEASURING)
		buf_printf(out, "%s %s",
			is_profile                    ? row->state == JOBSTATE_DONE ? "Profiled" : "Profiling"
			: row->state == JOBSTATE_DONE ? "Measured"
						      : "Measuring",
			object.data);
	else if (row->state == JOBSTATE_QUEUED)
		buf_printf(out, "%s %s", object.data, is_profile ? "waits for its profile" : "waits to be measured");
	else if (jobstate_is_final(row->state))
		buf_printf(out, "%s was not %s: %.100s", object.data, is_profile ? "profiled" : "measured",
			*row->state_why ? row->state_why : jobstate_name(row->state));
	else
		buf_printf(out, "%s: %s", object.data, jobstate_name(row->state));
	out->failed |= object.failed;
	buf_fini(&object);
}

/* Draw why a job ended without a result, and the next step. */
static void draw_failure(struct buf *out, const struct view_job *row)
{
	if (row->state == JOBSTATE_FAILED) {
		step_draw_failure(out, row->kind, row->id, row->state_why);
		emit_format(out, "<p>No result is stored%s{? of suite *}: %s{commit} %s", row->suite, row->target, row->subject);
		if (*row->base && strcmp(row->base, row->target) != 0)
			emit_format(out, ", against %s{commit}", row->base);
		emit_raw(out, ".</p>\n");
		return;
	}
	emit_format(out, "<div class=\"card alarm\"><div>%s{verdict}%s{?<span class=why>Why: *</span>}",
		jobstate_name(row->state), row->state_why);
	if (row->state == JOBSTATE_TARGET_MISSING)
		emit_raw(
			out, "<span class=why>What to do: nothing, unless the commit is still wanted: then push it again</span>");
	else if (row->state == JOBSTATE_SUPERSEDED)
		emit_format(out,
			"<span class=why>What to do: nothing, <a href=\"/branches?repo=%s&amp;branch=%s\">the branch</a> has a newer "
			"push</span>",
			row->repo, row->branch);
	else if (!*row->state_why)
		emit_raw(out, "<span class=why>What to do: measure again, if its result is still needed</span>");
	emit_raw(out, "</div></div>\n");
}

/* Draw the alert or comparison that a profile explains, and its answer. */
static void draw_explained(struct buf *out, const struct job_page *page)
{
	if (page->profile_alert)
		emit_format(out, " explains %lld{alert}", (long long)page->profile_alert);
	if (page->profile_comparison)
		emit_format(out, "%-s %lld{comparison}", page->profile_alert ? "," : " explains",
			(long long)page->profile_comparison);
	emit_format(out, "%s{?: *}", page->profile_answer);
}

/* Draw the state and the duration of the job, and the progress of an open one. */
static void draw_job_lead(struct buf *out, struct job_page *page, const struct view_job *row, const char *unschedulable)
{
	bool is_final = jobstate_is_final(row->state);
	emit_format(out, "<p class=lead>%s{verdict} J%lld", jobstate_name(row->state), (long long)row->id);
	if (row->state == JOBSTATE_DONE && row->started_at && row->ended_at)
		emit_format(out, " took %f{duration}", (double)(row->ended_at - row->started_at) / 1000);
	if (!is_final)
		emit_format(out, " %s%s{? <b class=warn>*</b>}",
			*row->state_why || row->state != JOBSTATE_QUEUED ? row->state_why
									 : unschedulable_hold(&page->unschedulable),
			unschedulable);
	draw_explained(out, page);
	emit_raw(out, "</p>");
	if (is_final)
		return;
	json_t *p = *row->progress ? json_loads(row->progress, 0, NULL) : NULL;
	stage_list(out, row->state);
	emit_raw(out, "<p><small>");
	draw_progress_text(out, p);
	emit_raw(out, "</small></p>");
	json_decref(p);
}

/* Draw the title, and the box below it. */
static int draw_finding(struct job_page *page, const struct view_job *row)
{
	struct buf *out = page->out, title;
	struct outcome outcome;
	const char *unschedulable = row->state == JOBSTATE_QUEUED ? unschedulable_of(&page->unschedulable, row->id) : "";
	if (row->comparison && outcome_read(page->unschedulable.site->db, row->comparison, &outcome, page->err) != 0) {
		outcome_fini(&outcome);
		return -1;
	}
	outcome.headline.is_quick = row->quick;
	buf_init(&title, FINDING_BYTES + 512);
	write_title(&title, page, row, row->comparison ? &outcome : NULL);
	layout_begin(page->response, title.data, "jobs", "job.");
	out->failed |= title.failed;
	buf_fini(&title);
	layout_live(out, "job", jobstate_name(row->state));
	if (row->comparison) {
		outcome_draw(out, &outcome);
		page->repeat = outcome.repeat;
		outcome_fini(&outcome);
	} else if (jobstate_is_final(row->state) && row->state != JOBSTATE_DONE) {
		draw_failure(out, row);
	}
	draw_job_lead(out, page, row, unschedulable);
	return 0;
}

static void draw_job_facts(void *arg, const struct view_job *row)
{
	struct job_page *page = arg;
	struct buf *out = page->out;
	char id[24];
	bool is_open = !jobstate_is_final(row->state);
	snprintf(id, sizeof id, "%lld", (long long)row->id);
	page->comparison = row->comparison;
	page->is_open = is_open;
	if ((row->kind == JOBKIND_PROFILE &&
		    view_profile_of_job(page->unschedulable.site->db, row->id, take_profile, page, page->err) < 0) ||
		draw_finding(page, row) != 0) {
		page->result = -1;
		return;
	}
	emit_raw(out, "<div class=row>");
	if (is_open)
		layout_button(out, "jobs", id, "cancel", "Cancel");
	else if (page->repeat.job)
		step_draw_repeat(out, &page->repeat);
	else if (row->kind != JOBKIND_PROFILE) /* the page of its alert or comparison requests a profile again */
		layout_button(out, "jobs", id, "retry", "Measure again");
	emit_raw(out, "</div><dl class=\"facts card\">");
	draw_fact(out, "Repository", row->repo);
	if (*row->branch)
		emit_format(out, "<dt>Branch</dt><dd><a href=\"/branches?repo=%s&amp;branch=%s\">%s{branch}</a></dd>", row->repo,
			row->branch, row->branch);
	emit_format(out, "<dt>Target</dt><dd>%s{commit} %s</dd><dt>Base</dt><dd>", row->target, row->subject);
	if (*row->base)
		layout_commit(out, row->base);
	emit_format(out, " %s</dd>", *row->base ? row->base_how : "\u2013 not resolved yet");
	draw_fact(out, "Suite", row->suite);
	draw_fact(out, "Device", row->device);
	draw_fact(out, "Origin", row->origin);
	if (row->attempt)
		emit_rawf(out, "<dt>Attempt</dt><dd>%d</dd>", row->attempt);
	draw_moment(out, "Queued", row->queued_at);
	draw_moment(out, "Started", row->started_at);
	draw_moment(out, "Ended", row->ended_at);
	draw_moment(out, "Retry", row->again_at);
	if (row->again_of)
		emit_format(out, "<dt>Retry of</dt><dd>%lld{job}: its runs varied too much</dd>", (long long)row->again_of);
	emit_rawf(out,
		"<dt>Data</dt><dd><a href=\"/api/v1/jobs/%s\">JSON</a>, <a href=\"/api/v1/jobs/%s/log\">log with "
		"builds</a></dd></dl></div>\n",
		id, id);
}

static void log_line(void *arg, int64_t id, int64_t at, const char *line)
{
	(void)id;
	struct buf *out = arg;
	char text[32];
	clock_format(at, text);
	emit_format(out, "%-.8s  %s\n", text + 11, line);
}

/* Draw the log, also an empty one of an open job: static/live.js appends new lines. */
static int draw_log(struct site *site, struct job_page *page, int64_t id, struct fw_err *err)
{
	struct buf *out = page->out, lines;
	buf_init(&lines, LOG_BYTES);
	int result = view_log(site->db, id, 0, LOG_LINES, log_line, &lines, err);
	layout_live(out, "log", NULL);
	if (lines.len) {
		emit_raw(out, "<h2>Log</h2><pre class=log tabindex=0>");
		buf_append(out, lines.data, lines.len);
		emit_raw(out, "</pre>");
	} else if (page->is_open) {
		emit_raw(out, "<h2>Log</h2><p class=dim>Empty: the worker has not reported a line yet.</p>");
	}
	emit_raw(out, "</div>\n");
	out->failed |= lines.failed;
	buf_fini(&lines);
	return result;
}

/* Draw the end of a build's log, which contains the error; folded if the build succeeded. */
static void draw_build_section(void *arg, const struct view_build *row)
{
	struct job_page *page = arg;
	struct buf *out = page->out, tail;
	size_t shown = row->log_len < BUILD_LOG_BYTES ? row->log_len : BUILD_LOG_BYTES;
	buf_init(&tail, BUILD_LOG_BYTES);
	buf_append(&tail, (const char *)row->log + (row->log_len - shown), shown);
	for (size_t i = 0; i < tail.len; i++)
		if (tail.data[i] == '\0')
			tail.data[i] = '?';
	bool is_good = strcmp(row->state, "ok") == 0;
	emit_format(out,
		"<details id=build-%-s%-s><summary>Build of %-s: %s{verdict} %.1f s, %s %s</summary><pre class=log tabindex=0>%s</pre>"
		"</details>\n",
		page->side, is_good ? "" : " open", page->side, row->state, (double)row->duration_ms / 1000, row->toolchain,
		row->detail, tail.data ? tail.data : "");
	buf_fini(&tail);
}

static int draw_builds(struct site *site, struct job_page *page, struct fw_err *err)
{
	static const char *const sides[] = { "base", "target" };
	for (int i = 0; page->comparison && i < 2; i++) {
		struct fw_err why = { 0 };
		page->side = sides[i];
		/* a side without a build has no log */
		if (view_build(site->db, page->comparison, sides[i], draw_build_section, page, &why) != 0 &&
			why.code != ERR_NOT_FOUND)
			return err_set(err, why.code, "%s", why.text);
	}
	return 0;
}

int page_job(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "job", err);
	struct job_page page = {
		.unschedulable = { .site = site, .job = id }, .response = response, .out = &response->body, .err = err
	};
	char data[64];
	if (id < 0)
		return -1;
	snprintf(data, sizeof data, "/api/v1/jobs/%lld", (long long)id);
	int result = view_job(site->db, id, draw_job_facts, &page, err) != 0 ? -1 : page.result;
	unschedulable_fini(&page.unschedulable);
	if (result == 0)
		result = draw_log(site, &page, id, err);
	if (result == 0)
		result = draw_builds(site, &page, err);
	return layout_end(response, data, result);
}
