/** config_delta.h - differences of two configurations of a provider ("BLOCK_M=128 STAGES=2"), key by key. Pure. */
#ifndef PROFILE_CONFIG_DELTA_H
#define PROFILE_CONFIG_DELTA_H

#include <stdbool.h>
#include <stddef.h>

enum { CONFIG_DELTA_MAX = 24, CONFIG_DELTA_TEXT = 64, CONFIG_DELTA_SIZE = 400 };

/** A changed key. A word without "=" is a key with the value "set". */
struct config_change {
	char key[CONFIG_DELTA_TEXT], base[CONFIG_DELTA_TEXT], target[CONFIG_DELTA_TEXT]; /* "": that side lacks the key */
};

/**
 * List keys with different values, in the base's order, then those that only the target has; the order of keys does not matter.
 */
size_t config_delta(const char *base, const char *target, struct config_change out[CONFIG_DELTA_MAX]);

/** Format the same: "TILE 3 -> 2, PARTS 2 -> 1, SPLIT none -> 4". "" without differences. Shape: out[CONFIG_DELTA_SIZE]. */
void config_delta_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE]);

#endif
