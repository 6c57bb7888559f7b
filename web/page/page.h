/** page.h - the pages. */
#ifndef WEB_PAGE_PAGE_H
#define WEB_PAGE_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "lib/lib.h"
#include "model/model.h"
#include "web/html/html.h"
#include "web/http/http.h"

/*
 * ---- cache ----
 * Drawn pages, cached in memory. A page has a stamp: everything that it depends on, as a hash. A cached page with another stamp
 * is never used.
 *
 * Any page depends on the version of the database, on the daemon's state, on whether its user has a session, and on the time: it
 * is used within the second in which it was drawn, so its ages and durations are those of that second. A push makes every open
 * browser request the same pages again; one of these requests draws them.
 *
 * A finished comparison rarely changes, but its page can: by judging the same samples again, by its alert's state, by a newer
 * push. Its stamp contains these instead of the version and the time.
 */

enum { PAGE_STAMP_MAX = 65, PAGE_CACHE_BYTES = 2 << 20 };

struct page_cache;

/** Own: page_cache_free. NULL is a cache that stores nothing. */
struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *cache);

/**
 * Everything that a comparison's page depends on, as a hash. `profile`: state of its profile; `public_url`: of the site, NULL:
 * none; `response`: what the guard set, and the counted alerts. Shape: stamp[PAGE_STAMP_MAX]. Err: ERR_FULL the texts are too
 * long.
 */
int page_stamp(int64_t comparison, const struct view_around *around, const char *profile, const char *public_url,
	const struct http_response *response, char *stamp, struct fw_err *err);

/** Append the page of `key` that was drawn for this stamp, and set its type. False: it is not cached. */
bool page_cache_get(struct page_cache *cache, const char *key, const char *stamp, struct http_response *out);
/**
 * Cache a page. Those of earlier seconds, then the least recently used ones are removed, so that all together stay below
 * PAGE_CACHE_BYTES. `second`: the only one in which `stamp` is valid, 0: any. `key` is shorter than PAGE_STAMP_MAX; the type is a
 * literal.
 */
void page_cache_put(
	struct page_cache *cache, const char *key, const char *stamp, int64_t second, const struct http_response *page);

/** Count the open alerts for the navigation of a page. Err: the database's. */
int page_count_alerts(struct site *site, struct http_response *response, struct fw_err *err);
/**
 * Answer the GET of a page that every user with scope read may see: from the cache, else by `handler`, whose answer is cached if
 * it is a page and has no ETag. `handler` reads one state of the database, and must not write; the open alerts are counted.
 * `response`: what the guard set.
 */
int page_get(
	struct site *site, struct http_request *r, struct http_response *response, http_handler_fn *handler, struct fw_err *err);

/* ---- slow branches: the branches whose live alert outlasts later pushes. ---- */

/** The live alert with the largest slowdown of a branch. */
struct slow_branch {
	int64_t alert;
	enum alertstate state;
	double worst_pct;
	char repo[128], branch[BRANCH_KEY_MAX], target[65]; /* target: the commit since which it is slower */
};
struct slow_branches {
	struct slow_branch *list;
	int n;
};

/** Read open and acknowledged alerts of slower cells. Own: slow_branches_fini, also after an error. Err: the database's. */
int slow_branches_read(struct db *db, struct slow_branches *out, struct fw_err *err);
/**
 * The alert that is the state of the branch rather than the verdict of its newest push: unless that push failed, or is slower
 * itself by as much. NULL: none. Borrowed.
 */
const struct slow_branch *slow_branch_of(const struct slow_branches *all, const struct view_branch *row);
void slow_branches_fini(struct slow_branches *all);

/*
 * ---- comparison ----
 * A stored comparison as its page reads it: the body that the API serves, with its neighbours.
 *
 * Content of the body is shown, missing content is a dash with its reason; no value is computed twice.
 */

enum { COMPARISON_CELLS_MAX = 512 };

enum { COMPARISON_PEERS_MAX = 8 }; /* that a page shows: the maximum of a manifest */

/** Speed of a cell relative to a peer, and the source of these values. */
struct comparison_peer {
	const char *provider, *commit, *basis;
	int64_t comparison;
	double base_pct, target_pct, ci_low_pct, ci_high_pct;
};

struct comparison_cell {
	struct jsonr_span text; /* the cell in the body */
	json_t *json;           /* the whole cell, once it was opened */
	int n;                  /* position in the suite */
	enum verdict verdict;
	enum decider decided_by;
	const char *key, *group, *title, *line, *direction, *failure, *reason;
	const char *device,
		*confirmed_on; /* uuid of the device that timed it, and that of its confirming set where it is another; "": none */
	const char *flags;     /* names separated by spaces */
	const char *base_provider, *target_provider, *base_config, *target_config; /* that ran, and their configurations */
	int64_t size;
	int runs, samples;
	double pieces, threshold_pct, base_ms, target_ms, base_tflops, target_tflops, base_gb_s, target_gb_s;
	double change_pct, ci_low_pct, ci_high_pct, mde_pct, base_mhz, target_mhz, blocks_kept, enqueue_us /* of the target */;
	double base_over_baseline, target_over_baseline, ideal_over_baseline; /* speed relative to its baseline; NAN: none */
	bool borderline, confirmed;                                           /* confirmed: a second set of fresh runs timed it */
	int n_peers;
	struct comparison_peer peer[COMPARISON_PEERS_MAX];
	double since_previous_pct; /* change since the previous push; NAN where the two have no common base */
};

struct comparison_side {
	const char *name, *commit, *module_sha256, *build, *toolchain, *provider, *pinned, *subject,
		*author; /* pinned: the configuration that a user requested */
};

/** Texts are "" and numbers NAN where the body has none. */
struct comparison {
	struct buf body; /* as stored */
	char *storage;   /* buffer of the texts below */
	int64_t id, job;
	enum jobkind kind;
	enum verdict verdict;
	const char *repo, *branch, *suite, *identical_by, *base_how, *isolation, *finished_at;
	struct comparison_side base, target;
	struct {
		const char *baseline_period, *device, *kind, *name, *driver, *toolkit, *cudnn,
			*timing;                 /* baseline period "": nothing ran */
		double power_limit_w, peak_gb_s; /* of the device's memory */
	} environment;
	double gpu_s, wall_s, rule_k;
	double step_s[DEVICE_STEPS]; /* seconds of gpu_s; NAN: no such step */
	bool quick;
	struct {
		int number, of, suite_cells, nights, measured; /* `of` 0: the suite is measured whole */
	} shard;
	const char *unprofiled;
	const char *changed; /* paths of changed files, of a benchmark program, separated by spaces */
	int n_changed;
	const char *alone; /* why the commit was compared with itself although it has a base */
	bool is_new;       /* because the commit adds the benchmark */
	struct jsonr_span notes, costs, long_over_short;
	const struct chip *chip; /* NULL: unknown */
	int cores;               /* of the device, 0: unknown */
	int regressions, runs, n_cells;
	struct comparison_cell *cell; /* in the order of the suite */
	const struct view_around *around;
};

/**
 * Read a comparison. Own: comparison_free, also after an error; `around` (NULL: nothing) stays the caller's. Err: ERR_NOT_FOUND.
 */
int comparison_read(struct db *db, int64_t id, const struct view_around *around, struct comparison *out, struct fw_err *err);
void comparison_free(struct comparison *c);

/** Names of both sides for names of files. Shape: name[2]. */
void comparison_side_names(const struct comparison *c, char name[2][SIDE_NAME_SIZE]);
/**
 * Return whether file `file` of ffa_csv_files has rows: a cell of its kind has a time, or the comparison is identical, which
 * times none.
 */
bool comparison_has_file(const struct comparison *c, int file);

/** All content of the body about a cell, for uses beyond a row. Own: the cell's. NULL: it is no JSON. */
const json_t *comparison_open(struct comparison_cell *cell);

/** A number of an object, NAN when absent or null; a text, "" when absent or null. */
double comparison_number(const json_t *object, const char *key);
const char *comparison_text(const json_t *object, const char *key);

/**
 * The values that a verdict is based on: of the pairs, or of sustained runs or the mean call where those decided. Units: percent;
 * NAN: unknown.
 */
struct comparison_judged {
	double change_pct, ci_low_pct, ci_high_pct;
};
struct comparison_judged comparison_judged(struct comparison_cell *cell);
/** The object of the body that contains them. Own: the cell's. NULL: the pairs decided. */
const json_t *comparison_decided(struct comparison_cell *cell);

/** Number of cells with this verdict. */
int comparison_count(const struct comparison *c, enum verdict verdict);
/** The cell with this key; NULL: there is none. */
struct comparison_cell *comparison_find(const struct comparison *c, const char *key);
/** Return whether a verdict means that nothing happened to a cell. */
bool comparison_is_quiet(enum verdict verdict);

/** Useful TFLOP/s of the target against the peak at the clock it ran at. Units: percent; NAN: unknown. */
double comparison_peak_pct(const struct comparison *c, double tflops, double mhz);
/** Writes a note where a rate of bytes is above the bandwidth of the device's memory; nothing where that is unknown. */
void comparison_above_peak(struct buf *out, const struct comparison *c, double gb_s);
/** The unit of the rates of both sides of all cells. */
struct unit comparison_unit(const struct comparison *c);

/** Return whether a row comes from a benchmark program, or was imported: no module reported more about it than its times. */
bool comparison_is_program(const struct comparison_cell *cell);
/** Return whether all cells were measured by benchmark programs, or imported. */
bool comparison_is_of_programs(const struct comparison *c);
/** Why no profile explains a benchmark program's regression, with the changed files; "" for other comparisons. */
const char *comparison_unprofiled(const struct comparison *c);
/** Return whether the useful FLOPs of any row are known; else the comparison shows only times. */
bool comparison_has_flops(const struct comparison *c);
/**
 * Return whether the judged change differs visibly from the quotient of the two displayed medians, which then needs an
 * explanation.
 */
bool comparison_is_paired_separate(const struct comparison_cell *cell);
/** Return whether one provider ran both sides, in reported configurations that differ. */
bool comparison_is_reconfigured(const struct comparison_cell *cell);

/**
 * The phase that changed: its own interval excludes 0 and it covers at least half of the cell's change. NULL: no phase can be
 * named. Own: the body's.
 */
const char *comparison_cause(struct comparison_cell *cell);

/*
 * ---- finding ----
 * The finding of a comparison as plain text: the title of its page and the first line of its review comment.
 */

/** Append "ada/three-stages is 4.0 % slower in 6 of 20 cells". */
void comparison_finding(const struct comparison *c, struct buf *out);
/** Append the evidence of the verdict, without a full stop; nothing where the verdict has no interval. */
void comparison_evidence(const struct comparison *c, struct buf *out);
/** Return the cell with this verdict that changed most; NULL: none. */
struct comparison_cell *comparison_find_most_changed(const struct comparison *c, enum verdict verdict);
/** Return whether a cell has this flag. */
bool comparison_has_flag(const struct comparison_cell *cell, const char *flag);

enum { FINDING_BYTES = 16 * BRANCH_KEY_MAX /* that a finding may have */ };

/*
 * ---- capture ----
 * A cell as its job had it: the JSON that runs its calls again. It is in the suite, which takes longer to read than everything
 * else in an opened row, so the suites read last are cached. A suite never changes, so no entry can be out of date.
 */

struct captures;

/** Own: captures_free, which accepts NULL. */
struct captures *captures_new(void);
void captures_free(struct captures *captures);

/** Append the cell of a comparison. `captures` may be NULL. 1, 0 its suite has no such cell, -1. */
int captures_cell(struct captures *captures, struct db *db, const struct comparison *c, const char *key, struct buf *out,
	struct fw_err *err);

/* ---- page: Server-drawn HTML that needs no script. Every handler's `arg` is the struct site. ---- */

http_handler_fn page_overview, page_comparisons, page_comparison, page_history, page_history_svg, page_heat, page_commit,
	page_jobs, page_job;
http_handler_fn page_alerts, page_alert, page_bisects, page_bisect, page_devices, page_peers, page_help, page_search;
http_handler_fn page_notifications, page_glossary, page_troubleshooting, page_compare, page_compare_files, page_branches,
	page_reference, page_reference_entry, page_repo, page_settings;
struct site;
/* ?work= of lists: jobs that users pushed or requested; jobs that update histories, peers and noise (jobkind_is_upkeep); both. */
#define WORK_REQUESTED "requested"
#define WORK_UPKEEP    "upkeep"
#define WORK_ALL       "all"
#define WORK_WORDS     WORK_REQUESTED " " WORK_UPKEEP " " WORK_ALL
/** A banner where the daemon does not start jobs, and one for each worker that is down, with the reasons. */
void page_worker_banners(struct site *site, struct buf *out);
/* Atom. */
http_handler_fn feed_alerts, feed_comparisons;

/** GET /static/{file} */
http_handler_fn page_static;

/* ---- peer: Peers on a comparison's page: the speed of its sides relative to providers that serve as reference. ---- */

/** Return whether it compares providers or configurations with each other (jobkind_is_side_by_side). */
bool comparison_is_side_by_side(const struct comparison *c);
/** Providers for which some cell has values, sorted. Shape: out[COMPARISON_PEERS_MAX]; the body's texts. Returns how many. */
int comparison_peers(const struct comparison *c, const char **out);
/** Values of a cell relative to `provider`; NULL: none. Own: the cell's. */
const struct comparison_peer *comparison_peer(const struct comparison_cell *cell, const char *provider);

/** The summary sentence of a comparison with a peer, after its verdict. */
void comparison_peer_sentence(struct buf *out, const struct comparison *c);
/** A card with one line per peer; nothing without peers. */
void comparison_peer_card(struct buf *out, const struct comparison *c);
/** Rows of "name, base, target, change" for an opened cell. */
void comparison_peer_rows(struct buf *out, const struct comparison_cell *cell);
/** The target's percent as a table cell. */
void comparison_peer_column(struct buf *out, const struct comparison_cell *cell, const char *provider);

/* ---- picture: A comparison as a separate SVG file: each cell's change with its interval, for a README or a review. ---- */

/**
 * Draw. The file has its own colours, is valid XML and needs no script; cells after the first 60 are counted instead of drawn.
 */
void comparison_picture(struct buf *out, struct comparison *c);

/* ---- profile: REST under /api/v1/profiles: why cells became slower. Every handler's `arg` is the struct site. ---- */

http_handler_fn api_profiles, api_profile, api_profile_csv, api_profile_md, api_profile_post, api_profile_configurations_csv,
	api_profile_configurations_md;

/*
 * ---- reproduce ----
 * Commands that rerun a cell: measure it again, run either side's kernel alone, under ncu, under nsys.
 *
 * They contain the inputs of the comparison: the device by its uuid, the provider, the path of the module on the worker, the cell
 * as JSON. Rows of benchmark programs have none, and lines that need unknown facts about a worker are left out.
 */

/** `what` describes the purpose of `line`, which may have several lines. */
typedef void reproduce_line_fn(void *arg, const char *what, const char *line);

/**
 * Where the lines about kernels have to run: "on gpu1, as alice"; "" where there are none. Shape: where[REPRODUCE_WHERE_SIZE].
 */
enum { REPRODUCE_WHERE_SIZE = 160 };

struct site;

/**
 * Pass each line to `each`. `where` is complete before the first call. Without a public address the lines use the default address
 * of the command line.
 */
int reproduce_lines(struct site *site, const struct comparison *c, const struct comparison_cell *cell,
	char where[REPRODUCE_WHERE_SIZE], reproduce_line_fn *each, void *arg, struct fw_err *err);

/**
 * Append the line that measures the noise of the comparison's device, or, for `cell`, that deletes the stored noise of that cell.
 */
void reproduce_calibrate(const struct comparison *c, const struct comparison_cell *cell, struct buf *line);

/**
 * The cell that a user reads first: the worst regression, else the first with another verdict than unchanged, else the first.
 * NULL: none.
 */
const struct comparison_cell *reproduce_worst(const struct comparison *c);

#endif
