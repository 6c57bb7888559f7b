/* probe.c - checks of folders, suites and programs; see probe.c. */
#include "flopwatchd/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/lib.h"
#include "model/model.h"

enum { SUITE_MAX_BYTES = 1 << 20, PATH_BYTES = 1024 };

/* Find the folder, or its nearest existing parent. Shape: out[PATH_BYTES]. */
static void find_nearest(const char *path, char *out)
{
	struct stat st;
	snprintf(out, PATH_BYTES, "%s", path);
	while (stat(out, &st) != 0 && errno == ENOENT) {
		char *slash = strrchr(out, '/');
		if (!slash || slash == out)
			snprintf(out, PATH_BYTES, "/");
		else
			*slash = '\0';
		if (!strcmp(out, "/"))
			return;
	}
}

/* Write and flush an unnamed file, as the database would. Skipped on file systems without unnamed files. */
static int try_to_write(const char *folder, struct fw_err *err)
{
	char page[4096] = "";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EISDIR ? 0 : err_sys(err, "cannot create a file in %s", folder);
	int result = 0;
	if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
		result = err_sys(err, "cannot write in %s", folder);
	else if (fsync(fd) != 0)
		result = err_sys(err, "cannot flush a file in %s", folder);
	close(fd);
	return result;
}

static void check_folder(const char *what, const char *path)
{
	char nearest[PATH_BYTES];
	struct stat st;
	struct fw_err err = { 0 };
	const struct passwd *me = getpwuid(geteuid());
	const char *who = me ? me->pw_name : "this user";
	find_nearest(path, nearest);
	bool is_there = !strcmp(nearest, path);
	if (stat(nearest, &st) != 0 || !S_ISDIR(st.st_mode))
		probe_print(
			PROBE_FAIL, "folder", "set another folder, or move the file", "%s: %s is not a folder", what, nearest);
	else if (access(nearest, W_OK | X_OK) != 0)
		probe_print(PROBE_FAIL, "folder",
			"chown it to the daemon's user; or run the check as that user: sudo -u flopwatch flopwatch config check",
			"%s: %s may not write %s%s", what, who, nearest, is_there ? "" : ", so it cannot create the folder");
	else if (try_to_write(nearest, &err) != 0)
		probe_print(PROBE_FAIL, "folder", "free space, or check the disk", "%s: %s", what, err.text);
	else
		probe_print(PROBE_OK, "folder", "", "%s: %s %s", what, path, is_there ? "is writable" : "will be created");
}

static int is_suite(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".yaml");
}

static int read_suite(const char *path, struct fw_err *err)
{
	struct suite suite;
	struct buf text;
	char part[8192];
	int fd = regular_open("", path, err);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !file) {
		err_sys(err, "cannot read %s", path);
		close(fd);
	}
	if (!file)
		return -1;
	buf_init(&text, SUITE_MAX_BYTES);
	for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
		buf_append(&text, part, n);
	int result = ferror(file)  ? err_sys(err, "cannot read %s", path)
		     : text.failed ? err_set(err, ERR_FULL, "%s: larger than %d bytes", path, SUITE_MAX_BYTES)
				   : suite_parse(text.data, text.len, path, &suite, err);
	if (result == 0)
		suite_fini(&suite);
	fclose(file);
	buf_fini(&text);
	return result;
}

/* A suite may be in the repository instead, which is known after its first push. */
static void check_named_suites(const struct config *c)
{
	char path[PATH_BYTES];
	for (int i = 0; i < c->n_repos; i++)
		for (int k = 0; k < c->repo[i].n_suites; k++) {
			const char *name = c->repo[i].suite[k];
			snprintf(path, sizeof path, "%s/%s.yaml", c->suites_dir, name);
			if (*name && access(path, R_OK) != 0)
				probe_print(PROBE_WARN, "suite",
					"no change needed if the repository has it as etc/suites/NAME.yaml",
					"%s: suite %s is not in %s", c->repo[i].name, name, c->suites_dir);
		}
}

static void check_suites(const struct config *c)
{
	struct dirent **entry;
	int n = scandir(c->suites_dir, &entry, is_suite, alphasort), good = 0;
	if (n < 0) {
		probe_print(PROBE_WARN, "suites", "no change needed if every repository has its own; else set suites_dir",
			"%s: %s", c->suites_dir, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		struct fw_err err = { 0 };
		char path[PATH_BYTES];
		snprintf(path, sizeof path, "%s/%s", c->suites_dir, entry[i]->d_name);
		if (read_suite(path, &err) == 0)
			good++;
		else
			probe_print(PROBE_FAIL, "suite", "fix the file; jobs that name the suite fail", "%s", err.text);
		free(entry[i]);
	}
	free(entry);
	probe_print(PROBE_OK, "suites", "", "%d in %s can be read", good, c->suites_dir);
	check_named_suites(c);
}

static void check_programs(void)
{
	static const char *const names[] = { "flopwatch-git", "flopwatch-send" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct fw_err err = { 0 };
		char path[4096];
		if (proc_sibling(names[i], path, sizeof path, &err) == 0)
			probe_print(PROBE_OK, "program", "", "%s", path);
		else
			probe_print(PROBE_FAIL, "program", "install all of flopwatch in one place, or put it into PATH", "%s",
				err.text);
	}
}

void check_config_names(const struct config *c)
{
	check_folder("state_dir", c->state_dir);
	check_folder("cache_dir", c->cache_dir);
	check_port(c);
	check_suites(c);
	check_programs();
	check_repos(c);
	check_workers(c);
}
