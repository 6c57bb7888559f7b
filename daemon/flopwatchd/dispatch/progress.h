/**
 * progress.h - a running job's log lines and progress, gathered from its worker's words and written at most twice a second.
 *
 * They are for people who watch; nothing is decided by them, so a write that fails is forgotten.
 */
#ifndef FLOPWATCHD_DISPATCH_PROGRESS_H
#define FLOPWATCHD_DISPATCH_PROGRESS_H

#include "core/protocol/protocol.h"
#include "flopwatchd/runtime/txn.h"
#include "flopwatchd/runtime/loop.h"
#include "db/store/job.h"

struct progress {
	struct loop *loop;
	struct txn *txn;
	struct store_job job; /* id 0: none */
	int n_cells, n_subjects;
	char (*key)[CASE_KEY_SIZE];            /* key[n_cells] */
	int n_checked, process_run, set, cell; /* cell -1: none */
	enum role role;
	char step[16];
	char note
		[400]; /* what the worker said of the device since the last step, such as that it waits for other processes; "" nothing */
	struct buf lines; /* '\n'-ended, waiting */
	bool is_dirty;
	struct loop_source *timer;
};

void progress_init(struct progress *c, struct loop *l, struct txn *g);
/** A job begins; from here on lines may come. */
void progress_for(struct progress *c, const struct store_job *job);
/** Its cells are known; once more where another set of runs follows, of those that it is of. */
void progress_begin(struct progress *c, const struct msg_job *ask);
/** Take note of a message. */
void progress_hear(struct progress *c, const struct msg *m);
/** Write what waits, now. */
void progress_flush(struct progress *c);
/** Write what waits and forget the job; fine when there is none. */
void progress_end(struct progress *c);

#endif
