/* procs.c - descendants from /proc/PID/stat: read the parents of all processes, then follow them. */
#include "worker/sandbox/sandbox.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum {
	KILLED_FEW = 8, /* processes that can hardly start others before the next round */
	KILLED_WAITS = 10,
	QUIET_ROUNDS = 2, /* successive rounds that find no process, after which none is left */
	LOWEST_NICE = 19,
	PROCESSES_A_CORE = 64, /* limit of a build, within the next two */
	PROCESSES_MIN = 400,
	PROCESSES_MAX = 1000
};

struct process {
	pid_t pid, parent;
	long threads;
	bool ours, ended; /* a descendant; all threads ended, though it may have children */
};

struct table {
	struct process *p;
	int n, capacity;
};

void procs_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Parse one stat file after its last ')', because the program's name before it may contain any byte. */
static bool read_stat(int proc_fd, const char *pid, struct process *out)
{
	char path[300], text[512], state;
	const char *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/stat", pid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')');
	out->pid = (pid_t)strtol(pid, NULL, 10);
	out->ours = false;
	if (!p || sscanf(p + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state, &out->parent,
			  &out->threads) != 3)
		return false;
	out->ended = (state == 'Z' || state == 'X') && out->threads <= 1;
	return true;
}

static int read_table(struct table *t)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (t->n == t->capacity) {
			t->capacity = t->capacity ? 2 * t->capacity : 1024;
			t->p = mem_grow(t->p, (size_t)t->capacity, sizeof *t->p);
		}
		t->n += read_stat(dirfd(dir), entry->d_name, &t->p[t->n]);
	}
	closedir(dir);
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = ((const struct process *)a)->pid, y = ((const struct process *)b)->pid;

	return (x > y) - (x < y);
}

/* Mark descendants of `self` until a pass finds no more. Returns the number of living ones. */
static int mark_below(struct table *t, pid_t self)
{
	bool more = true;
	int found = 0, i;

	qsort(t->p, (size_t)t->n, sizeof *t->p, by_pid);
	while (more) {
		more = false;
		for (i = 0; i < t->n; i++) {
			struct process key = { .pid = t->p[i].parent }, *parent;

			if (t->p[i].ours)
				continue;
			parent = t->p[i].parent == self ? NULL : bsearch(&key, t->p, (size_t)t->n, sizeof key, by_pid);
			if (t->p[i].parent != self && !(parent && parent->ours))
				continue;
			t->p[i].ours = true;
			more = true;
			found += !t->p[i].ended;
		}
	}
	return found;
}

static int mark(struct table *t)
{
	return mark_below(t, getpid());
}

int procs_list(pid_t root, pid_t *out, int max, long *threads)
{
	struct table t = { 0 };
	int n = 0;

	*threads = 0;
	if (read_table(&t) == 0 && t.n)
		(void)mark_below(&t, root);
	for (int i = 0; i < t.n; i++) {
		if ((!t.p[i].ours && t.p[i].pid != root) || t.p[i].ended)
			continue;
		*threads += t.p[i].threads;
		if (n < max)
			out[n++] = t.p[i].pid;
	}
	free(t.p);
	return n;
}

bool procs_contain(const pid_t *pid, int n, pid_t wanted)
{
	for (int i = 0; i < n; i++)
		if (pid[i] == wanted)
			return true;
	return false;
}

/* Whether this is a process, not another thread of one: threads share its numbers, and /proc finds them by those. */
static bool is_process(int proc_fd, pid_t pid)
{
	char path[32], text[1024] = "";
	ssize_t n;

	snprintf(path, sizeof path, "%d/status", (int)pid);
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	const char *group = n > 0 ? strstr(text, "\nTgid:") : NULL;
	return group && strtol(group + strlen("\nTgid:"), NULL, 10) == pid;
}

int procs_list_started(long after, long newest, pid_t *pid, int n, int max, long *threads)
{
	int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC), living = 0;
	char name[24];
	struct process p;

	*threads = 0;
	for (int i = 0; proc_fd >= 0 && i < n; i++) {
		snprintf(name, sizeof name, "%d", (int)pid[i]);
		if (!read_stat(proc_fd, name, &p) || p.ended)
			continue;
		*threads += p.threads;
		pid[living++] = pid[i];
	}
	for (long number = after + 1; proc_fd >= 0 && number <= newest; number++) {
		snprintf(name, sizeof name, "%ld", number);
		if (procs_contain(pid, living, (pid_t)number) || !read_stat(proc_fd, name, &p) || p.ended ||
			!procs_contain(pid, living, p.parent) || !is_process(proc_fd, p.pid))
			continue;
		*threads += p.threads;
		if (living < max)
			pid[living++] = p.pid;
	}
	fd_close(&proc_fd);
	return living;
}

int procs_below(pid_t root, pid_t *out, int max)
{
	long threads;

	return procs_list(root, out, max, &threads);
}

int procs_count_or_yield(int many)
{
	struct table t = { 0 };
	int n = -1, i;

	if (read_table(&t) == 0)
		n = t.n ? mark(&t) : 0;
	for (i = 0; n > many && i < t.n; i++)
		if (t.p[i].ours)
			setpriority(PRIO_PROCESS, (id_t)t.p[i].pid, LOWEST_NICE);
	free(t.p);
	return n;
}

int procs_count(void)
{
	return procs_count_or_yield(INT_MAX);
}

int procs_build_max(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = cores * PROCESSES_A_CORE;

	return wanted < PROCESSES_MIN ? PROCESSES_MIN : wanted > PROCESSES_MAX ? PROCESSES_MAX : (int)wanted;
}

int procs_threads(void)
{
	char text[128];
	int threads = -1;

	fd_read_text("/proc/loadavg", text, sizeof text);
	const char *slash = strchr(text, '/');
	return slash && sscanf(slash + 1, "%d", &threads) == 1 ? threads : -1;
}

long procs_newest(void)
{
	char text[128];
	long newest = 0;

	fd_read_text("/proc/loadavg", text, sizeof text);
	const char *slash = strchr(text, '/');
	return slash && sscanf(slash + 1, "%*d %ld", &newest) == 1 && newest > 0 ? newest : -1;
}

static pid_t spared[PROCS_SPARED_MAX];
static int n_spared;

void procs_spare(const pid_t *pid, int n)
{
	n_spared = n < PROCS_SPARED_MAX ? n : PROCS_SPARED_MAX;
	if (n_spared > 0)
		memcpy(spared, pid, (size_t)n_spared * sizeof *pid);
}

/* Kill all descendants that are not excluded. Returns the number of living ones; -1: unknown. */
static int kill_round(void)
{
	struct table t = { 0 };
	int n = -1, i;

	if (read_table(&t) == 0) {
		n = 0;
		(void)mark(&t);
	}
	for (i = 0; i < t.n; i++)
		if (t.p[i].ours && !procs_contain(spared, n_spared, t.p[i].pid)) {
			kill(t.p[i].pid, SIGKILL);
			n += !t.p[i].ended;
		}
	free(t.p);
	return n;
}

/*
 * Reap children. Returns true if none is left: orphans become children of this process, so it then has no descendant. The table
 * alone is no proof, since it may miss a process that forks and exits during the scan.
 */
static bool none_left(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG | __WALL)) > 0)
		continue;
	return pid < 0 && errno == ECHILD;
}

int procs_end_all(void)
{
	int64_t deadline = clock_mono_ns() + 3000000000LL;
	int left, quiet = 0;

	while (!none_left()) {
		left = kill_round();
		quiet = left == 0 ? quiet + 1 : 0;
		/* excluded processes remain children, so the rounds must show that no other is left */
		if (n_spared > 0 && quiet == QUIET_ROUNDS)
			return 0;
		if (clock_mono_ns() >= deadline)
			return none_left() ? 0 : left < 1 ? 1 : left;
		/* The killed need a moment to end, and a round reads a file of each process on the machine. */
		int waits = left > 0 && left <= KILLED_FEW && n_spared == 0 ? KILLED_WAITS : 1;
		do
			nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
		while (--waits > 0 && !none_left());
	}
	return 0;
}
