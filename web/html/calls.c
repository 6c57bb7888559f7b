#include "web/html/internal.h"

int calls_draw(
	struct buf *out, struct db *db, int64_t id, enum series series, const struct ratios_about *about, struct fw_err *err)
{
	struct store_runs l;
	struct fw_err lost = { 0 };
	int result = store_cell_runs(db, id, series, &l, &lost);
	if (result == 0) {
		ratios_draw(out, &l, about);
		strip_draw(out, &l);
		course_draw(out, &l);
	}
	buf_fini(&l.values);
	/* all else of the page does not need them */
	if (result != 0 && (lost.code == ERR_NOT_FOUND || lost.code == ERR_INVALID)) {
		emit_raw(out, "<p><small>Its single calls cannot be shown: ");
		emit_text(out, lost.text);
		emit_raw(out, "</small></p>\n");
		return 0;
	}
	return result == 0 ? 0 : err_set(err, lost.code, "%s", lost.text);
}
