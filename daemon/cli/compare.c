/* compare and submit: request a comparison; compare prints its results, submit may write those of its target. */

#include "cli/internal.h"

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
		if (checkout_worktree(worktree, sizeof worktree, err) != 0 || checkout_pushed(c, repo, sha, err) != 0)
			return -1;
		if (!*sha && snapshot(worktree, sha, err) != 0)
			return -1;
		target = sha;
		base = base && is_uncommitted(base) ? sha : base;
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

bool compare_is_local(const struct options *o)
{
	return o->stdin_bytes || files_are(o->arg[0], o->arg[1]);
}

int verb_compare(struct client *c, const struct options *o)
{
	if (o->stdin_bytes && o->n_arg == 3)
		return verb_usage("flopwatch: --stdin takes the names of two files; %s is not written", o->arg[2]);
	if (o->stdin_bytes && !verb_is_number(o->stdin_bytes))
		return verb_usage("flopwatch: --stdin %s: write the number of bytes of the first file", o->stdin_bytes);
	bool are_files = compare_is_local(o);
	if (are_files && o->export)
		return verb_usage("flopwatch: --export is for two branches; name a third file for two files");
	if (are_files)
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
	if (status < 0 && is_uncommitted(o->arg[1]) && conclude_has_ended_as(verdict, JOBSTATE_TARGET_MISSING))
		err_context(&err, "this checkout is not the one that the daemon reads; push a branch and name that instead of .");
	json_decref(requested);
	json_decref(verdict);
	return status < 0 ? verb_fail(&err) : status;
}

/* Write the results of the commit alone, once the job has ended. */
static int export_alone(struct client *c, const struct options *o, long long job, struct fw_err *err)
{
	const struct export_to to = {
		.dir = o->export, .file = o->output, .is_alone = true, .names = o->json ? json_array() : NULL
	};
	json_t *verdict = NULL, *suite, *comparison;
	char path[64];
	size_t i;
	int n = 0;
	snprintf(path, sizeof path, "/api/v1/jobs/%lld/verdict", job);
	int result = follow_verdict(c, o, path, follow_deadline(o), &verdict, err);
	const json_t *suites = json_object_get(verdict, "suites");
	if (result == 0 && o->output && json_array_size(suites) > 1)
		result = err_set(err, ERR_INVALID,
			"%s takes one file, but there are %zu suites: choose one by --suite, or use --export DIR", o->output,
			json_array_size(suites));
	json_array_foreach(suites, i, suite)
	{
		if (result != 0)
			break;
		if (!value_integer(suite, "comparison")) {
			result = err_set(err, ERR_INVALID, "J%lld is %s: %s", value_integer(suite, "job"),
				value_text(suite, "state"), value_text(suite, "state_why"));
			break;
		}
		snprintf(path, sizeof path, "/api/v1/comparisons/%lld", value_integer(suite, "comparison"));
		comparison = NULL;
		result = client_get(c, path, &comparison, err);
		int got = result == 0 ? export_suite(c, comparison, json_array_size(suites) == 1, &to, err) : -1;
		json_decref(comparison);
		n += got;
		result = got < 0 ? -1 : result;
	}
	if (result == 0 && n == 0)
		result = err_set(
			err, ERR_INVALID, "nothing was written: J%lld has no times in the columns of other benchmarks", job);
	if (result == 0 && o->json)
		export_print_names(to.names);
	json_decref(to.names);
	json_decref(verdict);
	return result;
}

int verb_submit(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	char repo[256];
	bool exports = o->export || o->output;
	if (o->export && o->output)
		return verb_usage("flopwatch: submit takes either --export DIR or -o FILE");
	int status = repo_of(c, o, o->arg[0], repo, sizeof repo);
	if (status != EXIT_OK)
		return status;
	/* alone: the commit against itself, so that nothing else is measured and equal builds are timed too */
	int result = request(c, o, repo, exports ? o->arg[0] : NULL, o->arg[0], &job, &err);
	if (!exports)
		return verb_new_job(o, result, job, &err);
	if (result == 0)
		result = export_alone(c, o, value_integer(job, "id"), &err);
	json_decref(job);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
