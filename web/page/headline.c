#include "web/page/internal.h"

static void take(void *arg, const struct view_headline *row)
{
	struct headline *t = arg;
	snprintf(t->key, sizeof t->key, "%s", row->key);
	snprintf(t->title, sizeof t->title, "%s", row->title);
	snprintf(t->direction, sizeof t->direction, "%s", row->direction);
	snprintf(t->failure, sizeof t->failure, "%s", row->failure);
	snprintf(t->reason, sizeof t->reason, "%s", row->reason);
	t->size = row->size;
	t->n = row->n;
	t->alike = row->alike;
	t->cells = row->cells;
	t->threshold_pct = row->threshold_pct;
	t->change_pct = row->change_pct;
	t->low_pct = row->low_pct;
	t->high_pct = row->high_pct;
}

int reported_read(struct db *db, int64_t comparison, const char *cell, struct headline *out, struct fw_err *err)
{
	*out = (struct headline){ .threshold_pct = NAN, .change_pct = NAN, .low_pct = NAN, .high_pct = NAN };
	if (comparison &&
		(cell ? view_reported(db, comparison, cell, take, out, err) : view_headline(db, comparison, take, out, err)) != 0)
		return -1;
	out->comparison = *out->key ? comparison : 0;
	return 0;
}

static bool is_failure(enum verdict verdict)
{
	return verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED;
}

/* Why the cell is undecided, with the reason of the verdict where there is one. */
static void undecided(struct buf *out, const struct headline *t)
{
	char text[EXPLAIN_SIZE];
	explain_undecided(t->low_pct, t->high_pct, t->threshold_pct, text);
	const char *why = *t->reason ? t->reason : text;
	if (*why)
		emit_format(out, ", %s", why);
}

void reported_why(struct buf *out, const struct headline *t, enum verdict verdict)
{
	if (!t->comparison || t->alike == 0)
		return;
	emit_format(out, "<span class=why>%d of %d: <a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>", t->alike,
		t->cells, (long long)t->comparison, t->n, t->n, t->key, t->title, (long long)t->size, t->direction);
	if (is_failure(verdict) && (*t->failure || *t->reason))
		emit_format(out, ", %s%-s%s", t->failure, *t->failure && *t->reason ? ": " : "", t->reason);
	else if (verdict == VERDICT_UNDECIDED)
		undecided(out, t);
	emit_raw(out, "</span>");
}

void headline_change(struct buf *out, const struct headline *t, enum verdict verdict, double pct)
{
	double change_pct = isfinite(t->change_pct) ? t->change_pct : pct;
	if (verdict == VERDICT_UNDECIDED && isfinite(change_pct))
		emit_raw(out, "<span class=\"dim words\">undecided: </span>");
	layout_decided(out, change_pct, verdict_is_change(verdict));
	if (!isfinite(t->change_pct) || !isfinite(t->low_pct) || !isfinite(t->high_pct))
		return;
	emit_format(out, "<small class=ends>%.2f{signed}\u00a0\u2026\u00a0%.2f{signed}</small>", t->low_pct, t->high_pct);
}
