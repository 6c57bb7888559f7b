/* tmp_folder.h - a separate folder for a test, removed afterwards. */
#ifndef TESTS_TMP_FOLDER_H
#define TESTS_TMP_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/sandbox/sandbox.h"

struct tmp_folder {
	char path[64];
	int fd;
};

static inline int tmp_folder_open(struct tmp_folder *t)
{
	const char *parent = getenv("FUZZ_FOLDER"); /* in memory, for a search */

	snprintf(t->path, sizeof t->path, "%s/flopwatch-test-XXXXXX", parent ? parent : "/tmp");
	if (!mkdtemp(t->path))
		return -1;
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return t->fd < 0 ? -1 : 0;
}

static inline void tmp_folder_close(struct tmp_folder *t)
{
	int parent = openat(t->fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	close(t->fd);
	workdir_remove(parent, strrchr(t->path, '/') + 1, NULL);
	close(parent);
}

/* Content of a small file, or "" and errno. Shape: text[size]. */
static inline const char *tmp_folder_read(const struct tmp_folder *t, const char *name, char *text, size_t size)
{
	int fd = openat(t->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return text;
}

static inline int tmp_folder_write(const struct tmp_folder *t, const char *name, const char *text, mode_t mode)
{
	int fd = openat(t->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	int good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fchmod(fd, mode) == 0;

	if (fd >= 0)
		close(fd);
	return good ? 0 : -1;
}

#endif
