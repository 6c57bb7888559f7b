/*
 * lz4.c - a block is a list of sequences: a token (high half: count of literals, low half: length of the match less 4; 15 goes on
 * in bytes until one is below 255), the literals, and how far back the match begins. The last sequence has literals alone.
 */
#include "base/lz4.h"

#include <stdint.h>
#include <string.h>

enum { MATCH_MIN = 4, GOES_ON = 15 };

struct reader {
	const uint8_t *at, *end;
};

/* A length whose first part stood in the token. */
static bool whole_length(struct reader *r, size_t *length)
{
	if (*length < GOES_ON)
		return true;
	uint8_t more;
	do {
		if (r->at == r->end)
			return false;
		more = *r->at++;
		*length += more;
	} while (more == 255);
	return true;
}

bool lz4_unpack(const void *in, size_t in_len, void *out, size_t out_len)
{
	struct reader r = { in, (const uint8_t *)in + in_len };
	uint8_t *to = out;
	size_t done = 0;
	while (r.at < r.end) {
		uint8_t token = *r.at++;
		size_t literals = token >> 4, match = token & 15;
		if (!whole_length(&r, &literals) || literals > (size_t)(r.end - r.at) || literals > out_len - done)
			return false;
		memcpy(to + done, r.at, literals);
		r.at += literals;
		done += literals;
		if (r.at == r.end)
			return done == out_len;
		if (r.end - r.at < 2)
			return false;
		size_t back = (size_t)r.at[0] | (size_t)r.at[1] << 8;
		r.at += 2;
		if (!whole_length(&r, &match) || back == 0 || back > done || match + MATCH_MIN > out_len - done)
			return false;
		/* byte by byte: a match may overlap what it writes */
		for (match += MATCH_MIN; match > 0; match--, done++)
			to[done] = to[done - back];
	}
	return false;
}
