/* ref_watch.c - inotify on a repository's refs; documented in internal.h. */
#include "flopwatchd/watch/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { WATCHES_MAX = 4096, DEPTH_MAX = 32 };

/* git writes name.lock and renames it: the rename is the change. */
static const uint32_t MASK = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF |
			     IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW | IN_EXCL_UNLINK;

struct ref_watch {
	struct loop *loop;
	struct loop_source *source;
	int fd;
	void (*fn)(void *arg);
	void *arg;
	bool lost;
	int n;
	struct {
		int wd;
		char *path;
	} * watch; /* watch[n]; the first is the git folder */
};

static int read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, line, size - 1);
	close(fd);
	if (len < 0)
		return -1;
	line[len] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return 0;
}

static int join_path(char *out, const char *folder, const char *name)
{
	int len = *name == '/' ? snprintf(out, PATH_MAX, "%s", name) : snprintf(out, PATH_MAX, "%s/%s", folder, name);

	return len < 0 || len >= PATH_MAX ? -1 : 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Find the folder that contains refs/ and packed-refs: PATH, PATH/.git, or the target of a worktree's .git file. */
static int find_git_folder(const char *path, char *folder, struct fw_err *err)
{
	char dot_git[PATH_MAX], line[PATH_MAX], common[PATH_MAX], probe[PATH_MAX];

	if (join_path(dot_git, path, ".git") != 0)
		return err_set(err, ERR_INVALID, "%s: path too long", path);
	if (is_folder(dot_git)) {
		snprintf(folder, PATH_MAX, "%s", dot_git);
		return 0;
	}
	if (read_line(dot_git, line, sizeof line) == 0 && strncmp(line, "gitdir: ", 8) == 0) {
		if (join_path(folder, path, line + 8) != 0 || join_path(common, folder, "commondir") != 0)
			return err_set(err, ERR_INVALID, "%s: path too long", path);
		if (read_line(common, line, sizeof line) == 0) {
			if (join_path(probe, folder, line) != 0)
				return err_set(err, ERR_INVALID, "%s: path too long", path);
			snprintf(folder, PATH_MAX, "%s", probe);
		}
		return 0;
	}
	if (join_path(probe, path, "refs") != 0 || !is_folder(probe))
		return err_set(err, ERR_NOT_FOUND,
			"%s: no git repository there; check the path (see doc/troubleshooting.md#no-repository)", path);
	snprintf(folder, PATH_MAX, "%s", path);
	return 0;
}

static const char *get_path(const struct ref_watch *n, int wd)
{
	int i;

	for (i = 0; i < n->n; i++)
		if (n->watch[i].wd == wd)
			return n->watch[i].path;
	return NULL;
}

static int add_watch(struct ref_watch *n, const char *path)
{
	int wd = inotify_add_watch(n->fd, path, MASK);

	if (wd < 0)
		return -1;
	if (get_path(n, wd))
		return 0;
	n->watch = mem_grow(n->watch, (size_t)n->n + 1, sizeof *n->watch);
	n->watch[n->n].wd = wd;
	n->watch[n->n++].path = mem_copy_text(path);
	return 0;
}

static void add_folders(struct ref_watch *n, const char *path, int depth)
{
	struct dirent *entry;
	DIR *dir;

	if (depth > DEPTH_MAX || n->n >= WATCHES_MAX)
		return;
	/* A folder that disappears meanwhile causes another event; the poll covers folders that cannot be watched. */
	if (add_watch(n, path) != 0)
		return;
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		char child[PATH_MAX];

		if (entry->d_name[0] == '.' || (entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN))
			continue;
		if (join_path(child, path, entry->d_name) == 0)
			add_folders(n, child, depth + 1);
	}
	closedir(dir);
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && strcmp(text + len - end_len, end) == 0;
}

/* True if a branch may have changed. Also watches new folders. */
static bool is_ref_change(struct ref_watch *n, const struct inotify_event *e)
{
	const char *folder = get_path(n, e->wd);
	bool in_git_folder = n->n && e->wd == n->watch[0].wd;

	if (e->mask & IN_Q_OVERFLOW)
		return true;
	if (e->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT)) {
		/* Folders below are created and deleted with their branches; these two are not. */
		if (folder && (in_git_folder || ends_with(folder, "/refs/heads")))
			n->lost = true;
		return true;
	}
	if (!e->len || ends_with(e->name, ".lock"))
		return false;
	if (in_git_folder)
		return strcmp(e->name, "packed-refs") == 0 || strcmp(e->name, "HEAD") == 0;
	if ((e->mask & IN_ISDIR) && (e->mask & (IN_CREATE | IN_MOVED_TO)) && folder) {
		char child[PATH_MAX];

		if (join_path(child, folder, e->name) == 0)
			add_folders(n, child, 1);
	}
	return true;
}

static void on_event(void *arg, uint32_t events)
{
	struct ref_watch *n = arg;
	_Alignas(struct inotify_event) char buffer[16384];
	bool news = false;
	ssize_t len, at;

	(void)events;
	while ((len = read(n->fd, buffer, sizeof buffer)) > 0)
		for (at = 0; at < len;) {
			const struct inotify_event *e = (const struct inotify_event *)(const void *)(buffer + at);

			news = is_ref_change(n, e) || news;
			at += (ssize_t)(sizeof *e + e->len);
		}
	if (news)
		n->fn(n->arg);
}

int ref_watch_start(
	struct loop *l, const char *path, void (*fn)(void *arg), void *arg, struct ref_watch **out, struct fw_err *err)
{
	char folder[PATH_MAX], heads[PATH_MAX];
	struct ref_watch *n;

	if (find_git_folder(path, folder, err) != 0)
		return -1;
	if (join_path(heads, folder, "refs/heads") != 0)
		return err_set(err, ERR_INVALID, "%s: path too long", path);
	n = mem_alloc_zero(1, sizeof *n);
	*n = (struct ref_watch){ .loop = l, .fn = fn, .arg = arg };
	n->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (n->fd < 0) {
		err_sys(err, "inotify for %s", path);
		goto failed;
	}
	if (add_watch(n, folder) != 0) {
		err_sys(err, "inotify for %s", folder);
		goto failed;
	}
	add_folders(n, heads, 0);
	n->lost = n->n < 2;
	if (loop_watch(l, n->fd, EPOLLIN, on_event, n, &n->source, err) != 0)
		goto failed;
	*out = n;
	return 0;
failed:
	ref_watch_stop(n);
	return -1;
}

bool ref_watch_is_lost(const struct ref_watch *n)
{
	return n->lost;
}

void ref_watch_stop(struct ref_watch *n)
{
	int i;

	if (!n)
		return;
	loop_remove(n->loop, n->source);
	if (n->fd >= 0)
		close(n->fd);
	for (i = 0; i < n->n; i++)
		free(n->watch[i].path);
	free(n->watch);
	free(n);
}
