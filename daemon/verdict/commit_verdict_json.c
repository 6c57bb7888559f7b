/* commit_verdict_json.c - JSON of a commit's verdict. */
#include "verdict/verdict.h"

#include <math.h>

static const struct commit_suite *at(const struct commit_verdict *v, int i)
{
	return i < 0 ? NULL : &v->suite[i];
}

static void text_or_null(struct jsonw *j, const char *key, const char *text)
{
	if (text[0])
		jsonw_kv_string(j, key, text);
	else
		jsonw_kv_null(j, key);
}

static void id_or_null(struct jsonw *j, const char *key, int64_t id)
{
	if (id)
		jsonw_kv_int(j, key, id);
	else
		jsonw_kv_null(j, key);
}

static void time_or_null(struct jsonw *j, const char *key, int64_t utc_ms)
{
	char text[32] = "";
	if (utc_ms)
		clock_format(utc_ms, text);
	text_or_null(j, key, text);
}

static void write_branch(struct jsonw *j, const char *key)
{
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, key);
	text_or_null(j, "branch", key);
	text_or_null(j, "branch_display", text.data);
	buf_fini(&text);
}

static void write_suite(struct jsonw *j, const struct commit_suite *s)
{
	const struct commit_job *job = &s->job, *result = &s->result;
	bool is_timed = result->id && isfinite(result->worst_pct);
	jsonw_object(j);
	text_or_null(j, "suite", job->suite);
	text_or_null(j, "device_kind", job->device_kind);
	jsonw_kv_int(j, "job", job->id);
	jsonw_kv_string(j, "state", jobstate_name(job->state));
	text_or_null(j, "state_why", job->why);
	text_or_null(j, "verdict", verdict_or_empty(commit_verdict_of(s)));
	id_or_null(j, "comparison", result->comparison);
	jsonw_kv_int(j, "cells", result->cells);
	jsonw_kv_int(j, "regressions", result->regressions);
	jsonw_kv_int(j, "accepted", result->accepted);
	jsonw_kv_figure(j, "worst_pct", is_timed ? result->worst_pct : NAN);
	text_or_null(j, "worst_cell", is_timed ? result->worst_key : "");
	jsonw_kv_figure(j, "best_pct", result->id ? result->best_pct : NAN);
	text_or_null(j, "best_cell", result->id ? result->best_key : "");
	time_or_null(j, "finished_at", result->finished_at);
	jsonw_object_end(j);
}

void commit_verdict_write_suites(struct jsonw *j, const struct commit_verdict *v)
{
	jsonw_kv_array(j, "suites");
	for (int i = 0; v->suite && i < v->n; i++)
		write_suite(j, &v->suite[i]);
	jsonw_array_end(j);
}

void commit_verdict_write_unfinished(struct jsonw *j, const struct commit_verdict *v)
{
	jsonw_kv_array(j, "unfinished");
	for (int i = 0; v->suite && i < v->n; i++)
		if (commit_verdict_is_open(&v->suite[i]) && v->suite[i].job.suite[0])
			jsonw_string(j, v->suite[i].job.suite);
	jsonw_array_end(j);
}

static void write_acceptance(struct jsonw *j, const struct commit_job *by)
{
	jsonw_key(j, "accepted");
	if (!by) {
		jsonw_null(j);
		return;
	}
	jsonw_object(j);
	jsonw_kv_int(j, "alert", by->accepted_alert);
	jsonw_kv_string(j, "by", by->accepted_by);
	jsonw_kv_string(j, "reason", by->accepted_why);
	jsonw_object_end(j);
}

void commit_verdict_write(struct jsonw *j, const char *repo, const char *sha, const char *branch, const struct commit_verdict *v)
{
	const struct commit_suite *decides = at(v, v->decides), *worst = at(v, v->worst), *best = at(v, v->best);
	jsonw_object(j);
	jsonw_kv_string(j, "repo", repo);
	jsonw_kv_string(j, "commit", sha);
	write_branch(j, branch);
	text_or_null(j, "verdict", verdict_or_empty(v->verdict));
	jsonw_kv_bool(j, "final", v->is_final);
	text_or_null(j, "suite", decides ? decides->job.suite : "");
	id_or_null(j, "comparison", decides ? decides->result.comparison : 0);
	jsonw_kv_int(j, "regressions", v->regressions);
	write_acceptance(j, commit_verdict_acceptance(v));
	jsonw_kv_figure(j, "worst_pct", worst ? worst->result.worst_pct : NAN);
	text_or_null(j, "worst_suite", worst ? worst->job.suite : "");
	text_or_null(j, "worst_cell", worst ? worst->result.worst_key : "");
	jsonw_kv_figure(j, "best_pct", best ? best->result.best_pct : NAN);
	text_or_null(j, "best_suite", best ? best->job.suite : "");
	text_or_null(j, "best_cell", best ? best->result.best_key : "");
	commit_verdict_write_unfinished(j, v);
	commit_verdict_write_suites(j, v);
	jsonw_object_end(j);
}
