/** internal.h - declarations that the files of this folder share. */
#ifndef PROFILE_INTERNAL_H
#define PROFILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * ---- quantity ----
 * Counted work and traffic of a kernel: its change, the share of the change that does not follow from another one, and its cost
 * in milliseconds.
 *
 * More products bring loads, exponentials and instructions in proportion; spills are loads and stores; writes to L2 end in DRAM.
 * Only the excess is a quantity's own change. Its cost is the share of its unit's time, extended by the idle share of the
 * kernel's busiest unit.
 */

enum quantity {
	QUANTITY_TENSOR,
	QUANTITY_XU,
	QUANTITY_FMA,
	QUANTITY_ALU,
	QUANTITY_LSU,
	QUANTITY_ALL,
	QUANTITY_LOCAL_LOADS,
	QUANTITY_LOCAL_STORES,
	QUANTITY_CONFLICTS,
	QUANTITY_WAVEFRONTS,
	QUANTITY_ATOMICS, /* sectors, as the reads and writes */
	QUANTITY_L2_READS,
	QUANTITY_L2_WRITES,
	QUANTITY_DRAM_READS,
	QUANTITY_DRAM_WRITES,
	QUANTITIES
};

struct quantity_change {
	bool is_real;        /* it changed by more than its noise */
	double base, target; /* 0 unknown */
	double own;          /* of the change */
	double share;        /* of the base's time on the unit, 0 to 1 */
	double ms;           /* cost of `own`; below 0 a saving */
};

struct quantities {
	struct quantity_change of[QUANTITIES];
	double busiest; /* unit, as a share of the base's time */
};

void quantities_read(const struct kernel_pair *p, const struct rates *r, struct quantities *out);

/* ---- finding: Findings before they are ranked, and the common input of all classes. ---- */

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
	double ms;                      /* share of the difference, in its direction; for CAUSE_SEEN: the size of the change */
	double weight;
	char what[FINDING_SIZE]; /* "executes 12 % more ...", about the kernel */
};

struct findings {
	double sign;     /* 1 the target is slower, -1 faster */
	double least_ms; /* minimum worth reporting */
	size_t n;
	struct finding item[FINDINGS_MAX];
};

struct analysis {
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
void finding_add(
	struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, double weight, const char *what);
void finding_exact(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, const char *what);
/** Add a finding of unknown cost; larger ones come first. */
void finding_seen(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double size, const char *what);

/**
 * Return the cost of a quantity's own change: its unit's time, or, if relevant and growing with the time, the waits that follow
 * from it. Shape: `waits` as in stalls_sum. Units: ms, signed.
 */
double analysis_get_cost(const struct analysis *l, enum quantity q, unsigned waits);

/* ---- classes: The classes of evidence; each adds its findings. ---- */

/** Find nodes that only one side has (node.c). Units: `left_ms` signed, not explained by kernels of both sides. */
void node_find(const struct pairing *p, double left_ms, struct findings *f);
/** Find a different configuration, by the target's time with the base's (measured_share.c). */
void configuration_find(const struct cause_evidence *e, struct findings *f);
/** Find the shares of clock and host, measured by the comparison (measured_share.c). */
void measured_share_find(const struct cause_evidence *e, struct findings *f);

typedef void find_fn(const struct analysis *l, struct findings *f);
find_fn pipe_find, spill_find, traffic_find, launch_find, wait_find;
/** Return whether machine code or ptxas show that products became serial, or are no longer serial; as text (wait.c). */
bool wait_serial(const struct analysis *l, char what[FINDING_SIZE]);
/** Find differences of machine code and launches without counters (machinecode.c). */
void machinecode_find(const struct analysis *l, struct findings *f);

/* ---- sassalign: Longest common subsequence of two lists of numbers, within a bound of work. ---- */

/**
 * Mark the common entries of `a` and `b`: as many as possible, in order. Shape: matched_a[n], matched_b[m], initially false. Returns
 * false without marks if they differ in more than some thousand entries, or memory is out.
 */
bool sassalign_match(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *matched_a, bool *matched_b);

#endif
