/* ffa.c - parser of MagiAttention's CSV files. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

/* Values for a missing time. */
enum { OUT_OF_MEMORY = -1, NOT_SUPPORTED = -2 };

static int leave_absent(struct reading *out, const char *key, double value, struct fw_err *err)
{
	return reading_skip(
		out, key, err, "%s", value == OUT_OF_MEMORY ? "-1: out of memory, or not measured" : "-2: not supported");
}

struct ffa_columns {
	int tokens, direction, latency, tflops;
	int mask;                                                                      /* dense, else -1 */
	int ratio, q_block, k_block, kblockm, kblockn, swap_ab, pack_gqa, sparse_load; /* block-sparse, or -1 */
};

static int ffa_find(const struct csv *c, const struct table_header *h, struct ffa_columns *f, struct fw_err *err)
{
	f->tokens = table_require_column(c, h, "seqlen", err);
	f->direction = table_require_column(c, h, "direction", err);
	f->latency = table_require_column(c, h, "latency_ms", err);
	f->tflops = table_column(h, "tflops_per_sec");
	f->mask = table_column(h, "mask_type");
	f->ratio = table_column(h, "sparsity_ratio");
	f->q_block = table_column(h, "q_block_size") >= 0 ? table_column(h, "q_block_size") : table_column(h, "block_size");
	f->k_block = table_column(h, "k_block_size") >= 0 ? table_column(h, "k_block_size") : f->q_block;
	f->kblockm = table_column(h, "kblockm");
	f->kblockn = table_column(h, "kblockn");
	f->swap_ab = table_column(h, "swap_ab");
	f->pack_gqa = table_column(h, "pack_gqa");
	f->sparse_load = table_column(h, "sparse_load");
	if (f->tokens < 0 || f->direction < 0 || f->latency < 0)
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

/* Only unusual settings enter a key, so that old and new files name a case alike. */
static void ffa_key(const struct csv *c, const struct ffa_columns *f, const char *direction, char key[TABLE_KEY_SIZE])
{
	if (f->mask >= 0) {
		snprintf(key, TABLE_KEY_SIZE, "ffa/dense/%s/s%s/%s", c->cell[f->mask], c->cell[f->tokens], direction);
		return;
	}
	const char *q = c->cell[f->q_block], *k = c->cell[f->k_block];
	double ratio;
	char shown[32];

	if (reading_number(c->cell[f->ratio], &ratio)) /* 0.1000 and 0.1 are one case */
		snprintf(shown, sizeof shown, "%g", ratio);
	else
		snprintf(shown, sizeof shown, "%.20s", c->cell[f->ratio]);
	bool square = strcmp(q, k) == 0;
	bool known = f->kblockm >= 0 && f->kblockn >= 0 && c->cell[f->kblockm][0] != '-' && c->cell[f->kblockn][0] != '-';
	bool tiled = known && (strcmp(c->cell[f->kblockm], q) != 0 || strcmp(c->cell[f->kblockn], k) != 0);

	snprintf(key, TABLE_KEY_SIZE, "ffa/block_sparse/s%s/r%s/b%s%s%s%s%s%s%s%s%s%s/%s", c->cell[f->tokens], shown, q,
		square ? "" : "x", square ? "" : k, tiled ? "/tile" : "", tiled ? c->cell[f->kblockm] : "", tiled ? "x" : "",
		tiled ? c->cell[f->kblockn] : "", is_true(c, f->swap_ab) ? "/swap_ab" : "",
		is_true(c, f->pack_gqa) ? "/pack_gqa" : "", is_true(c, f->sparse_load) ? "/sparse_load" : "", direction);
}

static int ffa_row(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct ffa_columns *f = columns;
	const char *word = c->cell[f->direction];
	bool forward = strcmp(word, "fwd") == 0 || strcmp(word, "forward") == 0;
	bool known = forward || strcmp(word, "bwd") == 0 || strcmp(word, "backward") == 0;
	double ms, tflops = NAN;
	char key[TABLE_KEY_SIZE], where[TABLE_POSITION_SIZE];

	(void)h;
	ffa_key(c, f, forward ? "forward" : known ? "backward" : word, key);
	if (!known)
		return reading_skip(out, key, err, "the direction `%.20s` is neither fwd nor bwd", word);
	if (!reading_number(c->cell[f->latency], &ms))
		return reading_skip(out, key, err, "`%.20s` is not a number", c->cell[f->latency]);
	if (ms == OUT_OF_MEMORY)
		return leave_absent(out, key, ms, err);
	if (!reading_is_time(ms))
		return reading_skip(out, key, err, "%g ms is not a time", ms);
	if (f->tflops >= 0 && !reading_number(c->cell[f->tflops], &tflops))
		tflops = NAN;
	return reading_add(out, key, ms, tflops, table_position(where, c, "latency_ms"), err);
}

static int read_profile(struct reading *out, struct csv *c, const struct table_header *h, struct fw_err *err)
{
	struct ffa_columns f;

	return ffa_find(c, h, &f, err) != 0 ? -1 : table_each(out, c, h, ffa_row, &f, err);
}

/* "seqlen,fa3,ffa": sizes, then TFLOP/s of one implementation a column. Only sizes that its scripts vary can be first. */
static bool is_flops(const struct table_header *h)
{
	static const char *const swept[] = { "seqlen", "sparsity_ratio", "topk", "ratio" };
	bool known = false;

	for (size_t i = 0; i < sizeof swept / sizeof swept[0]; i++)
		known = known || strcmp(h->name[0], swept[i]) == 0;
	return known && h->n >= 2 && table_column(h, "direction") < 0 && table_column(h, "latency_ms") < 0;
}

/* mem.csv in the same folder has the same columns, with no speeds. */
static int check_flops_name(const struct csv *c, struct fw_err *err)
{
	const char *slash = strrchr(c->file, '/'), *name = slash ? slash + 1 : c->file;

	return strncmp(name, "mem", 3) != 0
		       ? 0
		       : err_set(err, ERR_INVALID, "%s: holds peak memory and no times; give flops.csv", c->file);
}

static int flops_cell(
	struct reading *out, const struct csv *c, const struct table_header *h, int i, const char *key, struct fw_err *err)
{
	char where[TABLE_POSITION_SIZE];
	double tflops, ms, same;
	const char *suffix;

	if (!c->cell[i][0])
		return reading_skip(out, key, err, "empty");
	if (!reading_number(c->cell[i], &tflops))
		return reading_skip(out, key, err, "`%.20s` is not a number", c->cell[i]);
	if (tflops == OUT_OF_MEMORY || tflops == NOT_SUPPORTED)
		return leave_absent(out, key, tflops, err);
	(void)unit_convert(tflops, "TFLOPS", &ms, &same, &suffix);
	if (!reading_is_time(ms))
		return reading_skip(out, key, err, "%g TFLOP/s is not a rate", tflops);
	return reading_add(out, key, ms, tflops, table_position(where, c, h->name[i]), err);
}

static int flops_row(struct reading *out, const struct csv *c, const struct table_header *h, const void *arg, struct fw_err *err)
{
	char key[TABLE_KEY_SIZE], size[64];
	double x;

	(void)arg;
	if (reading_number(c->cell[0], &x)) /* 4096.0 and 4096 are one case */
		snprintf(size, sizeof size, "%.15g", x);
	else
		snprintf(size, sizeof size, "%.60s", c->cell[0]);
	for (int i = 1; i < h->n; i++) {
		snprintf(key, sizeof key, "%s/%s=%s/per-TFLOP", h->name[i], h->name[0], size);
		if (flops_cell(out, c, h, i, key, err))
			return -1;
	}
	return 0;
}

int read_ffa(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct csv c;

	(void)how;
	csv_init(&c, text, len, file);
	int result = table_header_read(&c, &h, err);

	if (result == 0)
		result = !is_flops(&h)                    ? read_profile(out, &c, &h, err)
			 : check_flops_name(&c, err) != 0 ? -1
							  : table_each(out, &c, &h, flops_row, NULL, err);
	csv_fini(&c);
	return result;
}
