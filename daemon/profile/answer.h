/** answer.h - the known cause of a cell's regression as one sentence, for pages, messages, CLI and review comments. Pure. */
#ifndef PROFILE_ANSWER_H
#define PROFILE_ANSWER_H

#include <stdbool.h>

enum { CAUSE_ANSWER_SIZE = 1024 };

enum cause_cell { CAUSE_CELL_NONE, CAUSE_CELL_DONE, CAUSE_CELL_IDENTICAL, CAUSE_CELL_UNSUPPORTED, CAUSE_CELL_FAILED };
/** Parse a stored word: "done" "identical" "unsupported"; others: CAUSE_CELL_FAILED. */
enum cause_cell cause_cell_from_name(const char *word);

/** State of a profile and its result for one cell. Texts "": none. */
struct cause_known {
	bool is_pending, is_done;                /* of the profile; neither: it ended without a result */
	const char *profile_state, *profile_why; /* its state, and the reason if it has no result */
	enum cause_cell cell;                    /* CAUSE_CELL_NONE: the profile has no such cell */
	const char *why;
	bool is_counted;
	double base_ms, target_ms; /* times in the comparison; NAN unknown */
	/* the first cause other than "not explained" */
	const char *sentence, *confidence;
	bool is_open; /* less than half of the difference is explained */
};

/**
 * Write the text after "Why: ", without a full stop. A cause is named as the reason only if causes explain at least half of the
 * difference; else it is "known in part" or "also changed". Without a cause the sentence says why none is known, and never that
 * there is no difference. Text that does not fit is cut. Shape: out[CAUSE_ANSWER_SIZE].
 */
void cause_answer(const struct cause_known *k, char *out);

#endif
