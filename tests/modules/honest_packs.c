/* Packs K and V, and in a backward its softmax, in every call. */
#define KEEP 0
#include "keeps.h"
