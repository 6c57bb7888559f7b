/**
 * signature.h - what tells a line that the runner wrote from any that branch code writes into the same channel.
 *
 * A sealed line is "MAC NUMBER {record}": HMAC-SHA-256 over "NUMBER {record}", cut to SIGNATURE_MAC digits, under a key that only
 * worker and runner know; numbers go from 0. Whoever reads lines on their way learns nothing that would make another one.
 */
#ifndef CORE_PROTOCOL_SIGNATURE_H
#define CORE_PROTOCOL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>

/** Hex digits of a key, and of a line's MAC; the most bytes before a sealed record. */
enum { SIGNATURE_KEY = 32, SIGNATURE_MAC = 32, SIGNATURE_ROOM = SIGNATURE_MAC + 24 };

/** Hex of the MAC of `text`, "NUMBER {record}" without LF. `key` is hex of SIGNATURE_KEY digits. Shape: mac[SIGNATURE_MAC + 1]. */
void signature_make(const char *key, const char *text, size_t len, char *mac);
/** The record within a sealed line that has this number; NULL: the line is not sealed with this key. Own: points into `line`. */
const char *signature_open(const char *key, unsigned long long number, const char *line, size_t len);

#endif
