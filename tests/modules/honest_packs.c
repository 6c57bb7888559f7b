/* Packs K and V, and backward its softmax, in every call. */
#define KEEP 0
#include "keeps.h"
