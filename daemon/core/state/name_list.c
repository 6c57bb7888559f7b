/* name_list.c - lists are short, so they are walked. */
#include "core/state/name_list.h"

#include <string.h>

int name_find(const char *const *words, int n, const char *word)
{
	int i = 0;
	while (i < n && strcmp(words[i], word) != 0)
		i++;
	return i;
}
