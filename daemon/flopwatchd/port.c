#include "flopwatchd/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "web/http/http.h"

enum { TCP_LISTEN = 10 };

/* Inode of the socket that listens on the port, from a kernel table; 0 none. */
static unsigned long find_socket(const char *table, int port)
{
	char line[512];
	unsigned long found = 0;
	FILE *f = fopen(table, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		unsigned local, state;
		unsigned long inode;
		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &local, &state,
			    &inode) == 3 &&
			(int)local == port && state == TCP_LISTEN)
			found = inode;
	}
	if (f)
		fclose(f);
	return found;
}

static bool has_socket(const char *pid, unsigned long inode)
{
	char folder[300], path[600], target[64], wanted[64];
	bool found = false;
	snprintf(folder, sizeof folder, "/proc/%s/fd", pid);
	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	DIR *dir = opendir(folder);
	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		ssize_t n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, wanted) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* The process that listens on the port; 0: not visible, e.g. of another user. */
static long find_owner(int port)
{
	unsigned long inode = find_socket("/proc/net/tcp", port);
	long owner = 0;
	if (!inode)
		inode = find_socket("/proc/net/tcp6", port);
	DIR *dir = inode ? opendir("/proc") : NULL;
	for (struct dirent *e; dir && !owner && (e = readdir(dir));)
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name) && has_socket(e->d_name, inode))
			owner = strtol(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return owner;
}

static void name_process(long pid, char *text, size_t size)
{
	char path[64], name[64] = "";
	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(name, sizeof name, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(text, size, "%s (process %ld)", *name ? name : "a program", pid);
}

/* The daemon that runs on this state_dir; 0 none. */
static long find_daemon(const struct config *c)
{
	char path[1100], text[32] = "";
	snprintf(path, sizeof path, "%s/lock", c->state_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	bool is_free = flock(fd, LOCK_SH | LOCK_NB) == 0;
	ssize_t n = is_free ? 0 : read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return is_free ? 0 : strtol(text, NULL, 10);
}

void check_port(const struct config *c)
{
	struct fw_err err = { 0 };
	char who[160] = "a program that this user cannot see";
	int bound, fd = http_listen(c->listen_host, c->listen_port, &bound, &err);
	if (fd >= 0) {
		close(fd);
		probe_print(PROBE_OK, "port", "", "%d on %s is free", c->listen_port, c->listen_host);
		return;
	}
	if (err.code != ERR_BUSY) {
		probe_print(PROBE_FAIL, "port", "set another `listen`", "%s", err.text);
		return;
	}
	long owner = find_owner(c->listen_port), daemon = find_daemon(c);
	if (owner)
		name_process(owner, who, sizeof who);
	if (daemon && owner == daemon)
		probe_print(PROBE_OK, "port", "", "%d on %s is that of the daemon that runs on this state_dir (process %ld)",
			c->listen_port, c->listen_host, daemon);
	else if (daemon && !owner)
		probe_print(PROBE_WARN, "port", "no change needed if it is the daemon that runs on this state_dir",
			"%d on %s is in use by %s", c->listen_port, c->listen_host, who);
	else
		probe_print(PROBE_FAIL, "port",
			"set another `listen`, or stop that program: flopwatch would connect to it instead of this daemon",
			"port %d on %s is in use by %s", c->listen_port, c->listen_host, who);
}
