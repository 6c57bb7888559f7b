/** picker.h - the choices of repository, branch and cell that forms of several pages offer. */
#ifndef WEB_HTML_PICKER_H
#define WEB_HTML_PICKER_H

#include "base/buf.h"
#include "db/sqlite/db.h"

/** Labelled <select name=repo>; `any` also offers every one. `chosen` NULL or "": none. Err: the database's. */
int picker_repo(struct buf *out, struct db *db, const char *chosen, bool any, struct fw_err *err);
/** Labelled <select name=branch> of a repository's branches, watched or not; nothing without a repo. `name` is the field's. */
int picker_branch(struct buf *out, struct db *db, const char *repo, const char *name, const char *label, const char *chosen,
	const char *none, struct fw_err *err);

#endif
