/* Reuses the softmax of the first backward on a plan; its forward is correct, so the inputs of its backward are, too. */
#define KEEP         1
#define KEEP_FORWARD 0
#include "keeps.h"
