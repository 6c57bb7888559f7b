/**
 * trend.h - cells over time as lines of one chart: points with their intervals, what happened between them, and the first line as a table.
 * Which cells and branches, and from when to when, is the caller's.
 */
#ifndef WEB_HTML_TREND_H
#define WEB_HTML_TREND_H

#include "lib/unit.h"
#include "db/history.h"
#include "web/html/chart.h"

/** What is drawn of a point. */
struct trend_metric {
	const char *name, *label, *unit, *field; /* unit: of a rate what follows it; field: of the API's points */
};
enum { TREND_METRICS = 6 };
extern const struct trend_metric trend_metrics[TREND_METRICS];
/** Words for ?metric=. */
#define TREND_WORDS "tflops held reference commit peak change ms"

bool trend_needs_flops(const struct trend_metric *metric);
/** That of a name, the first for an unknown one; where FLOPs are not known and it needs them the time instead. */
const struct trend_metric *trend_metric(const char *name, bool flops);

struct trend {
	struct chart_point point[CHART_LINES_MAX][CHART_POINTS_MAX];
	struct chart chart;
	const struct trend_metric *metric;
	int64_t class; /* of devices, that of the newest environment */
	double held_mhz;
	double scale;           /* of the metric's field: 1, or what makes it a share of peak; NAN unknown */
	bool flops;             /* of its calls are known */
	bool is_one_branch;     /* the first line is of */
	bool is_cut;            /* a line has more points than a chart shows */
	int marks_left;         /* events for which there was no room */
	int n_baseline_periods; /* environments that have a series of this cell */
	struct unit unit;       /* of rates */
	char unit_text[64];
	char summary[1200];
	struct buf table; /* rows of the first line */
};

/** `flops`: whether they are known, `unit`: of their rates (trend_flops). Own: trend_free, which accepts NULL. NULL: out of memory. */
struct trend *trend_new(const struct trend_metric *metric, bool flops, struct unit unit);
void trend_free(struct trend *t);

/** Whether the FLOPs of a cell are known, as far as its last points say; true where there are none. And the unit that suits their rates. */
int trend_flops(struct db *db, const struct view_scope *of, bool *flops, struct unit *unit, struct fw_err *err);
/** The first line, with what happened between its points. `name`: as people read it. */
int trend_first(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err);
/** Another line; none where there is no room for it. */
int trend_over(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err);
/** Say in words what the chart is of, once its lines are there. */
void trend_label(struct trend *t, const char *cell, bool by_date);

#endif
