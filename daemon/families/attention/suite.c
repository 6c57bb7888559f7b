/* suite.c - keys of an attention suite: common, varlen, dense, block_sparse, token_masks and serving, combined into cases. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "families/attention/attention.h"

enum { PLAIN_MAX = 400 };

/* Values of the file, before they are combined into cases. */
struct draft {
	struct reader *r;
	int64_t nhq, nhk, headdim;
	int32_t dtype;
	int n_full, n_causal; /* 0: not given */
	int32_t full[ATTENTION_SEQS_MAX], causal[ATTENTION_SEQS_MAX];
	int n_plain; /* listed cases with a full mask and equal sequences: tokens of a sequence, and their number */
	int32_t plain[PLAIN_MAX], batch[PLAIN_MAX];
	int64_t token_pairs; /* of all token masks */
};

static void read_common(struct draft *d, struct yaml_node *root)
{
	enum { BF16_NAMES = 3 }; /* the first names of dtypes */
	static const char *const dtypes[] = { "bf16", "bfloat16", "torch.bfloat16", "f16", "float16", "torch.float16", NULL };
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
	if (dtype && reader_choice(d->r->y, dtype, dtypes, "bf16 or f16") >= BF16_NAMES)
		d->dtype = FW_F16;
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
	bool is_equal = true;

	for (int i = 1; i < a->n_seqs; i++)
		is_equal = is_equal && a->length[i] == a->length[0];
	if (a->mask == FW_FULL && is_equal && d->n_plain < PLAIN_MAX) {
		d->plain[d->n_plain] = a->length[0];
		d->batch[d->n_plain++] = a->n_seqs;
	}
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
		.dtype = d->dtype,
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
	static const char *const choices[] = { "full", "causal", "varlen_full", "varlen_causal", NULL };
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
			int which = reader_choice(d->r->y, at, choices, "full, causal, varlen_full or varlen_causal");

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

/* Add the full mask with which sparse ones of this length and batch are compared, unless it is listed already. */
static void add_dense_reference(struct draft *d, struct yaml_node *at, int32_t seqlen, int32_t batch)
{
	struct attention_case a = start_case(d, FW_FULL, seqlen);

	for (int i = 0; i < d->n_plain; i++)
		if (d->plain[i] == seqlen && d->batch[i] == batch)
			return;
	use_batch(&a, batch);
	keep_case(d, at, &a);
}

/* Without a list the pattern is uniform. Shape: out[PATTERNS]. Returns the number of patterns. */
static int read_patterns(struct yaml *y, struct yaml_node *list, enum pattern *out)
{
	int n = 0,
	    count = yaml_list(y, list, 1, PATTERNS, "must be a list of uniform, banded, strided, random_tokens and bigbird");

	for (int i = 0; i < count; i++) {
		int which = reader_choice(
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
		add_dense_reference(d, yaml_item(d->r->y, seqlens, s), seqlen[s], 1);
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

/* Set the absolute path of a mask's file, which is relative to the suite's folder. */
static bool use_path(struct draft *d, struct yaml_node *node, struct attention_case *a)
{
	const char *name = NULL;
	char joined[PATH_MAX], real[PATH_MAX];

	if (yaml_string(d->r->y, node, &name) || !name)
		return false;
	if (!d->r->folder) {
		yaml_mistake(d->r->y, node,
			"a mask's file is read from the suite's folder on this machine, which the suite of a commit does not have; "
			"measure it with flopwatch-worker compare --suite, or use kind: random or corner");
		return false;
	}
	snprintf(joined, sizeof joined, "%s%s", name[0] == '/' ? "" : d->r->folder, name);
	if (!realpath(joined, real)) {
		yaml_mistake(d->r->y, node, "the mask %s cannot be read: %s", joined, strerror(errno));
		return false;
	}
	if (strlen(real) >= sizeof a->path) {
		yaml_mistake(d->r->y, node, "the path %s has more than %zu characters; move the file", real, sizeof a->path - 1);
		return false;
	}
	memcpy(a->path, real, strlen(real) + 1);
	return true;
}

/* The elements of a file, by default from the end of its name. */
static bool use_elements(struct draft *d, struct yaml_node *file, struct yaml_node *node, struct attention_case *a)
{
	const char *end = strrchr(a->path, '.');
	int which = -1;

	if (node)
		which = reader_choice(d->r->y, node, token_elements_names, "bits, u8, f16 or f32");
	for (int i = 0; !node && end && token_elements_names[i]; i++)
		if (strcmp(end + 1, token_elements_names[i]) == 0)
			which = i;
	if (which < 0 && !node)
		yaml_mistake(d->r->y, file, "the elements of %s are unknown; add elements: bits, u8, f16 or f32", a->path);
	a->elements = which < 0 ? TOKENS_BITS : (enum token_elements)which;
	return which >= 0;
}

/* The keys of a token mask's source. Returns the node for mistakes about the mask, NULL after a mistake. */
static struct yaml_node *read_source(struct draft *d, struct yaml_node *map, struct attention_case *a)
{
	static const char *const kinds[] = { "random", "corner", "file", NULL };
	struct yaml *y = d->r->y;
	struct yaml_node *kind = yaml_get(y, map, "kind"), *at;
	int64_t n_rows = 0, n_keys = 0;
	int which = kind ? reader_choice(y, kind, kinds, "random, corner or file") : 2;

	if (which < 0)
		return NULL;
	a->source = (enum token_source)(which + TOKENS_RANDOM);
	if (a->source == TOKENS_RANDOM) {
		at = yaml_get(y, map, "density");
		reader_require(y, map, at, "density");
		return at && yaml_double(y, at, 0, 1, &a->density) == 0 ? at : NULL;
	}
	if (a->source == TOKENS_CORNER) {
		struct yaml_node *keys = yaml_get(y, map, "keys");

		at = yaml_get(y, map, "rows");
		reader_require(y, map, at, "rows");
		reader_require(y, map, keys, "keys");
		bool is_bad = !at || !keys || yaml_int(y, at, 1, 1 << 20, &n_rows) || yaml_int(y, keys, 1, 1 << 20, &n_keys);

		a->corner_rows = (int32_t)n_rows;
		a->corner_keys = (int32_t)n_keys;
		return is_bad ? NULL : at;
	}
	struct yaml_node *elements = yaml_get(y, map, "elements");

	at = yaml_get(y, map, "file");
	if (!at)
		yaml_mistake(y, map,
			kind ? "file is missing" : "kind or file is missing; give kind: random, kind: corner or file: PATH");
	return at && use_path(d, at, a) && use_elements(d, at, elements, a) ? at : NULL;
}

static void read_token_map(struct draft *d, struct yaml_node *map)
{
	int32_t seqlen[READER_LIST_MAX];
	struct attention_case source = { 0 };
	int64_t batch = 1;
	bool want_dense = false;

	if (yaml_map(d->r->y, map, 0, INT_MAX, "must be a mapping of seqlens and a mask, or a list of such") < 0)
		return;
	struct yaml_node *seqlens = yaml_get(d->r->y, map, "seqlens");

	yaml_bool(d->r->y, yaml_get(d->r->y, map, "dense_reference"), &want_dense);
	int bad_batch = yaml_int(d->r->y, yaml_get(d->r->y, map, "batch"), 1, ATTENTION_SEQS_MAX, &batch);
	int n = reader_ints(d->r, seqlens, READER_LIST_MAX, 1 << 20, seqlen);
	struct yaml_node *at = read_source(d, map, &source);

	reader_require(d->r->y, map, seqlens, "seqlens");
	for (int s = 0; s < n && !bad_batch && want_dense; s++)
		add_dense_reference(d, yaml_item(d->r->y, seqlens, s), seqlen[s], (int32_t)batch);
	for (int s = 0; s < n && !bad_batch; s++)
		d->token_pairs += d->nhq * batch * seqlen[s] * seqlen[s];
	if (d->token_pairs > TOKENS_PAIRS_MAX) { /* each reader of the suite draws them, also the daemon */
		yaml_mistake(d->r->y, map, "the token masks of a suite have more than 2^30 pairs together; use several suites");
		at = NULL;
	}
	for (int s = 0; s < n && !bad_batch && at; s++) {
		struct attention_case a = start_case(d, FW_TOKENS, seqlen[s]);
		struct fw_err why = { 0 };

		a.source = source.source;
		a.elements = source.elements;
		a.density = source.density;
		a.corner_rows = source.corner_rows;
		a.corner_keys = source.corner_keys;
		memcpy(a.path, source.path, sizeof a.path);
		use_batch(&a, (int32_t)batch);
		if (attention_check(&a, DIRECTION_FORWARD, &why) != 0 || attention_complete_tokens(&a, d->r->seed, &why) != 0)
			yaml_mistake(d->r->y, at, "%s", why.text);
		else
			keep_case(d, at, &a);
	}
	yaml_finish(d->r->y, map);
}

/* Lists of a mapping of serving; each combination is a case. */
struct serving {
	int n_keys, n_batches, n_queries, n_windows, n_pages;
	int32_t keys[READER_LIST_MAX], batch[READER_LIST_MAX], queries[READER_LIST_MAX], window[READER_LIST_MAX],
		page[READER_LIST_MAX];
	int n_lengths; /* instead of keys and batch */
	int32_t length[ATTENTION_SEQS_MAX];
};

/* Read a list; without one the only value is `otherwise`. Returns the number of values. */
static int read_list(struct draft *d, struct yaml_node *list, int64_t most, int32_t otherwise, int32_t *out)
{
	if (list)
		return reader_ints(d->r, list, READER_LIST_MAX, most, out);
	out[0] = otherwise;
	return 1;
}

static void add_served(struct draft *d, struct yaml_node *at, struct attention_case *a, const struct serving *s)
{
	for (int q = 0; q < s->n_queries; q++)
		for (int w = 0; w < s->n_windows; w++)
			for (int p = 0; p < s->n_pages; p++) {
				a->queries = s->queries[q];
				a->window = s->window[w];
				a->page = s->page[p];
				a->mask = a->window || a->page ? FW_CACHE : FW_CAUSAL;
				keep_case(d, at, a);
			}
}

/* Heads that are given replace those of common for the cases of this mapping. */
static bool read_heads(struct draft *d, struct yaml_node *map)
{
	struct yaml *y = d->r->y;

	return yaml_int(y, yaml_get(y, map, "nhq"), 1, 512, &d->nhq) == 0 &&
	       yaml_int(y, yaml_get(y, map, "nhk"), 1, 512, &d->nhk) == 0 &&
	       yaml_int(y, yaml_get(y, map, "headdim"), 8, 512, &d->headdim) == 0;
}

static void read_served(struct draft *d, struct yaml_node *map)
{
	struct yaml *y = d->r->y;
	struct yaml_node *keys = yaml_get(y, map, "keys"), *batch = yaml_get(y, map, "batch");
	struct yaml_node *lengths = yaml_get(y, map, "lengths");
	struct serving s = { 0 };

	s.n_keys = reader_ints(d->r, keys, READER_LIST_MAX, 1 << 20, s.keys);
	s.n_batches = read_list(d, batch, ATTENTION_SEQS_MAX, 1, s.batch);
	s.n_lengths = reader_ints(d->r, lengths, ATTENTION_SEQS_MAX, 1 << 20, s.length);
	s.n_queries = read_list(d, yaml_get(y, map, "queries"), 1 << 20, 0, s.queries);
	s.n_windows = read_list(d, yaml_get(y, map, "window"), 1 << 20, 0, s.window);
	s.n_pages = read_list(d, yaml_get(y, map, "page"), 1 << 14, 0, s.page);
	if (!keys && !lengths)
		yaml_mistake(y, map, "keys or lengths is missing; give keys: [NUMBER], or the lengths of one batch");
	if (lengths && (keys || batch))
		yaml_mistake(y, lengths, "lengths has one batch of sequences; leave out keys and batch");
	else if (s.n_lengths > 0) {
		struct attention_case a = start_case(d, FW_CAUSAL, 0);

		a.n_seqs = s.n_lengths;
		memcpy(a.length, s.length, (size_t)s.n_lengths * sizeof *s.length);
		for (int i = 0; i < s.n_lengths; i++)
			a.seqlen += s.length[i];
		add_served(d, lengths, &a, &s);
	}
	for (int k = 0; k < s.n_keys && !lengths; k++)
		for (int b = 0; b < s.n_batches; b++) {
			struct attention_case a = start_case(d, FW_CAUSAL, s.keys[k]);

			use_batch(&a, s.batch[b]);
			add_served(d, yaml_item(y, keys, k), &a, &s);
		}
}

static void read_serving_map(struct draft *d, struct yaml_node *map)
{
	int64_t nhq = d->nhq, nhk = d->nhk, headdim = d->headdim;

	if (yaml_map(d->r->y, map, 0, INT_MAX, "must be a mapping of queries and keys, or a list of such") < 0)
		return;
	if (read_heads(d, map))
		read_served(d, map);
	yaml_finish(d->r->y, map);
	d->nhq = nhq;
	d->nhk = nhk;
	d->headdim = headdim;
}

/* One mapping, or a list of mappings; only lists within one mapping are combined. */
static void read_maps(struct draft *d, struct yaml_node *sparse, void (*read_map)(struct draft *, struct yaml_node *))
{
	if (!sparse)
		return;
	if (!yaml_is_list(sparse)) {
		read_map(d, sparse);
		return;
	}
	if (yaml_count(sparse) < 1 || yaml_count(sparse) > READER_LIST_MAX)
		yaml_mistake(d->r->y, sparse, "must be a list of 1 to %d mappings", READER_LIST_MAX);
	for (int i = 0; i < yaml_count(sparse) && i < READER_LIST_MAX; i++)
		read_map(d, yaml_item(d->r->y, sparse, i));
}

bool attention_read(struct reader *r, struct yaml_node *root)
{
	struct draft *d = mem_alloc_zero(1, sizeof *d);
	bool whole = false;

	d->r = r;
	d->dtype = FW_BF16;
	read_common(d, root);
	read_varlen(d, root);
	if (d->nhq && d->nhk && d->headdim) { /* else every case would report the missing key of common */
		read_dense(d, root);
		read_maps(d, yaml_get(d->r->y, root, "block_sparse"), read_sparse_map);
		read_maps(d, yaml_get(d->r->y, root, "token_masks"), read_token_map);
		read_maps(d, yaml_get(d->r->y, root, "serving"), read_serving_map);
		whole = true;
	}
	free(d);
	return whole;
}
