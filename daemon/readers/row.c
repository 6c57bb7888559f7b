/* row.c - rows of a reading. */
#include "readers/readers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/lib.h"

#define MS_MIN 1e-9
#define MS_MAX 1e9

const struct reading_skipped *reading_find_skipped(const struct reading *r, const char *key)
{
	for (int i = 0; i < r->n_left; i++)
		if (strcmp(r->left[i].key, key) == 0)
			return &r->left[i];
	return NULL;
}

void reading_clean_key(const char *key, char out[CASE_KEY_SIZE])
{
	enum { MARK = 9 }; /* "~" and eight digits */
	char hex[HASH_HEX];
	struct buf shown;

	buf_init(&shown, 1 << 20);
	utf8_show(&shown, key, strlen(key), "");
	buf_require_memory(&shown); /* another key would be another cell */
	for (size_t i = 0; i < shown.len; i++)
		if (shown.data[i] == ' ')
			shown.data[i] = '_';
	if (!shown.failed && shown.len < CASE_KEY_SIZE) {
		memcpy(out, shown.data, shown.len + 1);
	} else {
		size_t len = utf8_cut(shown.data, shown.len, CASE_KEY_SIZE - 1 - MARK);

		hash_hex(key, strlen(key), hex);
		snprintf(out, CASE_KEY_SIZE, "%.*s~%.8s", (int)len, shown.data, hex);
	}
	buf_fini(&shown);
}

void reading_show(const char *text, char *out, size_t size)
{
	struct buf shown;

	buf_init(&shown, 1 << 20);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	size_t len = utf8_cut(shown.data, shown.len, size - 1);
	for (size_t i = 0; i < len; i++)
		out[i] = strchr("\r\n\t", shown.data[i]) ? ' ' : shown.data[i];
	out[len] = '\0';
	buf_fini(&shown);
}

void reading_entry(struct reading *r, int entry)
{
	r->entry = entry;
}

bool reading_is_time(double ms)
{
	return ms >= MS_MIN && ms <= MS_MAX;
}

static struct reading_row *row_for(struct reading *r, const char *key)
{
	char clean[CASE_KEY_SIZE];

	reading_clean_key(key, clean);
	for (int i = r->n_rows - 1; i >= 0; i--) /* repetitions are consecutive */
		if (r->row[i].entry == r->entry && strcmp(r->row[i].key, clean) == 0)
			return &r->row[i];
	r->row = mem_grow_one(r->row, (size_t)r->n_rows, sizeof *r->row);
	struct reading_row *row = &r->row[r->n_rows++];

	*row = (struct reading_row){ .tflops = NAN, .entry = r->entry, .twins = 1, .statistic = "" };
	memcpy(row->key, clean, sizeof clean);
	memcpy(row->name, clean, sizeof clean);
	return row;
}

static struct reading_row *new_row_for(struct reading *r, const char *key, const char *where, struct fw_err *err)
{
	if (!key[0]) {
		err_set(err, ERR_INVALID, "%s: has no name", where);
		return NULL;
	}
	if (r->n_rows >= READING_ROWS_MAX || r->n_values >= READING_VALUES_MAX) {
		err_set(err, ERR_INVALID, "%s: more than %d rows or %d values; split the file", where, READING_ROWS_MAX,
			READING_VALUES_MAX);
		return NULL;
	}
	return row_for(r, key);
}

int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err)
{
	if (key[0] && !reading_is_time(ms))
		return err_set(
			err, ERR_INVALID, "%s: %g ms is not a time; a measured time lies between 1e-9 and 1e9 ms", where, ms);
	struct reading_row *row = new_row_for(r, key, where, err);

	if (!row)
		return -1;
	row->ms = mem_grow_one(row->ms, (size_t)row->n, sizeof *row->ms);
	row->ms[row->n++] = ms;
	if (isfinite(tflops) && tflops > 0)
		row->tflops = tflops;
	r->n_values++;
	return 0;
}

int reading_state(
	struct reading *r, const char *key, const struct reading_time *time, int n, const char *where, struct fw_err *err)
{
	struct reading_row *row = new_row_for(r, key, where, err);

	if (!row)
		return -1;
	if (row->n > 0 || row->n_times > 0)
		return err_set(err, ERR_INVALID, "%s: %s has a time already", where, row->key);
	int best = 0;

	for (int i = 0; i < n && row->n_times < READING_TIMES_MAX; i++) {
		row->time[row->n_times++] = time[i];
		best = time[i].rank < time[best].rank ? i : best;
	}
	row->statistic = time[best].rank > 0 ? time[best].name : "";
	return reading_add(r, key, time[best].ms, NAN, where, err);
}

/* True if a name like "library_build_type" or "GPU-name" contains the term. */
static bool has_word(const char *name, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = name; *at; at++) {
		bool begins = at == name || strchr("_-. :/", at[-1]);

		if (begins && strncasecmp(at, word, n) == 0 && (!at[n] || strchr("_-. :/", at[n])))
			return true;
	}
	return false;
}

bool reading_is_condition(const char *name)
{
	static const char *const words[] = { "gpu", "gpus", "device", "card", "accelerator", "cpu", "cpus", "host", "hostname",
		"machine", "arch", "os", "compiler", "cc", "cxx", "nvcc", "flags", "cflags", "cxxflags", "build", "mhz", "clock",
		"clocks", "driver", "cuda", "rocm", "sm", "library", "aslr", "governor" };

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

/* Conditions that make every time of a file doubtful; Google Benchmark itself warns of them. */
static bool is_doubtful(const char *name, const char *value)
{
	return (has_word(name, "build") && strcasecmp(value, "debug") == 0) ||
	       (strcasecmp(name, "cpu_scaling_enabled") == 0 && strcmp(value, "true") == 0);
}

void reading_report(struct reading *r, const char *name, const char *value)
{
	bool doubtful = is_doubtful(name, value);
	char clean[sizeof r->fact->value], shown[sizeof r->fact->name];
	struct reading_fact *fact = NULL;

	reading_show(name, shown, sizeof shown);
	reading_show(value, clean, sizeof clean);
	for (int i = 0; i < r->n_facts && !fact; i++)
		if (strcmp(r->fact[i].name, shown) == 0)
			fact = &r->fact[i];
	if (fact) {
		size_t used = strlen(fact->value), n = strlen(clean);

		if (!strstr(fact->value, clean) && used + n + 3 < sizeof fact->value) {
			memcpy(fact->value + used, ", ", 2);
			memcpy(fact->value + used + 2, clean, n + 1);
		}
		fact->doubtful = fact->doubtful || doubtful;
		return;
	}
	if (r->n_facts == READING_FACTS_MAX)
		return;
	r->fact = mem_grow_one(r->fact, (size_t)r->n_facts, sizeof *r->fact);
	fact = &r->fact[r->n_facts++];
	*fact = (struct reading_fact){ .doubtful = doubtful };
	memcpy(fact->name, shown, sizeof shown);
	memcpy(fact->value, clean, sizeof clean);
}

int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err)
{
	struct reading_row *row = new_row_for(r, key, where, err);

	if (!row)
		return -1;
	if (!row->failure[0])
		reading_show(failure, row->failure, sizeof row->failure);
	r->n_values++;
	return 0;
}

int reading_skip(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
{
	char clean[CASE_KEY_SIZE];
	va_list args;

	reading_clean_key(key, clean);
	for (int i = r->n_left - 1; i >= 0; i--)
		if (r->left[i].entry == r->entry && strcmp(r->left[i].key, clean) == 0)
			return 0;
	if (r->n_left >= READING_ROWS_MAX)
		return err_set(err, ERR_INVALID, "more than %d rows without a time; split the file", READING_ROWS_MAX);
	r->left = mem_grow_one(r->left, (size_t)r->n_left, sizeof *r->left);
	struct reading_skipped *left = &r->left[r->n_left++];

	*left = (struct reading_skipped){ .entry = r->entry, .twins = 1, .line = r->line };
	memcpy(left->key, clean, sizeof clean);
	memcpy(left->name, clean, sizeof clean);
	va_start(args, why);
	vsnprintf(left->why, sizeof left->why, why, args);
	va_end(args);
	return 0;
}

struct result {
	const char *name;
	int entry, *twins;
	char *key;
};

static int by_name(const void *a, const void *b)
{
	const struct result *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

static bool is_taken(const struct result *list, int n, const char *key)
{
	for (int i = 0; i < n; i++)
		if (strcmp(list[i].key, key) == 0)
			return true;
	return false;
}

/* "a#2"; more marks if the file has a result of that name. Keys stay unique: a file that uses all of them is refused. */
static int number_result(const struct result *list, int n, const struct result *one, int number, struct fw_err *err)
{
	enum { MARKS_MAX = 8 };
	char text[2 * CASE_KEY_SIZE], key[CASE_KEY_SIZE];

	for (int marks = 1; marks <= MARKS_MAX; marks++) {
		snprintf(text, sizeof text, "%s%.*s%d", one->name, marks, "########", number);
		reading_clean_key(text, key);
		if (!is_taken(list, n, key)) {
			memcpy(one->key, key, sizeof key);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		"results called %.200s cannot be numbered, because others have the names %.200s#%d and so on", one->name,
		one->name, number);
}

int reading_number_twins(struct reading *r, struct fw_err *err)
{
	int n = r->n_rows + r->n_left;
	struct result *list = mem_alloc_zero((size_t)n + 1, sizeof *list);

	for (int i = 0; i < r->n_rows; i++)
		list[i] = (struct result){ r->row[i].name, r->row[i].entry, &r->row[i].twins, r->row[i].key };
	for (int i = 0; i < r->n_left; i++)
		list[r->n_rows + i] = (struct result){ r->left[i].name, r->left[i].entry, &r->left[i].twins, r->left[i].key };
	qsort(list, (size_t)n, sizeof *list, by_name);
	int result = 0;

	for (int from = 0, to; from < n && result == 0; from = to) {
		for (to = from + 1; to < n && strcmp(list[to].name, list[from].name) == 0; to++)
			;
		for (int i = from; i < to && to - from > 1 && result == 0; i++) {
			*list[i].twins = to - from;
			result = number_result(list, n, &list[i], i - from + 1, err);
		}
	}
	free(list);
	return result;
}

int reading_join(struct reading *all, struct reading *more, const char *file, struct fw_err *err)
{
	int result = 0;

	if (all->n_rows == 0 && all->n_left == 0) {
		reading_fini(all);
		*all = *more;
		memset(more, 0, sizeof *more);
		return 0;
	}
	for (int i = 0; i < more->n_rows && result == 0; i++) {
		struct reading_row *from = &more->row[i], *to;

		if (reading_find(all, from->key)) {
			result = err_set(err, ERR_INVALID, "%s: %s was already in another output", file, from->key);
			break;
		}
		all->entry = from->entry;
		to = new_row_for(all, from->key, file, err);
		result = to ? 0 : -1;
		if (to) {
			all->n_values += from->n;
			*to = *from;
			from->ms = NULL;
		}
	}
	for (int i = 0; i < more->n_left && result == 0; i++) {
		all->line = more->left[i].line;
		result = reading_skip(all, more->left[i].key, err, "%s", more->left[i].why);
	}
	for (int i = 0; i < more->n_notes && result == 0; i++)
		reading_note(all, "%s", more->note[i]);
	for (int i = 0; i < more->n_facts && result == 0; i++)
		reading_report(all, more->fact[i].name, more->fact[i].value);
	reading_fini(more);
	return result;
}

bool reading_number(const char *text, double *value)
{
	char *end;

	while (*text == ' ')
		text++;
	if (text[strcspn(text, "xXnN")]) /* 0x1p3, inf, nan */
		return false;
	*value = strtod(text, &end);
	while (*end == ' ')
		end++;
	return end != text && !*end && isfinite(*value);
}

void reading_spell(const char *text, char *out, size_t size)
{
	enum { DIGITS = 15 }; /* precision of a double */
	char again[64];
	double value;

	if (reading_number(text, &value) && strspn(text + strspn(text, " +-0."), "0123456789.") <= DIGITS + 1 &&
		snprintf(again, sizeof again, "%.*g", DIGITS, value) > 0) {
		if (value == floor(value) && fabs(value) < 1e15)
			snprintf(out, size, "%.0f", fabs(value) > 0 ? value : 0); /* 4096.0, 4e3, -0 */
		else
			snprintf(out, size, "%s", again);
	} else {
		snprintf(out, size, "%s", text);
	}
}
