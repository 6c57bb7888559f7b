/* Sums in bf16. */
#define ADD(sum, x) from_bf16(to_bf16((sum) + (x)))
#include "rough.h"
