/* Correct, and 25 % slower in one call of ten: the typical call does not show it. */
#define CONFIG "NAIVE=1 SIM_SLOW_PCT=10 SIM_SLOW_FACTOR=1.25"
#include "good.c"
