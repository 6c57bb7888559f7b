/* oomkills.c - counters of /proc/vmstat and of memory.events in the control group (version 2). */
#include "worker/sandbox/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { VMSTAT_MAX = 32 << 10 };

long oomkills_count(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, n) == 0 && line[n] == ' ')
			return strtol(line + n + 1, NULL, 10);
	return -1;
}

/* Shape: text[VMSTAT_MAX]; "" if it cannot be read. */
static const char *read_text(const char *path, char *text)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	while (fd >= 0 && used < VMSTAT_MAX - 1 && (n = read(fd, text + used, VMSTAT_MAX - 1 - used)) > 0)
		used += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[used] = '\0';
	return text;
}

void oomkills_read(struct oomkills *out)
{
	char text[VMSTAT_MAX], path[PATH_MAX];
	const char *group;

	out->machine = oomkills_count(read_text("/proc/vmstat", text), "oom_kill");
	out->group = -1;
	group = strstr(read_text("/proc/self/cgroup", text), "0::/");
	if (!group)
		return;
	snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/memory.events", (int)strcspn(group + 3, "\n"), group + 3);
	out->group = oomkills_count(read_text(path, text), "oom_kill");
}
