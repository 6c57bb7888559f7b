/**
 * comparison.h - a stored comparison as its page reads it: the body that the API serves, with what lies around it.
 *
 * What the body holds is shown, what it lacks is a dash with its reason; nothing is worked out twice.
 */
#ifndef WEB_COMPARISON_H
#define WEB_COMPARISON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/db.h"
#include "db/store_show.h"
#include "web/derive.h"

enum { COMPARISON_CELLS_MAX = 512 };

struct comparison_cell {
	const json_t *json;
	int n; /* place in the suite */
	const char *key, *verdict, *group, *mask, *direction, *failure, *reason;
	int seqlen, block, launches, samples;
	double sparsity_ratio, threshold_pct, base_ms, target_ms, base_tflops, target_tflops;
	double change_pct, ci_low_pct, ci_high_pct, mde_pct, base_mhz, target_mhz;
	bool borderline;
	double previous_pct;       /* change of this cell in the push before, against its own base; NAN unknown */
	double since_previous_pct; /* change since the push before; NAN where the two have no base in common */
};

struct comparison {
	json_t *body;
	int64_t id, job, finished_at;
	const char *repo, *branch, *kind, *verdict, *suite, *identical_by, *base, *target;
	const json_t *environment; /* NULL: nothing ran */
	const struct chip *chip;   /* NULL: not known */
	int cores;                 /* of the device, 0 unknown */
	int regressions, n_cells;
	struct comparison_cell *cell; /* in the order of the suite */
	struct view_near near;
	char previous_base[65], previous_target[65], previous_verdict[24], previous_epoch[65];
	struct {
		int64_t id;
		char state[16];
	} alert; /* id 0: none */
};

/** Read a comparison. Own: comparison_free, also after an error. Err: ERR_NOT_FOUND. */
int comparison_read(struct db *db, int64_t id, struct comparison *out, struct fw_err *err);
void comparison_free(struct comparison *c);

/** A number of an object, NAN when absent or null; a text, "" likewise. */
double comparison_number(const json_t *object, const char *key);
const char *comparison_text(const json_t *object, const char *key);

/** Useful TFLOP/s of the target against the peak at the clock it ran at. Units: percent; NAN unknown. */
double comparison_peak_pct(const struct comparison *c, double tflops, double mhz);

/**
 * The phase that moved: its own interval leaves out 0 and it covers at least half of the cell's change. NULL: none can be named.
 * Own: the body's.
 */
const char *comparison_cause(const struct comparison_cell *cell);

#endif
