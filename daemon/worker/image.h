/** image.h - the worker's system as far as it can change times and builds: distribution and C library. */
#ifndef WORKER_IMAGE_H
#define WORKER_IMAGE_H

#include <stddef.h>

/**
 * Format "debian 12.5, glibc 2.36" from the text of /etc/os-release and, on Debian, /etc/debian_version ("" none). Shape:
 * out[size].
 */
void image_text(const char *os_release, const char *point_release, char *out, size_t size);
/** Format the same for this machine. */
void image_describe(char *out, size_t size);

#endif
