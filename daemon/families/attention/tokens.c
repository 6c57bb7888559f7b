/*
 * tokens.c - token masks: drawn, a corner, or from a file. tests/support/inputs.py is a second implementation of the drawn ones.
 */
#include "families/attention/attention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"

const char *const token_elements_names[TOKENS_ELEMENTS + 1] = { "bits", "u8", "f16", "f32", NULL };

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* A mask's file in memory, and its masks: one for each sequence and head, or one for several. */
struct mask_file {
	const struct attention_case *a;
	unsigned char *data;
	size_t bytes;
	int64_t sequences, heads; /* separate masks: 1, or all */
};

static size_t file_bytes(const struct attention_case *a, int64_t masks)
{
	static const size_t bits[] = { [TOKENS_BITS] = 1, [TOKENS_U8] = 8, [TOKENS_F16] = 16, [TOKENS_F32] = 32 };
	size_t pairs = (size_t)masks * (size_t)attention_tokens(a) * (size_t)attention_tokens(a);

	return (pairs * bits[a->elements] + 7) / 8;
}

/* Find the numbers of masks from the file's size. */
static int choose_masks(struct mask_file *f, struct fw_err *err)
{
	const struct attention_case *a = f->a;
	const int64_t sequences[] = { 1, 1, a->n_seqs, a->n_seqs }, heads[] = { 1, a->nhq, 1, a->nhq };

	for (int i = 0; i < 4; i++)
		if (f->bytes == file_bytes(a, sequences[i] * heads[i])) {
			f->sequences = sequences[i];
			f->heads = heads[i];
			return 0;
		}
	return err_set(err, ERR_INVALID,
		"%s has %zu bytes; %s of a mask [%d or 1][%d or 1][%d][%d] have %zu, %zu, %zu or %zu: write one of these, or correct "
		"seqlens, batch, nhq or elements",
		a->path, f->bytes, token_elements_names[a->elements], a->n_seqs, a->nhq, attention_tokens(a), attention_tokens(a),
		file_bytes(a, 1), file_bytes(a, a->nhq), file_bytes(a, a->n_seqs), file_bytes(a, (int64_t)a->n_seqs * a->nhq));
}

static int open_file(const struct attention_case *a, struct mask_file *f, struct fw_err *err)
{
	size_t most = file_bytes(a, (int64_t)a->n_seqs * a->nhq);
	int fd = regular_open("the mask ", a->path, err);
	ssize_t n = 0;

	*f = (struct mask_file){ .a = a };
	if (fd < 0)
		return -1;
	f->data = mem_alloc_zero(1, most + 1); /* a byte more shows that the file is larger */
	while (f->bytes < most + 1 && (n = read(fd, f->data + f->bytes, most + 1 - f->bytes)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		f->bytes += (size_t)n;
	}
	if (n < 0) {
		(void)err_sys(err, "the mask %s", a->path);
		close(fd);
		free(f->data);
		return -1;
	}
	off_t end = lseek(fd, 0, SEEK_END);

	close(fd);
	if (end > (off_t)f->bytes)
		f->bytes = (size_t)end;
	if (choose_masks(f, err) == 0)
		return 0;
	free(f->data);
	return -1;
}

static void file_hash(const struct mask_file *f, char out[TOKENS_HASH_SIZE])
{
	char hex[HASH_HEX];

	hash_hex(f->data, f->bytes, hex);
	snprintf(out, TOKENS_HASH_SIZE, "%.*s", TOKENS_HASH_SIZE - 1, hex);
}

/* Read element `i`: 0 or 1; -1 for another value, which is then in *value. */
static int element_at(const struct mask_file *f, int64_t i, double *value)
{
	float f32;
	uint16_t f16;

	switch (f->a->elements) {
	case TOKENS_BITS:
		*value = f->data[i / 8] >> (i % 8) & 1;
		break;
	case TOKENS_F16:
		memcpy(&f16, f->data + 2 * i, sizeof f16);
		*value = (double)inputs_f16_to_float(f16);
		break;
	case TOKENS_F32:
		memcpy(&f32, f->data + 4 * i, sizeof f32);
		*value = (double)f32;
		break;
	default:
		*value = f->data[i];
	}
	return *value == 0 ? 0 : *value == 1 ? 1 : -1;
}

static int refuse_element(const struct mask_file *f, int64_t i, double value, struct fw_err *err)
{
	static const int bytes[] = { [TOKENS_U8] = 1, [TOKENS_F16] = 2, [TOKENS_F32] = 4 };
	int64_t n = attention_tokens(f->a), mask = i / (n * n);

	return err_set(err, ERR_INVALID,
		"%s, offset %lld: the element of batch %lld, head %lld, query %lld, key %lld is %g; write 0 for a masked pair, 1 for a "
		"kept one, or correct elements (now %s)",
		f->a->path, (long long)(i * bytes[f->a->elements]), (long long)(mask / f->heads), (long long)(mask % f->heads),
		(long long)(i / n % n), (long long)(i % n), value, token_elements_names[f->a->elements]);
}

static void set_bit(uint32_t *row, int64_t key)
{
	row[key / 32] |= UINT32_C(1) << (key % 32);
}

static int64_t around(int64_t token, uint64_t twist, int64_t n)
{
	return (token + (int64_t)(twist % (uint64_t)n)) % n;
}

static int lay_file(const struct mask_file *f, uint32_t *bits, struct fw_err *err)
{
	const struct attention_case *a = f->a;
	int64_t n = attention_tokens(a), words = attention_token_words(a);

	for (int64_t head = 0; head < a->nhq; head++)
		for (int64_t row = 0; row < a->seqlen; row++) {
			int64_t mask = (f->sequences > 1 ? row / n : 0) * f->heads + (f->heads > 1 ? head : 0);
			int64_t first = (mask * n + around(row % n, a->mask_twist, n)) * n;
			uint32_t *out = bits + (head * a->seqlen + row) * words;

			for (int64_t key = 0; key < n; key++) {
				double value;
				int kept = element_at(f, first + around(key, a->mask_twist, n), &value);

				if (kept < 0)
					return refuse_element(f, first + around(key, a->mask_twist, n), value, err);
				if (kept)
					set_bit(out, key);
			}
		}
	return 0;
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

static void lay_random(const struct attention_case *a, uint64_t seed, uint32_t *bits)
{
	uint64_t below = (uint64_t)(a->density * 0x1p53);
	int64_t n = attention_tokens(a), words = attention_token_words(a);

	for (int64_t head = 0; head < a->nhq; head++) {
		uint64_t stream = inputs_stream(seed ^ a->mask_twist, PATTERN_STREAM + (uint32_t)head);

		for (int64_t row = 0; row < a->seqlen; row++) {
			uint64_t draw = inputs_mix(stream + (uint64_t)row * INPUTS_INCREMENT);
			uint32_t *out = bits + (head * a->seqlen + row) * words;

			for (int64_t key = 0; key < n; key++)
				if (inputs_mix(draw + (uint64_t)key * INPUTS_INCREMENT) >> 11 < below)
					set_bit(out, key);
		}
	}
}

static void lay_corner(const struct attention_case *a, uint32_t *bits)
{
	int64_t n = attention_tokens(a), words = attention_token_words(a);

	for (int64_t head = 0; head < a->nhq; head++)
		for (int64_t row = 0; row < a->seqlen; row++)
			for (int64_t key = 0; key < n && around(row % n, a->mask_twist, n) < a->corner_rows; key++)
				if (around(key, a->mask_twist, n) < a->corner_keys)
					set_bit(bits + (head * a->seqlen + row) * words, key);
}

int attention_token_bits(const struct attention_case *a, uint64_t seed, uint32_t *bits, struct fw_err *err)
{
	struct mask_file f;
	char hash[TOKENS_HASH_SIZE];
	int result;

	memset(bits, 0, (size_t)a->nhq * (size_t)a->seqlen * (size_t)attention_token_words(a) * sizeof *bits);
	if (a->source == TOKENS_RANDOM)
		lay_random(a, seed, bits);
	if (a->source == TOKENS_CORNER)
		lay_corner(a, bits);
	if (a->source != TOKENS_FILE)
		return 0;
	if (open_file(a, &f, err) != 0)
		return -1;
	file_hash(&f, hash);
	if (a->hash[0] && strcmp(hash, a->hash) != 0)
		result = err_set(err, ERR_INVALID,
			"the mask %s has changed since the suite was read (now %s, then %s): start again", a->path, hash,
			a->hash);
	else
		result = lay_file(&f, bits, err);
	free(f.data);
	return result;
}

int attention_complete_tokens(struct attention_case *a, uint64_t seed, struct fw_err *err)
{
	size_t words = (size_t)a->nhq * (size_t)a->seqlen * (size_t)attention_token_words(a);
	struct mask_file f;

	if (a->source == TOKENS_FILE) {
		if (open_file(a, &f, err) != 0)
			return -1;
		file_hash(&f, a->hash);
		free(f.data);
	}
	uint32_t *bits = calloc(words, sizeof *bits);

	if (!bits)
		return err_set(err, ERR_FULL, "no memory for a mask of %lld pairs", (long long)attention_pairs(a));
	int result = attention_token_bits(a, seed, bits, err);

	a->pairs_kept = 0;
	for (size_t i = 0; i < words; i++)
		a->pairs_kept += __builtin_popcount(bits[i]);
	free(bits);
	return result;
}

const char *attention_file(const void *shape)
{
	const struct attention_case *a = shape;

	return a->source == TOKENS_FILE ? a->path : "";
}
