/**
 * alert_cells.h - the cells of an alert while it is put together from a result: each with the phase that explains at least half of its loss and the kernel there,
 * and gathered into groups that most likely have one cause (same family, direction, phase, kernel, class of failure, and decided by the same: pairs, sustained runs, or slow calls).
 * Cells of which no phase explains half join the group that has a phase and is the same otherwise, if there is one alone. The joined group has no
 * phase and no kernel; each of its cells keeps its own.
 */
#ifndef FLOPWATCHD_ALERT_ALERT_CELLS_H
#define FLOPWATCHD_ALERT_ALERT_CELLS_H

#include "base/jsonw.h"
#include "core/verdict/explain.h"
#include "db/store/result.h"
#include "flopwatchd/job/result.h"

enum { ALERT_GROUPS_MAX = 64, ALERT_KERNEL_SIZE = 128 };

struct alert_group {
	char family[64], direction[16]; /* of a program of its own its name, and "" */
	char phase[16]; /* that explains at least half of what moved, and moved most; "" none does, or not known */
	char kernel[ALERT_KERNEL_SIZE]; /* of that phase, the one that changed if one did, else its only one; "" not known */
	char failure[16];               /* "" its time moved */
	bool is_gain;
	enum decider decider;    /* phases say nothing of sustained runs, nor of slow calls */
	char slow[EXPLAIN_SIZE]; /* how many calls take how much longer, where those decided */
	int cells;
	double most_pct; /* of the cell that lost most, or gained most; NAN: none */
};

struct alert_cells {
	int n;
	double worst_pct;
	char detail[200]; /* what the first failing cell said */
	int n_groups;     /* further groups are counted in the last one */
	struct alert_group group[ALERT_GROUPS_MAX];
	struct buf cells, groups;
	struct jsonw j;
};

void alert_cells_init(struct alert_cells *a);
void alert_cells_fini(struct alert_cells *a);
/** Add cell `i` of `r`, judged as `c`; `c->failure` is what became of it where it did not run, whatever the base did. */
void alert_cells_add(struct alert_cells *a, const struct result *r, int i, const struct store_cell *c);
/** Add a cell of which only suite and key are known. Beyond STORE_ALERT_CELLS_MAX they are counted alone. */
void alert_cells_add_key(struct alert_cells *a, const char *suite, const char *key, const char *verdict);
/** Add a cell that an unpaired measurement calls slower. */
void alert_cells_add_unpaired(struct alert_cells *a, const char *suite, const char *key, int64_t comparison, double change_pct);
/** The same of a cell that vanished with its suite; `comparison` is the last that had it. */
void alert_cells_add_lost(struct alert_cells *a, const char *suite, const char *key, int64_t comparison);
/** Count the cells of an alert as stored, for their groups, title and worst loss. Only for describing: alert_cells_end gives no cells. */
void alert_cells_count(struct alert_cells *a, const char *cells_json);
/** Finish both texts. Err: ERR_FULL they do not fit. Own: valid until alert_cells_fini. */
int alert_cells_end(struct alert_cells *a, const char **cells_json, const char **groups_json, struct fw_err *err);
/** One line for people, once all cells are added: "attention forward (run) -3.1 % in 4 cells, and 2 more groups". Shape: out[size]. */
void alert_cells_title(struct alert_cells *a, char *out, size_t size);

#endif
