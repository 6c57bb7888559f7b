/* oomkills.c - counters of /proc/vmstat and of memory.events in the control group (version 2). */
#include "worker/sandbox/sandbox.h"

enum { VMSTAT_MAX = 32 << 10 };

long oomkills_count(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, name, n) == 0 && line[n] == ' ')
			return strtol(line + n + 1, NULL, 10);
	return -1;
}

void oomkills_read(struct oomkills *out)
{
	char text[VMSTAT_MAX], path[PATH_MAX];

	fd_read_text("/proc/vmstat", text, sizeof text);
	out->machine = oomkills_count(text, "oom_kill");
	out->group = -1;
	fd_read_text("/proc/self/cgroup", text, sizeof text);
	const char *group = strstr(text, "0::/");
	if (!group)
		return;
	snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/memory.events", (int)strcspn(group + 3, "\n"), group + 3);
	fd_read_text(path, text, sizeof text);
	out->group = oomkills_count(text, "oom_kill");
}
