/** answer.h - why a cell lost as far as a stored profile knows, as one sentence (core/cause/answer.h). Loop only. */
#ifndef DB_PROFILE_ANSWER_H
#define DB_PROFILE_ANSWER_H

#include "core/cause/answer.h"
#include "core/state/jobstate.h"
#include "db/sqlite/db.h"

struct profile_answer {
	char text[CAUSE_ANSWER_SIZE];
	bool has_cause; /* the text names something that was found */
};

/**
 * Of one cell of a profile; `key` NULL: of the cell that lost most among those with a cause, else of the one that lost most. Where that
 * is not the cell that lost most of all, the text begins with its key. `state`, `state_why`: of the profile's job.
 */
int profile_answer(struct db *db, int64_t profile, enum jobstate state, const char *state_why, const char *key,
	struct profile_answer *out, struct fw_err *err);

#endif
