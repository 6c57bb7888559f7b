/*
 * inputs.c - loops over the element functions of model.h on the host.
 *
 * The header contains the arithmetic, because the GPU compiles it too. tests/support/inputs.py is an independent implementation;
 * golden hashes in tests/model/test_inputs.c check both.
 */
#include "model/model.h"

void inputs_fill(uint64_t seed, uint32_t tensor, uint64_t first, size_t n, uint16_t *out)
{
	uint64_t stream = inputs_stream(seed, tensor);

	for (size_t i = 0; i < n; i++)
		out[i] = inputs_element(stream, first + i);
}

void inputs_to_f16(uint16_t *bits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bits[i] = inputs_float_to_f16(inputs_bf16_to_float(bits[i]));
}
