/** name_list.h - a closed list of names as a table, for rows, JSON and command lines. */
#ifndef MODEL_NAME_LIST_H
#define MODEL_NAME_LIST_H

/** Return the position of `word`; n: not in the list. Shape: words[n]. */
int name_find(const char *const *words, int n, const char *word);

#endif
