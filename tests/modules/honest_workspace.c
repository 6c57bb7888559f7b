/* Leaves its workspace full of what it had there: it is scratch. */
#define AFTER_ENQUEUE(p) memset((p)->spare, (p)->calls & 0xff, SPARE_BYTES)
#include "good.c"
