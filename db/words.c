#include "db/db.h"

int words_put(struct stmt *insert, int64_t owner, const char *text, struct fw_err *err)
{
	if (!insert)
		return -1;
	text += strspn(text, " ");
	for (int n = 0; *text; n++) {
		size_t len = strcspn(text, " ");
		stmt_int(insert, ":owner", owner);
		stmt_int(insert, ":n", n);
		stmt_part(insert, ":word", text, len);
		if (stmt_run(insert, err))
			return -1;
		text += len;
		text += strspn(text, " ");
	}
	return 0;
}
