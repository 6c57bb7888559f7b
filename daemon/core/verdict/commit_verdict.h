/**
 * commit_verdict.h - the verdict that a commit deserves: the worst over all suites and benchmarks that it is measured with, whichever of
 * them ended last. Pure.
 */
#ifndef CORE_VERDICT_COMMIT_VERDICT_H
#define CORE_VERDICT_COMMIT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/state/jobstate.h"
#include "core/verdict/verdict.h"

enum commit_end {
	COMMIT_OPEN,      /* waits or runs */
	COMMIT_JUDGED,    /* has a comparison */
	COMMIT_FAILED,    /* could not be planned or measured */
	COMMIT_UNMEASURED /* nobody wants its result any more: cancelled, superseded, gone */
};

/** A job that measures the commit with one suite. */
struct commit_job {
	int64_t id;
	int64_t plan;        /* first job of the plan that asked for it; 0: a person asked for this suite alone */
	char suite[64];      /* or benchmark; "" not planned yet, or it could not be */
	char device_kind[8]; /* that was asked for; "" any */
	enum jobstate state;
	char why[512];
	enum commit_end end;
	/* its comparison; 0 none */
	int64_t comparison, finished_at;
	enum verdict verdict;  /* VERDICT_ACCEPTED where a person has accepted all that was lost */
	enum verdict measured; /* what was measured, whatever people say of it */
	int cells, regressions;
	int accepted;           /* cells of these regressions */
	int64_t accepted_alert; /* with which; 0 none */
	char accepted_by[128], accepted_why[256];
	double worst_pct; /* lowest change of a timed cell; NAN none */
	char worst_key[256];
	double best_pct; /* of an improvement the highest change; NAN: it is none */
	char best_key[256];
};

/** Where the commit stands with one suite on one wanted kind of device. */
struct commit_suite {
	struct commit_job job;  /* the newest; one that is open before any that has ended */
	struct commit_job word; /* whose verdict is the suite's: the newest that was judged, else that failed; id 0 none yet */
	int64_t first;          /* its first job: the order of the plan */
};

struct commit_verdict {
	int n, cap;
	struct commit_suite *suite; /* suite[n], in the order of the plan; own */
	/* set by commit_verdict_end */
	enum verdict verdict; /* VERDICT_NONE: nothing is known that later suites could not make worse than it sounds */
	bool is_final;        /* something was asked for, and all of it has ended */
	int n_open, n_unmeasured;
	int regressions; /* cells of all suites */
	int decides;     /* position of the suite whose verdict this is; -1 none */
	int worst;       /* position of the suite with the lowest change; -1 none */
	int best;        /* of an improvement, position of the suite that gained most; -1 none */
	int64_t planned; /* newest plan whose suites are known; 0 none */
};

void commit_verdict_init(struct commit_verdict *v);
void commit_verdict_fini(struct commit_verdict *v);
/** Jobs come in any order, each once. Err: ERR_FULL. */
int commit_verdict_add(struct commit_verdict *v, const struct commit_job *job, struct fw_err *err);
/**
 * After the last job. A suite's word is that of its newest comparison; a suite that was never judged is `failed` where its job failed, and
 * leaves a commit `undecided` where nobody measured it. While suites without a word are open, only what they cannot better is told: failed,
 * rejected, regression. A plan that could not be made counts until a later one could.
 */
void commit_verdict_end(struct commit_verdict *v);
/** After commit_verdict_end: the same as if nobody had accepted anything. */
void commit_verdict_strict(struct commit_verdict *v);
/** The newest acceptance that the verdict rests on; NULL: on none. */
const struct commit_job *commit_verdict_acceptance(const struct commit_verdict *v);
/** Verdict of one suite, VERDICT_NONE where it has none. */
enum verdict commit_verdict_of(const struct commit_suite *s);
/** It waits or runs and has no word yet, or is measured again. */
bool commit_verdict_is_open(const struct commit_suite *s);
/** It has ended, and nobody knows anything of it. */
bool commit_verdict_is_unmeasured(const struct commit_suite *s);

#endif
