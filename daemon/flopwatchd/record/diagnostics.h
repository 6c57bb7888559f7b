/** diagnostics.h - ptxas diagnostics that one side's build has and the other's lacks. */
#ifndef FLOPWATCHD_RECORD_DIAGNOSTICS_H
#define FLOPWATCHD_RECORD_DIAGNOSTICS_H

#include "profile/ptxasdelta.h"
#include "db/db.h"
#include "flopwatchd/job/result.h"

enum { DIAGNOSTICS_MAX = 64 }; /* of one profile */

struct diagnostics {
	size_t n;
	struct ptxas_change *change;
};

/**
 * Compare the logs of both builds: the worker's, or for a cached build that of an equal stored build. None if a side has
 * neither. Ignores architectures without a kernel of the profile. Own: diagnostics_fini, also after -1.
 */
int diagnostics_read(struct db *db, const struct result *r, struct diagnostics *out, struct fw_err *err);
void diagnostics_fini(struct diagnostics *c);
int diagnostics_put(struct db *db, int64_t profile, const struct diagnostics *c, struct fw_err *err);

#endif
