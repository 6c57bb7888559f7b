/* layout.c - checks of git's files; documented in internal.h. It opens only folders, and regular files that name a folder. */
#include "git/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ALTERNATES_MAX = 5 /* depth of alternates, as in git */, DEPTH_MAX = 128 /* depth of folders */, TEXT_BYTES = 64 << 10 };

static int refuse(const char *path, const struct stat *st, struct fw_err *err)
{
	return err_set(err, ERR_DAMAGED, "%s is %s, not a file; remove it", path, regular_wrong(st));
}

/* Return 0 for a regular file, a link to one, or a missing file; else an error. libgit2 itself rejects folders. */
static int check_file(const char *path, struct fw_err *err)
{
	struct stat st;

	return stat(path, &st) != 0 || S_ISDIR(st.st_mode) || !regular_wrong(&st) ? 0 : refuse(path, &st, err);
}

/* Join `dir` and `rest`; an absolute `rest` replaces `dir`. Returns false if the path is too long for the system and libgit2. */
static bool join(char out[PATH_MAX], const char *dir, const char *rest)
{
	size_t len = strlen(dir);
	bool has_slash = rest[0] == '/' || (len && dir[len - 1] == '/');

	return (size_t)snprintf(out, PATH_MAX, "%s%s%s", rest[0] == '/' ? "" : dir, has_slash ? "" : "/", rest) < PATH_MAX;
}

/* Read a small file. Returns 1; 0 if it is missing; -1 on error. Shape: text[TEXT_BYTES]. */
static int read_text(const char *path, char *text, struct fw_err *err)
{
	struct stat st;
	int fd;
	ssize_t n;

	if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
		return 0;
	fd = regular_open("", path, err);
	if (fd < 0) {
		err->code = ERR_DAMAGED;
		return -1;
	}
	n = read(fd, text, TEXT_BYTES - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return 1;
}

/* ---- objects ---- */

/* Check that all entries of a folder are files or folders. Most have their type in the directory entry. */
static int check_folder(const char *path, struct fw_err *err)
{
	char entry[PATH_MAX];
	struct dirent *e;
	int result = 0;
	DIR *dir = opendir(path);

	while (dir && result == 0 && (e = readdir(dir)))
		if (e->d_type != DT_REG && e->d_type != DT_DIR && join(entry, path, e->d_name))
			result = check_file(entry, err);
	if (dir)
		closedir(dir);
	return result;
}

static int check_objects(const char *objects, int depth, struct fw_err *err)
{
	char path[PATH_MAX], name[16];
	char *text, *rest, *line;
	int found, result = 0;

	for (int i = 0; i < 256; i++) {
		snprintf(name, sizeof name, "%02x", (unsigned)i);
		if (join(path, objects, name) && check_folder(path, err) != 0)
			return -1;
	}
	if ((join(path, objects, "pack") && check_folder(path, err) != 0) ||
		(join(path, objects, "info") && check_folder(path, err) != 0))
		return -1;
	if (depth >= ALTERNATES_MAX || !join(path, objects, "info/alternates"))
		return 0;
	text = mem_alloc(TEXT_BYTES);
	found = read_text(path, text, err);
	for (rest = text; found > 0 && result == 0 && (line = strsep(&rest, "\n"));)
		if (*line && *line != '#' && join(path, objects, line))
			result = check_objects(path, depth + 1, err);
	free(text);
	return found < 0 ? -1 : result;
}

/* ---- refs ---- */

static _Thread_local struct fw_err *walk_err; /* global, because nftw passes no argument */

static int check_ref(const char *path, const struct stat *st, int flag, struct FTW *where)
{
	(void)where;
	return flag == FTW_F && regular_wrong(st) ? refuse(path, st, walk_err) : 0;
}

static int check_refs(const char *dir, struct fw_err *err)
{
	char path[PATH_MAX];

	walk_err = err;
	return join(path, dir, "refs") && nftw(path, check_ref, 32, 0) != 0 && err->code ? -1 : 0;
}

/* ---- the repository ---- */

static int check_names(const char *dir, struct fw_err *err)
{
	static const char *const names[] = { "HEAD", "config", "config.worktree", "packed-refs", "shallow", "commondir", "gitdir",
		"index", "info/exclude", "info/attributes", "info/grafts" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (join(path, dir, names[i]) && check_file(path, err) != 0)
			return -1;
	return 0;
}

static int check_git_dir(const char *dir, bool refs, struct fw_err *err)
{
	char path[PATH_MAX], common[PATH_MAX], text[TEXT_BYTES];
	int found;

	if (check_names(dir, err) != 0 || !join(path, dir, "commondir"))
		return err->code ? -1 : 0;
	found = read_text(path, text, err);
	if (found < 0)
		return -1;
	text[found ? strcspn(text, "\r\n") : 0] = '\0';
	if (found ? !join(common, dir, text) : snprintf(common, sizeof common, "%s", dir) < 0)
		return 0;
	if (found && check_names(common, err) != 0)
		return -1;
	if (refs && (check_refs(common, err) != 0 || (found && check_refs(dir, err) != 0)))
		return -1;
	return join(path, common, "objects") ? check_objects(path, 0, err) : 0;
}

/* ---- work trees ---- */

static int check_rules(const char *dir, int depth, struct fw_err *err)
{
	char path[PATH_MAX];
	struct dirent *e;
	int result = 0;
	DIR *folder = depth < DEPTH_MAX ? opendir(dir) : NULL;

	while (folder && result == 0 && (e = readdir(folder))) {
		struct stat st;
		bool is_rule = strcmp(e->d_name, ".gitignore") == 0 || strcmp(e->d_name, ".gitattributes") == 0 ||
			       strcmp(e->d_name, ".gitmodules") == 0;

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || strcmp(e->d_name, ".git") == 0 ||
			!join(path, dir, e->d_name))
			continue;
		if (is_rule)
			result = check_file(path, err);
		else if (e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && lstat(path, &st) == 0 && S_ISDIR(st.st_mode)))
			result = check_rules(path, depth + 1, err);
	}
	if (folder)
		closedir(folder);
	return result;
}

int layout_check_tree(const char *dir, struct fw_err *err)
{
	return check_rules(dir, 0, err);
}

/* ---- the repository at a path ---- */

/* Read "gitdir: PATH" of a linked worktree or a submodule. */
static int follow_file(const char *file, const char *dir, bool refs, struct fw_err *err)
{
	static const char prefix[] = "gitdir: ";
	char path[PATH_MAX], text[TEXT_BYTES];
	int found = read_text(file, text, err);

	if (found <= 0 || strncmp(text, prefix, sizeof prefix - 1) != 0)
		return found < 0 ? -1 : 0;
	text[strcspn(text, "\r\n")] = '\0';
	return join(path, dir, text + sizeof prefix - 1) ? check_git_dir(path, refs, err) : 0;
}

/* Check the repository in this folder. Returns 1; 0 if there is none; -1 on error. */
static int check_here(const char *dir, bool refs, struct fw_err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (join(path, dir, ".git") && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return check_git_dir(path, refs, err) != 0 ? -1 : 1;
		return follow_file(path, dir, refs, err) != 0 ? -1 : 1;
	}
	if (!join(path, dir, "objects") || stat(path, &st) != 0)
		return 0;
	return check_git_dir(dir, refs, err) != 0 ? -1 : 1;
}

int layout_check(const char *path, bool search, bool refs, struct fw_err *err)
{
	char dir[PATH_MAX], up[PATH_MAX];
	struct stat st;
	int found;

	if (!realpath(path, dir) || stat(dir, &st) != 0)
		return 0;
	if (!S_ISDIR(st.st_mode)) {
		snprintf(up, sizeof up, "%s", dir);
		*strrchr(up, '/') = '\0';
		return follow_file(dir, up, refs, err);
	}
	while ((found = check_here(dir, refs, err)) == 0 && search && strcmp(dir, "/") != 0) {
		char *slash = strrchr(dir, '/');

		slash[slash == dir] = '\0';
	}
	return found < 0 ? -1 : 0;
}
