/** picker.h - the choices of repository, branch and cell that forms of several pages offer. */
#ifndef WEB_HTML_PICKER_H
#define WEB_HTML_PICKER_H

#include "lib/buf.h"
#include "db/db.h"

/** Labelled <select name=repo>; `any` also offers every one. `chosen` NULL or "": none. Err: the database's. */
int picker_repo(struct buf *out, struct db *db, const char *chosen, bool any, struct fw_err *err);
/** Labelled <select name=branch> of a repository's branches, watched or not; nothing without a repo. `name` is the field's. */
int picker_branch(struct buf *out, struct db *db, const char *repo, const char *name, const char *label, const char *chosen,
	const char *none, struct fw_err *err);

/**
 * The cells of picker_cells: those whose names hold every word of `words`, in any case, no more of them than `bytes` of keys, so that a page
 * stays small however large a suite is.
 */
struct picker_cells {
	const char *words; /* "": all */
	size_t bytes;
	void (*each)(void *arg, const char *key);
	void *arg;
	int found, given; /* set: that hold them, and that `each` got */
	bool is_one;      /* set: `words` is one's whole name */
	size_t len;       /* of keys so far */
};
/** All cells as view_cell_keys has them. Err: the database's. */
int picker_cells(struct db *db, const char *repo, const char *branch, struct picker_cells *c, struct fw_err *err);

#endif
