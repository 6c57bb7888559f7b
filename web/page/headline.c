#include "web/page/internal.h"

#include <math.h>

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
	t->close = row->close;
	t->removed = row->removed;
	t->added = row->added;
	t->least_pct = row->least_pct;
}

int reported_read(struct db *db, int64_t comparison, const char *cell, struct headline *out, struct fw_err *err)
{
	*out = (struct headline){ .threshold_pct = NAN, .change_pct = NAN, .low_pct = NAN, .high_pct = NAN, .least_pct = NAN };
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

void headline_sentence(struct buf *out, const char *subject, const struct headline *t, enum verdict verdict)
{
	int n = t->comparison ? t->alike : 0;
	struct finding f = { .subject = subject,
		.verdict = verdict,
		.cells = t->cells,
		.regressions = n,
		.improvements = n,
		.undecided = n,
		.close = t->close,
		.removed = t->removed,
		.added = t->added,
		.unchanged = t->comparison && verdict == VERDICT_UNCHANGED ? t->cells : 0,
		.failed = n,
		.worst_pct = t->change_pct,
		.best_pct = t->change_pct,
		.least_pct = t->least_pct,
		.why = t->failure,
		.is_quick = t->is_quick };
	char text[FINDING_SIZE];
	finding_text(&f, text);
	buf_puts(out, text);
}

void headline_change(struct buf *out, const struct headline *t, enum verdict verdict, double pct)
{
	double change_pct = isfinite(t->change_pct) ? t->change_pct : pct;
	layout_decided(out, change_pct, verdict_is_change(verdict));
	if (!isfinite(t->change_pct) || !isfinite(t->low_pct) || !isfinite(t->high_pct))
		return;
	emit_format(out, "<small class=ends title=\"95 %% interval\">%.2f{signed}\u00a0\u2026\u00a0%.2f{signed}</small>",
		t->low_pct, t->high_pct);
}
