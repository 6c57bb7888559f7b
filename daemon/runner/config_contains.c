/* config_contains.c - word-wise comparison of configurations. */
#include "runner/internal.h"

static const char separators[] = " ,;\t\n";

static bool has_word(const char *text, const char *word, size_t len)
{
	for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
		size_t n = strcspn(text, separators);
		if (n == len && memcmp(text, word, len) == 0)
			return true;
		text += n;
	}
	return false;
}

bool config_contains_all(const char *requested, const char *chosen)
{
	for (requested += strspn(requested, separators); *requested; requested += strspn(requested, separators)) {
		size_t n = strcspn(requested, separators);
		if (!has_word(chosen, requested, n))
			return false;
		requested += n;
	}
	return true;
}
