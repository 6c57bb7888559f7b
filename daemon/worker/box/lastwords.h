/** lastwords.h - the end of what a process printed: often the reason why it ended. */
#ifndef WORKER_BOX_LASTWORDS_H
#define WORKER_BOX_LASTWORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { LASTWORDS_KEPT = 4096 };

struct lastwords {
	char text[LASTWORDS_KEPT];
	size_t n;
};

/** Remember what it printed, as far as it is the end. */
void lastwords_keep(struct lastwords *w, const char *data, size_t len);
/** Its last line, made printable. Shape: out[size]. */
void lastwords_tell(const struct lastwords *w, char *out, size_t size);
/** Whether the device refused a process for want of memory, or because it takes one process only. */
bool lastwords_of_no_room(const struct lastwords *w);

#endif
