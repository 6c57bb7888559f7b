/* rate.c - documented in internal.h. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "web/http/internal.h"

enum { CLIENTS_MAX = 1024 };

struct rate {
	int limit;
	struct client {
		char key[RATE_KEY_MAX]; /* "" free */
		int64_t until_ms;       /* end of its minute */
		int n;
	} client[CLIENTS_MAX];
};

struct rate *rate_new(int per_minute)
{
	struct rate *rate = mem_alloc_zero(1, sizeof *rate);
	rate->limit = per_minute;
	return rate;
}

void rate_free(struct rate *rate)
{
	free(rate);
}

/* The entry of a key: its own, else the one that ends first, which is then empty. */
static struct client *entry_of(struct rate *rate, const char *key)
{
	struct client *first = &rate->client[0];
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *c = &rate->client[i];
		if (strcmp(c->key, key) == 0)
			return c;
		if (c->until_ms < first->until_ms)
			first = c;
	}
	*first = (struct client){ 0 };
	snprintf(first->key, sizeof first->key, "%s", key);
	return first;
}

bool rate_take(struct rate *rate, const char *key, int64_t now_ms, struct rate_state *out)
{
	struct client *c = entry_of(rate, key);
	if (c->until_ms <= now_ms) {
		c->until_ms = now_ms + RATE_WINDOW_MS;
		c->n = 0;
	}
	bool is_allowed = c->n < rate->limit;
	c->n += is_allowed;
	*out = (struct rate_state){ rate->limit, rate->limit - c->n, (int)((c->until_ms - now_ms + 999) / 1000) };
	return is_allowed;
}

bool rate_key_of_address(const struct sockaddr *address, const char *forwarded, char key[RATE_KEY_MAX])
{
	char text[INET6_ADDRSTRLEN] = "?";
	struct in6_addr v6;
	bool is_local = false;
	if (address && address->sa_family == AF_INET) {
		const struct sockaddr_in *v4 = (const void *)address;
		is_local = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
		inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
	} else if (address && address->sa_family == AF_INET6) {
		v6 = ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
		is_local = IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
		inet_ntop(AF_INET6, &v6, text, sizeof text);
	}
	if (is_local && forwarded) { /* a proxy on this machine appended the address of its client */
		const char *last = strrchr(forwarded, ',');
		last = last ? last + 1 : forwarded;
		last += strspn(last, " \t");
		snprintf(text, sizeof text, "%.*s", (int)strcspn(last, " \t"), last);
		is_local = false;
	}
	if (inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6)) { /* a client has all addresses of a /64 */
		memset(v6.s6_addr + 8, 0, 8);
		inet_ntop(AF_INET6, &v6, text, sizeof text);
	}
	snprintf(key, RATE_KEY_MAX, "address %s", text);
	return !is_local;
}
