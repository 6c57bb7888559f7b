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

/* ---- asset: Style, scripts and the chart library, compiled in: no file is served from the file system. ---- */

struct asset {
	const char *name, *type, *start, *end;
	char address[64], etag[16];
};

/** With its address, made at the first use. NULL: there is no such file, or it was not there to compile in. Own: asset.c's. */
const struct asset *asset_find(const char *name);

/** The address of a file for a page: "/static/NAME?v=...", which names its bytes, so that it may be kept for ever. Own: asset.c's. */
const char *asset_address(const char *name);

/** Whether a file is there; the chart library is only where npm had it when flopwatch was built. */
bool asset_has(const char *name);

/*
 * ---- axis ----
 * Where changes lie on a drawn axis that holds all of them: straight where they are of a size, bent where one is many times the
 * others, so that nothing is cut and what is small still has room.
 */

enum { AXIS_TICKS_MAX = 25 };

struct axis {
	double low_pct, high_pct; /* its ends */
	double bend_pct;          /* straight up to there, by powers of ten beyond; 0: straight everywhere */
};

/** What has to lie on it, widened by axis_cover; begins with nothing. */
struct axis axis_none(void);
/** Make room for a figure; one that is not finite asks for none. */
void axis_cover(struct axis *axis, double pct);
/** Settle the ends, once all are covered: 0 and the threshold on both sides lie inside. Units: percent; not finite or 0: no threshold is known. */
void axis_settle(struct axis *axis, double threshold_pct);

/** 0 at the low end, 1 at the high one; ends for what lies beyond. */
double axis_at(const struct axis *axis, double pct);
/** Round figures to write beside it, rising, 0 among them, none closer to another than `apart` of its length. Shape: pct[AXIS_TICKS_MAX]. How many. */
int axis_ticks(const struct axis *axis, double separate, double *pct);

/* ---- ratios: How the pairs of a cell are distributed: each call's change against its neighbour of the other side. ---- */

/** What the histogram is drawn beside. Units: percent of throughput or speed, NAN not known. */
struct ratios_about {
	double change_pct, low_pct, high_pct, threshold_pct;
};

/** Draw; nothing where there are fewer than a dozen pairs. */
void ratios_draw(struct buf *out, const struct store_runs *l, const struct ratios_about *about);

/*
 * ---- calls ----
 * The pictures of a cell's timed calls: how its pairs are distributed, every call as a dot, what the device did meanwhile.
 */

/**
 * Draw those of the series that decides: nothing where its samples are gone, a line where their archive is damaged. `id`: the cell's
 * row. Err: the database.
 */
int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err);

/* ---- chart: A history as inline SVG, drawn on the server, so it needs no script; scripts may put a livelier one in its place. ---- */

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

/* ---- derive: Figures that pages derive from stored ones: totals, means, fits, what is still missing. Pure arithmetic. ---- */

/** Change of throughput in percent from two times; negative = slower. NAN when either is missing. */
double derive_change_pct(double base_ms, double target_ms);

/** Geometric mean of changes. Shape: change_pct[n]; those that are not finite are left out. NAN for none. */
double derive_geomean_pct(const double *change_pct, int n);

/** t = a + b x, least squares in relative error, so that short times count as much as long ones. Shape: x[n], t[n]; -1 when n < 2 or all x are equal. */
int derive_line(const double *x, const double *t, int n, double *a, double *b);

/**
 * Runs that an undecided cell needs in all so that k standard errors clear the threshold, if the estimate stays where it
 * is; 0 when it sits so close to the threshold that more than `most` would be needed. Units: log ratio for m, se, theta.
 */
int derive_runs(double m, double se, double theta, double k, int runs, int most);

struct chip {
	const char *family; /* "Hopper" */
	double flop_clk_sm; /* dense bf16 FLOP each clock and SM, fp32 accumulation */
	int shared_sm_bytes, shared_reserved_bytes, threads_sm, blocks_sm;
};
/** What is known of a GPU by its name; NULL otherwise. Source: NVIDIA's CUDA programming guide, table of compute capabilities; data sheets. */
const struct chip *derive_chip(const char *device_name);

/** Peak at a clock. Units: TFLOP/s; NAN when something is unknown. */
double derive_peak_tflops(const struct chip *chip, int cores, double mhz);

/** Blocks of a kernel that one SM holds at a time, by registers, shared memory and threads. 0 when the chip is not known. */
int derive_blocks_per_sm(const struct chip *chip, int threads, int registers, long shared_bytes);

/*
 * ---- emit ----
 * HTML into a buf. emit_format escapes by position; the others by their name: text, attribute, URL argument, raw.
 *
 * Bytes that are not UTF-8 come out as U+FFFD; control characters and bidirectional marks, with which a branch name could
 * disguise itself, come out as visible \u{...} escapes.
 */

/** Markup that we wrote ourselves. */
static inline void emit_raw(struct buf *out, const char *markup)
{
	buf_puts(out, markup);
}
/**
 * printf for markup, which escapes %s by its position in the format: text between tags, an attribute inside a tag, and a query
 * argument directly behind '=': "<a href=\"/jobs?repo=%s\" title=\"%s\">%s</a>". %-s and %-.8s are markup of ours and not escaped.
 * A format begins outside of a tag. The other conversions are %d %ld %lld %c, and %f and %g with a precision; any other fails `out`.
 *
 * A word in braces behind a conversion has its value drawn by a function of layout: %s{author} %s{branch} %s{commit} %s{name} %s{sha}
 * %s{verdict} %f{change} %f{duration} %f{ms} %.2f{signed} %f{decided %d} %lld{time} %lld{comparison} %lld{job} %s{case %s %lld}.
 *
 * Words after a question mark are written only where there is a value: %s{? in <b>*</b>} with a text that is not "", %d{?, run *} with a
 * number that is not 0, %.1f{?, * s} with one that is finite. Each '*' in them is the value. %.1f{known} is a number, or a dash.
 */
void emit_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** printf for markup whose arguments are numbers or our own words only. */
void emit_rawf(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emit_vrawf(struct buf *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/** Text between tags. */
void emit_text(struct buf *out, const char *text);
/** Text inside a double-quoted attribute. */
void emit_attribute(struct buf *out, const char *text);
/** Value of a query argument: everything but unreserved characters percent-encoded. */
void emit_argument(struct buf *out, const char *text);

/*
 * ---- glossary ----
 * The words of doc/glossary.md, compiled in: all of them as a page, and at the foot of every other page those that it uses.
 *
 * Words are found in what a page says, so that a new one needs an entry in that file and nothing here.
 */

/** Every entry, as a list that its reference commits lead to. */
void glossary_draw(struct buf *out);

/** Links to the entries of the words that stand in what `out` holds from `begin` on; nothing where there are none. What is code is not read. */
void glossary_foot(struct buf *out, size_t begin);

/* ---- layout: The frame of every page, and the small pieces that pages share. ---- */

/**
 * Head, navigation and the h1. `here` is the navigation entry to mark ("overview", "jobs", ...); `kinds` is for layout_follow, NULL: the
 * page is not drawn again.
 */
void layout_begin(struct http_response *response, const char *title, const char *here, const char *kinds);
/** `data` is the address of what the page shows, as the API gives it; NULL none. Where `result` is not 0 the page has failed: -1, else 0. */
int layout_end(struct http_response *response, const char *data, int result);

/** The page is drawn again where it has a live region, when an event of these kinds ("job. alert.") happens. */
void layout_follow(struct buf *out, const char *kinds);
/** A region that live updates replace; `say` (may be NULL) is what a screen reader says when it changes. Close it with </div>. */
void layout_live(struct buf *out, const char *id, const char *report);
/** A place where nothing is yet: what is missing, and the next step. Both our own markup. */
void layout_empty(struct buf *out, const char *tone, const char *what, const char *next);

/** A verdict or state as word with a sign and a class; never by colour alone. */
void layout_verdict(struct buf *out, const char *word);
/** Draw `name` with a space for each "_": "device offline". */
void layout_name(struct buf *out, const char *name);
/** "bad", "warn", "good" or "plain", as the verdict or state is shown. Own: a constant. */
const char *layout_tone(const char *word);
/** The sign that stands before that word, so that colour alone never carries it. Own: a constant. */
const char *layout_sign(const char *word);
/** "2026-11-21 03:04" in UTC inside <time>; a dash for 0. */
void layout_time(struct buf *out, int64_t utc_ms);
/** "45 s", "3 min 20 s", "2 h 5 min". */
void layout_duration(struct buf *out, double seconds);
/** "3.180" with digits by size; a dash when not finite. */
void layout_ms(struct buf *out, double ms);
/** "691.0" in a table's unit; a dash when not finite. */
void layout_rate(struct buf *out, struct unit unit, double tflops);
/** "−2.3 %" with sign and unit; a dash when not finite. It carries no arrow: a change is no verdict. */
void layout_change(struct buf *out, double pct);
/** The same with an arrow where a verdict says that it is one: `is_decided`. */
void layout_decided(struct buf *out, double pct, bool is_decided);
/** "−2.3": digits and a true minus sign, `digits` after the point. */
void layout_signed(struct buf *out, double v, int digits);
/** First ten digits of a commit in <code>, as a link to its page. */
void layout_commit(struct buf *out, const char *sha);
/** Who wrote it, as a line that leads to what came of that person's commits; nothing where nobody is known. */
void layout_author(struct buf *out, const char *author);
/** First ten digits of a hash in <code>. */
void layout_sha(struct buf *out, const char *sha);
/** A branch by its key, as people read it. */
void layout_branch(struct buf *out, const char *key);
/**
 * Names of columns, with '|' between them and of our own words, as a table's head row; a name begins with '>' for numbers, '~' to
 * leave it out on narrow screens, '^' on all but wide ones.
 */
void layout_table(struct buf *out, const char *columns);
void layout_table_end(struct buf *out);
/** Link to the rows after `last`, when this page is full. */
void layout_older(struct buf *out, struct http_request *r, int rows, int limit, int64_t last);
/** A form that is one button, which posts. `id` is a number or a device. */
void layout_button(struct buf *out, const char *collection, const char *id, const char *verb, const char *label);
/** Link to a cell's history, named by the cell. */
void layout_cell_link(struct buf *out, const char *repo, const char *branch, const char *cell);
/** A cell without what its whole table shares: "causal, 8192", "keep 0.1, block 64, 8192"; its key where it has no title. `size` 0: none. */
void layout_case(struct buf *out, const char *key, const char *title, int64_t size);
/** A command to copy. */
void layout_command(struct buf *out, const char *command);
/** <option> of a select, marked when it is the one `chosen`; `label` NULL: the value. */
void layout_option(struct buf *out, const char *value, const char *label, const char *chosen);

/** Append the address of what follows after row `last`: this path with its filters. */
void layout_next_address(struct buf *out, struct http_request *r, int64_t last);

/* ---- mark: Small drawings inside tables: a sparkline, the runs of a cell one by one. ---- */

enum { MARK_SPARK_MAX = 60 };
/** A line without axes. Shape: y[n], oldest first, not finite: a gap; is_loss[n] marks points. `label` says it in words. */
void mark_spark(struct buf *out, const double *y, const bool *is_loss, int n, const char *label);

struct mark_run {
	double change_pct, low_pct, high_pct; /* the ends of its 95 % interval NAN: not known */
	int set;                              /* 2: the confirming set, drawn hollow */
	char label[128];                      /* shown on hover */
};
/** One dot a run with its interval, in the order they ran, with 0 and the threshold. `label` says it in words. */
void mark_runs(struct buf *out, const struct mark_run *process_run, int n, double threshold_pct, const char *label);

/*
 * ---- markdown ----
 * Names and texts of others in a review comment (CommonMark with tables, as GitHub, GitLab, Gitea and Forgejo read it):
 * nothing of them becomes a link, a picture, a mention or another column.
 */

/** A name as code, for a cell of a table. What would end the span or the cell is shown as \x60. */
void markdown_code(struct buf *out, const char *text);
/** A text on one line. Words that forges make links or mentions of by themselves stand as code. */
void markdown_text(struct buf *out, const char *text);
/** printf with %s as markdown_text, %s{code} as markdown_code and %-s as it is; the other conversions are those of emit_format without words. */
void markdown_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The same for a table, with %s as csv_text. */
void csv_format(struct buf *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** "+1.20 %", or a dash where nothing is known. */
void markdown_change(struct buf *out, double pct);
/** "-1.20 … +0.30 %", or a dash. */
void markdown_interval(struct buf *out, double low_pct, double high_pct);

/*
 * ---- past ----
 * How fast a cell was before a push, as a line of a few strokes beside it: the upstream branch's last points up to then, and behind
 * them those of the push's own branch.
 */

enum { PAST_UPSTREAM = 24, PAST_OWN = 6 }; /* points of each, at most */

/** What all lines of a page share. */
struct past {
	const char *repo, *branch; /* branch: of the push, its key; "" none */
	int64_t last;              /* comparison up to which points count; 0: there is none */
	char upstream[BRANCH_KEY_MAX];
};

/** Own: `repo` and `branch` stay the caller's. A repository that is not known has no upstream, and its cells no past. Err: the database. */
int past_begin(struct db *db, const char *repo, const char *branch, int64_t last, struct past *out, struct fw_err *err);
/** Draw; a dash where fewer than two points are known. Err: the database. */
int past_draw(struct buf *out, struct db *db, const struct past *past, const char *cell, struct fw_err *err);

/* ---- picker: The choices of repository, branch and cell that forms of several pages offer. ---- */

/** Labelled <select name=repo>; `any` also offers every one. `chosen` NULL or "": none. Err: the database's. */
int picker_repo(struct buf *out, struct db *db, const char *chosen, bool any, struct fw_err *err);
/** Labelled <select name=branch> of a repository's branches, watched or not; nothing without a repo. `name` is the field's. */
int picker_branch(struct buf *out, struct db *db, const char *repo, const char *name, const char *label, const char *chosen,
	const char *none, struct fw_err *err);

/** Labelled <select name=since>; what was `chosen` is one of four known values, each with its label behind it, or offered as well. */
void picker_since(struct buf *out, const char *const known[8], const char *chosen);

/**
 * The cells of picker_cells: those whose names hold every word of `words`, in any case, no more of them than `bytes` of keys, so that a page
 * stays small however large a suite is.
 */
struct picker_cells {
	const char *words; /* "": all */
	size_t bytes;
	void (*each)(void *arg, const char *key);
	void *arg;
	int found, given; /* set: that hold them, and that `each` got */
	bool is_one;      /* set: `words` is one's whole name */
	size_t len;       /* of keys so far */
};
/** All cells as view_cell_keys has them. Err: the database's. */
int picker_cells(struct db *db, const char *repo, const char *branch, struct picker_cells *c, struct fw_err *err);

/* ---- stack: The phases of a call as two stacked bars, base above target, on one scale: which part grew is seen before it is read. ---- */

struct stack_part {
	const char *name;
	double base_ms, target_ms; /* not finite: the side has no such part */
	bool moved;                /* it is named as the cause */
};

/** Draw; nothing where neither side has a part. */
void stack_draw(struct buf *out, const struct stack_part *part, int n);

/*
 * ---- trend ----
 * Cells over time as lines of one chart: points with their intervals, what happened between them, and the first line as a table.
 * Which cells and branches, and from when to when, is the caller's.
 */

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

/** `flops`: whether they are known, `unit`: of their rates (trend_flops). Own: trend_free, which accepts NULL. */
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

/*
 * ---- troubleshooting ----
 * Doc/troubleshooting.md, compiled in: as a page, and at the end of every other page what leads to its places.
 *
 * A message ends with `see doc/troubleshooting.md#PLACE` where its line alone does not say what to do; a page that shows it leads there.
 */

/** All of it but its title; each place has its name as id. */
void troubleshooting_draw(struct buf *out);
/** A line for each place that is named in what `out` holds from `begin` on; nothing where none is. Names that are no place are passed over. */
void troubleshooting_foot(struct buf *out, size_t begin);

#endif
