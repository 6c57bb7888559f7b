/* names.c - see names.c. */
#include "cli/internal.h"

enum { HURRY_MS = 1500, PATH_BYTES = 4096 };

static const struct kind {
	const char *name, *path, *key;
	bool takes_repo, wants_repo; /* wants: it is asked of one repository after the other */
} kinds[] = {
	{ "branches", "/api/v1/branches?limit=500", "display", true, false },
	{ "cells", "/api/v1/cells", "cell", true, true },
	{ "alerts", "/api/v1/alerts?limit=100", "id", true, false },
	{ "jobs", "/api/v1/jobs?limit=100", "id", true, false },
	{ "comparisons", "/api/v1/comparisons?limit=100", "id", true, false },
	{ "devices", "/api/v1/devices", "uuid", false, false },
	{ "repos", "/api/v1/repos", "name", false, false },
};

static const struct kind *find(const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

bool names_is_kind(const char *kind)
{
	return find(kind) != NULL;
}

static void print_items(const json_t *items, const char *key)
{
	size_t i;
	json_t *item;
	json_array_foreach(items, i, item)
	{
		const json_t *name = json_object_get(item, key);
		if (json_is_integer(name))
			printf("%lld", (long long)json_integer_value(name));
		else
			plain_print(stdout, value_text(item, key));
		putchar('\n');
	}
}

/* Own: the caller's; NULL where there is no answer, which is nothing to tell of while somebody types. */
static json_t *request(struct client *c, const char *path, const char *repo)
{
	struct fw_err ignored = { 0 };
	struct buf whole;
	json_t *answer = NULL;
	buf_init(&whole, PATH_BYTES);
	buf_puts(&whole, path);
	client_query(&whole, "repo", repo);
	if (!whole.failed && client_get(c, whole.data, &answer, &ignored) != 0)
		answer = NULL;
	buf_fini(&whole);
	return answer;
}

static void print_of(struct client *c, const struct kind *kind, const char *repo)
{
	json_t *answer = request(c, kind->path, kind->takes_repo ? repo : NULL);
	print_items(json_object_get(answer, "items"), kind->key);
	json_decref(answer);
}

void names_print(struct client *c, const struct options *o, const char *kind)
{
	const struct kind *k = find(kind);
	if (!k)
		return;
	client_hurry(c, HURRY_MS);
	if (!k->wants_repo || o->repo) {
		print_of(c, k, o->repo);
		return;
	}
	size_t i;
	json_t *repo, *repos = request(c, "/api/v1/repos", NULL);
	json_array_foreach(json_object_get(repos, "items"), i, repo) print_of(c, k, value_text(repo, "name"));
	json_decref(repos);
}
