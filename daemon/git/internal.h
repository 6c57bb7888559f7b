/** internal.h - the helper program that reads repositories; every call of libgit2. */
#ifndef GIT_INTERNAL_H
#define GIT_INTERNAL_H

#include <git2.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"

/* ---- access: By what right a server is reached, and how it is recognised: files and public texts, never a secret itself. ---- */

/** NULL: not given. */
struct git_access {
	const char *ssh_key;     /* file: private key without passphrase */
	const char *known_hosts; /* file, as of ssh; NULL: ~/.ssh/known_hosts, then /etc/ssh/ssh_known_hosts */
	const char *host_keys;   /* "SHA256:...,SHA256:...": fingerprints of the server's keys */
	const char *token_file;  /* its first line is the password for https:// */
	const char *token_user;  /* NULL: "git" */
	const char *ca_file;     /* certificates that may sign the server's; NULL: the system's */
};

/*
 * ---- git ----
 * What flopwatch needs of git, without libgit2's types: git.c and git_write.c are the only files that include git2.h.
 *
 * Nothing here reads configuration of the user or the system, runs hooks or filters, or resolves abbreviated names: commits
 * and trees are named by their full hash, refs by their full name. Hashes are lower-case hex. Ref names are raw bytes.
 */

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
/** Push it there. Err: ERR_BUSY another push came first: fetch, write and push again. */
int git_repo_notes_push(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Write `text` as the note of a commit on refs/notes/flopwatch, replacing an older one. */
int git_repo_note(struct git_repo *r, const char *sha, const char *text, struct fw_err *err);
/**
 * Store the worktree's files, also new ones that are not ignored, as a commit on refs/flopwatch/snapshot; the user's index and files
 * are not touched. The same files on the same head give the same commit; unchanged files give head itself. `head` is "" when unborn.
 */
int git_repo_snapshot(struct git_repo *r, char *commit, char *head, struct fw_err *err);

/* ---- git_lib: What git.c and git_write.c, the only files that know libgit2 (1.5 and later), share. ---- */

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

/*
 * ---- hostkey ----
 * Whether an ssh server is the one that is meant: its key is pinned by a fingerprint or a known_hosts file, or it is refused.
 *
 * Nothing is learned on first use: the daemon has nobody to ask.
 */

/**
 * Accept or refuse the key that the server of `url` shows. Shape: key[len], as in RFC 4253.
 * Err: ERR_INVALID with the key's fingerprint and what to write.
 */
int hostkey_check(const struct git_access *a, const char *url, const unsigned char *key, size_t len, struct fw_err *err);

/*
 * ---- layout ----
 * Whether what git keeps in files are files: libgit2 opens a FIFO as readily and then waits for a writer that never comes.
 *
 * A push cannot make one; a user who may write to the folder of the repository can. What is put there after the check ends at the deadline.
 */

/**
 * Check the files of the repository at `path`, with `search` also of one above it, and those that they name: HEAD, config, packed-refs and their
 * like, objects, packs and alternates; with `refs` also every ref. Err: ERR_DAMAGED, which names the first that is no file, before anything
 * was opened. A repository that is not there is none of its errors.
 */
int layout_check(const char *path, bool search, bool refs, struct fw_err *err);

/** The same of the files below a work tree that say what git ignores, and how it reads others. Err: as layout_check. */
int layout_check_tree(const char *dir, struct fw_err *err);

/* ---- limits: What one run may use: a hostile repository must cost a bounded amount of time and memory. ---- */

/**
 * Bound processor time (a lower limit that is already set stays), address space and core files of this process. When the time is up
 * it prints one line and exits with 1: broken objects can make libgit2 loop for ever.
 */
int limits_set(int cpu_s, struct fw_err *err);
/** An object is read from here on: one that takes longer than any sound one ends the run in the same way, and is named. */
void limits_object(const char *oid);

/* ---- mirror: A bare copy of a remote repository's branches that is either whole or not there. ---- */

#define MIRROR_MARKER "flopwatch-mirror" /* a file; its presence says that the folder is ours to delete */

/**
 * Make or update the mirror in folder `dir`. A new one grows beside it and takes its place by a rename; what an interrupted run
 * left behind is cleared away, and a mirror that cannot be read any more is made again.
 * Err: ERR_INVALID for a url or a folder that is not ours, ERR_BUSY while another run is at it.
 */
int mirror_update(const char *url, const char *dir, const struct git_access *access, struct fw_err *err);

/*
 * ---- mirror_rebuild ----
 * A mirror in which something cannot be read asks for a new one.
 *
 * A reader finds damage in a mirror, only a fetch can repair it: the reader leaves a file in the mirror, the next fetch finds it. What
 * is still wrong in the new mirror came so from the server, and is asked for no more.
 */

/** `err` (ERR_DAMAGED) was met in the repository `dir`. Becomes ERR_BUSY if it is a mirror of ours that was not rebuilt for it yet. */
void mirror_rebuild_request(const char *dir, struct fw_err *err);
/** Whether the mirror asks; `why` gets what for. */
bool mirror_rebuild_is_requested(const char *dir, struct fw_err *why);
/** In the new one, `fresh`: what it was made for, beside what the one in `dir` was. */
int mirror_rebuild_note(const char *dir, const char *fresh, const char *why, struct fw_err *err);

/*
 * ---- name ----
 * Ref names and commit texts are bytes that anybody may choose: one form to keep, one form to read.
 *
 * The kept form is percent-encoded (letters, digits and "-._~/" stay), so that it is plain ASCII and reads back to the same
 * bytes. The readable form is UTF-8: broken bytes become U+FFFD, characters that hide or reorder text become visible (\u202e).
 */

void name_encode(struct buf *out, const char *bytes, size_t len);
/** Err: -1 for a bad escape or a NUL; `out` then holds nothing usable. */
int name_decode(struct buf *out, const char *encoded);
/** Units: at most `max` bytes, cut between characters with "...". */
void name_display(struct buf *out, const char *bytes, size_t len, size_t max);

/* ---- pointer: Files of a commit that only name their content: pointers of git-LFS, and pointers and links of git-annex. ---- */

enum { POINTER_MAX_BYTES = 1024 /* git-LFS takes no larger file for a pointer */ };

/*
 * ---- refwrite ----
 * Moves a ref of ours in a repository that is not ours, without a lock that stays behind for good.
 *
 * Git locks a ref by making REF.lock, and a killed process leaves it; it looks like one in use. Here it is a
 * second name of a file of ours beside the refs, and that file is held by flock while its writer lives: the same file under both names,
 * held by nobody, is the lock of a run of ours that is no more, and the next one removes it. Signals that ask the process to end wait until
 * the ref is written.
 */

struct refwrite {
	int fd;
	char own[PATH_MAX], ref[PATH_MAX], lock[PATH_MAX];
	sigset_t before; /* mask */
};

/**
 * Lock `ref` ("refs/notes/flopwatch") in the folder that holds refs/ of all worktrees. 1: this file system has no hard links, nothing is locked.
 * Own: on 0 `w` ends in refwrite_commit or refwrite_cancel. Err: ERR_BUSY another writer is at work, or left its lock.
 */
int refwrite_begin(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err);
/** Let it name commit `sha`. The lock is gone when this returns. */
int refwrite_commit(struct refwrite *w, const char *sha, struct fw_err *err);
void refwrite_cancel(struct refwrite *w);
/** Let signals that ask the process to end wait; `before` is what sigprocmask sets back. */
void refwrite_hold_signals(sigset_t *before);
/** Whether a writer of ours is at work on it now. */
bool refwrite_is_busy(const char *common_dir, const char *ref);

/*
 * ---- tar ----
 * Writes ustar whose bytes depend on names, modes and contents only: equal trees give equal archives.
 *
 * Every path is relative and stays inside; links may only point to places inside. What ustar cannot hold (a name that does
 * not split into 155 + 100 bytes, a link text above 100, a file of 8 GiB) is refused, never shortened.
 */

struct tar {
	int fd;
	int64_t written; /* bytes */
};

void tar_init(struct tar *t, int fd);
int tar_directory(struct tar *t, const char *path, struct fw_err *err);
int tar_file(struct tar *t, const char *path, const void *data, size_t len, bool executable, struct fw_err *err);
int tar_link(struct tar *t, const char *path, const char *target, struct fw_err *err);
/** Write the end marks. */
int tar_end(struct tar *t, struct fw_err *err);

/** Whether ustar can hold this path. Err: ERR_INVALID. */
int tar_check_path(const char *path, bool is_directory, struct fw_err *err);
/** Whether a link at `path` stays inside whatever other links do: "../" only in front, and no more of them than folders above. */
int tar_check_link(const char *path, const char *target, struct fw_err *err);

/* ---- tree: A git tree as something that may travel to a worker: checked first, then written as one archive. ---- */

enum { TREE_DEPTH_MAX = 64, TREE_ENTRIES_MAX = 200000, TREE_BYTES_MAX = 1 << 30 };

/**
 * Look for what must not travel: submodules, pointers of git-LFS and git-annex, links that leave the tree, names that no file can have (.., .git), paths too
 * long. `problem` stays empty when there is nothing. `path` is how the tree is called in the text.
 * Err: -1 only when the tree cannot be read.
 */
int tree_check(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** The same of one file: whether it is such a pointer. */
int tree_check_file(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** Write a tree, or one file under the name `blob`, as ustar. Nothing is written when tree_check finds something. */
int tree_write(struct git_repo *r, const char *oid, int fd, struct fw_err *err);

/* ---- url: Which places a fetch may connect to. ---- */

/**
 * Accept https://host/path, ssh://[user@]host[:port]/path, user@host:path, file:///path and absolute paths; refuse everything
 * else with the reason: other schemes, passwords in the URL, control bytes, and bytes that a remote shell would read.
 */
int url_check(const char *url, struct fw_err *err);

/** Whether it names a server: neither file:///path nor an absolute path. */
bool url_is_remote(const char *url);

/** Host, without brackets, and port of an url that url_check accepts and that names a server. Shape: host[size]. Err: ERR_INVALID. */
int url_server(const char *url, char *host, size_t size, int *port, struct fw_err *err);

/* ---- verbs: What flopwatch-git can be asked: each verb does one thing and prints JSON lines (or an archive) on stdout. ---- */

enum { VERBS_PATHS_MAX = 64 };

/** Options of all verbs; those not given are NULL or 0. */
struct verb_args {
	const char *repo, *url, *mirror, *target, *upstream, *with, *commit, *oid, *from, *without, *file, *worktree, *push;
	struct git_access access;
	int first_parents, count;
	bool first_parent;
	int n_blobs, n_oids;
	const char *blob[VERBS_PATHS_MAX]; /* paths in the tree */
	const char *oids[VERBS_PATHS_MAX];
};

/** Fill the answer about an open repository. */
typedef int verb_body_fn(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err);
verb_body_fn body_tips, body_base, body_tree, body_log, body_note, body_snapshot;
/** Open the repository, or the one around the work tree, let `body` fill the answer, and print it. */
int verb_answer(const struct verb_args *a, verb_body_fn *body, struct fw_err *err);

typedef int verb_fn(const struct verb_args *a, struct fw_err *err);
verb_fn verb_heads, verb_fetch, verb_tar;

#endif
