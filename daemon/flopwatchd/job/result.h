/**
 * result.h - everything known about one job while it runs: the request, the worker, the results. A session fills it from the
 * worker's messages; nothing is stored before the worker sends done, then the judge stores all of it in one transaction. A job
 * whose sides have equal inputs gets a result without a worker (`identical_by`).
 */
#ifndef FLOPWATCHD_JOB_RESULT_H
#define FLOPWATCHD_JOB_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "protocol/protocol.h"
#include "flopwatchd/job/plan.h"
#include "flopwatchd/job/profiled.h"

struct result {
	struct plan plan; /* owned */
	int64_t started_at, ended_at;

	/* the measuring worker and device; device.uuid is "" if nothing ran */
	struct msg_device device;
	int64_t device_id;     /* row; 0: none */
	int64_t *cell_device;  /* of a split job: rows, by cell; NULL: all on device_id. Owned */
	int64_t *confirmed_on; /* rows of the confirming devices, by cell, 0 none; NULL: none confirmed. Owned */
	char isolation[8];     /* "bwrap" "none" */
	char worker_version[32];

	char identical_by[8]; /* "", "tree" (nothing was built), "module" (equal builds; set by result_end) */
	bool is_named;        /* a benchmark whose rows are unknown: its one cell has the benchmark's name */

	/* last message about each subject's build; build[i].role is ROLE_NONE without one */
	struct msg_build build[PROTOCOL_SUBJECTS_MAX];

	int n_checks, n_works, n_nodes, n_runs, n_cells, n_faults, n_notes;
	struct msg_check *check; /* in order of arrival; a later one for the same role and cell replaces the earlier */
	struct msg_work *work;   /* as check */
	struct msg_node *node;   /* in order of the graph; new work of a role and cell replaces its nodes */
	struct msg_process_run **process_run; /* run numbers are unique */
	struct msg_cell **cell;               /* timings: unique by run, cell, series, phase; a redo replaces */
	struct msg_fault *fault;
	struct msg_note *note; /* the first RESULT_NOTES_MAX */

	struct profiled profiled; /* of a job of kind profile */

	struct msg_done done; /* of the worker; zeros if nothing ran */
	size_t bytes;         /* memory held, limits what a worker may send */
};

/** Start a result for `plan`. Own: takes over the plan's contents and leaves `plan` empty. */
struct result *result_new(struct plan *plan);
void result_free(struct result *r);

/**
 * Add one message of the worker: build, found, check, work, node, run, cell, kernel, code, counterfactual, profile, fault,
 * done; others are ignored. Own: takes over what `m` owns, and clears it there. Err: ERR_PROTOCOL an index, role or number that
 * the job does not have; ERR_FULL more than RESULT_BYTES_MAX.
 */
int result_add(struct result *r, struct msg *m, struct fw_err *err);
/** Give a benchmark without rows (not built, not run) one cell with its name, which carries the failure. */
int result_name_cell(struct result *r, struct fw_err *err);
/** True if the rows of a benchmark are unknown: it did not run, or the target ended early in the run that finds them. */
bool result_rows_unknown(const struct result *r);
/** Set the reason why a plan needs no worker, and a cell for it. */
int result_unrun(struct result *r, struct fw_err *err);
/** Call it after done: names a cell if there is none, and sets identical_by if base and target built the same module. */
void result_end(struct result *r);

enum { RESULT_NOTES_MAX = 64 };

#define RESULT_BYTES_MAX (256u << 20)

/** Index of a role among the job's subjects, -1 none. */
int result_subject(const struct result *r, enum role role);
/** The check of (role, cell), NULL none. */
const struct msg_check *result_check(const struct result *r, enum role role, int cell);
/** First fault of (cell, role): of that cell or of no particular cell. NULL none. */
const struct msg_fault *result_fault(const struct result *r, enum role role, int cell);

/** Row of the device that timed a record in a job of several devices; 0: the job's only device. */
int64_t result_device(const struct result *r, const struct msg_cell *m);

/** True unless two kernels' compiled code is known to differ. */
bool result_same_code(const struct msg_node *a, const struct msg_node *b);

#endif
