/** diagnostics.h - what ptxas complained of while it built one side of a profile and not the other. */
#ifndef FLOPWATCHD_PROFILE_DIAGNOSTICS_H
#define FLOPWATCHD_PROFILE_DIAGNOSTICS_H

#include "core/machine/ptxasdelta.h"
#include "db/sqlite/db.h"
#include "flopwatchd/job/result.h"

enum { DIAGNOSTICS_MAX = 64 }; /* of one profile */

struct diagnostics {
	size_t n;
	struct ptxas_change *change;
};

/**
 * Compare the logs of both builds: the worker's, or where it built nothing the one of an equal build that is stored. None where a side has
 * neither. Of architectures that no kernel of the profile was compiled for nothing is told. Own: diagnostics_fini, also after -1.
 */
int diagnostics_read(struct db *db, const struct result *r, struct diagnostics *out, struct fw_err *err);
/** Zeros are fine. */
void diagnostics_fini(struct diagnostics *c);
int diagnostics_put(struct db *db, int64_t profile, const struct diagnostics *c, struct fw_err *err);

#endif
