/** page.h - the pages. */
#ifndef WEB_PAGE_PAGE_H
#define WEB_PAGE_PAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/db.h"
#include "lib/lib.h"
#include "web/html/html.h"
#include "web/http/http.h"

/*
 * ---- cache ----
 * Drawn pages of comparisons, kept in memory. A finished comparison hardly ever changes, but its page can: by
 * another judgement of the same samples, its alert's life, a newer push beside it. The stamp holds all of that.
 */

enum { PAGE_STAMP_MAX = 65, PAGE_CACHE_BYTES = 2 << 20 };

struct page_cache;

/** Own: page_cache_free. NULL is a cache that stores nothing. */
struct page_cache *page_cache_new(void);
void page_cache_free(struct page_cache *cache);

/** What a comparison's page depends on, as a hash; `profile`: how its profile stands; `logged_in`: it offers to log out. Shape: stamp[PAGE_STAMP_MAX]. */
void page_stamp(int64_t comparison, const struct view_around *around, const char *profile, bool logged_in, char *stamp);

/** Append the page drawn for this stamp. False: it is not there. */
bool page_cache_get(struct page_cache *cache, int64_t id, const char *stamp, struct buf *out);
/** Keep a page; the ones unused for longest make room, so that all together stay below PAGE_CACHE_BYTES. */
void page_cache_put(struct page_cache *cache, int64_t id, const char *stamp, const struct buf *page);

/*
 * ---- comparison ----
 * A stored comparison as its page reads it: the body that the API serves, with what lies around it.
 *
 * What the body holds is shown, what it lacks is a dash with its reason; nothing is worked out twice.
 */

enum { COMPARISON_CELLS_MAX = 512 };

enum { COMPARISON_PEERS_MAX = 8 }; /* that a page shows: as many as a manifest names */

/** How fast a cell is beside a peer, and what says so. */
struct comparison_peer {
	const char *provider, *commit, *basis;
	int64_t comparison;
	double base_pct, target_pct, ci_low_pct, ci_high_pct;
};

struct comparison_cell {
	struct jsonr_span text; /* the cell in the body */
	json_t *json;           /* all of it, once it was opened */
	int n;                  /* place in the suite */
	enum verdict verdict;
	enum decider decided_by;
	const char *key, *group, *title, *line, *direction, *failure, *reason;
	const char *device,
		*confirmed_on; /* uuid of what it was timed on, and its confirming set where that is another; "" nothing */
	const char *flags;     /* words with spaces between */
	const char *base_provider, *target_provider, *base_config, *target_config; /* that ran, and how */
	int64_t size;
	int runs, samples;
	double pieces, threshold_pct, base_ms, target_ms, base_tflops, target_tflops, base_gb_s, target_gb_s;
	double change_pct, ci_low_pct, ci_high_pct, mde_pct, base_mhz, target_mhz, blocks_kept;
	double base_over_baseline, target_over_baseline, ideal_over_baseline; /* speed beside its baseline; NAN none */
	bool borderline, confirmed;                                           /* confirmed: a second set of fresh runs timed it */
	int n_peers;
	struct comparison_peer peer[COMPARISON_PEERS_MAX];
	double since_previous_pct; /* change since the push before; NAN where the two have no base in common */
};

struct comparison_side {
	const char *commit, *module_sha256, *build, *toolchain, *provider, *pinned, *subject,
		*author; /* pinned: the configuration that a person wants */
};

/** Texts are "" and numbers NAN where the body has none. */
struct comparison {
	struct buf body; /* as stored */
	char *room;      /* the texts below */
	int64_t id, job;
	enum jobkind kind;
	enum verdict verdict;
	const char *repo, *branch, *suite, *identical_by, *base_how, *isolation, *finished_at;
	struct comparison_side base, target;
	struct {
		const char *baseline_period, *device, *kind, *name, *driver, *toolkit, *cudnn,
			*timing;                 /* baseline period "": nothing ran */
		double power_limit_w, peak_gb_s; /* of its memory */
	} environment;
	double gpu_s, wall_s, rule_k;
	double step_s[DEVICE_STEPS]; /* of gpu_s; NAN: no such step */
	bool quick;
	struct {
		int number, of, suite_cells, nights, measured; /* `of` 0: the suite is measured whole */
	} part;
	struct jsonr_span notes, costs, long_over_short;
	const struct chip *chip; /* NULL: not known */
	int cores;               /* of the device, 0 unknown */
	int regressions, runs, n_cells;
	struct comparison_cell *cell; /* in the order of the suite */
	const struct view_around *around;
};

/** Read a comparison. Own: comparison_free, also after an error; `around` (NULL: nothing) stays the caller's. Err: ERR_NOT_FOUND. */
int comparison_read(struct db *db, int64_t id, const struct view_around *around, struct comparison *out, struct fw_err *err);
void comparison_free(struct comparison *c);

/** All that the body holds about a cell, for what shows more than a row. Own: the cell's. NULL: it is no JSON. */
const json_t *comparison_open(struct comparison_cell *cell);

/** A number of an object, NAN when absent or null; a text, "" likewise. */
double comparison_number(const json_t *object, const char *key);
const char *comparison_text(const json_t *object, const char *key);

/** The figures that a verdict stands for: of the pairs, or of sustained runs or the mean call where those decided. Units: percent; NAN not known. */
struct comparison_judged {
	double change_pct, ci_low_pct, ci_high_pct;
};
struct comparison_judged comparison_judged(struct comparison_cell *cell);
/** The object of the body that they are read from. Own: the cell's. NULL: the pairs decided. */
const json_t *comparison_decided(struct comparison_cell *cell);

/** How many cells have this verdict. */
int comparison_count(const struct comparison *c, enum verdict verdict);
/** The cell with this key; NULL: there is none. */
struct comparison_cell *comparison_find(const struct comparison *c, const char *key);
/** Whether a verdict says of a cell that nothing happened to it. */
bool comparison_is_quiet(enum verdict verdict);

/** Useful TFLOP/s of the target against the peak at the clock it ran at. Units: percent; NAN unknown. */
double comparison_peak_pct(const struct comparison *c, double tflops, double mhz);
/** Says so where a rate of bytes is above what the device's memory can do; where that is not known, nothing. */
void comparison_above_peak(struct buf *out, const struct comparison *c, double gb_s);
/** The unit of the rates of both sides of all cells. */
struct unit comparison_unit(const struct comparison *c);

/** Whether a row is of a program of its own, or imported: there is no module that said more of it than its times. */
bool comparison_is_program(const struct comparison_cell *cell);
/** Whether all of it was measured by a program of its own, or elsewhere. */
bool comparison_is_of_programs(const struct comparison *c);
/** Whether the useful FLOPs of any row are known; else the comparison speaks of time alone. */
bool comparison_has_flops(const struct comparison *c);
/** Whether the judged change is shown beside two medians whose quotient reads otherwise, which then wants a word. */
bool comparison_is_paired_separate(const struct comparison_cell *cell);
/** Whether one provider ran both sides, in configurations that it reported and that differ. */
bool comparison_is_reconfigured(const struct comparison_cell *cell);

/**
 * The phase that moved: its own interval leaves out 0 and it covers at least half of the cell's change. NULL: none can be named.
 * Own: the body's.
 */
const char *comparison_cause(struct comparison_cell *cell);

/*
 * ---- capture ----
 * A cell as a job had it: the JSON that runs its calls again. It stands in the suite, which takes longer to read than all else
 * that an opened row shows; so those read last are kept. A suite never changes, so nothing here can be out of date.
 */

struct captures;

/** Own: captures_free, which accepts NULL. */
struct captures *captures_new(void);
void captures_free(struct captures *captures);

/** Append the cell of a comparison. `captures` may be NULL. 1, 0 its suite has no such cell, -1. */
int captures_cell(struct captures *captures, struct db *db, const struct comparison *c, const char *key, struct buf *out,
	struct fw_err *err);

/* ---- page: The pages: server-drawn HTML that needs no script. Every handler's `arg` is the struct site. ---- */

http_handler_fn page_overview, page_comparisons, page_comparison, page_history, page_history_svg, page_heat, page_commit,
	page_jobs, page_job;
http_handler_fn page_alerts, page_alert, page_bisects, page_bisect, page_devices, page_peers, page_help, page_api, page_search;
http_handler_fn page_notifications, page_glossary, page_troubleshooting, page_compare;
struct site;
/* ?work= of lists: what users pushed or requested, what keeps histories, peers and noise up to date (jobkind_is_upkeep), both. */
#define WORK_REQUESTED "requested"
#define WORK_UPKEEP    "upkeep"
#define WORK_ALL       "all"
#define WORK_WORDS     WORK_REQUESTED " " WORK_UPKEEP " " WORK_ALL
/** A banner where the daemon begins no job, and one for each worker that is down, with the reasons. */
void page_worker_banners(struct site *site, struct buf *out);
/* Atom. */
http_handler_fn feed_alerts, feed_comparisons;

/** GET /static/{file} */
http_handler_fn page_static;

/* ---- peer: What a comparison's page says of peers: how fast its sides are beside providers that are yardsticks. ---- */

/** Whether it sets providers or configurations beside each other (jobkind_is_side_by_side). */
bool comparison_is_side_by_side(const struct comparison *c);
/** Providers that some cell has figures of, in their order. Shape: out[COMPARISON_PEERS_MAX]; the body's texts. How many. */
int comparison_peers(const struct comparison *c, const char **out);
/** A cell's figures beside `provider`; NULL none. Own: the cell's. */
const struct comparison_peer *comparison_peer(const struct comparison_cell *cell, const char *provider);

/** The lead of a comparison against a peer, after its verdict. */
void comparison_peer_sentence(struct buf *out, const struct comparison *c);
/** A card with a line a peer; nothing without peers. */
void comparison_peer_card(struct buf *out, const struct comparison *c);
/** Rows of "name, base, target, change" for an opened cell. */
void comparison_peer_rows(struct buf *out, const struct comparison_cell *cell);
/** The target's percent as a table cell. */
void comparison_peer_column(struct buf *out, const struct comparison_cell *cell, const char *provider);

/* ---- picture: A comparison as an SVG file of its own: each cell's change with its interval, for a README or a review. ---- */

/** Draw. Its colours are its own, it is XML and needs no script; cells after the first 60 are counted instead of drawn. */
void comparison_picture(struct buf *out, struct comparison *c);

/* ---- profile: REST under /api/v1/profiles: why cells lost. Every handler's `arg` is the struct site. ---- */

http_handler_fn api_profiles, api_profile, api_profile_csv, api_profile_md, api_profile_post, api_profile_configurations_csv,
	api_profile_configurations_md;

/*
 * ---- reproduce ----
 * Commands that rerun a cell: measure it again, run either side's kernel alone, under ncu, under nsys.
 *
 * They hold what the comparison ran with: the device by its uuid, the provider, the module where the worker keeps it, the cell as JSON.
 * Rows of programs have none, and what is not known of a worker leaves its lines out.
 */

/** `what` says in words what `line` does; it may have several lines. */
typedef void reproduce_line_fn(void *arg, const char *what, const char *line);

/** Where the lines about kernels run: "on gpu1, as alice"; "" where there are none. Shape: where[REPRODUCE_WHERE_SIZE]. */
enum { REPRODUCE_WHERE_SIZE = 160 };

struct site;

/** Give each line. `where` is complete before the first. Without a public address they are for where the command line looks by itself. */
int reproduce_lines(struct site *site, const struct comparison *c, const struct comparison_cell *cell,
	char where[REPRODUCE_WHERE_SIZE], reproduce_line_fn *each, void *arg, struct fw_err *err);

/** Append the line that measures how runs of the comparison's device noise, or, for `cell`, that forgets it. */
void reproduce_calibrate(const struct comparison *c, const struct comparison_cell *cell, struct buf *line);

/** The cell that a person looks at first: the worst regression, else the first with another verdict than unchanged, else the first. NULL: none. */
const struct comparison_cell *reproduce_worst(const struct comparison *c);

#endif
