/** files.h - outputs of foreign benchmarks as files on this machine. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdbool.h>

/** Whether both are files here, so that `compare` means them and no branches. */
bool files_are(const char *a, const char *b);

#endif
