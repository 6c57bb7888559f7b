/** internal.h - flopwatch-git, the program that accesses repositories, and makes every call of libgit2. */
#ifndef GIT_INTERNAL_H
#define GIT_INTERNAL_H

#include <git2.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/lib.h"

/* ---- access: Credentials for a server, and the keys that identify it. No member is a secret, only the path of one. ---- */

/** A member that is not set is NULL. */
struct git_access {
	const char *ssh_key;     /* file with a private key without passphrase */
	const char *known_hosts; /* file in ssh's format; NULL: ~/.ssh/known_hosts, then /etc/ssh/ssh_known_hosts */
	const char *host_keys;   /* "SHA256:...,SHA256:...": fingerprints of the server's keys */
	const char *token_file;  /* file whose first line is the password for https:// */
	const char *token_user;  /* user name for https://; NULL: "git" */
	const char *ca_file;     /* file with trusted certificates for https://; NULL: the system's */
};

/*
 * ---- git ----
 * Operations on git repositories. Callers use no types of libgit2.
 *
 * No function reads the configuration of the user or the system, runs hooks or filters, or resolves abbreviated names: commits
 * and trees are named by their full hash, refs by their full name. Hashes are lower-case hex. Ref names are raw bytes.
 */

#define GIT_HEX 65 /* bytes of a hash as text, with its NUL */

enum { GIT_BLOB_MAX = 256 << 20 }; /* maximum bytes of one file in an archive */

struct git_repo;

/**
 * Start libgit2 with flopwatch's settings. Call once, before all other functions. `url`: the server to connect to; NULL: none.
 */
int git_repo_library_start(const char *url, struct fw_err *err);
/** Stop libgit2. */
void git_repo_library_stop(void);

/**
 * Open the bare repository, checkout or linked worktree at exactly `path`; with `search` also the repository of which `path` is a
 * folder. Own: git_repo_close. Err: ERR_BUSY if there is none, because it may be moved or not mounted for a moment.
 */
int git_repo_open(const char *path, bool search, struct git_repo **out, struct fw_err *err);
/** Return whether the repository is still at the path at which it was opened. */
bool git_repo_is_there(const struct git_repo *r);
/** Accepts NULL. */
void git_repo_close(struct git_repo *r);
/** Create an empty bare repository in an existing or new folder. Own: git_repo_close. */
int git_repo_create(const char *path, struct git_repo **out, struct fw_err *err);

/** Receive a branch. If its ref or commit cannot be read, `commit` is "" and `problem` has the reason. Err: -1 ends the list. */
typedef int git_branch_fn(void *arg, const char *name, const char *commit, const char *problem, struct fw_err *err);
/** Call `each` for every branch; names are without refs/heads/. */
int git_repo_branches(struct git_repo *r, git_branch_fn *each, void *arg, struct fw_err *err);

/*
 * ---- pulls ----
 * Refs of pull and merge requests: refs/pull/N/head or refs/merge-requests/N/head, and refs/.../N/merge with the forge's merge
 * result.
 *
 * Anyone may push to these refs, so their commits are listed and not fetched. Only requests that the caller names are fetched,
 * each at a given head: if the ref has another commit meanwhile, the request is neither fetched nor reported.
 */

enum {
	PULLS_MAX = 1000, /* listed requests, the newest ones */
	PULLS_WANTED_MAX = 64
};

struct pulls {
	char space[16]; /* "pull" or "merge-requests" */
	bool is_merge;  /* measure the merge result instead of the head */
	int n_wanted;
	struct {
		int number;
		char head[GIT_HEX];
	} wanted[PULLS_WANTED_MAX]; /* requests to fetch */
	int n, n_omitted;           /* n_omitted: older requests, which are not listed */
	struct pull {
		int number;
		char head[GIT_HEX], merge[GIT_HEX]; /* "": there is no such ref */
	} * pull;                                   /* pull[n], after pulls_sort the newest first */
};

/**
 * Parse the values of --pulls (`what`: "pull:merge") and --pull (`wanted`: "7=HASH"). Shape: wanted[n_wanted], at most
 * PULLS_WANTED_MAX. Own: pulls_fini, also after an error. Err: ERR_INVALID.
 */
int pulls_begin(struct pulls *p, const char *what, const char *const *wanted, int n_wanted, struct fw_err *err);
void pulls_fini(struct pulls *p);
/** Remove all listed requests. */
void pulls_clear(struct pulls *p);
/** Add a ref if it belongs to a request; others are ignored. Both refs of a request must be added one after the other. */
void pulls_add(struct pulls *p, const char *ref, const char *sha);
/** Sort the requests after all refs were added, and drop those that are neither wanted nor among the newest. */
void pulls_sort(struct pulls *p);
/**
 * Write the refspec that fetches listed request `i`. Returns false if it is not wanted at its current head. Shape: spec[size].
 */
bool pulls_spec(const struct pulls *p, int i, char *spec, size_t size);
/**
 * Append a line for each request with its number and head; of a wanted request at that head also the commit to measure, or the
 * reason why there is none. If requests are not listed, a last line has their number.
 */
void pulls_print(struct git_repo *r, const struct pulls *p, struct buf *out);
/** Add the requests of a local repository, and sort them. */
int git_repo_pulls(struct git_repo *r, struct pulls *p, struct fw_err *err);

/**
 * Fetch refs/heads/ of `url` into refs/heads/, delete branches that no longer exist there, and let HEAD name its default branch.
 * `pulls` receives the server's requests, and the wanted ones are fetched; NULL: none. `access` may be NULL, here and below.
 */
int git_repo_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct pulls *pulls, struct fw_err *err);
/** Call `each` for every branch of a server, as git_repo_branches, without a fetch. */
int git_server_branches(const char *url, const struct git_access *access, git_branch_fn *each, void *arg, struct fw_err *err);

/** Find the commit of refs/heads/`branch`. Shape: sha[GIT_HEX]. Err: ERR_NOT_FOUND. */
int git_repo_branch(struct git_repo *r, const char *branch, char *sha, struct fw_err *err);
/**
 * Find the best common ancestor (merge-base) of two commits; "": there is none. Shape: sha[GIT_HEX]. Err: ERR_UNSUPPORTED if the
 * history of a shallow repository ends before it.
 */
int git_repo_merge_base(struct git_repo *r, const char *a, const char *b, char *sha, struct fw_err *err);

/** Determine whether any branch contains a commit. Err: ERR_NOT_FOUND for an unknown hash. */
int git_repo_on_branch(struct git_repo *r, const char *sha, bool *is_on_branch, struct fw_err *err);

/** Check that the parents of a commit are present. Err: ERR_UNSUPPORTED, with a remedy, if a shallow repository ends at it. */
int git_repo_whole(struct git_repo *r, const char *sha, struct fw_err *err);

struct git_commit_info {
	char sha[GIT_HEX], tree[GIT_HEX];
	int n_parents;            /* at most 16 are listed */
	char parent[16][GIT_HEX]; /* parent[n_parents] */
	/* UTF-8, converted from the encoding that the commit names; raw bytes if it names none or an unknown one */
	struct buf author, subject;
	int64_t committed_at_ms;
};
void git_commit_info_fini(struct git_commit_info *c);
/** Read a commit. Own: git_commit_info_fini, after success. Err: ERR_NOT_FOUND for an unknown hash. */
int git_repo_commit(struct git_repo *r, const char *sha, struct git_commit_info *out, struct fw_err *err);
/** Receive the hash of a commit. Err: -1 ends the list. */
typedef int git_log_fn(void *arg, const char *sha, struct fw_err *err);
/**
 * Call `each` for at most `count` commits from `from` on, the newest first. `first_parent`: only first parents, up to the end of
 * a shallow history. `without`: a commit that is omitted with all of its ancestors; NULL: none, as required with `first_parent`.
 */
int git_repo_log(struct git_repo *r, const char *from, const char *without, int count, bool first_parent, git_log_fn *each,
	void *arg, struct fw_err *err);

/** Receive the path of a changed file, in raw bytes. */
typedef void git_changes_fn(void *arg, const char *path);
/**
 * Call `each` for the first `count` files, in git's order, that differ between two commits; a renamed file is two files. Returns
 * the number of all, or -1. Err: ERR_NOT_FOUND for an unknown hash.
 */
int git_repo_changes(
	struct git_repo *r, const char *from, const char *to, int count, git_changes_fn *each, void *arg, struct fw_err *err);

enum git_kind { GIT_KIND_TREE, GIT_KIND_BLOB, GIT_KIND_EXECUTABLE, GIT_KIND_LINK, GIT_KIND_SUBMODULE };
/** An entry of a tree. */
struct git_item {
	const char *name;
	enum git_kind kind;
	char oid[GIT_HEX];
};
/** Find `path` ("": the root) in a tree; out->name is not set. Returns 1; 0 if it does not exist; -1 on error. */
int git_repo_find(struct git_repo *r, const char *tree, const char *path, struct git_item *out, struct fw_err *err);
/** Determine whether `oid` is a tree or a blob. Err: ERR_NOT_FOUND for an unknown object, ERR_INVALID for another kind. */
int git_repo_kind(struct git_repo *r, const char *oid, enum git_kind *out, struct fw_err *err);
/**
 * Call `each` for every entry of one tree, in git's order. Own: `item` is borrowed. Err: also -1 of `each`, which ends the list.
 */
int git_repo_tree(struct git_repo *r, const char *tree, int (*each)(void *arg, const struct git_item *item, struct fw_err *err),
	void *arg, struct fw_err *err);
/** Append a blob. Err: ERR_UNSUPPORTED if it is larger than `max` bytes. */
int git_repo_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Append a blob of at most `max` bytes. Returns 1; 0 if it is larger, without loading it; -1 on error. */
int git_repo_small_blob(struct git_repo *r, const char *oid, size_t max, struct buf *out, struct fw_err *err);

/** Replace the local refs/notes/flopwatch by that of `url`. If `url` has none, the local ref does not change. */
int git_repo_notes_fetch(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Push the notes to `url`. Err: ERR_BUSY if another push came first: fetch, write and push again. */
int git_repo_notes_push(struct git_repo *r, const char *url, const struct git_access *access, struct fw_err *err);
/** Write `text` as the note of a commit on refs/notes/flopwatch, replacing an older one. */
int git_repo_note(struct git_repo *r, const char *sha, const char *text, struct fw_err *err);
/**
 * Store the worktree's files, with new ones that are not ignored, as a commit. No ref names the commit, so that no push publishes
 * it; git deletes it after gc.pruneExpire (two weeks). The user's index and files do not change. The same files on the same head
 * give the same commit; unchanged files give the head. `head` is "" if there is no commit yet. Shape: commit[GIT_HEX],
 * head[GIT_HEX].
 */
int git_repo_snapshot(struct git_repo *r, char *commit, char *head, struct fw_err *err);

/* ---- git_lib: Functions shared by git.c and git_write.c, the only files that use libgit2 (1.5 and later). ---- */

struct git_repo {
	git_repository *lib;
	char *path;
};

/** Set `err` to libgit2's last error, with a prefix, unless one of flopwatch's callbacks has set it. Returns -1. */
int git_lib_fail(struct fw_err *err, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Write a hash as text. Shape: hex[GIT_HEX]. */
void git_lib_format_oid(char *hex, const git_oid *oid);
/**
 * Find the object that a ref ("refs/heads/main", "HEAD") names, through symbolic refs. Opens only regular files. Returns a result
 * of libgit2: 0, GIT_ENOTFOUND, GIT_EINVALIDSPEC, or another error, for git_error_last.
 */
int git_lib_ref(struct git_repo *r, const char *name, git_oid *out);
/** Find a commit. Own: git_commit_free. Err: ERR_NOT_FOUND for an unknown hash, ERR_INVALID for other text. */
int git_lib_commit(struct git_repo *r, const char *sha, git_commit **out, struct fw_err *err);

/*
 * ---- hostkey ----
 * Verification of an ssh server: its key must match a fingerprint or a known_hosts file. A key is never accepted on first use,
 * because the daemon has no user who could confirm it.
 */

/**
 * Check the key that the server of `url` presents. Shape: key[len], in the format of RFC 4253. Err: ERR_INVALID with the key's
 * fingerprint and the setting that accepts it.
 */
int hostkey_check(const struct git_access *a, const char *url, const unsigned char *key, size_t len, struct fw_err *err);

/*
 * ---- layout ----
 * Check that git's files are regular files: libgit2 would open a FIFO and wait for a writer for ever.
 *
 * A push cannot create a FIFO, but a user with write access to the repository's folder can. One that is created after the check
 * blocks this program until its deadline.
 */

/**
 * Check the files of the repository at `path`, with `search` also of one above it, and those that they name: HEAD, config,
 * packed-refs and similar files, objects, packs and alternates; with `refs` also every ref. A missing repository is no error.
 * Err: ERR_DAMAGED with the first file that is not regular.
 */
int layout_check(const char *path, bool search, bool refs, struct fw_err *err);

/** Check the files of a work tree that define ignored files and attributes. Err: as layout_check. */
int layout_check_tree(const char *dir, struct fw_err *err);

/* ---- limits: Limits of time and memory, because a repository may be hostile. ---- */

/**
 * Limit processor time, address space and core files of this process; a lower existing limit of the time remains. At the time
 * limit the process prints one line and exits with 1, because broken objects can make libgit2 loop forever. Units: `cpu_s`,
 * seconds.
 */
int limits_set(int cpu_s, struct fw_err *err);
/**
 * Begin to read an object. If this takes longer than for any valid object, the process ends in the same way, and the line names
 * the object. Own: copies `oid`.
 */
void limits_object(const char *oid);

/* ---- mirror: A bare copy of a remote repository's branches, which is always complete or missing. ---- */

#define MIRROR_MARKER "flopwatch-mirror" /* name of the file that marks a folder as a mirror, which flopwatch may delete */

/**
 * Create or update the mirror in folder `dir`. A new mirror is built next to it and replaces it by a rename. Files of an
 * interrupted run are removed, and an unreadable mirror is rebuilt. `pulls`: as in git_repo_fetch. Err: ERR_INVALID for an
 * invalid URL or a folder that is not a mirror, ERR_BUSY if another process updates it.
 */
int mirror_update(const char *url, const char *dir, const struct git_access *access, struct pulls *pulls, struct fw_err *err);

/*
 * ---- mirror_rebuild ----
 * Requests to rebuild a damaged mirror.
 *
 * A reader can detect damage in a mirror, but only a fetch can repair it. So the reader writes a request, a file in the mirror,
 * and the next fetch rebuilds the mirror. If the new mirror has the same damage, the server has it, too, and no request is
 * written again.
 */

/**
 * Request a rebuild for `err` (ERR_DAMAGED), which occurred in the repository `dir`. `err` becomes ERR_BUSY if `dir` is a mirror
 * that was not rebuilt for this damage yet.
 */
void mirror_rebuild_request(const char *dir, struct fw_err *err);
/** Return whether the mirror has a request. `why` receives the damage. */
bool mirror_rebuild_is_requested(const char *dir, struct fw_err *why);
/**
 * Record in the new mirror `fresh` the damage for which it was built, `why`, and that for which the mirror in `dir` was built.
 */
int mirror_rebuild_note(const char *dir, const char *fresh, const char *why, struct fw_err *err);

/*
 * ---- name ----
 * Ref names and commit texts are any bytes that an author chose. They have a stored and a displayed form.
 *
 * The stored form is percent-encoded, except for letters, digits and "-._~/": it is ASCII and decodes to the same bytes. The
 * displayed form is UTF-8: invalid bytes become U+FFFD, and characters that hide or reorder text are escaped (\u202e).
 */

/** Append the stored form. */
void name_encode(struct buf *out, const char *bytes, size_t len);
/** Append the bytes of a stored form. Returns 0; -1 for an invalid escape or a NUL, with `out` undefined. */
int name_decode(struct buf *out, const char *encoded);
/** Append the displayed form, at most `max` bytes. A longer one is cut between characters and ends with "...". */
void name_display(struct buf *out, const char *bytes, size_t len, size_t max);

/* ---- pointer: Files of a commit that only name their content: pointers of git-LFS, pointers and links of git-annex. ---- */

enum { POINTER_MAX_BYTES = 1024 }; /* maximum of a git-LFS pointer */

/*
 * ---- refwrite ----
 * Update of one of flopwatch's refs in a user's repository. A killed process leaves no lock for ever.
 *
 * Git locks a ref by creating REF.lock. A killed process leaves that file, which looks like a lock in use. Here REF.lock is a
 * hard link of a file of flopwatch next to the refs, on which the writer has an flock until it ends. If both names are the same
 * file and no process has the flock, the writer no longer exists, and the next writer removes the lock. Signals that end the
 * process are blocked until the ref is written.
 */

struct refwrite {
	int fd;                                            /* of `own`, with the flock */
	char own[PATH_MAX], ref[PATH_MAX], lock[PATH_MAX]; /* paths: flopwatch's file, the ref, its lock */
	sigset_t before;                                   /* signal mask to restore */
};

/**
 * Lock `ref` ("refs/notes/flopwatch"). `common_dir`: the folder with refs/ of all worktrees. Returns 0; 1 if this file system has
 * no hard links, without a lock; -1 on error. Own: after 0 refwrite_commit or refwrite_cancel. Err: ERR_BUSY if another writer
 * has a lock, or left one.
 */
int refwrite_begin(const char *common_dir, const char *ref, struct refwrite *w, struct fw_err *err);
/** Set the ref to commit `sha`, and remove the lock, also after a failure. */
int refwrite_commit(struct refwrite *w, const char *sha, struct fw_err *err);
/** Remove the lock; the ref does not change. */
void refwrite_cancel(struct refwrite *w);
/** Block signals that end the process. `before` receives the mask to restore with sigprocmask. */
void refwrite_hold_signals(sigset_t *before);
/** Return whether a flopwatch process is writing the ref now. */
bool refwrite_is_busy(const char *common_dir, const char *ref);

/*
 * ---- tar ----
 * Writer of ustar archives. The bytes depend only on names, modes and contents, so equal trees give equal archives.
 *
 * All paths are relative and inside the tree, and so are the targets of links. Entries that ustar cannot represent (a path that
 * does not split into 155 + 100 bytes, a link target above 100 bytes, a file of 8 GiB) are an error, never shortened.
 */

struct tar {
	int fd;
	int64_t written; /* bytes */
};

/** Begin an archive on `fd`. Own: the caller closes `fd`. */
void tar_init(struct tar *t, int fd);
/* Append one entry. Err: ERR_INVALID if ustar cannot represent it. */
int tar_directory(struct tar *t, const char *path, struct fw_err *err);
int tar_file(struct tar *t, const char *path, const void *data, size_t len, bool executable, struct fw_err *err);
int tar_link(struct tar *t, const char *path, const char *target, struct fw_err *err);
/** Write the end of the archive. */
int tar_end(struct tar *t, struct fw_err *err);

/** Check that ustar can represent this path. Err: ERR_INVALID. */
int tar_check_path(const char *path, bool is_directory, struct fw_err *err);
/**
 * Check that the target of a link at `path` is inside the tree, whatever the targets of other links: "../" only at its start, at
 * most once for each parent folder. Err: ERR_INVALID, as a predicate.
 */
int tar_check_link(const char *path, const char *target, struct fw_err *err);

/* ---- tree: A git tree as an archive for a worker: it is checked completely before it is written. ---- */

enum { TREE_DEPTH_MAX = 64, TREE_ENTRIES_MAX = 200000, TREE_BYTES_MAX = 1 << 30 };

/**
 * Find the first entry that must not be sent: a submodule, a pointer of git-LFS or git-annex, a link out of the tree, an invalid
 * file name (.., .git), a path that is too long. `problem` receives a text; it remains empty if there is none. `path`: the tree's
 * name in the text. Err: -1 only if the tree cannot be read.
 */
int tree_check(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/** Check one file as tree_check: whether it is a pointer. */
int tree_check_file(struct git_repo *r, const char *oid, const char *path, struct buf *problem, struct fw_err *err);
/**
 * Write a tree, or one file with the name `blob`, as a ustar archive. Err: ERR_INVALID, before anything is written, if tree_check
 * finds a problem.
 */
int tree_write(struct git_repo *r, const char *oid, int fd, struct fw_err *err);

/* ---- url: URLs of repositories. ---- */

/**
 * Check a URL. Accepted are https://host/path, ssh://[user@]host[:port]/path, user@host:path, file:///path and absolute paths.
 * Err: ERR_INVALID with the reason for others: another scheme, a password, control bytes, bytes that a remote shell would
 * interpret.
 */
int url_check(const char *url, struct fw_err *err);

/** Return whether the URL names a server: it is neither file:///path nor an absolute path. */
bool url_is_remote(const char *url);

/** Extract host, without brackets, and port of a server's URL that url_check accepts. Shape: host[size]. Err: ERR_INVALID. */
int url_server(const char *url, char *host, size_t size, int *port, struct fw_err *err);

/* ---- verbs: The verbs of flopwatch-git: each does one task and prints JSON lines (or an archive) on stdout. ---- */

enum { VERBS_PATHS_MAX = 160 }; /* enough for a manifest and its 64 suites, each in two folders */

/** Options of all verbs. An option that is not set is NULL or 0. */
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
	const struct pulls *found;          /* requests of the fetched server; NULL: those of the repository are listed */
};

/** Append the response to `out`, from an open repository. */
typedef int verb_body_fn(struct git_repo *repo, const struct verb_args *a, struct buf *out, struct fw_err *err);
verb_body_fn body_tips, body_base, body_contains, body_tree, body_log, body_changes, body_note, body_snapshot;
/** Open the repository, or that of the work tree, let `body` write the response, and print it. */
int verb_answer(const struct verb_args *a, verb_body_fn *body, struct fw_err *err);

/** Run one verb without an open repository. */
typedef int verb_fn(const struct verb_args *a, struct fw_err *err);
verb_fn verb_heads, verb_fetch, verb_tar;

#endif
