/*
 * llama.c - output of llama-bench in any of its formats, as one list of objects. Each version has other fields, so that only those
 * that vary in a file belong to names; the others are conditions.
 */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

enum { CELLS_MAX = 64, CELL_SIZE = 256 };

/* Names in Markdown, which are shorter than those of the other formats. */
static const char *full_name(const char *name)
{
	static const char *const names[][2] = { { "model", "model_type" }, { "t/s", "avg_ts" }, { "ngl", "n_gpu_layers" },
		{ "threads", "n_threads" }, { "sm", "split_mode" }, { "nkvo", "no_kv_offload" }, { "fa", "flash_attn" },
		{ "ts", "tensor_split" }, { "mmap", "use_mmap" }, { "embd", "embeddings" }, { "backend", "backends" } };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i][0]) == 0)
			return names[i][1];
	return name;
}

/* ---- the four formats; `out` receives rows that are left out, NULL: they are ignored ---- */

static int add_line(struct reading *out, json_t *object, const char *where, void *list, struct fw_err *err)
{
	struct fields f;

	(void)out;
	(void)where;
	field_begin(&f, object, err, "line");
	return f.failed || json_array_append(list, object) != 0 ? -1 : 0;
}

static int add_cells(json_t *list, int n, const char *const *name, const char *const *cell, struct fw_err *err)
{
	json_t *object = json_object();
	int result = object ? 0 : -1;

	for (int i = 0; i < n && result == 0; i++)
		// the caller fills n of each: NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage)
		result = cell[i][0] ? json_object_set_new(object, full_name(name[i]), json_string(cell[i])) : 0;
	if (json_array_append_new(list, object) != 0 || result != 0)
		return err_set(err, ERR_INTERNAL, "out of memory");
	return 0;
}

static int load_csv(struct reading *out, const char *text, size_t len, const char *file, json_t *list, struct fw_err *err)
{
	const char *name[TABLE_COLUMNS_MAX];
	struct table_header h;
	struct csv c;
	int got = -1;

	csv_init(&c, text, len, file);
	if (table_header_read(&c, &h, err) == 0 && table_require_column(&c, &h, "avg_ts", err) >= 0) {
		for (int i = 0; i < h.n; i++)
			name[i] = h.name[i];
		while ((got = table_next(&c, &h, out, err)) == 1)
			if (add_cells(list, c.n, name, c.cell, err) != 0)
				break;
	}
	csv_fini(&c);
	return got == 0 ? 0 : -1;
}

/* Split "| a | b |" into trimmed cells. Returns their number; 0: it is no whole row. Shape: cell[CELLS_MAX]. */
static int split_row(const struct text_line *line, char cell[CELLS_MAX][CELL_SIZE])
{
	int n = 0;

	if (line->n < 2 || line->at[0] != '|' || line->at[line->n - 1] != '|')
		return 0;
	for (const char *at = line->at + 1, *end = line->at + line->n; at < end && n < CELLS_MAX; n++) {
		const char *bar = memchr(at, '|', (size_t)(end - at));

		text_trim(at, bar, cell[n], CELL_SIZE);
		at = bar + 1;
	}
	return n;
}

static int load_markdown(struct reading *out, const char *text, size_t len, json_t *list, struct fw_err *err)
{
	char header[CELLS_MAX][CELL_SIZE], cell[CELLS_MAX][CELL_SIZE], row[32];
	const char *name[CELLS_MAX], *value[CELLS_MAX];
	struct text_line line = text_begin(text, len);
	int n = 0;

	while (text_next(&line)) {
		int cells = split_row(&line, cell);

		if (cells > 0 && strcmp(cell[0], "model") == 0) {
			memcpy(header, cell, sizeof header);
			n = cells;
		} else if (cells == n && cells > 0 && cell[0][strspn(cell[0], "-: ")]) {
			for (int i = 0; i < n; i++) {
				name[i] = header[i];
				value[i] = cell[i];
			}
			if (add_cells(list, n, name, value, err) != 0)
				return -1;
		} else if (n > 0 && text_begins(&line, "|") && cells != n && out) {
			snprintf(row, sizeof row, "line %d", line.number);
			out->line = line.number;
			if (reading_skip(out, row, err, "it is no whole row of the table") != 0)
				return -1;
		}
	}
	return 0;
}

/* Own: the caller frees. NULL: failed. */
static json_t *load(struct reading *out, const char *text, size_t len, const char *file, struct fw_err *err)
{
	size_t i = 0;

	while (i < len && text[i] && strchr(" \t\r\n", text[i]))
		i++;
	if (i < len && text[i] == '[')
		return object_load(text, len, file, err);
	json_t *list = json_array();
	int result = i < len && text[i] == '{'                       ? object_each_line(out, text, len, file, add_line, list, err)
		     : memmem(text, len, "avg_ts", strlen("avg_ts")) ? load_csv(out, text, len, file, list, err)
								     : load_markdown(out, text, len, list, err);

	if (result == 0)
		return list;
	json_decref(list);
	return NULL;
}

/* ---- rows ---- */

static void put_text(const json_t *value, char *out, size_t size)
{
	struct buf text;

	buf_init(&text, 1 << 16);
	if (value)
		object_put_value(&text, value);
	buf_require_memory(&text);
	snprintf(out, size, "%s", text.failed || text.len == 0 ? "" : text.data);
	buf_fini(&text);
}

/* Return whether a field is no setting: it has a result, the build, the model or the test. */
static bool is_no_setting(const char *name)
{
	static const char *const names[] = { "build_commit", "build_number", "test_time", "avg_ns", "stddev_ns", "avg_ts",
		"stddev_ts", "samples_ns", "samples_ts", "n_prompt", "n_gen", "n_depth", "test", "model_type", "model_size",
		"model_n_params", "size", "params" };

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool varies(json_t *list, const char *name)
{
	char first[CELL_SIZE], each[CELL_SIZE];
	json_t *object;
	size_t i;

	json_array_foreach(list, i, object)
	{
		put_text(json_object_get(object, name), i ? each : first, CELL_SIZE);
		if (i > 0 && strcmp(first, each) != 0)
			return true;
	}
	return false;
}

/* The settings that vary in this file or the other one. Others become conditions. Own: names are borrowed from the list. */
static int find_settings(struct reading *out, json_t *list, json_t *other, const char *name[OBJECT_PARAMETERS_MAX])
{
	const char *all[OBJECT_PARAMETERS_MAX];
	json_t *first = json_array_get(list, 0);
	size_t n_all = object_sort_names(first, all);
	char text[CELL_SIZE];
	int n = 0;

	for (size_t i = 0; i < n_all; i++) {
		if (is_no_setting(all[i]))
			continue;
		if (varies(list, all[i]) || (json_array_size(other) <= READING_ROWS_MAX && varies(other, all[i]))) {
			name[n++] = all[i];
			continue;
		}
		put_text(json_object_get(first, all[i]), text, sizeof text);
		if (text[0])
			reading_report(out, all[i], text);
	}
	return n;
}

/* "pp512", "tg128", "pp512+tg128", each with "@d4096" after a depth. */
static void name_test(json_t *object, char test[CELL_SIZE])
{
	char text[CELL_SIZE], prompt[32], gen[32], depth[32];
	size_t n = 0;

	put_text(json_object_get(object, "test"), text, sizeof text);
	put_text(json_object_get(object, "n_prompt"), prompt, sizeof prompt);
	put_text(json_object_get(object, "n_gen"), gen, sizeof gen);
	put_text(json_object_get(object, "n_depth"), depth, sizeof depth);
	if (!text[0]) {
		bool has_prompt = prompt[0] && strcmp(prompt, "0") != 0, has_gen = gen[0] && strcmp(gen, "0") != 0;

		snprintf(text, sizeof text, "%s%s%s%s%s%s%s", has_prompt ? "pp" : "", has_prompt ? prompt : "",
			has_prompt && has_gen ? "+" : "", has_gen ? "tg" : "", has_gen ? gen : "",
			depth[0] && strcmp(depth, "0") != 0 ? "@d" : "", depth[0] && strcmp(depth, "0") != 0 ? depth : "");
	}
	for (const char *at = text; *at; at++)
		if (*at != ' ')
			test[n++] = *at;
	test[n] = '\0';
}

/* Add the time of a token in each repetition, else the mean. */
static int add_rates(struct reading *out, json_t *object, const char *key, const char *where, struct fw_err *err)
{
	json_t *samples = json_object_get(object, "samples_ts"), *sample;
	struct reading_time mean = { READING_MEAN, 1, NAN };
	char text[CELL_SIZE];
	double rate = NAN;
	size_t i;

	json_array_foreach(samples, i, sample)
	{
		if (!reading_is_time(1e3 / json_number_value(sample)))
			return reading_skip(out, key, err, "a value of its samples_ts is not a rate");
	}
	json_array_foreach(samples, i, sample)
	{
		if (reading_add(out, key, 1e3 / json_number_value(sample), NAN, where, err) != 0)
			return -1;
	}
	if (json_array_size(samples) > 0)
		return 0;
	put_text(json_object_get(object, "avg_ts"), text, sizeof text);
	text[strcspn(text, " ")] = '\0'; /* "131.42 ± 0.59" */
	mean.ms = reading_number(text, &rate) ? 1e3 / rate : NAN;
	return reading_is_time(mean.ms) ? reading_state(out, key, &mean, 1, where, err)
					: reading_skip(out, key, err, "its tokens per second, `%.20s`, are not a rate", text);
}

static int read_row(
	struct reading *out, json_t *object, size_t i, const char *const *setting, int n, const char *file, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE], test[CELL_SIZE], text[CELL_SIZE], where[OBJECT_TEXT_SIZE];
	struct fields f;

	field_begin(&f, object, err, "[%zu]", i);
	if (f.failed)
		return -1;
	name_test(object, test);
	put_text(json_object_get(object, "model_type"), text, sizeof text);
	if (!test[0] || !text[0])
		return field_fail(&f, test[0] ? "model_type" : "test", "is missing");
	snprintf(key, sizeof key, "%s/%s", text, test);
	for (int k = 0; k < n; k++) {
		put_text(json_object_get(object, setting[k]), text, sizeof text);
		table_put(key, setting[k], text);
	}
	size_t used = strlen(key);

	snprintf(key + used, sizeof key - used, "/per-token");
	reading_entry(out, (int)i);
	return add_rates(out, object, key, object_position(where, file, &f, "avg_ts"), err);
}

int read_llama(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct fw_err ignored = { 0 };
	const char *setting[OBJECT_PARAMETERS_MAX];
	json_t *list = load(out, text, len, file, err), *object;
	json_t *other =
		how->other && list ? load(NULL, how->other, how->other_len, "", &ignored) : NULL; /* NULL also if damaged */
	int n = 0, result = list ? 0 : -1;
	size_t i;

	if (result == 0 && json_array_size(list) > READING_ROWS_MAX)
		result = err_set(err, ERR_INVALID, "%s: more than %d rows; split the file", file, READING_ROWS_MAX);
	else if (result == 0 && json_array_size(list) == 0)
		result = err_set(
			err, ERR_INVALID, "%s: holds no results of llama-bench in JSON, JSON lines, CSV or Markdown", file);
	if (result == 0)
		n = find_settings(out, list, other, setting);
	json_array_foreach(list, i, object)
	{
		if (result == 0)
			result = read_row(out, object, i, setting, n, file, err);
	}
	json_decref(other);
	json_decref(list);
	return result != 0 ? object_mistake(err, file) : 0;
}
