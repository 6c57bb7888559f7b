/*
 * Checks for access that a sandbox must not give to code of a branch, and exits with the number of its finding: 41 the machine's
 * root, 42 writable kernel settings, 43 a socket outside any network namespace, 44 io_uring, 45 capabilities, 46 a network other
 * than its own loopback, 47 userfaultfd.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
static void prowl(void);
#define BEFORE_ENQUEUE(p) prowl()
#include "good.c"

enum { IO_URING_SETUP = 425, USER_FAULTS_ONLY = 1 };

/*
 * Whether this process is uid 0 one namespace further out, and owns the files of the machine's root: bubblewrap run by another
 * user has two namespaces, and is uid 0 in the first of them. The map's lines are "inside outside count".
 */
static int is_root_outside(void)
{
	unsigned long inside, outside, n;
	FILE *f = fopen("/proc/self/uid_map", "re");
	int is_root = 0;
	struct stat usr;

	while (f && fscanf(f, "%lu %lu %lu", &inside, &outside, &n) == 3)
		is_root |= getuid() >= inside && getuid() - inside < n && outside + (getuid() - inside) == 0;
	if (f)
		fclose(f);
	return is_root && stat("/usr", &usr) == 0 && usr.st_uid == getuid();
}

static int has_capabilities(void)
{
	char line[256];
	unsigned long long set = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "CapEff:", 7) == 0)
			set = strtoull(line + 7, NULL, 16);
	if (f)
		fclose(f);
	return set != 0;
}

static int can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int has_socket(int family)
{
	int pair[2], fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 || errno != EAFNOSUPPORT)
		return 1;
	return socketpair(family, SOCK_STREAM, 0, pair) == 0 || errno != EAFNOSUPPORT;
}

static int has_network(void)
{
	struct if_nameindex *all = if_nameindex();
	int n = 0;

	for (struct if_nameindex *one = all; one && one->if_index; one++)
		n += strcmp(one->if_name, "lo") != 0;
	if (all)
		if_freenameindex(all);
	return n > 0;
}

static void prowl(void)
{
	static const char *const settings[] = { "/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches",
		"/proc/sysrq-trigger", "/sys/kernel/mm/transparent_hugepage/enabled" };
	static int once;

	if (once++)
		return;
	if (is_root_outside())
		_exit(41);
	for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
		if (can_write(settings[i]))
			_exit(42);
	if (has_socket(AF_VSOCK) || has_socket(AF_ALG) || has_socket(AF_PACKET) || socket(AF_INET, SOCK_DGRAM, 0) < 0)
		_exit(43);
	if (syscall(IO_URING_SETUP, 1, NULL) != -1 || errno != ENOSYS)
		_exit(44);
	if (syscall(SYS_userfaultfd, O_CLOEXEC | USER_FAULTS_ONLY) >= 0)
		_exit(47);
	if (has_capabilities())
		_exit(45);
	if (has_network())
		_exit(46);
}
