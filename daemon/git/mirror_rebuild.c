/* mirror_rebuild.c - two files in a mirror: the request, and the damages for which it was rebuilt, one on each line. */
#include "git/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { WORD_SIZE = 1024, LIST_SIZE = 16 << 10 };

static const char requested_name[] = "flopwatch-damaged", made_name[] = "flopwatch-remade";

/* Read a file of the mirror; "": it does not exist. Shape: text[size]. */
static void read_text(const char *dir, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	ssize_t n = -1;

	snprintf(path, sizeof path, "%s/%s", dir, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, text, size - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

static int write_text(const char *dir, const char *name, const char *text, struct fw_err *err)
{
	char path[PATH_MAX];
	size_t len = strlen(text);

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, name) >= sizeof path)
		return err_set(err, ERR_INVALID, "%.200s: path too long", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	if (fd < 0)
		return err_sys(err, "create %s", path);
	int result = write(fd, text, len) == (ssize_t)len ? 0 : err_sys(err, "write %s", path);
	close(fd);
	return result;
}

void mirror_rebuild_request(const char *dir, struct fw_err *err)
{
	char path[PATH_MAX], before[LIST_SIZE];
	struct fw_err met = *err;

	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, MIRROR_MARKER) >= sizeof path || access(path, F_OK) != 0)
		return;
	read_text(dir, made_name, before, sizeof before);
	if (strstr(before, met.text) || write_text(dir, requested_name, met.text, NULL) != 0)
		return;
	err_clear(err);
	err_set(err, ERR_BUSY, "%s; the next fetch rebuilds the mirror", met.text);
}

bool mirror_rebuild_is_requested(const char *dir, struct fw_err *why)
{
	char text[WORD_SIZE];

	read_text(dir, requested_name, text, sizeof text);
	if (text[0])
		err_set(why, ERR_DAMAGED, "%s", text);
	return text[0] != '\0';
}

int mirror_rebuild_note(const char *dir, const char *fresh, const char *why, struct fw_err *err)
{
	char before[LIST_SIZE - WORD_SIZE - 2], text[LIST_SIZE];

	read_text(dir, made_name, before, sizeof before);
	snprintf(text, sizeof text, "%s\n%s", why, before); /* the oldest lines are dropped */
	return write_text(fresh, made_name, text, err);
}
