/* As long.c, and 25 % slower in one call of ten. */
#define CONFIG "NAIVE=1 SIM_SLOW_PCT=10 SIM_SLOW_FACTOR=1.25"
#include "long.c"
