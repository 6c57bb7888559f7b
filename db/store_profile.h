/**
 * store_profile.h - requests to explain slower cells, and the result for each cell. Loop only; writes inside the caller's transaction. A
 * profile's job makes no comparison, so it cannot change a verdict.
 */
#ifndef DB_STORE_PROFILE_H
#define DB_STORE_PROFILE_H

#include "db/job.h"
#include "protocol/evidence.h"
#include "db/db.h"

struct store_profile {
	int64_t id, job, comparison, alert; /* comparison, alert: 0 none */
};

/** Sets p->id. */
int store_profile_insert(struct db *db, struct store_profile *p, struct fw_err *err);
/** The profile of a job. 1, 0 there is none, -1. */
int store_profile_of_job(struct db *db, int64_t job, struct store_profile *out, struct fw_err *err);
/** Count the cells of an alert's profiles. */
int store_profile_requested(struct db *db, int64_t alert, int *cells, struct fw_err *err);
/** Settings of a comparison that its profile repeats. Texts: as in job. */
struct store_profile_of {
	int64_t repo;
	char repo_name[128];
	char base_sha[65], target_sha[65], suite[64], base_provider[48], target_provider[48], device_uuid[64];
	char base_config[160], target_config[160];
	struct toolchain_override base_tools, target_tools;
};
/**
 * The newest comparison that timed two commits with the providers and configurations of `of`; of kind peer or config only where `of` has
 * providers or configurations. of->suite "": any; of->device_uuid is ignored. 1, 0, -1.
 */
int store_profile_comparison(struct db *db, const struct store_profile_of *of, int64_t *comparison, struct fw_err *err);
/** Err: ERR_NOT_FOUND no such comparison, ERR_INVALID nothing ran for it, or its results were imported. */
int store_profile_read_comparison(struct db *db, int64_t comparison, struct store_profile_of *out, struct fw_err *err);

/** Result of one cell. */
enum store_profile_state { STORE_PROFILE_DONE, STORE_PROFILE_IDENTICAL, STORE_PROFILE_UNSUPPORTED, STORE_PROFILE_FAILED };

struct store_profile_cell {
	int64_t id, profile;
	int n;
	const char *key;
	enum store_profile_state state;
	const char *why;
	const struct msg_profile *end;         /* NULL: not done */
	const struct msg_counterfactual *with; /* NULL: not tried */
	double base_ms, target_ms;             /* NAN: unknown */
};
/** Sets c->id. */
int store_profile_cell_put(struct db *db, struct store_profile_cell *c, struct fw_err *err);
/** Insert a kernel of that cell with its counter values. */
int store_profile_kernel_put(struct db *db, int64_t cell, const struct msg_kernel *k, struct fw_err *err);
int store_profile_code_put(struct db *db, int64_t cell, const struct msg_code *c, struct fw_err *err);

/** A cause of a cell's slowdown, or of a part of the slowdown. */
struct store_profile_cause {
	int rank;                                          /* 0: the largest */
	const char *code, *kernel, *confidence, *sentence; /* words of profile/cause.h */
	double explained_ms, of_ms;
};
int store_profile_cause_put(struct db *db, int64_t cell, const struct store_profile_cause *c, struct fw_err *err);

#endif
