/**
 * progress.h - log lines and progress of a running job, collected from its worker's messages and written at most twice a
 * second. They serve users only, so a failed write is dropped.
 */
#ifndef FLOPWATCHD_SESSION_PROGRESS_H
#define FLOPWATCHD_SESSION_PROGRESS_H

#include "protocol/protocol.h"
#include "flopwatchd/config/txn.h"
#include "lib/loop.h"
#include "db/job.h"

struct progress {
	struct loop *loop;
	struct txn *txn;
	struct store_job job; /* id 0: none */
	int n_cells, n_subjects;
	char (*key)[CASE_KEY_SIZE];            /* key[n_cells] */
	int n_checked, process_run, set, cell; /* cell -1: none */
	enum role role;
	char step[16];
	char note[400];   /* last note about the device in this step, such as a wait for other processes; "": none */
	struct buf lines; /* pending lines, each ends in '\n' */
	bool is_dirty;
	struct loop_source *timer;
};

void progress_init(struct progress *c, struct loop *l, struct txn *g);
/** Start a job; lines may be added from here on. */
void progress_for(struct progress *c, const struct store_job *job);
/** Set the job's cells; again before each further set of runs, with the cells of that set. */
void progress_begin(struct progress *c, const struct msg_job *request);
/** Update log and progress from a message. */
void progress_receive(struct progress *c, const struct msg *m);
/** Write pending lines now. */
void progress_flush(struct progress *c);
/** Write pending lines and drop the job; no effect without a job. */
void progress_end(struct progress *c);

#endif
