#include "db/db.h"

int store_page_one(int found, const char *what, int64_t id, struct fw_err *err)
{
	if (found < 0)
		return -1;
	return found ? 0 : err_set(err, ERR_NOT_FOUND, "there is no %s %lld", what, (long long)id);
}
