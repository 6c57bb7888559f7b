/**
 * environment_change.h - changes of a device's environment, the jobs that measure them, and their effect on each cell. Loop only; writes
 * inside the caller's transaction.
 */
#ifndef DB_ENVIRONMENT_CHANGE_H
#define DB_ENVIRONMENT_CHANGE_H

#include "protocol/protocol.h"
#include "db/db.h"
#include "db/job.h"

enum { STORE_STANDINGS_MAX = 64 /* at once */, STORE_CHANGED_SIZE = 2048 };

/** The latest baseline period of a device for one repository and suite. */
struct store_current_baseline {
	int64_t repo, device, baseline_period, environment;
	char suite[64], reference_sha[65];
	struct msg_device
		was; /* its environment: uuid, driver, toolkit, cudnn, cublas, image, vbios, power limit; other fields are zeros */
};

/** Set the latest baseline period of the device `uuid`. */
int store_current_baseline_put(
	struct db *db, const char *uuid, int64_t repo, const char *suite, int64_t baseline_period, struct fw_err *err);
/**
 * Latest baseline periods of a device, by repository and suite, after `after` (NULL: from the first). Shape: out[STORE_STANDINGS_MAX]. The
 * count, -1; less than STORE_STANDINGS_MAX: no more follow.
 */
int store_standings(struct db *db, const char *uuid, const struct store_current_baseline *after,
	struct store_current_baseline *out, struct fw_err *err);
/** Delete the latest baseline periods of a device that another one replaced. */
int store_standings_drop(struct db *db, const char *uuid, struct fw_err *err);
/** The newest device of this worker and kind with a baseline period that was not seen at `now_ms`; "" none. Shape: uuid[64]. */
int store_device_before(struct db *db, const char *worker, enum device_kind kind, int64_t now_ms, char *uuid, struct fw_err *err);

/** Hash of a device and its environment. Shape: hex[65]. */
void store_around(const struct msg_device *d, char hex[65]);

struct store_environment_change {
	int64_t id, repo, baseline_period; /* baseline_period: the one that the change ended */
	int64_t paired_job, unpaired_job;  /* 0: none */
	int64_t paired, unpaired, alert;   /* results of the jobs; 0: none yet */
	char suite[64], uuid[64];
	char was[65],
		is[65]; /* store_around before and after; is: "" over before it was measured, or measured on another device */
	char changed[STORE_CHANGED_SIZE]; /* JSON: [{"what","from","to"}] */
	bool is_outside; /* something changed that does not affect builds: driver, VBIOS, power limit, device, a library */
	int64_t seen_at;
};

/** Sets e->id. */
int store_environment_change_insert(struct db *db, struct store_environment_change *e, struct fw_err *err);
/** The newest change of a repository and suite on a device. 1, 0, -1. */
int store_environment_change_last(struct db *db, int64_t repo, const char *suite, const char *uuid,
	struct store_environment_change *out, struct fw_err *err);
/**
 * Whether another device of the class has the same change, which ended the baseline period for all of them, and has measured it, may still
 * measure it, or must not, because a user cancelled the job. 1, 0, -1.
 */
int store_environment_change_elsewhere(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Such a device that is not in state ok, so that its job waits or has failed. 1, 0, -1. Shape: uuid[64]. */
int store_environment_change_stuck(struct db *db, const struct store_environment_change *e, char *uuid, struct fw_err *err);
/** The first change of a device with a queued job, or whose measurement of the reference commit failed. 1, 0, -1. */
int store_environment_change_undone(struct db *db, const char *uuid, struct store_environment_change *out, struct fw_err *err);
/** Count the failed jobs like this one since the first device of the class had the change. */
int store_environment_change_tries(
	struct db *db, const struct store_environment_change *e, const struct store_job *like, int *n, struct fw_err *err);
/** Replace paired_job and unpaired_job. */
int store_environment_change_request(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Mark a change whose new environment was over before it was measured; it is measured when that environment returns. */
int store_environment_change_missed(struct db *db, int64_t id, struct fw_err *err);
/**
 * An open or acknowledged alert about a change of this device that is over once its environment is e->is: the newest change away
 * from e->is, and all later ones. 1, 0, -1.
 */
int store_environment_change_reported(
	struct db *db, const struct store_environment_change *e, int64_t *alert, struct fw_err *err);
/** Whether `toolkit` is the current toolkit of the change's device. 1, 0, -1. */
int store_environment_builds(struct db *db, const struct store_environment_change *e, const char *toolkit, struct fw_err *err);
/** The change that a job measures. 1, 0, -1. */
int store_environment_change_of_job(struct db *db, int64_t job, struct store_environment_change *out, struct fw_err *err);
/** Set the comparison that measured it, paired or unpaired, and its alert (0: unchanged). */
int store_environment_change_measured(
	struct db *db, int64_t id, bool is_paired, int64_t comparison, int64_t alert, struct fw_err *err);

/** Effect of a change on one cell. */
struct store_environment_effect {
	int64_t change;
	bool is_paired;
	const char *key;
	double change_pct, ci_low_pct, ci_high_pct; /* of throughput; the interval is NAN where not paired */
	double before_ms, after_ms;                 /* at the same clock where known */
};
int store_environment_effect_put(struct db *db, const struct store_environment_effect *e, struct fw_err *err);

typedef void store_environment_lost_fn(void *arg, const char *key, double change_pct);
/** Cells whose unpaired reference commit became slower by more than `beyond_pct`, by key. Units: percent, above 0. */
int store_environment_lost(
	struct db *db, int64_t change, double beyond_pct, store_environment_lost_fn *each, void *arg, struct fw_err *err);
/** Whether a change has a paired effect on any cell. 1, 0, -1. */
int store_environment_has_pairs(struct db *db, int64_t change, struct fw_err *err);

/** The newest judged commit of the upstream branch in an environment, with its module and toolchain. 1, 0, -1. */
struct store_judged {
	char sha[65], module[65], toolchain[TOOLCHAIN_TEXT_SIZE];
};
int store_environment_judged(struct db *db, int64_t repo, int64_t environment, struct store_judged *out, struct fw_err *err);

/** A cell's time of the reference commit in a baseline period, at the held clock where known: median of the latest. Units: ms; NAN none. */
int store_reference_ms(
	struct db *db, int64_t baseline_period, const char *reference_sha, const char *key, double *ms, struct fw_err *err);

#endif
