/** complaints.h - what ptxas complained of while it built one side of a profile and not the other. */
#ifndef FLOPWATCHD_PROFILE_COMPLAINTS_H
#define FLOPWATCHD_PROFILE_COMPLAINTS_H

#include "core/machine/ptxasdelta.h"
#include "db/sqlite/db.h"
#include "flopwatchd/job/result.h"

enum { COMPLAINTS_MAX = 64 }; /* of one profile */

struct complaints {
	size_t n;
	struct ptxas_change *change;
};

/**
 * Compare the logs of both builds: the worker's, or where it built nothing the one of an equal build that is stored. None where a side has
 * neither. Of architectures that no kernel of the profile was compiled for nothing is told. Own: complaints_fini, also after -1.
 */
int complaints_read(struct db *db, const struct result *r, struct complaints *out, struct fw_err *err);
/** Zeros are fine. */
void complaints_fini(struct complaints *c);
int complaints_put(struct db *db, int64_t profile, const struct complaints *c, struct fw_err *err);

#endif
