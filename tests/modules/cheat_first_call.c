/* cheat_saboteur in its first call, before any call is timed. */
#define SABOTAGE_CALL 0
#include "cheat_saboteur.c"
