/* follow.c - follows the requested jobs, one after the other, until none is open. */
#include "cli/internal.h"

#include <time.h>
#include <unistd.h>

/* Lines are rare in a pipe, because log collectors store each of them. */
static const int64_t progress_after_ns = INT64_C(1000000000), line_every_ns = INT64_C(10000000000);

enum { POLL_MS = 250, RESTART_POLLS = 80 };

/*
 * Progress output: on a terminal one line that changes; in a pipe, where every line is stored, at most one line in ten seconds.
 */
struct follow_state {
	bool terminal, lines;
	int64_t quiet_until_ns, every_ns; /* every_ns: time between lines; 0 each step has a line */
	char last[512];
};

static enum jobstate state_of(const json_t *job)
{
	return jobstate_from_name(value_text(job, "state"));
}

int64_t follow_deadline(const struct options *o)
{
	return o->timeout_s ? clock_mono_ns() + (int64_t)o->timeout_s * 1000000000 : INT64_MAX;
}

static void follow_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
}

/* Jobs continue after a restart of the daemon. */
static int get_with_retries(struct client *c, const char *path, json_t **out, struct fw_err *err)
{
	for (int failures = 0; client_get(c, path, out, err) != 0; failures++) {
		if ((err->code != ERR_IO && !err->is_shortage) || failures == RESTART_POLLS)
			return -1;
		err_clear(err);
		follow_pause();
	}
	return 0;
}

/* One line about the state of a job. */
static void describe_job(const json_t *job, char *text, size_t size)
{
	enum jobstate state = state_of(job);
	const json_t *progress = json_object_get(job, "progress");
	long long run = value_integer(progress, "run");
	const char *cell = value_text(progress, "cell"), *role = value_text(progress, "role"),
		   *step = value_text(progress, "step"), *note = value_text(progress, "note");
	long long cells = value_integer(progress, "cells"), open = value_integer(progress, "open");
	char behind[VALUE_BEHIND_SIZE];
	value_behind(job, behind);
	if (jobstate_is_final(state))
		snprintf(text, size, "%s", jobstate_name(state));
	else if (*note && state != JOBSTATE_QUEUED)
		snprintf(text, size, "%s, %s", jobstate_name(state), note);
	else if (state == JOBSTATE_QUEUED)
		snprintf(text, size, "queued%s%s", *behind ? " " : "", behind);
	else if (state == JOBSTATE_MEASURING && run && cells && open)
		snprintf(text, size, "measuring, run %lld, %lld of %lld cells undecided%s%s", run, open, cells, *cell ? ": " : "",
			cell);
	else if (state == JOBSTATE_MEASURING && run)
		snprintf(text, size, "measuring, run %lld%s%s", run, *cell ? ": " : "", cell);
	else
		snprintf(text, size, "%s%s%s%s%s", value_text(job, "state"), *role ? " " : "", role, *cell || *step ? ": " : "",
			*cell ? cell : step);
}

static struct follow_state follow_begin(const struct options *o)
{
	struct follow_state s = { .terminal = isatty(STDERR_FILENO) && !o->quiet && !o->progress };
	s.lines = o->progress || (!s.terminal && !o->quiet);
	s.quiet_until_ns = o->progress ? 0 : clock_mono_ns() + progress_after_ns;
	s.every_ns = o->progress || s.terminal ? 0 : line_every_ns;
	return s;
}

/* Print `what`, such as "J7", and `text`, unless it was printed last or it is too early. */
static void follow_print(struct follow_state *s, const char *what, const char *text)
{
	if (strcmp(text, s->last) == 0 || clock_mono_ns() < s->quiet_until_ns)
		return;
	if (s->lines)
		fprintf(stderr, "%s: ", what), plain_print(stderr, text), fputc('\n', stderr);
	else if (s->terminal)
		fprintf(stderr, "\r\033[K%s: ", what), plain_print(stderr, text);
	snprintf(s->last, sizeof s->last, "%s", text);
	s->quiet_until_ns = clock_mono_ns() + s->every_ns;
}

/* End of the progress output: erase the line on a terminal. */
static void follow_end(const struct follow_state *s)
{
	if (s->terminal)
		fputs("\r\033[K", stderr);
}

static void print(struct follow_state *s, const json_t *job, long long id)
{
	char text[512], what[32];
	describe_job(job, text, sizeof text);
	if (interrupt_came())
		fprintf(stderr,
			"%sJ%lld continues in the daemon; Ctrl-C again stops waiting, flopwatch cancel J%lld ends the job\n",
			s->terminal ? "\r\033[K" : "", id, id);
	snprintf(what, sizeof what, "J%lld", id);
	follow_print(s, what, text);
}

int follow_one(struct client *c, const struct options *o, const char *kind, long long id, follow_describe_fn *describe,
	json_t **out, struct fw_err *err)
{
	int64_t end_ns = follow_deadline(o);
	struct follow_state state = follow_begin(o);
	char path[64], text[256], what[32];
	snprintf(path, sizeof path, "/api/v1/%ss/%lld", kind, id);
	snprintf(what, sizeof what, "%s %lld", kind, id);
	for (int failures = 0;;) {
		json_t *one = NULL;
		int got = client_get(c, path, &one, err);
		if (got != 0 && ((err->code != ERR_IO && !err->is_shortage) || ++failures > RESTART_POLLS))
			return -1;
		if (got == 0) {
			failures = 0;
			bool is_open = describe(one, text, sizeof text);
			follow_print(&state, what, text);
			if (!is_open) {
				follow_end(&state);
				*out = one;
				return 0;
			}
		}
		err_clear(err); /* jobs continue after a restart of the daemon */
		json_decref(one);
		if (clock_mono_ns() > end_ns)
			return err_set(err, ERR_TIMEOUT, "%s has not ended after %d s and continues", what, o->timeout_s);
		follow_pause();
	}
}

/* Wait until job `id` has ended. */
static int follow_job(
	struct client *c, const struct options *o, struct follow_state *state, long long id, int64_t end_ns, struct fw_err *err)
{
	char path[64];
	snprintf(path, sizeof path, "/api/v1/jobs/%lld", id);
	state->last[0] = '\0';
	for (;;) {
		json_t *job = NULL;
		if (get_with_retries(c, path, &job, err) != 0)
			return -1;
		bool ended = jobstate_is_final(state_of(job));
		print(state, job, id);
		json_decref(job);
		if (ended) {
			follow_end(state);
			return 0;
		}
		if (clock_mono_ns() > end_ns)
			return err_set(err, ERR_TIMEOUT, "J%lld has not ended after %d s and continues: flopwatch jobs", id,
				o->timeout_s);
		follow_pause();
	}
}

/* An open job: a running one before a queued one. 0: all have ended. */
static long long find_open(const json_t *verdict)
{
	long long waiting = 0;
	size_t i;
	json_t *suite;
	json_array_foreach(json_object_get(verdict, "suites"), i, suite)
	{
		enum jobstate state = state_of(suite);
		if (jobstate_is_final(state))
			continue;
		if (state != JOBSTATE_QUEUED)
			return value_integer(suite, "job");
		if (!waiting)
			waiting = value_integer(suite, "job");
	}
	return waiting;
}

int follow_verdict(struct client *c, const struct options *o, const char *path, int64_t end_ns, json_t **out, struct fw_err *err)
{
	struct follow_state state = follow_begin(o);
	interrupt_arm();
	for (;;) {
		json_t *verdict = NULL;
		if (get_with_retries(c, path, &verdict, err) != 0)
			return -1;
		long long open = find_open(verdict);
		if (!open) {
			*out = verdict;
			return 0;
		}
		json_decref(verdict);
		if (follow_job(c, o, &state, open, end_ns, err) != 0)
			return -1;
	}
}
