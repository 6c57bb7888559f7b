/** profile_report.h - text of `flopwatch-worker profile`: kernels, counters of both sides, machine code. */
#ifndef WORKER_PROFILE_REPORT_H
#define WORKER_PROFILE_REPORT_H

#include "lib/buf.h"
#include "protocol/protocol.h"

struct profile_report {
	int n_kernels, n_codes;
	struct msg_kernel *kernel; /* with their values */
	struct msg_code *code;
	bool has_swap;
	struct msg_counterfactual swap;
	struct msg_profile end;
};

/** Store a copy. Err: out of memory. */
int profile_report_take(struct profile_report *r, const struct msg *m, struct fw_err *err);
/** Print, once its `profile` record has arrived. */
void profile_report_print(const struct profile_report *r, const char *cell, struct buf *out);
/** Free all records. Accepts a zeroed one. */
void profile_report_clear(struct profile_report *r);

#endif
