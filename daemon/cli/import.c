/* import.c - import of another benchmark's output, or of the history of one, as comparisons of kind import. */
#include <math.h>

#include "cli/internal.h"

static void write_row(struct jsonw *j, const struct reading_row *target, const struct reading_row *base)
{
	jsonw_object(j);
	jsonw_kv_string(j, "cell", target ? target->key : base->key);
	if (target && target->failure[0])
		jsonw_kv_string(j, "failure", target->failure);
	else if (target)
		jsonw_kv_double(j, "ms", target->median_ms);
	if (target && !isnan(target->tflops))
		jsonw_kv_double(j, "tflops", target->tflops);
	if (base && base->n > 0)
		jsonw_kv_double(j, "base_ms", base->median_ms);
	if (base && !isnan(base->tflops))
		jsonw_kv_double(j, "base_tflops", base->tflops);
	jsonw_object_end(j);
}

/* Content of one stored comparison. `base` may be empty, `branch` and `base_commit` NULL. */
struct figures {
	const char *repo, *commit, *branch, *base_commit, *name;
	const struct reading *target, *base;
	bool has_gone; /* also store rows that only the base has */
};

static void import_body(struct buf *out, const struct figures *f)
{
	const struct reading *target = f->target, *base = f->base;
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", f->repo);
	jsonw_kv_string(&j, "commit", f->commit);
	if (f->branch)
		jsonw_kv_string(&j, "branch", f->branch);
	if (f->base_commit)
		jsonw_kv_string(&j, "base", f->base_commit);
	jsonw_kv_string(&j, "name", f->name);
	jsonw_kv_array(&j, "rows");
	for (int i = 0; i < target->n_rows; i++)
		write_row(&j, &target->row[i], files_counterpart(target, &target->row[i], base));
	for (int i = 0; i < base->n_rows && f->has_gone; i++)
		if (!files_counterpart(base, &base->row[i], target) && base->row[i].n > 0)
			write_row(&j, NULL, &base->row[i]);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
}

/* The files: reading[0] is the base, which may be missing. */
static int read_files(const struct options *o, struct reading reading[2], struct buf *warnings, struct fw_err *err)
{
	int unpaired;
	memset(reading, 0, 2 * sizeof *reading);
	return o->n_arg == 2 ? files_read_pair(
				       (const char *const[]){ o->arg[1], o->arg[0] }, o, false, reading, warnings, &unpaired, err)
			     : files_read(o->arg[0], o, &reading[1], err);
}

/* ---- histories ---- */

static int read_history(const struct options *o, struct history *h, struct fw_err *err)
{
	for (int i = 0; i < o->n_arg; i++) {
		struct buf text;
		buf_init(&text, READING_BYTES_MAX + 1);
		int result = files_read_text(o->arg[i], &text, err);
		const char *format = o->format ? o->format : result == 0 ? history_guess(text.data, text.len) : NULL;
		if (result == 0 && !format)
			result = err_set(err, ERR_INVALID,
				"%.500s: is not in a known history format; name its format with --format: " HISTORY_FORMATS,
				o->arg[i]);
		if (result == 0)
			result = history_add(h, format, text.data, text.len, o->arg[i], err);
		buf_fini(&text);
		if (result != 0)
			return -1;
	}
	return history_finish(h, err);
}

/* Check everything that the daemon checks for each commit, so that a file is stored whole or not at all. */
static int check_history(const struct history *h, struct fw_err *err)
{
	if (h->n == 0)
		return err_set(err, ERR_INVALID, "there is no result in a unit of time%s%s", h->notes.n_notes ? "; " : "",
			h->notes.n_notes ? h->notes.note[0] : "");
	for (int i = 0; i < h->n; i++)
		if (h->point[i].reading.n_rows > JOB_CELLS_MAX)
			return err_set(err, ERR_INVALID, "commit %.12s has %d results%s%s, but a comparison at most %d",
				h->point[i].commit, h->point[i].reading.n_rows, h->point[i].suite[0] ? " in " : "",
				h->point[i].suite, JOB_CELLS_MAX);
	return 0;
}

/* Store a point, compared with the one before it of the same suite. *is_new: the daemon did not have it. */
static int store_point(
	struct client *c, const struct options *o, const struct history *h, int i, bool *is_new, struct fw_err *err)
{
	static const struct reading none;
	const struct history_point *p = &h->point[i], *before = i > 0 && strcmp(p[-1].suite, p->suite) == 0 ? p - 1 : NULL;
	const struct figures f = { .repo = o->repo,
		.commit = p->commit,
		.branch = o->branch,
		.base_commit = before ? before->commit : NULL,
		.name = o->suite      ? o->suite
			: p->suite[0] ? p->suite
				      : p->reading.format,
		.target = &p->reading,
		.base = before ? &before->reading : &none };
	json_t *answer = NULL;
	struct buf body;
	buf_init(&body, 8 << 20);
	import_body(&body, &f);
	int result = client_post(c, "/api/v1/imports", body.data, &answer, err);
	*is_new = result == 0 && json_is_true(json_object_get(answer, "new"));
	buf_fini(&body);
	json_decref(answer);
	return result == 0 ? 0 : err_context(err, "after %d of %d comparisons, commit %.12s", i, h->n, p->commit);
}

static int store_history(struct client *c, const struct options *o, const struct history *h, int *n_new, struct fw_err *err)
{
	for (int i = 0; i < h->n; i++) {
		bool is_new;
		if (store_point(c, o, h, i, &is_new, err) != 0)
			return -1;
		*n_new += is_new;
	}
	return 0;
}

static int import_history(struct client *c, const struct options *o)
{
	struct history h = { 0 };
	struct fw_err err = { 0 };
	int n_new = 0;
	if (read_history(o, &h, &err) != 0 || check_history(&h, &err) != 0) {
		history_fini(&h);
		return verb_fail_here(&err);
	}
	int result = store_history(c, o, &h, &n_new, &err);
	for (int i = 0; i < h.notes.n_notes && result == 0; i++)
		fprintf(o->json ? stderr : stdout, "%s\n", h.notes.note[i]);
	if (result == 0 && o->json) {
		json_t *answer = json_pack("{s:i,s:i}", "comparisons", h.n, "new", n_new);
		verb_print_json(answer);
		json_decref(answer);
	} else if (result == 0) {
		printf("%d comparison%s stored, %d were stored before\n", n_new, n_new == 1 ? "" : "s", h.n - n_new);
	}
	history_fini(&h);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}

int verb_import(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct reading reading[2], *base = &reading[0], *target = &reading[1];
	json_t *answer = NULL;
	struct buf body, warnings;
	FILE *aloud = o->json ? stderr : stdout; /* stderr, so that a JSON answer on stdout stays valid */
	if (o->history && (!o->repo || o->commit || o->base))
		return verb_usage(
			"flopwatch: --history needs --repo NAME, and takes no --commit and --base: its files name commits");
	if (o->history)
		return import_history(c, o);
	if (o->n_arg > 2)
		return verb_usage("flopwatch: import takes a file and its base, or with --history many files");
	if (!o->repo || !o->commit)
		return verb_usage("flopwatch: name the measured commit: --repo NAME --commit SHA");
	buf_init(&warnings, 16 << 20);
	if (read_files(o, reading, &warnings, &err) != 0) {
		buf_fini(&warnings);
		return verb_fail_here(&err);
	}
	buf_init(&body, 8 << 20);
	import_body(&body, &(struct figures){ .repo = o->repo,
				   .commit = o->commit,
				   .branch = o->branch,
				   .base_commit = o->base,
				   .name = o->suite ? o->suite : target->format,
				   .target = target,
				   .base = base,
				   .has_gone = true });
	int result = client_post(c, "/api/v1/imports", body.data, &answer, &err);
	buf_fini(&body);
	if (result == 0)
		files_print_warnings(&warnings, aloud);
	if (result == 0 && o->n_arg == 2)
		files_warn_of_both(reading, (const char *const[]){ o->arg[1], o->arg[0] }, aloud);
	else if (result == 0)
		files_warn_of_timeless(target, o->arg[0], aloud);
	if (result == 0)
		json_object_set_new(answer, "left_out", json_integer(target->n_left + base->n_left));
	if (result == 0 && o->json)
		verb_print_json(answer);
	else if (result == 0)
		printf("%d rows %s as C%lld\n", target->n_rows,
			json_is_true(json_object_get(answer, "new")) ? "stored" : "were stored before",
			value_integer(answer, "comparison"));
	reading_fini(target);
	reading_fini(base);
	buf_fini(&warnings);
	json_decref(answer);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
