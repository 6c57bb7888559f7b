/* log: what a job did; the text of a build only if it failed, or with --build. */

#include "cli/internal.h"

enum { LOG_MAX = 64 << 20, LOG_JSON_MAX = 6 * LOG_MAX, LINE_MAX_BYTES = 400 };

/* ---- runs of a set ------------------------------------------------------------------------------------------------------- */

/* A line about a run: "2026-11-23T15:08:00.000Z  run 3, set 1: 20 cells". */
struct run_line {
	int time_len, run, set, cells;
};

/* A line's length without its end. */
static size_t length(const char *line)
{
	return strcspn(line, "\n");
}

static const char *after(const char *line)
{
	size_t n = length(line);
	return line + n + (line[n] == '\n');
}

static bool read_run(const char *line, struct run_line *out)
{
	char text[LINE_MAX_BYTES];
	snprintf(text, sizeof text, "%.*s", (int)length(line), line);
	return sscanf(text, "%*s%n run %d, set %d: %d cells", &out->time_len, &out->run, &out->set, &out->cells) == 3;
}

/* Append the runs of one set, which begin at `line`, as one line. */
static void put_set(struct buf *out, const char *line, const struct run_line *first)
{
	struct run_line last = *first, one;
	for (const char *at = after(line); *at; at = after(at)) {
		if (!read_run(at, &one))
			continue;
		if (one.set != first->set || one.run <= last.run)
			break;
		last = one;
	}
	buf_printf(out, "%.*s  run %d", first->time_len, line, first->run);
	if (last.run > first->run)
		buf_printf(out, " to %d", last.run);
	buf_printf(out, ", set %d: %d cell%s", first->set, first->cells, first->cells == 1 ? "" : "s");
	if (last.cells != first->cells)
		buf_printf(out, ", %d at the end", last.cells);
	buf_putc(out, '\n');
}

/* ---- the text ------------------------------------------------------------------------------------------------------------ */

/* The lines of the job, up to the first build. Returns the rest. */
static const char *put_steps(struct buf *out, const char *text)
{
	struct run_line one, before = { 0 };
	for (; *text >= '0' && *text <= '9'; text = after(text)) { /* each begins with its time */
		if (!read_run(text, &one)) {
			buf_append(out, text, (size_t)(after(text) - text));
			continue;
		}
		if (one.set != before.set || one.run <= before.run)
			put_set(out, text, &one);
		before = one;
	}
	return text;
}

static bool is_build(const char *line)
{
	return strncmp(line, "base build ", 11) == 0 || strncmp(line, "target build ", 13) == 0;
}

/* The builds: a line each, and the text of those that failed, or of all. */
static void put_builds(struct buf *out, const char *text, bool all)
{
	bool is_shown = true;
	for (; *text; text = after(text)) {
		if (is_build(text)) {
			const char *state = strstr(text, " build ") + 7;
			is_shown = all || strncmp(state, "failed", 6) == 0;
			buf_append(out, text, (size_t)(after(text) - text));
		} else if (is_shown && length(text)) {
			buf_append(out, text, (size_t)(after(text) - text));
		}
	}
}

/* The daemon sends it only as text. */
static void print_json(const char *job, const struct buf *text)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, LOG_JSON_MAX);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_kv_int(&j, "job", strtoll(job, NULL, 10));
	jsonw_key(&j, "log");
	jsonw_bytes(&j, text->data, text->len);
	jsonw_object_end(&j);
	puts(out.data);
	buf_fini(&out);
}

/* "J12 compare slow: done, regression, C7"; a job without a branch has its target. */
static void print_finding(const json_t *job)
{
	const char *branch = value_branch(job), *verdict = value_text(job, "verdict"), *why = value_text(job, "state_why");
	char commit[16];
	snprintf(commit, sizeof commit, "%.10s", value_text(job, "target"));
	printf("J%lld %s ", value_integer(job, "id"), value_text(job, "kind"));
	plain_print(stdout, *branch ? branch : commit);
	printf(": %s", value_text(job, "state"));
	if (*verdict)
		printf(", %s, C%lld", verdict_label(jobkind_from_name(value_text(job, "kind")), verdict_from_name(verdict)),
			value_integer(job, "comparison"));
	plain_line(stdout, "%s%s", *why ? ": " : "", why);
}

static void print_next(const json_t *job)
{
	enum jobstate state = jobstate_from_name(value_text(job, "state"));
	long long id = value_integer(job, "id"), comparison = value_integer(job, "comparison");
	if (!jobstate_is_final(state))
		printf("next: flopwatch wait J%lld\n", id);
	else if (comparison)
		printf("next: flopwatch open C%lld\n", comparison);
	else
		printf("next: flopwatch retry J%lld\n", id);
}

static int print_text(const json_t *job, const struct options *o, const struct buf *text, struct fw_err *err)
{
	struct buf out;
	print_finding(job);
	buf_init(&out, LOG_MAX);
	if (o->is_long)
		buf_append(&out, text->data, text->len);
	else
		put_builds(&out, put_steps(&out, text->data), o->build);
	/* output of a build must not control the terminal */
	int result =
		out.failed ? err_set(err, ERR_FULL, "the log is too long") : plain_print_lines(stdout, out.data, out.len, err);
	buf_fini(&out);
	if (result == 0)
		print_next(job);
	return result;
}

int verb_log(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct buf path, text;
	json_t *job = NULL;
	char id[JOB_ID_SIZE];
	bool is_branch;
	int status = job_find(c, o, JOB_NEWEST, id, &is_branch);
	if (status != EXIT_OK)
		return status;
	buf_init(&path, 256);
	buf_init(&text, LOG_MAX);
	buf_puts(&path, "/api/v1/jobs/");
	client_argument(&path, id);
	int result = o->json ? 0 : client_get(c, path.data, &job, &err);
	buf_puts(&path, "/log");
	if (result == 0)
		result = client_get_raw(c, path.data, &text, &err);
	if (result == 0 && o->json)
		print_json(id, &text);
	else if (result == 0)
		result = print_text(job, o, &text, &err);
	json_decref(job);
	buf_fini(&path);
	buf_fini(&text);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
