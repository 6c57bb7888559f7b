/** internal.h - declarations that the files of this folder share. */
#ifndef FLOPWATCHD_CONFIG_INTERNAL_H
#define FLOPWATCHD_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "flopwatchd/config/config.h"
#include "lib/lib.h"

/*
 * ---- config_secret ----
 * Settings that name a file by an absolute path or as `credential:NAME`, a systemd credential. A file of
 * secrets is refused if others than its owner may read it.
 */

/** Read the path of a file that is opened later; false, and `out` "", if there is none. Shape: out[size]. */
bool config_file_path(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** Read the path of a readable file; false, and `out` "", if there is none. Shape: out[size]. */
bool config_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** Read the path of a private key without passphrase for ssh. */
void config_key_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** Read the secret on the first line of a file. Shape: secret[size]. */
void config_secret(struct yaml *y, struct yaml_node *map, const char *key, char *secret, size_t size);
/** Read the credentials and keys of a repository's server. Call it after `url` was read. */
void config_access(struct yaml *y, struct yaml_node *map, struct config_repo *r);

/* ---- config_text: Readers of text settings, with their checks. ---- */

/** Copy a text; NULL leaves `out` unchanged. Returns true if the text exists and fits. Shape: out[size]. */
bool config_text_node(struct yaml *y, struct yaml_node *n, char *out, size_t size);
/** As above, for a key of `map`. */
bool config_text(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above, for a required key. */
void config_text_required(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above; requires an absolute path. */
void config_text_folder(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** As above; the text must be in `choices`, which ends with NULL. `list` names the values in messages. */
void config_text_choice(struct yaml *y, struct yaml_node *map, const char *key, const char *const *choices, const char *list,
	char *out, size_t size);
/** Read `name` of an entry; the name must be safe in paths, URLs and log lines. */
void config_text_name(struct yaml *y, struct yaml_node *map, char *out, size_t size);
/** Read a list of texts, or a single text; returns their number. Shape: out[max][size]. */
int config_text_list(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size, int max);

/**
 * Parse "22:00-07:00" into two different minutes of the day, the second one excluded; it may be the next day's. False, and both
 * unchanged, if the text is something else.
 */
bool config_day_range(const char *text, int *from, int *to);

/* ---- config_webhook: One entry of `webhooks`, with the keys of its kind. ---- */

/** Append an entry to c->webhook. Mistakes go to `y`. */
void config_webhook_read(struct yaml *y, struct yaml_node *map, struct config *c);

/* ---- config_oidc ---- */

/** Read `oidc`, after `access` and `public_url`. Mistakes go to `y`. */
void config_oidc_read(struct yaml *y, struct yaml_node *root, struct config *c);

/* ---- config_settings ---- */

/** Append the settings of a document without mistakes, as config_settings_each reads them. */
void config_settings_write(struct yaml *y, struct buf *out);

/* ---- config_url: Checks of repository addresses: neither git, ssh nor a shell may treat one as an option or a command. ---- */

/** Return the text after `prefix`, NULL if `text` does not begin with it. */
const char *config_after_prefix(const char *text, const char *prefix);
/** Check an HTTP address. Pages and logs show it, so it must contain no secret; `instead` names the setting for the secret. */
void config_web_url_check(struct yaml *y, struct yaml_node *n, const char *url, const char *instead);
/** Describe the fault of a repository address, NULL none. */
const char *config_repo_url_wrong(const char *url);

#endif
