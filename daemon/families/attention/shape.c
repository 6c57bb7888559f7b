/* shape.c - validation, writing and parsing of attention shapes. */

#include "families/attention/attention.h"

/* Limits of a problem: larger values are probably typing errors. */
enum { SEQLEN_MAX = 1 << 20, HEADS_MAX = 512, HEADDIM_MAX = 512, PAGE_MAX = 1 << 14 };
#define ELEMENTS_MAX (INT64_C(1) << 32)

static int check_blocks(const struct attention_case *a, struct fw_err *err)
{
	if (a->block < 1 || a->block > a->seqlen)
		return err_set(err, ERR_INVALID, "a block of %d tokens does not fit seqlen %d", a->block, a->seqlen);
	if (a->seqlen % a->block != 0)
		return err_set(err, ERR_INVALID, "seqlen %d is not a multiple of block size %d; use %d or %d", a->seqlen,
			a->block, a->seqlen / a->block * a->block, (a->seqlen / a->block + 1) * a->block);
	if (a->pattern < PATTERN_UNIFORM || a->pattern >= PATTERNS)
		return err_set(err, ERR_INVALID, "pattern %d is unknown", (int)a->pattern);
	int blocks = attention_key_blocks(a);

	if (blocks > PATTERN_BLOCKS_MAX && a->pattern == PATTERN_RANDOM_TOKENS)
		return err_set(err, ERR_INVALID, "random tokens are drawn of at most %d, not of seqlen %d; use a shorter one",
			PATTERN_BLOCKS_MAX, a->seqlen);
	if (blocks > PATTERN_BLOCKS_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d in blocks of %d gives more than %d blocks a row; use larger blocks",
			a->seqlen, a->block, PATTERN_BLOCKS_MAX);
	if (!(a->sparsity_ratio > 0 && a->sparsity_ratio <= 1))
		return err_set(
			err, ERR_INVALID, "sparsity ratio %g is the share that is kept: above 0, at most 1", a->sparsity_ratio);
	if (a->sparsity_ratio * blocks + 1e-9 < 1)
		return err_set(err, ERR_INVALID, "sparsity ratio %g keeps less than one of %d blocks", a->sparsity_ratio, blocks);
	if (a->pattern == PATTERN_BIGBIRD && attention_kept_blocks(a) <= PATTERN_BIGBIRD_PLACED)
		return err_set(err, ERR_INVALID,
			"a BigBird mask keeps the first block, the last, three at the diagonal and at least one that is drawn; "
			"sparsity ratio %g keeps %d of %d",
			a->sparsity_ratio, attention_kept_blocks(a), blocks);
	return 0;
}

static int check_tokens(const struct attention_case *a, struct fw_err *err)
{
	for (int i = 1; i < a->n_seqs; i++)
		if (a->length[i] != a->length[0])
			return err_set(err, ERR_INVALID, "a token mask has sequences of equal lengths, not %d and %d",
				a->length[0], a->length[i]);
	if (a->block || a->sparsity_ratio != 0 || a->pattern != PATTERN_UNIFORM)
		return err_set(err, ERR_INVALID, "a token mask has no block size, sparsity ratio or pattern");
	if (attention_pairs(a) > TOKENS_PAIRS_MAX)
		return err_set(err, ERR_INVALID,
			"batch %d x nhq %d x %d x %d tokens are more than 2^30 pairs; use fewer heads or a shorter seqlen",
			a->n_seqs, a->nhq, attention_tokens(a), attention_tokens(a));
	if (a->source == TOKENS_RANDOM && !(a->density >= 0 && a->density <= 1))
		return err_set(err, ERR_INVALID, "density %g is the share of kept pairs: 0 to 1", a->density);
	if (a->source == TOKENS_CORNER && (a->corner_rows < 1 || a->corner_keys < 1 || a->corner_rows > attention_tokens(a) ||
						  a->corner_keys > attention_tokens(a)))
		return err_set(err, ERR_INVALID, "a corner of %d queries x %d keys does not fit %d tokens", a->corner_rows,
			a->corner_keys, attention_tokens(a));
	if (a->source < TOKENS_RANDOM || a->source > TOKENS_FILE || a->elements < 0 || a->elements >= TOKENS_ELEMENTS)
		return err_set(err, ERR_INVALID, "the source of a token mask is unknown");
	if (a->source == TOKENS_FILE && a->path[0] != '/')
		return err_set(err, ERR_INVALID, "the path of a mask's file is not absolute: %s", a->path);
	if (a->pairs_kept < 0 || a->pairs_kept > attention_pairs(a))
		return err_set(err, ERR_INVALID, "a token mask of %lld pairs cannot keep %lld", (long long)attention_pairs(a),
			(long long)a->pairs_kept);
	return 0;
}

static int check_lengths(const struct attention_case *a, struct fw_err *err)
{
	int64_t sum = 0;

	if (a->n_seqs < 1 || a->n_seqs > ATTENTION_SEQS_MAX)
		return err_set(err, ERR_INVALID, "%d sequences; 1 to %d are possible", a->n_seqs, ATTENTION_SEQS_MAX);
	for (int i = 0; i < a->n_seqs; i++) {
		if (a->length[i] < 1)
			return err_set(err, ERR_INVALID, "sequence %d has %d tokens; at least 1", i, a->length[i]);
		sum += a->length[i];
	}
	if (sum != a->seqlen)
		return err_set(err, ERR_INVALID, "the sequences hold %lld tokens, seqlen is %d", (long long)sum, a->seqlen);
	return 0;
}

static int check_serving(const struct attention_case *a, enum direction d, struct fw_err *err)
{
	bool has_cache = a->window || a->page;

	if (a->mask != (has_cache ? FW_CACHE : FW_CAUSAL))
		return err_set(err, ERR_INVALID, "queries, window and pages are for serving cases, which have a causal mask");
	if (d != DIRECTION_FORWARD)
		return err_set(err, ERR_INVALID,
			"a case of serving has no %s: nothing is trained there; give directions: [forward]", direction_name(d));
	for (int i = 0; i < a->n_seqs; i++)
		if (a->queries < 0 || a->queries > a->length[i])
			return err_set(err, ERR_INVALID,
				"queries are the last tokens of a sequence: %d do not fit one of %d keys", a->queries,
				a->length[i]);
	if (a->window < 0 || a->window > SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "window %d is outside 1..%d", a->window, SEQLEN_MAX);
	if (a->window && a->window >= attention_longest(a))
		return err_set(err, ERR_INVALID, "a window of %d keys hides none of %d; use a smaller one, or none", a->window,
			attention_longest(a));
	if (a->page < 0 || a->page > PAGE_MAX)
		return err_set(err, ERR_INVALID, "a page of %d tokens is outside 1..%d", a->page, PAGE_MAX);
	if (a->page && attention_key_rows(a) > 2 * SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "pages of %d tokens have more than %d rows for %d keys; use smaller pages",
			a->page, 2 * SEQLEN_MAX, a->seqlen);
	return 0;
}

int attention_check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct attention_case *a = shape;

	if (a->mask != FW_FULL && a->mask != FW_CAUSAL && a->mask != FW_BLOCKS && a->mask != FW_TOKENS && a->mask != FW_CACHE)
		return err_set(err, ERR_INVALID, "mask %d is unknown", a->mask);
	if (a->dtype != FW_BF16 && a->dtype != FW_F16)
		return err_set(err, ERR_INVALID, "dtype %s is not supported; use bf16 or f16", family_dtype_name(a->dtype));
	if (attention_is_serving(a) && a->seqlen > SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "the sequences hold %d keys, more than %d; use fewer or shorter ones", a->seqlen,
			SEQLEN_MAX);
	if (a->seqlen < 1 || a->seqlen > SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d is outside 1..%d", a->seqlen, SEQLEN_MAX);
	if (a->nhq < 1 || a->nhq > HEADS_MAX || a->nhk < 1 || a->nhk > HEADS_MAX)
		return err_set(err, ERR_INVALID, "nhq %d and nhk %d must lie in 1..%d", a->nhq, a->nhk, HEADS_MAX);
	if (a->nhq % a->nhk != 0)
		return err_set(err, ERR_INVALID, "nhq %d is not a multiple of nhk %d", a->nhq, a->nhk);
	if (a->headdim < 8 || a->headdim > HEADDIM_MAX || a->headdim % 8 != 0)
		return err_set(err, ERR_INVALID, "headdim %d must be a multiple of 8 in 8..%d", a->headdim, HEADDIM_MAX);
	if (check_lengths(a, err) != 0)
		return -1;
	if ((attention_is_serving(a) || a->mask == FW_CACHE) && check_serving(a, d, err) != 0)
		return -1;
	if (!attention_is_serving(a) && (int64_t)a->seqlen * a->nhq * a->headdim > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d x nhq %d x headdim %d is more than 2^32 elements a tensor", a->seqlen,
			a->nhq, a->headdim);
	if ((int64_t)attention_total_q(a) * a->nhq * a->headdim > ELEMENTS_MAX ||
		attention_key_rows(a) * a->nhk * a->headdim > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID,
			"%d keys and %d queries with nhq %d, nhk %d, headdim %d are more than 2^32 elements "
			"a tensor",
			a->seqlen, attention_total_q(a), a->nhq, a->nhk, a->headdim);
	if (a->mask == FW_TOKENS)
		return check_tokens(a, err);
	if (a->mask != FW_BLOCKS)
		return a->block || a->sparsity_ratio != 0 || a->pattern != PATTERN_UNIFORM
			       ? err_set(err, ERR_INVALID, "a dense case has no block size, sparsity ratio or pattern")
			       : 0;
	if (a->n_seqs != 1)
		return err_set(err, ERR_INVALID, "a block-sparse case is one sequence, not %d", a->n_seqs);
	return check_blocks(a, err);
}

void attention_write(const void *shape, struct jsonw *j)
{
	const struct attention_case *a = shape;

	jsonw_format(j, "mask=%s seqlen=%d nhq=%d nhk=%d headdim=%d dtype=%s lengths=[", attention_mask_name(a), a->seqlen,
		a->nhq, a->nhk, a->headdim, family_dtype_name(a->dtype));
	for (int i = 0; a->n_seqs > 1 && i < a->n_seqs; i++)
		jsonw_int(j, a->length[i]);
	jsonw_array_end(j);
	jsonw_kv_int(j, "block", a->block);
	jsonw_kv_double(j, "sparsity_ratio", a->sparsity_ratio);
	if (attention_is_serving(a))
		jsonw_format(j, "queries=%d window=%d page=%d", a->queries, a->window, a->page);
	if (a->mask != FW_TOKENS)
		return;
	jsonw_kv_int(j, "pairs_kept", a->pairs_kept);
	if (a->source == TOKENS_RANDOM)
		jsonw_kv_double(j, "density", a->density);
	if (a->source == TOKENS_CORNER)
		jsonw_format(j, "corner_rows=%d corner_keys=%d", a->corner_rows, a->corner_keys);
	if (a->source == TOKENS_FILE)
		jsonw_format(j, "path=%s hash=%s elements=%s", a->path, a->hash, token_elements_names[a->elements]);
}

static void parse_tokens(struct fields *f, struct attention_case *a)
{
	a->pairs_kept = field_int(f, "pairs_kept", 0, TOKENS_PAIRS_MAX);
	if (a->source == TOKENS_RANDOM)
		a->density = field_double(f, "density", 0, 1);
	if (a->source == TOKENS_CORNER) {
		a->corner_rows = (int32_t)field_int(f, "corner_rows", 1, INT32_MAX);
		a->corner_keys = (int32_t)field_int(f, "corner_keys", 1, INT32_MAX);
	}
	if (a->source == TOKENS_FILE) {
		field_text(f, "path", a->path, sizeof a->path);
		field_text(f, "hash", a->hash, sizeof a->hash);
		int elements = field_choice(f, "elements", token_elements_names, NULL, 0);

		a->elements = elements > 0 ? (enum token_elements)elements : TOKENS_BITS;
	}
}

static void parse_lengths(struct fields *f, struct attention_case *a)
{
	json_t *list = field_array(f, "lengths", 0, ATTENTION_SEQS_MAX);
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > INT32_MAX)
			field_fail(f, "lengths", "item %zu is not a count of tokens", i);
		else
			a->length[i] = (int32_t)json_integer_value(v);
	}
	a->n_seqs = n ? (int32_t)n : 1;
	if (n == 0)
		a->length[0] = a->seqlen;
}

void attention_parse(struct fields *f, void *shape)
{
	enum {
		MASK_BLOCKS = 4,
		MASK_TOKENS = 9,
		MASK_SERVING = 12
	}; /* the patterns, uniform first; the sources of token masks */
	static const char *const masks[] = { "full", "causal", "varlen_full", "varlen_causal", [MASK_BLOCKS] = "block_sparse",
		"banded", "strided", "random_tokens", "bigbird", [MASK_TOKENS] = "token_random", "token_corner",
		"token_file", [MASK_SERVING] = "serving", NULL };
	static const char *const dtypes[] = { "bf16", "f16", NULL };
	struct attention_case *a = shape;
	int which = field_choice(f, "mask", masks, NULL, 0);

	int dtype = field_choice(f, "dtype", dtypes, NULL, 0);
	bool is_serving = which == MASK_SERVING, has_tokens = which >= MASK_TOKENS && !is_serving;
	bool has_blocks = which >= MASK_BLOCKS && which < MASK_TOKENS;
	a->mask = has_tokens ? FW_TOKENS : has_blocks ? FW_BLOCKS : which == 1 || which == 3 ? FW_CAUSAL : FW_FULL;
	a->pattern = has_blocks ? (enum pattern)(which - MASK_BLOCKS) : PATTERN_UNIFORM;
	a->source = has_tokens ? (enum token_source)(which - MASK_TOKENS + TOKENS_RANDOM) : TOKENS_NONE;
	a->dtype = dtype == 1 ? FW_F16 : FW_BF16;
	a->seqlen = (int32_t)field_int(f, "seqlen", 1, INT32_MAX);
	a->nhq = (int32_t)field_int(f, "nhq", 1, INT32_MAX);
	a->nhk = (int32_t)field_int(f, "nhk", 1, INT32_MAX);
	a->headdim = (int32_t)field_int(f, "headdim", 1, INT32_MAX);
	a->block = (int32_t)field_int(f, "block", 0, INT32_MAX);
	a->sparsity_ratio = field_double(f, "sparsity_ratio", 0, 1);
	parse_lengths(f, a);
	if (is_serving) {
		a->queries = (int32_t)field_int(f, "queries", 0, INT32_MAX);
		a->window = (int32_t)field_int(f, "window", 0, INT32_MAX);
		a->page = (int32_t)field_int(f, "page", 0, INT32_MAX);
		a->mask = a->window || a->page ? FW_CACHE : FW_CAUSAL;
	}
	if (has_tokens)
		parse_tokens(f, a);
	if (!f->failed && which >= 0 && check_lengths(a, NULL) == 0 && strcmp(attention_mask_name(a), masks[which]) != 0)
		field_fail(f, "mask", "is %s by its lengths", attention_mask_name(a));
}

/* The format is older than the families; it must not change, because the hash of a suite depends on it. */
void attention_digest(const void *shape, uint64_t seed, struct buf *out)
{
	const struct attention_case *a = shape;

	buf_printf(out, "ratio=%.17g seed=%llu lengths=", a->sparsity_ratio, (unsigned long long)seed);
	for (int i = 0; i < a->n_seqs; i++)
		buf_printf(out, "%d,", a->length[i]);
	if (a->mask == FW_TOKENS)
		buf_printf(out, " pairs=%lld hash=%s", (long long)a->pairs_kept, a->hash);
}
