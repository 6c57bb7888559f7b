/* compare and submit: request a comparison; compare follows its jobs and prints the results. */

#include "cli/internal.h"
#include "lib/lib.h"
#include "model/model.h"

/* Store the uncommitted files as a commit on no branch. Shape: sha[65]. */
static int snapshot(const char *worktree, char *sha, struct fw_err *err)
{
	char program[4096];
	struct buf out, errors;
	struct proc_exit how;
	if (proc_sibling("flopwatch-git", program, sizeof program, err) != 0)
		return -1;
	buf_init(&out, 65536);
	buf_init(&errors, 65536);
	const char *argv[] = { program, "snapshot", "--worktree", worktree, NULL };
	struct proc_spec spec = { .argv = argv, .is_careful = true };
	int result = proc_run(&spec, NULL, &out, &errors, 60000, &how, err);
	if (result == 0 && how.status != 0) {
		errors.data[strcspn(errors.data, "\n")] = '\0';
		result = err_set(err, ERR_INVALID, "%s", errors.len ? errors.data : "the uncommitted files could not be stored");
	}
	if (result == 0) {
		json_t *answer = json_loadb(out.data, out.len, 0, NULL);
		snprintf(sha, 65, "%.64s", value_text(answer, "commit"));
		json_decref(answer);
		if (!*sha)
			result = err_set(err, ERR_PROTOCOL, "flopwatch-git snapshot gave no commit");
	}
	buf_fini(&out);
	buf_fini(&errors);
	return result;
}

static bool is_uncommitted(const char *target)
{
	return strcmp(target, ".") == 0;
}

/* The repository that the command refers to; as checkout_repo. Shape: name[size]. */
static int repo_of(struct client *c, const struct options *o, const char *target, char *name, size_t size)
{
	char worktree[4096];
	struct fw_err err = { 0 };
	if (is_uncommitted(target) && checkout_worktree(worktree, sizeof worktree, &err) != 0)
		return verb_fail(&err);
	return checkout_repo(c, o, is_uncommitted(target) ? NULL : target, name, size);
}

static int request(struct client *c, const struct options *o, const char *repo, const char *base, const char *target,
	json_t **job, struct fw_err *err)
{
	char worktree[4096], sha[65];
	if (is_uncommitted(target)) {
		if (checkout_worktree(worktree, sizeof worktree, err) != 0 || snapshot(worktree, sha, err) != 0)
			return -1;
		target = sha;
	}
	const struct member request[] = { { "repo", .text = repo }, { "base", .text = base }, { "target", .text = target },
		{ "suite", .text = o->suite }, { "cells", .text = o->cells }, { "device", .text = o->device },
		{ "base_provider", .text = o->base_provider }, { "target_provider", .text = o->target_provider },
		{ "base_config", .text = o->base_config }, { "target_config", .text = o->target_config },
		{ "base_toolchain", .text = o->base_toolchain }, { "target_toolchain", .text = o->target_toolchain },
		{ "base_flags", .text = o->base_flags }, { "target_flags", .text = o->target_flags },
		{ "quick", .is_set = o->quick }, { 0 } };
	return client_post_members(c, "/api/v1/jobs", request, job, err);
}

/* The requested comparison ended as `state` before it could be followed. */
static bool has_ended_as(const json_t *verdict, enum jobstate state)
{
	const json_t *first = json_array_get(json_object_get(verdict, "suites"), 0);
	return jobstate_from_name(value_text(first, "state")) == state;
}

int verb_compare(struct client *c, const struct options *o)
{
	if (files_are(o->arg[0], o->arg[1]))
		return verb_compare_files(o);
	struct fw_err err = { 0 };
	if (files_looks_like_one(o->arg[0]) || files_looks_like_one(o->arg[1]))
		for (int i = 0; i < 2; i++)
			if (files_check(o->arg[i], &err) != 0)
				return verb_fail_here(&err);
	if (o->n_arg == 3)
		return verb_usage("flopwatch: %s is written from two files, but %s and %s are not both files here", o->arg[2],
			o->arg[0], o->arg[1]);
	json_t *requested = NULL, *verdict = NULL;
	char path[64], repo[256];
	int status = repo_of(c, o, o->arg[1], repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	status = -1;
	if (request(c, o, repo, o->arg[0], o->arg[1], &requested, &err) == 0) {
		snprintf(path, sizeof path, "/api/v1/jobs/%lld/verdict", value_integer(requested, "id"));
		if (follow_verdict(c, o, path, follow_deadline(o), &verdict, &err) == 0)
			status = conclude(c, o, verdict, &err);
	}
	if (status < 0 && is_uncommitted(o->arg[1]) && has_ended_as(verdict, JOBSTATE_TARGET_MISSING))
		err_context(&err, "this checkout is not the one that the daemon reads; push a branch and name that instead of .");
	json_decref(requested);
	json_decref(verdict);
	return status < 0 ? verb_fail(&err) : status;
}

int verb_submit(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	char repo[256];
	int status = repo_of(c, o, o->arg[0], repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	int result = request(c, o, repo, NULL, o->arg[0], &job, &err);
	return verb_new_job(o, result, job, &err);
}
