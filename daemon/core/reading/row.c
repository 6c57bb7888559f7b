/* row.c - see row.h. */
#include "core/reading/row.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/utf8.h"

#define MS_MAX 1e9

const struct reading_left *reading_find_left(const struct reading *r, const char *key)
{
	for (int i = 0; i < r->n_left; i++)
		if (strcmp(r->left[i].key, key) == 0)
			return &r->left[i];
	return NULL;
}

/* A key that shows all it is: hidden characters escaped, spaces as _, cut to fit with a mark of the whole. */
static void clean_key(const char *key, char out[CASE_KEY_SIZE])
{
	enum { MARK = 9 }; /* "~" and eight digits */
	char hex[HASH_HEX];
	struct buf shown;

	buf_init(&shown, 1 << 20);
	utf8_show(&shown, key, strlen(key), "");
	for (size_t i = 0; i < shown.len; i++)
		if (shown.data[i] == ' ')
			shown.data[i] = '_';
	if (!shown.failed && shown.len < CASE_KEY_SIZE) {
		memcpy(out, shown.data, shown.len + 1);
	} else {
		size_t keep = CASE_KEY_SIZE - 1 - MARK;

		while (keep > 0 && ((unsigned char)shown.data[keep] & 0xc0) == 0x80) /* not inside a character */
			keep--;
		hash_hex(key, strlen(key), hex);
		snprintf(out, CASE_KEY_SIZE, "%.*s~%.8s", (int)keep, shown.data, hex);
	}
	buf_fini(&shown);
}

/* A text on one line that shows all it is, cut to fit. */
static void clean_text(const char *text, char *out, size_t size)
{
	struct buf shown;

	buf_init(&shown, 1 << 20);
	utf8_show(&shown, text, strlen(text), "\r\n\t");
	size_t keep = shown.len < size ? shown.len : size - 1;
	while (keep > 0 && ((unsigned char)shown.data[keep] & 0xc0) == 0x80) /* not inside a character */
		keep--;
	for (size_t i = 0; i < keep; i++)
		out[i] = strchr("\r\n\t", shown.data[i]) ? ' ' : shown.data[i];
	out[keep] = '\0';
	buf_fini(&shown);
}

static struct reading_row *row_for(struct reading *r, const char *key)
{
	char clean[CASE_KEY_SIZE];

	clean_key(key, clean);
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].key, clean) == 0)
			return &r->row[i];
	if (r->n_rows == r->room) {
		int room = r->room ? 2 * r->room : 64;
		struct reading_row *more = realloc(r->row, (size_t)room * sizeof *more);

		if (!more)
			return NULL;
		r->row = more;
		r->room = room;
	}
	struct reading_row *row = &r->row[r->n_rows++];

	*row = (struct reading_row){ .tflops = NAN };
	memcpy(row->key, clean, sizeof clean);
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
	struct reading_row *row = row_for(r, key);

	if (!row)
		err_set(err, ERR_INTERNAL, "out of memory");
	return row;
}

int reading_add(struct reading *r, const char *key, double ms, double tflops, const char *where, struct fw_err *err)
{
	if (key[0] && !(ms >= 1e-9 && ms <= MS_MAX))
		return err_set(err, ERR_INVALID, "%s: %g ms is no time; a measured time lies between 1e-9 and 1e9 ms", where, ms);
	struct reading_row *row = new_row_for(r, key, where, err);

	if (!row)
		return -1;
	/* grown at powers of two */
	if ((row->n & (row->n - 1)) == 0) {
		double *more = realloc(row->ms, (size_t)(row->n ? 2 * row->n : 1) * sizeof *more);

		if (!more) {
			if (row->n == 0 && !row->failure[0])
				r->n_rows--;
			return err_set(err, ERR_INTERNAL, "out of memory");
		}
		row->ms = more;
	}
	row->ms[row->n++] = ms;
	if (isfinite(tflops) && tflops > 0)
		row->tflops = tflops;
	r->n_values++;
	return 0;
}

int reading_fail(struct reading *r, const char *key, const char *failure, const char *where, struct fw_err *err)
{
	struct reading_row *row = new_row_for(r, key, where, err);

	if (!row)
		return -1;
	if (!row->failure[0])
		clean_text(failure, row->failure, sizeof row->failure);
	r->n_values++;
	return 0;
}

int reading_leave(struct reading *r, const char *key, struct fw_err *err, const char *why, ...)
{
	char clean[CASE_KEY_SIZE];
	va_list args;

	clean_key(key, clean);
	if (reading_find_left(r, clean))
		return 0;
	if (r->n_left >= READING_ROWS_MAX)
		return err_set(err, ERR_INVALID, "more than %d rows without a time; split the file", READING_ROWS_MAX);
	if (r->n_left == r->left_room) {
		int room = r->left_room ? 2 * r->left_room : 16;
		struct reading_left *more = realloc(r->left, (size_t)room * sizeof *more);

		if (!more)
			return err_set(err, ERR_INTERNAL, "out of memory");
		r->left = more;
		r->left_room = room;
	}
	struct reading_left *left = &r->left[r->n_left++];

	memcpy(left->key, clean, sizeof clean);
	va_start(args, why);
	vsnprintf(left->why, sizeof left->why, why, args);
	va_end(args);
	return 0;
}

bool reading_met(const struct reading *r, int n_rows, const char *key)
{
	char clean[CASE_KEY_SIZE];

	clean_key(key, clean);
	const struct reading_row *row = reading_find(r, clean);

	return (row && row - r->row < n_rows) || reading_find_left(r, clean);
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
