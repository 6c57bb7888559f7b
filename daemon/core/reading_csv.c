/* reading_csv.c - see reading_csv.h. The header decides what a column means; its order is the writer's business. */
#include "core/reading_csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/csv.h"

enum { KEY_SIZE = 2048, NAME_SIZE = 160, UNIT_SIZE = 32 };

/* The header's names, kept while rows are read. */
struct header {
	int n;
	char name[CSV_COLUMNS_MAX][NAME_SIZE];
};

static int read_header(struct csv *c, struct header *h, struct fw_err *err)
{
	int got = csv_next(c, err);

	if (got < 0)
		return -1;
	if (got == 0)
		return err_set(err, ERR_INVALID, "%s: is empty; its first line must name the columns", c->file);
	h->n = c->n;
	for (int i = 0; i < c->n; i++)
		snprintf(h->name[i], NAME_SIZE, "%s", c->cell[i]);
	return 0;
}

static int column(const struct header *h, const char *name)
{
	for (int i = 0; i < h->n; i++)
		if (strcmp(h->name[i], name) == 0)
			return i;
	return -1;
}

static int need_column(const struct csv *c, const struct header *h, const char *name, struct fw_err *err)
{
	int at = column(h, name);

	return at >= 0 ? at : err_set(err, ERR_INVALID, "%s:1: has no column %s", c->file, name);
}

/* The next row with as many cells as the header. 1, 0, -1. */
static int next_row(struct csv *c, const struct header *h, struct fw_err *err)
{
	int got = csv_next(c, err);

	if (got == 1 && c->n != h->n)
		return err_set(err, ERR_INVALID, "%s:%d: has %d cells, the header has %d; is the file cut off?", c->file, c->line,
			c->n, h->n);
	return got;
}

static bool number(const char *text, double *value)
{
	char *end;

	*value = strtod(text, &end);
	while (*end == ' ')
		end++;
	return end != text && !*end && isfinite(*value);
}

static const char *place(char out[KEY_SIZE], const struct csv *c, const char *name)
{
	snprintf(out, KEY_SIZE, "%.500s:%d: column %s", c->file, c->line, name);
	return out;
}

/* ---- FFA ----------------------------------------------------------------------------------------------------------------- */

struct ffa_columns {
	int seqlen, direction, latency, tflops;
	int mask;                                                                      /* dense, else -1 */
	int ratio, q_block, k_block, kblockm, kblockn, swap_ab, pack_gqa, sparse_load; /* block-sparse, or -1 */
};

static int ffa_find(const struct csv *c, const struct header *h, struct ffa_columns *f, struct fw_err *err)
{
	f->seqlen = need_column(c, h, "seqlen", err);
	f->direction = need_column(c, h, "direction", err);
	f->latency = need_column(c, h, "latency_ms", err);
	f->tflops = column(h, "tflops_per_sec");
	f->mask = column(h, "mask_type");
	f->ratio = column(h, "sparsity_ratio");
	f->q_block = column(h, "q_block_size") >= 0 ? column(h, "q_block_size") : column(h, "block_size");
	f->k_block = column(h, "k_block_size") >= 0 ? column(h, "k_block_size") : f->q_block;
	f->kblockm = column(h, "kblockm");
	f->kblockn = column(h, "kblockn");
	f->swap_ab = column(h, "swap_ab");
	f->pack_gqa = column(h, "pack_gqa");
	f->sparse_load = column(h, "sparse_load");
	if (f->seqlen < 0 || f->direction < 0 || f->latency < 0)
		return -1;
	if (f->mask < 0 && (f->ratio < 0 || f->q_block < 0))
		return err_set(err, ERR_INVALID,
			"%s:1: has neither mask_type (dense) nor sparsity_ratio with block_size or q_block_size (block-sparse)",
			c->file);
	return 0;
}

static bool is_true(const struct csv *c, int at)
{
	return at >= 0 && (strcasecmp(c->cell[at], "true") == 0 || strcmp(c->cell[at], "1") == 0);
}

/* Only what differs from the usual settings enters a key, so that old and new files name a case alike. */
static void ffa_key(const struct csv *c, const struct ffa_columns *f, const char *direction, char key[KEY_SIZE])
{
	if (f->mask >= 0) {
		snprintf(key, KEY_SIZE, "ffa/dense/%s/s%s/%s", c->cell[f->mask], c->cell[f->seqlen], direction);
		return;
	}
	const char *q = c->cell[f->q_block], *k = c->cell[f->k_block];
	double ratio;
	char shown[32];

	if (number(c->cell[f->ratio], &ratio)) /* 0.1000 and 0.1 are one case */
		snprintf(shown, sizeof shown, "%g", ratio);
	else
		snprintf(shown, sizeof shown, "%.20s", c->cell[f->ratio]);
	bool square = strcmp(q, k) == 0;
	bool known = f->kblockm >= 0 && f->kblockn >= 0 && c->cell[f->kblockm][0] != '-' && c->cell[f->kblockn][0] != '-';
	bool tiled = known && (strcmp(c->cell[f->kblockm], q) != 0 || strcmp(c->cell[f->kblockn], k) != 0);

	snprintf(key, KEY_SIZE, "ffa/block_sparse/s%s/r%s/b%s%s%s%s%s%s%s%s%s%s/%s", c->cell[f->seqlen], shown, q,
		square ? "" : "x", square ? "" : k, tiled ? "/tile" : "", tiled ? c->cell[f->kblockm] : "", tiled ? "x" : "",
		tiled ? c->cell[f->kblockn] : "", is_true(c, f->swap_ab) ? "/swap_ab" : "",
		is_true(c, f->pack_gqa) ? "/pack_gqa" : "", is_true(c, f->sparse_load) ? "/sparse_load" : "", direction);
}

static int ffa_row(struct reading *out, const struct csv *c, const struct ffa_columns *f, struct fw_err *err)
{
	const char *word = c->cell[f->direction];
	bool forward = strcmp(word, "fwd") == 0 || strcmp(word, "forward") == 0;
	double ms, tflops = NAN;
	char key[KEY_SIZE], where[KEY_SIZE];

	if (!forward && strcmp(word, "bwd") != 0 && strcmp(word, "backward") != 0)
		return err_set(
			err, ERR_INVALID, "%s:%d: column direction: `%.20s` is neither fwd nor bwd", c->file, c->line, word);
	if (!number(c->cell[f->latency], &ms))
		return err_set(err, ERR_INVALID, "%s:%d: column latency_ms: `%.20s` is no number", c->file, c->line,
			c->cell[f->latency]);
	if (ms == -1) { /* how these files write that there is none */
		out->n_skipped++;
		return 0;
	}
	if (f->tflops >= 0 && !number(c->cell[f->tflops], &tflops))
		tflops = NAN;
	ffa_key(c, f, forward ? "forward" : "backward", key);
	return reading_add(out, key, ms, tflops, place(where, c, "latency_ms"), err);
}

int read_ffa(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	struct ffa_columns f;
	struct header h;
	struct csv c;
	int got = 0, rc;

	(void)unit;
	csv_init(&c, text, len, file);
	rc = read_header(&c, &h, err) || ffa_find(&c, &h, &f, err) ? -1 : 0;
	while (rc == 0 && (got = next_row(&c, &h, err)) == 1)
		rc = ffa_row(out, &c, &f, err);
	csv_fini(&c);
	return rc || got < 0 ? -1 : 0;
}

/* ---- Triton -------------------------------------------------------------------------------------------------------------- */

struct triton_columns {
	int n_x; /* leading columns that hold x values */
	char line[CSV_COLUMNS_MAX][NAME_SIZE];
	char unit[CSV_COLUMNS_MAX][UNIT_SIZE];
};

/* "Triton (TFLOPS)" into its two parts. */
static bool split_unit(const char *name, char line[NAME_SIZE], char unit[UNIT_SIZE])
{
	const char *open = strrchr(name, '('), *end = name + strlen(name) - 1;

	if (!open || *end != ')' || open == name || (size_t)(end - open) > UNIT_SIZE || open[-1] != ' ')
		return false;
	snprintf(line, NAME_SIZE, "%.*s", (int)(open - 1 - name), name);
	snprintf(unit, UNIT_SIZE, "%.*s", (int)(end - open - 1), open + 1);
	return true;
}

/* Without units in the header: x are the leading columns of whole numbers in every row, the first in any case. */
static int count_x(const char *text, size_t len, const char *file, const struct header *h, int *n_x, struct fw_err *err)
{
	struct csv c;
	int got;

	*n_x = h->n - 1;
	csv_init(&c, text, len, file);
	got = csv_next(&c, err);
	while (got == 1 && (got = next_row(&c, h, err)) == 1)
		for (int i = 1; i < *n_x; i++) {
			double v;

			if (!number(c.cell[i], &v) || v != floor(v))
				*n_x = i;
		}
	csv_fini(&c);
	return got;
}

static int triton_find(const char *text, size_t len, const char *file, const struct header *h, const char *unit,
	struct triton_columns *t, struct fw_err *err)
{
	t->n_x = -1;
	for (int i = 0; i < h->n; i++)
		if (split_unit(h->name[i], t->line[i], t->unit[i])) {
			if (t->n_x < 0)
				t->n_x = i;
		} else if (t->n_x >= 0) {
			t->line[i][0] = '\0'; /* a column of differences */
		}
	if (t->n_x == 0)
		return err_set(
			err, ERR_INVALID, "%s:1: begins with a column of results; the first columns hold the x values", file);
	if (t->n_x > 0)
		return 0;
	if (h->n < 2)
		return err_set(err, ERR_INVALID, "%s:1: has one column; a report has x values and a column for each line", file);
	if (!unit[0])
		return err_set(err, ERR_INVALID,
			"%s:1: does not say what its numbers are; give a unit (ms, us, ns, s, TFLOPS or GB/s)", file);
	if (count_x(text, len, file, h, &t->n_x, err) < 0)
		return -1;
	for (int i = t->n_x; i < h->n; i++) {
		snprintf(t->line[i], NAME_SIZE, "%s", h->name[i]);
		snprintf(t->unit[i], UNIT_SIZE, "%s", unit);
	}
	return 0;
}

static int triton_row(
	struct reading *out, const struct csv *c, const struct header *h, const struct triton_columns *t, struct fw_err *err)
{
	char x[KEY_SIZE / 2] = "", key[KEY_SIZE], where[KEY_SIZE];
	size_t used = 0;

	for (int i = 0; i < t->n_x && used < sizeof x; i++) {
		double v;
		bool whole = number(c->cell[i], &v) && v == floor(v) && fabs(v) < 1e15;
		int n = whole ? snprintf(x + used, sizeof x - used, "/%s=%.0f", h->name[i], v) /* pandas writes 4096.0 */
			      : snprintf(x + used, sizeof x - used, "/%s=%s", h->name[i], c->cell[i]);

		used += (size_t)n;
	}
	for (int i = t->n_x; i < h->n; i++) {
		double v, ms, tflops;
		const char *suffix;

		if (!t->line[i][0])
			continue;
		if (!c->cell[i][0] || strcasecmp(c->cell[i], "nan") == 0) {
			out->n_skipped++;
			continue;
		}
		if (!number(c->cell[i], &v))
			return err_set(err, ERR_INVALID, "%s: `%.20s` is no number", place(where, c, h->name[i]), c->cell[i]);
		if (reading_convert(v, t->unit[i], &ms, &tflops, &suffix))
			return err_set(err, ERR_INVALID, "%s: the unit `%s` is unknown; use ms, us, ns, s, TFLOPS or GB/s",
				place(where, c, h->name[i]), t->unit[i]);
		snprintf(key, sizeof key, "%s%s%s", t->line[i], x, suffix);
		if (reading_add(out, key, ms, tflops, place(where, c, h->name[i]), err))
			return -1;
	}
	return 0;
}

int read_triton(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	struct triton_columns *t = calloc(1, sizeof *t);
	struct header h;
	struct csv c;
	int got = 0, rc;

	if (!t)
		return err_set(err, ERR_INTERNAL, "out of memory");
	csv_init(&c, text, len, file);
	rc = read_header(&c, &h, err) || triton_find(text, len, file, &h, unit, t, err) ? -1 : 0;
	while (rc == 0 && (got = next_row(&c, &h, err)) == 1)
		rc = triton_row(out, &c, &h, t, err);
	csv_fini(&c);
	free(t);
	return rc || got < 0 ? -1 : 0;
}

/* ---- torchao ------------------------------------------------------------------------------------------------------------- */

/* "baseline_model_eager_inference_time_in_ms" -> "/baseline_model_eager"; NULL for another column, "" for the only one of old files. */
static const char *torchao_series(const char *name, char out[NAME_SIZE + 1])
{
	static const char end[] = "inference_time_in_ms";
	size_t n = strlen(name), m = sizeof end - 1;

	if (n < m || strcmp(name + n - m, end) != 0)
		return NULL;
	size_t keep = n - m;

	if (keep > 0 && name[keep - 1] == '_')
		keep--;
	snprintf(out, NAME_SIZE + 1, "%s%.*s", keep ? "/" : "", (int)keep, name);
	return strcmp(out, "/model") == 0 ? "" : out;
}

static int torchao_row(struct reading *out, const struct csv *c, const struct header *h, struct fw_err *err)
{
	static const char *const parts[] = { "name", "model_type", "quantization", "sparsity", "m", "k", "n",
		"high_precision_dtype", "torch_compile_mode", "device" };
	char key[KEY_SIZE] = "", full[KEY_SIZE + NAME_SIZE], where[KEY_SIZE], series[NAME_SIZE + 1];
	size_t used = 0;

	for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < sizeof key; i++) {
		int at = column(h, parts[i]);
		bool size = strlen(parts[i]) == 1;

		if (at >= 0 && c->cell[at][0] && strcmp(c->cell[at], "None") != 0)
			used += (size_t)snprintf(
				key + used, sizeof key - used, "%s%s%s", used ? "/" : "", size ? parts[i] : "", c->cell[at]);
	}
	for (int i = 0; i < h->n; i++) {
		const char *suffix = torchao_series(h->name[i], series);
		double ms;

		if (!suffix)
			continue;
		if (!number(c->cell[i], &ms))
			return err_set(err, ERR_INVALID, "%s: `%.20s` is no number", place(where, c, h->name[i]), c->cell[i]);
		if (ms == 0) {
			out->n_skipped++;
			continue;
		}
		snprintf(full, sizeof full, "%s%s", key, suffix);
		if (reading_add(out, full, ms, NAN, place(where, c, h->name[i]), err))
			return -1;
	}
	return 0;
}

int read_torchao(struct reading *out, const char *text, size_t len, const char *file, const char *unit, struct fw_err *err)
{
	struct header h;
	struct csv c;
	int got = 0, rc;
	bool times = false;
	char series[NAME_SIZE + 1];

	(void)unit;
	csv_init(&c, text, len, file);
	rc = read_header(&c, &h, err);
	for (int i = 0; rc == 0 && i < h.n; i++)
		times = times || torchao_series(h.name[i], series);
	if (rc == 0 && !times)
		rc = err_set(err, ERR_INVALID, "%s:1: has no column that ends in inference_time_in_ms", file);
	while (rc == 0 && (got = next_row(&c, &h, err)) == 1)
		rc = torchao_row(out, &c, &h, err);
	csv_fini(&c);
	return rc || got < 0 ? -1 : 0;
}
