/** git_lib.h - what git.c and git_write.c, the only files that know libgit2 (1.5 and later), share. */
#ifndef GIT_GIT_LIB_H
#define GIT_GIT_LIB_H

#include <git2.h>

#include "git/git.h"

struct git_repo {
	git_repository *lib;
	char *path;
};

/** Turn libgit2's last error into ours, behind our own words. A callback of ours may have said more already: that stays. */
int git_lib_fail(struct fw_err *err, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Shape: hex[GIT_HEX]. */
void git_lib_format_oid(char *hex, const git_oid *oid);
/**
 * The object that a ref ("refs/heads/main", "HEAD") names, through refs that it names; its files are opened only where they are files. Returns
 * what libgit2 does: 0, GIT_ENOTFOUND, GIT_EINVALIDSPEC, or another error whose text git_error_last has.
 */
int git_lib_ref(struct git_repo *r, const char *name, git_oid *out);
/** Err: ERR_NOT_FOUND, ERR_INVALID no hash. Own: git_commit_free. */
int git_lib_commit(struct git_repo *r, const char *sha, git_commit **out, struct fw_err *err);

#endif
