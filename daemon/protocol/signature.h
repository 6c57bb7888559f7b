/**
 * signature.h - authentication of the runner's lines against lines that branch code writes into the same channel.
 *
 * A signed line is "MAC NUMBER {record}": HMAC-SHA-256 over "NUMBER {record}", cut to SIGNATURE_MAC digits, under a key that
 * only worker and runner know; numbers count from 0. A reader of such lines cannot make another one.
 */
#ifndef PROTOCOL_SIGNATURE_H
#define PROTOCOL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

/** Hex digits of a key, and of a line's MAC; maximum bytes before a signed record. */
enum { SIGNATURE_KEY = 32, SIGNATURE_MAC = 32, SIGNATURE_ROOM = SIGNATURE_MAC + 24 };

/**
 * Compute the MAC of `text`, "NUMBER {record}" without LF, as hex. `key`: SIGNATURE_KEY hex digits. Shape: mac[SIGNATURE_MAC +
 * 1].
 */
void signature_make(const char *key, const char *text, size_t len, char *mac);
/** Return the record in a signed line with this number; NULL: the signature is wrong. Own: points into `line`. */
const char *signature_open(const char *key, unsigned long long number, const char *line, size_t len);

#endif
