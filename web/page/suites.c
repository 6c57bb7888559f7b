#include "web/page/internal.h"

#include <math.h>

static const struct commit_suite *at(const struct commit_verdict *v, int i)
{
	return i < 0 ? NULL : &v->suite[i];
}

static void name(struct buf *out, const struct commit_suite *s)
{
	emit_text(out, s->job.suite[0] ? s->job.suite : "the plan");
	if (s->job.device_kind[0])
		emit_format(out, " on %s", s->job.device_kind);
}

void suites_verdict(struct buf *out, const struct commit_verdict *v)
{
	const struct commit_suite *s = at(v, v->decides);
	if (v->verdict == VERDICT_NONE || !s) {
		emit_rawf(out, "<span class=dim>\u2013 not %s</span>", v->is_final ? "measured" : "judged yet");
		return;
	}
	if (s->result.comparison)
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)s->result.comparison);
	else
		emit_rawf(out, "<a href=\"/jobs/%lld\">", (long long)(s->result.id ? s->result.id : s->job.id));
	emit_format(out, "%s{verdict}</a>", verdict_name(v->verdict));
}

void suites_which(struct buf *out, const struct commit_verdict *v, const char *sha)
{
	const struct commit_suite *s = at(v, v->decides);
	if (v->n < 2)
		return;
	emit_rawf(out, " <small><a href=\"/commits/%s\">", sha);
	if (s) {
		name(out, s);
		emit_raw(out, ", ");
	}
	emit_rawf(out, s ? "1 of %d suites</a></small>" : "%d suites</a></small>", v->n);
}

void suites_unfinished(struct buf *out, const struct commit_verdict *v)
{
	int n = 0;
	if (v->n < 2) /* the verdict is that of the only suite */
		return;
	for (int i = 0; i < v->n; i++) {
		if (!commit_verdict_is_open(&v->suite[i]))
			continue;
		emit_raw(out, n++ ? ", " : " <small>next: ");
		name(out, &v->suite[i]);
	}
	if (n)
		emit_raw(out, "</small>");
}

static int suite_row(struct db *db, struct buf *out, const struct commit_suite *s, struct fw_err *err)
{
	const struct commit_job *result = &s->result;
	struct headline headline;
	if (reported_read(db, result->comparison, NULL, &headline, err) != 0)
		return -1;
	emit_raw(out, "<tr><th scope=row>");
	name(out, s);
	emit_format(out, "</th><td>%lld{?<a href=\"/comparisons/*\">}", (long long)result->comparison);
	if (result->id)
		layout_verdict(out, verdict_name(commit_verdict_of(s)));
	else
		emit_raw(out, "\u2013");
	if (result->comparison)
		emit_raw(out, "</a>");
	reported_why(out, &headline, commit_verdict_of(s));
	emit_raw(out, "</td><td class=n>");
	headline_change(out, &headline, commit_verdict_of(s),
		!result->id                  ? NAN
		: isfinite(result->best_pct) ? result->best_pct
					     : result->worst_pct);
	emit_format(out, "</td><td>%lld{job} %s{verdict}</td><td class=\"wrap w\">%s</td></tr>\n", (long long)s->job.id,
		jobstate_name(s->job.state), s->job.why);
	return 0;
}

int suites_table(struct db *db, struct buf *out, const struct commit_verdict *v, struct fw_err *err)
{
	int result = 0;
	layout_table(out, "Suite|Verdict|>Worst / best<small class=ends>95 % interval</small>|Job|~Why");
	for (int i = 0; i < v->n && result == 0; i++)
		result = suite_row(db, out, &v->suite[i], err);
	layout_table_end(out);
	return result;
}
