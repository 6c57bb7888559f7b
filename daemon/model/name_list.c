/* name_list.c - linear search in short lists. */
#include "model/internal.h"

int name_find(const char *const *words, int n, const char *word)
{
	int i = 0;
	while (i < n && strcmp(words[i], word) != 0)
		i++;
	return i;
}
