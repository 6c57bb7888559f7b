/* Scores from seven eighths of the head's dimensions. */
#define SCORE(q, k, d) dot(q, k, (d) / 8 * 7)
#include "rough.h"
