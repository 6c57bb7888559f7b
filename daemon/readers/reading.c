/* reading.c - table of formats, and operations on rows of all formats. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

static reading_fn *const readers[FORMAT_N] = {
	[FORMAT_FLOPWATCH] = read_lines,
	[FORMAT_FFA] = read_ffa,
	[FORMAT_NVBENCH] = read_nvbench,
	[FORMAT_GOOGLE_BENCHMARK] = read_google,
	[FORMAT_HYPERFINE] = read_hyperfine,
	[FORMAT_TRITON] = read_triton,
	[FORMAT_TORCHAO] = read_torchao,
	[FORMAT_NCU] = read_ncu,
	[FORMAT_NSYS] = read_nsys,
	[FORMAT_CUTLASS] = read_cutlass,
	[FORMAT_ROCPROF] = read_rocprof,
	[FORMAT_HIPBLASLT] = read_hipblaslt,
	[FORMAT_LIGER] = read_liger,
	[FORMAT_PYTEST] = read_pytest,
	[FORMAT_ASV] = read_asv,
	[FORMAT_CRITERION] = read_criterion,
	[FORMAT_JMH] = read_jmh,
	[FORMAT_LLAMA_BENCH] = read_llama,
	[FORMAT_TRITONBENCH] = read_tritonbench,
	[FORMAT_TORCH_COMPARE] = read_torch_compare,
	[FORMAT_CATCH2] = read_catch2,
};

static bool has(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word)) != NULL;
}

/* "outs/attn-fwd/flops.csv" and "flops_report.csv": MagiAttention's names for rates over sizes. */
static bool is_flops_file(const char *file)
{
	const char *slash = strrchr(file, '/');

	return strncmp(slash ? slash + 1 : file, "flops", 5) == 0;
}

enum { MARKS = 4 };

/* Return whether one line of a text has all the marks. */
static bool has_line(const char *text, size_t len, const char *const mark[MARKS])
{
	const char *end = text + len, *at;

	while ((at = memmem(text, (size_t)(end - text), mark[0], strlen(mark[0])))) {
		const char *from = memrchr(text, '\n', (size_t)(at - text)), *to = memchr(at, '\n', (size_t)(end - at));
		int found = 1;

		from = from ? from + 1 : text;
		to = to ? to : end;
		while (found < MARKS && mark[found] && has(from, (size_t)(to - from), mark[found]))
			found++;
		if (found == MARKS || !mark[found])
			return true;
		text = to;
	}
	return false;
}

/* "1 threads: ----" */
static bool is_threads_line(const struct text_line *line)
{
	static const char threads[] = " threads: -";
	size_t digits = 0;

	while (digits < line->n && line->at[digits] >= '0' && line->at[digits] <= '9')
		digits++;
	return digits > 0 && line->n - digits >= sizeof threads - 1 &&
	       memcmp(line->at + digits, threads, sizeof threads - 1) == 0;
}

/*
 * A title, a number of threads and the unit, each on its line and in this order: a source or a text that only mentions them is no
 * result.
 */
static bool is_torch_compare(const char *text, size_t len)
{
	struct text_line line = text_begin(text, len);
	bool has_title = false, has_threads = false;

	while (text_next(&line)) {
		if (text_begins(&line, "[-") && line.n > 4 && memcmp(line.at + line.n - 2, "-]", 2) == 0)
			has_title = true;
		else if (has_title && is_threads_line(&line))
			has_threads = true;
		else if (has_threads && text_begins(&line, "Times are in "))
			return true;
	}
	return false;
}

/* A JSON key, not a string in a text. */
static bool has_key(const char *text, size_t len, const char *key)
{
	size_t n = strlen(key);

	for (const char *at = text, *end = text + len; (at = memmem(at, (size_t)(end - at), key, n)); at += n) {
		const char *next = at + n;

		while (next < end && strchr(" \t\r\n", *next) && *next)
			next++;
		if (next < end && *next == ':')
			return true;
	}
	return false;
}

static bool is_llama(const char *text, size_t len)
{
	return has_key(text, len, "\"model_type\"") && has_key(text, len, "\"avg_ts\"");
}

/* Guess by keys that no other program writes; other keys mean no known format. */
static const char *guess_object(const char *text, size_t len, size_t head)
{
	if (has_key(text, len, "\"machine_info\"") && has_key(text, len, "\"benchmarks\"") && has_key(text, len, "\"stats\""))
		return "pytest-benchmark";
	if (has_key(text, len, "\"result_columns\"") && has_key(text, len, "\"commit_hash\""))
		return "asv";
	if ((has_key(text, len, "\"reason\"") && has(text, len, "\"benchmark-complete\"")) ||
		(has_key(text, len, "\"point_estimate\"") && has_key(text, len, "\"confidence_interval\"")) ||
		(has_key(text, len, "\"sampling_mode\"") && has_key(text, len, "\"iters\"")))
		return "criterion";
	if (is_llama(text, head))
		return "llama-bench";
	if (has(text, len, "\"tritonbench_") && has(text, len, "[x_"))
		return "tritonbench";
	/* a whole object on the first line, with flopwatch's keys: JSON lines */
	if (has_key(text, head, "\"cell\"") || has_key(text, head, "\"bench\""))
		return "flopwatch";
	if (has(text, len, "nvbench") || has_key(text, len, "\"sm_version\"") || has_key(text, len, "\"summaries\""))
		return "nvbench";
	if (has_key(text, len, "\"results\"") && has_key(text, len, "\"command\""))
		return "hyperfine";
	if (has_key(text, len, "\"benchmarks\"") &&
		(has_key(text, len, "\"real_time\"") || has_key(text, len, "\"cpu_time\"") || has_key(text, len, "\"run_type\"")))
		return "google-benchmark";
	return has_key(text, len, "\"context\"") &&
			       (has_key(text, len, "\"num_cpus\"") || has_key(text, len, "\"library_build_type\""))
		       ? "google-benchmark"
		       : NULL;
}

/*
 * Guess by column names. A report of triton begins with a size; then every column has a time or rate in brackets or a known name,
 * or one is named after an implementation. Terms of profilers indicate a profiler's table.
 */
static const char *guess_table(const struct table_header *h, const char *file)
{
	bool roofline = table_column(h, "fwd_M") >= 0, subject = false, brackets = false,
	     statistic = column_is_statistic(h->name[0]);
	int times = 0;
	char series[TABLE_NAME_SIZE], unit[COLUMN_UNIT_SIZE];

	if (table_column(h, "TotalDurationNs") >= 0 && table_column(h, "AverageNs") >= 0)
		return "rocprof";
	if (table_column(h, "avg_ts") >= 0 && table_column(h, "model_type") >= 0)
		return "llama-bench";
	if (table_column(h, "kernel_provider") >= 0 && table_column(h, "y_value_50") >= 0)
		return "liger";
	if (table_column(h, "latency_ms") >= 0 && table_column(h, "direction") >= 0)
		return "ffa";
	for (int i = 0; i < h->n; i++) {
		size_t n = strlen(h->name[i]);

		if (strstr(h->name[i], "inference_time_in_ms") || (roofline && (strncmp(h->name[i], "b_", 2) == 0)))
			return "torchao";
		times += strcmp(h->name[i], "total_time_ms") == 0 || strcmp(h->name[i], "forward_time_ms") == 0 ||
			 strcmp(h->name[i], "ref_time_sec") == 0 || (n >= 6 && strcmp(h->name[i] + n - 6, "time_s") == 0);
		subject = subject || (i > 0 && column_is_subject(h->name[i]));
		brackets = brackets || (i > 0 && column_has_brackets(h->name[i]));
		statistic = statistic || (column_is_statistic(h->name[i]) && !column_is_subject(h->name[i]));
	}
	bool sized = false;

	for (int i = 0; i < h->n; i++)
		sized = sized || strcasecmp(h->name[i], "k") == 0 || strcmp(h->name[i], "shape") == 0;
	if (times > 0 && sized)
		return "torchao";
	if (h->n < 2 || column_split(h->name[0], series, sizeof series, unit) == COLUMN_TIME_OR_RATE ||
		column_is_subject(h->name[0]))
		return NULL;
	if (is_flops_file(file) && !brackets)
		return "ffa";
	return subject || (brackets && !statistic) ? "triton" : NULL;
}

const char *reading_guess(const char *text, size_t len, const char *file)
{
	static const char *const ncu[] = { "\"ID\",\"Process ID\"", "==PROF==", "\nID,Process ID," };
	static const struct {
		const char *format, *mark[MARKS];
	} lines[] = {
		/* marks of one line, wherever it is */
		{ "nsys", { "Total Time (", "Instances", "Name" } },
		{ "cutlass", { "Problem,Provider,", "OperationKind,Operation,Disposition" } },
		{ "hipblaslt", { "hipblaslt-Gflops", "transA,", ",us" } },
		{ "criterion", { " ... bench:", " ns/iter", "test " } },
		{ "catch2", { "benchmark name  ", "samples", "iterations" } },
		{ "llama-bench", { "| model ", " params |", " test |", " t/s |" } },
	};
	size_t i = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	const char *found = NULL;
	struct fw_err ignored = { 0 };
	struct table_header h;
	struct csv c;

	while (i < len && strchr(" \t\r\n", text[i]) && text[i])
		i++;
	text += i;
	len -= i;
	const char *end = memchr(text, '\n', len);
	size_t head = end ? (size_t)(end - text) : len; /* first line */

	if (len == 0)
		return NULL;
	if (text[0] == '{')
		return guess_object(text, len, head);
	if (text[0] == '[' && has_key(text, len, "\"primaryMetric\"") && has_key(text, len, "\"benchmark\""))
		return "jmh";
	if (text[0] == '[' && is_llama(text, len))
		return "llama-bench";
	if (has(text, len, "Times are in ") && is_torch_compare(text, len))
		return "torch-compare";
	for (size_t k = 0; k < sizeof ncu / sizeof ncu[0]; k++)
		if (has(text, len, ncu[k]))
			return "ncu";
	if (strncmp(text, "ID,Process ID,", len < 14 ? len : 14) == 0 && len >= 14)
		return "ncu";
	if (text[0] == '<' && has(text, len, "<Catch") && has(text, len, "<BenchmarkResults"))
		return "catch2"; /* whose reader reports how to fix the input */
	if (tritonbench_is_header(text, head))
		return "tritonbench";
	for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++)
		if (has_line(text, len, lines[k].mark))
			return lines[k].format;
	csv_init(&c, text, head + (end != NULL), file);
	if (memchr(text, ',', head) && table_header_read(&c, &h, &ignored) == 0)
		found = guess_table(&h, file);
	csv_fini(&c);
	return found;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* A result that is left out may have had other times before. */
static bool was_skipped(const struct reading *r, const struct reading_row *row)
{
	for (int i = 0; i < r->n_left; i++)
		if (r->left[i].entry == row->entry && strcmp(r->left[i].name, row->name) == 0)
			return true;
	return false;
}

static void drop_skipped(struct reading *r)
{
	int n_left = 0;

	for (int i = 0; i < r->n_rows; i++)
		if (was_skipped(r, &r->row[i]))
			free(r->row[i].ms);
		else
			r->row[n_left++] = r->row[i];
	r->n_rows = n_left;
}

static double row_median(const double *value, int count)
{
	size_t n = (size_t)count;
	double *sorted = mem_alloc(n * sizeof *sorted);

	memcpy(sorted, value, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_value);
	double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	free(sorted);
	return median;
}

/* A failed row has no median, whatever its other repetitions took. */
static void fill_median(struct reading_row *row)
{
	if (row->failure[0]) {
		free(row->ms);
		row->ms = NULL;
		row->n = 0;
		row->median_ms = NAN;
	} else {
		row->median_ms = row_median(row->ms, row->n);
	}
}

static int check_text(const char *text, size_t len, const char *file, struct fw_err *err)
{
	size_t begin = 0; /* of the line */
	int line = 1;

	if (len > READING_BYTES_MAX)
		return err_set(err, ERR_INVALID, "%s: is larger than %d MiB", file, READING_BYTES_MAX >> 20);
	if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
		return err_set(err, ERR_INVALID,
			"%s:1:1: is not UTF-8 text but UTF-16; write it as UTF-8: iconv -f UTF-16 -t UTF-8", file);
	for (size_t i = 0; i < len;) {
		uint32_t code;
		size_t n = utf8_next(text + i, len - i, &code);

		if (code == 0)
			return err_set(err, ERR_INVALID,
				"%s:%d:%zu: is not UTF-8 text: it holds a NUL byte; is it UTF-16, or no text at all?", file, line,
				i - begin + 1);
		if (code == UTF8_INVALID)
			return err_set(err, ERR_INVALID, "%s:%d:%zu: is not UTF-8 text; is this the benchmark's output?", file,
				line, i - begin + 1);
		i += n;
		if (code == '\n') {
			line++;
			begin = i;
		}
	}
	return 0;
}

int reading_finish(struct reading *r, struct fw_err *err)
{
	drop_skipped(r);
	if (reading_number_twins(r, err) != 0)
		return -1;
	for (int i = 0; i < r->n_rows; i++)
		fill_median(&r->row[i]);
	for (int i = 0; i < r->n_figures; i++)
		r->figure[i].median = row_median(r->figure[i].value, r->figure[i].n);
	return 0;
}

int reading_parse(const struct reading_options *how, const char *text, size_t len, const char *file, struct reading *out,
	struct fw_err *err)
{
	enum format format = format_from_name(how->format);
	char left[256];

	memset(out, 0, sizeof *out);
	if (format == FORMAT_N)
		return err_set(err, ERR_INVALID, "%s: `%.40s` is not a format that is read; use one of " FORMAT_NAMES, file,
			how->format);
	snprintf(out->format, sizeof out->format, "%s", how->format);
	int rc = check_text(text, len, file, err);

	if (rc == 0)
		rc = readers[format](out, text, len, file, how, err);
	if (rc == 0)
		rc = reading_finish(out, err);
	if (rc == 0 && out->n_rows == 0 && out->n_figures == 0 && !how->may_be_empty) {
		reading_report_skipped(out, left, sizeof left);
		rc = err_set(err, ERR_INVALID, "%s: holds no measured row%s%s", file, left[0] ? "; " : "", left);
	}
	if (rc != 0)
		reading_fini(out);
	return rc;
}

void reading_fini(struct reading *r)
{
	for (int i = 0; i < r->n_rows; i++)
		free(r->row[i].ms);
	for (int i = 0; i < r->n_figures; i++)
		free(r->figure[i].value);
	free(r->figure);
	free(r->note);
	free(r->row);
	free(r->left);
	free(r->fact);
	memset(r, 0, sizeof *r);
}

const struct reading_row *reading_find(const struct reading *r, const char *key)
{
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, key) == 0)
			return &r->row[i];
	return NULL;
}

const char *reading_why(const struct reading *r, const char *key)
{
	const struct reading_row *row = reading_find(r, key);
	const struct reading_skipped *left = row ? NULL : reading_find_skipped(r, key);

	return left ? left->why : row && row->failure[0] ? row->failure : NULL;
}

const struct reading_skipped *reading_find_unpaired(const struct reading *r, const char *key)
{
	const struct reading_skipped *left = reading_find_skipped(r, key);

	return left && left->unpaired ? left : NULL;
}

void reading_report_skipped(const struct reading *r, char *out, size_t size)
{
	enum { REST = 24 }; /* space for "and 1234 more" */
	size_t used = 0;

	out[0] = '\0';
	if (r->n_left == 0)
		return;
	used += (size_t)snprintf(out, size, "%d %s left out: ", r->n_left, r->n_left == 1 ? "row was" : "rows were");
	for (int i = 0; i < r->n_left; i++) {
		char one[CASE_KEY_SIZE + READING_WHY_SIZE + 32];
		char line[24] = "";

		if (r->left[i].line > 0)
			snprintf(line, sizeof line, "line %d: ", r->left[i].line);
		int n = snprintf(one, sizeof one, "%s%s (%s%s)", i ? ", " : "", r->left[i].key, line, r->left[i].why);

		if (used + (size_t)n + REST >= size) {
			snprintf(out + used, size - used, "%s%d more", i ? " and " : "", r->n_left - i);
			return;
		}
		memcpy(out + used, one, (size_t)n + 1);
		used += (size_t)n;
	}
}
