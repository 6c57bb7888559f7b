/* compare_files.c - comparison of two outputs of other benchmarks, without a daemon and without a verdict. */

#include "cli/internal.h"

#include <math.h>

static double change_pct(const struct reading_row *base, const struct reading_row *target)
{
	return 100 * (base->median_ms / target->median_ms - 1);
}

static void rate_cell(struct table *t, struct unit unit, double tflops)
{
	char text[UNIT_FIGURE_SIZE];
	unit_rate(unit, tflops, text);
	table_cell_if(t, *text, "%s", text);
}

static double most_tflops(const struct reading *r)
{
	double most = NAN;
	for (int i = 0; i < r->n_rows; i++)
		most = unit_max(most, r->row[i].tflops);
	return most;
}

static void print_table(const struct reading *base, const struct reading *target)
{
	static const char *const times[] = { "cell", ">base ms", ">target ms", ">change", ">values" };
	struct table t;
	double most = unit_max(most_tflops(base), most_tflops(target));
	struct unit unit = unit_of_rates(most);
	char title[16];
	snprintf(title, sizeof title, ">%s", unit.name);
	const char *const rates[] = { "cell", ">base ms", title, ">target ms", title, ">change", ">values" };
	bool flops = isfinite(most);
	table_init(&t, flops ? 7 : 5, flops ? rates : times);
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = files_counterpart(base, a, target);
		if (!b || a->n == 0 || b->n == 0)
			continue;
		table_cell(&t, "%s", a->key);
		table_cell(&t, "%.6g", a->median_ms);
		if (flops)
			rate_cell(&t, unit, a->tflops);
		table_cell(&t, "%.6g", b->median_ms);
		if (flops)
			rate_cell(&t, unit, b->tflops);
		table_cell(&t, "%+.2f %%", change_pct(a, b));
		table_cell(&t, "%d/%d", a->n, b->n);
	}
	table_print(&t, stdout);
	table_fini(&t);
}

/* The target's value of a metric in the unit of the base. NAN: it has none. */
static double figure_beside(const struct reading_figure *base, const struct reading_figure *target)
{
	return target ? target->median * reading_unit_factor(target->unit, base->unit) : NAN;
}

/* Change of a metric that is not a time: a higher value is not necessarily worse, so the sign is that of the value. */
static double figure_change_pct(const struct reading_figure *base, double target)
{
	return 100 * (target / base->median - 1);
}

static void print_figures(const struct reading *base, const struct reading *target)
{
	static const char *const names[] = { "cell", "metric", ">base", ">target", "unit", ">change", ">values" };
	struct table t;
	table_init(&t, 7, names);
	for (int i = 0; i < base->n_figures; i++) {
		const struct reading_figure *a = &base->figure[i], *b = reading_find_figure(target, a);
		double value = figure_beside(a, b), change = figure_change_pct(a, value);
		if (!b)
			continue;
		table_cell(&t, "%s", a->key);
		table_cell(&t, "%s", a->metric);
		table_cell(&t, "%.6g", a->median);
		table_cell(&t, "%.6g", value);
		table_cell(&t, "%s", a->unit);
		table_cell_if(&t, isfinite(change), "%+.2f %%", change);
		table_cell(&t, "%d/%d", a->n, b->n);
	}
	table_print(&t, stdout);
	table_fini(&t);
	printf("\nA change of a metric is target / base - 1, and counts as neither slower nor faster.\n");
}

static int common_figures(const struct reading *base, const struct reading *target)
{
	int n = 0;
	for (int i = 0; i < base->n_figures; i++)
		n += reading_find_figure(target, &base->figure[i]) != NULL;
	return n;
}

/* Returns how many metrics only one file has. */
static int warn_of_figures(const struct reading *in, const struct reading *from, const char *file, bool print)
{
	int n = 0;
	for (int i = 0; i < in->n_figures; i++)
		if (!reading_find_figure(from, &in->figure[i])) {
			n++;
			if (print)
				printf("WARNING %s of %s in %s is not in %s\n", in->figure[i].metric, in->figure[i].key,
					in->figure[i].unit[0] ? in->figure[i].unit : "no unit", file);
		}
	return n;
}

static void print_tables(const struct reading *base, const struct reading *target)
{
	if (base->n_rows > 0 || target->n_rows > 0)
		print_table(base, target);
	if (base->n_figures > 0 && base->n_rows > 0)
		printf("\n");
	if (base->n_figures > 0 || target->n_figures > 0)
		print_figures(base, target);
}

static void put_figures(struct jsonw *j, const struct reading *base, const struct reading *target)
{
	jsonw_kv_array(j, "figures");
	for (int side = 0; side < 2; side++)
		for (int i = 0; i < (side ? target : base)->n_figures; i++) {
			const struct reading_figure *one = side ? &target->figure[i] : &base->figure[i];
			const struct reading_figure *b = side ? one : reading_find_figure(target, one);
			if (side && reading_find_figure(base, one))
				continue;
			double value = figure_beside(one, b);
			jsonw_format(j, "{ cell=%s metric=%s unit=%s base=%g target=%g change_pct=%g }", one->key, one->metric,
				one->unit, side ? NAN : one->median, value, side ? NAN : figure_change_pct(one, value));
		}
	jsonw_array_end(j);
}

static void put_notes(struct jsonw *j, const char *side, const struct reading *r)
{
	for (int i = 0; i < r->n_notes; i++)
		jsonw_format(j, "{ side=%s note=%s }", side, r->note[i]);
}

static void put_side(struct jsonw *j, bool target, const struct reading_row *row)
{
	jsonw_kv_figure(j, target ? "target_ms" : "base_ms", row ? row->median_ms : NAN);
	jsonw_kv_figure(j, target ? "target_tflops" : "base_tflops", row ? row->tflops : NAN);
	jsonw_kv_string(j, target ? "target_failure" : "base_failure", row && row->failure[0] ? row->failure : NULL);
}

static void put_left(struct jsonw *j, const char *side, const struct reading *r)
{
	for (int i = 0; i < r->n_left; i++)
		jsonw_format(j, "{ side=%s cell=%s reason=%s line~=%d }", side, r->left[i].key, r->left[i].why, r->left[i].line);
}

/* Convert lines to a list of strings. */
static void put_warnings(struct jsonw *j, const struct buf *warnings)
{
	struct buf one;
	buf_init(&one, warnings->len + 1);
	jsonw_kv_array(j, "warnings");
	for (const char *at = warnings->data; *at; at = strchr(at, '\n') + 1) {
		buf_clear(&one);
		buf_append(&one, at, (size_t)(strchr(at, '\n') - at));
		jsonw_string(j, one.data);
	}
	jsonw_array_end(j);
	buf_fini(&one);
}

/* How many rows both files have, and how many of them are slower or faster by more than the threshold. */
struct counts {
	double threshold_pct;
	int common, slower, faster;
};

static void print_json(const struct options *o, const struct reading *base, const struct reading *target, const struct counts *n,
	const struct buf *warnings)
{
	struct buf out;
	struct jsonw j;
	buf_init(&out, 64 << 20);
	jsonw_init(&j, &out);
	jsonw_object(&j);
	jsonw_format(&j, "base=%s target=%s format=%s", o->arg[0], o->arg[1], base->format);
	jsonw_kv_null(&j, "verdict"); /* two files give no verdict */
	jsonw_format(&j, "threshold_pct=%g common=%d slower=%d faster=%d", n->threshold_pct, n->common, n->slower, n->faster);
	put_warnings(&j, warnings);
	jsonw_kv_array(&j, "cells");
	for (int side = 0; side < 2; side++) {
		const struct reading *r = side ? target : base;
		for (int i = 0; i < r->n_rows; i++) {
			const struct reading_row *a = side ? files_counterpart(target, &r->row[i], base) : &r->row[i];
			const struct reading_row *b = side ? &r->row[i] : files_counterpart(base, &r->row[i], target);
			if (side && a)
				continue;
			jsonw_object(&j);
			jsonw_kv_string(&j, "cell", r->row[i].key);
			put_side(&j, false, a);
			put_side(&j, true, b);
			jsonw_kv_string(&j, "statistic", r->row[i].statistic[0] ? r->row[i].statistic : NULL);
			jsonw_kv_figure(&j, "change_pct", a && b ? change_pct(a, b) : NAN);
			jsonw_object_end(&j);
		}
	}
	jsonw_array_end(&j);
	jsonw_kv_array(&j, "left_out");
	put_left(&j, "base", base);
	put_left(&j, "target", target);
	jsonw_array_end(&j);
	jsonw_kv_array(&j, "notes");
	put_notes(&j, "base", base);
	put_notes(&j, "target", target);
	jsonw_array_end(&j);
	put_figures(&j, base, target);
	jsonw_object_end(&j);
	printf("%s\n", out.data);
	buf_fini(&out);
}

/* Rows that only one file has are always reported. Returns how many. */
static int warn_of_absent(const struct reading *in, const struct reading *from, const char *file, bool print)
{
	int n = 0;
	for (int i = 0; i < in->n_rows; i++)
		if (!files_counterpart(in, &in->row[i], from)) {
			const char *why = reading_why(from, in->row[i].key);
			n++;
			if (print && why)
				printf("WARNING %s is left out of %s: %s\n", in->row[i].key, file, why);
			else if (print)
				printf("WARNING %s is not in %s\n", in->row[i].key, file);
		}
	return n;
}

/* A row with a rate in both files states its change of the rate, which is what their threshold is about. */
static void print_variation(const struct reading_row *a, const struct reading_row *b, double change, bool is_first)
{
	bool has_rate = isfinite(a->tflops) && isfinite(b->tflops);
	printf("%s%s %s %.2f %% %s %s\n", is_first ? "\n" : "", a->key, has_rate ? "has" : "took",
		has_rate ? fabs(change) : 100 * fabs(b->median_ms / a->median_ms - 1), (change > 0) == has_rate ? "more" : "less",
		has_rate ? "TFLOP/s" : "time");
}

/* Count the rows, and with `print` name those that differ by more than the threshold in either direction. */
static void name_variations(const struct reading *base, const struct reading *target, struct counts *n, bool print)
{
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = files_counterpart(base, a, target);
		bool timed = b && a->n > 0 && b->n > 0;
		double change = timed ? change_pct(a, b) : 0;
		n->common += timed;
		if (fabs(change) <= n->threshold_pct)
			continue;
		if (print)
			print_variation(a, b, change, n->slower + n->faster == 0);
		n->slower += change < 0;
		n->faster += change > 0;
	}
}

static void put_figure(struct buf *out, double v)
{
	if (isfinite(v))
		buf_printf(out, ",%.9g", v);
	else
		buf_putc(out, ',');
}

/* Table for formats without a comparison format of their own. */
static void put_table(struct buf *out, const struct reading *base, const struct reading *target)
{
	buf_puts(out, "cell,base_ms,target_ms,base_tflops,target_tflops,change_pct\n");
	for (int i = 0; i < base->n_rows; i++) {
		const struct reading_row *a = &base->row[i], *b = files_counterpart(base, a, target);
		if (!b || a->n == 0 || b->n == 0)
			continue;
		csv_field(out, a->key);
		put_figure(out, a->median_ms);
		put_figure(out, b->median_ms);
		put_figure(out, a->tflops);
		put_figure(out, b->tflops);
		put_figure(out, change_pct(a, b));
		buf_putc(out, '\n');
	}
}

/* MagiAttention's other file, flops.csv, is an ordinary table. */
static bool is_profile(const struct reading *r)
{
	const char *key = r->n_rows > 0 ? r->row[0].key : "";
	return strcmp(r->format, "ffa") == 0 &&
	       (strncmp(key, "ffa/dense/", 10) == 0 || strncmp(key, "ffa/block_sparse/", 17) == 0);
}

/* Convert two profiles of MagiAttention to its comparison format, with the phases that belong to no cell. */
static int put_profiles(struct buf *out, const char *base, const char *target, struct fw_err *err)
{
	struct buf text[2];
	struct ffa_file file[2];
	const char *const path[2] = { base, target };
	int rows, result = 0;
	for (int i = 0; i < 2; i++)
		buf_init(&text[i], READING_BYTES_MAX + 1);
	for (int i = 0; i < 2 && result == 0; i++) {
		result = files_read_text(path[i], &text[i], err);
		file[i] = (struct ffa_file){ .text = text[i].data, .len = text[i].len, .name = path[i] };
	}
	if (result == 0)
		result = ffa_compare(&file[0], &file[1], "", out, &rows, err);
	for (int i = 0; i < 2; i++)
		buf_fini(&text[i]);
	return result;
}

static int write_comparison(const struct options *o, const struct reading *base, const struct reading *target, struct fw_err *err)
{
	struct buf out;
	int result = 0;
	buf_init(&out, 64 << 20);
	if (is_profile(base) && is_profile(target))
		result = put_profiles(&out, o->arg[0], o->arg[1], err);
	else
		put_table(&out, base, target);
	if (result == 0)
		result = out.failed ? err_set(err, ERR_FULL, "%s: the comparison does not fit", o->arg[2])
				    : files_write(o->arg[2], &out, err);
	buf_fini(&out);
	return result;
}

/* The sentence that the page of two files has as its title: "new.json is slower in 1 of 2 cells". */
static void print_finding(const struct reading *base, const struct reading *target, const char *path, double threshold_pct)
{
	struct counts n = { .threshold_pct = threshold_pct };
	name_variations(base, target, &n, false);
	if (n.common == 0)
		printf("no cell is in both files\n");
	else if (n.slower && n.faster)
		printf("%s is slower in %d and faster in %d of %d cells\n", path, n.slower, n.faster, n.common);
	else if (n.slower || n.faster)
		printf("%s is %s in %d of %d cells\n", path, n.slower ? "slower" : "faster", n.slower + n.faster, n.common);
	else
		printf("%s differs by at most %.3g %% in %d cell%s\n", path, threshold_pct, n.common, n.common == 1 ? "" : "s");
}

/* Print the comparison, as text or as JSON. Returns the exit status. */
static int show(const struct options *o, const struct reading reading[2], const struct buf *warnings, int unpaired)
{
	const struct reading *base = &reading[0], *target = &reading[1];
	const char *const path[2] = { o->arg[0], o->arg[1] };
	struct counts n = { .threshold_pct = o->threshold_pct > 0 ? o->threshold_pct : FILES_THRESHOLD_PCT };
	if (!o->json) {
		print_finding(base, target, path[1], n.threshold_pct);
		files_print_warnings(warnings, stdout);
		if (warnings->len > 0)
			putchar('\n');
		print_tables(base, target);
	}
	name_variations(base, target, &n, !o->json);
	if (o->json)
		print_json(o, base, target, &n, warnings);
	int absent = warn_of_absent(base, target, o->arg[1], !o->json);
	warn_of_absent(target, base, o->arg[0], !o->json);
	int absent_figures = warn_of_figures(base, target, o->arg[1], !o->json);
	warn_of_figures(target, base, o->arg[0], !o->json);
	absent += o->metric ? absent_figures : 0; /* without --metric missing traffic is no failure */
	int common = n.common + common_figures(base, target);
	int failed = files_warn_of_both(reading, path, o->json ? NULL : stdout);
	if (!o->json)
		printf("\n%d cell%s in both files, %d slower and %d faster by more than %.3g %%. This is not a verdict: each "
		       "file is one "
		       "run, and on a\n"
		       "busy CPU or a GPU at its power limit it may differ from the next by more than 1.5 %% without any change. To "
		       "know,\nmeasure both with flopwatch.\n",
			n.common, n.common == 1 ? " is" : "s are", n.slower, n.faster, n.threshold_pct);
	return n.slower || absent || unpaired || failed || !common ? EXIT_UNDECIDED : EXIT_OK;
}

int verb_compare_files(const struct options *o)
{
	const char *const path[2] = { o->arg[0], o->arg[1] };
	struct fw_err err = { 0 };
	struct reading reading[2];
	struct buf warnings;
	int unpaired;
	buf_init(&warnings, 16 << 20);
	if (files_read_pair(path, o, true, reading, &warnings, &unpaired, &err) != 0) {
		buf_fini(&warnings);
		return verb_fail_here(&err);
	}
	int status = show(o, reading, &warnings, unpaired);
	int written = o->n_arg == 3 ? write_comparison(o, &reading[0], &reading[1], &err) : 0;
	if (written == 0 && o->n_arg == 3 && !o->json)
		printf("wrote %s\n", o->arg[2]);
	if (!o->json && written == 0)
		puts("next: flopwatch compare BASE TARGET");
	reading_fini(&reading[0]);
	reading_fini(&reading[1]);
	buf_fini(&warnings);
	return written != 0 ? verb_fail_here(&err) : status;
}
