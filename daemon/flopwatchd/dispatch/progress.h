/**
 * progress.h - a running job's log lines and progress, gathered from its worker's words and written at most twice a second.
 *
 * They are for people who watch; nothing is decided by them, so a write that fails is forgotten.
 */
#ifndef FLOPWATCHD_DISPATCH_PROGRESS_H
#define FLOPWATCHD_DISPATCH_PROGRESS_H

#include "core/protocol/protocol.h"
#include "flopwatchd/job/record.h"
#include "flopwatchd/runtime/loop.h"

struct chatter {
	struct loop *loop;
	struct ledger *ledger;
	struct store_job job; /* id 0: none */
	int n_cells, n_subjects;
	char (*key)[CASE_KEY_SIZE];       /* key[n_cells] */
	int n_checked, launch, set, cell; /* cell -1: none */
	char role[PROTOCOL_ROLE_SIZE], step[16];
	struct buf lines; /* '\n'-ended, waiting */
	bool is_dirty;
	struct loop_source *timer;
};

void chatter_init(struct chatter *c, struct loop *l, struct ledger *g);
/** A job begins; from here on lines may come. */
void chatter_for(struct chatter *c, const struct store_job *job);
/** Its cells are known. */
void chatter_begin(struct chatter *c, const struct msg_job *ask);
/** Take note of a message. */
void chatter_hear(struct chatter *c, const struct msg *m);
/** Write what waits, now. */
void chatter_flush(struct chatter *c);
/** Write what waits and forget the job; fine when there is none. */
void chatter_end(struct chatter *c);

#endif
