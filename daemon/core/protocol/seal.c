/* seal.c - one HMAC a line. */
#include "core/protocol/seal.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

void seal_make(const char *key, const char *text, size_t len, char *mac)
{
	unsigned char whole[32];

	hash_hmac(key, SEAL_KEY, text, len, whole);
	hash_to_hex(whole, SEAL_MAC / 2, mac);
}

const char *seal_open(const char *key, unsigned long long number, const char *line, size_t len)
{
	char mac[SEAL_MAC + 1], wanted[24];
	size_t n = (size_t)snprintf(wanted, sizeof wanted, "%llu ", number);
	const char *text = line + SEAL_MAC + 1;

	if (len < SEAL_MAC + 1 + n || line[SEAL_MAC] != ' ' || memcmp(text, wanted, n) != 0)
		return NULL;
	seal_make(key, text, len - SEAL_MAC - 1, mac);
	return hash_equal(mac, line, SEAL_MAC) ? text + n : NULL;
}
