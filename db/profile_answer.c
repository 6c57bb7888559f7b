#include "db/db.h"

#include <stdio.h>

static void take_cell(struct stmt *s, struct cause_known *known, bool is_named, struct profile_answer *out)
{
	const char *cell, *path, *code;
	bool is_only;
	int used = 0;
	row_read(s, cell, COLUMN_NAMED(known->cell, cause_cell_from_name), known->why, path, known->base_ms, known->target_ms,
		known->sentence, known->confidence, known->is_open, is_only, code);
	known->is_counted = strcmp(path, "range") == 0 || strcmp(path, "ncu") == 0;
	out->has_cause = known->sentence[0] != 0;
	if (strcmp(known->confidence, "seen") != 0)
		snprintf(out->cause, sizeof out->cause, "%s", code);
	if (!is_named && !is_only)
		used = snprintf(out->text, sizeof out->text, "in %.200s: ", cell);
	char text[CAUSE_ANSWER_SIZE];
	cause_answer(known, text);
	snprintf(out->text + used, sizeof out->text - (size_t)used, "%s", text);
}

int profile_answer(struct db *db, int64_t profile, enum jobstate state, const char *state_why, const char *key,
	struct profile_answer *out, struct fw_err *err)
{
	struct cause_known known = { .is_pending = !jobstate_is_final(state),
		.is_done = state == JOBSTATE_DONE,
		.profile_state = jobstate_name(state),
		.profile_why = state_why };
	*out = (struct profile_answer){ .has_cause = false };
	struct stmt *s = db_query(db, err,
		"SELECT key, state, why, path, base_ms, target_ms, sentence, confidence, is_open, is_worst, code FROM (SELECT "
		"x.key, x.state, x.why, x.path, x.base_ms, x.target_ms, k.sentence, k.confidence, k.code, EXISTS (SELECT 1 FROM cause o WHERE "
		"o.profile_cell = x.id AND o.code = 'not_explained') AS is_open, x.id = first_value(x.id) OVER (ORDER BY "
		"coalesce(x.target_ms / x.base_ms, 0) DESC, x.n) AS is_worst, coalesce(x.target_ms / x.base_ms, 0) AS slowdown, x.n "
		"FROM profile_cell x LEFT JOIN cause k ON k.profile_cell = x.id AND k.rank = (SELECT min(o.rank) FROM cause o "
		"WHERE o.profile_cell = x.id AND o.code <> 'not_explained') WHERE x.profile = :profile) WHERE :key = '' OR key = "
		":key ORDER BY sentence IS NULL, slowdown DESC, n LIMIT 1",
		"profile=%ld key=%s", profile, key ? key : "");
	int found = stmt_step(s, err);
	if (found == 1 && known.is_done)
		take_cell(s, &known, key != NULL, out);
	else
		cause_answer(&known, out->text);
	if (found == 1)
		stmt_reset(s);
	return found < 0 ? -1 : 0;
}
