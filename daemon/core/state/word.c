/* word.c - lists are short, so they are walked. */
#include "core/state/word.h"

#include <string.h>

int word_find(const char *const *words, int n, const char *word)
{
	int i = 0;
	while (i < n && strcmp(words[i], word) != 0)
		i++;
	return i;
}
