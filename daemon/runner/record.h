/**
 * record.h - the runner's records: protocol lines on one descriptor, 3 in a real run.
 *
 * Each record is written at once and whole, so that none is lost if the process dies. Standard output belongs to branch code
 * and is never used here.
 */
#ifndef RUNNER_RECORD_H
#define RUNNER_RECORD_H

#include <stdbool.h>

#include "lib/buf.h"
#include "protocol/protocol.h"

struct records {
	int fd; /* -1: records are dropped */
	int process_run;
	char signature[SIGNATURE_KEY + 1]; /* "" none */
	unsigned long long n;
	struct buf line;
	bool failed; /* the reader is gone */
	bool waits;  /* a socket, on which the worker answers record_look */
};

/** Use descriptor `fd`, and close it on exec. Err: ERR_IO it is not open. Own: records_fini; the descriptor stays open. */
int records_init(struct records *r, int fd, int process_run, struct fw_err *err);
/** Sign each further line with this key (protocol/signature.h), so that lines written by branch code are detected. */
void records_signature(struct records *r, const char *signature);
void records_fini(struct records *r);

/** Report the current step, before every step in which branch code could die. `role` ROLE_NONE: no single subject. */
void record_at(struct records *r, int cell, enum role role, const char *step);
/**
 * Ask the worker to compare this process and its children from outside, and wait for it. `role`: the subject whose code is
 * done; ROLE_NONE before any module is loaded, for the baseline. Only if records go to a socket, as from a worker.
 */
void record_look(struct records *r, int cell, enum role role);
/** Report a failure. `cell` -1: no single cell. `detail` is cut to fit. */
void record_fault(struct records *r, int cell, enum role role, const char *failure, const char *detail);
void record_check(struct records *r, const struct msg_check *check);
void record_work(struct records *r, const struct msg_work *work);
void record_node(struct records *r, const struct msg_node *node);
void record_state(struct records *r, const struct msg_state *state);
/** Report information that decides nothing. `cell` -1: no single cell; `role` ROLE_NONE: no side caused it. */
void record_note(struct records *r, int cell, enum role role, const char *text);
void record_audit(struct records *r, const struct msg_audit *audit);
void record_kernel(struct records *r, const struct msg_kernel *kernel);
void record_profile(struct records *r, const struct msg_profile *profile);
void record_stalls(struct records *r, const struct msg_stalls *stalls);
void record_cell(struct records *r, struct msg_cell *cell);

#endif
