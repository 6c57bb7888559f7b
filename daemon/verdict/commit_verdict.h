/**
 * commit_verdict.h - verdict of a commit: the worst over all suites and benchmarks that measure it, in any order of their ends.
 * Pure.
 */
#ifndef VERDICT_COMMIT_VERDICT_H
#define VERDICT_COMMIT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"
#include "model/jobstate.h"
#include "verdict/verdict.h"

enum commit_end {
	COMMIT_OPEN,      /* queued or running */
	COMMIT_JUDGED,    /* has a comparison */
	COMMIT_FAILED,    /* could not be planned or measured */
	COMMIT_UNMEASURED /* its result is no longer wanted: cancelled, superseded, target_missing */
};

struct commit_job {
	int64_t id;
	int64_t plan;        /* first job of the requesting plan; 0: a user requested this suite */
	char suite[64];      /* or benchmark; "" not planned yet, or planning failed */
	char device_kind[8]; /* requested kind; "" any */
	enum jobstate state;
	char why[512];
	enum commit_end end;
	/* its comparison; 0 none */
	int64_t comparison, finished_at;
	enum verdict verdict;  /* VERDICT_ACCEPTED if a user has accepted all regressions */
	enum verdict measured; /* verdict of the measurement, without acceptances */
	int cells, regressions;
	int accepted;           /* cells of these regressions */
	int64_t accepted_alert; /* accepted alert; 0 none */
	char accepted_by[128], accepted_why[256];
	double worst_pct; /* lowest change of a timed cell; NAN none */
	char worst_key[256];
	double best_pct; /* improvement: the highest change; else NAN */
	char best_key[256];
};

/** State of the commit with one suite on one requested kind of device. */
struct commit_suite {
	struct commit_job job;  /* the newest; an open one before any finished one */
	struct commit_job word; /* the job whose verdict counts: the newest judged one, else a failed one; id 0 none yet */
	int64_t first;          /* its first job: the order of the plan */
};

struct commit_verdict {
	int n, cap;
	struct commit_suite *suite; /* suite[n], in the order of the plan; own */
	/* set by commit_verdict_end */
	enum verdict verdict; /* VERDICT_NONE: open suites could still make it worse */
	bool is_final;        /* something was requested, and all of it has ended */
	int n_open, n_unmeasured;
	int regressions; /* cells of all suites */
	int decides;     /* position of the suite with this verdict; -1 none */
	int worst;       /* position of the suite with the lowest change; -1 none */
	int best;        /* improvement: position of the suite with the largest gain; -1 none */
	int64_t planned; /* newest plan with known suites; 0 none */
};

void commit_verdict_init(struct commit_verdict *v);
void commit_verdict_fini(struct commit_verdict *v);
/** Add a job; in any order, each once. Err: ERR_FULL. */
int commit_verdict_add(struct commit_verdict *v, const struct commit_job *job, struct fw_err *err);
/**
 * Compute the verdict after the last job. A suite has the verdict of its newest comparison; a suite without one is `failed` if
 * its job failed, and makes the commit `undecided` if it was not measured. While suites are open, only a verdict that they
 * cannot improve is set: failed, rejected, regression. A failed plan counts until a later one succeeds.
 */
void commit_verdict_end(struct commit_verdict *v);
/** After commit_verdict_end: compute the verdict without acceptances. */
void commit_verdict_strict(struct commit_verdict *v);
/** Return the newest acceptance that the verdict depends on; NULL none. */
const struct commit_job *commit_verdict_acceptance(const struct commit_verdict *v);
/** Return the verdict of one suite, VERDICT_NONE if it has none. */
enum verdict commit_verdict_of(const struct commit_suite *s);
/** Return whether it is queued or running without a verdict, or measured again. */
bool commit_verdict_is_open(const struct commit_suite *s);
/** Return whether it has ended without a result. */
bool commit_verdict_is_unmeasured(const struct commit_suite *s);

#endif
