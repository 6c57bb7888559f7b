/*
 * backup: the database, and next to it the archived months of single times. Archive files only grow, so that a backup folder has
 * each of them once and only new data is transferred.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/internal.h"

enum { HEAD_BYTES = 64 /* head of a month's file, with its checksum */, PATH_SIZE = 4096 };

/* A failure of the local disk is not an error of the daemon. */
#define cannot(err, ...) (err_sys(err, __VA_ARGS__), (err)->code = ERR_INTERNAL, -1)

/* Open the temporary file and lock it: another backup to the same file would truncate what this one has written. */
static int open_part(const char *part, const char *path, struct fw_err *err)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot(err, "cannot write %s", part);
	int claimed = filelock_claim(fd, part, err);
	if (claimed == 1)
		return fd;
	if (claimed == 0)
		err_set(err, ERR_CONFLICT, "another backup is being written to %s; wait for it, or name another file", path);
	else
		err->code = ERR_INTERNAL; /* the same code as in `cannot` */
	close(fd);
	return -1;
}

/* Write to a temporary file and rename it, so that an existing backup is always complete. */
static int take_database(struct client *c, const char *path, struct fw_err *err)
{
	char part[PATH_SIZE];
	if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
		return err_set(err, ERR_INVALID, "the name of the file is too long");
	int fd = open_part(part, path, err);
	if (fd < 0)
		return -1;
	int result = client_post_to_file(c, "/api/v1/backup", fd, err);
	if (result == 0 && fsync(fd) != 0)
		result = cannot(err, "cannot write %s", part);
	if (result == 0 && rename(part, path) != 0)
		result = cannot(err, "cannot write %s", path);
	if (result != 0)
		unlink(part);
	close(fd); /* flushed, and locked until it is renamed */
	return result;
}

/* Check that the existing file is a prefix of the new one. */
static int check_mark(int fd, const char *path, const char *mark, struct fw_err *err)
{
	char head[HEAD_BYTES + 1] = "";
	ssize_t got = pread(fd, head, HEAD_BYTES, 0);
	if (got < 0)
		return cannot(err, "cannot read %s", path);
	for (ssize_t i = 0; i < got; i++) /* it begins with a number */
		if (head[i] == '\0')
			head[i] = ' ';
	return strstr(head, mark) ? 0
				  : err_set(err, ERR_CONFLICT,
					    "%s is of another daemon or time; move it away, or name another folder", path);
}

static int take_rest(struct client *c, int fd, const char *path, const json_t *month, struct fw_err *err)
{
	long long bytes = value_integer(month, "bytes");
	char address[80];
	struct stat st;
	if (fstat(fd, &st) != 0)
		return cannot(err, "cannot read %s", path);
	if (st.st_size > 0 && st.st_size < HEAD_BYTES) { /* a previous backup was killed */
		if (ftruncate(fd, 0) != 0)
			return cannot(err, "cannot write %s", path);
		st.st_size = 0;
	}
	if (st.st_size > 0 && check_mark(fd, path, value_text(month, "mark"), err) != 0)
		return -1;
	if (st.st_size > bytes)
		return err_set(
			err, ERR_CONFLICT, "%s holds more than the daemon has; move it away, or name another folder", path);
	snprintf(address, sizeof address, "/api/v1/samples/%.10s.zst", value_text(month, "month"));
	if (st.st_size < bytes && client_get_to_file(c, address, st.st_size, fd, err) != 0)
		return -1;
	return fsync(fd) == 0 ? 0 : cannot(err, "cannot write %s", path);
}

static int take_month(struct client *c, const char *folder, const json_t *month, struct fw_err *err)
{
	char path[PATH_SIZE];
	if (strspn(value_text(month, "month"), "0123456789-") != strlen(value_text(month, "month")) ||
		snprintf(path, sizeof path, "%s/%s.zst", folder, value_text(month, "month")) >= (int)sizeof path)
		return err_set(err, ERR_PROTOCOL, "the daemon sent an invalid month");
	int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot(err, "cannot write %s", path);
	int result = take_rest(c, fd, path, month, err);
	close(fd);
	return result;
}

/*
 * Lock the backup folder. Two backups into one folder would both append missing data, so the second one waits, and only then
 * reads the state of the folder. File systems without locks give no protection. Returns the folder's descriptor, or -1.
 */
static int wait_for_turn(const char *folder, struct fw_err *err)
{
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return cannot(err, "cannot make the folder %s", folder);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cannot(err, "cannot open %s", folder);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
		fprintf(stderr, "flopwatch: waiting for another backup that is being written to %s\n", folder);
		while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
			;
	}
	return fd;
}

static int take_months(struct client *c, const char *folder, struct fw_err *err)
{
	json_t *months = NULL, *month;
	struct fw_err damaged = { 0 };
	size_t i;
	int result = 0;
	if (client_get(c, "/api/v1/samples", &months, err) != 0)
		return -1;
	json_array_foreach(json_object_get(months, "items"), i, month)
	{
		if (strcmp(value_text(month, "state"), "ok") != 0) /* the other months are still backed up */
			err_set(&damaged, ERR_CONFLICT,
				"the daemon cannot read all of its archive; the backup has the readable part: %s",
				value_text(month, "why"));
		else if (result == 0)
			result = take_month(c, folder, month, err);
	}
	json_decref(months);
	return result == 0 && damaged.code ? err_set(err, damaged.code, "%s", damaged.text) : result;
}

static int take_samples(struct client *c, const char *path, struct fw_err *err)
{
	char folder[PATH_SIZE];
	const char *slash = strrchr(path, '/');
	json_t *months = NULL;
	if (snprintf(folder, sizeof folder, "%.*ssamples", slash ? (int)(slash - path) + 1 : 0, path) >= (int)sizeof folder)
		return err_set(err, ERR_INVALID, "the name of the file is too long");
	if (client_get(c, "/api/v1/samples", &months, err) != 0)
		return -1;
	bool has_months = json_array_size(json_object_get(months, "items")) > 0;
	json_decref(months);
	if (!has_months)
		return 0;
	int turn = wait_for_turn(folder, err), result = turn < 0 ? -1 : take_months(c, folder, err);
	if (turn >= 0)
		close(turn);
	return result;
}

/* The database first: everything that it lists as archived is in the files that follow. */
int verb_backup(struct client *c, const struct options *o)
{
	struct fw_err err = { 0 };
	return take_database(c, o->arg[0], &err) == 0 && take_samples(c, o->arg[0], &err) == 0 ? EXIT_OK : verb_fail(&err);
}
