#include "web/html/calls.h"

#include "web/html/course.h"
#include "web/html/strip.h"

int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err)
{
	struct store_launches l;
	int result = store_cell_launches(db, id, series, &l, err);
	if (result == 0) {
		ratios_draw(out, &l, about);
		strip_draw(out, &l);
		course_draw(out, &l);
	}
	buf_fini(&l.values);
	return result;
}
