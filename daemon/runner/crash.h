/**
 * crash.h - position of a crash in a module, printed while the process dies.
 *
 * Prints one line on stderr for each frame in a module, innermost first: "flopwatch: crash in /proc/self/fd/10 at 0x1a2b". The
 * worker has the symbols and finds the source position. The process ends by the same signal as without the handler.
 */
#ifndef RUNNER_CRASH_H
#define RUNNER_CRASH_H

/** Install the handler for this thread, and others whose stacks have space. Call once, before any module is loaded. */
void crash_watch(void);

#endif
