/**
 * store_profile.h - what was asked for to find out why cells lost, and what came of each cell. Loop only; writes inside the caller's
 * transaction. A profile has a job and no comparison of its own: nothing here can change a verdict.
 */
#ifndef DB_PROFILE_STORE_PROFILE_H
#define DB_PROFILE_STORE_PROFILE_H

#include "db/store/job.h"
#include "core/protocol/evidence.h"
#include "db/sqlite/db.h"

struct store_profile {
	int64_t id, job, comparison, alert; /* comparison, alert: 0 none */
};

/** Sets p->id. */
int store_profile_insert(struct db *db, struct store_profile *p, struct fw_err *err);
/** The profile of a job. 1, 0 there is none, -1. */
int store_profile_of_job(struct db *db, int64_t job, struct store_profile *out, struct fw_err *err);
/** How many cells were asked for so far on behalf of an alert. */
int store_profile_asked(struct db *db, int64_t alert, int *cells, struct fw_err *err);
/** What a comparison was measured with, so that a profile of it looks at the same. Texts: as in job. */
struct store_profile_of {
	int64_t repo;
	char repo_name[128];
	char base_sha[65], target_sha[65], suite[64], base_provider[48], target_provider[48], device_uuid[64];
	char base_config[160], target_config[160];
	struct toolchain_override base_tools, target_tools;
};
/**
 * The newest comparison of two commits by the same providers in the same configurations that timed both, not against a peer unless providers
 * are named, nor pinned unless configurations are; `of`: suite "" any, its device does not count. 1, 0, -1.
 */
int store_profile_comparison(struct db *db, const struct store_profile_of *of, int64_t *comparison, struct fw_err *err);
/** Err: ERR_NOT_FOUND no such comparison, ERR_INVALID nothing ran for it, or its figures were imported. */
int store_profile_read_comparison(struct db *db, int64_t comparison, struct store_profile_of *out, struct fw_err *err);

/** What came of one cell. */
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
/** A kernel of that cell with its values. */
int store_profile_kernel_put(struct db *db, int64_t cell, const struct msg_kernel *k, struct fw_err *err);
int store_profile_code_put(struct db *db, int64_t cell, const struct msg_code *c, struct fw_err *err);

/** Why a cell lost, or a part of it. */
struct store_profile_cause {
	int rank;                                          /* 0 explains most */
	const char *code, *kernel, *confidence, *sentence; /* words of core/cause/cause.h */
	double explained_ms, of_ms;
};
int store_profile_cause_put(struct db *db, int64_t cell, const struct store_profile_cause *c, struct fw_err *err);

#endif
