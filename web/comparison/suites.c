#include "web/comparison/suites.h"

#include <math.h>

#include "web/answer/answer.h"
#include "web/html/emit.h"
#include "web/html/layout.h"

static const char *word_of(enum verdict v)
{
	return v == VERDICT_NONE ? "" : verdict_name(v);
}

static const struct commit_suite *at(const struct commit_verdict *v, int i)
{
	return i < 0 ? NULL : &v->suite[i];
}

/* ---- JSON ------------------------------------------------------------------------------------------------------------- */

static void write_suite(struct jsonw *j, const struct commit_suite *s)
{
	const struct commit_job *job = &s->job, *word = &s->word;
	bool is_timed = word->id && isfinite(word->worst_pct);
	jsonw_object(j);
	answer_text(j, "suite", job->suite);
	answer_text(j, "device_kind", job->device_kind);
	jsonw_kv_int(j, "job", job->id);
	jsonw_kv_string(j, "state", job->state);
	answer_text(j, "state_why", job->why);
	answer_text(j, "verdict", word_of(commit_verdict_of(s)));
	answer_id(j, "comparison", word->comparison);
	jsonw_kv_int(j, "cells", word->cells);
	jsonw_kv_int(j, "regressions", word->regressions);
	jsonw_kv_figure(j, "worst_pct", is_timed ? word->worst_pct : NAN);
	answer_text(j, "worst_cell", is_timed ? word->worst_key : "");
	jsonw_kv_figure(j, "best_pct", word->id ? word->best_pct : NAN);
	answer_text(j, "best_cell", word->id ? word->best_key : "");
	answer_time(j, "finished_at", word->finished_at);
	jsonw_object_end(j);
}

void suites_json(struct jsonw *j, const struct commit_verdict *v)
{
	jsonw_key(j, "suites");
	jsonw_array(j);
	for (int i = 0; i < v->n; i++)
		write_suite(j, &v->suite[i]);
	jsonw_array_end(j);
}

void suites_unfinished_json(struct jsonw *j, const struct commit_verdict *v)
{
	jsonw_key(j, "unfinished");
	jsonw_array(j);
	for (int i = 0; i < v->n; i++)
		if (commit_verdict_is_open(&v->suite[i]) && v->suite[i].job.suite[0])
			jsonw_string(j, v->suite[i].job.suite);
	jsonw_array_end(j);
}

void suites_verdict_json(struct jsonw *j, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v)
{
	const struct commit_suite *decides = at(v, v->decides), *worst = at(v, v->worst), *best = at(v, v->best);
	jsonw_object(j);
	jsonw_kv_string(j, "repo", repo);
	jsonw_kv_string(j, "commit", sha);
	answer_branch(j, branch);
	answer_text(j, "verdict", word_of(v->verdict));
	jsonw_kv_bool(j, "final", v->is_final);
	answer_text(j, "suite", decides ? decides->job.suite : "");
	answer_id(j, "comparison", decides ? decides->word.comparison : 0);
	jsonw_kv_int(j, "regressions", v->regressions);
	jsonw_kv_figure(j, "worst_pct", worst ? worst->word.worst_pct : NAN);
	answer_text(j, "worst_suite", worst ? worst->job.suite : "");
	answer_text(j, "worst_cell", worst ? worst->word.worst_key : "");
	jsonw_kv_figure(j, "best_pct", best ? best->word.best_pct : NAN);
	answer_text(j, "best_suite", best ? best->job.suite : "");
	answer_text(j, "best_cell", best ? best->word.best_key : "");
	suites_unfinished_json(j, v);
	suites_json(j, v);
	jsonw_object_end(j);
}

/* ---- pages ------------------------------------------------------------------------------------------------------------ */

static void name(struct buf *out, const struct commit_suite *s)
{
	emit_text(out, s->job.suite[0] ? s->job.suite : "the plan");
	if (s->job.device_kind[0]) {
		emit_raw(out, " on ");
		emit_text(out, s->job.device_kind);
	}
}

void suites_verdict(struct buf *out, const struct commit_verdict *v)
{
	const struct commit_suite *s = at(v, v->decides);
	if (v->verdict == VERDICT_NONE || !s) {
		emit_rawf(out, "<span class=dim>\u2013 not %s</span>", v->is_final ? "measured" : "judged yet");
		return;
	}
	if (s->word.comparison)
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)s->word.comparison);
	else
		emit_rawf(out, "<a href=\"/jobs/%lld\">", (long long)(s->word.id ? s->word.id : s->job.id));
	layout_verdict(out, verdict_name(v->verdict));
	emit_raw(out, "</a>");
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
	for (int i = 0; i < v->n; i++) {
		if (!commit_verdict_is_open(&v->suite[i]))
			continue;
		emit_raw(out, n++ ? ", " : " <small>waits for ");
		name(out, &v->suite[i]);
	}
	if (n)
		emit_raw(out, "</small>");
}

static void suite_row(struct buf *out, const struct commit_suite *s)
{
	const struct commit_job *word = &s->word;
	emit_raw(out, "<tr><th scope=row>");
	name(out, s);
	emit_raw(out, "</th><td>");
	if (word->comparison)
		emit_rawf(out, "<a href=\"/comparisons/%lld\">", (long long)word->comparison);
	if (word->id)
		layout_verdict(out, verdict_name(commit_verdict_of(s)));
	else
		emit_raw(out, "\u2013");
	if (word->comparison)
		emit_raw(out, "</a>");
	emit_raw(out, "</td><td class=n>");
	layout_change(out, !word->id ? NAN : isfinite(word->best_pct) ? word->best_pct : word->worst_pct);
	emit_rawf(out, "</td><td><a href=\"/jobs/%lld\">job %lld</a> ", (long long)s->job.id, (long long)s->job.id);
	layout_verdict(out, s->job.state);
	emit_raw(out, "</td><td class=wrap>");
	emit_text(out, s->job.why);
	emit_raw(out, "</td></tr>\n");
}

void suites_table(struct buf *out, const struct commit_verdict *v)
{
	static const char *const columns[] = { "Suite", "Verdict", ">Worst / best", "Job", "~Why" };
	layout_table(out, 5, columns);
	for (int i = 0; i < v->n; i++)
		suite_row(out, &v->suite[i]);
	layout_table_end(out);
}
