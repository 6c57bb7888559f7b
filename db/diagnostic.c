#include "db/db.h"

int store_profile_diagnostic_put(struct db *db, int64_t profile, const struct profile_diagnostic *c, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO profile_diagnostic (profile, n, change, kind, code, kernel, what) VALUES (:profile, :n, :change, "
		":kind, :code, :kernel, :what)",
		"profile=%ld n=%d change=%s kind=%s code=%s kernel=%s what=%s", profile, c->n, c->change, c->kind, c->code,
		c->kernel, c->what);
}

int view_profile_diagnostics(struct db *db, int64_t profile, view_profile_diagnostic_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT n, change, kind, code, kernel, what FROM profile_diagnostic WHERE profile = :profile ORDER BY n",
		"profile=%ld", profile);
	struct profile_diagnostic row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.n, row.change, row.kind, row.code, row.kernel, row.what);
}
