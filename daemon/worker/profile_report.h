/** profile_report.h - what `flopwatch-worker profile` prints for people: a table of kernels, what was counted on both sides, the machine code. */
#ifndef WORKER_PROFILE_REPORT_H
#define WORKER_PROFILE_REPORT_H

#include "base/buf.h"
#include "core/protocol/protocol.h"

/** The records of one cell. */
struct profile_report {
	int n_kernels, n_codes;
	struct msg_kernel *kernel; /* with their values */
	struct msg_code *code;
	bool has_swap;
	struct msg_counterfactual swap;
	struct msg_profile end;
};

/** Keep a copy. Err: out of memory. */
int profile_report_take(struct profile_report *r, const struct msg *m, struct fw_err *err);
/** Once its `profile` record is there. */
void profile_report_print(const struct profile_report *r, const char *cell, struct buf *out);
/** Free it all. A zeroed one is fine. */
void profile_report_clear(struct profile_report *r);

#endif
