/** verbs.h - what flopwatch-git can be asked: each verb does one thing and prints JSON lines (or an archive) on stdout. */
#ifndef GIT_VERBS_H
#define GIT_VERBS_H

#include <stdbool.h>

#include "lib/err.h"
#include "git/access.h"

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

int verb_tips(const struct verb_args *a, struct fw_err *err);
int verb_heads(const struct verb_args *a, struct fw_err *err);
int verb_fetch(const struct verb_args *a, struct fw_err *err);
int verb_base(const struct verb_args *a, struct fw_err *err);
int verb_tree(const struct verb_args *a, struct fw_err *err);
int verb_tar(const struct verb_args *a, struct fw_err *err);
int verb_log(const struct verb_args *a, struct fw_err *err);
int verb_note(const struct verb_args *a, struct fw_err *err);
int verb_snapshot(const struct verb_args *a, struct fw_err *err);

#endif
