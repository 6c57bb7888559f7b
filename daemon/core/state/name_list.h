/** name_list.h - a closed list of words as a table: what stands in rows, JSON and command lines is one of them, or none. */
#ifndef CORE_STATE_NAME_LIST_H
#define CORE_STATE_NAME_LIST_H

/** Position of `word`; n: it is none of them. Shape: words[n]. */
int name_find(const char *const *words, int n, const char *word);

#endif
