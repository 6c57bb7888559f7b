/** image.h - what the worker's system is, as far as it can change times and builds: distribution and C library. */
#ifndef WORKER_BENCH_IMAGE_H
#define WORKER_BENCH_IMAGE_H

#include <stddef.h>

/** "debian 12.5, glibc 2.36", from the text of /etc/os-release and, of Debian, /etc/debian_version ("" none). Shape: out[size]. */
void image_text(const char *os_release, const char *point_release, char *out, size_t size);
/** The same of this machine. */
void image_describe(char *out, size_t size);

#endif
