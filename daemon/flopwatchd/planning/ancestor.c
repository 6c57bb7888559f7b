/* ancestor.c - along the first parents, from the newest to the oldest, until one is settled. */
#include "flopwatchd/planning/ancestor.h"

#include <stdio.h>
#include <string.h>

#include "db/store/base.h"

struct search {
	struct db *db;
	const struct ancestor_ask *ask;
	const struct gitread_base *line;
	bool is_rewritten;
	int from; /* the first of the line that may be a base */
	struct ancestor *out;
};

static int place_of(const struct gitread_base *line, const char *sha)
{
	for (int i = 0; i < line->n_first_parents; i++)
		if (!strcmp(line->first_parent[i], sha))
			return i;
	return -1;
}

static int take(struct search *s, const char *sha)
{
	snprintf(s->out->sha, sizeof s->out->sha, "%s", sha);
	s->out->how = s->is_rewritten ? "last-judged" : "first-parent";
	return 1;
}

/* The merge-base is enough where it or the tip that is gone has told its loss. 1 taken, 0, -1. */
static int try_merge_base(struct search *s, const char *suite, struct store_base *tip, struct fw_err *err)
{
	struct store_base fork;
	if (store_base_get(s->db, s->ask->repo, s->ask->branch, s->ask->last_judged, suite, tip, err) != 0 ||
		store_base_get(s->db, s->ask->repo, s->ask->branch, s->line->merge_base, suite, &fork, err) != 0)
		return -1;
	bool told = tip->word == STORE_BASE_SETTLED || fork.word == STORE_BASE_SETTLED;
	return told ? take(s, s->line->merge_base) : 0;
}

/* By what this suite's comparisons say. 1 found, 0 they say nothing, -1. */
static int search(struct search *s, const char *suite, struct fw_err *err)
{
	const struct gitread_base *line = s->line;
	struct store_base newest = { .word = STORE_BASE_UNKNOWN }, one;
	int got = s->is_rewritten ? try_merge_base(s, suite, &newest, err) : 0;
	if (got)
		return got;
	if (newest.word == STORE_BASE_OPEN && place_of(line, newest.base_sha) < s->from)
		newest.word = STORE_BASE_UNKNOWN; /* rewritten away, too */
	for (int i = s->from; i < line->n_first_parents; i++) {
		const char *sha = line->first_parent[i];
		if (store_base_get(s->db, s->ask->repo, s->ask->branch, sha, suite, &one, err) != 0)
			return -1;
		if (one.word == STORE_BASE_SETTLED)
			return take(s, sha);
		/* one that was held against itself tells of no older one */
		if (one.word == STORE_BASE_OPEN && newest.word == STORE_BASE_UNKNOWN && strcmp(one.base_sha, sha) != 0)
			newest = one;
	}
	bool is_held = newest.word == STORE_BASE_OPEN && newest.base_sha[0] && strcmp(newest.base_sha, s->ask->target) != 0;
	return is_held ? take(s, newest.base_sha) : 0;
}

int ancestor_choose(
	struct db *db, const struct ancestor_ask *ask, const struct gitread_base *line, struct ancestor *out, struct fw_err *err)
{
	struct search s = { .db = db, .ask = ask, .line = line, .out = out };
	bool is_followed = !ask->last_judged[0] || place_of(line, ask->last_judged) >= 0;
	s.is_rewritten = !is_followed && line->merge_base[0] && strcmp(line->merge_base, ask->target) != 0;
	int fork = place_of(line, line->merge_base);
	s.from = s.is_rewritten && fork >= 0 ? fork : 0;
	if (s.is_rewritten && fork < 0) /* by a merge: no first parent is known to be older */
		return take(&s, line->merge_base) == 1 ? 0 : -1;
	int got = search(&s, ask->suite, err);
	if (got == 0 && ask->suite[0])
		got = search(&s, "", err);
	if (got != 0)
		return got < 0 ? -1 : 0;
	if (s.is_rewritten) {
		take(&s, line->merge_base);
	} else if (line->n_first_parents) {
		take(&s, line->first_parent[0]);
	} else {
		snprintf(out->sha, sizeof out->sha, "%s", ask->target);
		out->how = "self";
	}
	return 0;
}
