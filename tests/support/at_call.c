/*
 * at_call.c - a library to preload (LD_PRELOAD) that makes a program end, stop or fail at a chosen call, so that a test can try
 * each of them.
 *
 * AT_CALL="NAME N WHAT [PATH]": at the Nth call of NAME (open, link, rename, unlink, mkdir, write, fsync, or any of them; pwrite
 * and fdatasync count as write and fsync). If PATH is given, only calls with a path that contains it, or with a descriptor of
 * such a file, are counted:
 *   KILL   SIGKILL before it        AFTER  SIGKILL after it
 *   STOP   SIGSTOP after it         ENOSPC, EIO, EDQUOT, EMFILE, ENOMEM, EINTR  it and all later ones fail with this errno
 *   SHORT  it and all later ones move half of their bytes
 *   ERRNO-once, SHORT-once  only this call
 * Further names, which `any` does not contain: read (pread counts as it), memory (malloc, calloc, realloc) and descriptor (open,
 * socket, socketpair, accept, pipe, the fds of events, processes and memory).
 * AT_CALL=@FILE: the same text in FILE, used as soon as it contains a complete line. It is the plan until the program ends, or until
 * another file has this name, whose calls are counted from 1.
 * AT_CALL_SEEN=FILE: gets the name and a zero byte for each call that is counted; the name `all` counts every call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct plan {
	char name[16], what[16], path[256];
	int n;
	bool is_once;
	ino_t file;
	atomic_int seen;
};

static _Atomic(struct plan *) plan;  /* NULL until there is one; any thread may set it, the first one's is used */
static const char *later;            /* file that will contain the plan */
static int seen_fd = -1;             /* AT_CALL_SEEN */
static _Thread_local bool is_inside; /* this library calls something itself */

static void take_plan(const char *text, ino_t file)
{
	struct plan *p = calloc(1, sizeof *p), *before = plan;
	char *once;

	if (!p || sscanf(text, "%15s %d %15s %255s", p->name, &p->n, p->what, p->path) < 3) {
		fprintf(stderr, "at_call: no plan: %s\n", text);
		abort();
	}
	p->file = file;
	once = strstr(p->what, "-once");
	p->is_once = once != NULL;
	if (once)
		*once = '\0';
	if (!atomic_compare_exchange_strong(&plan, &before, p))
		free(p); /* that of another thread; a replaced plan stays for threads that read it */
}

__attribute__((constructor)) static void read_plan(void)
{
	const char *text = getenv("AT_CALL"), *file = getenv("AT_CALL_SEEN");

	is_inside = true;
	if (file)
		seen_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (text && *text == '@')
		later = text + 1;
	else if (text)
		take_plan(text, 0);
	is_inside = false;
}

/* The process that writes the file creates it before its text is in it. */
static void find_plan(void)
{
	char text[512] = "";
	struct stat st;
	struct plan *p = plan;

	if (stat(later, &st) != 0 || (p && p->file == st.st_ino))
		return;
	FILE *f = fopen(later, "re");
	if (!f)
		return;
	if (fread(text, 1, sizeof text - 1, f) > 0 && strchr(text, '\n'))
		take_plan(text, st.st_ino);
	fclose(f);
}

static int is_meant(const struct plan *p, const char *name, const char *path, int fd)
{
	char link[64], target[4096] = "";

	static const char *const apart[] = { "read", "memory", "descriptor" };

	if (!p)
		return 0;
	if (strcmp(p->name, name) != 0 && strcmp(p->name, "all") != 0) {
		if (strcmp(p->name, "any") != 0)
			return 0;
		for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++)
			if (strcmp(name, apart[i]) == 0)
				return 0;
	}
	if (!p->path[0])
		return 1;
	if (!path) {
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof target - 1) < 0)
			return 0;
	}
	return strstr(path ? path : target, p->path) != NULL;
}

enum { SHORT = -1 };

/* The errno with which a call is to fail, SHORT, or 0; `*after` is set when there is something to do afterwards. */
static int judge(const char *name, const char *path, int fd, int *after)
{
	static const struct {
		const char *name;
		int number;
	} errors[] = { { "ENOSPC", ENOSPC }, { "EIO", EIO }, { "EDQUOT", EDQUOT }, { "EMFILE", EMFILE }, { "ENOMEM", ENOMEM },
		{ "EINTR", EINTR }, { "SHORT", SHORT } };

	if (later && strcmp(name, "memory") != 0) /* allocations are too many to look for a file at each */
		find_plan();
	struct plan *p = plan;
	int seen = is_meant(p, name, path, fd) ? ++p->seen : 0;
	if (seen && seen_fd >= 0)
		syscall(SYS_write, seen_fd, name, strlen(name) + 1);
	if (!p || !seen || seen < p->n || (p->is_once && seen > p->n))
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

static int before(const char *name, const char *path, int fd, int *after)
{
	int saved = errno, result = 0;

	*after = 0;
	if (is_inside)
		return 0;
	is_inside = true;
	result = judge(name, path, fd, after);
	is_inside = false;
	errno = saved;
	return result;
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
	if (error > 0)                                                                                                           \
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

/* Events and timers are read whole or not at all: half of one is EINVAL, which no kernel answers to a whole one. */
static bool may_be_short(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) != 0;
}

#define LESS(n) (error == SHORT && (n) > 1 && may_be_short(fd) ? (n) / 2 : (n))

ssize_t write(int fd, const void *data, size_t n)
{
	CALL(write, "write", NULL, fd, fd, data, LESS(n));
}

ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at)
{
	CALL(pwrite64, "write", NULL, fd, fd, data, LESS(n), at);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	CALL(pwrite, "write", NULL, fd, fd, data, LESS(n), at);
}

ssize_t read(int fd, void *data, size_t n)
{
	CALL(read, "read", NULL, fd, fd, data, LESS(n));
}

ssize_t pread64(int fd, void *data, size_t n, off64_t at)
{
	CALL(pread64, "read", NULL, fd, fd, data, LESS(n), at);
}

ssize_t pread(int fd, void *data, size_t n, off_t at)
{
	CALL(pread, "read", NULL, fd, fd, data, LESS(n), at);
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

/* A call that makes a descriptor; errno is set if it is to fail. */
static bool descriptor_fails(const char *path)
{
	int after, error = before("descriptor", path, -1, &after);

	if (error > 0)
		errno = error;
	return error > 0;
}

int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	if (descriptor_fails(path))
		return -1;
	CALL(open, "open", path, -1, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = mode_of(flags, more);
	va_end(more);
	if (descriptor_fails(path))
		return -1;
	CALL(open64, "open", path, -1, path, flags, mode);
}

#define DESCRIPTOR(name, ...) return descriptor_fails("") ? -1 : REAL(name)(__VA_ARGS__)

int socket(int domain, int type, int protocol)
{
	DESCRIPTOR(socket, domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int fd[2])
{
	DESCRIPTOR(socketpair, domain, type, protocol, fd);
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	DESCRIPTOR(accept4, fd, address, len, flags);
}

int pipe2(int fd[2], int flags)
{
	DESCRIPTOR(pipe2, fd, flags);
}

int epoll_create1(int flags)
{
	DESCRIPTOR(epoll_create1, flags);
}

int eventfd(unsigned value, int flags)
{
	DESCRIPTOR(eventfd, value, flags);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
	DESCRIPTOR(signalfd, fd, mask, flags);
}

int timerfd_create(int clock, int flags)
{
	DESCRIPTOR(timerfd_create, clock, flags);
}

int inotify_init1(int flags)
{
	DESCRIPTOR(inotify_init1, flags);
}

int pidfd_open(pid_t pid, unsigned flags)
{
	DESCRIPTOR(pidfd_open, pid, flags);
}

int memfd_create(const char *name, unsigned flags)
{
	DESCRIPTOR(memfd_create, name, flags);
}

/* glibc's own, since dlsym allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	int after, error = before("memory", "", -1, &after);

	errno = error ? error : errno;
	return error ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	int after, error = before("memory", "", -1, &after);

	errno = error ? error : errno;
	return error ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	int after, error = before("memory", "", -1, &after);

	errno = error ? error : errno;
	return error ? NULL : __libc_realloc(old, size);
}
