/*
 * fuzz_text.c - arbitrary bytes as the texts that the lower readers take: CSV, JSON, times, lists of cores, escapes, lines of a
 * child. What is written of them reads as the same again.
 *
 * As a test it replays the files and folders given as arguments (tests/data/fuzz/text by default).
 *
 * Attacks: daemon/lib
 */
#include "fuzz_replay.h"
#include "lib/lib.h"

static void must_be_shown(const char *data, size_t len)
{
	must(strlen(data) == len && !strpbrk(data, "\n\r\033"), "a text is no clean line");
	for (size_t n; len; data += n, len -= n) {
		uint32_t code;
		n = utf8_next(data, len, &code);
		must(n > 0 && n <= len && code != UTF8_INVALID && !utf8_is_hidden(code), "a text hides something");
	}
}

/* A cell that is written is one cell, and reads as the same. */
static void write_cell(const char *cell)
{
	struct fw_err err = { 0 };
	struct csv c;
	struct buf out;

	buf_init(&out, 16 * strlen(cell) + 64);
	buf_puts(&out, "first,"); /* a cell may begin with a byte order mark, which the begin of a file loses */
	csv_field(&out, cell);
	csv_init(&c, out.data, out.len, "again.csv");
	must(!out.failed && csv_next(&c, &err) == 1, "a written field is refused");
	must(c.n == 2 && strcmp(c.cell[1], cell) == 0 && csv_next(&c, &err) == 0, "a written field is another one");
	csv_fini(&c);
	buf_clear(&out);
	buf_puts(&out, "first,");
	csv_text(&out, cell);
	csv_init(&c, out.data, out.len, "again.csv");
	must(!out.failed && csv_next(&c, &err) == 1 && c.n == 2 && csv_next(&c, &err) == 0, "a written text is no cell");
	must(!strchr("=+-@", c.cell[1][0]) || !c.cell[1][0] || c.cell[1][strspn(c.cell[1], "0123456789.eE+-")] == 0,
		"a written text is a formula");
	csv_fini(&c);
	buf_fini(&out);
}

static void read_csv(const char *data, size_t size)
{
	struct fw_err err = { 0 };
	struct csv c;
	int result;

	csv_init(&c, data, size, "f.csv");
	while ((result = csv_next(&c, &err)) == 1)
		for (int i = 0; i < c.n; i++)
			write_cell(c.cell[i]);
	must((result < 0) == (err.code != ERR_NONE), "a refusal without an error, or an error without one");
	must(result == 0 || (strncmp(err.text, "f.csv:", 6) == 0 && !strpbrk(err.text, "\n\r\033")), "an error without a place");
	csv_fini(&c);
}

/* Whether the reader of stored JSON takes it: it stores no whole numbers of more digits, and nothing so deep. */
static bool is_storable(const char *dump)
{
	enum { DIGITS = 18, DEPTH = 30 };
	int depth = 0;

	for (const char *at = dump; *at; at++) {
		depth += (*at == '[' || *at == '{') - (*at == ']' || *at == '}');
		if (depth > DEPTH || strspn(at, "0123456789") > DIGITS)
			return false;
	}
	return true;
}

/* The reader of stored JSON reads what jansson wrote as jansson does, and stays inside anything else. */
static void read_json(const char *data, size_t size)
{
	char *text = malloc(size + 1);

	must(text != NULL, "out of memory");
	memcpy(text, data, size);
	text[size] = 0;
	json_decref(jsonr_tree(text, size));
	json_t *value = json_loadb(data, size, JSON_REJECT_DUPLICATES, NULL), *again;
	char *dump = value ? json_dumps(value, JSON_COMPACT) : NULL;
	if (dump && is_storable(dump)) {
		again = jsonr_tree(dump, strlen(dump));
		must(again && json_equal(value, again), "a written value reads as another one");
		json_decref(again);
	}
	json_decref(value);
	free(dump);
	free(text);
}

static void read_words(const char *data, size_t size)
{
	char *text = malloc(size + 1), *decoded = malloc(size + 1), shown[32];
	struct fw_err err = { 0 };
	struct buf out;
	cpu_set_t set, again;
	int64_t at, back;

	must(text && decoded, "out of memory");
	memcpy(text, data, size);
	text[size] = 0;
	if (clock_parse(text, &at, &err) == 0) {
		clock_format(at, shown);
		must(strcmp(shown, "invalid-time") == 0 || (clock_parse(shown, &back, &err) == 0 && back == at),
			"a written time is another one");
	} else {
		must(err.code == ERR_INVALID && err.text[0], "a refusal without words");
	}
	if (cores_read(text, &set)) {
		char list[CORES_TEXT];
		cores_text(&set, list);
		must(strlen(list) > CORES_TEXT - 16 || (cores_read(list, &again) && CPU_EQUAL(&set, &again)),
			"a written list of cores is another one");
	}
	cores_is_plan(text);
	oid_is_prefix(text, 4);
	percent_decode(text, decoded);
	must(strlen(decoded) <= size, "a text grows when it is decoded");
	buf_init(&out, 3 * size + 1);
	percent_encode(&out, text, strlen(text), "");
	must(!out.failed, "an encoded text does not fit");
	percent_decode(out.data, decoded);
	must(strcmp(decoded, text) == 0, "an encoded text is another one");
	buf_fini(&out);
	buf_init(&out, 8 * size + 64);
	utf8_show(&out, data, size, "");
	must(!out.failed, "a shown text does not fit");
	must_be_shown(out.data, out.len);
	buf_fini(&out);
	must(!strpbrk(log_quote(text), "\n\r\033"), "a quoted text is no clean line");
	free(decoded);
	free(text);
}

/* The same bytes in pieces are the same lines. */
static void read_lines(const char *data, size_t size)
{
	enum { LINE = 64 };
	struct fw_err err = { 0 };
	struct lines l;
	size_t fed = 0, taken = 0, len;
	char *line;

	lines_init(&l, LINE);
	for (size_t n = 1; fed < size; n = n * 5 % 23 + 1) {
		n = n < size - fed ? n : size - fed;
		if (lines_feed(&l, data + fed, n, &err) != 0) {
			must(err.code == ERR_PROTOCOL && err.text[0], "a refusal without words");
			break;
		}
		fed += n;
		while (lines_next(&l, &line, &len) == 1) {
			must(len <= LINE && taken + len < fed && memcmp(line, data + taken, len) == 0, "a line is another one");
			must(data[taken + len] == '\n', "a line without an end");
			taken += len + 1;
		}
	}
	lines_fini(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	read_csv(text, size);
	read_json(text, size);
	read_words(text, size);
	read_lines(text, size);
	return 0;
}

#ifndef FUZZ_SEARCH
int main(int argc, char **argv)
{
	static const char *const folders[] = { "tests/data/fuzz/text", NULL };

	return fuzz_replay_main(argc, argv, folders);
}
#endif
