/* ffa_compare.c - join of two profiles. */
#include "readers/readers.h"

#include <math.h>
#include <stdlib.h>

#include "lib/lib.h"

static const char *const settings[] = { "swap_ab", "pack_gqa", "sparse_load", "kblockm", "kblockn" };
enum { SETTINGS = sizeof settings / sizeof settings[0] };

struct table {
	const char *name;
	int n_columns, n_rows;
	struct buf text, at;                                  /* at: size_t of each cell, header first */
	int mask, tokens, direction, ratio, q_block, k_block; /* columns; -1: none */
	int setting[SETTINGS];
};

static const char *cell(const struct table *t, int row, int column)
{
	size_t at;
	memcpy(&at, t->at.data + sizeof at * ((size_t)(row + 1) * (size_t)t->n_columns + (size_t)column), sizeof at);
	return t->text.data + at;
}

static int column_of(const struct table *t, const char *name)
{
	for (int i = 0; i < t->n_columns; i++)
		if (strcmp(cell(t, -1, i), name) == 0)
			return i;
	return -1;
}

static int find_columns(struct table *t, struct fw_err *err)
{
	t->mask = column_of(t, "mask_type");
	t->tokens = column_of(t, "seqlen");
	t->direction = column_of(t, "direction");
	t->ratio = column_of(t, "sparsity_ratio");
	t->q_block = column_of(t, "q_block_size") >= 0 ? column_of(t, "q_block_size") : column_of(t, "block_size");
	t->k_block = column_of(t, "k_block_size") >= 0 ? column_of(t, "k_block_size") : t->q_block;
	for (int i = 0; i < SETTINGS; i++)
		t->setting[i] = column_of(t, settings[i]);
	if (t->tokens < 0 || t->direction < 0 || (t->mask < 0 && (t->ratio < 0 || t->q_block < 0)))
		return err_set(err, ERR_INVALID,
			"%s:1: is not a profile: it needs the columns seqlen and direction, with mask_type (dense) or with "
			"sparsity_ratio and "
			"q_block_size (block-sparse)",
			t->name);
	return 0;
}

static int read_table(struct table *t, const struct ffa_file *file, struct fw_err *err)
{
	struct csv c;
	int got;
	*t = (struct table){ .name = file->name, .n_rows = -1 };
	buf_init(&t->text, 2 * file->len + 64);
	buf_init(&t->at, sizeof(size_t) * (file->len + 64));
	csv_init(&c, file->text, file->len, file->name);
	while ((got = csv_next(&c, err)) == 1) {
		if (t->n_rows >= 0 && c.n != t->n_columns) {
			got = err_set(err, ERR_INVALID, "%s:%d: has %d cells, the header has %d; is the file cut off?", c.file,
				c.line, c.n, t->n_columns);
			break;
		}
		t->n_columns = c.n;
		t->n_rows++;
		for (int i = 0; i < c.n; i++) {
			buf_append(&t->at, &t->text.len, sizeof t->text.len);
			buf_append(&t->text, c.cell[i], strlen(c.cell[i]) + 1);
		}
	}
	csv_fini(&c);
	if (got == 0 && (t->text.is_out_of_memory || t->at.is_out_of_memory))
		got = err_memory(err, "cannot read %s", t->name);
	if (got == 0 && (t->text.failed || t->at.failed))
		got = err_set(err, ERR_FULL, "%s: is too large", t->name);
	if (got == 0 && t->n_rows < 0)
		got = err_set(err, ERR_INVALID, "%s: is empty; its first line must name the columns", t->name);
	return got < 0 ? -1 : find_columns(t, err);
}

static void free_table(struct table *t)
{
	buf_fini(&t->text);
	buf_fini(&t->at);
}

/* NAN: the text is not a number, or a missing value. */
static double number(const char *text)
{
	char *end;
	double v = strtod(text, &end);
	return end != text && !*end && isfinite(v) && v != -1 ? v : NAN;
}

/* 0.1000 and 0.1 are one value. */
static bool same(const struct table *a, int row, int column, const struct table *b, int other, int counterpart)
{
	if (column < 0 || counterpart < 0)
		return column < 0 && counterpart < 0;
	const char *x = cell(a, row, column), *y = cell(b, other, counterpart);
	return strcmp(x, y) == 0 || number(x) == number(y);
}

static bool same_case(const struct table *a, int row, const struct table *b, int other, bool with_settings)
{
	if (!same(a, row, a->mask, b, other, b->mask) || !same(a, row, a->tokens, b, other, b->tokens) ||
		!same(a, row, a->direction, b, other, b->direction) || !same(a, row, a->ratio, b, other, b->ratio) ||
		!same(a, row, a->q_block, b, other, b->q_block) || !same(a, row, a->k_block, b, other, b->k_block))
		return false;
	for (int i = 0; i < SETTINGS && with_settings; i++)
		if (a->setting[i] >= 0 && b->setting[i] >= 0 && !same(a, row, a->setting[i], b, other, b->setting[i]))
			return false;
	return true;
}

static bool needs_settings(const struct table *t)
{
	for (int i = 0; i < t->n_rows; i++)
		for (int k = 0; k < i; k++)
			if (same_case(t, i, t, k, false))
				return true;
	return false;
}

static bool is_square(const struct table *t)
{
	for (int i = 0; i < t->n_rows; i++)
		if (!same(t, i, t->q_block, t, i, t->k_block))
			return false;
	return true;
}

/* Columns that identify a row of the comparison, in their order. Shape: key[4 + SETTINGS]; returns their number. */
static int key_columns(const struct table *t, bool square, bool with_settings, int *key, const char **name)
{
	int n = 0;
	if (t->mask >= 0) {
		key[n] = t->mask, name[n++] = "mask_type";
		key[n] = t->direction, name[n++] = "direction";
		key[n] = t->tokens, name[n++] = "seqlen";
		return n;
	}
	key[n] = t->tokens, name[n++] = "seqlen";
	key[n] = t->ratio, name[n++] = "sparsity_ratio";
	key[n] = t->q_block, name[n++] = square ? "block_size" : "q_block_size";
	if (!square)
		key[n] = t->k_block, name[n++] = "k_block_size";
	for (int i = 0; i < SETTINGS && with_settings; i++)
		if (t->setting[i] >= 0)
			key[n] = t->setting[i], name[n++] = settings[i];
	key[n] = t->direction, name[n++] = "direction";
	return n;
}

/* Results begin with the throughput in a dense file, and with the latency in a block-sparse one. */
static int first_figure(const struct table *t)
{
	int tflops = t->mask >= 0 ? column_of(t, "tflops_per_sec") : -1, latency = column_of(t, "latency_ms");
	return tflops >= 0 ? tflops : latency >= 0 ? latency : t->n_columns;
}

static void put_pair(struct buf *out, const char *base, const char *target, const char *unknown)
{
	double a = number(base), b = number(target);
	buf_putc(out, ',');
	csv_field(out, base);
	buf_putc(out, ',');
	csv_field(out, target);
	buf_putc(out, ',');
	if (a > 0 && b > 0)
		buf_printf(out, "%.4f", 100 * (b - a) / a);
	else if (*base && *target)
		buf_puts(out, unknown);
}

static int compare(const struct table *a, const struct table *b, const char *unknown, struct buf *out)
{
	bool with_settings = needs_settings(a) || needs_settings(b), square = is_square(a) && is_square(b);
	const char *name[5 + SETTINGS];
	int key[5 + SETTINGS], n_keys = key_columns(a, square, with_settings, key, name), first = first_figure(a), rows = 0;
	for (int i = 0; i < n_keys; i++)
		buf_printf(out, "%s%s", i ? "," : "", name[i]);
	for (int i = first; i < a->n_columns; i++)
		for (int k = 0; k < 3 && column_of(b, cell(a, -1, i)) >= 0; k++) {
			static const char *const ends[] = { "_baseline", "_target", "_improvement(%)" };
			buf_putc(out, ',');
			csv_field(out, cell(a, -1, i));
			buf_puts(out, ends[k]);
		}
	buf_putc(out, '\n');
	for (int row = 0; row < a->n_rows; row++) {
		int other = 0;
		while (other < b->n_rows && !same_case(a, row, b, other, with_settings))
			other++;
		if (other == b->n_rows)
			continue;
		rows++;
		for (int i = 0; i < n_keys; i++) {
			if (i)
				buf_putc(out, ',');
			csv_field(out, cell(a, row, key[i]));
		}
		for (int i = first; i < a->n_columns; i++) {
			int counterpart = column_of(b, cell(a, -1, i));
			if (counterpart >= 0)
				put_pair(out, cell(a, row, i), cell(b, other, counterpart), unknown);
		}
		buf_putc(out, '\n');
	}
	return rows;
}

int ffa_compare(const struct ffa_file *base, const struct ffa_file *target, const char *unknown, struct buf *out, int *rows,
	struct fw_err *err)
{
	struct table a = { 0 }, b = { 0 };
	int result = read_table(&a, base, err) || read_table(&b, target, err) ? -1 : 0;
	if (result == 0 && (a.mask < 0) != (b.mask < 0))
		result = err_set(err, ERR_INVALID, "%s is %s and %s is %s; only files of one kind compare", base->name,
			a.mask < 0 ? "block-sparse" : "dense", target->name, b.mask < 0 ? "block-sparse" : "dense");
	if (result == 0)
		*rows = compare(&a, &b, unknown, out);
	if (result == 0 && out->is_out_of_memory)
		result = err_memory(err, "cannot compare %s and %s", base->name, target->name);
	if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the comparison of %s and %s does not fit", base->name, target->name);
	free_table(&a);
	free_table(&b);
	return result;
}
