/* outside.c - process trees and seccomp states read from /proc. */
#include "worker/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "worker/sandbox/sandbox.h"

static int number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atoi(at + strlen(name)) : -1;
}

static void read_process(pid_t pid, struct outside_process *out)
{
	char path[48], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	*out = (struct outside_process){
		.pid = pid, .filters = number_of(text, "\nSeccomp_filters:"), .no_new_privs = number_of(text, "\nNoNewPrivs:")
	};
}

void outside_begin(struct outside *o, pid_t root)
{
	pid_t pid[OUTSIDE_PIDS_MAX];
	int n = procs_below(root, pid, OUTSIDE_PIDS_MAX);

	outside_end(o);
	o->process = calloc((size_t)n + 1, sizeof *o->process);
	for (int i = 0; o->process && i < n; i++)
		read_process(pid[i], &o->process[o->n++]);
}

void outside_end(struct outside *o)
{
	free(o->process);
	*o = (struct outside){ .n = 0 };
}

static const struct outside_process *find(const struct outside *o, pid_t pid)
{
	for (int i = 0; i < o->n; i++)
		if (o->process[i].pid == pid)
			return &o->process[i];
	return NULL;
}

const char *outside_compare(const struct outside *o, pid_t root, char *why)
{
	pid_t pid[OUTSIDE_PIDS_MAX];
	int n = o->n > 0 ? procs_below(root, pid, OUTSIDE_PIDS_MAX) : 0;

	for (int i = 0; i < n; i++)
		if (!find(o, pid[i])) {
			snprintf(why, OUTSIDE_WHY_SIZE,
				"a process that the runner did not find exists next to it after a call: part of the work, "
				"or of the load, is not timed");
			return "escaped";
		}
	for (int i = 0; i < o->n; i++) {
		const struct outside_process *was = &o->process[i];
		struct outside_process now;

		read_process(was->pid, &now);
		if (now.filters <= was->filters && (now.no_new_privs < 0 || now.no_new_privs == was->no_new_privs))
			continue;
		snprintf(why, OUTSIDE_WHY_SIZE,
			"changed which system calls the process may make, which cannot be undone: it holds for later calls, the base's too");
		return "slowed";
	}
	return NULL;
}
