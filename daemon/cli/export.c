/* export.c - a comparison as CSV files in the formats of other projects' benchmarks, named after its sides. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "cli/internal.h"

enum { TEXT_MAX = 64 << 20 };

static void name_sides(const json_t *comparison, char name[2][SIDE_NAME_SIZE])
{
	static const char *const roles[] = { "base", "target" };
	struct side_label label[2];
	for (int i = 0; i < 2; i++) {
		const json_t *side = json_object_get(comparison, roles[i]);
		label[i] =
			(struct side_label){ value_text(side, "name"), value_text(side, "commit"), value_text(side, "provider") };
	}
	side_names(label, name);
}

/* Append one file of the comparison to `text`: 1; 0 it has no content; -1. */
static int fetch(struct client *c, const char *id, const char *file, struct buf *text, struct fw_err *err)
{
	char path[FFA_CSV_NAME_SIZE + 64];
	snprintf(path, sizeof path, "/api/v1/comparisons/%.20s/ffa/%s.csv", id, file);
	if (client_get_raw(c, path, text, err) == 0)
		return 1;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	err_clear(err);
	return 0;
}

int export_fail_here(struct fw_err *err)
{
	err->code = ERR_INVALID;
	return -1;
}

static int make_folder(const char *dir, struct fw_err *err)
{
	if (mkdir(dir, 0777) == 0 || errno == EEXIST)
		return 0;
	err_sys(err, "cannot make the folder %s", dir);
	return export_fail_here(err);
}

static int write_file(const struct export_to *to, const char *path, const struct buf *text, struct fw_err *err)
{
	if (files_write(path, text, err) != 0)
		return export_fail_here(err);
	if (to->names)
		json_array_append_new(to->names, json_string(path));
	else
		printf("%s\n", path);
	return 0;
}

/* Write a file of the comparison, or hold its text for `to->file`, for which a second one is an error. */
static int write_in(const struct export_to *to, const char *name, const struct buf *text, struct buf *held, struct fw_err *err)
{
	char path[4096];
	if (to->file && held->len > 0)
		return err_set(err, ERR_INVALID,
			"%s takes one file, but there are cells of two kinds: choose some by --cells, or "
			"use --export DIR",
			to->file);
	if (to->file) {
		buf_append(held, text->data, text->len);
		return 0;
	}
	if (snprintf(path, sizeof path, "%s/%s", to->dir, name) >= (int)sizeof path)
		return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", to->dir);
	return make_folder(to->dir, err) != 0 ? -1 : write_file(to, path, text, err);
}

/*
 * The one side of a comparison that is written: a commit that was compared with itself has its plain name as the base.
 */
static bool is_other_side(const json_t *comparison, bool base)
{
	const char *commit = value_text(json_object_get(comparison, "target"), "commit");
	bool is_self = strcmp(commit, value_text(json_object_get(comparison, "base"), "commit")) == 0;
	return base != is_self;
}

/* The files do not contain the suite's threshold. */
static void print_threshold(const json_t *comparison)
{
	double threshold = value_number(json_array_get(json_object_get(comparison, "cells"), 0), "threshold_pct");
	if (isfinite(threshold) && threshold != FILES_THRESHOLD_PCT)
		fprintf(stderr,
			"the threshold of this suite is %.3g %%: flopwatch compare BASE.csv TARGET.csv --threshold %.3g\n",
			threshold, threshold);
}

void export_print_names(json_t *names)
{
	json_t *answer = json_pack("{s:O}", "files", names);
	verb_print_json(answer);
	json_decref(answer);
}

/* Each writes its files and returns their number, or -1. */
static int export_ffa(struct client *c, const char *id, const json_t *comparison, const struct export_to *to, struct buf *text,
	struct buf *held, struct fw_err *err)
{
	char side[2][SIDE_NAME_SIZE], name[FFA_CSV_NAME_SIZE], file[FFA_CSV_NAME_SIZE + 8];
	int written = 0;
	name_sides(comparison, side);
	for (int i = 0; i < FFA_CSV_FILES; i++) {
		const struct ffa_csv_file *f = &ffa_csv_files[i];
		if (to->is_alone && ((f->base && f->target) || is_other_side(comparison, f->base)))
			continue;
		ffa_csv_name(i, side[0], side[1], name);
		snprintf(file, sizeof file, "%s.csv", name);
		buf_clear(text);
		int got = fetch(c, id, name, text, err);
		if (got < 0 || (got > 0 && write_in(to, file, text, held, err) != 0))
			return -1;
		written += got > 0;
	}
	return written;
}

static int export_torchao(
	const json_t *comparison, const struct export_to *to, struct buf *text, struct buf *held, struct fw_err *err)
{
	static const char *const kinds[] = { "results", "results_training" };
	char side[2][SIDE_NAME_SIZE], name[2 * SIDE_NAME_SIZE];
	int written = 0;
	name_sides(comparison, side);
	for (int i = 0; i < 4; i++) {
		buf_clear(text);
		if ((to->is_alone && is_other_side(comparison, i % 2 == 0)) ||
			torchao_write(comparison, i % 2 ? "target" : "base", i >= 2, to->artefacts, text) == 0)
			continue;
		snprintf(name, sizeof name, "%s_%s.csv", kinds[i / 2], side[i % 2]);
		if (text->failed)
			return err_set(err, ERR_FULL, "%s does not fit", name);
		if (write_in(to, name, text, held, err) != 0)
			return -1;
		written++;
	}
	return written;
}

int export_files(struct client *c, const json_t *comparison, const struct export_to *to, struct fw_err *err)
{
	char id[24];
	struct buf text, held;
	int n = 0, more = 0;
	snprintf(id, sizeof id, "%lld", value_integer(comparison, "id"));
	buf_init(&text, TEXT_MAX);
	buf_init(&held, TEXT_MAX);
	if (!to->format || strcmp(to->format, "ffa") == 0)
		n = export_ffa(c, id, comparison, to, &text, &held, err);
	if (n >= 0 && (!to->format || strcmp(to->format, "torchao") == 0))
		more = export_torchao(comparison, to, &text, &held, err);
	n = n < 0 || more < 0 ? -1 : n + more;
	if (n > 0 && to->file && write_file(to, to->file, &held, err) != 0)
		n = -1;
	buf_fini(&text);
	buf_fini(&held);
	return n;
}

int export_suite(struct client *c, const json_t *comparison, bool is_only, const struct export_to *to, struct fw_err *err)
{
	char dir[4096];
	struct export_to one = *to;
	if (!is_only && !to->file) {
		one.dir = dir;
		if (snprintf(dir, sizeof dir, "%s/%s", to->dir, value_text(comparison, "suite")) >= (int)sizeof dir)
			return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", to->dir);
		if (make_folder(to->dir, err) != 0)
			return -1;
	}
	int n = export_files(c, comparison, &one, err);
	if (n == 0)
		fprintf(stderr, "flopwatch: C%lld has no times in the columns of other benchmarks: no CSV was written\n",
			value_integer(comparison, "id"));
	return n;
}

int export_output(const char *dir, export_print_fn *print, void *arg, struct fw_err *err)
{
	char path[4096];
	if (snprintf(path, sizeof path, "%s/output.txt", dir) >= (int)sizeof path)
		return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", dir);
	if (make_folder(dir, err) != 0)
		return -1;
	fflush(stdout);
	int screen = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int result = screen < 0 || file < 0 || dup2(file, STDOUT_FILENO) < 0 ? err_sys(err, "cannot write %s", path) : 0;
	if (result == 0) {
		print(arg);
		if (fflush(stdout) != 0 || ferror(stdout))
			result = err_sys(err, "cannot write %s", path);
		if (dup2(screen, STDOUT_FILENO) < 0)
			result = err_sys(err, "cannot use the standard output again");
	}
	if (screen >= 0)
		close(screen);
	if (file >= 0 && close(file) != 0 && result == 0)
		result = err_sys(err, "cannot write %s", path);
	return result == 0 ? 0 : export_fail_here(err);
}

static bool is_same_side(const json_t *recorded, const json_t *side)
{
	const char *module = value_text(recorded, "module_sha256");
	bool is_same_code = strcmp(value_text(recorded, "commit"), value_text(side, "commit")) == 0 ||
			    (*module && strcmp(module, value_text(side, "module_sha256")) == 0);
	return is_same_code && strcmp(value_text(recorded, "provider"), value_text(side, "provider")) == 0 &&
	       strcmp(value_text(recorded, "config"), value_text(side, "pinned")) == 0;
}

/*
 * The files of `folder` are those of the comparison's commits, or of modules with the same bytes, with its providers and
 * configurations: memory of others would mislead.
 */
static int check_artefacts(const char *folder, const json_t *comparison, struct fw_err *err)
{
	static const char *const roles[] = { "base", "target" };
	char path[4096];
	struct buf text;
	int result = 0, n_recorded = 0;
	buf_init(&text, TEXT_MAX);
	snprintf(path, sizeof path, "%s/artefacts.json", folder);
	json_t *all = files_read_text(path, &text, err) == 0 ? json_loadb(text.data, text.len, 0, NULL) : NULL;
	if (!all)
		result = err->code ? -1 : err_set(err, ERR_INVALID, "%s is not JSON", path);
	for (int i = 0; i < 2 && result == 0; i++) {
		const json_t *recorded = json_object_get(all, roles[i]), *side = json_object_get(comparison, roles[i]);
		n_recorded += recorded != NULL;
		if (recorded && !is_same_side(recorded, side))
			result = err_set(err, ERR_INVALID,
				"%s has files of %.12s%s%s as its %s, and C%lld compares %.12s%s%s: run flopwatch profile %.12s %.12s --suite "
				"%s --artefacts DIR, with the same providers",
				folder, value_text(recorded, "commit"), *value_text(recorded, "provider") ? " with " : "",
				value_text(recorded, "provider"), roles[i], value_integer(comparison, "id"),
				value_text(side, "commit"), *value_text(side, "provider") ? " with " : "",
				value_text(side, "provider"), value_text(json_object_get(comparison, "base"), "commit"),
				value_text(json_object_get(comparison, "target"), "commit"), value_text(comparison, "suite"));
	}
	if (result == 0 && n_recorded == 0)
		result = err_set(err, ERR_INVALID, "%s names no side: flopwatch profile --artefacts writes one that does", path);
	json_decref(all);
	buf_fini(&text);
	return result;
}

int verb_export(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *comparison = NULL;
	char path[64];
	if (o->all && (o->n_arg != 1 || o->format))
		return verb_usage("flopwatch: export --all takes a folder, and no --format");
	if (o->all)
		return export_tables(c, o);
	if (o->zstd || o->repo)
		return verb_usage("flopwatch: only export --all takes --zstd and --repo");
	const char *id = verb_id(o->arg[0], 'C'), *format = o->format ? o->format : "ffa";
	bool is_torchao = strcmp(format, "torchao") == 0;
	if (!*id || strspn(id, "0123456789") != strlen(id) || strlen(id) > 18)
		return verb_usage("flopwatch: export takes the number of a comparison");
	if (!is_torchao && strcmp(format, "ffa") != 0)
		return verb_usage("flopwatch: export writes --format ffa or torchao, not %s", format);
	if (o->artefacts && !is_torchao)
		return verb_usage("flopwatch: export takes --artefacts only with --format torchao");
	snprintf(path, sizeof path, "/api/v1/comparisons/%s", id);
	if (client_get(c, path, &comparison, &err) != 0)
		return verb_fail(&err);
	const struct export_to to = { .dir = o->n_arg == 2 ? o->arg[1] : ".",
		.format = format,
		.names = o->json ? json_array() : NULL,
		.artefacts = o->artefacts };
	int n = o->artefacts && check_artefacts(o->artefacts, comparison, &err) != 0 ? -1
										     : export_files(c, comparison, &to, &err);
	if (n == 0)
		n = err_set(&err, ERR_INVALID,
			"nothing was written: C%s has no %s, and the format has no others; %s/api/v1/comparisons/%s.csv has its "
			"cells, and flopwatch export --all DIR writes all",
			id, is_torchao ? "cells with recipes" : "times of attention", client_server(c), id);
	if (n > 0 && to.names)
		export_print_names(to.names);
	else if (n > 0 && !is_torchao)
		print_threshold(comparison);
	json_decref(to.names);
	json_decref(comparison);
	return n > 0 ? EXIT_OK : verb_fail(&err);
}
