/* ancestor.c - the search along the first parents, from the newest to the oldest. */
#include "flopwatchd/plan/internal.h"

#include <stdio.h>

#include "db/db.h"

struct ancestor_search {
	struct db *db;
	const struct ancestor_request *request;
	const struct gitread_base *line;
	bool is_rewritten;
	int from; /* index of the first permitted base */
	struct ancestor *out;
};

static int find_index(const struct gitread_base *line, const char *sha)
{
	for (int i = 0; i < line->n_first_parents; i++)
		if (!strcmp(line->first_parent[i], sha))
			return i;
	return -1;
}

static int set_base(struct ancestor_search *s, const char *sha)
{
	snprintf(s->out->sha, sizeof s->out->sha, "%s", sha);
	s->out->how = s->is_rewritten ? "last-judged" : "first-parent";
	return 1;
}

/* The merge-base is enough if it or the lost tip is settled. 1 chosen, 0, -1. */
static int try_merge_base(struct ancestor_search *s, const char *suite, struct store_base *tip, struct fw_err *err)
{
	struct store_base fork;
	if (store_base_get(s->db, s->request->repo, s->request->branch, s->request->last_judged, suite, tip, err) != 0 ||
		store_base_get(s->db, s->request->repo, s->request->branch, s->line->merge_base, suite, &fork, err) != 0)
		return -1;
	bool reported = tip->word == STORE_BASE_SETTLED || fork.word == STORE_BASE_SETTLED;
	return reported ? set_base(s, s->line->merge_base) : 0;
}

/* Search by the comparisons of this suite. 1 found, 0 none, -1. */
static int search_line(struct ancestor_search *s, const char *suite, struct fw_err *err)
{
	const struct gitread_base *line = s->line;
	struct store_base newest = { .word = STORE_BASE_UNKNOWN }, one;
	int got = s->is_rewritten ? try_merge_base(s, suite, &newest, err) : 0;
	if (got)
		return got;
	if (newest.word == STORE_BASE_OPEN && find_index(line, newest.base_sha) < s->from)
		newest.word = STORE_BASE_UNKNOWN; /* no longer in the history either */
	for (int i = s->from; i < line->n_first_parents; i++) {
		const char *sha = line->first_parent[i];
		if (store_base_get(s->db, s->request->repo, s->request->branch, sha, suite, &one, err) != 0)
			return -1;
		if (one.word == STORE_BASE_SETTLED)
			return set_base(s, sha);
		/* a commit compared with itself says nothing about older ones */
		if (one.word == STORE_BASE_OPEN && newest.word == STORE_BASE_UNKNOWN && strcmp(one.base_sha, sha) != 0)
			newest = one;
	}
	bool is_held = newest.word == STORE_BASE_OPEN && newest.base_sha[0] && strcmp(newest.base_sha, s->request->target) != 0;
	return is_held ? set_base(s, newest.base_sha) : 0;
}

int ancestor_choose(struct db *db, const struct ancestor_request *request, const struct gitread_base *line, struct ancestor *out,
	struct fw_err *err)
{
	struct ancestor_search s = { .db = db, .request = request, .line = line, .out = out };
	bool is_followed = !request->last_judged[0] || find_index(line, request->last_judged) >= 0;
	s.is_rewritten = !is_followed && line->merge_base[0] && strcmp(line->merge_base, request->target) != 0;
	int fork = find_index(line, line->merge_base);
	s.from = s.is_rewritten && fork >= 0 ? fork : 0;
	if (s.is_rewritten && fork < 0) /* merged in: no first parent is known to be older */
		return set_base(&s, line->merge_base) == 1 ? 0 : -1;
	int got = search_line(&s, request->suite, err);
	if (got == 0 && request->suite[0])
		got = search_line(&s, "", err);
	if (got != 0)
		return got < 0 ? -1 : 0;
	if (s.is_rewritten) {
		set_base(&s, line->merge_base);
	} else if (line->n_first_parents) {
		set_base(&s, line->first_parent[0]);
	} else {
		snprintf(out->sha, sizeof out->sha, "%s", request->target);
		out->how = "self";
	}
	return 0;
}
