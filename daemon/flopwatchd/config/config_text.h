/** config_text.h - readers of text settings, with their checks. */
#ifndef FLOPWATCHD_CONFIG_CONFIG_TEXT_H
#define FLOPWATCHD_CONFIG_CONFIG_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/yaml.h"

/** Copy a text; NULL leaves `out` unchanged. Returns true if the text exists and fits. Shape: out[size]. */
bool config_text_node(struct yaml *y, struct yaml_node *n, char *out, size_t size);
/** As above, for a key of `map`. */
bool config_text(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above, for a required key. */
void config_text_required(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above; requires an absolute path. */
void config_text_folder(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above; the text must be one of `words`, which end with NULL. `list` names them in messages. */
void config_text_choice(struct yaml *y, struct yaml_node *map, const char *key, const char *const *words, const char *list,
	char *out, size_t size);
/** Read `name` of an entry; the name must be safe in paths, URLs and log lines. */
void config_text_name(struct yaml *y, struct yaml_node *map, char *out, size_t size);
/** Read a list of texts, or a single text; returns their number. Shape: out[max][size]. */
int config_text_list(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size, int max);

#endif
