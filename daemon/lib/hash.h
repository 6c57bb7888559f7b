/** hash.h - SHA-256 and HMAC-SHA-256 by nettle, hex, and comparison in constant time. */
#ifndef LIB_HASH_H
#define LIB_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/err.h"

#define HASH_HEX 65 /* 64 digits and NUL */

/** Lower-case hex SHA-256 of `len` bytes. */
void hash_hex(const void *data, size_t len, char hex[HASH_HEX]);
/** Of everything from the current offset of `fd` to its end. */
int hash_fd(int fd, char hex[HASH_HEX], struct fw_err *err);
/** Of a file. */
int hash_file(const char *path, char hex[HASH_HEX], struct fw_err *err);
/** HMAC-SHA-256 of `data` under `key`. */
void hash_hmac(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[32]);
/** HMAC-SHA-1, as OpenSSH hashes the names in known_hosts. */
void hash_hmac_sha1(const void *key, size_t key_len, const void *data, size_t len, unsigned char mac[20]);
/** SHA-256 as its bytes. */
void hash_bytes(const void *data, size_t len, unsigned char digest[32]);
/** Equal, in a time that does not depend on where they differ. */
bool hash_equal(const void *a, const void *b, size_t len);
/** Lower-case hex of `len` bytes. Shape: hex[2 * len + 1]. */
void hash_to_hex(const void *data, size_t len, char *hex);

/** Incremental form. */
struct hash_state {
	unsigned long long opaque[32];
};
void hash_begin(struct hash_state *s);
void hash_update(struct hash_state *s, const void *data, size_t len);
void hash_end(struct hash_state *s, char hex[HASH_HEX]);

#endif
