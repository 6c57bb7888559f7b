/* ci: submits the checked-out commit unless it has a job, waits for the verdict and writes the summary of a CI runner. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/internal.h"

enum { SUMMARY_MAX_BYTES = 16 << 20 };

/* ---- the commit ---------------------------------------------------------------------------------------------------------- */

/* The commit of the argument, else the one that is checked out, with the repository of that checkout ("" by the argument). */
static int choose_commit(struct client *c, const struct options *o, char sha[65], struct checkout *here, struct fw_err *err)
{
	*here = (struct checkout){ .repo = "" };
	if (o->n_arg > 0) {
		snprintf(sha, 65, "%.64s", oid_is_whole(o->arg[0]) ? o->arg[0] : "");
		return *sha ? 0
			    : err_set(err, ERR_INVALID, "%.80s is not a full hash of a commit; `git rev-parse` prints it",
				      o->arg[0]);
	}
	char worktree[4096];
	if (checkout_worktree(worktree, sizeof worktree, err) != 0 || checkout_head(worktree, sha, err) != 0)
		return -1;
	return o->repo ? 0 : checkout_find(c, here, err);
}

/* A job of a commit that was not pushed could not even be planned. */
static int check_pushed(const struct checkout *here, const char *sha, struct fw_err *err)
{
	char branch[1024];
	if (!checkout_is_commit_unpushed(here, sha, branch, sizeof branch))
		return 0;
	return err_set(err, ERR_NOT_FOUND,
		"commit %.12s of %s is not pushed, so repository %s does not have it: git push -u %s %s", sha, branch, here->repo,
		here->remote, branch);
}

/* Queue the comparison of a commit that has no job. `path` gets the position of its verdict. */
static int submit(struct client *c, const struct options *o, const char *sha, struct buf *path, struct fw_err *err)
{
	const struct member request[] = { { "repo", .text = o->repo }, { "target", .text = sha }, { 0 } };
	json_t *job = NULL;
	if (client_post_members(c, "/api/v1/jobs", request, &job, err) != 0) {
		err_context(err, "%.12s has no job, and queuing one failed", sha);
		return -1;
	}
	buf_clear(path);
	buf_printf(path, "/api/v1/jobs/%lld/verdict", value_integer(job, "id"));
	client_query(path, "strict", o->strict ? "yes" : NULL);
	json_decref(job);
	return 0;
}

/* ---- the summary --------------------------------------------------------------------------------------------------------- */

/* A suite without a comparison. Its reason may have text of a branch: an indented block shows it as it is. */
static void put_reason(struct buf *out, const json_t *suite)
{
	const char *why = value_text(suite, "state_why");
	buf_printf(
		out, "**flopwatch: not measured**\n\n    J%lld is %s: ", value_integer(suite, "job"), value_text(suite, "state"));
	for (; *why; why++)
		buf_putc(out, *why == '\n' || *why == '\r' ? ' ' : *why);
	buf_putc(out, '\n');
}

/* The reports of all suites as Markdown. */
static int put_summary(struct client *c, const json_t *verdict, struct buf *out, struct fw_err *err)
{
	char path[64];
	size_t i;
	json_t *suite;
	json_array_foreach(json_object_get(verdict, "suites"), i, suite)
	{
		long long comparison = value_integer(suite, "comparison");
		buf_puts(out, i ? "\n" : "");
		if (!comparison) {
			put_reason(out, suite);
			continue;
		}
		snprintf(path, sizeof path, "/api/v1/comparisons/%lld.md", comparison);
		if (client_get_raw(c, path, out, err) != 0)
			return -1;
	}
	return out->failed ? err_set(err, ERR_FULL, "the summary is longer than %d bytes", SUMMARY_MAX_BYTES) : 0;
}

/* Append the summary to the file that the runner names, if it names one. */
static int write_summary(struct client *c, const json_t *verdict, struct fw_err *err)
{
	const char *file = getenv("GITHUB_STEP_SUMMARY");
	struct buf text;
	if (!file || !*file)
		return 0;
	buf_init(&text, SUMMARY_MAX_BYTES);
	int result = put_summary(c, verdict, &text, err);
	int fd = result == 0 ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
	if (result == 0 && (fd < 0 || fd_write(fd, text.data, text.len) != 0))
		result = err_sys(err, "write the summary to %s", file);
	if (fd >= 0 && close(fd) < 0 && result == 0)
		result = err_sys(err, "write the summary to %s", file);
	buf_fini(&text);
	return result;
}

/* ---- the command --------------------------------------------------------------------------------------------------------- */

static int finish(
	struct client *c, const struct options *o, const char *sha, const char *repo, const struct buf *path, int64_t end_ns)
{
	struct fw_err err = { 0 }, unwritten = { 0 };
	json_t *verdict = NULL;
	int status = -1;
	bool is_written = true;
	if (follow_verdict(c, o, path->data, end_ns, &verdict, &err) == 0) {
		is_written = write_summary(c, verdict, &unwritten) == 0;
		status = conclude(c, o, verdict, &err);
	}
	if (status < 0 && verdict && conclude_has_ended_as(verdict, JOBSTATE_TARGET_MISSING)) {
		err.code = ERR_NOT_FOUND;
		err_context(&err,
			"%s%s does not have commit %.12s; push %.12s first: git push, or name its repository with --repo NAME",
			*repo ? "repository " : "the watched repository", repo, sha, sha);
	}
	json_decref(verdict);
	if (status < 0)
		status = verb_fail(&err);
	if (is_written)
		return status;
	int failed = verb_fail_here(&unwritten);
	return status == EXIT_OK ? failed : status; /* the verdict has precedence over the missing summary */
}

int verb_ci(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct options of_repo = *o;
	struct checkout here;
	struct buf path = { 0 };
	char sha[65], repo[256] = "";
	int status = EXIT_OK;
	int64_t end_ns = follow_deadline(o);
	if (choose_commit(c, o, sha, &here, &err) != 0) {
		status = o->n_arg > 0 ? verb_usage("flopwatch: %s", err.text) : verb_fail_of_name(&err);
	} else {
		if (here.repo[0])
			of_repo.repo = here.repo;
		if (wait_find(c, &of_repo, sha, end_ns, false, &path, &err) != 0)
			status = verb_fail_of_name(&err);
	}
	if (status == EXIT_OK && !path.len && o->n_arg > 0 && !o->repo) {
		struct fw_err ignored = { 0 }; /* a full hash needs no checkout */
		(void)checkout_find(c, &here, &ignored);
	}
	if (status == EXIT_OK && !path.len && check_pushed(&here, sha, &err) != 0)
		status = verb_fail(&err);
	if (status == EXIT_OK && !path.len) { /* no job of this commit */
		status = checkout_repo(c, &of_repo, sha, repo, sizeof repo);
		of_repo.repo = repo;
		if (status == EXIT_OK && submit(c, &of_repo, sha, &path, &err) != 0)
			status = verb_fail(&err);
	}
	if (status == EXIT_OK)
		status = finish(c, o, sha, repo, &path, end_ns);
	buf_fini(&path);
	return status;
}
