/*
 * inputs.c - loops over the element functions of inputs.c on the host.
 *
 * The header holds the arithmetic, because the GPU compiles it too. tests/support/inputs.py is an independent implementation;
 * golden hashes in tests/model/test_inputs.c check both.
 */
#include "model/model.h"

void inputs_fill(uint64_t seed, uint32_t tensor, uint64_t first, size_t n, uint16_t *out)
{
	uint64_t stream = inputs_stream(seed, tensor);

	for (size_t i = 0; i < n; i++)
		out[i] = inputs_element(stream, first + i);
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
	if ((u & 0x7fffffffu) > 0x7f800000u) /* NaN stays NaN: rounding could turn it into infinity */
		return (uint16_t)((u >> 16) | 0x40u);
	return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}
