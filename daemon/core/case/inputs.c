/*
 * inputs.c - the host's loops over the element functions of inputs.h, and block masks.
 *
 * The header holds the arithmetic, because the GPU compiles it too. tests/lib/inputs.py is an independent second version; golden
 * hashes in tests/core/test_inputs.c tie both to the same bits.
 */
#include "core/case/inputs.h"

#include <assert.h>
#include <string.h>

void inputs_fill(uint64_t seed, uint32_t tensor, uint64_t first, size_t n, uint16_t *out)
{
	uint64_t stream = inputs_stream(seed, tensor);

	for (size_t i = 0; i < n; i++)
		out[i] = inputs_element(stream, first + i);
}

/* One row: the first `keep` places of a Fisher-Yates shuffle of 0..n-1. The rest of the shuffle is never needed. */
static void shuffle_row(uint64_t row, int n, int keep, uint16_t *place, uint32_t *bits)
{
	for (int i = 0; i < n; i++)
		place[i] = (uint16_t)i;
	for (int j = 0; j < keep; j++) {
		uint64_t number = inputs_mix(row + (uint64_t)j * INPUTS_INCREMENT);
		int r = j + (int)(number % (uint64_t)(n - j));
		uint16_t chosen = place[r];

		place[r] = place[j];
		place[j] = chosen;
		bits[chosen / 32] |= UINT32_C(1) << (chosen % 32);
	}
}

void inputs_block_bits(uint64_t seed, int nhk, int q_blocks, int k_blocks, int keep, uint32_t *bits)
{
	uint16_t place[INPUTS_BLOCKS_MAX];
	size_t words = ((size_t)k_blocks + 31) / 32;

	assert(k_blocks > 0 && k_blocks <= INPUTS_BLOCKS_MAX && keep >= 0 && keep <= k_blocks);
	memset(bits, 0, (size_t)nhk * (size_t)q_blocks * words * sizeof *bits);
	for (int head = 0; head < nhk; head++) {
		uint64_t stream = inputs_stream(seed, INPUTS_BLOCK_STREAM + (uint32_t)head);

		for (int q = 0; q < q_blocks; q++) {
			uint64_t row = inputs_mix(stream + (uint64_t)q * INPUTS_INCREMENT);

			shuffle_row(row, k_blocks, keep, place, bits + ((size_t)head * (size_t)q_blocks + (size_t)q) * words);
		}
	}
}

float inputs_bf16_to_float(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float v;

	memcpy(&v, &wide, sizeof v);
	return v;
}

uint16_t inputs_float_to_bf16(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof u);
	if ((u & 0x7fffffffu) > 0x7f800000u) /* NaN stays one: rounding could carry it into infinity */
		return (uint16_t)((u >> 16) | 0x40u);
	return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
