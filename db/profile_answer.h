/** answer.h - the cause of a slower cell in a stored profile, as one sentence (profile/answer.h). Loop only. */
#ifndef DB_PROFILE_ANSWER_H
#define DB_PROFILE_ANSWER_H

#include "profile/answer.h"
#include "model/jobstate.h"
#include "db/db.h"

struct profile_answer {
	char text[CAUSE_ANSWER_SIZE];
	bool has_cause; /* the text names a cause */
};

/**
 * Of one cell of a profile; `key` NULL: of the cell with the largest slowdown among those with a cause, else among all. Where another cell
 * has a larger slowdown, the text begins with the cell's key. `state`, `state_why`: of the profile's job.
 */
int profile_answer(struct db *db, int64_t profile, enum jobstate state, const char *state_why, const char *key,
	struct profile_answer *out, struct fw_err *err);

#endif
