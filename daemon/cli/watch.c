/*
 * watch: running jobs and regressions, live. A terminal shows the open jobs again after each change; a pipe gets one line per
 * event.
 */
#include <time.h>
#include <unistd.h>

#include "cli/internal.h"

enum { RESTART_TRIES = 20, ROWS = 20 };

struct watching {
	struct client *c;
	const struct options *o;
	watch_draw_fn *draw;  /* NULL: the open jobs and the last event */
	bool terminal, stale; /* stale: events were received since the last drawing */
	int64_t end_ns;
	char last[512]; /* text of the last event */
};

/* "12:03:04 job.state kernels my-branch 89abcdef01 measuring". */
static void describe(const char *kind, const json_t *data, char *text, size_t size)
{
	char now[32];
	const char *commit = value_text(data, "commit"), *target = value_text(data, "target");
	const char *verdict = *value_text(data, "verdict")
				      ? verdict_label(jobkind_from_name(value_text(data, "kind")), value_verdict(data))
				      : "",
		   *why = value_text(data, "why"), *title = value_text(data, "title");
	long long job = value_integer(data, "job"), comparison = value_integer(data, "comparison");
	clock_format(clock_utc_ms(), now);
	int n = snprintf(text, size, "%.8s %s", now + 11, kind);
	const char *const words[] = { value_text(data, "repo"), value_branch(data), value_text(data, "suite"),
		value_text(data, "device"), value_text(data, "state"), verdict, title, why };
	if (job && n < (int)size)
		n += snprintf(text + n, size - (size_t)n, " J%lld", job);
	if (comparison && n < (int)size)
		n += snprintf(text + n, size - (size_t)n, " C%lld", comparison);
	if ((*commit || *target) && n < (int)size)
		n += snprintf(text + n, size - (size_t)n, " %.10s", *commit ? commit : target);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (*words[i] && n < (int)size)
			n += snprintf(text + n, size - (size_t)n, " %s", words[i]);
}

static int on_event(void *arg, const char *kind, const json_t *data)
{
	struct watching *w = arg;
	const char *repo = value_text(data, "repo");
	if (w->o->repo && *repo && strcmp(repo, w->o->repo) != 0)
		return 0;
	describe(kind, data, w->last, sizeof w->last);
	w->stale = true;
	if (w->terminal || w->draw)
		return 0;
	if (w->o->json) {
		printf("{\"event\":\"%s\",\"data\":", kind);
		json_dumpf(data, stdout, JSON_COMPACT);
		puts("}");
	} else {
		plain_line(stdout, "%s", w->last);
	}
	return fflush(stdout) != 0 || (w->end_ns && clock_mono_ns() > w->end_ns);
}

static const char *cell_of(const json_t *job)
{
	return value_text(json_object_get(job, "progress"), "cell");
}

static void id_cell(struct table *t, const json_t *job)
{
	table_cell(t, "J%lld", value_integer(job, "id"));
}

static void draw_jobs(const json_t *items)
{
	static const struct column columns[] = { { ">job", .cell = id_cell }, { "repo", .key = "repo" },
		{ "branch", .text = value_branch }, { "~commit", .key = "target", .cut = 10 }, { "~suite", .key = "suite" },
		{ "state", .key = "state" }, { "~cell", .text = cell_of } };
	json_t *rows = json_array();
	for (size_t i = 0; i < ROWS && i < json_array_size(items); i++)
		json_array_append(rows, json_array_get(items, i));
	table_print_rows(rows, 7, columns, stdout);
	json_decref(rows);
}

/* A separate connection: the first one is used by the stream. */
static void draw(struct watching *w)
{
	struct fw_err err = { 0 };
	json_t *jobs = NULL, *alerts = NULL;
	w->stale = false;
	if (w->draw) {
		if (w->terminal)
			fputs("\033[H\033[J", stdout);
		w->draw(w->c, w->o);
		fflush(stdout);
		return;
	}
	if (client_get(w->c, "/api/v1/jobs?state=open", &jobs, &err) == 0 &&
		client_get(w->c, "/api/v1/alerts?state=open", &alerts, &err) == 0) {
		const json_t *items = json_object_get(jobs, "items");
		fputs("\033[H\033[J", stdout);
		printf("flopwatch at %s: %zu open job%s, %zu open alert%s (Ctrl-C ends)\n\n", client_server(w->c),
			json_array_size(items), json_array_size(items) == 1 ? "" : "s",
			json_array_size(json_object_get(alerts, "items")),
			json_array_size(json_object_get(alerts, "items")) == 1 ? "" : "s");
		draw_jobs(items);
		putchar('\n');
		plain_line(stdout, "%s", w->last);
		fflush(stdout);
	}
	json_decref(jobs);
	json_decref(alerts);
}

static int on_idle(void *arg)
{
	struct watching *w = arg;
	if ((w->terminal || w->draw) && w->stale)
		draw(w);
	return interrupt_came() || (w->end_ns && clock_mono_ns() > w->end_ns);
}

int watch_redraw(struct client *c, const struct options *o, watch_draw_fn *draw_fn)
{
	struct fw_err err = { 0 };
	struct watching w = { .o = o, .draw = draw_fn, .terminal = isatty(STDOUT_FILENO) && !o->json, .stale = true };
	long long last = 0;
	int result = -1;
	if (client_reopen(c, &w.c, &err) != 0)
		return verb_fail(&err);
	w.end_ns = o->timeout_s ? clock_mono_ns() + (int64_t)o->timeout_s * 1000000000 : 0;
	interrupt_arm();
	if (w.terminal || w.draw)
		draw(&w);
	/* the daemon continues after a restart, and so does this program */
	for (int tries = 0; result != 0 && tries < RESTART_TRIES; tries++) {
		long long before = last;
		err_clear(&err);
		result = client_stream(c, &last, on_event, on_idle, &w, &err);
		bool was_there = last != 0 || err.code == ERR_CONFLICT; /* the daemon ends the stream from time to time */
		if (result != 0 && tries == 0 && !was_there)
			break;
		if (result != 0 && on_idle(&w))
			result = 0;
		if (last != before || err.code == ERR_CONFLICT)
			tries = 0;
		if (result != 0)
			nanosleep(&(struct timespec){ .tv_nsec = 500000000 }, NULL);
	}
	client_close(w.c);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}

int verb_watch(struct client *c, const struct options *o)
{
	return watch_redraw(c, o, NULL);
}
