/**
 * git.h - what flopwatch needs of git, without libgit2's types: git.c and git_write.c are the only files that include git2.h.
 *
 * Nothing here reads configuration of the user or the system, runs hooks or filters, or resolves abbreviated names: commits
 * and trees are named by their full hash, refs by their full name. Hashes are lower-case hex. Ref names are raw bytes.
 */
#ifndef GIT_GIT_H
#define GIT_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "git/access.h"

#define GIT_HEX 65

enum { GIT_BLOB_MAX = 256 << 20 }; /* bytes of one file that may travel */

struct git_repo;

/** Start libgit2 with our settings. Call once, first. `url` (NULL: none) is what this process will connect to. */
int git_repo_library_start(const char *url, struct fw_err *err);
void git_repo_library_stop(void);

/** Open a bare repository, a checkout or a linked worktree at exactly `path`; with `search` also a folder inside a checkout. Err: ERR_BUSY none there. */
int git_repo_open(const char *path, bool search, struct git_repo **out, struct fw_err *err);
/** Whether it is still where it was opened. */
bool git_repo_is_there(const struct git_repo *r);
void git_repo_close(struct git_repo *r);
/** Make an empty bare repository in an existing or new folder. */
int git_repo_create(const char *path, struct git_repo **out, struct fw_err *err);

/** A branch: `problem` is not empty when its ref or commit cannot be read, and `commit` then is "". */
typedef int git_branch_fn(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err);
/** Call `each` for every branch; names come without refs/heads/. */
int git_repo_branches(struct git_repo *r, git_branch_fn *each, void *arg, struct fw_err *err);
/** Bring refs/heads/ of `url` into refs/heads/, dropping what is gone there, and point HEAD at its default branch. `access` may be NULL, here and below. */
int git_repo_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** As git_repo_branches, of a server and without fetching anything. */
int git_server_branches(const char *url, const struct git_access *access, git_branch_fn *each, void *arg, struct fw_err *err);

/** Commit of refs/heads/`branch`. Shape: sha[GIT_HEX]. Err: ERR_NOT_FOUND. */
int git_repo_branch(struct git_repo *r, const char *branch, char *sha, struct fw_err *err);
/** Best common ancestor; "" when there is none. Err: ERR_UNSUPPORTED there may be one beyond the end of a shallow repository. */
int git_repo_merge_base(struct git_repo *r, const char *a, const char *b, char *sha, struct fw_err *err);

/** Err: ERR_UNSUPPORTED, what to do, where the repository is shallow and ends at this commit: its parents are not there. */
int git_repo_whole(struct git_repo *r, const char *sha, struct fw_err *err);

struct git_commit_info {
	char sha[GIT_HEX], tree[GIT_HEX];
	int n_parents; /* at most 16 are listed */
	char parent[16][GIT_HEX];
	struct buf author,
		subject; /* UTF-8, converted from the encoding that the commit names; raw bytes where it names none or an unknown one */
	int64_t committed_at_ms;
};
void git_commit_info_fini(struct git_commit_info *c);
/** Own: on success `out` ends in git_commit_info_fini. Err: ERR_NOT_FOUND for an unknown hash. */
int git_repo_commit(struct git_repo *r, const char *sha, struct git_commit_info *out, struct fw_err *err);
/** A commit's hash. Nonzero ends the list, as an error. */
typedef int git_log_fn(void *arg, const char *sha, struct fw_err *err);
/**
 * Hashes of at most `count` commits from `from` on, newest first. First parents of a shallow repository end where it does. `without` (NULL:
 * none; not with first_parent): a commit, which is left out with all that it holds.
 */
int git_repo_log(struct git_repo *r, const char *from, const char *without, int count, bool first_parent, git_log_fn *each,
	void *arg, struct fw_err *err);

enum git_kind { GIT_KIND_TREE, GIT_KIND_BLOB, GIT_KIND_EXECUTABLE, GIT_KIND_LINK, GIT_KIND_SUBMODULE };
struct git_item {
	const char *name;
	enum git_kind kind;
	char oid[GIT_HEX];
};
/** Find `path` ("" is the root) below a tree; `out->name` is not set. 1 found, 0 absent, -1. */
int git_repo_find(struct git_repo *r, const char *tree, const char *path, struct git_item *out, struct fw_err *err);
/** Whether `oid` is a tree or a blob. Err: ERR_NOT_FOUND, ERR_INVALID for other objects. */
int git_repo_kind(struct git_repo *r, const char *oid, enum git_kind *out, struct fw_err *err);
/** Call `each` for every entry of one tree, in git's order. */
int git_repo_tree(struct git_repo *r, const char *tree, int (*each)(void *arg, const struct git_item *item, struct fw_err *err),
	void *arg, struct fw_err *err);
/** Append a blob. Err: ERR_UNSUPPORTED when it is larger than `max` bytes. */
int git_repo_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Append a blob of at most `max` bytes; a larger one is not loaded. 1 appended, 0 it is larger, -1. */
int git_repo_small_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Bring refs/notes/flopwatch of `url` here, in place of ours; one that does not have it leaves ours. */
int git_repo_notes_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Push it there. Err: ERR_BUSY somebody else's came first: fetch, write and push again. */
int git_repo_notes_push(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Write `text` as the note of a commit on refs/notes/flopwatch, replacing an older one. */
int git_repo_note(struct git_repo *r, const char *sha, const char *text, struct fw_err *err);
/**
 * Store the worktree's files, also new ones that are not ignored, as a commit on refs/flopwatch/snapshot; the user's index and files
 * are not touched. The same files on the same head give the same commit; unchanged files give head itself. `head` is "" when unborn.
 */
int git_repo_snapshot(struct git_repo *r, char *commit, char *head, struct fw_err *err);

#endif
