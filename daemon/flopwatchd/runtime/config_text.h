/** config_text.h - settings that are texts: read, measured and, where they cannot be believed, complained about. */
#ifndef FLOPWATCHD_RUNTIME_CONFIG_TEXT_H
#define FLOPWATCHD_RUNTIME_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/yaml.h"

/** Copy a text; NULL leaves `out` as it is. Returns whether it was there and fits. Shape: out[size]. */
bool config_text_node(struct yaml *y, struct yaml_node *n, char *out, size_t size);
/** The same of a key. */
bool config_text(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** The same of a key without which the entry means nothing. */
void config_text_required(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** An absolute path. */
void config_text_folder(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** One of `words`, which end with NULL; `list` names them to people. */
void config_text_choice(struct yaml *y, struct yaml_node *map, const char *key, const char *const *words, const char *list,
	char *out, size_t size);
/** `name` of an entry: names become parts of paths, URLs and log lines. */
void config_text_name(struct yaml *y, struct yaml_node *map, char *out, size_t size);
/** A list of texts, or one text alone. Returns how many were read. Shape: out[max][size]. */
int config_text_list(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size, int max);

#endif
