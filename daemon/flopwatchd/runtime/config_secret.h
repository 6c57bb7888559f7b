/**
 * config_secret.h - settings that name a file: an absolute path, or `credential:NAME`, a credential that systemd passes to the service.
 *
 * Files of secrets are refused where others than their owner may read them.
 */
#ifndef FLOPWATCHD_RUNTIME_CONFIG_SECRET_H
#define FLOPWATCHD_RUNTIME_CONFIG_SECRET_H

#include "base/yaml.h"
#include "flopwatchd/runtime/config.h"

/** The path of a file that can be read. Returns whether there is one; else `out` is "". Shape: out[size]. */
bool config_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** The path of a private key without passphrase that ssh can use. */
void config_key_file(struct yaml *y, struct yaml_node *map, const char *key, char *out, size_t size);
/** The secret on the first line of a file. Shape: secret[size]. */
void config_secret(struct yaml *y, struct yaml_node *map, const char *key, char *secret, size_t size);
/** How the server of a repository, whose url is read already, is reached and recognised. */
void config_access(struct yaml *y, struct yaml_node *map, struct config_repo *r);

#endif
