/**
 * environment_change.h - what is around a device changed: what it was and is, who measures what that does, and what came out for each cell.
 * Loop only; writes inside the caller's transaction.
 */
#ifndef DB_ENVIRONMENT_ENVIRONMENT_CHANGE_H
#define DB_ENVIRONMENT_ENVIRONMENT_CHANGE_H

#include "core/protocol/protocol.h"
#include "db/sqlite/db.h"
#include "db/store/job.h"

enum { STORE_STANDINGS_MAX = 64 /* at once */, STORE_CHANGED_SIZE = 2048 };

/** Where the figures of one repository and suite stand that a device measured last. */
struct store_current_baseline {
	int64_t repo, device, baseline_period, environment;
	char suite[64], reference_sha[65];
	struct msg_device
		was; /* what its environment says: uuid, driver, toolkit, cudnn, cublas, image, vbios, power limit; else zeros */
};

/** Note that a device measured last in this baseline period. `uuid` is the device's. */
int store_current_baseline_put(
	struct db *db, const char *uuid, int64_t repo, const char *suite, int64_t baseline_period, struct fw_err *err);
/**
 * Where a device stands, by repository and suite, behind `after` (NULL: from the first). Shape: out[STORE_STANDINGS_MAX]. The count, -1: fewer
 * than fit are the last.
 */
int store_standings(struct db *db, const char *uuid, const struct store_current_baseline *after,
	struct store_current_baseline *out, struct fw_err *err);
/** Forget where a device stood whose place another one took. */
int store_standings_drop(struct db *db, const char *uuid, struct fw_err *err);
/** A device of this worker and kind that stands somewhere and was not seen at `now_ms`, the newest; "" none. Shape: uuid[64]. */
int store_device_before(struct db *db, const char *worker, enum device_kind kind, int64_t now_ms, char *uuid, struct fw_err *err);

/** Hash of a device and of what is around it. Shape: hex[65]. */
void store_around(const struct msg_device *d, char hex[65]);

struct store_environment_change {
	int64_t id, repo, baseline_period; /* baseline period: that it ended */
	int64_t paired_job, unpaired_job;  /* 0: none */
	int64_t paired, unpaired, alert;   /* comparisons that measured it; 0: not yet */
	char suite[64], uuid[64];
	char was[65],
		is[65]; /* store_around of the device, before and after; is: "" where that was over before it was measured, or others do that */
	char changed[STORE_CHANGED_SIZE]; /* JSON: [{"what","from","to"}] */
	bool is_outside; /* something changed that no build can show: driver, VBIOS, power limit, device, a library */
	int64_t seen_at;
};

/** Sets e->id. */
int store_environment_change_insert(struct db *db, struct store_environment_change *e, struct fw_err *err);
/** The newest of a repository and suite on a device. 1, 0, -1. */
int store_environment_change_last(struct db *db, int64_t repo, const char *suite, const char *uuid,
	struct store_environment_change *out, struct fw_err *err);
/**
 * Whether another device of the class has seen just this change, which ended the baseline period for all of them, and has measured it, may still
 * do so, or is not to: a person has cancelled that. 1, 0, -1.
 */
int store_environment_change_elsewhere(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Likewise a device that is not in order, so that what it was asked for waits or has failed. 1, 0, -1. Shape: uuid[64]. */
int store_environment_change_stuck(struct db *db, const struct store_environment_change *e, char *uuid, struct fw_err *err);
/** The first change of a device for which a job still waits, or whose reference commit was not measured but has failed. 1, 0, -1. */
int store_environment_change_undone(struct db *db, const char *uuid, struct store_environment_change *out, struct fw_err *err);
/** How many jobs like this one have failed since any device of the class saw the change. */
int store_environment_change_tries(
	struct db *db, const struct store_environment_change *e, const struct store_job *like, int *n, struct fw_err *err);
/** Other jobs measure it. */
int store_environment_change_ask(struct db *db, const struct store_environment_change *e, struct fw_err *err);
/** Note that what it changed to was over before it was measured: it is asked for again when it comes again. */
int store_environment_change_missed(struct db *db, int64_t id, struct fw_err *err);
/**
 * A live alert about a change of this device that is over where e->is is around it: the newest that began with that, and all that came since.
 * 1, 0, -1.
 */
int store_environment_change_told(struct db *db, const struct store_environment_change *e, int64_t *alert, struct fw_err *err);
/** Whether this is what builds for the device of a change now. 1, 0, -1. */
int store_environment_builds(struct db *db, const struct store_environment_change *e, const char *toolkit, struct fw_err *err);
/** The one that a job measures. 1, 0, -1. */
int store_environment_change_of_job(struct db *db, int64_t job, struct store_environment_change *out, struct fw_err *err);
/** Note the comparison that measured it, paired or not, and the alert that tells of it (0: what is there stays). */
int store_environment_change_measured(
	struct db *db, int64_t id, bool is_paired, int64_t comparison, int64_t alert, struct fw_err *err);

/** What it did to one cell. */
struct store_environment_effect {
	int64_t change;
	bool is_paired;
	const char *key;
	double change_pct, ci_low_pct, ci_high_pct; /* of throughput; the interval is NAN where it is not paired */
	double before_ms, after_ms;                 /* at one clock where that is known */
};
int store_environment_effect_put(struct db *db, const struct store_environment_effect *e, struct fw_err *err);

typedef void store_environment_lost_fn(void *arg, const char *key, double change_pct);
/** Cells whose reference commit, unpaired, lost more than this by a change, in the order of their keys. Units: percent, above 0. */
int store_environment_lost(
	struct db *db, int64_t change, double beyond_pct, store_environment_lost_fn *each, void *arg, struct fw_err *err);
/** Whether pairs have shown what a change did to any cell. 1, 0, -1. */
int store_environment_has_pairs(struct db *db, int64_t change, struct fw_err *err);

/** The newest commit of the upstream branch that was judged in an environment, its module and what built that. 1, 0, -1. */
struct store_judged {
	char sha[65], module[65], toolchain[TOOLCHAIN_TEXT_SIZE];
};
int store_environment_judged(struct db *db, int64_t repo, int64_t environment, struct store_judged *out, struct fw_err *err);

/** A cell's time of the reference commit in a baseline period, at its held clock where that is known: the middle of the latest. NAN: none. Units: ms. */
int store_reference_ms(
	struct db *db, int64_t baseline_period, const char *reference_sha, const char *key, double *ms, struct fw_err *err);

#endif
