/* The same results as the base, bit for bit, from another module. */
#define AFTER_ENQUEUE(p)  ((void)(p)->calls)
#define BEFORE_ENQUEUE(p) ((p)->phases |= (p)->phases)
static const char padding[] __attribute__((used)) = "not the base";
#include "good.c"
