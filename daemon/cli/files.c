/* files.c - verbs over outputs of foreign benchmarks: compare two, import one or two, export the FFA files. */
#include "cli/files.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonw.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/value.h"
#include "cli/verbs.h"
#include "core/reading.h"

#define THRESHOLD_PCT 1.5

/* A benchmark's output. `format` NULL: the one that it looks like. Own: reading_fini. */
static int read_output(const char *path, const char *format, const char *unit, struct reading *out, struct fw_err *err)
{
	struct buf text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	buf_init(&text, READING_BYTES_MAX + 1);
	int rc = buf_read_fd(&text, fd) != 0 ? err_sys(err, "%s", path) : 0;
	close(fd);
	if (rc == 0 && !format)
		format = reading_guess(text.data, text.len);
	if (rc == 0 && !format)
		rc = err_set(err, ERR_INVALID, "%s: looks like no format that is read; say which with --format: " READING_FORMATS,
			path);
	if (rc == 0)
		rc = reading_parse(format, unit ? unit : "", text.data, text.len, path, out, err);
	buf_fini(&text);
	return rc;
}

bool files_are(const char *a, const char *b)
{
	struct stat s, t;
	return stat(a, &s) == 0 && S_ISREG(s.st_mode) && stat(b, &t) == 0 && S_ISREG(t.st_mode);
}

/* ---- compare ------------------------------------------------------------------------------------------------------------ */

static double change_pct(const struct reading_row *base, const struct reading_row *target)
{
	return 100 * (base->median_ms / target->median_ms - 1);
}

static void tflops_cell(struct table *t, double v)
{
	if (isnan(v))
		table_cell(t, "-");
	else
		table_cell(t, "%.1f", v);
}

static void print_table(const struct reading *base, const struct reading *target)
{
	static const char *const titles[] = { "cell", ">base ms", ">TFLOP/s", ">target ms", ">TFLOP/s", ">change", ">values" };
	struct table t;
	table_init(&t, 7, titles);
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = reading_find(target, a->key);
		if (!b)
			continue;
		table_cell(&t, "%s", a->key);
		table_cell(&t, "%.6g", a->median_ms);
		tflops_cell(&t, a->tflops);
		table_cell(&t, "%.6g", b->median_ms);
		tflops_cell(&t, b->tflops);
		table_cell(&t, "%+.2f %%", change_pct(a, b));
		table_cell(&t, "%d/%d", a->n, b->n);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static void print_json(const struct reading *base, const struct reading *target)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, 64 << 20);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "format", base->format);
	jsonw_kv_null(&j, "verdict"); /* there is none to be had from two files */
	jsonw_key(&j, "cells");
	jsonw_array(&j);
	for (int side = 0; side < 2; side++) {
		const struct reading *r = side ? target : base;
		for (int i = 0; i < r->n_rows; i++) {
			const struct reading_row *a = side ? reading_find(base, r->row[i].key) : &r->row[i];
			const struct reading_row *b = side ? &r->row[i] : reading_find(target, r->row[i].key);
			if (side && a)
				continue;
			jsonw_object(&j);
			jsonw_kv_string(&j, "cell", r->row[i].key);
			jsonw_kv_figure(&j, "base_ms", a ? a->median_ms : NAN);
			jsonw_kv_figure(&j, "base_tflops", a ? a->tflops : NAN);
			jsonw_kv_figure(&j, "target_ms", b ? b->median_ms : NAN);
			jsonw_kv_figure(&j, "target_tflops", b ? b->tflops : NAN);
			jsonw_kv_figure(&j, "change_pct", a && b ? change_pct(a, b) : NAN);
			jsonw_object_end(&j);
		}
	}
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	printf("%s\n", out.data);
	buf_fini(&out);
}

/* Rows that only one file has are never passed over in silence. Returns how many. */
static int warn_of_absent(const struct reading *in, const struct reading *from, const char *file, bool print)
{
	int n = 0;
	for (int i = 0; i < in->n_rows; i++)
		if (!reading_find(from, in->row[i].key)) {
			n++;
			if (print)
				printf("WARNING %s is not in %s\n", in->row[i].key, file);
		}
	return n;
}

int verb_compare_files(const struct options *o)
{
	struct fw_err err = { 0 };
	struct reading base, target;
	int beyond = 0, common = 0;
	if (read_output(o->arg[0], o->format, o->unit, &base, &err) != 0)
		return verb_fail_here(&err);
	if (read_output(o->arg[1], o->format ? o->format : base.format, o->unit, &target, &err) != 0) {
		reading_fini(&base);
		return verb_fail_here(&err);
	}
	if (o->json)
		print_json(&base, &target);
	else
		print_table(&base, &target);
	for (int i = 0; i < base.n_rows; i++) {
		const struct reading_row *b = reading_find(&target, base.row[i].key);
		common += b != NULL;
		if (!b || change_pct(&base.row[i], b) >= -THRESHOLD_PCT)
			continue;
		beyond++;
		if (!o->json)
			printf("%s%s took %.2f %% more time\n", beyond == 1 ? "\n" : "", base.row[i].key,
				100 * (b->median_ms / base.row[i].median_ms - 1));
	}
	int absent = warn_of_absent(&base, &target, o->arg[1], !o->json);
	warn_of_absent(&target, &base, o->arg[0], !o->json);
	if (!o->json)
		printf("\n%d cells are in both files, %d slower by more than %.1f %%. This is no verdict: each file is one run, "
		       "and one run of a GPU\n"
		       "at its power limit may differ from the next by more than %.1f %% without any change. To know, let "
		       "flopwatch run both in turns:\n"
		       "flopwatch compare BASE TARGET\n",
			common, beyond, THRESHOLD_PCT, THRESHOLD_PCT);
	reading_fini(&base);
	reading_fini(&target);
	return beyond || absent || !common ? EXIT_UNDECIDED : EXIT_OK;
}

/* ---- import --------------------------------------------------------------------------------------------------------------- */

static void write_row(struct jsonw *j, const struct reading_row *target, const struct reading_row *base)
{
	jsonw_object(j);
	jsonw_kv_string(j, "cell", target ? target->key : base->key);
	if (target)
		jsonw_kv_double(j, "ms", target->median_ms);
	if (target && !isnan(target->tflops))
		jsonw_kv_double(j, "tflops", target->tflops);
	if (base)
		jsonw_kv_double(j, "base_ms", base->median_ms);
	if (base && !isnan(base->tflops))
		jsonw_kv_double(j, "base_tflops", base->tflops);
	jsonw_object_end(j);
}

/* `base` may be empty. */
static void import_body(struct buf *out, const struct options *o, const struct reading *target, const struct reading *base)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_object(&j);
	jsonw_kv_string(&j, "repo", o->repo);
	jsonw_kv_string(&j, "commit", o->commit);
	if (o->branch)
		jsonw_kv_string(&j, "branch", o->branch);
	if (o->base)
		jsonw_kv_string(&j, "base", o->base);
	jsonw_kv_string(&j, "name", o->suite ? o->suite : target->format);
	jsonw_key(&j, "rows");
	jsonw_array(&j);
	for (int i = 0; i < target->n_rows; i++)
		write_row(&j, &target->row[i], reading_find(base, target->row[i].key));
	for (int i = 0; i < base->n_rows; i++)
		if (!reading_find(target, base->row[i].key))
			write_row(&j, NULL, &base->row[i]);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
}

int verb_import(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	struct reading target, base = { 0 };
	json_t *answer = NULL;
	struct buf body;
	if (!o->repo || !o->commit) {
		fputs("flopwatch: say what was measured: --repo NAME --commit SHA\n", stderr);
		return EXIT_USAGE;
	}
	if (read_output(o->arg[0], o->format, o->unit, &target, &err) != 0)
		return verb_fail_here(&err);
	if (o->n_arg == 2 && read_output(o->arg[1], o->format ? o->format : target.format, o->unit, &base, &err) != 0) {
		reading_fini(&target);
		return verb_fail_here(&err);
	}
	buf_init(&body, 8 << 20);
	import_body(&body, o, &target, &base);
	int rc = client_post(c, "/api/v1/imports", body.data, &answer, &err);
	buf_fini(&body);
	if (rc == 0 && o->json)
		verb_print_json(answer);
	else if (rc == 0)
		printf("%d rows %s as comparison %lld\n", target.n_rows,
			json_is_true(json_object_get(answer, "new")) ? "stored" : "were stored before",
			value_integer(answer, "comparison"));
	reading_fini(&target);
	reading_fini(&base);
	json_decref(answer);
	return rc == 0 ? EXIT_OK : verb_fail(&err);
}

/* ---- export ---------------------------------------------------------------------------------------------------------------- */

/* A name that is one part of a path. Shape: out[128]. */
static void file_part(const char *name, char out[128])
{
	snprintf(out, 128, "%.127s", name);
	for (char *p = out; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *p))
			*p = '-';
	if (out[0] == '.')
		out[0] = '-';
}

/* Written beside the file and renamed over it. */
static int write_file(const char *dir, const char *name, const struct buf *text, struct fw_err *err)
{
	char path[4096], part[4110];
	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return err_set(err, ERR_INVALID, "the name of folder %.60s... is too long", dir);
	snprintf(part, sizeof part, "%s.part", path);
	FILE *f = fopen(part, "we");
	if (!f)
		return err_sys(err, "cannot write %s", part);
	bool good = fwrite(text->data, 1, text->len, f) == text->len;
	good = fclose(f) == 0 && good;
	if (!good || rename(part, path) != 0) {
		err_sys(err, "cannot write %s", path);
		unlink(part);
		return -1;
	}
	printf("%s\n", path);
	return 0;
}

int verb_export(struct client *c, const struct options *o)
{
	static const struct {
		const char *file, *kind, *table;
		bool base, target; /* whose names the file carries */
	} files[] = {
		{ "profile_dense_base", "profile_dense", "", true, false },
		{ "profile_dense_target", "profile_dense", "", false, true },
		{ "profile_block_sparse_base", "profile_block_sparse", "", true, false },
		{ "profile_block_sparse_target", "profile_block_sparse", "", false, true },
		{ "compare_dense", "compare", "_dense", true, true },
		{ "compare_block_sparse", "compare", "_block_sparse", true, true },
	};
	struct fw_err err = { 0 };
	json_t *comparison = NULL;
	struct buf path, text;
	char base[128], target[128], name[400];
	const char *id = o->arg[0], *dir = o->n_arg == 2 ? o->arg[1] : ".";
	int rc = 0;
	if (!*id || strspn(id, "0123456789") != strlen(id)) {
		fputs("flopwatch: export takes the number of a comparison\n", stderr);
		return EXIT_USAGE;
	}
	buf_init(&path, 4096);
	buf_init(&text, 64 << 20);
	buf_printf(&path, "/api/v1/comparisons/%s", id);
	rc = client_get(c, path.data, &comparison, &err);
	if (rc == 0 && mkdir(dir, 0777) != 0 && errno != EEXIST) {
		err_sys(&err, "cannot make the folder %s", dir);
		rc = verb_fail_here(&err);
	}
	if (rc == 0) {
		char sha[13];
		snprintf(sha, sizeof sha, "%.12s", value_text(json_object_get(comparison, "base"), "commit"));
		file_part(sha, base);
		snprintf(sha, sizeof sha, "%.12s", value_text(json_object_get(comparison, "target"), "commit"));
		const char *branch = value_branch(comparison);
		file_part(*branch ? branch : sha, target);
		if (strcmp(base, target) == 0)
			snprintf(target, sizeof target, "%.100s-again", base);
	}
	for (size_t i = 0; i < sizeof files / sizeof files[0] && rc == 0; i++) {
		buf_clear(&path);
		buf_clear(&text);
		buf_printf(&path, "/api/v1/comparisons/%s/ffa/%s.csv", id, files[i].file);
		rc = client_get_raw(c, path.data, &text, &err);
		snprintf(name, sizeof name, "%s%s%s%s%s%s.csv", files[i].kind, files[i].base ? "_" : "",
			files[i].base ? base : "", files[i].target ? "_" : "", files[i].target ? target : "", files[i].table);
		if (rc == 0 && write_file(dir, name, &text, &err) != 0) {
			rc = verb_fail_here(&err);
			break;
		}
	}
	json_decref(comparison);
	buf_fini(&path);
	buf_fini(&text);
	return rc < 0 ? verb_fail(&err) : rc;
}
