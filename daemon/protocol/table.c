/* table.c - reader and writer of objects that a table describes. */
#include "protocol/internal.h"

#include <inttypes.h>

enum { CHOICES_MAX = 16 };

/* ---- members ---- */

static int64_t load_int(enum row_width width, const void *from)
{
	unsigned u;
	int64_t v;

	if (width == WIDTH_BOOL)
		return *(const bool *)from;
	if (width == WIDTH_CHAR)
		return *(const unsigned char *)from;
	if (width == WIDTH_LONG) {
		memcpy(&v, from, sizeof v);
		return v;
	}
	memcpy(&u, from, sizeof u);
	return width == WIDTH_UNSIGNED ? (int64_t)u : (int)u;
}

static void store_int(enum row_width width, void *to, int64_t v)
{
	unsigned u = (unsigned)v; /* stores an int, too: both have the same bytes */

	if (width == WIDTH_BOOL)
		*(bool *)to = v != 0;
	else if (width == WIDTH_LONG)
		memcpy(to, &v, sizeof v);
	else
		memcpy(to, &u, sizeof u);
}

static double load_double(const void *from)
{
	return *(const double *)from;
}

static bool is_fixed(const struct row *r)
{
	return r->kind == KIND_INTS && r->least == r->most;
}

static int count_items(const struct row *r, const char *message)
{
	return is_fixed(r) ? (int)r->most : (int)load_int(WIDTH_INT, message + r->count);
}

static void *load_pointer(const char *at)
{
	void *p;

	memcpy(&p, at, sizeof p);
	return p;
}

void table_free(const struct row *table, void *message)
{
	for (const struct row *r = table; r->key; r++) {
		char *at = (char *)message + r->offset;

		if (r->kind == KIND_OBJECT)
			table_free(r->table, at);
		for (int i = 0; i < r->n_owned; i++)
			free(load_pointer(at + (size_t)i * sizeof(void *)));
		if (r->index)
			free(load_pointer((char *)message + r->index));
	}
}

/* ---- reader ---- */

/* Store the value of a missing key; other kinds remain zeroed. */
static void set_absent(const struct row *r, char *to)
{
	if (r->kind == KIND_INT)
		store_int(r->width, to, (int64_t)r->absent);
	else if (r->kind == KIND_DOUBLE)
		*(double *)(void *)to = r->absent;
	else if (r->kind == KIND_OBJECT)
		for (const struct row *in = r->table; in->key; in++)
			set_absent(in, to + in->offset);
}

static void read_enum(struct fields *f, const struct row *r, char *to)
{
	const char *choices[CHOICES_MAX + 1] = { NULL };

	for (int64_t v = r->min; v <= r->max && v < r->min + CHOICES_MAX; v++)
		choices[v - r->min] = r->choices[v];
	store_int(r->width, to, r->min + field_choice(f, r->key, choices, NULL, 0));
}

static void read_token(struct fields *f, const struct row *r, char *to)
{
	const char *wrong;

	field_token(f, r->key, r->set, r->least, to, r->size);
	if (!f->failed && r->wrong && (wrong = r->wrong(to)))
		field_fail(f, r->key, "%s", wrong);
}

static int read_int_item(struct fields *f, const struct row *r, json_t *v, size_t i, void *to)
{
	if (!json_is_integer(v) || json_integer_value(v) < r->min || json_integer_value(v) > r->max)
		return field_fail(f, r->key, "item %zu is not an integer from %" PRId64 " to %" PRId64, i, r->min, r->max);
	store_int(WIDTH_INT, to, json_integer_value(v));
	return 0;
}

static int read_text_item(struct fields *f, const struct row *r, json_t *v, size_t i, char *to)
{
	const char *text = json_string_value(v), *wrong;

	if (!text || strlen(text) >= r->size)
		return field_fail(f, r->key, "item %zu must be a string below %zu bytes", i, r->size);
	if (r->wrong && (wrong = r->wrong(text)))
		return field_fail(f, r->key, "item %zu %s", i, wrong);
	memcpy(to, text, strlen(text) + 1);
	return 0;
}

static int read_object_item(struct fields *f, const struct row *r, json_t *v, size_t i, char *to, int *index)
{
	struct fields in;

	field_begin(&in, v, f->err, "%.40s.%s[%zu]", f->where, r->key, i);
	if (index)
		index[i] = (int)field_int(&in, "i", 0, (int64_t)r->most - 1);
	return table_read(&in, r->table, to);
}

/* Allocate n items and store the pointer at `offset` of the message, which owns them. NULL: out of memory, reported in `f`. */
static void *allocate(struct fields *f, char *message, size_t offset, size_t n, size_t size)
{
	void *items = calloc(n + 1, size);

	if (items)
		memcpy(message + offset, &items, sizeof items);
	else
		f->failed = err_set(f->err, ERR_INTERNAL, "out of memory for %zu items", n) != 0;
	return items;
}

static void read_array(struct fields *f, const struct row *r, char *message)
{
	json_t *list = field_array(f, r->key, r->least, r->most);
	size_t n = json_array_size(list);
	char *to = message + r->offset;
	int *index = NULL;

	if (f->failed || (r->n_owned && !(to = allocate(f, message, r->offset, n, r->size))) ||
		(r->index && !(index = allocate(f, message, r->index, n, sizeof *index))))
		return;
	if (!is_fixed(r))
		store_int(WIDTH_INT, message + r->count, (int64_t)n);
	for (size_t i = 0; i < n && !f->failed; i++, to += r->size) {
		json_t *v = json_array_get(list, i);
		int result = r->kind == KIND_INTS    ? read_int_item(f, r, v, i, to)
			     : r->kind == KIND_TEXTS ? read_text_item(f, r, v, i, to)
						     : read_object_item(f, r, v, i, to, index);

		f->failed = result != 0;
	}
}

static void read_row(struct fields *f, const struct row *r, char *message)
{
	char *to = message + r->offset;

	if (r->need != REQUIRED && !field_has(f, r->key)) {
		set_absent(r, to);
		return;
	}
	switch (r->kind) {
	case KIND_INT:
		store_int(r->width, to, r->width == WIDTH_BOOL ? field_bool(f, r->key) : field_int(f, r->key, r->min, r->max));
		break;
	case KIND_ENUM:
		read_enum(f, r, to);
		break;
	case KIND_DOUBLE:
		*(double *)(void *)to = field_double(f, r->key, r->real_min, r->real_max);
		break;
	case KIND_SEED:
		*(uint64_t *)(void *)to = field_u64(f, r->key);
		break;
	case KIND_TOKEN:
		read_token(f, r, to);
		break;
	case KIND_DIGEST:
		field_digest(f, r->key, r->is_sha256, r->may_be_empty, to);
		break;
	case KIND_TEXT:
		field_text(f, r->key, to, r->size);
		break;
	case KIND_LINES:
		field_lines(f, r->key, to, r->size);
		break;
	case KIND_CHOICE:
		field_choice(f, r->key, r->choices, to, r->size);
		break;
	case KIND_INTS:
	case KIND_TEXTS:
	case KIND_LIST:
		read_array(f, r, message);
		break;
	case KIND_OBJECT:
		table_read_object(f, r->key, r->table, to);
		break;
	case KIND_CUSTOM:
		if (r->read(f, r, message) != 0)
			f->failed = true;
		break;
	}
}

int table_read(struct fields *f, const struct row *table, void *into)
{
	const struct row *r = table;

	for (; r->key && !f->failed; r++)
		read_row(f, r, into);
	if (!f->failed && r->check && r->check(f, into) != 0)
		f->failed = true;
	return f->failed ? -1 : 0;
}

int table_read_object(struct fields *f, const char *key, const struct row *table, void *into)
{
	json_t *object = field_object(f, key);
	struct fields in;

	if (!object)
		return -1;
	field_begin(&in, object, f->err, "%.40s.%s", f->where, key);
	if (table_read(&in, table, into) != 0)
		f->failed = true;
	return f->failed ? -1 : 0;
}

/* ---- writer ---- */

static bool is_written(const struct row *r, const char *message);

static bool is_absent(const struct row *r, const char *message)
{
	const char *from = message + r->offset;

	if (r->kind <= KIND_DOUBLE) {
		double v = r->kind == KIND_DOUBLE ? load_double(from) : (double)load_int(r->width, from);

		return !(v >= 0) || v == r->absent;
	}
	if (r->kind >= KIND_TOKEN && r->kind <= KIND_CHOICE)
		return !from[0];
	if (r->kind == KIND_OBJECT) {
		const struct row *in = r->table;

		while (in->key && !is_written(in, from))
			in++;
		return !in->key;
	}
	return (r->kind == KIND_TEXTS || r->kind == KIND_LIST) && count_items(r, message) == 0;
}

static bool is_written(const struct row *r, const char *message)
{
	if (!r->gate)
		return r->need != SPARSE || !is_absent(r, message);
	const char *at = message + r->gate - 1;
	double v = r->gate_width == WIDTH_DOUBLE ? load_double(at) : (double)load_int(r->gate_width, at);

	return r->gate_value ? v == r->gate_value : v > 0;
}

static void write_array(struct jsonw *j, const struct row *r, const char *message)
{
	const char *item = r->n_owned ? load_pointer(message + r->offset) : message + r->offset;
	const int *index = r->index ? load_pointer(message + r->index) : NULL;

	jsonw_array(j);
	for (int i = 0, n = count_items(r, message); i < n; i++, item += r->size) {
		if (r->kind == KIND_INTS) {
			jsonw_int(j, load_int(WIDTH_INT, item));
			continue;
		}
		if (r->kind == KIND_TEXTS) {
			jsonw_string(j, item);
			continue;
		}
		jsonw_object(j);
		if (index)
			jsonw_kv_int(j, "i", index[i]);
		table_write(j, r->table, item);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void write_int(struct jsonw *j, const struct row *r, int64_t v)
{
	if (r->kind == KIND_ENUM)
		jsonw_string(j, v >= 0 && v <= r->max ? r->choices[v] : "");
	else if (r->width == WIDTH_BOOL)
		jsonw_bool(j, v != 0);
	else
		jsonw_int(j, v);
}

static void write_value(struct jsonw *j, const struct row *r, const char *message)
{
	const char *from = message + r->offset;
	char text[24];

	switch (r->kind) {
	case KIND_INT:
	case KIND_ENUM:
		write_int(j, r, load_int(r->width, from));
		break;
	case KIND_DOUBLE:
		jsonw_double(j, load_double(from));
		break;
	case KIND_SEED:
		snprintf(text, sizeof text, "%" PRIu64, (uint64_t)load_int(WIDTH_LONG, from));
		jsonw_string(j, text);
		break;
	case KIND_INTS:
	case KIND_TEXTS:
	case KIND_LIST:
		write_array(j, r, message);
		break;
	case KIND_OBJECT:
		table_write_object(j, r->table, from);
		break;
	default: /* all kinds that are stored as text */
		jsonw_string(j, from);
		break;
	}
}

void table_write(struct jsonw *j, const struct row *table, const void *from)
{
	for (const struct row *r = table; r->key; r++) {
		if (!is_written(r, from))
			continue;
		if (r->kind == KIND_CUSTOM) {
			r->write(j, r, from);
			continue;
		}
		jsonw_key(j, r->key);
		if (r->need == NULLABLE && is_absent(r, from))
			jsonw_null(j);
		else
			write_value(j, r, from);
	}
}

void table_write_object(struct jsonw *j, const struct row *table, const void *from)
{
	jsonw_object(j);
	table_write(j, table, from);
	jsonw_object_end(j);
}
