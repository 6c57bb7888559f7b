/** config_contains.h - comparison of a plan's configuration with the requested one. Pure. */
#ifndef RUNNER_CONFIG_CONTAINS_H
#define RUNNER_CONFIG_CONTAINS_H

#include <stdbool.h>

/**
 * Return whether every word of `asked` ("STAGES=2") is in `chosen` ("BLOCK_M=128 STAGES=2"), in any order: a provider of a
 * later commit may have more keys.
 */
bool config_contains_all(const char *requested, const char *chosen);

#endif
