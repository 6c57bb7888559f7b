#include "db/db.h"

#include <stdio.h>

void store_name(const char *what, int64_t id, char out[STORE_NAME_SIZE])
{
	bool has_letter = strcmp(what, "comparison") == 0 || strcmp(what, "job") == 0 || strcmp(what, "alert") == 0;
	if (has_letter)
		snprintf(out, STORE_NAME_SIZE, "%c%lld", what[0] - 'a' + 'A', (long long)id);
	else
		snprintf(out, STORE_NAME_SIZE, "%.24s %lld", what, (long long)id);
}

int store_page_require_row(int found, const char *what, int64_t id, struct fw_err *err)
{
	char name[STORE_NAME_SIZE];
	if (found < 0)
		return -1;
	store_name(what, id, name);
	return found ? 0 : err_set(err, ERR_NOT_FOUND, "there is no %s", name);
}
