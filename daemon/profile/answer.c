/* answer.c - the sentence for each state of a profile. */
#include "profile/profile.h"

#include <stdio.h>

enum cause_cell cause_cell_from_name(const char *text)
{
	static const char *const names[] = {
		[CAUSE_CELL_DONE] = "done", [CAUSE_CELL_IDENTICAL] = "identical", [CAUSE_CELL_UNSUPPORTED] = "unsupported"
	};
	for (int i = CAUSE_CELL_DONE; i < CAUSE_CELL_FAILED; i++)
		if (strcmp(names[i], text) == 0)
			return (enum cause_cell)i;
	return CAUSE_CELL_FAILED;
}

static const char *or_else(const char *text, const char *other)
{
	return text && *text ? text : other;
}

static void without_causes(const struct cause_known *k, char *out)
{
	char base[16], target[16];

	if (!(k->base_ms > 0) || !(k->target_ms > 0)) {
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: the comparison has no times of this cell to explain");
		return;
	}
	sentence_ms(k->base_ms, base);
	sentence_ms(k->target_ms, target);
	snprintf(out, CAUSE_ANSWER_SIZE,
		"not known: the medians, %s and %s ms, differ by less than their noise, so the profile has no difference to explain",
		base, target);
}

static void of_cell(const struct cause_known *k, char *out)
{
	bool is_seen = strcmp(or_else(k->confidence, ""), "seen") == 0;

	if (k->cell == CAUSE_CELL_IDENTICAL)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: the profile found nothing to compare; %.700s",
			or_else(k->why, "both sides are built to the same module"));
	else if (k->cell == CAUSE_CELL_UNSUPPORTED)
		/* a complete sentence begins with a capital */
		snprintf(out, CAUSE_ANSWER_SIZE, "not known%s %.700s",
			or_else(k->why, "t")[0] >= 'A' && or_else(k->why, "t")[0] <= 'Z' ? "." : ":",
			or_else(k->why, "this cell cannot be profiled"));
	else if (k->cell != CAUSE_CELL_DONE)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: profiling this cell failed: %.700s",
			or_else(k->why, "no reason was given"));
	else if (!*or_else(k->sentence, "") && k->is_open)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: %s",
			k->is_counted ? "nothing that was counted or compared explains the difference"
				      : "counters were not read, and machine code, kernels and configurations show no cause");
	else if (!*or_else(k->sentence, ""))
		without_causes(k, out);
	else if (is_seen)
		snprintf(out, CAUSE_ANSWER_SIZE, "%s: %.900s", k->is_counted ? "not known; also changed" : "likely", k->sentence);
	else
		snprintf(out, CAUSE_ANSWER_SIZE, "%s%.900s", k->is_open ? "known in part: " : "", k->sentence);
}

void cause_answer(const struct cause_known *k, char *out)
{
	if (k->is_pending)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known yet: the profile is %.40s", or_else(k->profile_state, "under way"));
	else if (!k->is_done)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: the profile ended without a result: %.700s",
			or_else(k->profile_why, or_else(k->profile_state, "failed")));
	else if (k->cell == CAUSE_CELL_NONE)
		snprintf(out, CAUSE_ANSWER_SIZE, "not known: the profile does not include this cell");
	else
		of_cell(k, out);
}
