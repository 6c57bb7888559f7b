/** finding.h - what the classes of evidence find, before it is ranked; and what all of them look at. */
#ifndef CORE_CAUSE_FINDING_H
#define CORE_CAUSE_FINDING_H

#include "core/cause/pairing.h"
#include "core/cause/quantity.h"
#include "core/cause/stalls.h"

enum { FINDINGS_MAX = 96, FINDING_SIZE = 220 };

/* How close a class of evidence stands to the code: what a finding explains counts that much beside another's. */
#define WEIGHT_EXACT   2.0 /* counted or timed */
#define WEIGHT_WORK    1.0 /* instructions, and what they alone bring about */
#define WEIGHT_TRAFFIC 0.9 /* what reaches the caches behind them */
#define WEIGHT_LAUNCH  0.8
#define WEIGHT_WAIT    0.5  /* a wait that names its reason */
#define WEIGHT_SYMPTOM 0.35 /* a wait that anything may cause */

struct finding {
	enum cause_kind kind;
	enum cause_confidence confidence; /* CAUSE_EXACT, CAUSE_MEASURED or CAUSE_SEEN */
	const struct pair *pair;          /* NULL: of the call */
	double ms;                        /* of the difference, towards it; of one that is only seen: how much stands out */
	double weight;
	char what[FINDING_SIZE]; /* "executes 12 % more ...", its subject is the kernel */
};

struct findings {
	double sign;     /* 1 the target is slower, -1 faster */
	double least_ms; /* that is worth telling */
	size_t n;
	struct finding item[FINDINGS_MAX];
};

/** One kernel that both sides have. */
struct look {
	const struct cause_evidence *e;
	const struct pair *pair;
	const struct cause_code *code; /* NULL none */
	struct quantities quantity;
	struct stalls stalls;
	double sign;
	double most_ms; /* that it can explain, towards the difference */
};

/** Keep a finding whose `ms` (signed as the verdict's difference) goes the way of the difference and is worth telling. */
void finding_add(struct findings *f, enum cause_kind kind, const struct pair *p, double ms, double weight, const char *what);
/** The same of one that is counted or timed. */
void finding_exact(struct findings *f, enum cause_kind kind, const struct pair *p, double ms, const char *what);
/** One that nobody has measured the cost of; larger ones stand first. */
void finding_seen(struct findings *f, enum cause_kind kind, const struct pair *p, double size, const char *what);
/** What a finding weighs beside others. */
double finding_score(const struct finding *f);

/**
 * What a quantity's own change costs: what its unit needs, or, where that is no trifle and it grew with the time, the waits that
 * follow from it. Shape: `waits` as in stalls_sum. Units: ms, signed.
 */
double look_cost(const struct look *l, enum quantity q, unsigned waits);

#endif
