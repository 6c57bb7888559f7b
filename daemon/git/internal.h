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

/* ---- access: Credentials for a server, and keys that identify it: paths and public texts, never a secret itself. ---- */

/** A member is NULL if it is not set. */
struct git_access {
	const char *ssh_key;     /* file: private key without passphrase */
	const char *known_hosts; /* file in ssh's format; NULL: ~/.ssh/known_hosts, then /etc/ssh/ssh_known_hosts */
	const char *host_keys;   /* "SHA256:...,SHA256:...": fingerprints of the server's keys */
	const char *token_file;  /* its first line is the password for https:// */
	const char *token_user;  /* NULL: "git" */
	const char *ca_file;     /* certificates that may sign the server's certificate; NULL: the system's */
};

/*
 * ---- git ----
 * Operations on git repositories, without libgit2's types: git.c and git_write.c are the only files that include git2.h.
 *
 * No function reads configuration of the user or the system, runs hooks or filters, or resolves abbreviated names: commits and
 * trees are named by their full hash, refs by their full name. Hashes are lower-case hex. Ref names are raw bytes.
 */

#define GIT_HEX 65

enum { GIT_BLOB_MAX = 256 << 20 }; /* maximum bytes of one file in an archive */

struct git_repo;

/** Start libgit2 with flopwatch's settings. Call it once, first. `url` (NULL: none): the server to connect to. */
int git_repo_library_start(const char *url, struct fw_err *err);
void git_repo_library_stop(void);

/**
 * Open a bare repository, a checkout or a linked worktree at exactly `path`; with `search` also the repository around a folder
 * inside a checkout. Err: ERR_BUSY there is no repository.
 */
int git_repo_open(const char *path, bool search, struct git_repo **out, struct fw_err *err);
/** True if the repository is still at the path where it was opened. */
bool git_repo_is_there(const struct git_repo *r);
void git_repo_close(struct git_repo *r);
/** Create an empty bare repository in an existing or new folder. */
int git_repo_create(const char *path, struct git_repo **out, struct fw_err *err);

/** A branch. `problem` is not empty if its ref or commit cannot be read; `commit` then is "". */
typedef int git_branch_fn(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err);
/** Call `each` for every branch, with its name without refs/heads/. */
int git_repo_branches(struct git_repo *r, git_branch_fn *each, void *arg, struct fw_err *err);

/*
 * ---- pulls ----
 * Refs of pull and merge requests: refs/pull/N/head, refs/merge-requests/N/head and the forge's merge results next to them.
 *
 * Anyone may push to these refs, so their commits are listed and not fetched. Only the requests that the caller names are
 * fetched, each at one head: if the ref has another commit meanwhile, nothing of the request is fetched or reported.
 */

enum { PULLS_MAX = 1000 /* the newest requests are listed */, PULLS_WANTED_MAX = 64 };

struct pulls {
	char space[16]; /* "pull" or "merge-requests" */
	bool is_merge;  /* measure the merge result, not the head */
	int n_wanted;
	struct {
		int number;
		char head[GIT_HEX];
	} wanted[PULLS_WANTED_MAX];
	int n, n_omitted; /* n_omitted: older requests that are not listed */
	struct pull {
		int number;
		char head[GIT_HEX], merge[GIT_HEX]; /* "" no such ref */
	} * pull;                                   /* pull[n], the newest first after pulls_sort */
};

/**
 * Read the options --pulls ("pull:merge") and --pull ("7=HASH"). Shape: wanted[n_wanted <= PULLS_WANTED_MAX]. Own: pulls_fini.
 * Err: ERR_INVALID.
 */
int pulls_begin(struct pulls *p, const char *what, const char *const *wanted, int n_wanted, struct fw_err *err);
/** Also after an error of pulls_begin. */
void pulls_fini(struct pulls *p);
/** Remove the listed refs. */
void pulls_clear(struct pulls *p);
/** Take a ref, if it is one of a request. Both refs of a request must be adjacent. */
void pulls_add(struct pulls *p, const char *ref, const char *sha);
/** Sort them after all were added, and leave out all but the newest and the wanted ones. */
void pulls_sort(struct pulls *p);
/** Write the refspec that fetches listed request `i`. False: it is not wanted with its current head. Shape: spec[size]. */
bool pulls_spec(const struct pulls *p, int i, char *spec, size_t size);
/**
 * Print a line for each request: its number and head; for a wanted one with that head also the commit to measure, or the problem
 * why there is none. A last line has the number of requests that are not listed, if there are any.
 */
void pulls_print(struct git_repo *r, const struct pulls *p, struct buf *out);
/** Add the refs of a local repository's requests, and sort them. */
int git_repo_pulls(struct git_repo *r, struct pulls *p, struct fw_err *err);

/**
 * Fetch refs/heads/ of `url` into refs/heads/, delete branches that no longer exist there, and point HEAD at its default branch.
 * `pulls` (NULL: none) gets the server's requests; the requested ones are fetched. `access` may be NULL, here and below.
 */
int git_repo_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct pulls *pulls, struct fw_err *err);
/** As git_repo_branches, for a server and without a fetch. */
int git_server_branches(const char *url, const struct git_access *access, git_branch_fn *each, void *arg, struct fw_err *err);

/** Find the commit of refs/heads/`branch`. Shape: sha[GIT_HEX]. Err: ERR_NOT_FOUND. */
int git_repo_branch(struct git_repo *r, const char *branch, char *sha, struct fw_err *err);
/** Find the best common ancestor; "" if there is none. Err: ERR_UNSUPPORTED it may be beyond the end of a shallow repository. */
int git_repo_merge_base(struct git_repo *r, const char *a, const char *b, char *sha, struct fw_err *err);

/** Find out whether a branch is at this commit, or contains it. Err: ERR_NOT_FOUND for an unknown hash. */
int git_repo_on_branch(struct git_repo *r, const char *sha, bool *is_on_branch, struct fw_err *err);

/** Check that the parents of a commit are present. Err: ERR_UNSUPPORTED, with a remedy: a shallow repository ends at it. */
int git_repo_whole(struct git_repo *r, const char *sha, struct fw_err *err);

struct git_commit_info {
	char sha[GIT_HEX], tree[GIT_HEX];
	int n_parents; /* at most 16 are listed */
	char parent[16][GIT_HEX];
	struct buf author,
		subject; /* UTF-8, converted from the encoding named by the commit; raw bytes for no or an unknown encoding */
	int64_t committed_at_ms;
};
void git_commit_info_fini(struct git_commit_info *c);
/** Read a commit. Own: on success git_commit_info_fini frees `out`. Err: ERR_NOT_FOUND for an unknown hash. */
int git_repo_commit(struct git_repo *r, const char *sha, struct git_commit_info *out, struct fw_err *err);
/** Receives a commit's hash. A nonzero return value ends the list, as an error. */
typedef int git_log_fn(void *arg, const char *sha, struct fw_err *err);
/**
 * List hashes of at most `count` commits from `from` on, newest first. First parents end at the end of a shallow history.
 * `without` (NULL: none; not with first_parent): a commit that is omitted with all of its ancestors.
 */
int git_repo_log(struct git_repo *r, const char *from, const char *without, int count, bool first_parent, git_log_fn *each,
	void *arg, struct fw_err *err);

/** Receives the path of a changed file, in raw bytes. */
typedef void git_changes_fn(void *arg, const char *path);
/**
 * Call `each` for the first `count` files, in git's order, that differ between two commits; a renamed file is two. Returns the
 * number of all, -1. Err: ERR_NOT_FOUND for an unknown hash.
 */
int git_repo_changes(
	struct git_repo *r, const char *from, const char *to, int count, git_changes_fn *each, void *arg, struct fw_err *err);

enum git_kind { GIT_KIND_TREE, GIT_KIND_BLOB, GIT_KIND_EXECUTABLE, GIT_KIND_LINK, GIT_KIND_SUBMODULE };
struct git_item {
	const char *name;
	enum git_kind kind;
	char oid[GIT_HEX];
};
/** Find `path` ("" is the root) below a tree; `out->name` is not set. Returns 1 found, 0 absent, -1. */
int git_repo_find(struct git_repo *r, const char *tree, const char *path, struct git_item *out, struct fw_err *err);
/** Determine whether `oid` is a tree or a blob. Err: ERR_NOT_FOUND, ERR_INVALID for other objects. */
int git_repo_kind(struct git_repo *r, const char *oid, enum git_kind *out, struct fw_err *err);
/** Call `each` for every entry of one tree, in git's order. */
int git_repo_tree(struct git_repo *r, const char *tree, int (*each)(void *arg, const struct git_item *item, struct fw_err *err),
	void *arg, struct fw_err *err);
/** Append a blob. Err: ERR_UNSUPPORTED if it is larger than `max` bytes. */
int git_repo_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Append a blob of at most `max` bytes; a larger one is not loaded. Returns 1 appended, 0 larger, -1. */
int git_repo_small_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Replace the local refs/notes/flopwatch by that of `url`; if `url` has none, the local one stays. */
int git_repo_notes_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Push the notes to `url`. Err: ERR_BUSY another push came first: fetch, write and push again. */
int git_repo_notes_push(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Write `text` as the note of a commit on refs/notes/flopwatch, replacing an older one. */
int git_repo_note(struct git_repo *r, const char *sha, const char *text, struct fw_err *err);
/**
 * Store the worktree's files, including new ones that are not ignored, as a commit. No ref names it, so that no push publishes
 * it; git deletes it after gc.pruneExpire (two weeks). The user's index and files are not changed. The same files on the same
 * head give the same commit; unchanged files give head itself. `head` is "" if unborn.
 */
int git_repo_snapshot(struct git_repo *r, char *commit, char *head, struct fw_err *err);

/* ---- git_lib: Functions shared by git.c and git_write.c, the only files that use libgit2 (1.5 and later). ---- */

struct git_repo {
	git_repository *lib;
	char *path;
};

/** Convert libgit2's last error, with a prefix. An error that one of flopwatch's callbacks has set stays. */
int git_lib_fail(struct fw_err *err, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Shape: hex[GIT_HEX]. */
void git_lib_format_oid(char *hex, const git_oid *oid);
/**
 * Find the object that a ref ("refs/heads/main", "HEAD") names, through symbolic refs; opens only regular files. Returns the
 * result of libgit2: 0, GIT_ENOTFOUND, GIT_EINVALIDSPEC, or another error whose text git_error_last has.
 */
int git_lib_ref(struct git_repo *r, const char *name, git_oid *out);
/** Find a commit. Err: ERR_NOT_FOUND, ERR_INVALID no hash. Own: git_commit_free. */
int git_lib_commit(struct git_repo *r, const char *sha, git_commit **out, struct fw_err *err);

/*
 * ---- hostkey ----
 * Verification of an ssh server: its key must match a fingerprint or a known_hosts file, or it is refused.
 *
 * A key is never accepted on first use: the daemon has no user to confirm it.
 */

/**
 * Accept or refuse the key presented by the server of `url`. Shape: key[len], as in RFC 4253. Err: ERR_INVALID with the key's
 * fingerprint and the setting to write.
 */
int hostkey_check(const struct git_access *a, const char *url, const unsigned char *key, size_t len, struct fw_err *err);

/*
 * ---- layout ----
 * Check that git's files are regular files: libgit2 also opens a FIFO, and then waits for a writer that never comes.
 *
 * A push cannot create a FIFO; a user with write access to the repository's folder can. A FIFO created after the check blocks
 * until the deadline.
 */

/**
 * Check the files of the repository at `path`, with `search` also of one above it, and those that they name: HEAD, config,
 * packed-refs and similar files, objects, packs and alternates; with `refs` also every ref. Err: ERR_DAMAGED, which names the
 * first file that is not regular, before anything was opened. A missing repository is no error.
 */
int layout_check(const char *path, bool search, bool refs, struct fw_err *err);

/** As layout_check, for the files below a work tree that define ignored files and attributes. Err: as layout_check. */
int layout_check_tree(const char *dir, struct fw_err *err);

/* ---- limits: Resource limits of one run: a hostile repository must cost a bounded amount of time and memory. ---- */

/**
 * Limit processor time (an existing lower limit stays), address space and core files of this process. At the time limit it prints
 * one line and exits with 1: broken objects can make libgit2 loop forever.
 */
int limits_set(int cpu_s, struct fw_err *err);
/**
 * Begin to read an object: if it takes longer than any valid object, the run ends in the same way, and the line names the object.
 */
void limits_object(const char *oid);

/* ---- mirror: A bare copy of a remote repository's branches that is either complete or absent. ---- */

#define MIRROR_MARKER "flopwatch-mirror" /* a file; it marks a folder that flopwatch may delete */

/**
 * Create or update the mirror in folder `dir`. A new mirror is built next to it and replaces it by a rename. Removes files of an
 * interrupted run, and rebuilds a mirror that cannot be read any more. `pulls` as in git_repo_fetch. Err: ERR_INVALID for a URL or a folder that is not
 * flopwatch's, ERR_BUSY while another run updates it.
 */
int mirror_update(const char *url, const char *dir, const struct git_access *access, struct pulls *pulls, struct fw_err *err);

/*
 * ---- mirror_rebuild ----
 * Requests to rebuild a mirror in which something cannot be read.
 *
 * A reader detects damage in a mirror, but only a fetch can repair it: the reader leaves a file in the mirror, and the next fetch
 * finds it. Damage that is also in the new mirror came from the server, and is not requested again.
 */

/**
 * Handle `err` (ERR_DAMAGED), which occurred in the repository `dir`. It becomes ERR_BUSY if `dir` is a mirror of flopwatch that
 * was not rebuilt for this error yet.
 */
void mirror_rebuild_request(const char *dir, struct fw_err *err);
/** True if the mirror has a request; `why` gets the damage. */
bool mirror_rebuild_is_requested(const char *dir, struct fw_err *why);
/** Record in the new mirror, `fresh`, the damage for which it was built, and that for which the one in `dir` was built. */
int mirror_rebuild_note(const char *dir, const char *fresh, const char *why, struct fw_err *err);

/*
 * ---- name ----
 * Ref names and commit texts are bytes that any author may choose: one form is stored, another is displayed.
 *
 * The stored form is percent-encoded (letters, digits and "-._~/" stay), so that it is plain ASCII and decodes to the same bytes.
 * The displayed form is UTF-8: invalid bytes become U+FFFD, characters that hide or reorder text become visible (\u202e).
 */

void name_encode(struct buf *out, const char *bytes, size_t len);
/** Decode the stored form. Err: -1 for an invalid escape or a NUL; `out` is then unusable. */
int name_decode(struct buf *out, const char *encoded);
/** Append the displayed form. Units: at most `max` bytes, cut between characters with "...". */
void name_display(struct buf *out, const char *bytes, size_t len, size_t max);

/* ---- pointer: Files of a commit that only name their content: pointers of git-LFS, and pointers and links of git-annex. ---- */

enum { POINTER_MAX_BYTES = 1024 /* git-LFS treats no larger file as a pointer */ };

/*
 * ---- refwrite ----
 * Moves one of flopwatch's refs in a user's repository, without a lock that remains forever.
 *
 * Git locks a ref by creating REF.lock. A killed process leaves that file, which cannot be distinguished from a lock in use. Here
 * the lock is a second name (hard link) of a flopwatch file next to the refs, and its writer locks that file by flock while it
 * lives. If both names denote the same file and no process has the flock, the lock belongs to a run that no longer exists, and
 * the next run removes it. Signals that request the process to end wait until the ref is written.
 */

struct refwrite {
	int fd;
	char own[PATH_MAX], ref[PATH_MAX], lock[PATH_MAX];
	sigset_t before; /* mask */
};

/**
 * Lock `ref` ("refs/notes/flopwatch") in the folder that contains refs/ of all worktrees. Returns 1 if this file system has no
 * hard links: nothing is locked. Own: on 0 `w` ends in refwrite_commit or refwrite_cancel. Err: ERR_BUSY another writer is
 * active, or left its lock.
 */
int refwrite_begin(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err);
/** Set the ref to commit `sha`, and remove the lock. */
int refwrite_commit(struct refwrite *w, const char *sha, struct fw_err *err);
void refwrite_cancel(struct refwrite *w);
/** Block signals that request the process to end; `before` is the mask that sigprocmask restores. */
void refwrite_hold_signals(sigset_t *before);
/** True if a flopwatch process is writing the ref now. */
bool refwrite_is_busy(const char *common_dir, const char *ref);

/*
 * ---- tar ----
 * Writes ustar archives whose bytes depend only on names, modes and contents: equal trees give equal archives.
 *
 * Every path is relative and stays inside the tree; links may only point inside the tree. Entries that ustar cannot represent (a
 * name that does not split into 155 + 100 bytes, a link text above 100, a file of 8 GiB) are refused, never shortened.
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

/** Check that ustar can represent this path. Err: ERR_INVALID. */
int tar_check_path(const char *path, bool is_directory, struct fw_err *err);
/**
 * True if a link at `path` stays inside for any targets of other links: "../" only at the start, and no more of them than folders
 * above.
 */
int tar_check_link(const char *path, const char *target, struct fw_err *err);

/* ---- tree: A git tree that is sent to a worker: checked first, then written as one archive. ---- */

enum { TREE_DEPTH_MAX = 64, TREE_ENTRIES_MAX = 200000, TREE_BYTES_MAX = 1 << 30 };

/**
 * Search for entries that must not be sent: submodules, pointers of git-LFS and git-annex, links that leave the tree, invalid
 * file names (.., .git), too long paths. `problem` stays empty if there are none. `path` is the tree's name in the text. Err: -1
 * only if the tree cannot be read.
 */
int tree_check(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** As tree_check, for one file: find out whether it is such a pointer. */
int tree_check_file(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** Write a tree, or one file under the name `blob`, as ustar. Writes nothing if tree_check finds a problem. */
int tree_write(struct git_repo *r, const char *oid, int fd, struct fw_err *err);

/* ---- url: The addresses to which a fetch may connect. ---- */

/**
 * Accept https://host/path, ssh://[user@]host[:port]/path, user@host:path, file:///path and absolute paths; refuse all others
 * with the reason: other schemes, passwords in the URL, control bytes, and bytes that a remote shell would interpret.
 */
int url_check(const char *url, struct fw_err *err);

/** True if the URL names a server: neither file:///path nor an absolute path. */
bool url_is_remote(const char *url);

/** Extract host, without brackets, and port of a server's URL that url_check accepts. Shape: host[size]. Err: ERR_INVALID. */
int url_server(const char *url, char *host, size_t size, int *port, struct fw_err *err);

/* ---- verbs: The verbs of flopwatch-git: each does one task and prints JSON lines (or an archive) on stdout. ---- */

enum { VERBS_PATHS_MAX = 160 }; /* above a manifest's 64 suites in two folders each, and the manifest */

/** Options of all verbs; those that are not set are NULL or 0. */
struct verb_args {
	const char *repo, *url, *mirror, *target, *upstream, *with, *commit, *oid, *from, *without, *file, *worktree, *push;
	struct git_access access;
	int first_parents, count;
	bool first_parent;
	int n_blobs, n_oids;
	const char *blob[VERBS_PATHS_MAX]; /* paths in the tree */
	const char *oids[VERBS_PATHS_MAX];
	const char *pulls; /* "pull:merge" */
	int n_pull;
	const char *pull[PULLS_WANTED_MAX]; /* "7=HASH" */
	const struct pulls *found;          /* requests of the server that was fetched; NULL: those of the repository */
};

/** Fill the response about an open repository. */
typedef int verb_body_fn(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err);
verb_body_fn body_tips, body_base, body_contains, body_tree, body_log, body_changes, body_note, body_snapshot;
/** Open the repository, or the one around the work tree, let `body` fill the response, and print it. */
int verb_answer(const struct verb_args *a, verb_body_fn *body, struct fw_err *err);

typedef int verb_fn(const struct verb_args *a, struct fw_err *err);
verb_fn verb_heads, verb_fetch, verb_tar;

#endif
