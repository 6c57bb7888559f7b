/* export.c - a comparison as CSV files in the formats of other projects' benchmarks, named after its sides. */
#include <errno.h>
#include <math.h>

#include "cli/internal.h"

enum { NAME_SIZE = 128, TEXT_MAX = 64 << 20 };

static const struct {
	const char *file, *kind, *table;
	bool base, target; /* the sides' names in the file */
} files[] = {
	{ "profile_dense_base", "profile_dense", "", true, false },
	{ "profile_dense_target", "profile_dense", "", false, true },
	{ "profile_block_sparse_base", "profile_block_sparse", "", true, false },
	{ "profile_block_sparse_target", "profile_block_sparse", "", false, true },
	{ "compare_dense", "compare", "_dense", true, true },
	{ "compare_block_sparse", "compare", "_block_sparse", true, true },
};

/* A name that is one path component. */
static void file_part(char name[NAME_SIZE])
{
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p))
			*p = '-';
	if (name[0] == '.')
		name[0] = '-';
}

/* Display name of a side, else its commit; with the provider if one was requested. */
static void name_side(const json_t *comparison, const char *role, char name[NAME_SIZE])
{
	const json_t *side = json_object_get(comparison, role);
	const char *given = value_text(side, "name"), *provider = value_text(side, "provider");
	snprintf(name, NAME_SIZE, "%.*s%s%s", *given ? 70 : 12, *given ? given : value_text(side, "commit"), *provider ? "-" : "",
		provider);
	file_part(name);
}

static void name_sides(const json_t *comparison, char base[NAME_SIZE], char target[NAME_SIZE])
{
	const char *commit = value_text(json_object_get(comparison, "target"), "commit");
	name_side(comparison, "base", base);
	name_side(comparison, "target", target);
	if (strcmp(base, target) != 0)
		return;
	bool separate = strcmp(commit, value_text(json_object_get(comparison, "base"), "commit")) != 0;
	snprintf(target, NAME_SIZE, "%.100s-%.12s", base, separate ? commit : "again");
}

/* Append one file of the comparison to `text`: 1; 0 it has no content; -1. */
static int fetch(struct client *c, const char *id, const char *file, struct buf *text, struct fw_err *err)
{
	char path[128];
	snprintf(path, sizeof path, "/api/v1/comparisons/%.20s/ffa/%s.csv", id, file);
	if (client_get_raw(c, path, text, err) == 0)
		return 1;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	err_clear(err);
	return 0;
}

/* written` (NULL: print it) gets the file's path. */
static int write_in(const char *dir, const char *name, const struct buf *text, json_t *written, struct fw_err *err)
{
	char path[4096];
	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", dir);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_sys(err, "cannot make the folder %s", dir);
	if (files_write(path, text, err) != 0)
		return -1;
	if (written)
		json_array_append_new(written, json_string(path));
	else
		printf("%s\n", path);
	return 0;
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

static void print_json(json_t *names)
{
	json_t *answer = json_pack("{s:O}", "files", names);
	verb_print_json(answer);
	json_decref(answer);
}

/* Each writes its files, appends their paths to `names` if requested, and returns the exit status after reporting any error. */
static int export_ffa(
	struct client *c, const char *id, const json_t *comparison, const char *dir, json_t *names, struct buf *text)
{
	struct fw_err err = { 0 };
	char base[NAME_SIZE], target[NAME_SIZE], name[3 * NAME_SIZE];
	int written = 0;
	name_sides(comparison, base, target);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(name, sizeof name, "%s%s%s%s%s%s.csv", files[i].kind, files[i].base ? "_" : "",
			files[i].base ? base : "", files[i].target ? "_" : "", files[i].target ? target : "", files[i].table);
		buf_clear(text);
		int got = fetch(c, id, files[i].file, text, &err);
		if (got < 0)
			return verb_fail(&err);
		if (got > 0 && write_in(dir, name, text, names, &err) != 0)
			return verb_fail_here(&err);
		written += got > 0;
	}
	if (!written) {
		err_set(&err, ERR_INVALID,
			"nothing was written: comparison %s has no times of attention, and the format has no others", id);
		return verb_fail_here(&err);
	}
	if (!names)
		print_threshold(comparison);
	return EXIT_OK;
}

static int export_torchao(const char *id, const json_t *comparison, const char *dir, json_t *names, struct buf *text)
{
	static const char *const kinds[] = { "results", "results_training" };
	struct fw_err err = { 0 };
	char side[2][NAME_SIZE], name[2 * NAME_SIZE];
	int written = 0;
	name_sides(comparison, side[0], side[1]);
	for (int i = 0; i < 4; i++) {
		buf_clear(text);
		if (torchao_write(comparison, i % 2 ? "target" : "base", i >= 2, text) == 0)
			continue;
		snprintf(name, sizeof name, "%s_%s.csv", kinds[i / 2], side[i % 2]);
		if (text->failed)
			err_set(&err, ERR_FULL, "%s does not fit", name);
		if (text->failed || write_in(dir, name, text, names, &err) != 0)
			return verb_fail_here(&err);
		written++;
	}
	if (written)
		return EXIT_OK;
	err_set(&err, ERR_INVALID, "nothing was written: comparison %s has no cells with recipes, and the format has no others",
		id);
	return verb_fail_here(&err);
}

int verb_export(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	json_t *comparison = NULL;
	char path[64];
	const char *id = verb_id(o->arg[0], 'C'), *dir = o->n_arg == 2 ? o->arg[1] : ".", *format = o->format ? o->format : "ffa";
	bool is_torchao = strcmp(format, "torchao") == 0;
	struct buf text;
	if (!*id || strspn(id, "0123456789") != strlen(id) || strlen(id) > 18)
		return verb_usage("flopwatch: export takes the number of a comparison");
	if (!is_torchao && strcmp(format, "ffa") != 0)
		return verb_usage("flopwatch: export writes --format ffa or torchao, not %s", format);
	snprintf(path, sizeof path, "/api/v1/comparisons/%s", id);
	if (client_get(c, path, &comparison, &err) != 0)
		return verb_fail(&err);
	json_t *names = o->json ? json_array() : NULL;
	buf_init(&text, TEXT_MAX);
	int status =
		is_torchao ? export_torchao(id, comparison, dir, names, &text) : export_ffa(c, id, comparison, dir, names, &text);
	buf_fini(&text);
	if (status == EXIT_OK && names)
		print_json(names);
	json_decref(names);
	json_decref(comparison);
	return status;
}
