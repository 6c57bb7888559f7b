/** finding.h - findings before they are ranked, and the common input of all classes. */
#ifndef PROFILE_FINDING_H
#define PROFILE_FINDING_H

#include "profile/pairing.h"
#include "profile/quantity.h"
#include "profile/stalls.h"

enum { FINDINGS_MAX = 96, FINDING_SIZE = 220 };

/* Weight of a class of evidence by its closeness to the code. */
#define WEIGHT_EXACT   2.0 /* counted or timed */
#define WEIGHT_WORK    1.0 /* instructions, and their direct effects */
#define WEIGHT_TRAFFIC 0.9 /* traffic that reaches the caches behind them */
#define WEIGHT_LAUNCH  0.8
#define WEIGHT_WAIT    0.5  /* a wait that names its reason */
#define WEIGHT_SYMPTOM 0.35 /* a wait with many possible causes */

struct finding {
	enum cause_kind kind;
	enum cause_confidence confidence;
	const struct kernel_pair *pair; /* NULL: of the call */
	double ms;               /* share of the difference, in its direction; for CAUSE_SEEN: the size of the change */
	double weight;
	char what[FINDING_SIZE]; /* "executes 12 % more ...", about the kernel */
};

struct findings {
	double sign;     /* 1 the target is slower, -1 faster */
	double least_ms; /* minimum worth reporting */
	size_t n;
	struct finding item[FINDINGS_MAX];
};

struct look {
	const struct cause_evidence *e;
	const struct kernel_pair *pair;
	const struct cause_code *code;
	struct quantities quantity;
	struct stalls stalls;
	double sign;
	double most_ms; /* upper bound of its explanation, in the direction of the difference */
};

/**
 * Add a finding if its `ms` (signed as the verdict's difference) has the direction of the difference and is worth reporting.
 */
void finding_add(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, double weight, const char *what);
void finding_exact(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, const char *what);
/** Add a finding of unknown cost; larger ones come first. */
void finding_seen(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double size, const char *what);
double finding_score(const struct finding *f);

/**
 * Return the cost of a quantity's own change: its unit's time, or, if relevant and growing with the time, the waits that follow
 * from it. Shape: `waits` as in stalls_sum. Units: ms, signed.
 */
double look_cost(const struct look *l, enum quantity q, unsigned waits);

#endif
