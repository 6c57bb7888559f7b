/*
 * fuzz_forge.c - arbitrary bytes as what forges send: the event of a webhook, a comment on a request, a stored approval. Whatever
 * is taken from them names a request, a whole commit and a user.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/forge by default).
 *
 * Attacks: daemon/flopwatchd/notify/approval.c daemon/lib
 */
#include "flopwatchd/notify/internal.h"
#include "fuzz_replay.h"

#define HEAD "1111111111111111111111111111111111111111"

static void check(const struct forge_approval *one)
{
	must(one->number > 0 && oid_is_whole(one->head) && one->who[0], "an approval of nothing, or by nobody");
}

static void read_as(const struct config_repo *repo, const char *data, size_t size)
{
	struct forge_approval one;
	int64_t id;

	if (forge_event_read(repo, data, size, &one))
		check(&one);
	json_t *comment = json_loadb(data, size, JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, NULL);
	if (forge_comment_read(repo, comment, 7, HEAD, &id, &one)) {
		check(&one);
		must(id > 0 && one.number == 7 && strcmp(one.head, HEAD) == 0, "a comment approves another commit");
	}
	json_decref(comment);
}

static struct config_repo *repo_of(const char *kind)
{
	struct config_repo *repo = mem_alloc_zero(1, sizeof *repo);

	snprintf(repo->name, sizeof repo->name, "kernels");
	snprintf(repo->status.kind, sizeof repo->status.kind, "%s", kind);
	snprintf(repo->status.project, sizeof repo->status.project, "team/kernels");
	snprintf(repo->pulls.approve_by.label, sizeof repo->pulls.approve_by.label, "measure");
	snprintf(repo->pulls.approve_by.comment, sizeof repo->pulls.approve_by.comment, "/flopwatch approve");
	snprintf(repo->pulls.approve_by.permission, sizeof repo->pulls.approve_by.permission, "write");
	return repo;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config_repo *github, *gitlab;
	char *text = malloc(size + 1);
	struct forge_approval one;
	struct fw_err err = { 0 };

	if (!github) {
		github = repo_of("github");
		gitlab = repo_of("gitlab");
	}
	read_as(github, (const char *)data, size);
	read_as(gitlab, (const char *)data, size);
	must(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = '\0';
	if (approval_read(text, &one, &err) == 0)
		check(&one);
	else
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	approval_is_enough(github, text);
	approval_is_enough(gitlab, text);
	approval_is_listed(&github->pulls.approve_by, text);
	free(text);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/forge", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
