/* Every other key stands for two. */
#define KEY_STEP 2
#include "rough.h"
