/*
 * catch2.c - benchmarks in the text of Catch2's console reporter: below the name of each test case a table, with three lines for a
 * benchmark (samples, mean, deviation), or with --benchmark-no-analysis one. Long names take several lines.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { WORDS_MAX = 6, WORD_SIZE = 32, NAME_WIDTH = 35 };

enum section {
	OUTSIDE,
	IN_HEADING, /* between the lines around the name of a test case */
	IN_COLUMNS, /* names of columns, up to a line */
	IN_TABLE,
};

struct catch2 {
	enum section section;
	bool without_analysis;
	char test[TABLE_KEY_SIZE / 2],
		name[TABLE_KEY_SIZE / 2]; /* of the test case with its sections; of the benchmark, "" none */
	int line;                         /* of the benchmark */
};

static bool is_rule(const struct text_line *line, char of)
{
	size_t i = 0;

	while (i < line->n && line->at[i] == of)
		i++;
	return line->n >= 40 && i == line->n;
}

static void append(char *text, size_t size, const struct text_line *line, size_t n, const char *between)
{
	char part[TABLE_KEY_SIZE / 2];
	size_t used = strlen(text);

	text_trim(line->at, line->at + n, part, sizeof part);
	snprintf(text + used, size - used, "%s%s", used > 0 && part[0] ? between : "", part);
}

/* Split the last words off a line. Returns the number of bytes before them; SIZE_MAX: it has fewer. Shape: word[n]. */
static size_t take_words(const struct text_line *line, int n, char word[WORDS_MAX][WORD_SIZE])
{
	size_t end = line->n;

	for (int i = n - 1; i >= 0; i--) {
		size_t from = end;

		while (from > 0 && line->at[from - 1] != ' ')
			from--;
		if (from == end || end - from >= WORD_SIZE)
			return SIZE_MAX;
		snprintf(word[i], WORD_SIZE, "%.*s", (int)(end - from), line->at + from);
		for (end = from; end > 0 && line->at[end - 1] == ' ';)
			end--;
	}
	return end;
}

static size_t count_characters(const struct text_line *line)
{
	size_t n = 0;

	for (size_t i = 0; i < line->n; i++)
		n += ((unsigned char)line->at[i] & 0xc0) != 0x80;
	return n;
}

/* "1.5", "us" as ms; NAN: no time. */
static double time_of(const char *number, const char *unit)
{
	double value, unit_ms = strcmp(unit, "m") == 0 ? 60e3 : strcmp(unit, "h") == 0 ? 3600e3 : unit_to_ms(unit);

	return unit_ms > 0 && reading_number(number, &value) ? value * unit_ms : NAN;
}

static bool is_count(const char *word)
{
	return word[0] && word[strspn(word, "0123456789")] == '\0';
}

/* A name ends where its numbers of samples and iterations, and a time, are to its right. */
static bool has_counts(const struct text_line *line, size_t *n_name, double *ms)
{
	char word[WORDS_MAX][WORD_SIZE];

	*n_name = take_words(line, 4, word);
	if (*n_name == SIZE_MAX || line->n <= NAME_WIDTH + 20 || !is_count(word[0]) || !is_count(word[1]))
		return false;
	*ms = time_of(word[2], word[3]);
	return !isnan(*ms);
}

/* The three times of a line without a name; the first is the estimate. */
static bool has_estimate(const struct text_line *line, double *ms)
{
	char word[WORDS_MAX][WORD_SIZE];

	if (line->n == 0 || line->at[0] != ' ' || take_words(line, 6, word) != 0)
		return false;
	*ms = time_of(word[0], word[1]);
	return !isnan(*ms) && !isnan(time_of(word[2], word[3])) && !isnan(time_of(word[4], word[5]));
}

static void name_result(const struct catch2 *t, char key[TABLE_KEY_SIZE])
{
	snprintf(key, TABLE_KEY_SIZE, "%s%s%s", t->test, t->test[0] ? "/" : "", t->name[0] ? t->name : "benchmark");
}

static int add_mean(struct reading *out, struct catch2 *t, double ms, const char *file, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE], where[OBJECT_TEXT_SIZE];

	name_result(t, key);
	t->name[0] = '\0';
	out->line = t->line;
	reading_entry(out, t->line);
	snprintf(where, sizeof where, "%.500s:%d", file, t->line);
	return reading_is_time(ms) ? reading_add(out, key, ms, NAN, where, err)
				   : reading_skip(out, key, err, "a mean of %g ms is not a time", ms);
}

static int leave_unfinished(
	struct reading *out, struct catch2 *t, const char *why, bool is_failure, const char *file, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE];

	if (!t->name[0])
		return 0;
	name_result(t, key);
	t->name[0] = '\0';
	out->line = t->line;
	reading_entry(out, t->line);
	return is_failure ? reading_fail(out, key, why, file, err) : reading_skip(out, key, err, "%s", why);
}

static int read_table_line(
	struct reading *out, struct catch2 *t, const struct text_line *line, const char *file, struct fw_err *err)
{
	static const char failed[] = "Benchmark failed (";
	const char *message = memmem(line->at, line->n, failed, strlen(failed));
	char why[READING_WHY_SIZE];
	size_t n_name;
	double ms;

	if (message) {
		text_trim(message + strlen(failed), line->at + line->n - (line->at[line->n - 1] == ')'), why, sizeof why);
		return leave_unfinished(out, t, why[0] ? why : "Benchmark failed", true, file, err);
	}
	if (has_estimate(line, &ms)) {
		/* after the mean there is no name, so that the deviation, of the same shape, is none */
		return t->name[0] ? add_mean(out, t, ms, file, err) : 0;
	}
	bool is_last = has_counts(line, &n_name, &ms);

	if (line->n == 0 || line->at[0] == ' ' || (!is_last && count_characters(line) > NAME_WIDTH))
		return 0;
	if (!t->name[0])
		t->line = line->number;
	append(t->name, sizeof t->name, line, is_last ? n_name : line->n, " ");
	if (!is_last || !t->without_analysis)
		return 0;
	return text_is_open(line) ? leave_unfinished(out, t, "its line has no end, so that its mean may be cut", false, file, err)
				  : add_mean(out, t, ms, file, err);
}

static int read_line(struct reading *out, struct catch2 *t, const struct text_line *line, const char *file, struct fw_err *err)
{
	static const char columns[] = "benchmark name  ";
	bool is_columns = text_begins(line, columns) && memmem(line->at, line->n, "samples", 7);

	if (is_columns) {
		t->section = IN_COLUMNS;
		t->without_analysis = memmem(line->at, line->n, "  mean", 6) != NULL;
	} else if (is_rule(line, '-') && t->section == IN_COLUMNS) {
		t->section = IN_TABLE;
	} else if (is_rule(line, '-') && t->section == IN_HEADING) {
		t->section = OUTSIDE;
	} else if (is_rule(line, '-') || is_rule(line, '=') || is_rule(line, '.') || is_rule(line, '~')) {
		bool is_heading = is_rule(line, '-');

		if (leave_unfinished(out, t, "its mean is missing", false, file, err) != 0)
			return -1;
		t->section = is_heading ? IN_HEADING : OUTSIDE;
		if (is_heading)
			t->test[0] = '\0';
	} else if (t->section == IN_HEADING) {
		append(t->test, sizeof t->test, line, line->n, "/");
	} else if (t->section == IN_TABLE) {
		return read_table_line(out, t, line, file, err);
	}
	return 0;
}

int read_catch2(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct text_line line = text_begin(text, len);
	struct catch2 t = { .section = OUTSIDE };
	bool has_table = false;
	int result = 0;

	(void)how;
	while (result == 0 && text_next(&line)) {
		if (line.number == 1 && text_begins(&line, "<"))
			return err_set(err, ERR_INVALID,
				"%s:1: is XML, which is not read; let Catch2 write its text: --reporter console", file);
		result = read_line(out, &t, &line, file, err);
		has_table = has_table || t.section == IN_TABLE;
	}
	if (result == 0)
		result = leave_unfinished(out, &t, "its mean is missing; is the file cut off?", false, file, err);
	if (result == 0 && !has_table)
		return err_set(err, ERR_INVALID, "%s: holds no benchmarks of Catch2's console reporter", file);
	return result;
}
