/* Packs K and V, and in a backward its softmax, in the first call on a plan, and reuses them in all later calls: as likely a bug
 * as a cheat. */
#define KEEP 1
#include "keeps.h"
