/*
 * export_tables.c - repositories, branches, jobs, alerts, bisects, devices, comparisons and their cells as CSV tables for other
 * programs (doc/export.md describes each column). Rows are written page by page, so that the size of an export needs no memory; a
 * table gets its name when it is complete.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "cli/internal.h"

enum { COLUMNS_MAX = 40, PATH_SIZE = 4096, ROW_MAX = 1 << 20, ZSTD_LEVEL = 6, PAGE_ROWS = 500 };

/* Columns are keys of the rows of the list at `path`; "base.median_ms" is a member of a member and becomes base_median_ms. */
struct export_table {
	const char *name, *path;
	bool has_repo; /* the list takes ?repo= */
	const char *column[COLUMNS_MAX];
};

static const struct export_table tables[] = {
	{ "repositories", "repos", false, { "name", "url", "upstream", "state", "branches", "open_alerts", "fetched_at" } },
	{ "branches", "branches", true,
		{ "repo", "name", "commit", "subject", "author", "watched", "verdict", "suite", "comparison", "compared",
			"worst_pct", "best_pct", "finished_at" } },
	{ "jobs", "jobs", true,
		{ "id", "repo", "branch", "base", "base_how", "target", "subject", "kind", "suite", "cells", "quick", "origin",
			"state", "state_why", "attempt", "device", "comparison", "verdict", "queued_at", "started_at",
			"ended_at" } },
	{ "alerts", "alerts", true,
		{ "id", "kind", "cost", "state", "title", "repo", "branch", "target", "subject", "author", "device", "comparison",
			"bisect", "worst_pct", "opened_at", "changed_at" } },
	{ "bisects", "bisects", true,
		{ "id", "repo", "origin", "alert", "good", "bad", "suite", "state", "state_why", "verdict", "commits", "jobs",
			"comparison", "created_at", "ended_at" } },
	{ "devices", "devices", false,
		{ "uuid", "kind", "name", "state", "state_why", "class", "model", "driver", "toolkit", "seen_at" } },
	{ "comparisons", "comparisons", true,
		{ "id", "job", "repo", "branch", "kind", "suite", "verdict", "base", "base_how", "target", "subject", "author",
			"device", "cells", "regressions", "runs", "worst_pct", "worst_cell", "best_pct", "best_cell", "gpu_s",
			"wall_s", "finished_at" } },
};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Written together with the comparisons, whose answers contain the cells. */
static const struct export_table cells_table = { "cells", "comparisons", false,
	{ "comparison", "cell", "verdict", "borderline", "series", "device", "failure", "reason", "direction", "size",
		"flops_useful", "bytes_useful", "threshold_pct", "base.median_ms", "target.median_ms", "base.tflops",
		"target.tflops", "change_pct", "ci_low_pct", "ci_high_pct", "mde_pct", "code_pct", "clock_pct", "runs",
		"samples" } };

/* ---- sink: a file that gets its name when it is complete, compressed if requested. ---- */

struct sink {
	char path[PATH_SIZE], unfinished[PATH_SIZE + 16];
	FILE *file;
	ZSTD_CCtx *zstd; /* NULL: not compressed */
	long long rows;
};

static int fail_write(const struct sink *s, struct fw_err *err)
{
	err_sys(err, "cannot write %s", s->unfinished);
	return export_fail_here(err);
}

static int sink_open(struct sink *s, const char *dir, const char *name, bool is_packed, struct fw_err *err)
{
	*s = (struct sink){ 0 };
	if (snprintf(s->path, sizeof s->path, "%s/%s.csv%s", dir, name, is_packed ? ".zst" : "") >= (int)sizeof s->path)
		return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", dir);
	snprintf(s->unfinished, sizeof s->unfinished, "%s.unfinished", s->path);
	s->file = fopen(s->unfinished, "we");
	if (!s->file)
		return fail_write(s, err);
	s->zstd = is_packed ? ZSTD_createCCtx() : NULL;
	if (is_packed && (!s->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) ||
				 ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1))))
		return err_set(err, ERR_INTERNAL, "libzstd did not start");
	return 0;
}

static int sink_write(struct sink *s, const char *text, size_t len, bool is_end, struct fw_err *err)
{
	char packed[1 << 16];
	ZSTD_inBuffer in = { text, len, 0 };
	size_t left = 1;
	if (!s->zstd)
		return fwrite(text, 1, len, s->file) == len ? 0 : fail_write(s, err);
	while (in.pos < in.size || (is_end && left > 0)) {
		ZSTD_outBuffer out = { packed, sizeof packed, 0 };
		left = ZSTD_compressStream2(s->zstd, &out, &in, is_end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left))
			return err_set(err, ERR_INTERNAL, "cannot compress %s: %s", s->path, ZSTD_getErrorName(left));
		if (fwrite(packed, 1, out.pos, s->file) != out.pos)
			return fail_write(s, err);
	}
	return 0;
}

/* Complete the file if `result` is 0, else remove it. */
static int sink_close(struct sink *s, int result, struct fw_err *err)
{
	if (result == 0)
		result = sink_write(s, "", 0, true, err);
	if (s->file && fclose(s->file) != 0 && result == 0)
		result = fail_write(s, err);
	if (result == 0 && rename(s->unfinished, s->path) != 0) {
		err_sys(err, "cannot rename %s to %s", s->unfinished, s->path);
		result = export_fail_here(err);
	}
	if (result != 0 && s->file)
		unlink(s->unfinished);
	ZSTD_freeCCtx(s->zstd);
	s->file = NULL;
	s->zstd = NULL;
	return result;
}

/* ---- rows ---- */

/* The shortest decimal that is read as the same number. */
static void put_real(struct buf *out, double v)
{
	char text[40];
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_puts(out, text);
}

static void put_value(struct buf *out, const json_t *value)
{
	if (json_is_string(value))
		csv_field(out, json_string_value(value)); /* for programs: unchanged, also what a spreadsheet would run */
	else if (json_is_integer(value))
		buf_printf(out, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		put_real(out, json_real_value(value));
	else if (json_is_boolean(value))
		buf_puts(out, json_is_true(value) ? "true" : "false");
}

/* The member of a column, NULL absent. */
static const json_t *member_of(const json_t *row, const char *column)
{
	char outer[64];
	const char *dot = strchr(column, '.');
	if (!dot)
		return json_object_get(row, column);
	snprintf(outer, sizeof outer, "%.*s", (int)(dot - column), column);
	return json_object_get(json_object_get(row, outer), dot + 1);
}

static int write_line(struct sink *s, struct buf *line, struct fw_err *err)
{
	buf_puts(line, "\r\n");
	if (line->failed)
		return err_set(err, ERR_FULL, "a row of %s is larger than %d bytes", s->path, ROW_MAX);
	return sink_write(s, line->data, line->len, false, err);
}

static int write_header(struct sink *s, const struct export_table *t, struct buf *line, struct fw_err *err)
{
	buf_clear(line);
	for (int i = 0; t->column[i]; i++) {
		buf_printf(line, "%s%s", i ? "," : "", t->column[i]);
		for (char *dot = line->data; (dot = memchr(dot, '.', (size_t)(line->data + line->len - dot)));)
			*dot = '_';
	}
	return write_line(s, line, err);
}

/* `comparison` 0: the row has all columns; else the first column is this number. */
static int write_row(struct sink *s, const struct export_table *t, long long comparison, const json_t *row, struct buf *line,
	struct fw_err *err)
{
	buf_clear(line);
	if (comparison)
		buf_printf(line, "%lld", comparison);
	for (int i = comparison ? 1 : 0; t->column[i]; i++) {
		if (i)
			buf_putc(line, ',');
		put_value(line, member_of(row, t->column[i]));
	}
	s->rows++;
	return write_line(s, line, err);
}

/* ---- tables ---- */

struct export
{
	struct client *client;
	const struct options *options;
	struct sink cells; /* open while the comparisons are written */
	struct buf line;
	json_t *files; /* with --json */
};

static int write_cells(struct export *e, const json_t *row, struct fw_err *err)
{
	char path[64];
	json_t *comparison = NULL, *cell;
	size_t i;
	long long id = value_integer(row, "id");
	snprintf(path, sizeof path, "/api/v1/comparisons/%lld", id);
	if (client_get(e->client, path, &comparison, err) != 0)
		return -1;
	int result = 0;
	json_array_foreach(json_object_get(comparison, "cells"), i, cell)
	{
		if (result == 0)
			result = write_row(&e->cells, &cells_table, id, cell, &e->line, err);
	}
	json_decref(comparison);
	return result;
}

static int write_pages(struct export *e, const struct export_table *t, struct sink *s, struct fw_err *err)
{
	char path[64], cursor[256] = "";
	bool is_paged = strcmp(t->path, "repos") != 0 && strcmp(t->path, "devices") != 0;
	snprintf(path, sizeof path, "/api/v1/%s", t->path);
	do {
		const struct member query[] = { { "repo", .text = t->has_repo ? e->options->repo : NULL },
			{ "limit", .number = is_paged ? PAGE_ROWS : 0 }, { "cursor", .text = cursor[0] ? cursor : NULL }, { 0 } };
		json_t *page = NULL, *row;
		size_t i;
		int result = client_get_query(e->client, path, query, &page, err);
		json_array_foreach(json_object_get(page, "items"), i, row)
		{
			if (result == 0)
				result = write_row(s, t, 0, row, &e->line, err);
			if (result == 0 && e->cells.file)
				result = write_cells(e, row, err);
		}
		snprintf(cursor, sizeof cursor, "%s", value_text(page, "next_cursor"));
		json_decref(page);
		if (result != 0)
			return -1;
	} while (cursor[0]);
	return 0;
}

static void report(struct export *e, const struct sink *s)
{
	if (e->files)
		json_array_append_new(e->files, json_pack("{s:s,s:I}", "file", s->path, "rows", (json_int_t)s->rows));
	else
		printf("%s: %lld row%s\n", s->path, s->rows, s->rows == 1 ? "" : "s");
}

static int write_table(struct export *e, const struct export_table *t, struct fw_err *err)
{
	struct sink sink;
	int result = sink_open(&sink, e->options->arg[0], t->name, e->options->zstd, err);
	bool has_cells = strcmp(t->name, "comparisons") == 0;
	if (result == 0)
		result = write_header(&sink, t, &e->line, err);
	if (result == 0 && has_cells)
		result = sink_open(&e->cells, e->options->arg[0], cells_table.name, e->options->zstd, err);
	if (result == 0 && has_cells)
		result = write_header(&e->cells, &cells_table, &e->line, err);
	if (result == 0)
		result = write_pages(e, t, &sink, err);
	if (has_cells && e->cells.file)
		result = sink_close(&e->cells, result, err);
	result = sink_close(&sink, result, err);
	if (result == 0)
		report(e, &sink);
	if (result == 0 && has_cells)
		report(e, &e->cells);
	return result;
}

int export_tables(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct export e = { .client = c, .options = o, .files = o->json ? json_array() : NULL };
	int result = 0;
	if (mkdir(o->arg[0], 0777) != 0 && errno != EEXIST) {
		err_sys(&err, "cannot make the folder %s", o->arg[0]);
		return verb_fail_here(&err);
	}
	buf_init(&e.line, ROW_MAX);
	for (int i = 0; i < TABLES && result == 0; i++)
		result = write_table(&e, &tables[i], &err);
	buf_fini(&e.line);
	if (result == 0 && e.files)
		export_print_names(e.files);
	json_decref(e.files);
	return result == 0 ? EXIT_OK : verb_fail(&err);
}
