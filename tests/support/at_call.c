/*
 * at_call.c - a library to preload (LD_PRELOAD) that makes a program end, stop or fail at a chosen call, so that a test can try
 * each of them.
 *
 * AT_CALL="NAME N WHAT [PATH]": at the Nth call of NAME (open, link, rename, unlink, mkdir, write, fsync, or any of them; pwrite
 * and fdatasync count as write and fsync). If PATH is given, only calls with a path that contains it, or with a descriptor of
 * such a file, are counted:
 *   KILL   SIGKILL before it        AFTER  SIGKILL after it
 *   STOP   SIGSTOP after it         ENOSPC, EIO, EDQUOT  it and all later ones fail with this errno
 * AT_CALL=@FILE: the same text in FILE, used as soon as it contains a complete line; the first such line is the plan until the
 * program ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct plan {
	char name[16], what[16], path[256];
	int n;
	atomic_int seen;
};

static _Atomic(struct plan *) plan; /* NULL until there is one; any thread may set it, the first one's is used */
static const char *later;           /* file that will contain the plan */

static void take_plan(const char *text)
{
	struct plan *p = calloc(1, sizeof *p), *none = NULL;

	if (!p || sscanf(text, "%15s %d %15s %255s", p->name, &p->n, p->what, p->path) < 3) {
		fprintf(stderr, "at_call: no plan: %s\n", text);
		abort();
	}
	if (!atomic_compare_exchange_strong(&plan, &none, p))
		free(p);
}

__attribute__((constructor)) static void read_plan(void)
{
	const char *text = getenv("AT_CALL");

	if (text && *text == '@')
		later = text + 1;
	else if (text)
		take_plan(text);
}

/* The process that writes the file creates it before its text is in it. */
static void find_plan(void)
{
	char text[512] = "";
	FILE *f = fopen(later, "re");

	if (!f)
		return;
	if (fread(text, 1, sizeof text - 1, f) > 0 && strchr(text, '\n'))
		take_plan(text);
	fclose(f);
}

static int is_meant(const struct plan *p, const char *name, const char *path, int fd)
{
	char link[64], target[4096] = "";

	if (!p || (strcmp(p->name, name) != 0 && strcmp(p->name, "any") != 0))
		return 0;
	if (!p->path[0])
		return 1;
	if (!path) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof target - 1) < 0)
			return 0;
	}
	return strstr(path ? path : target, p->path) != NULL;
}

/* Before a call. The errno with which it is to fail, 0 none; `*after` is set when there is something to do afterwards. */
static int before(const char *name, const char *path, int fd, int *after)
{
	static const struct {
		const char *name;
		int number;
	} errors[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EDQUOT", EDQUOT } };

	*after = 0;
	if (later && !plan)
		find_plan();
	struct plan *p = plan;
	int seen = is_meant(p, name, path, fd) ? ++p->seen : 0;
	if (!p || seen < p->n)
		return 0;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (strcmp(p->what, errors[i].name) == 0)
			return errors[i].number;
	if (seen > p->n)
		return 0;
	if (strcmp(p->what, "KILL") == 0)
		raise(SIGKILL);
	*after = 1;
	return 0;
}

static void behind(int after)
{
	int saved = errno;

	if (after)
		raise(strcmp(((struct plan *)plan)->what, "STOP") == 0 ? SIGSTOP : SIGKILL);
	errno = saved;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALL(name, word, path, fd, ...)                                                                                          \
	int after, error = before(word, path, fd, &after);                                                                       \
	__typeof__(name(__VA_ARGS__)) result = -1;                                                                               \
	if (error)                                                                                                               \
		errno = error;                                                                                                   \
	else                                                                                                                     \
		result = REAL(name)(__VA_ARGS__);                                                                                \
	behind(after);                                                                                                           \
	return result

int link(const char *from, const char *to)
{
	CALL(link, "link", to, -1, from, to);
}

int rename(const char *from, const char *to)
{
	CALL(rename, "rename", to, -1, from, to);
}

int unlink(const char *path)
{
	CALL(unlink, "unlink", path, -1, path);
}

int mkdir(const char *path, mode_t mode)
{
	CALL(mkdir, "mkdir", path, -1, path, mode);
}

ssize_t write(int fd, const void *data, size_t n)
{
	CALL(write, "write", NULL, fd, fd, data, n);
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	CALL(pwrite64, "write", NULL, fd, fd, data, n, at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	CALL(pwrite, "write", NULL, fd, fd, data, n, at);
}

int fdatasync(int fd)
{
	CALL(fdatasync, "fsync", NULL, fd, fd);
}

int fsync(int fd)
{
	CALL(fsync, "fsync", NULL, fd, fd);
}

static mode_t mode_of(int flags, va_list more)
{
	return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	CALL(open, "open", path, -1, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	CALL(open64, "open", path, -1, path, flags, mode);
}
