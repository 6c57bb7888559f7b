/** answer.h - what is known of why a cell lost, as one sentence: the same for pages, messages, the command line and review comments. Pure. */
#ifndef CORE_CAUSE_ANSWER_H
#define CORE_CAUSE_ANSWER_H

#include <stdbool.h>

enum { CAUSE_ANSWER_SIZE = 1024 };

/** What became of a cell in a profile. */
enum cause_cell { CAUSE_CELL_NONE, CAUSE_CELL_DONE, CAUSE_CELL_IDENTICAL, CAUSE_CELL_UNSUPPORTED, CAUSE_CELL_FAILED };
/** From the word of a stored row: "done" "identical" "unsupported"; another: CAUSE_CELL_FAILED. */
enum cause_cell cause_cell_from_name(const char *word);

/** How a profile stands and what it found of one cell. Texts are "" where there is none. */
struct cause_known {
	bool is_pending, is_done;                /* of the profile; neither: it ended without a result */
	const char *profile_state, *profile_why; /* its word, and the reason where it ended without one */
	enum cause_cell cell;                    /* CAUSE_CELL_NONE: the profile has no such cell */
	const char *why;                         /* of the cell */
	bool is_counted;                         /* counters were read */
	double base_ms, target_ms;               /* as the comparison timed it; NAN unknown */
	/* the first cause that is more than "not explained" */
	const char *sentence, *confidence;
	bool is_open; /* less than half of the difference is explained */
};

/**
 * What follows "Why: ", without a full stop. A cause is named as the reason only where causes explain at least half of the difference; else
 * it is "known in part" or "also changed". Without a cause the sentence says why none is known, and never that nothing differs. Bytes that
 * do not fit are left out. Shape: out[CAUSE_ANSWER_SIZE].
 */
void cause_answer(const struct cause_known *k, char *out);

#endif
