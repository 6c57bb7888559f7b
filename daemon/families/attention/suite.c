/* suite.c - keys of an attention suite: common, varlen, dense and block_sparse, whose lists are combined into cases. */
#include <limits.h>
#include <stdlib.h>

#include "families/attention/attention.h"

enum { PLAIN_MAX = 400 };

/* Values of the file, before they are combined into cases. */
struct draft {
	struct reader *r;
	int64_t nhq, nhk, headdim;
	int n_full, n_causal; /* 0: not given */
	int32_t full[ATTENTION_SEQS_MAX], causal[ATTENTION_SEQS_MAX];
	int n_plain; /* listed cases with a full mask and one sequence */
	int32_t plain[PLAIN_MAX];
};

static void read_common(struct draft *d, struct yaml_node *root)
{
	static const char *const dtypes[] = { "bf16", NULL };
	struct yaml_node *map = yaml_get(d->r->y, root, "common");

	reader_require(d->r->y, root, map, "common");
	if (yaml_map(d->r->y, map, 0, INT_MAX, "must be a mapping of nhq, nhk, headdim and dtype") < 0)
		return;
	struct yaml_node *nhq = yaml_get(d->r->y, map, "nhq"), *nhk = yaml_get(d->r->y, map, "nhk");
	struct yaml_node *headdim = yaml_get(d->r->y, map, "headdim"), *dtype = yaml_get(d->r->y, map, "dtype");

	reader_require(d->r->y, map, nhq, "nhq");
	reader_require(d->r->y, map, nhk, "nhk");
	reader_require(d->r->y, map, headdim, "headdim");
	yaml_int(d->r->y, nhq, 1, 512, &d->nhq);
	yaml_int(d->r->y, nhk, 1, 512, &d->nhk);
	yaml_int(d->r->y, headdim, 8, 512, &d->headdim);
	if (dtype)
		reader_word(d->r->y, dtype, dtypes, "bf16");
	yaml_finish(d->r->y, map);
}

static void read_varlen(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *map = yaml_get(d->r->y, root, "varlen");

	if (yaml_map(d->r->y, map, 0, INT_MAX, "must be a mapping of full and causal to lists of sequence lengths") < 0)
		return;
	struct yaml_node *full = yaml_get(d->r->y, map, "full"), *causal = yaml_get(d->r->y, map, "causal");

	d->n_full = reader_ints(d->r, full, ATTENTION_SEQS_MAX, 1 << 20, d->full);
	d->n_causal = reader_ints(d->r, causal, ATTENTION_SEQS_MAX, 1 << 20, d->causal);
	if (d->n_full == 1)
		yaml_mistake(d->r->y, full, "one sequence is the mask \"full\"; give at least two lengths");
	if (d->n_causal == 1)
		yaml_mistake(d->r->y, causal, "one sequence is the mask \"causal\"; give at least two lengths");
	yaml_finish(d->r->y, map);
}

static void keep_case(struct draft *d, struct yaml_node *at, const struct attention_case *a)
{
	if (a->mask == FW_FULL && a->n_seqs == 1 && d->n_plain < PLAIN_MAX)
		d->plain[d->n_plain++] = a->seqlen;
	reader_add(d->r, at, a);
}

static struct attention_case start_case(const struct draft *d, int32_t mask, int32_t seqlen)
{
	struct attention_case a = {
		.mask = mask,
		.seqlen = seqlen,
		.nhq = (int32_t)d->nhq,
		.nhk = (int32_t)d->nhk,
		.headdim = (int32_t)d->headdim,
		.dtype = FW_BF16,
		.n_seqs = 1,
	};

	a.length[0] = seqlen;
	return a;
}

/* Set the lengths of `a` from the varlen list for its mask. */
static int use_lengths(struct draft *d, struct yaml_node *at, struct attention_case *a)
{
	bool causal = a->mask == FW_CAUSAL;
	const int32_t *length = causal ? d->causal : d->full;
	const char *name = causal ? "causal" : "full";
	int n = causal ? d->n_causal : d->n_full;
	int64_t sum = 0;

	if (n == 0) {
		yaml_mistake(d->r->y, at, "mask varlen_%s needs the list varlen.%s", name, name);
		return -1;
	}
	for (int i = 0; i < n; i++)
		sum += length[i];
	if (sum != a->seqlen) {
		yaml_mistake(
			d->r->y, at, "the lengths in varlen.%s sum to %lld, but seqlen is %d", name, (long long)sum, a->seqlen);
		return -1;
	}
	a->n_seqs = n;
	memcpy(a->length, length, (size_t)n * sizeof *length);
	return 0;
}

/* Make a batch of equal sequences, each with the length of `a`. The check of the case rejects a total that is too long. */
static void use_batch(struct attention_case *a, int32_t batch)
{
	for (int32_t i = 0; i < batch; i++)
		a->length[i] = a->seqlen;
	a->n_seqs = batch;
	a->seqlen *= batch;
}

static void read_dense(struct draft *d, struct yaml_node *root)
{
	static const char *const words[] = { "full", "causal", "varlen_full", "varlen_causal", NULL };
	struct yaml_node *map = yaml_get(d->r->y, root, "dense");
	int32_t seqlen[READER_LIST_MAX];

	if (yaml_map(d->r->y, map, 0, INT_MAX, "must be a mapping of seqlens and masks") < 0)
		return;
	struct yaml_node *seqlens = yaml_get(d->r->y, map, "seqlens"), *masks = yaml_get(d->r->y, map, "masks");
	int n = reader_ints(d->r, seqlens, READER_LIST_MAX, 1 << 20, seqlen);
	int64_t batch = 1;

	yaml_int(d->r->y, yaml_get(d->r->y, map, "batch"), 1, ATTENTION_SEQS_MAX, &batch);
	reader_require(d->r->y, map, seqlens, "seqlens");
	reader_require(d->r->y, map, masks, "masks");
	int n_masks = yaml_list(d->r->y, masks, 1, READER_LIST_MAX, "must be a list of masks");

	for (int s = 0; s < n; s++)
		for (int m = 0; m < n_masks; m++) {
			struct yaml_node *at = yaml_item(d->r->y, masks, m);
			int which = reader_word(d->r->y, at, words, "full, causal, varlen_full or varlen_causal");

			if (which < 0)
				continue;
			struct attention_case a = start_case(d, which & 1 ? FW_CAUSAL : FW_FULL, seqlen[s]);

			if (which < 2)
				use_batch(&a, (int32_t)batch);
			if (which < 2 || use_lengths(d, at, &a) == 0)
				keep_case(d, yaml_item(d->r->y, seqlens, s), &a);
		}
	yaml_finish(d->r->y, map);
}

/* Add the full mask with which sparse ones of this length are compared, unless it is listed already. */
static void add_dense_reference(struct draft *d, struct yaml_node *at, int32_t seqlen)
{
	struct attention_case a = start_case(d, FW_FULL, seqlen);

	for (int i = 0; i < d->n_plain; i++)
		if (d->plain[i] == seqlen)
			return;
	keep_case(d, at, &a);
}

/* Without a list the pattern is uniform. Shape: out[PATTERNS]. Returns the number of patterns. */
static int read_patterns(struct yaml *y, struct yaml_node *list, enum pattern *out)
{
	int n = 0,
	    count = yaml_list(y, list, 1, PATTERNS, "must be a list of uniform, banded, strided, random_tokens and bigbird");

	for (int i = 0; i < count; i++) {
		int which = reader_word(
			y, yaml_item(y, list, i), pattern_names, "uniform, banded, strided, random_tokens or bigbird");

		if (which >= 0)
			out[n++] = (enum pattern)which;
	}
	return list ? n : 1;
}

static void read_sparse_map(struct draft *d, struct yaml_node *map)
{
	int32_t seqlen[READER_LIST_MAX], block[READER_LIST_MAX];
	double ratio[READER_LIST_MAX];

	if (yaml_map(d->r->y, map, 0, INT_MAX,
		    "must be a mapping of seqlens, sparsity_ratios and block_sizes, or a list of such") < 0)
		return;
	struct yaml_node *seqlens = yaml_get(d->r->y, map, "seqlens"), *ratios = yaml_get(d->r->y, map, "sparsity_ratios");
	struct yaml_node *blocks = yaml_get(d->r->y, map, "block_sizes"), *patterns = yaml_get(d->r->y, map, "pattern");
	enum pattern pattern[PATTERNS] = { PATTERN_UNIFORM };
	struct yaml_node *reference = yaml_get(d->r->y, map, "dense_reference");
	bool want_dense = false;

	yaml_bool(d->r->y, reference, &want_dense);
	int n_patterns = read_patterns(d->r->y, patterns, pattern);
	int n_seqlens = reader_ints(d->r, seqlens, READER_LIST_MAX, 1 << 20, seqlen);
	int n_ratios = reader_shares(d->r, ratios, ratio);
	int n_blocks = reader_ints(d->r, blocks, READER_LIST_MAX, 1 << 20, block);

	reader_require(d->r->y, map, seqlens, "seqlens");
	reader_require(d->r->y, map, ratios, "sparsity_ratios");
	reader_require(d->r->y, map, blocks, "block_sizes");
	for (int s = 0; s < n_seqlens && want_dense; s++)
		add_dense_reference(d, yaml_item(d->r->y, seqlens, s), seqlen[s]);
	for (int s = 0; s < n_seqlens; s++)
		for (int r = 0; r < n_ratios; r++)
			for (int b = 0; b < n_blocks; b++)
				for (int p = 0; p < n_patterns; p++) {
					struct attention_case a = start_case(d, FW_BLOCKS, seqlen[s]);

					a.block = block[b];
					a.sparsity_ratio = ratio[r];
					a.pattern = pattern[p];
					keep_case(d, yaml_item(d->r->y, blocks, b), &a);
				}
	yaml_finish(d->r->y, map);
}

/* One mapping, or a list of mappings; only lists within one mapping are combined. */
static void read_block_sparse(struct draft *d, struct yaml_node *root)
{
	struct yaml_node *sparse = yaml_get(d->r->y, root, "block_sparse");

	if (!sparse)
		return;
	if (!yaml_is_list(sparse)) {
		read_sparse_map(d, sparse);
		return;
	}
	if (yaml_count(sparse) < 1 || yaml_count(sparse) > READER_LIST_MAX)
		yaml_mistake(d->r->y, sparse, "must be a list of 1 to %d mappings", READER_LIST_MAX);
	for (int i = 0; i < yaml_count(sparse) && i < READER_LIST_MAX; i++)
		read_sparse_map(d, yaml_item(d->r->y, sparse, i));
}

bool attention_read(struct reader *r, struct yaml_node *root)
{
	struct draft *d = mem_alloc_zero(1, sizeof *d);
	bool whole = false;

	d->r = r;
	read_common(d, root);
	read_varlen(d, root);
	if (d->nhq && d->nhk && d->headdim) { /* else every case would report the missing key of common */
		read_dense(d, root);
		read_block_sparse(d, root);
		whole = true;
	}
	free(d);
	return whole;
}
