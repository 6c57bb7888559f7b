/* shape.c - validation, writing and parsing of attention shapes. */
#include <stdio.h>

#include "families/attention/attention.h"

/* Limits of a problem: larger values are probably typing errors. */
enum { SEQLEN_MAX = 1 << 20, HEADS_MAX = 512, HEADDIM_MAX = 512 };
#define ELEMENTS_MAX (INT64_C(1) << 32)

static int check_blocks(const struct attention_case *a, struct fw_err *err)
{
	if (a->block < 1 || a->block > a->seqlen)
		return err_set(err, ERR_INVALID, "a block of %d tokens does not fit seqlen %d", a->block, a->seqlen);
	if (a->seqlen % a->block != 0)
		return err_set(err, ERR_INVALID, "seqlen %d is no multiple of block size %d; use %d or %d", a->seqlen, a->block,
			a->seqlen / a->block * a->block, (a->seqlen / a->block + 1) * a->block);
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

int attention_check(const void *shape, enum direction d, struct fw_err *err)
{
	const struct attention_case *a = shape;

	(void)d;
	if (a->mask != FW_FULL && a->mask != FW_CAUSAL && a->mask != FW_BLOCKS)
		return err_set(err, ERR_INVALID, "mask %d is unknown", a->mask);
	if (a->dtype != FW_BF16)
		return err_set(err, ERR_INVALID, "dtype %s is not supported; use bf16", family_dtype_name(a->dtype));
	if (a->seqlen < 1 || a->seqlen > SEQLEN_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d is outside 1..%d", a->seqlen, SEQLEN_MAX);
	if (a->nhq < 1 || a->nhq > HEADS_MAX || a->nhk < 1 || a->nhk > HEADS_MAX)
		return err_set(err, ERR_INVALID, "nhq %d and nhk %d must lie in 1..%d", a->nhq, a->nhk, HEADS_MAX);
	if (a->nhq % a->nhk != 0)
		return err_set(err, ERR_INVALID, "nhq %d is no multiple of nhk %d", a->nhq, a->nhk);
	if (a->headdim < 8 || a->headdim > HEADDIM_MAX || a->headdim % 8 != 0)
		return err_set(err, ERR_INVALID, "headdim %d must be a multiple of 8 in 8..%d", a->headdim, HEADDIM_MAX);
	if ((int64_t)a->seqlen * a->nhq * a->headdim > ELEMENTS_MAX)
		return err_set(err, ERR_INVALID, "seqlen %d x nhq %d x headdim %d is more than 2^32 elements a tensor", a->seqlen,
			a->nhq, a->headdim);
	if (check_lengths(a, err) != 0)
		return -1;
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

	/* attention_check accepts no other dtype */
	jsonw_format(j, "mask=%s seqlen=%d nhq=%d nhk=%d headdim=%d dtype=%s lengths=[", attention_mask_name(a), a->seqlen,
		a->nhq, a->nhk, a->headdim, "bf16");
	for (int i = 0; a->n_seqs > 1 && i < a->n_seqs; i++)
		jsonw_int(j, a->length[i]);
	jsonw_array_end(j);
	jsonw_kv_int(j, "block", a->block);
	jsonw_kv_double(j, "sparsity_ratio", a->sparsity_ratio);
}

static void parse_lengths(struct fields *f, struct attention_case *a)
{
	json_t *list = field_array(f, "lengths", 0, ATTENTION_SEQS_MAX);
	size_t n = json_array_size(list);

	for (size_t i = 0; i < n; i++) {
		json_t *v = json_array_get(list, i);

		if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > INT32_MAX)
			field_fail(f, "lengths", "item %zu is no count of tokens", i);
		else
			a->length[i] = (int32_t)json_integer_value(v);
	}
	a->n_seqs = n ? (int32_t)n : 1;
	if (n == 0)
		a->length[0] = a->seqlen;
}

void attention_parse(struct fields *f, void *shape)
{
	enum { MASK_BLOCKS = 4 }; /* the patterns, uniform first */
	static const char *const masks[] = { "full", "causal", "varlen_full", "varlen_causal", [MASK_BLOCKS] = "block_sparse",
		"banded", "strided", "random_tokens", "bigbird", NULL };
	static const char *const dtypes[] = { "bf16", NULL };
	struct attention_case *a = shape;
	int which = field_word(f, "mask", masks, NULL, 0);

	field_word(f, "dtype", dtypes, NULL, 0);
	a->mask = which >= MASK_BLOCKS ? FW_BLOCKS : which == 1 || which == 3 ? FW_CAUSAL : FW_FULL;
	a->pattern = which >= MASK_BLOCKS ? (enum pattern)(which - MASK_BLOCKS) : PATTERN_UNIFORM;
	a->dtype = FW_BF16;
	a->seqlen = (int32_t)field_int(f, "seqlen", 1, INT32_MAX);
	a->nhq = (int32_t)field_int(f, "nhq", 1, INT32_MAX);
	a->nhk = (int32_t)field_int(f, "nhk", 1, INT32_MAX);
	a->headdim = (int32_t)field_int(f, "headdim", 1, INT32_MAX);
	a->block = (int32_t)field_int(f, "block", 0, INT32_MAX);
	a->sparsity_ratio = field_double(f, "sparsity_ratio", 0, 1);
	parse_lengths(f, a);
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
}
