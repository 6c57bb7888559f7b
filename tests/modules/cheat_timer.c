/* As cheat_alarm, with a timer and a signal that fewer people think of. */
#define PER_PROCESS_TIMER
#include "cheat_alarm.c"
