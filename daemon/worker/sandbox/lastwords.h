/** lastwords.h - the end of a process's output, often the reason for its end. */
#ifndef WORKER_SANDBOX_LASTWORDS_H
#define WORKER_SANDBOX_LASTWORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { LASTWORDS_KEPT = 4096 };

struct lastwords {
	char text[LASTWORDS_KEPT];
	size_t n;
};

void lastwords_keep(struct lastwords *w, const char *data, size_t len);
/** Write its last line, made printable. Shape: out[size]. */
void lastwords_report(const struct lastwords *w, char *out, size_t size);
/** Return whether the device refused the process because its memory is full or because it admits one process only. */
bool lastwords_of_no_room(const struct lastwords *w);

#endif
