/* diagnostic.c - see diagnostic.h. */
#include "db/profile/diagnostic.h"

int store_profile_diagnostic_put(struct db *db, int64_t profile, const struct profile_diagnostic *c, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"INSERT INTO profile_diagnostic (profile, n, change, kind, code, kernel, what) VALUES (:profile, :n, :change, :kind, "
		":code, :kernel, :what)",
		err);
	if (!s)
		return -1;
	stmt_int(s, ":profile", profile);
	stmt_int(s, ":n", c->n);
	stmt_text(s, ":change", c->change);
	stmt_text(s, ":kind", c->kind);
	stmt_text(s, ":code", c->code);
	stmt_text(s, ":kernel", c->kernel);
	stmt_text(s, ":what", c->what);
	return stmt_run(s, err);
}

int view_profile_diagnostics(struct db *db, int64_t profile, view_profile_diagnostic_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT n, change, kind, code, kernel, what FROM profile_diagnostic WHERE profile = :profile ORDER BY n", err);
	int result;
	if (!s)
		return -1;
	stmt_int(s, ":profile", profile);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct profile_diagnostic){ .n = (int)row_int(s, 0),
				  .change = row_text(s, 1),
				  .kind = row_text(s, 2),
				  .code = row_text(s, 3),
				  .kernel = row_text(s, 4),
				  .what = row_text(s, 5) });
	return result;
}
