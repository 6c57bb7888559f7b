/**
 * config_secret.h - settings that name a file by an absolute path or as `credential:NAME`, a systemd credential. A file of
 * secrets is refused if others than its owner may read it.
 */
#ifndef FLOPWATCHD_CONFIG_CONFIG_SECRET_H
#define FLOPWATCHD_CONFIG_CONFIG_SECRET_H

#include "lib/yaml.h"
#include "flopwatchd/config/config.h"

/** Read the path of a readable file; false, and `out` "", if there is none. Shape: out[size]. */
bool config_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** Read the path of a private key without passphrase for ssh. */
void config_key_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** Read the secret on the first line of a file. Shape: secret[size]. */
void config_secret(struct yaml *y, struct yaml_node *map, const char *key, char *secret, size_t size);
/** Read the credentials and keys of a repository's server. Call it after `url` was read. */
void config_access(struct yaml *y, struct yaml_node *map, struct config_repo *r);

#endif
