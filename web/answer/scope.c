/* scope.c - documented in answer.h. */
#include "web/answer/answer.h"

struct choice {
	char name[128];
	int n;
};

static void count_repo(void *arg, const struct view_repo *row)
{
	struct choice *choice = arg;
	if (strcmp(row->state, "gone") == 0)
		return;
	if (choice->n++ == 0)
		snprintf(choice->name, sizeof choice->name, "%s", row->name);
}

const char *scope_branch(struct http_request *r, char *key)
{
	const char *given = http_query(r, "branch");
	if (!given || !*given)
		return NULL;
	branch_key(given, key);
	return key;
}

int scope_read(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err)
{
	struct choice choice = { .n = 0 };
	int64_t id;
	const char *given = http_query(r, "repo");
	if (!scope_branch(r, out->branch))
		out->branch[0] = '\0'; // NOLINT(clang-analyzer-core.NullDereference): the caller's
	bool is_given = given && *given;
	if (is_given ? view_repo_id(site->db, given, &id, err) != 0 : view_repos(site->db, count_repo, &choice, err) != 0)
		return -1;
	if (!is_given && choice.n != 1)
		return err_set(err, ERR_INVALID, "%d repositories are watched; select one with repo=NAME", choice.n);
	snprintf(out->repo, sizeof out->repo, "%s", is_given ? given : choice.name);
	return 0;
}

struct offer {
	struct scope *scope;
	bool wants_branch;
};

static void take_offer(void *arg, const struct view_repo *row)
{
	struct offer *o = arg;
	bool is_first = !o->scope->repo[0] && strcmp(row->state, "gone") != 0;
	if (is_first)
		snprintf(o->scope->repo, sizeof o->scope->repo, "%s", row->name);
	if (o->wants_branch && strcmp(o->scope->repo, row->name) == 0)
		branch_key(row->upstream, o->scope->branch);
}

int scope_offer(struct site *site, struct http_request *r, struct scope *out, struct fw_err *err)
{
	int64_t id;
	const char *given = http_query(r, "repo");
	struct offer offer = { .scope = out, .wants_branch = !scope_branch(r, out->branch) };
	snprintf(out->repo, sizeof out->repo, "%s", given ? given : "");
	if (offer.wants_branch)
		out->branch[0] = '\0'; // NOLINT(clang-analyzer-core.NullDereference): the caller's
	return out->repo[0] && view_repo_id(site->db, out->repo, &id, err) != 0 ? -1
										: view_repos(site->db, take_offer, &offer, err);
}
