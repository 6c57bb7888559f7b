/* Moves the runner's marks, so that its calls appear to take a fifth of their time. */
#define SHARE 0.2
#include "marks.h"
