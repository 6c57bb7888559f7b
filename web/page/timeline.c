#include "web/page/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"
#include "web/html/html.h"

enum { BARS_MAX = 300, WIDTH = 960, LEFT = 8, RIGHT = 8, LANE = 52, NAME = 28, BAR = 18, FOOT = 40 };
#define HOUR_MS INT64_C(3600000)
enum { PAST_HOURS_MAX = 24, PAST_MINUTES_MIN = 15 };
#define BAR_MIN 3.0 /* that a short job is still seen */

struct bar {
	int64_t job, from, to; /* ms UTC */
	bool is_done, is_expected;
	char device[64], word[24], about[160];
};

struct lane {
	char device[64], name[128];
};

struct timeline {
	int64_t now;
	struct bar bar[BARS_MAX];
	struct lane lane[BARS_MAX]; /* devices that have a bar */
	int n, n_lanes;
	bool is_cut; /* there were more jobs than room */
	struct forecast *forecast;
};

/* ---- bars ------------------------------------------------------------------------------------------------------------- */

static struct bar *add(struct timeline *t, const struct view_job *row, int64_t from, int64_t to, const char *word)
{
	struct buf branch;
	if (t->n == BARS_MAX) {
		t->is_cut = true;
		return NULL;
	}
	struct bar *b = &t->bar[t->n++];
	*b = (struct bar){ .job = row->id, .from = from, .to = to };
	buf_init(&branch, 16 * BRANCH_KEY_MAX);
	branch_text(&branch, row->branch);
	snprintf(b->device, sizeof b->device, "%s", row->device);
	snprintf(b->word, sizeof b->word, "%s", word);
	snprintf(b->about, sizeof b->about, "job %lld, %s %.60s %.8s", (long long)row->id,
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
		row->comparison ? verdict_word(row->kind, row->verdict) : jobstate_name(row->state));
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

/* ---- the picture ------------------------------------------------------------------------------------------------------ */

struct span {
	int64_t from, to;
};

/* From the oldest job that is drawn to the last that is expected, and some room around a quiet hour. */
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
	const char *tone = b->is_expected ? "next" : b->is_done ? layout_tone(b->word) : "now";
	emit_rawf(out, "<a href=\"/jobs/%lld\"><rect class=%s x=%.1f y=%d width=%.1f height=%d rx=2><title>", (long long)b->job,
		tone, fmin(x, WIDTH - RIGHT - width), lane * LANE + NAME, width, BAR);
	emit_text(out, b->about);
	emit_rawf(out, ", %s, ", b->word);
	layout_duration(out, (double)(b->to - b->from) / 1000);
	emit_raw(out, "</title></rect></a>");
}

static void draw_lane(
	struct buf *out, const struct timeline *t, const struct span *s, int lane, const char *device, const char *name)
{
	emit_rawf(out, "<path class=grid d=\"M%d %dH%d\"/><text x=%d y=%d>", LEFT, lane * LANE + NAME + BAR, WIDTH - RIGHT, LEFT,
		lane * LANE + NAME - 5);
	emit_text(out, name);
	emit_raw(out, "</text>");
	for (int i = t->n - 1; i >= 0; i--)
		if (strcmp(t->bar[i].device, device) == 0)
			draw_bar(out, s, &t->bar[i], lane);
}

static void axis(struct buf *out, const struct timeline *t, const struct span *s, int height)
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
	axis(out, t, &s, height);
	emit_raw(out, "</svg></figure>\n");
	if (t->is_cut)
		emit_rawf(out, "<p><small>%d jobs are drawn; the list below has the older ones.</small></p>\n", BARS_MAX);
}

int timeline_draw(struct db *db, struct forecast *forecast, struct buf *out, int64_t now_ms, struct fw_err *err)
{
	struct timeline *t = calloc(1, sizeof *t);
	if (!t)
		return err_set(err, ERR_INTERNAL, "out of memory");
	t->now = now_ms;
	t->forecast = forecast;
	int result = view_running(db, BARS_MAX, take_running, t, err);
	if (result == 0)
		result = view_waiting(db, FORECAST_WAITING_MAX, take_waiting, t, err);
	if (result == 0)
		result = view_jobs_ended(db, now_ms - PAST_HOURS_MAX * HOUR_MS, BARS_MAX, take_ended, t, err);
	if (result == 0)
		result = view_devices(db, take_device, t, err);
	if (result == 0 && t->n_lanes)
		draw(out, t);
	free(t);
	return result;
}
