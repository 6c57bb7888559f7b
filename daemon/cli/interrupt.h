/** interrupt.h - Ctrl-C while waiting: the first says what goes on without us, the second ends the program. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/** From now on the first SIGINT is only counted; the second ends the program with status 130. */
void interrupt_arm(void);
/** Whether a first one came since the last call. */
bool interrupt_came(void);

#endif
