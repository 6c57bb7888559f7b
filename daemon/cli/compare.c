/* compare, run and wait: ask for a comparison, follow its job, print what came out. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/proc.h"
#include "cli/place.h"
#include "cli/files.h"
#include "cli/interrupt.h"
#include "cli/plain.h"
#include "cli/report.h"
#include "cli/value.h"
#include "cli/verbs.h"
#include "core/peers.h"

/* Store the uncommitted files as a commit beside the branches. Shape: sha[65]. */
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
	struct proc_spec spec = { .argv = argv };
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

static bool is_final(const char *state)
{
	static const char *const final[] = { "done", "failed", "cancelled", "superseded", "gone" };
	for (size_t i = 0; i < sizeof final / sizeof final[0]; i++)
		if (strcmp(state, final[i]) == 0)
			return true;
	return false;
}

/* One line about where a job is. */
static void describe(const json_t *job, char *text, size_t size)
{
	const char *state = value_text(job, "state");
	const json_t *progress = json_object_get(job, "progress");
	long long launch = value_integer(progress, "launch");
	const char *cell = value_text(progress, "cell"), *role = value_text(progress, "role"),
		   *step = value_text(progress, "step");
	if (is_final(state))
		snprintf(text, size, "%s", state);
	else if (strcmp(state, "measuring") == 0 && launch)
		snprintf(text, size, "measuring, launch %lld: %s", launch, cell);
	else
		snprintf(
			text, size, "%s%s%s%s%s", state, *role ? " " : "", role, *cell || *step ? ": " : "", *cell ? cell : step);
}

enum { PROGRESS_AFTER_NS = 1000000000, POLL_MS = 250, RESTART_POLLS = 80 };

static void pause_between_polls(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000 }, NULL);
}

/* Wait until job `id` has ended. Own: *out is the caller's. Err: ERR_TIMEOUT. */
static int follow(struct client *c, const struct options *o, long long id, json_t **out, struct fw_err *err)
{
	bool terminal = isatty(STDERR_FILENO) && !o->quiet && !o->progress, lines = o->progress || (!terminal && !o->quiet);
	int64_t quiet_until_ns = o->progress ? 0 : clock_mono_ns() + PROGRESS_AFTER_NS;
	int64_t end_ns = o->timeout_s ? clock_mono_ns() + (int64_t)o->timeout_s * 1000000000 : INT64_MAX;
	char path[64], text[512], last[512] = "";
	interrupt_arm();
	snprintf(path, sizeof path, "/api/v1/jobs/%lld", id);
	for (int failures = 0;;) {
		json_t *job = NULL;
		if (client_get(c, path, &job, err) != 0) {
			if (err->code != ERR_IO || ++failures > RESTART_POLLS)
				return -1;
			err_clear(err); /* a daemon that restarts goes on with its jobs */
			pause_between_polls();
			continue;
		}
		failures = 0;
		bool ended = is_final(value_text(job, "state"));
		describe(job, text, sizeof text);
		if (interrupt_came())
			fprintf(stderr,
				"%sjob %lld goes on without us; Ctrl-C again stops waiting, flopwatch cancel %lld ends it\n",
				terminal ? "\r\033[K" : "", id, id);
		if (strcmp(text, last) != 0 && clock_mono_ns() >= quiet_until_ns) {
			if (lines)
				fprintf(stderr, "job %lld: ", id), plain_print(stderr, text), fputc('\n', stderr);
			else if (terminal)
				fprintf(stderr, "\r\033[Kjob %lld: ", id), plain_print(stderr, text);
			snprintf(last, sizeof last, "%s", text);
		}
		if (ended) {
			if (terminal)
				fputs("\r\033[K", stderr);
			*out = job;
			return 0;
		}
		json_decref(job);
		if (clock_mono_ns() > end_ns)
			return err_set(err, ERR_TIMEOUT, "job %lld has not ended after %d s; it goes on: flopwatch jobs", id,
				o->timeout_s);
		pause_between_polls();
	}
}

/* Whether both sides do any cell. */
static bool has_pair(const json_t *comparison)
{
	size_t i;
	json_t *cell;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		const char *word = peers_word("peer", value_text(cell, "verdict"));
		if (strcmp(word, "no_pair") != 0 && strcmp(word, "rejected") != 0)
			return true;
	}
	return false;
}

/* Print the comparison of a job that is done, or why there is none. */
static int conclude(struct client *c, const struct options *o, const json_t *job, struct fw_err *err)
{
	long long comparison = json_integer_value(json_object_get(job, "comparison"));
	if (!comparison)
		return err_set(err, ERR_INVALID, "job %lld is %s: %s", (long long)json_integer_value(json_object_get(job, "id")),
			value_text(job, "state"), value_text(job, "state_why"));
	char path[64];
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", comparison);
	struct buf body;
	buf_init(&body, 64 << 20);
	int result = client_get_raw(c, path, &body, err);
	json_t *value = result == 0 ? json_loadb(body.data, body.len, 0, NULL) : NULL;
	if (result == 0 && !value)
		result = err_set(err, ERR_PROTOCOL, "the comparison is not JSON");
	if (result == 0) {
		if (o->json)
			printf("%s\n", body.data);
		else
			report_comparison(value, stdout);
		bool beside_peer = strcmp(value_text(value, "kind"), "peer") == 0,
		     failed = strcmp(value_text(value, "verdict"), "failed") == 0;
		/* slower than a peer is a fact and no alarm; nothing set beside it is no answer */
		result = beside_peer && !failed && has_pair(value) ? EXIT_OK
								   : verb_status_of_verdict(value_text(value, "verdict"));
	}
	json_decref(value);
	buf_fini(&body);
	return result;
}

static void request_body(struct buf *out, const struct options *o, const char *repo, const char *base, const char *target)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", repo);
	if (base)
		jsonw_kv_string(&j, "base", base);
	jsonw_kv_string(&j, "target", target);
	if (o->suite)
		jsonw_kv_string(&j, "suite", o->suite);
	if (o->cells)
		jsonw_kv_string(&j, "cells", o->cells);
	if (o->device)
		jsonw_kv_string(&j, "device", o->device);
	if (o->base_provider)
		jsonw_kv_string(&j, "base_provider", o->base_provider);
	if (o->target_provider)
		jsonw_kv_string(&j, "target_provider", o->target_provider);
	if (o->quick)
		jsonw_kv_bool(&j, "quick", true);
	jsonw_object_end(&j);
}

static int ask(struct client *c, const struct options *o, const char *base, const char *target, json_t **job, struct fw_err *err)
{
	char worktree[4096] = "", repo[256], sha[65];
	bool uncommitted = strcmp(target, ".") == 0;
	if (place_worktree(worktree, sizeof worktree, uncommitted ? err : NULL) != 0) {
		if (uncommitted)
			return -1;
		worktree[0] = '\0';
	}
	if (place_repo(c, o, worktree[0] ? worktree : NULL, repo, sizeof repo, err) != 0)
		return -1;
	if (uncommitted) {
		if (snapshot(worktree, sha, err) != 0)
			return -1;
		target = sha;
	}
	struct buf body;
	buf_init(&body, 65536);
	request_body(&body, o, repo, base, target);
	int result = client_post(c, "/api/v1/jobs", body.data, job, err);
	buf_fini(&body);
	return result;
}

int verb_compare(struct client *c, const struct options *o)
{
	if (files_are(o->arg[0], o->arg[1]))
		return verb_compare_files(o);
	if (o->n_arg == 3) {
		fprintf(stderr, "flopwatch: %s is written from two files, but %s and %s are not both files here\n", o->arg[2],
			o->arg[0], o->arg[1]);
		return EXIT_USAGE;
	}
	struct fw_err err = { 0 };
	json_t *asked = NULL, *job = NULL;
	int status = -1;
	if (ask(c, o, o->arg[0], o->arg[1], &asked, &err) == 0 &&
		follow(c, o, json_integer_value(json_object_get(asked, "id")), &job, &err) == 0)
		status = conclude(c, o, job, &err);
	if (status < 0 && strcmp(o->arg[1], ".") == 0 && strcmp(value_text(job, "state"), "gone") == 0)
		err_context(&err, "this checkout is not the one that the daemon reads; push a branch and name that instead of .");
	json_decref(asked);
	json_decref(job);
	return status < 0 ? verb_fail(&err) : status;
}

int verb_run(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	if (ask(c, o, NULL, o->arg[0], &job, &err) != 0)
		return verb_fail(&err);
	verb_new_job(job, o);
	json_decref(job);
	return EXIT_OK;
}

/* The commit that a branch points at, "" where there is no such branch. Shape: sha[65]. */
static int find_tip(struct client *c, const char *branch, const char *repo, char *sha, struct fw_err *err)
{
	json_t *answer = NULL, *item;
	size_t i;
	sha[0] = '\0';
	if (client_get(c, "/api/v1/branches", &answer, err) != 0)
		return -1;
	json_array_foreach(json_object_get(answer, "items"), i,
		item) if ((!repo || strcmp(value_text(item, "repo"), repo) == 0) &&
			  (strcmp(value_text(item, "name"), branch) == 0 || strcmp(value_text(item, "display"), branch) == 0))
		snprintf(sha, 65, "%s", value_text(item, "commit"));
	json_decref(answer);
	return 0;
}

/* Newest job whose number, branch or target commit is `what`; *id is 0 when there is none yet. */
static int find_job(struct client *c, const char *what, const char *repo, long long *id, struct fw_err *err)
{
	json_t *answer = NULL, *job;
	size_t i;
	*id = 0;
	if (client_get(c, "/api/v1/jobs?limit=500", &answer, err) != 0)
		return -1;
	json_array_foreach(json_object_get(answer, "items"), i, job)
	{
		char number[24];
		long long n = (long long)json_integer_value(json_object_get(job, "id"));
		snprintf(number, sizeof number, "%lld", n);
		bool is_commit = strlen(what) >= 7 && strncmp(value_text(job, "target"), what, strlen(what)) == 0;
		bool wanted = !repo || strcmp(value_text(job, "repo"), repo) == 0;
		const char *kind = value_text(job, "kind"); /* what the daemon asks itself is nobody's to wait for by commit */
		is_commit = is_commit && (strcmp(kind, "change") == 0 || strcmp(kind, "selfcheck") == 0);
		if (!*id && wanted &&
			(strcmp(number, what) == 0 || strcmp(value_text(job, "branch"), what) == 0 ||
				strcmp(value_text(job, "branch_display"), what) == 0 || is_commit))
			*id = n;
	}
	json_decref(answer);
	if (!*id && *what && strspn(what, "0123456789") == strlen(what) && strlen(what) < 19)
		*id = strtoll(what, NULL, 10); /* an old one */
	return 0;
}

int verb_wait(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *job = NULL;
	long long id = 0;
	int status = -1;
	/* a push that was just made is noticed in a moment, on a remote repository with its next poll */
	int tries = o->timeout_s * 10 > 50 ? o->timeout_s * 10 : 50;
	for (int i = 0; i < tries && !id; i++) {
		if (find_job(c, o->arg[0], o->repo, &id, &err) != 0)
			return verb_fail(&err);
		if (!id)
			nanosleep(&(struct timespec){ .tv_nsec = 100 * 1000 * 1000 }, NULL);
	}
	/* a new branch at a commit that was measured before gets no job of its own */
	char sha[65];
	if (!id && (find_tip(c, o->arg[0], o->repo, sha, &err) != 0 || (*sha && find_job(c, sha, o->repo, &id, &err) != 0)))
		return verb_fail(&err);
	if (!id)
		err_set(&err, ERR_NOT_FOUND, "no job for %s: it is no job number, watched branch or commit", o->arg[0]);
	else if (follow(c, o, id, &job, &err) == 0)
		status = conclude(c, o, job, &err);
	json_decref(job);
	return status < 0 ? verb_fail(&err) : status;
}
