/** config_delta.h - what two configurations of a provider ("BLOCK_M=128 STAGES=2") differ in, key by key. Pure. */
#ifndef CORE_CAUSE_CONFIG_DELTA_H
#define CORE_CAUSE_CONFIG_DELTA_H

#include <stdbool.h>
#include <stddef.h>

enum { CONFIG_DELTA_MAX = 24, CONFIG_DELTA_TEXT = 64, CONFIG_DELTA_SIZE = 400 };

/** A word without "=" is a key whose value is "set". */
struct config_change {
	char key[CONFIG_DELTA_TEXT], base[CONFIG_DELTA_TEXT], target[CONFIG_DELTA_TEXT]; /* "": that side has no such key */
};

/** Keys whose values differ, in the base's order, then those that only the target has; the order of keys itself does not matter. */
size_t config_delta(const char *base, const char *target, struct config_change out[CONFIG_DELTA_MAX]);

/** The same as text: "TILE 3 -> 2, PARTS 2 -> 1, SPLIT none -> 4". "" where they do not differ. Shape: out[CONFIG_DELTA_SIZE]. */
void config_delta_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE]);

#endif
