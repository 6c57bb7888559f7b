/** remote.h - whether two addresses name the same git repository, however each is written. Pure, but for links in local paths. */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <stdbool.h>

/**
 * Whether `a` and `b` name one repository: ssh://, https://, git:// and scp's HOST:PATH, with and without user, password, default port,
 * `.git` and slashes at the end; hosts in any case. Ports count where both use the same scheme. Local paths, also as file://, are the same
 * where their links lead to the same place, and a checkout and its .git folder are one.
 */
bool remote_is_same(const char *a, const char *b);

#endif
