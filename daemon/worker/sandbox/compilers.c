/* compilers.c - compiler search path and wrapper scripts. */
#include "worker/sandbox/sandbox.h"

static const char folder_name[] = "compilers";
static const char *const names[] = { "gcc", "g++", "cc", "c++" };

/* The script reads the flags from a variable, so that no untrusted text is written into it. */
static const char script[] = "#!/bin/sh\n"
			     "set -f\n"
			     "PATH=$FLOPWATCH_COMPILERS\n"
			     "export PATH\n"
			     "exec \"${0##*/}\" \"$@\" $FLOPWATCH_FLAGS\n";

static int write_script(int folder_fd, const char *name, struct fw_err *err)
{
	char tmp[64];
	struct stat st;

	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size == (off_t)(sizeof script - 1))
		return 0;
	snprintf(tmp, sizeof tmp, ".%ld-%s", (long)getpid(), name);
	int fd = openat(folder_fd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0755);
	if (fd < 0)
		return err_sys(err, "cache: %s/%s", folder_name, name);
	bool is_whole = write(fd, script, sizeof script - 1) == (ssize_t)(sizeof script - 1) && fchmod(fd, 0755) == 0;
	int result =
		is_whole && renameat(folder_fd, tmp, folder_fd, name) == 0 ? 0 : err_sys(err, "cache: %s/%s", folder_name, name);
	close(fd);
	if (result != 0)
		unlinkat(folder_fd, tmp, 0);
	return result;
}

static int write_scripts(const struct cache *cache, struct fw_err *err)
{
	int result = 0, fd;

	if (mkdirat(cache->fd, folder_name, 0755) < 0 && errno != EEXIST)
		return err_sys(err, "cache %s/%s", cache->dir, folder_name);
	fd = openat(cache->fd, folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchmod(fd, 0755) < 0)
		result = err_sys(err, "cache %s/%s", cache->dir, folder_name);
	for (size_t i = 0; i < sizeof names / sizeof names[0] && result == 0; i++)
		result = write_script(fd, names[i], err);
	fd_close(&fd);
	return result;
}

int compilers_prepare(const struct cache *cache, enum device_kind kind, const char *dir, const char *flags, struct compilers *out,
	struct fw_err *err)
{
	char path[TOOLCHAIN_PATH_SIZE];
	bool is_wrapped = flags[0] && kind != DEVICE_CUDA;
	int n = 0;

	memset(out, 0, sizeof *out);
	toolchain_path(dir, path);
	if (is_wrapped && write_scripts(cache, err) != 0)
		return -1;
	if (is_wrapped) {
		snprintf(out->folder, sizeof out->folder, "%s/%s", cache->dir, folder_name);
		snprintf(out->path, sizeof out->path, "PATH=%s:%s", out->folder, path);
		snprintf(out->behind, sizeof out->behind, "FLOPWATCH_COMPILERS=%s", path);
		snprintf(out->flags, sizeof out->flags, "FLOPWATCH_FLAGS=%s", flags);
		out->list[n++] = out->behind;
	} else {
		snprintf(out->path, sizeof out->path, "PATH=%s", path);
		snprintf(out->flags, sizeof out->flags, "NVCC_APPEND_FLAGS=%s", flags);
	}
	out->list[n++] = out->path;
	if (flags[0])
		out->list[n++] = out->flags;
	if (toolchain_has_nvcc(dir)) {
		snprintf(out->home, sizeof out->home, "CUDA_HOME=%s", dir);
		snprintf(out->cuda, sizeof out->cuda, "CUDA_PATH=%s", dir);
		out->list[n++] = out->home;
		out->list[n++] = out->cuda;
	}
	out->more.variable = out->list;
	out->more.folder = out->folder;
	return 0;
}

int compilers_check(const struct sandbox *s, const char *dir, struct fw_err *err)
{
	if (!dir[0])
		return 0;
	if (!sandbox_shows(s, dir))
		return err_set(err, ERR_INVALID,
			"toolchain %s is not visible to builds; add it to sandbox.read_only, or start the worker with --read-only %s",
			dir, dir);
	if (!toolchain_is_in(dir))
		return err_set(err, ERR_INVALID, "toolchain %s has neither nvcc nor gcc on this worker", dir);
	return 0;
}
