/* Values with three bits of mantissa, as in fp8. */
#include <stdint.h>
static float in_eight_bits(uint16_t bits);
#define VALUE(bits) in_eight_bits(bits)
#include "rough.h"

static float in_eight_bits(uint16_t bits)
{
	return from_bf16((uint16_t)((bits + 8u) & 0xfff0u));
}
