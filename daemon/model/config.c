/* config.c - terms of a provider's configuration. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char separators[] = " ,;\t\n";

struct term {
	const char *text;
	size_t len, key_len; /* key_len: up to '='; of a term without '=' the whole */
};

/* Step to the next term after `*at`. Returns false at the end. */
static bool next_term(const char **at, struct term *out)
{
	const char *text = *at + strspn(*at, separators);
	const char *mark;

	out->text = text;
	out->len = strcspn(text, separators);
	mark = memchr(text, '=', out->len);
	out->key_len = mark ? (size_t)(mark - text) : out->len;
	*at = text + out->len;
	return out->len > 0;
}

static bool has_term(const char *text, const struct term *wanted)
{
	struct term t;

	while (next_term(&text, &t))
		if (t.len == wanted->len && memcmp(t.text, wanted->text, t.len) == 0)
			return true;
	return false;
}

static bool has_key(const char *text, const struct term *wanted)
{
	struct term t;

	while (next_term(&text, &t))
		if (t.key_len == wanted->key_len && memcmp(t.text, wanted->text, t.key_len) == 0)
			return true;
	return false;
}

bool config_contains_all(const char *requested, const char *chosen)
{
	struct term t;

	while (next_term(&requested, &t))
		if (!has_term(chosen, &t))
			return false;
	return true;
}

size_t config_unfit(const char *requested, const char *own, char *out, size_t size)
{
	struct term t;
	size_t used = 0, n = 0;

	snprintf(out, size, "%s", "");
	while (next_term(&requested, &t)) {
		if (has_key(own, &t))
			continue;
		n++;
		if (used < size)
			used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? " " : "", (int)t.len, t.text);
	}
	return n;
}

/* The last term of `requested` with the key of `own`; else `own`. */
static struct term choose_term(const char *requested, const struct term *own)
{
	struct term t, found = *own;

	while (next_term(&requested, &t))
		if (t.key_len == own->key_len && memcmp(t.text, own->text, t.key_len) == 0)
			found = t;
	return found;
}

bool config_fit(const char *requested, const char *own, char *out, size_t size)
{
	const char *at = own, *from = own;
	struct term t;
	size_t used = 0;

	snprintf(out, size, "%s", "");
	while (next_term(&at, &t)) {
		struct term chosen = choose_term(requested, &t);

		used += (size_t)snprintf(
			out + used, size - used, "%.*s%.*s", (int)(t.text - from), from, (int)chosen.len, chosen.text);
		if (used >= size)
			return false;
		from = t.text + t.len;
	}
	return true;
}
