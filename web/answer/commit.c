/* commit.c - the commit that a request names by branch or by hash. */
#include "web/answer/answer.h"

enum { PREFIX_MIN = 4, READ_MAX = 50 }; /* a commit may be in several repositories */

struct commit_search {
	const char *repo;
	struct answer_commit *commit;
};

static void take(struct answer_commit *c, const char *sha, const char *subject)
{
	c->n++;
	snprintf(c->sha, sizeof c->sha, "%s", sha);
	snprintf(c->subject, sizeof c->subject, "%s", subject);
}

static void take_branch(void *arg, const struct view_branch *row)
{
	take(((struct commit_search *)arg)->commit, row->commit, row->subject);
}

static void take_commit(void *arg, const struct view_commit *row)
{
	struct commit_search *f = arg;
	if (strcmp(row->repo, f->repo) == 0)
		take(f->commit, row->sha, row->subject);
}

int answer_find_commit(
	struct db *db, int64_t id, const char *repo, const char *text, struct answer_commit *out, struct fw_err *err)
{
	struct commit_search search = { repo, out };
	size_t len = strlen(text);
	const struct view_branch_filter named = { .repo = id, .name = text, .display = text, .limit = 2 };
	*out = (struct answer_commit){ .n = 0 };
	if (len == 0)
		return 0;
	if (view_branches(db, &named, take_branch, &search, err) != 0)
		return -1;
	if (out->n || len < PREFIX_MIN || strspn(text, "0123456789abcdef") != len)
		return 0;
	return view_commits(db, text, READ_MAX, take_commit, &search, err);
}
