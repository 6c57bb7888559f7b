/**
 * view_profile.h - views of profiles: the request and its state, the result of each cell, and its causes.
 *
 * The rules of db/live.h hold: texts of a row are valid inside the callback only, a callback must not start the same view again
 * (others are fine), lists come newest first from below `before` (0: from the newest), absent numbers are NAN, absent ids and times 0.
 */
#ifndef DB_VIEW_PROFILE_H
#define DB_VIEW_PROFILE_H

#include "lib/jsonw.h"
#include "model/jobstate.h"
#include "db/db.h"

struct view_profile {
	int64_t id, job, comparison, alert;
	enum jobstate state; /* of its job */
	const char *state_why, *repo, *base, *target, *base_name, *target_name, *base_provider, *target_provider, *suite;
	const char *base_config, *target_config;  /* requested configuration; "": the provider chooses */
	const char *cells_glob, *device, *origin; /* device: uuid, once assigned */
	const char *answer;                       /* profile_answer: a sentence in every state */
	const char *sentence;                     /* the same where it names a cause, else "" */
	int64_t queued_at, started_at, ended_at;
};
typedef void view_profile_fn(void *arg, const struct view_profile *row);

/** Filters; 0 takes any. At most one of comparison and alert. */
struct view_profile_filter {
	int64_t comparison, alert;
	int64_t before;
	int limit;
};
int view_profiles(struct db *db, const struct view_profile_filter *f, view_profile_fn *each, void *arg, struct fw_err *err);
/** ERR_NOT_FOUND. */
int view_profile(struct db *db, int64_t id, view_profile_fn *each, void *arg, struct fw_err *err);
/** The newest profile with a cause, else the newest, of an alert, or of a comparison where `alert` is 0. 1, 0 none was requested, -1. */
int view_profile_of(struct db *db, int64_t alert, int64_t comparison, view_profile_fn *each, void *arg, struct fw_err *err);

/** The same as JSON: {"profile","state","state_why","answer","sentence","href"}; null: none was requested. */
int view_profile_why(struct db *db, int64_t alert, int64_t comparison, struct jsonw *j, struct fw_err *err);
/** Whether an alert's profile names a cause. 1, 0, -1. */
int view_profile_explains(struct db *db, int64_t alert, struct fw_err *err);

struct view_profile_cell {
	int64_t id;
	int n;
	const char *key, *state; /* done identical unsupported failed */
	const char *why, *path, *tool, *base_config, *target_config, *with_config, *stalls_why;
	const char *base_tried_json, *target_tried_json; /* as protocol/tried.h writes them; "null" none */
	int passes;
	double base_ms, target_ms, gpu_s;
	bool has_with; /* the target was timed in the base's configuration, too */
	double with_base_ms, with_target_ms, with_ms;
};
typedef void view_profile_cell_fn(void *arg, const struct view_profile_cell *row);
/** The largest slowdown first; cells without times last, in the order of the job. */
int view_profile_cells(struct db *db, int64_t profile, view_profile_cell_fn *each, void *arg, struct fw_err *err);

struct view_cause {
	int rank;
	const char *code, *kernel, *confidence, *sentence; /* words of profile/cause.h */
	double explained_ms, of_ms;
};
typedef void view_cause_fn(void *arg, const struct view_cause *row);
/** By rank. `cell` is a view_profile_cell's id, here and below. */
int view_profile_causes(struct db *db, int64_t cell, view_cause_fn *each, void *arg, struct fw_err *err);

struct view_profile_kernel {
	int64_t id;
	const char *side, *phase, *kernel, *code_sha, *grid, *block; /* grid: "132 1 1" */
	int repeat, n, registers, local_bytes, shared_bytes, ctas_per_sm;
	double ms;
};
typedef void view_profile_kernel_fn(void *arg, const struct view_profile_kernel *row);
/** Base before target; the kernels of each process in launch order. */
int view_profile_kernels(struct db *db, int64_t cell, view_profile_kernel_fn *each, void *arg, struct fw_err *err);

typedef void view_profile_value_fn(void *arg, const char *metric, double value);
/** By name. `kernel` is a view_profile_kernel's id. */
int view_profile_values(struct db *db, int64_t kernel, view_profile_value_fn *each, void *arg, struct fw_err *err);

struct view_profile_code {
	const char *base, *target, *what, *opcodes_json, *base_takes_json, *target_takes_json, *hunks;
	const char *base_stalls_json, *target_stalls_json; /* as the schema has them; "" none */
};
typedef void view_profile_code_fn(void *arg, const struct view_profile_code *row);
/** In the order in which the worker sent them. */
int view_profile_codes(struct db *db, int64_t cell, view_profile_code_fn *each, void *arg, struct fw_err *err);

#endif
