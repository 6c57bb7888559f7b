/* config_delta.c - comparison of configurations by key. */
#include "profile/profile.h"

#include <stdio.h>

static const char separators[] = " ,;\t\n";

/* Parse the next item from `*at` on; false at the end. */
static bool next(const char **at, const char **key, size_t *key_len, const char **value, size_t *value_len)
{
	const char *word = *at + strspn(*at, separators);
	size_t len = strcspn(word, separators), name = strcspn(word, "=");

	*at = word + len;
	*key = word;
	*key_len = name < len ? name : len;
	*value = name < len ? word + name + 1 : "set";
	*value_len = name < len ? len - name - 1 : 3;
	return len > 0;
}

static bool find(const char *in, const char *key, size_t key_len, const char **value, size_t *value_len)
{
	const char *at = in, *other;
	size_t other_len;

	while (next(&at, &other, &other_len, value, value_len))
		if (other_len == key_len && memcmp(other, key, key_len) == 0)
			return true;
	return false;
}

static void copy(char out[CONFIG_DELTA_TEXT], const char *text, size_t len)
{
	snprintf(out, CONFIG_DELTA_TEXT, "%.*s", (int)(len < CONFIG_DELTA_TEXT ? len : CONFIG_DELTA_TEXT - 1), text);
}

size_t config_delta(const char *base, const char *target, struct config_change out[CONFIG_DELTA_MAX])
{
	const char *in[2] = { base ? base : "", target ? target : "" };
	size_t n = 0;

	for (int side = 0; side < 2; side++) {
		const char *at = in[side], *key, *value, *other;
		size_t key_len, value_len, other_len;

		while (n < CONFIG_DELTA_MAX && next(&at, &key, &key_len, &value, &value_len)) {
			bool both = find(in[!side], key, key_len, &other, &other_len);

			if (both && (side == 1 || (other_len == value_len && memcmp(other, value, value_len) == 0)))
				continue;
			struct config_change *c = &out[n++];

			*c = (struct config_change){ 0 };
			copy(c->key, key, key_len);
			copy(side == 0 ? c->base : c->target, value, value_len);
			if (both)
				copy(c->target, other, other_len);
		}
	}
	return n;
}

void config_choice_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE])
{
	struct config_change change[CONFIG_DELTA_MAX];
	size_t n = config_delta(base, target, change), used = 0;

	out[0] = '\0';
	for (int side = 1; side >= 0 && n > 0; side--) {
		for (size_t i = 0; i < n && used < CONFIG_DELTA_SIZE; i++) {
			const char *value = side ? change[i].target : change[i].base;
			int added = snprintf(out + used, CONFIG_DELTA_SIZE - used, "%s%s %s", i ? ", " : "", change[i].key,
				value[0] ? value : "unset");

			used += added > 0 ? (size_t)added : 0;
		}
		if (side && used < CONFIG_DELTA_SIZE) {
			int added = snprintf(out + used, CONFIG_DELTA_SIZE - used, " instead of ");

			used += added > 0 ? (size_t)added : 0;
		}
	}
}

void config_delta_text(const char *base, const char *target, char out[CONFIG_DELTA_SIZE])
{
	struct config_change change[CONFIG_DELTA_MAX];
	size_t n = config_delta(base, target, change), used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < n && used < CONFIG_DELTA_SIZE; i++) {
		const struct config_change *c = &change[i];
		int added = snprintf(out + used, CONFIG_DELTA_SIZE - used, "%s%s %s -> %s", i ? ", " : "", c->key,
			c->base[0] ? c->base : "none", c->target[0] ? c->target : "none");

		used += added > 0 ? (size_t)added : 0;
	}
}
