/**
 * comparison.h - a stored comparison as its page reads it: the body that the API serves, with what lies around it.
 *
 * What the body holds is shown, what it lacks is a dash with its reason; nothing is worked out twice.
 */
#ifndef WEB_PAGE_COMPARISON_H
#define WEB_PAGE_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/unit.h"
#include "lib/buf.h"
#include "lib/jsonr.h"
#include "db/db.h"
#include "db/cell.h"
#include "web/html/derive.h"

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

/** Read a comparison. Own: comparison_free, also after an error; `around` stays the caller's. Err: ERR_NOT_FOUND. */
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
/** Whether one provider ran both sides, in configurations that it told and that differ. */
bool comparison_is_reconfigured(const struct comparison_cell *cell);

/**
 * The phase that moved: its own interval leaves out 0 and it covers at least half of the cell's change. NULL: none can be named.
 * Own: the body's.
 */
const char *comparison_cause(struct comparison_cell *cell);

#endif
