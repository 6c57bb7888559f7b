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

void headline_cells(struct buf *out, const struct headline *t)
{
	if (!t->comparison || t->alike == 0)
		return;
	emit_format(out, "%d of %d: <a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>", t->alike, t->cells,
		(long long)t->comparison, t->n, t->n, t->key, t->title, (long long)t->size, t->direction);
}

bool headline_cause(struct buf *out, const struct headline *t, enum verdict verdict)
{
	char text[EXPLAIN_SIZE] = "";
	const char *why = t->reason;
	if (!t->comparison || (!is_failure(verdict) && verdict != VERDICT_UNDECIDED))
		return false;
	if (is_failure(verdict)) {
		emit_format(out, "%s%-s%s", t->failure, *t->failure && *why ? ": " : "", why);
		return *t->failure || *why;
	}
	if (!*why) {
		explain_undecided(t->low_pct, t->high_pct, t->threshold_pct, text);
		why = text;
	}
	emit_text(out, why);
	return *why;
}

void reported_why(struct buf *out, const struct headline *t, enum verdict verdict)
{
	struct buf cause;
	if (!t->comparison || t->alike == 0)
		return;
	buf_init(&cause, 1 << 14);
	emit_raw(out, "<span class=why>");
	headline_cells(out, t);
	if (headline_cause(&cause, t, verdict))
		emit_format(out, ", %-s", cause.data);
	emit_raw(out, "</span>");
	out->failed |= cause.failed;
	buf_fini(&cause);
}

/* Part of the sentence after the branch's name. */
static void write_finding(struct buf *out, const struct headline *t, enum verdict verdict)
{
	bool has_cells = t->comparison && t->cells > 0;
	if (verdict_is_change(verdict) && isfinite(t->change_pct))
		buf_printf(out, " is %.1f\u00a0%% %s", fabs(t->change_pct), t->change_pct < 0 ? "slower" : "faster");
	else if (verdict == VERDICT_FAILED || verdict == VERDICT_REJECTED)
		buf_printf(out, " %s%s%s", verdict == VERDICT_FAILED ? "failed" : "was rejected", *t->failure ? ": " : "",
			t->failure);
	else if (verdict == VERDICT_UNDECIDED)
		buf_puts(out, " is too close to call");
	else if (verdict == VERDICT_NONE)
		buf_puts(out, " is not measured yet");
	else if (verdict == VERDICT_ACCEPTED)
		buf_puts(out, " is slower, which was accepted");
	else
		buf_printf(out, " is %s",
			verdict == VERDICT_NOT_COMPARABLE ? "not comparable with its base" : verdict_name(verdict));
	if (has_cells && t->alike > 0)
		buf_printf(out, " in %d of %d cells", t->alike, t->cells);
	else if (has_cells && verdict == VERDICT_UNCHANGED)
		buf_printf(out, " in %d cell%s", t->cells, t->cells == 1 ? "" : "s");
}

void headline_sentence(struct buf *out, const char *branch, const struct headline *t, enum verdict verdict)
{
	branch_text(out, branch);
	write_finding(out, t, verdict);
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
