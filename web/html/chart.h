/** chart.h - a history as inline SVG, drawn on the server, so it needs no script; scripts may put a livelier one in its place. */
#ifndef WEB_HTML_CHART_H
#define WEB_HTML_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"

enum { CHART_POINTS_MAX = 200, CHART_LINES_MAX = 6, CHART_MARKS_MAX = 24 };

struct chart_point {
	double y;           /* not finite: a gap, the line is not joined across it */
	double low, high;   /* ends of its interval; NAN unknown */
	int64_t at;         /* ms UTC, for an axis of dates */
	int64_t comparison; /* the page it leads to, 0 none */
	char label[160];    /* shown on hover and to screen readers */
	bool is_loss;       /* drawn as a filled triangle instead of a dot */
};

struct chart_line {
	char name[128];            /* as people read it */
	struct chart_point *point; /* oldest first */
	int n;
};

/** An event on the axis: a step, another environment. */
struct chart_mark {
	int64_t at;
	const char *tone; /* "bad" or "" */
	char label[300];
};

struct chart {
	struct chart_line line[CHART_LINES_MAX];
	int n_lines;
	struct chart_mark mark[CHART_MARKS_MAX];
	int n_marks;
	bool by_date; /* x is time; else every point has the same room */
	const char *unit;
	const char *summary; /* the text for those who do not see the picture */
	const char *data;    /* address of the points as JSON, for a script; NULL none */
	int64_t from, to;    /* the stretch that is asked for, which a script shows first; 0 open */
	const char *field;   /* of those points, times `scale` */
	double scale;
};

/** Draw. The y axis spans the values; where 0 is not on it, it says so. */
void chart_draw(struct buf *out, const struct chart *chart);
/** The same as an SVG file with colours of its own, for a README. */
void chart_image(struct buf *out, const struct chart *chart);

#endif
