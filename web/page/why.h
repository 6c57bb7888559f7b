/**
 * why.h - what a profile found out about one cell, read for showing: causes, kernels with their counters, machine code.
 *
 * Most of it was said by processes that ran a branch's code: it is shown as text and decides nothing.
 */
#ifndef WEB_PAGE_WHY_H
#define WEB_PAGE_WHY_H

#include <stdint.h>

#include "profile/cause.h"
#include "profile/pairing.h"
#include "model/jobstate.h"
#include "db/db.h"

struct why_cause {
	enum cause_kind kind; /* CAUSE_KINDS: a word of another version */
	const char *word, *confidence, *kernel, *sentence;
	double explained_ms, of_ms;
};

/** Warps that were seen at one instruction. */
struct why_stall {
	long offset, samples, of_reason; /* of_reason of the samples waited for: */
	const char *reason, *text;       /* text: the instruction; "" unknown */
};

/** The machine code of one kernel; evidence.code[] has it at the same place. */
struct why_code {
	const char *hunks;
	struct why_stalls {
		long long samples; /* 0: that side was not sampled */
		size_t n;
		const struct why_stall *line; /* line[n], most samples first */
	} stalls[2];                          /* base, target */
};

/** What ptxas says of one build and not of the other: words of db/diagnostic.h. */
struct why_diagnostic {
	const char *change, *code, *kernel, *what;
};

/** How a profile stands. Texts are "" where there is none. */
struct why_head {
	int64_t profile, job, comparison;
	enum jobstate state;
	const char *base_provider, *target_provider;
	const char *
		answer; /* why, as far as is known, as one sentence without a full stop: of the cell that was read, else of all */
};

struct why {
	struct why_head head;
	int n_cells;                                              /* of the whole profile */
	const char *key, *state, *why, *path, *tool, *stalls_why; /* state: done identical unsupported failed */
	int passes;
	double gpu_s, base_ms, target_ms; /* of the comparison; NAN unknown */
	const char *with_config;          /* "": the target was not tried with the base's configuration */
	size_t n_causes;
	struct why_cause *cause;
	struct cause_evidence evidence; /* kernels, code, configurations: base_config, ... */
	struct why_code *code;
	size_t n_diagnostics;
	struct why_diagnostic *diagnostic;
	struct pairing pairing;
	/* internal */
	struct why_kept *kept;
};

/** What is read of: an alert's profile, or where that is 0 a comparison's. */
struct why_of {
	int64_t alert, comparison;
	const char *key; /* the cell; NULL: the `n`th of the profile */
	int n;           /* the greatest loss first */
};

/** Read one cell. 1; 0 there is no profile, or not of this cell (out->head then says how the profile stands; head.profile 0: none); -1. Own: why_fini, always. */
int why_read(struct db *db, const struct why_of *of, struct why *out, struct fw_err *err);
/** How an alert's profile stands, and its answer alone. 1, 0 nobody asked for one, -1. Own: as above. */
int why_read_line(struct db *db, int64_t alert, struct why *out, struct fw_err *err);
void why_fini(struct why *w);

/** What a drawn page depends on of a comparison's profile. Shape: out[WHY_STAMP_SIZE]; "" none. */
enum { WHY_STAMP_SIZE = 64 };
int why_stamp(struct db *db, int64_t comparison, char *out, struct fw_err *err);

#endif
