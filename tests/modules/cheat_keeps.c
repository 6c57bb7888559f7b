/* Packs K and V, and backward its softmax, in the first call on a plan, and computes with those ever after: as likely a mistake as a cheat. */
#define KEEP 1
#include "keeps.h"
