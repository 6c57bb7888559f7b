/**
 * record.h - the runner's records: protocol lines on one descriptor, which is 3 in a real run.
 *
 * Records are written at once and whole, so that a death of this process loses none that came before it. Standard output
 * belongs to branch code and gets nothing from here.
 */
#ifndef RUNNER_CALL_RECORD_H
#define RUNNER_CALL_RECORD_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/protocol/protocol.h"

struct records {
	int fd; /* -1: records are dropped */
	int process_run;
	char signature[SIGNATURE_KEY + 1]; /* "" none */
	unsigned long long n;
	struct buf line;
	bool failed; /* nobody reads any more */
	bool waits;  /* a socket, on which the worker answers record_look */
};

/** Use descriptor `fd`, which is then closed on exec. Err: ERR_IO it is not open. Own: records_fini; the descriptor stays open. */
int records_init(struct records *r, int fd, int process_run, struct fw_err *err);
/** From now on each line is sealed with this key (core/protocol/signature.h), so that lines which branch code writes stand out. */
void records_signature(struct records *r, const char *signature);
void records_fini(struct records *r);

/** Where this process is: written before every step that branch code could die in. `role` ROLE_NONE when no one subject is meant. */
void record_at(struct records *r, int cell, enum role role, const char *step);
/**
 * Ask the worker to look at this process and its children from outside, and wait until it has. For the code of `role`, which is done; ROLE_NONE
 * before any module is loaded: what is there then may be there later. Only where records go to a socket, as from a worker.
 */
void record_look(struct records *r, int cell, enum role role);
/** Something failed. `cell` -1: no one cell. `detail` is cut to fit. */
void record_fault(struct records *r, int cell, enum role role, const char *failure, const char *detail);
void record_check(struct records *r, const struct msg_check *check);
void record_work(struct records *r, const struct msg_work *work);
void record_node(struct records *r, const struct msg_node *node);
void record_state(struct records *r, const struct msg_state *state);
/** Something to know that decides nothing. `cell` -1: no one cell; `role` ROLE_NONE: nobody's doing. */
void record_note(struct records *r, int cell, enum role role, const char *text);
void record_audit(struct records *r, const struct msg_audit *audit);
/** Borrows the values. */
void record_kernel(struct records *r, const struct msg_kernel *kernel);
void record_profile(struct records *r, const struct msg_profile *profile);
/** Borrows the lines. */
void record_stalls(struct records *r, const struct msg_stalls *stalls);
/** Borrows the sample arrays. */
void record_cell(struct records *r, struct msg_cell *cell);

#endif
