/**
 * crash.h - where in a module its process died, told while it dies.
 *
 * Lines on stderr, one for each frame in a module, the innermost first: "flopwatch: crash in /proc/self/fd/10 at 0x1a2b". The worker, which has
 * the module's names and lines, makes a place in the sources of it. The process ends by the same signal as without it.
 */
#ifndef RUNNER_CALL_CRASH_H
#define RUNNER_CALL_CRASH_H

/** Tell of crashes of this thread, and of those of others whose stacks have room. Once, before any module is loaded. */
void crash_watch(void);

#endif
