/* files.c - verbs over outputs of foreign benchmarks: compare two, import one or two. */
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
#include "core/ffa_compare.h"
#include "core/reading.h"

static int read_text(const char *path, struct buf *text, struct fw_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s", path);
	int rc = buf_read_fd(text, fd) != 0 ? err_sys(err, "%s", path) : 0;
	close(fd);
	return rc;
}

/* A benchmark's output. `format` NULL: the one that it looks like. Own: reading_fini. */
static int read_output(const char *path, const char *format, const struct options *o, struct reading *out, struct fw_err *err)
{
	struct buf text;
	buf_init(&text, READING_BYTES_MAX + 1);
	int rc = read_text(path, &text, err);
	if (rc == 0 && !format)
		format = reading_guess(text.data, text.len, path);
	if (rc == 0 && !format)
		rc = err_set(err, ERR_INVALID, "%s: looks like no format that is read; say which with --format: " READING_FORMATS,
			path);
	if (rc == 0 && o->time && !reading_has_times(format))
		rc = err_set(
			err, ERR_INVALID, "%s: --time is for google-benchmark, which writes two; %s has one time", path, format);
	struct reading_how how = { format, o->unit ? o->unit : "", o->time ? o->time : "" };
	if (rc == 0)
		rc = reading_parse(&how, text.data, text.len, path, out, err);
	buf_fini(&text);
	return rc;
}

bool files_are(const char *a, const char *b)
{
	struct stat s, t;
	return stat(a, &s) == 0 && S_ISREG(s.st_mode) && stat(b, &t) == 0 && S_ISREG(t.st_mode);
}

int files_write(const char *path, const struct buf *text, struct fw_err *err)
{
	char part[4096];
	if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
		return err_set(err, ERR_INVALID, "%.60s... is too long a name", path);
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
	return 0;
}

/* ---- which rows are one case -------------------------------------------------------------------------------------------- */

/* A key without the tile of the kernel that ran: two builds of a case may choose different ones. Shape: out[CASE_KEY_SIZE]. */
static void without_tile(const char *key, char out[CASE_KEY_SIZE])
{
	const char *tile = strstr(key, "/tile"), *end = tile ? strchr(tile + 1, '/') : NULL;
	snprintf(out, CASE_KEY_SIZE, "%.*s%s", end ? (int)(tile - key) : CASE_KEY_SIZE - 1, key, end ? end : "");
}

/* The only row of `in` that is this case but for its tile, and has no row of its own in `of`; NULL: none, or several. */
static const struct reading_row *by_case(const struct reading *in, const char *wanted, const struct reading *of)
{
	const struct reading_row *found = NULL;
	char bare[CASE_KEY_SIZE];
	for (int i = 0; i < in->n_rows; i++) {
		without_tile(in->row[i].key, bare);
		if (strcmp(bare, wanted) != 0 || reading_find(of, in->row[i].key))
			continue;
		if (found)
			return NULL;
		found = &in->row[i];
	}
	return found;
}

/* The row of `in` that is the same case as `row` of `of`; NULL none. */
static const struct reading_row *counterpart(const struct reading *of, const struct reading_row *row, const struct reading *in)
{
	const struct reading_row *found = reading_find(in, row->key);
	char bare[CASE_KEY_SIZE];
	if (found || strcmp(of->format, "ffa") != 0)
		return found;
	without_tile(row->key, bare);
	return by_case(of, bare, in) == row ? by_case(in, bare, of) : NULL;
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

static bool has_flops(const struct reading *r)
{
	for (int i = 0; i < r->n_rows; i++)
		if (!isnan(r->row[i].tflops))
			return true;
	return false;
}

static void print_table(const struct reading *base, const struct reading *target)
{
	static const char *const rates[] = { "cell", ">base ms", ">TFLOP/s", ">target ms", ">TFLOP/s", ">change", ">values" };
	static const char *const times[] = { "cell", ">base ms", ">target ms", ">change", ">values" };
	struct table t;
	bool flops = has_flops(base) || has_flops(target);
	table_init(&t, flops ? 7 : 5, flops ? rates : times);
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = counterpart(base, a, target);
		if (!b || a->n == 0 || b->n == 0)
			continue;
		table_cell(&t, "%s", a->key);
		table_cell(&t, "%.6g", a->median_ms);
		if (flops)
			tflops_cell(&t, a->tflops);
		table_cell(&t, "%.6g", b->median_ms);
		if (flops)
			tflops_cell(&t, b->tflops);
		table_cell(&t, "%+.2f %%", change_pct(a, b));
		table_cell(&t, "%d/%d", a->n, b->n);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static void put_side(struct jsonw *j, bool target, const struct reading_row *row)
{
	jsonw_kv_figure(j, target ? "target_ms" : "base_ms", row ? row->median_ms : NAN);
	jsonw_kv_figure(j, target ? "target_tflops" : "base_tflops", row ? row->tflops : NAN);
	jsonw_kv_string(j, target ? "target_failure" : "base_failure", row && row->failure[0] ? row->failure : NULL);
}

static void put_left(struct jsonw *j, const char *side, const struct reading *r)
{
	for (int i = 0; i < r->n_left; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "side", side);
		jsonw_kv_string(j, "cell", r->left[i].key);
		jsonw_kv_string(j, "reason", r->left[i].why);
		jsonw_object_end(j);
	}
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
			const struct reading_row *a = side ? counterpart(target, &r->row[i], base) : &r->row[i];
			const struct reading_row *b = side ? &r->row[i] : counterpart(base, &r->row[i], target);
			if (side && a)
				continue;
			jsonw_object(&j);
			jsonw_kv_string(&j, "cell", r->row[i].key);
			put_side(&j, false, a);
			put_side(&j, true, b);
			jsonw_kv_figure(&j, "change_pct", a && b ? change_pct(a, b) : NAN);
			jsonw_object_end(&j);
		}
	}
	jsonw_array_end(&j);
	jsonw_key(&j, "left_out");
	jsonw_array(&j);
	put_left(&j, "base", base);
	put_left(&j, "target", target);
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
		if (!counterpart(in, &in->row[i], from)) {
			const char *why = reading_why(from, in->row[i].key);
			n++;
			if (print && why)
				printf("WARNING %s is left out of %s: %s\n", in->row[i].key, file, why);
			else if (print)
				printf("WARNING %s is not in %s\n", in->row[i].key, file);
		}
	return n;
}

/* What a file holds and no table shows: rows without a time, and rows that failed. Returns how many failed. */
static int warn_of_timeless(const struct reading *r, const char *file, FILE *to)
{
	char told[600];
	int n = 0;
	for (int i = 0; i < r->n_rows; i++)
		if (r->row[i].failure[0]) {
			n++;
			if (to)
				fprintf(to, "WARNING %s failed in %s: %s\n", r->row[i].key, file, r->row[i].failure);
		}
	reading_tell_left(r, told, sizeof told);
	if (to && told[0])
		fprintf(to, "WARNING %s: %s\n", file, told);
	return n;
}

/* Rows that differ by more than the threshold, either way. Returns how many of them are slower; *common gets the rows that both have. */
static int name_variations(
	const struct reading *base, const struct reading *target, double threshold_pct, int *common, int *faster, bool print)
{
	int slower = 0;
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = counterpart(base, a, target);
		bool timed = b && a->n > 0 && b->n > 0;
		double change = timed ? change_pct(a, b) : 0;
		*common += timed;
		if (fabs(change) <= threshold_pct)
			continue;
		if (print)
			printf("%s%s took %.2f %% %s time\n", slower + *faster ? "" : "\n", a->key,
				100 * fabs(b->median_ms / a->median_ms - 1), change < 0 ? "more" : "less");
		slower += change < 0;
		*faster += change > 0;
	}
	return slower;
}

static void put_figure(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, ",%.9g", v);
	else
		buf_putc(out, ',');
}

/* Of formats that have no comparison of their own. Keys hold no quotes. */
static void put_table(struct buf *out, const struct reading *base, const struct reading *target)
{
	buf_puts(out, "cell,base_ms,target_ms,base_tflops,target_tflops,change_pct\n");
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = counterpart(base, a, target);
		if (!b || a->n == 0 || b->n == 0)
			continue;
		buf_printf(out, strchr(a->key, ',') ? "\"%s\"" : "%s", a->key);
		put_figure(out, a->median_ms);
		put_figure(out, b->median_ms);
		put_figure(out, a->tflops);
		put_figure(out, b->tflops);
		put_figure(out, change_pct(a, b));
		buf_putc(out, '\n');
	}
}

/* MagiAttention's other file, flops.csv, is a table like any. */
static bool is_profile(const struct reading *r)
{
	const char *key = r->row[0].key;
	return strcmp(r->format, "ffa") == 0 &&
	       (strncmp(key, "ffa/dense/", 10) == 0 || strncmp(key, "ffa/block_sparse/", 17) == 0);
}

/* Two profiles of MagiAttention become its comparison, with the phases that no cell has. */
static int put_profiles(struct buf *out, const char *base, const char *target, struct fw_err *err)
{
	struct buf text[2];
	struct ffa_file file[2];
	const char *const path[2] = { base, target };
	int rows, rc = 0;
	for (int i = 0; i < 2; i++)
		buf_init(&text[i], READING_BYTES_MAX + 1);
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = read_text(path[i], &text[i], err);
		file[i] = (struct ffa_file){ .text = text[i].data, .len = text[i].len, .name = path[i] };
	}
	if (rc == 0)
		rc = ffa_compare(&file[0], &file[1], out, &rows, err);
	for (int i = 0; i < 2; i++)
		buf_fini(&text[i]);
	return rc;
}

static int write_comparison(const struct options *o, const struct reading *base, const struct reading *target, struct fw_err *err)
{
	struct buf out;
	int rc = 0;
	buf_init(&out, 64 << 20);
	if (is_profile(base) && is_profile(target))
		rc = put_profiles(&out, o->arg[0], o->arg[1], err);
	else
		put_table(&out, base, target);
	if (rc == 0)
		rc = out.failed ? err_set(err, ERR_FULL, "%s: the comparison does not fit", o->arg[2])
				: files_write(o->arg[2], &out, err);
	buf_fini(&out);
	return rc;
}

int verb_compare_files(const struct options *o)
{
	struct fw_err err = { 0 };
	struct reading base, target;
	double threshold_pct = o->threshold_pct > 0 ? o->threshold_pct : FILES_THRESHOLD_PCT;
	int common = 0, faster = 0;
	if (read_output(o->arg[0], o->format, o, &base, &err) != 0)
		return verb_fail_here(&err);
	if (read_output(o->arg[1], o->format ? o->format : base.format, o, &target, &err) != 0) {
		reading_fini(&base);
		return verb_fail_here(&err);
	}
	if (o->json)
		print_json(&base, &target);
	else
		print_table(&base, &target);
	int slower = name_variations(&base, &target, threshold_pct, &common, &faster, !o->json);
	int absent = warn_of_absent(&base, &target, o->arg[1], !o->json);
	warn_of_absent(&target, &base, o->arg[0], !o->json);
	warn_of_timeless(&base, o->arg[0], o->json ? NULL : stdout);
	int failed = warn_of_timeless(&target, o->arg[1], o->json ? NULL : stdout);
	if (!o->json)
		printf("\n%d cells are in both files, %d slower and %d faster by more than %.3g %%. This is no verdict: each "
		       "file is one "
		       "run, and one run of a GPU\n"
		       "at its power limit may differ from the next by more than 1.5 %% without any change. To know, let "
		       "flopwatch run both in turns:\n"
		       "flopwatch compare BASE TARGET\n",
			common, slower, faster, threshold_pct);
	int written = o->n_arg == 3 ? write_comparison(o, &base, &target, &err) : 0;
	if (written == 0 && o->n_arg == 3 && !o->json)
		printf("%s\n", o->arg[2]);
	reading_fini(&base);
	reading_fini(&target);
	return written != 0 ? verb_fail_here(&err) : slower || absent || failed || !common ? EXIT_UNDECIDED : EXIT_OK;
}

/* ---- import --------------------------------------------------------------------------------------------------------------- */

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
		write_row(&j, &target->row[i], counterpart(target, &target->row[i], base));
	for (int i = 0; i < base->n_rows; i++)
		if (!counterpart(base, &base->row[i], target) && base->row[i].n > 0)
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
	if (read_output(o->arg[0], o->format, o, &target, &err) != 0)
		return verb_fail_here(&err);
	if (o->n_arg == 2 && read_output(o->arg[1], o->format ? o->format : target.format, o, &base, &err) != 0) {
		reading_fini(&target);
		return verb_fail_here(&err);
	}
	buf_init(&body, 8 << 20);
	import_body(&body, o, &target, &base);
	int rc = client_post(c, "/api/v1/imports", body.data, &answer, &err);
	buf_fini(&body);
	if (rc == 0) /* aloud, and not in the way of an answer that a program reads */
		warn_of_timeless(&target, o->arg[0], o->json ? stderr : stdout);
	if (rc == 0 && o->n_arg == 2)
		warn_of_timeless(&base, o->arg[1], o->json ? stderr : stdout);
	if (rc == 0)
		json_object_set_new(answer, "left_out", json_integer(target.n_left + base.n_left));
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
