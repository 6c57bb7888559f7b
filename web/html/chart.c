#include "web/html/html.h"

#include <math.h>

enum { WIDTH = 960, HEIGHT = 320, LEFT = 84, RIGHT = 16, TOP = 16, BOTTOM = 60 };
enum { COMMITS_NAMED = 6, COMMIT_WIDTH = 56 };

struct scale {
	double low, high;
	int64_t first_at, last_at;
	int before, aligned, longest; /* pushes on the axis: before the first line, up to its end, in all */
	bool by_date;
};

/* A step of 1, 2 or 5 times a power of ten that divides `span` into about four. */
static double tick_step(double span)
{
	double raw = span / 4, power = pow(10, floor(log10(raw)));
	double lead = raw / power;
	return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static double x_at(const struct scale *s, int64_t at)
{
	double span = (double)(s->last_at - s->first_at);
	return span > 0 ? LEFT + (WIDTH - LEFT - RIGHT) * (double)(at - s->first_at) / span : (LEFT + WIDTH - RIGHT) / 2.0;
}

/* On an axis of pushes, a branch begins behind the point that it leaves from; other lines end with the first line. */
static double x_of(const struct scale *s, const struct chart_line *line, int i)
{
	if (s->by_date)
		return x_at(s, line->point[i].at);
	int position = (line->after ? s->before + line->after : s->aligned - line->n) + i;
	return s->longest < 2 ? (LEFT + WIDTH - RIGHT) / 2.0
			      : LEFT + (double)(WIDTH - LEFT - RIGHT) * position / (s->longest - 1);
}

static double y_of(const struct scale *s, double v)
{
	return TOP + (HEIGHT - TOP - BOTTOM) * (s->high - v) / (s->high - s->low);
}

static struct scale scale_of(const struct chart *chart)
{
	struct scale s = {
		.low = INFINITY, .high = -INFINITY, .first_at = INT64_MAX, .last_at = INT64_MIN, .by_date = chart->by_date
	};
	for (int l = 0; l < chart->n_lines; l++) {
		const struct chart_line *line = &chart->line[l];
		if (!line->after && line->n > s.aligned)
			s.aligned = line->n;
		for (int i = 0; i < line->n; i++) {
			const struct chart_point *p = &line->point[i];
			if (isfinite(p->y)) {
				s.low = fmin(s.low, isfinite(p->low) ? p->low : p->y);
				s.high = fmax(s.high, isfinite(p->high) ? p->high : p->y);
			}
			s.first_at = p->at < s.first_at ? p->at : s.first_at;
			s.last_at = p->at > s.last_at ? p->at : s.last_at;
		}
	}
	s.before = s.aligned - chart->line[0].n;
	s.longest = s.aligned;
	for (int l = 0; l < chart->n_lines; l++) {
		const struct chart_line *line = &chart->line[l];
		if (line->after && s.before + line->after + line->n > s.longest)
			s.longest = s.before + line->after + line->n;
	}
	if (isfinite(s.low) && chart->has_limit) {
		s.low = fmin(s.low, fmin(chart->slower_y, chart->faster_y));
		s.high = fmax(s.high, fmax(chart->slower_y, chart->faster_y));
	}
	/* a flat series has a visible band of 1 %, so that rounding is not magnified */
	double pad = fmax((s.high - s.low) * 0.12, fmax(fabs(s.high), fabs(s.low)) * 0.005 + 1e-12);
	s.low -= pad;
	s.high += pad;
	return s;
}

/* The first and the last date below the axis, or one date where they are equal. */
static void name_dates(struct buf *out, const struct scale *s)
{
	char first[32], last[32];
	clock_format(s->first_at, first);
	clock_format(s->last_at, last);
	emit_format(out, "<text x=\"%d\" y=\"%d\">%-.10s</text>", LEFT, HEIGHT - BOTTOM + 24, first);
	if (strncmp(first, last, 10) != 0)
		emit_format(
			out, "<text class=\"tick\" x=\"%d\" y=\"%d\">%-.10s</text>", WIDTH - RIGHT, HEIGHT - BOTTOM + 24, last);
}

/* Some commits of the first line below the axis, with the same distance. */
static void name_commits(struct buf *out, const struct scale *s, const struct chart_line *line)
{
	int n = line->n < COMMITS_NAMED ? line->n : COMMITS_NAMED;
	for (int k = 0; k < n; k++) {
		int i = n > 1 ? k * (line->n - 1) / (n - 1) : 0;
		double x = x_of(s, line, i), most = WIDTH - RIGHT - COMMIT_WIDTH / 2;
		char commit[8];
		snprintf(commit, sizeof commit, "%.7s", line->point[i].label);
		emit_format(out, "<text text-anchor=\"middle\" x=\"%.0f\" y=\"%d\">%s</text>", x < most ? x : most,
			HEIGHT - BOTTOM + 24, commit);
	}
}

static void axes(struct buf *out, const struct scale *s, const struct chart *chart)
{
	double step = tick_step(s->high - s->low);
	int digits = step >= 1 ? 0 : (int)fmin(9, ceil(-log10(step)));
	double first_tick = ceil(s->low / step) * step;
	for (int i = 0; first_tick + i * step <= s->high; i++) {
		double t = first_tick + i * step;
		emit_rawf(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" y=\"%.1f\">%.*f</text>",
			LEFT, y_of(s, t), WIDTH - RIGHT, LEFT - 8, y_of(s, t) + 4, digits, fabs(t) < step / 1e6 ? 0 : t);
	}
	if (s->by_date)
		name_dates(out, s);
	else
		name_commits(out, s, &chart->line[0]);
	emit_format(out, "<text text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s%s%-s", (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8,
		chart->unit, s->by_date ? ", by date" : ", one step a push",
		s->low > 0 || s->high < 0 ? "; the axis does not start at 0</text>" : "</text>");
}

/* The band within which a push is unchanged, with its lower edge as a line. */
static void limit(struct buf *out, const struct scale *s, const struct chart *chart)
{
	double slower = y_of(s, chart->slower_y), faster = y_of(s, chart->faster_y);
	if (!chart->has_limit)
		return;
	emit_rawf(out,
		"<rect class=\"within\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/><path class=\"limit\" d=\"M%d %.1fH%d\"/>"
		"<text x=\"%d\" y=\"%.1f\">threshold</text>",
		LEFT, fmin(slower, faster), WIDTH - LEFT - RIGHT, fabs(slower - faster), LEFT, slower, WIDTH - RIGHT, LEFT + 4,
		slower + (slower < faster ? -5 : 14));
}

/* The interval of every point as a ribbon, which has a gap where the line has one. */
static void band(struct buf *out, const struct scale *s, const struct chart_line *line)
{
	for (int i = 0; i < line->n;) {
		int end = i;
		while (end < line->n && isfinite(line->point[end].y) && isfinite(line->point[end].low))
			end++;
		if (end - i > 1) {
			emit_raw(out, "<path class=\"band\" d=\"");
			for (int k = i; k < end; k++)
				emit_rawf(out, "%c%.1f %.1f", k == i ? 'M' : 'L', x_of(s, line, k), y_of(s, line->point[k].high));
			for (int k = end - 1; k >= i; k--)
				emit_rawf(out, "L%.1f %.1f", x_of(s, line, k), y_of(s, line->point[k].low));
			emit_raw(out, "z\"/>");
		}
		i = end > i ? end : i + 1;
	}
}

/* A point with its label: shown by the page while the point has the pointer or the focus, else a title. */
static void draw_point(struct buf *out, const struct scale *s, const struct chart_line *line, int i, int index, bool is_file)
{
	const struct chart_point *p = &line->point[i];
	double x = x_of(s, line, i), y = y_of(s, p->y);
	const char *shape = p->is_slower ? "path" : "circle";
	if (p->comparison)
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)p->comparison);
	if (p->is_slower)
		emit_rawf(out, "<path class=\"loss\" d=\"M%.1f %.1fl7 -11h-14z\"", x, y + 5);
	else
		emit_rawf(out,
			is_file ? "<circle class=\"dot d%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\""
				: "<circle class=\"dot d%d\" cx=%.1f cy=%.1f ",
			index, x, y);
	if (p->comparison && !is_file)
		emit_format(out, "/><text class=tip>%s</text></a>", p->label);
	else
		emit_format(out, "><title>%s</title></%-s>%-s", p->label, shape, p->comparison ? "</a>" : "");
}

/* From the point of the first line that a branch leaves from to the branch's first point. */
static void leave(struct buf *out, const struct scale *s, const struct chart_line *first, const struct chart_line *line)
{
	const struct chart_point *from = line->after ? &first->point[line->after - 1] : NULL;
	if (from && line->n && isfinite(from->y) && isfinite(line->point[0].y))
		emit_rawf(out, "<path class=\"leave\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x_of(s, first, line->after - 1),
			y_of(s, from->y), x_of(s, line, 0), y_of(s, line->point[0].y));
}

/* Points of two environments are not joined. */
static bool is_joined(const struct chart_point *a, const struct chart_point *b)
{
	return isfinite(a->y) && (!a->baseline_period || !b->baseline_period || a->baseline_period == b->baseline_period);
}

static void draw_line(struct buf *out, const struct scale *s, const struct chart *chart, int index, bool is_file)
{
	const struct chart_line *line = &chart->line[index];
	if (index == 0)
		band(out, s, line);
	leave(out, s, &chart->line[0], line);
	emit_rawf(out, "<path class=\"line l%d\" d=\"", index);
	for (int i = 0; i < line->n; i++)
		if (isfinite(line->point[i].y))
			emit_rawf(out, "%c%.1f %.1f", i > 0 && is_joined(&line->point[i - 1], &line->point[i]) ? 'L' : 'M',
				x_of(s, line, i), y_of(s, line->point[i].y));
	emit_raw(out, "\"/>");
	for (int i = 0; i < line->n; i++)
		if (isfinite(line->point[i].y))
			draw_point(out, s, line, i, index, is_file);
}

/* x of an event: its time, or on an axis of pushes between the pushes before and after it. */
static double mark_x(const struct scale *s, const struct chart *chart, int64_t at)
{
	const struct chart_line *line = &chart->line[0];
	if (s->by_date)
		return x_at(s, at);
	for (int i = 0; i < line->n; i++)
		if (line->point[i].at >= at)
			return i > 0 ? (x_of(s, line, i - 1) + x_of(s, line, i)) / 2 : x_of(s, line, i);
	return -1;
}

static void marks(struct buf *out, const struct scale *s, const struct chart *chart)
{
	for (int i = 0; i < chart->n_marks; i++) {
		double x = mark_x(s, chart, chart->mark[i].at);
		if (x < LEFT || x > WIDTH - RIGHT)
			continue;
		emit_format(out, "<path class=\"mark %s\" d=\"M%.1f %dV%d\"><title>%s</title></path>", chart->mark[i].tone, x,
			TOP, HEIGHT - BOTTOM, chart->mark[i].label);
	}
}

static void key(struct buf *out, const struct chart *chart)
{
	if (chart->n_lines < 2)
		return;
	emit_raw(out, "<div class=\"row key\">");
	for (int i = 0; i < chart->n_lines; i++)
		emit_format(out,
			"<span class=chart-key><svg class=chart viewBox=\"0 0 22 10\" aria-hidden=true><path class=\"line l%d\" "
			"d=\"M0 5H22\"/></svg> %s</span>",
			i, chart->line[i].name);
	emit_raw(out, "</div>");
}

/* Attributes are quoted here, because the output must be valid XML, too. */
static void picture(struct buf *out, const struct scale *s, const struct chart *chart, bool is_file)
{
	limit(out, s, chart);
	axes(out, s, chart);
	marks(out, s, chart);
	for (int i = chart->n_lines - 1; i >= 0; i--)
		draw_line(out, s, chart, i, is_file);
}

void chart_image(struct buf *out, const struct chart *chart)
{
	struct scale s = scale_of(chart);
	emit_format(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"aria-label=\"%s\"><style>text{font:12px sans-serif;fill:#57606a}.tick{text-anchor:end}.grid{stroke:#d0d7de}"
		".line{fill:none;stroke:#0b57b7;stroke-width:1.75}.l1{stroke:#a3401a;stroke-dasharray:7 3}.dot{fill:#0b57b7}"
		".d1,.loss{fill:#a3401a}.band{fill:#0b57b7;opacity:.14}.mark{stroke:#8a6100;stroke-dasharray:4 3}"
		".bad{stroke:#a3401a}.within{fill:#eaeef2}.limit{stroke:#a3401a;stroke-dasharray:2 3}.leave{fill:none;"
		"stroke:#57606a;stroke-dasharray:2 4}</style><rect width=\"%d\" height=\"%d\" fill=\"#fff\"/><title>%s</title>",
		WIDTH, HEIGHT, WIDTH, HEIGHT, chart->summary, WIDTH, HEIGHT, chart->summary);
	if (isfinite(s.low))
		picture(out, &s, chart, true);
	else
		emit_rawf(
			out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">No timed points yet.</text>", WIDTH / 2, HEIGHT / 2);
	emit_raw(out, "</svg>\n");
}

void chart_draw(struct buf *out, const struct chart *chart)
{
	struct scale s = scale_of(chart);
	emit_raw(out, "<figure");
	if (chart->data) {
		emit_raw(out, " data-chart=\"");
		emit_attribute(out, chart->data);
		emit_rawf(out, "\" data-field=%s data-scale=%.9g data-unit=\"", chart->field, chart->scale);
		emit_attribute(out, chart->unit);
		emit_rawf(out, "\" data-axis=%s data-from=%lld data-to=%lld", chart->by_date ? "date" : "push",
			(long long)chart->from, (long long)chart->to);
		if (chart->has_limit)
			emit_rawf(out, " data-limit=\"%.9g %.9g\"", chart->slower_y, chart->faster_y);
		if (chart->n_lines > 1)
			emit_raw(out, " data-origins=");
		for (int i = 1; i < chart->n_lines; i++)
			emit_rawf(out, ",%s", chart->line[i].origin);
	}
	emit_format(out, "><figcaption>%s</figcaption>", chart->summary);
	if (!isfinite(s.low)) {
		emit_raw(out, "<div class=empty><p class=lead>No timed points yet.</p></div></figure>\n");
		return;
	}
	key(out, chart);
	emit_format(out, "<svg class=chart viewBox=\"0 0 %d %d\" role=group aria-label=\"%s\">", WIDTH, HEIGHT, chart->summary);
	picture(out, &s, chart, false);
	emit_raw(out, "</svg></figure>\n");
}
