/** html.h - output, layout and charts. */
#ifndef WEB_HTML_HTML_H
#define WEB_HTML_HTML_H

#include <stdlib.h>
#include <stdio.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/db.h"
#include "lib/lib.h"
#include "web/http/http.h"

/* ---- asset: Style sheet, scripts and the chart library, compiled in: no file is served from the file system. ---- */

struct asset {
	const char *name, *type, *start, *end; /* type: Content-Type; content: from start to end */
	char address[64], etag[16];
};

/**
 * Return a file; NULL: there is none, or it was missing at build time. Its address is computed at the first use. Own: asset.c's.
 */
const struct asset *asset_find(const char *name);

/**
 * Return the address of a file for a page: "/static/NAME?v=...". The value identifies the content, so that clients may cache it
 * without limit. Own: asset.c's.
 */
const char *asset_address(const char *name);

/** Return whether a file is compiled in. The chart library is, if npm had installed it when flopwatch was built. */
bool asset_has(const char *name);

/*
 * ---- axis ----
 * Positions of changes on a drawn linear axis that contains all of them.
 */

enum { AXIS_TICKS_MAX = 25 };

struct axis {
	double low_pct, high_pct; /* its ends */
};

/** Return an empty axis; axis_cover widens it. */
struct axis axis_empty(void);
/** Widen the axis to contain a value; one that is not finite is ignored. */
void axis_cover(struct axis *axis, double pct);
/**
 * Set the ends after all values are covered, so that 0 and the threshold on both sides are inside. `threshold_pct` 0 or not
 * finite: unknown.
 */
void axis_finish(struct axis *axis, double threshold_pct);

/** Return the position of a value: 0 at the low end, 1 at the high end. A value beyond an end has the position of that end. */
double axis_at(const struct axis *axis, double pct);
/**
 * Choose round values for tick labels, ascending, 0 among them, at a distance of at least `separate`, a share of the axis's
 * length. Returns their number. Shape: pct[AXIS_TICKS_MAX].
 */
int axis_ticks(const struct axis *axis, double separate, double *pct);

/* ---- ratios: Distribution of a cell's pairs: the change of each call against its neighbour of the other side. ---- */

/** Values that the histogram marks. Units: percent of throughput or speed, NAN: unknown. */
struct ratios_about {
	double change_pct, low_pct, high_pct, threshold_pct;
};

/** Draw the histogram; nothing for fewer than a dozen pairs. */
void ratios_draw(struct buf *out, const struct store_runs *l, const struct ratios_about *about);

/*
 * ---- calls ----
 * Charts of a cell's timed calls: the distribution of its pairs, every call as a dot, and the clock and power of the device.
 */

/**
 * Draw the charts of the deciding series; nothing if its samples were deleted, one line of text if their archive is damaged.
 * `id`: the cell's row. Err: the database's.
 */
int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err);

/*
 * ---- chart ----
 * A history as inline SVG, drawn on the server, so that it needs no script; a script may replace it with an interactive chart.
 */

enum { CHART_POINTS_MAX = 200, CHART_LINES_MAX = 6, CHART_MARKS_MAX = 24 };

struct chart_point {
	double y;           /* not finite: a gap in the line */
	double low, high;   /* ends of its interval; NAN: unknown */
	int64_t at;         /* ms UTC, for an axis of dates */
	int64_t comparison; /* comparison that the point links to, 0: none */
	char label[160];    /* shown on hover and to screen readers */
	bool is_slower;     /* drawn as a filled triangle instead of a dot */
	bool is_faster;
	double change_pct;       /* against its base; NAN: unknown */
	double base_y;           /* y of its base, by that change; NAN: unknown */
	int64_t baseline_period; /* the line is broken where it changes; 0: unknown */
};

struct chart_line {
	char name[128];            /* display name */
	struct chart_point *point; /* oldest first */
	int n;
	int after;       /* points of the first line up to the one that this branch leaves from; 0: it leaves from none */
	char origin[11]; /* first digits of that commit; "": none */
};

/** An event on the axis, such as a step or a new environment. */
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
	bool by_date; /* x is time; else all points have the same distance */
	const char *unit;
	const char *summary;       /* text alternative of the picture */
	const char *data;          /* address of the points as JSON, for a script; NULL: none */
	int64_t from, to;          /* requested period, which a script shows first; 0: open */
	bool has_limit;            /* draw the threshold on both sides */
	double slower_y, faster_y; /* y beyond which a push is slower; faster */
	const char *field;         /* field of the points in `data` that is drawn, times `scale` */
	double scale;
};

/** Draw the chart. The y axis contains all values; if it does not contain 0, a note states this. */
void chart_draw(struct buf *out, const struct chart *chart);
/** Write the chart as an SVG file with fixed colours, for a README. */
void chart_image(struct buf *out, const struct chart *chart);

/* ---- derive: Values that pages derive from stored ones: totals, means, fits, missing runs. Pure arithmetic. ---- */

/** Return the change of throughput in percent from two times, negative if slower; NAN if one is missing. */
double derive_change_pct(double base_ms, double target_ms);

/** Return the geometric mean of the finite changes; NAN: there are none. Shape: change_pct[n]. */
double derive_geomean_pct(const double *change_pct, int n);

/**
 * Fit t = a + b x by least squares of the relative error, so that short times count as much as long ones. Returns 0; -1 if n < 2
 * or all x are equal. Shape: x[n], t[n].
 */
int derive_line(const double *x, const double *t, int n, double *a, double *b);

/**
 * Return the total number of runs after which an undecided cell's estimate `m`, if it does not change, differs from the threshold
 * `theta` by k standard errors; 0: more than `most`. Units: log ratio for m, se, theta.
 */
int derive_runs(double m, double se, double theta, double k, int runs, int most);

struct chip {
	const char *family; /* "Hopper" */
	double flop_clk_sm; /* dense bf16 FLOP each clock and SM, fp32 accumulation */
	int shared_sm_bytes, shared_reserved_bytes, threads_sm, blocks_sm;
};
/**
 * Return the properties of a GPU by its name; NULL: unknown. Source: NVIDIA's CUDA programming guide, table of compute
 * capabilities; data sheets.
 */
const struct chip *derive_chip(const char *device_name);

/** Return the peak at a clock; NAN: unknown. Units: TFLOP/s. */
double derive_peak_tflops(const struct chip *chip, int cores, double mhz);

/** Return the number of blocks of a kernel that fit on one SM, by registers, shared memory and threads; 0: `chip` is unknown. */
int derive_blocks_per_sm(const struct chip *chip, int threads, int registers, long shared_bytes);

/*
 * ---- emit ----
 * HTML into a buf. emit_format escapes a value by its position; the other functions escape as their names state: text, attribute,
 * URL argument, raw.
 *
 * Bytes that are not UTF-8 are written as U+FFFD; control characters and bidirectional marks, which could disguise a branch name,
 * are written as visible \u{...} escapes.
 */

/** Append trusted markup without escaping. */
static inline void emit_raw(struct buf *out, const char *markup)
{
	buf_puts(out, markup);
}
/**
 * Append markup as printf does, and escape %s by its position in the format: text between tags, an attribute inside a tag, and a
 * query argument directly after '=': "<a href=\"/jobs?repo=%s\" title=\"%s\">%s</a>". %-s and %-.8s are trusted markup and not
 * escaped. A format begins outside of a tag. The other conversions are %d %ld %lld %c, and %f and %g with a precision; any other
 * fails `out`.
 *
 * A name in braces after a conversion selects the function of layout that draws the value: %s{author} %s{branch} %s{commit}
 * %s{name} %s{sha} %s{verdict} %f{change} %f{duration} %f{ms} %.2f{signed} %f{decided %d} %lld{time} %lld{comparison} %lld{job}
 * %lld{alert} %s{case %s %lld}. An id is a link, named by its number after the letter of its kind: C32, J32, A3.
 *
 * Text in braces after a question mark is written only where there is a value: %s{? in <b>*</b>} for a text that is not "", %d{?,
 * run *} for a number that is not 0, %.1f{?, * s} for one that is finite. Each '*' in it is replaced with the value. %.1f{known}
 * is a number, or a dash.
 */
void emit_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Append markup as printf does, without escaping: arguments must be numbers or trusted constants. */
void emit_rawf(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_vrawf(struct buf *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/** Append text between tags. */
void emit_text(struct buf *out, const char *text);
/** Append text inside a double-quoted attribute. */
void emit_attribute(struct buf *out, const char *text);
/** Append the value of a query argument, with all but unreserved characters percent-encoded. */
void emit_argument(struct buf *out, const char *text);

/*
 * ---- glossary ----
 * Terms of doc/glossary.md, compiled in. One page has all of them, and every other page ends with links to those that it uses.
 * They are found in the text of the page, so a new term needs only an entry in that file.
 */

/** Draw all entries as a list; each has an id for links. */
void glossary_draw(struct buf *out);

/** Append links to the entries of the terms in `out` from byte `begin` on; nothing if there are none. Code is ignored. */
void glossary_foot(struct buf *out, size_t begin);

/* ---- layout: The frame of every page, and small elements that pages share. ---- */

/**
 * Begin a page: head, navigation and h1. `title`: the finding of the page in a few words. `here`: the navigation entry to mark
 * ("overview", "jobs", ...); those of a list of pages, such as "heat", also get tabs. `kinds` is for layout_follow, NULL: the
 * page is not updated.
 */
void layout_begin(struct http_response *response, const char *title, const char *here, const char *kinds);
/**
 * End a page. `data`: address of its data in the API; NULL: none. `result`: not 0 if the page failed. Returns 0, or -1 if it
 * failed.
 */
int layout_end(struct http_response *response, const char *data, int result);

/** Redraw the page's live regions when an event of these kinds ("job. alert.") occurs. */
void layout_follow(struct buf *out, const char *kinds);
/**
 * Begin a region that live updates replace; the caller ends it with </div>. `report`: text that a screen reader reads when it
 * changes; NULL: none.
 */
void layout_live(struct buf *out, const char *id, const char *report);
/** Draw the notice of a list without rows: `what` is missing, and the `next` step. Both are trusted markup. */
void layout_empty(struct buf *out, const char *tone, const char *what, const char *next);

/** Draw a verdict or state as text with a symbol and a class, never by colour alone. */
void layout_verdict(struct buf *out, const char *name);
/** Draw `name` with a space for each "_": "device offline". */
void layout_name(struct buf *out, const char *name);
/** Return the class of a verdict or state: "bad", "warn", "good" or "plain". Own: a constant. */
const char *layout_tone(const char *name);
/** Return the symbol of a verdict or state, so that the meaning never depends on colour alone. Own: a constant. */
const char *layout_sign(const char *name);
/** Draw the age of a time, "6 h ago", in a <time> element whose title is the time in UTC; a dash for 0. */
void layout_time(struct buf *out, int64_t utc_ms);
enum { LAYOUT_AGE_SIZE = 24 };
/**
 * Write the distance of a time to now: "just now", "5 min ago", "in 6 h", "12 d ago"; its day in UTC beyond two months. Units: ms
 * UTC. Shape: out[LAYOUT_AGE_SIZE].
 */
void layout_age(int64_t utc_ms, int64_t now_ms, char out[LAYOUT_AGE_SIZE]);
/** Append a duration: "45 s", "3 min 20 s", "2 h 5 min". */
void layout_duration(struct buf *out, double seconds);
enum { LAYOUT_DURATION_SIZE = 48 };
/** Write a duration as text. Shape: out[LAYOUT_DURATION_SIZE]. */
void layout_duration_text(double seconds, char out[LAYOUT_DURATION_SIZE]);
/** Append a time: "3.180", with more digits if it is short; a dash if it is not finite. */
void layout_ms(struct buf *out, double ms);
/** Append a rate in a table's unit: "691.0"; a dash if it is not finite. */
void layout_rate(struct buf *out, struct unit unit, double tflops);
/** Append a change: "−2.3 %"; a dash if it is not finite. It has no arrow, because a change is not a verdict. */
void layout_change(struct buf *out, double pct);
/** Append a change, with an arrow if a verdict confirms it (`is_decided`). */
void layout_decided(struct buf *out, double pct, bool is_decided);
/** Append a number with a minus sign (U+2212) and `digits` digits after the point: "−2.3". */
void layout_signed(struct buf *out, double v, int digits);
/** Append the first ten digits of a commit in <code>, as a link to its page. */
void layout_commit(struct buf *out, const char *sha);
/** Append the author as a line with a link to the results of the author's commits; nothing if the author is unknown. */
void layout_author(struct buf *out, const char *author);
/** Append the first ten digits of a hash in <code>. */
void layout_sha(struct buf *out, const char *sha);
/** Append the display name of a branch, by its key. */
void layout_branch(struct buf *out, const char *key);
/**
 * Begin a table with its head row. `columns`: names as trusted text, separated by '|'; a name begins with '>' for numbers, '~'
 * for a column that narrow screens hide, '^' for one that only wide screens show.
 */
void layout_table(struct buf *out, const char *columns);
void layout_table_end(struct buf *out);
/** Append a link to the rows after `last`, if this page is full. */
void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last);
/** Append a form with one button, which sends a POST. `id`: a number or a device. */
void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label);
/** Append a link to a cell's history, with the cell as its text. */
void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell);
/**
 * Append a cell's name without the parts that all cells of its table share: "causal, 8192", "keep 0.1, block 64, 8192"; its key
 * if it has no title. `size` 0: none.
 */
void layout_case(struct buf *out, const char *key, const char *title, int64_t size);
/** Append a command for users to copy. */
void layout_command(struct buf *out, const char *command);
/** Append an <option> of a select, selected if `value` equals `chosen`. `label` NULL: the value. */
void layout_option(struct buf *out, const char *value, const char *label, const char *chosen);

/** Append the address of the rows after row `last`: this path with its filters. */
void layout_next_address(struct buf *out, struct http_request *r, int64_t last);

/* ---- mark: Small drawings inside tables: a sparkline, and single runs of a cell. ---- */

enum { MARK_SPARK_MAX = 60 };
/**
 * Draw a line without axes. Shape: y[n], the oldest first, not finite: a gap; is_slower[n] marks points. `label`: text
 * alternative.
 */
void mark_spark(struct buf *out, const double *y, const bool *is_slower, int n, const char *label);

struct mark_run {
	double change_pct, low_pct, high_pct; /* ends of its 95 % interval; NAN: unknown */
	int set;                              /* 2: the confirming set, drawn hollow */
	char label[128];                      /* shown on hover */
};
/** One dot per run with its interval, in the order of the runs, with 0 and the threshold. `label` is the text alternative. */
void mark_runs(struct buf *out, const struct mark_run *run, int n, double threshold_pct, const char *label);

/*
 * ---- markdown ----
 * Names and texts of users in a review comment (CommonMark with tables, as GitHub, GitLab, Gitea and Forgejo read it): none of
 * them becomes a link, an image, a mention or another column.
 */

/** A name as code, for a table cell. Characters that would end the span or the cell are shown as \x60. */
void markdown_code(struct buf *out, const char *text);
/** A text on one line. Strings that forges turn into links or mentions are written as code. */
void markdown_text(struct buf *out, const char *text);
/**
 * printf with %s as markdown_text, %s{code} as markdown_code and %-s unchanged; the other conversions are those of emit_format,
 * without braces.
 */
void markdown_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The same for a table, with %s as csv_text. */
void csv_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "+1.20 %", or a dash where it is unknown. */
void markdown_change(struct buf *out, double pct);
/** "-1.20 … +0.30 %", or a dash where it is unknown. */
void markdown_interval(struct buf *out, double low_pct, double high_pct);

/*
 * ---- sparkline ----
 * Speed of a cell before a push as a sparkline: the last points of the upstream branch up to then, followed by those of the
 * push's own branch.
 */

enum { SPARKLINE_UPSTREAM = 24, SPARKLINE_OWN = 6 }; /* maximum number of points of each */

/** Properties that all sparklines of a page share. */
struct sparkline {
	const char *repo, *branch; /* branch: of the push, its key; "": none */
	int64_t last;              /* comparison up to which points count; 0: none */
	char upstream[BRANCH_KEY_MAX];
};

/**
 * Own: `repo` and `branch` stay the caller's. An unknown repository has no upstream branch, and its cells have no sparkline. Err:
 * the database's.
 */
int sparkline_begin(struct db *db, const char *repo, const char *branch, int64_t last, struct sparkline *out, struct fw_err *err);
/** Draw; a dash for fewer than two points. Err: the database's. */
int sparkline_draw(struct buf *out, struct db *db, const struct sparkline *spark, const char *cell, struct fw_err *err);

/* ---- picker: Form fields of several pages to choose a repository, a branch and a cell. ---- */

/** Labelled <select name=repo>; `any` adds an option for all repositories. `chosen` NULL or "": none. Err: the database's. */
int picker_repo(struct buf *out, struct db *db, const char *chosen, bool any, struct fw_err *err);
/**
 * Labelled <select name=branch> with the branches of a repository, watched or not; nothing without a repository. `name` is that
 * of the field.
 */
int picker_branch(struct buf *out, struct db *db, const char *repo, const char *name, const char *label, const char *chosen,
	const char *none, struct fw_err *err);

/**
 * Labelled <select name=since> with four known values, each followed by its label; any other `chosen` value is added as an
 * option.
 */
void picker_since(struct buf *out, const char *const known[8], const char *chosen);

/**
 * The cells of picker_cells: those whose names contain every word of `words`, ignoring case, up to `bytes` of keys in total, so
 * that a page stays small for a suite of any size.
 */
struct picker_cells {
	const char *words; /* "": all */
	size_t bytes;
	void (*each)(void *arg, const char *key);
	void *arg;
	int found, given; /* set: cells that match, and those passed to `each` */
	bool is_one;      /* set: `words` is the whole name of a cell */
	size_t len;       /* set: bytes of keys so far */
};
/** All cells, as view_cell_keys returns them. Err: the database's. */
int picker_cells(struct db *db, const char *repo, const char *branch, struct picker_cells *c, struct fw_err *err);

/*
 * ---- reference ----
 * The man pages and the verbs of the command line, which etc/reference.py writes as HTML when flopwatch is built; compiled in.
 */

enum { REFERENCE_NAME_MAX = 64 };

/**
 * Find a page by its name, "flopwatch.1"; "index" is the list of all. Sets *title. NULL: there is none; no page was written where
 * flopwatch was built without python3. Shape: title[REFERENCE_NAME_MAX].
 */
const char *reference_find(const char *name, char title[REFERENCE_NAME_MAX]);
/** Draw a page that reference_find has found, without its title. */
void reference_draw(struct buf *out, const char *page);

/* ---- stack: The phases of a call as two stacked bars, base above target, on one scale, which shows the phase that grew. ---- */

struct stack_part {
	const char *name;
	double base_ms, target_ms; /* not finite: this side has no such phase */
	bool moved;                /* it is named as the cause */
};

/** Draw; nothing where neither side has a phase. */
void stack_draw(struct buf *out, const struct stack_part *part, int n);

/*
 * ---- trend ----
 * Cells over time as lines of one chart: points with their intervals, the events between them, and the first line as a table. The
 * caller chooses the cells, the branches and the period.
 */

/** A metric of a point that can be drawn. */
struct trend_metric {
	const char *name, *label, *unit, *field; /* unit: after the number, or after a rate's unit; field: of the API's points */
	enum cost cost;                          /* COST_N: it is of the time */
	double scale;                            /* from a cost's value to the unit */
};
enum { TREND_METRICS = 6 + COST_JUDGED };
extern const struct trend_metric trend_metrics[TREND_METRICS];
/** Names for ?metric=. */
#define TREND_WORDS "tflops held reference peak change ms memory error first energy host launches"

bool trend_needs_flops(const struct trend_metric *metric);
/** The name of the stored metric that a cost's points have (view_scope.metric); NULL: it is of the time. */
const char *trend_stored(const struct trend_metric *metric);
/**
 * The metric of a name, the first one for an unknown name; the time instead of a metric that needs FLOPs where these are unknown.
 */
const struct trend_metric *trend_metric(const char *name, bool flops);

struct trend {
	struct chart_point point[CHART_LINES_MAX][CHART_POINTS_MAX];
	struct chart chart;
	const struct trend_metric *metric;
	int64_t class; /* of the devices of the newest environment */
	double held_mhz;
	double scale;           /* of the metric's field: 1, or the factor that makes it a share of peak; NAN: unknown */
	bool flops;             /* the FLOPs of its calls are known */
	bool is_one_branch;     /* the first line is of one branch */
	bool is_cut;            /* a line has more points than a chart shows */
	int marks_left;         /* events that did not fit */
	int n_baseline_periods; /* environments that have a series of this cell */
	struct unit unit;       /* of rates */
	char unit_text[64];
	char summary[1200];
	bool has_table;         /* set by the caller before the first line: fill the two tables */
	struct buf table, over; /* rows of the first line, and of the other lines, each below its name */
	struct db *db;          /* of the line that is read */
	int64_t repo;           /* its repository, 0: unknown */
	const char *branch;     /* of the first line; NULL or "": all */
};

/** `flops`: whether they are known; `unit`: of the rates (trend_flops). Own: trend_free, which accepts NULL. */
struct trend *trend_new(const struct trend_metric *metric, bool flops, struct unit unit);
void trend_free(struct trend *t);

/**
 * Return whether the FLOPs of a cell are known, according to its last points; true where there are none. Sets the unit that suits
 * its rates, too.
 */
int trend_flops(struct db *db, const struct view_scope *of, bool *flops, struct unit *unit, struct fw_err *err);
/** Add the first line, with the events between its points. `name`: display name. */
int trend_add_first(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err);
/** Add another line; none where the chart is full. */
int trend_add_line(struct db *db, struct trend *t, const struct view_scope *of, const char *name, struct fw_err *err);
/** Draw the threshold around a y, after the lines were added; nothing where either is unknown. Units: percent. */
void trend_limit(struct trend *t, double around, double threshold_pct);
/**
 * The change that the newest level of a line begins with, and that line; of several a slowdown, then the newest. NULL: all lines
 * are flat, *line is 0.
 */
const struct chart_point *trend_step(const struct trend *t, int *line);
/**
 * Append what a line shows, as a sentence after its `name`: "NAME: 264 TFLOP/s, flat for 22 pushes". The line is flat where its
 * points differ by no more than the threshold, and only if it is of one branch: points of several have no level.
 */
void trend_finding(const struct trend *t, int line, bool is_one_branch, const char *name, double threshold_pct, struct buf *out);
/** Write the text alternative of the chart, after its lines were added. */
void trend_label(struct trend *t, const char *cell, bool by_date);

/*
 * ---- troubleshooting ----
 * doc/troubleshooting.md, compiled in: as a page, and at the end of every other page links to the entries that it names.
 *
 * A message ends with `see doc/troubleshooting.md#PLACE` where its line alone does not explain what to do; a page with the
 * message links to that entry.
 */

/** The whole text except its title; each entry has its name as id. */
void troubleshooting_draw(struct buf *out);
/** One line for each entry that is named in `out` from `begin` on; nothing where there is none. Unknown names are ignored. */
void troubleshooting_foot(struct buf *out, size_t begin);

#endif
