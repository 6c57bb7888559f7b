/** diagnostic.h - diagnostics of ptxas that differ between two builds, as rows of a profile. The branch's build wrote them: not trusted. */
#ifndef DB_DIAGNOSTIC_H
#define DB_DIAGNOSTIC_H

#include "db/db.h"

struct profile_diagnostic {
	int n;
	const char *change, *kind, *code, *kernel, *what; /* words of profile/ptxasdelta.h; code and kernel "" none */
};

/** Inside the caller's transaction. */
int store_profile_diagnostic_put(struct db *db, int64_t profile, const struct profile_diagnostic *c, struct fw_err *err);

typedef void view_profile_diagnostic_fn(void *arg, const struct profile_diagnostic *row);
/** By n; the rules of view_profile.h hold. */
int view_profile_diagnostics(struct db *db, int64_t profile, view_profile_diagnostic_fn *each, void *arg, struct fw_err *err);

#endif
