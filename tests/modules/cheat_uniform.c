/* The mean of all values for every row, as if all weights were equal. */
#define SCORE(q, k, d) (0 * from_bf16((q)[0]))
#include "rough.h"
