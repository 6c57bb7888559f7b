/** gitread.h - parsers for the output of flopwatch-git, which is not trusted. */
#ifndef FLOPWATCHD_WATCH_GITREAD_H
#define FLOPWATCHD_WATCH_GITREAD_H

#include <stdbool.h>

#include "lib/buf.h"
#include "lib/err.h"
#include "model/manifest.h"
#include "db/repo.h"

enum { GITREAD_BLOBS_MAX = 24, GITREAD_PARENTS_MAX = 256 };

/** A commit from the verb `tree`. */
struct gitread_commit {
	struct store_commit commit;
	char problem[512]; /* fault of a requested path; "": none */
	int n_blobs;
	struct {
		char path[MANIFEST_TEXT_SIZE];
		bool present;
		struct buf text;
	} blob[GITREAD_BLOBS_MAX];
	int n_oids;
	struct {
		char path[MANIFEST_TEXT_SIZE];
		char oid[65]; /* "" absent */
	} oid[MANIFEST_LIST_MAX];
};

/** Parse the output of `tree`. Err: ERR_PROTOCOL. Own: on 0 gitread_commit_free. */
int gitread_tree(const struct buf *out, struct gitread_commit **commit, struct fw_err *err);
void gitread_commit_free(struct gitread_commit *c);
/** A requested blob; NULL if it was not requested or does not exist. */
const struct buf *gitread_blob(const struct gitread_commit *c, const char *path);
/** True if `path` was requested; `oid` is "" if the commit does not have it. */
bool gitread_oid(const struct gitread_commit *c, const char *path, const char **oid);

/** Parse the output of `log`: every commit in order, until `each` returns nonzero. Err: ERR_PROTOCOL, or from `each` (-1). */
typedef int gitread_log_fn(void *arg, const struct store_commit *commit, struct fw_err *err);
int gitread_log(const struct buf *out, gitread_log_fn *each, void *arg, struct fw_err *err);

/** The output of the verb `base`. */
struct gitread_base {
	char merge_base[65]; /* "": none */
	char upstream[65];   /* tip of the upstream branch; "": none exists or none was requested */
	int n_first_parents;
	char first_parent[GITREAD_PARENTS_MAX][65];
};
int gitread_base(const struct buf *out, struct gitread_base *base, struct fw_err *err);

/** Percent-encode a branch name as flopwatch-git writes it. Shape: out[size]. Err: ERR_INVALID it does not fit. */
int gitread_encode(const char *name, char *out, size_t size, struct fw_err *err);

#endif
