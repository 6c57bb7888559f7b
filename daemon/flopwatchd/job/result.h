/**
 * result.h - everything that is known about one job while it runs: what was asked, by whom it was measured, what came back.
 *
 * A session fills it from the worker's messages; nothing of it is stored before the worker says done, and then the judge
 * stores all of it in one transaction. A job whose sides have equal inputs gets a result without a worker (`identical_by`).
 */
#ifndef FLOPWATCHD_JOB_RESULT_H
#define FLOPWATCHD_JOB_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/protocol/protocol.h"
#include "flopwatchd/job/plan.h"
#include "flopwatchd/job/profiled.h"

struct result {
	struct plan plan; /* owned */
	int64_t started_at, ended_at;

	/* who measured; device.uuid is "" when nothing ran */
	struct msg_device device;
	int64_t device_id;     /* row; 0: none */
	int64_t *cell_device;  /* of a job that was split: rows, by cell; NULL: all on that one. Owned */
	int64_t *confirmed_on; /* of a job whose confirming sets ran elsewhere: rows, by cell, 0 none; NULL: none did. Owned */
	char isolation[8];     /* "bwrap" "none" */
	char worker_version[32];

	char identical_by[8]; /* "", "tree" (nothing was built), "module" (built alike; set by result_end) */
	bool is_named;        /* a program whose rows nobody saw: its one cell bears the name of the benchmark */

	/* last word on each subject's build; build[i].role is ROLE_NONE when it was not heard of */
	struct msg_build build[PROTOCOL_SUBJECTS_MAX];

	int n_checks, n_works, n_nodes, n_runs, n_cells, n_faults, n_notes;
	struct msg_check *check; /* in order of arrival; a later one for the same role and cell replaces the earlier */
	struct msg_work *work;   /* likewise */
	struct msg_node *node;   /* in order of the graph; new work of a role and cell replaces its nodes */
	struct msg_process_run **process_run; /* run numbers are unique */
	struct msg_cell **cell;               /* timings: unique by run, cell, series, phase; a redo replaces */
	struct msg_fault *fault;
	struct msg_note *note; /* at most RESULT_NOTES_MAX, the first ones */

	struct profiled profiled; /* of a job of kind profile */

	struct msg_done done; /* of the worker; zeros when nothing ran */
	size_t bytes;         /* memory held, to refuse a worker that never stops */
};

/** Start a result for `plan`. Own: takes over the plan's contents and leaves `plan` empty. */
struct result *result_new(struct plan *plan);
void result_free(struct result *r);

/**
 * Take in one message of the worker: build, found, check, work, node, run, cell, kernel, code, counterfactual, profile, fault, done. Others
 * are ignored.
 * Own: takes over what `m` owns (and forgets it there).
 * Err: ERR_PROTOCOL an index, role or number that the job does not have; ERR_FULL more than RESULT_BYTES_MAX.
 */
int result_add(struct result *r, struct msg *m, struct fw_err *err);
/** Give a program without rows (not built, not run) one cell with its name, so that there is a place to say so. */
int result_name_cell(struct result *r, struct fw_err *err);
/** Whether the rows of a program are not known: it was not run, or the target ended early in the run that finds them. */
bool result_rows_unknown(const struct result *r);
/** Of a plan that needs no worker: why it does not, and a cell for it. */
int result_unrun(struct result *r, struct fw_err *err);
/** After done: name a cell where there is none, and set identical_by when base and target built to the same module. */
void result_end(struct result *r);

enum { RESULT_NOTES_MAX = 64 };

#define RESULT_BYTES_MAX (256u << 20)

/** Position of a role among the job's subjects, -1 if it has none such. */
int result_subject(const struct result *r, enum role role);
/** The check of (role, cell), NULL if none. */
const struct msg_check *result_check(const struct result *r, enum role role, int cell);
/** First fault that touches (cell, role): one of that cell or of no cell in particular. NULL if none. */
const struct msg_fault *result_fault(const struct result *r, enum role role, int cell);

/** Row of the device that timed a record, where a job had several; 0: the one that measured all. */
int64_t result_device(const struct result *r, const struct msg_cell *m);

/** Whether two kernels' compiled code is not known to differ. */
bool result_same_code(const struct msg_node *a, const struct msg_node *b);

#endif
