#include "db/db.h"

int list_put(struct stmt *insert, int64_t owner, const char *text, struct fw_err *err)
{
	text += strspn(text, " ");
	for (int n = 0; *text; n++) {
		size_t len = strcspn(text, " ");
		if (stmt_run(stmt_bind(insert, err, "owner=%ld n=%d word=%.*s", owner, n, (int)len, text), err))
			return -1;
		text += len;
		text += strspn(text, " ");
	}
	return 0;
}
