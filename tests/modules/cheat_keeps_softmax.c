/* Keeps backward's softmax from the first call on a plan; its forward is right, so that what backward starts from is, too. */
#define KEEP         1
#define KEEP_FORWARD 0
#include "keeps.h"
