/* signature.c - one HMAC per line. */
#include "protocol/protocol.h"

#include <stdio.h>

void signature_make(const char *key, const char *text, size_t len, char *mac)
{
	unsigned char whole[32];

	hash_hmac(key, SIGNATURE_KEY, text, len, whole);
	hash_to_hex(whole, SIGNATURE_MAC / 2, mac);
}

const char *signature_open(const char *key, unsigned long long number, const char *line, size_t len)
{
	char mac[SIGNATURE_MAC + 1], wanted[24];
	size_t n = (size_t)snprintf(wanted, sizeof wanted, "%llu ", number);
	const char *text = line + SIGNATURE_MAC + 1;

	if (len < SIGNATURE_MAC + 1 + n || line[SIGNATURE_MAC] != ' ' || memcmp(text, wanted, n) != 0)
		return NULL;
	signature_make(key, text, len - SIGNATURE_MAC - 1, mac);
	return hash_equal(mac, line, SIGNATURE_MAC) ? text + n : NULL;
}
