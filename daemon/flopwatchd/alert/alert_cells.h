/**
 * alert_cells.h - the cells of an alert, each with the phase that explains at least half of its loss and that phase's kernel.
 * Groups hold cells that most likely have one cause: same family, direction, phase, kernel, class of failure and decider
 * (pairs, sustained runs or slow calls). Cells without such a phase join the group that has a phase and is equal otherwise, if
 * there is exactly one. The joined group has no phase and no kernel; its cells keep theirs.
 */
#ifndef FLOPWATCHD_ALERT_ALERT_CELLS_H
#define FLOPWATCHD_ALERT_ALERT_CELLS_H

#include "lib/jsonw.h"
#include "verdict/explain.h"
#include "db/result.h"
#include "flopwatchd/job/result.h"

enum { ALERT_GROUPS_MAX = 64, ALERT_KERNEL_SIZE = 128 };

struct alert_group {
	char family[64], direction[16]; /* of a benchmark: its name, and "" */
	char phase[16];                 /* explains at least half of the change, and changed most; "": none, or unknown */
	char kernel[ALERT_KERNEL_SIZE]; /* of that phase: the changed one, else its only one; "": unknown */
	char failure[16];               /* "": its time changed */
	bool is_gain;
	enum decider decider;    /* phases explain neither sustained runs nor slow calls */
	char slow[EXPLAIN_SIZE]; /* how many calls take how much longer, if those decided */
	int cells;
	double most_pct; /* of the cell that lost or gained most; NAN: none */
};

struct alert_cells {
	int n;
	double worst_pct;
	char detail[200]; /* error of the first failing cell */
	int n_groups;     /* the last one counts all further groups */
	struct alert_group group[ALERT_GROUPS_MAX];
	struct buf cells, groups;
	struct jsonw j;
};

void alert_cells_init(struct alert_cells *a);
void alert_cells_fini(struct alert_cells *a);
/** Add cell `i` of `r`, judged as `c`. `c->failure` is the target's failure, whether the base failed or not. */
void alert_cells_add(struct alert_cells *a, const struct result *r, int i, const struct store_cell *c);
/** Add a cell of which only suite and key are known. Beyond STORE_ALERT_CELLS_MAX cells are only counted. */
void alert_cells_add_key(struct alert_cells *a, const char *suite, const char *key, const char *verdict);
/** Add a cell that an unpaired measurement calls slower. */
void alert_cells_add_unpaired(struct alert_cells *a, const char *suite, const char *key, int64_t comparison, double change_pct);
/** Add a cell that vanished with its suite; `comparison` is the last with that cell. */
void alert_cells_add_lost(struct alert_cells *a, const char *suite, const char *key, int64_t comparison);
/** Count an alert's stored cells for groups, title and worst loss; alert_cells_end then gives no cells. */
void alert_cells_count(struct alert_cells *a, const char *cells_json);
/** Finish both texts. Err: ERR_FULL they do not fit. Own: valid until alert_cells_fini. */
int alert_cells_end(struct alert_cells *a, const char **cells_json, const char **groups_json, struct fw_err *err);
/** One line for users, once all cells are added: "attention forward (run) -3.1 % in 4 cells, and 2 more groups". */
void alert_cells_title(struct alert_cells *a, char *out, size_t size);

#endif
