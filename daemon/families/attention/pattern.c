/* pattern.c - masks defined by a rule; tests/support/inputs.py is an independent second implementation. */
#include "families/attention/attention.h"

#include <assert.h>

#include "model/model.h"

const char *const pattern_names[PATTERNS + 1] = { "uniform", "banded", "strided", "random_tokens", "bigbird", NULL };

/* Set the bits of one row: the first `keep` positions of a Fisher-Yates shuffle of 0..n-1. */
static void shuffle_row(uint64_t row, int n, int keep, uint16_t *position, uint32_t *bits)
{
	for (int i = 0; i < n; i++)
		position[i] = (uint16_t)i;
	for (int j = 0; j < keep; j++) {
		uint64_t number = inputs_mix(row + (uint64_t)j * INPUTS_INCREMENT);
		int r = j + (int)(number % (uint64_t)(n - j));
		uint16_t chosen = position[r];

		position[r] = position[j];
		position[j] = chosen;
		bits[chosen / 32] |= UINT32_C(1) << (chosen % 32);
	}
}

void pattern_drawn_bits(uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits)
{
	uint16_t position[PATTERN_BLOCKS_MAX];
	size_t words = ((size_t)k_blocks + 31) / 32;

	assert(k_blocks > 0 && k_blocks <= PATTERN_BLOCKS_MAX && keep >= 0 && keep <= k_blocks);
	memset(bits, 0, (size_t)nhk * (size_t)q_blocks * words * sizeof *bits);
	for (int head = 0; head < nhk; head++) {
		uint64_t stream = inputs_stream(seed, PATTERN_STREAM + (uint32_t)head);

		for (int q = 0; q < q_blocks; q++) {
			uint64_t row = inputs_mix(stream + (uint64_t)q * INPUTS_INCREMENT);

			shuffle_row(row, k_blocks, keep, position, bits + ((size_t)head * (size_t)q_blocks + (size_t)q) * words);
		}
	}
}

static void lay_band(uint64_t draw, int diagonal, int k_blocks, int keep, uint32_t *row)
{
	int slack = k_blocks - keep, most_before = keep < slack ? keep : slack;
	int first = diagonal - (int)(draw % (uint64_t)(most_before + 1));

	first = first < 0 ? 0 : first > slack ? slack : first;
	for (int block = first; block < first + keep; block++)
		row[block / 32] |= UINT32_C(1) << (block % 32);
}

static void lay_strides(uint64_t draw, int diagonal, int k_blocks, int keep, uint32_t *row)
{
	int offset = (int)(draw % (uint64_t)k_blocks);

	for (int j = 0; j < keep; j++) {
		int block = (diagonal + offset + (int)((int64_t)j * k_blocks / keep)) % k_blocks;

		row[block / 32] |= UINT32_C(1) << (block % 32);
	}
}

static int keep_block(int block, int k_blocks, uint32_t *row)
{
	uint32_t bit = UINT32_C(1) << (block & 31);

	if (block < 0 || block >= k_blocks || (row[block / 32] & bit))
		return 0;
	row[block / 32] |= bit;
	return 1;
}

/* `number`: start of the row's random numbers, the same as in pattern_drawn_bits. */
static void lay_bigbird(uint64_t number, int diagonal, int k_blocks, int keep, uint32_t *row)
{
	const int placed[PATTERN_BIGBIRD_PLACED] = { 0, k_blocks - 1, diagonal, diagonal - 1, diagonal + 1 };
	uint16_t position[PATTERN_BLOCKS_MAX];
	int kept = 0;

	for (int i = 0; i < PATTERN_BIGBIRD_PLACED && kept < keep; i++)
		kept += keep_block(placed[i], k_blocks, row);
	for (int i = 0; i < k_blocks; i++)
		position[i] = (uint16_t)i;
	for (int j = 0; kept < keep; j++) {
		int r = j + (int)(inputs_mix(number + (uint64_t)j * INPUTS_INCREMENT) % (uint64_t)(k_blocks - j));
		uint16_t chosen = position[r];

		position[r] = position[j];
		position[j] = chosen;
		kept += keep_block(chosen, k_blocks, row);
	}
}

void pattern_bits(enum pattern pattern, uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits)
{
	size_t words = ((size_t)k_blocks + 31) / 32;

	assert(k_blocks > 0 && k_blocks <= PATTERN_BLOCKS_MAX && keep <= k_blocks);
	if (pattern == PATTERN_UNIFORM || pattern == PATTERN_RANDOM_TOKENS) {
		pattern_drawn_bits(seed, nhk, q_blocks, k_blocks, keep, bits);
		return;
	}
	memset(bits, 0, (size_t)nhk * (size_t)q_blocks * words * sizeof *bits);
	for (int head = 0; head < nhk; head++) {
		uint64_t draw = inputs_stream(seed, PATTERN_STREAM + (uint32_t)head);

		for (int q = 0; q < q_blocks; q++) {
			uint32_t *row = bits + ((size_t)head * (size_t)q_blocks + (size_t)q) * words;
			int diagonal = (int)((int64_t)q * k_blocks / q_blocks);

			if (pattern == PATTERN_BANDED)
				lay_band(draw, diagonal, k_blocks, keep, row);
			else if (pattern == PATTERN_BIGBIRD)
				lay_bigbird(inputs_mix(draw + (uint64_t)q * INPUTS_INCREMENT), diagonal, k_blocks, keep, row);
			else
				lay_strides(draw, diagonal, k_blocks, keep, row);
		}
	}
}
