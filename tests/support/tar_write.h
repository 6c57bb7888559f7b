/* tar_write.h - ustar entries for tests, good ones and broken ones. */
#ifndef TESTS_TAR_WRITE_H
#define TESTS_TAR_WRITE_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/lib.h"

enum { TAR_BLOCK = 512 };

static inline void tar_checksum(char *header)
{
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (int i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum & 0777777);
}

/* `mode` 0755 or 0644; `target` of a link, else NULL; `size` of the content that follows. */
static inline void tar_header(char *h, const char *name, char type, unsigned mode, const char *target, size_t size)
{
	memset(h, 0, TAR_BLOCK);
	memcpy(h, name, strlen(name) < 100 ? strlen(name) : 100);
	snprintf(h + 100, 8, "%07o", mode & 07777);
	snprintf(h + 108, 8, "%07o", 0);
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011o", (unsigned)size & 0x3fffffff);
	snprintf(h + 136, 12, "%011o", 0);
	h[156] = type;
	if (target)
		memcpy(h + 157, target, strlen(target) < 100 ? strlen(target) : 100);
	memcpy(h + 257, "ustar\00000", 8);
	tar_checksum(h);
}

static inline void tar_pad(struct buf *b)
{
	while (b->len % TAR_BLOCK)
		buf_putc(b, '\0');
}

static inline void tar_entry(struct buf *b, const char *name, char type, unsigned mode, const char *target, const char *content)
{
	char h[TAR_BLOCK];
	size_t n = content ? strlen(content) : 0;

	tar_header(h, name, type, mode, target, n);
	buf_append(b, h, sizeof h);
	if (n)
		buf_append(b, content, n);
	tar_pad(b);
}

static inline void tar_file(struct buf *b, const char *name, const char *content)
{
	tar_entry(b, name, '0', 0644, NULL, content);
}

static inline void tar_end(struct buf *b)
{
	char zero[2 * TAR_BLOCK] = { 0 };

	buf_append(b, zero, sizeof zero);
}

/* The archive as a descriptor at offset 0. */
static inline int tar_fd(const struct buf *b)
{
	FILE *f = tmpfile();
	int fd = f ? dup(fileno(f)) : -1;

	if (fd >= 0 && (write(fd, b->data, b->len) != (ssize_t)b->len || lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	if (f)
		fclose(f);
	return fd;
}

#endif
