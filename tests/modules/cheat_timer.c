/* As cheat_alarm, with a less common timer and signal. */
#define PER_PROCESS_TIMER
#include "cheat_alarm.c"
