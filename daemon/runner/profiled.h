/**
 * profiled.h - detection of tools between this process and its device or clock, which make its times meaningless.
 *
 * Kernel profilers replay each kernel many times at locked clocks; tracers, sanitizers and debuggers stop calls.
 */
#ifndef RUNNER_PROFILED_H
#define RUNNER_PROFILED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Search the environment, the memory map and the tracer of this process. Call it once the device is open, since drivers load
 * injected libraries. `what` receives the tool: "ncu (NV_NSIGHT_INJECTION_PORT_BASE)". Returns false if none was found. Shape:
 * what[size].
 */
bool profiled_by(char *what, size_t size);

#endif
