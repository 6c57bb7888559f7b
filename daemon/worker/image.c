/* image.c - operating system and C library of the worker. */
#include "worker/internal.h"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <unistd.h>

enum { FILE_SIZE = 4096, WORD_SIZE = 32 };

static void value_of(const char *text, const char *key, char out[WORD_SIZE])
{
	size_t n = strlen(key);
	out[0] = '\0';
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (strncmp(line, key, n) != 0 || line[n] != '=')
			continue;
		const char *value = line + n + 1 + (line[n + 1] == '"');
		snprintf(out, WORD_SIZE, "%.*s", (int)strcspn(value, "\"\n"), value);
	}
}

void image_text(const char *os_release, const char *point_release, char *out, size_t size)
{
	char id[WORD_SIZE], version[WORD_SIZE];
	value_of(os_release, "ID", id);
	value_of(os_release, "VERSION_ID", version);
	if (strcmp(id, "debian") == 0 && point_release[0] >= '0' && point_release[0] <= '9')
		snprintf(version, sizeof version, "%.*s", (int)strcspn(point_release, "\n"), point_release);
	snprintf(out, size, "%s%s%s%sglibc %s", id, *id && *version ? " " : "", version, *id || *version ? ", " : "",
		gnu_get_libc_version());
}

static void read_file(const char *path, char out[FILE_SIZE])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, FILE_SIZE - 1);
	out[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

void image_describe(char *out, size_t size)
{
	char os_release[FILE_SIZE], point_release[FILE_SIZE];
	read_file("/etc/os-release", os_release);
	read_file("/etc/debian_version", point_release);
	image_text(os_release, point_release, out, size);
}
