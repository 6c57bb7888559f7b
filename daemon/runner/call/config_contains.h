/** config_contains.h - whether a plan runs what it was handed. Pure. */
#ifndef RUNNER_CALL_CONFIG_CONTAINS_H
#define RUNNER_CALL_CONFIG_CONTAINS_H

#include <stdbool.h>

/**
 * Whether every word of `asked` ("STAGES=2") is one of `chosen` ("BLOCK_M=128 STAGES=2"), in whatever order: a provider of a later commit
 * may have keys that nobody asked for.
 */
bool config_contains_all(const char *asked, const char *chosen);

#endif
