/* commit_verdict.c - one verdict for each suite, and the worst of them. */
#include "verdict/verdict.h"

#include <math.h>

void commit_verdict_init(struct commit_verdict *v)
{
	memset(v, 0, sizeof *v);
	v->verdict = VERDICT_NONE;
	v->decides = v->worst = v->best = -1;
}

void commit_verdict_fini(struct commit_verdict *v)
{
	free(v->suite);
	commit_verdict_init(v);
}

enum verdict commit_verdict_of(const struct commit_suite *s)
{
	return !s->result.id ? VERDICT_NONE : s->result.end == COMMIT_FAILED ? VERDICT_FAILED : s->result.verdict;
}

bool commit_verdict_is_open(const struct commit_suite *s)
{
	return s->job.end == COMMIT_OPEN;
}

bool commit_verdict_is_unmeasured(const struct commit_suite *s)
{
	return !s->result.id && s->job.end == COMMIT_UNMEASURED;
}

static struct commit_suite *find(struct commit_verdict *v, const struct commit_job *job)
{
	for (int i = 0; i < v->n; i++)
		if (strcmp(v->suite[i].job.suite, job->suite) == 0 &&
			(!job->suite[0] || strcmp(v->suite[i].job.device_kind, job->device_kind) == 0))
			return &v->suite[i];
	return NULL;
}

static struct commit_suite *append(struct commit_verdict *v, const struct commit_job *job)
{
	if (v->n == v->cap) {
		v->cap = v->cap ? 2 * v->cap : 4;
		v->suite = mem_grow(v->suite, (size_t)v->cap, sizeof *v->suite);
	}
	v->suite[v->n] = (struct commit_suite){ .job = *job, .first = job->id };
	return &v->suite[v->n++];
}

/* A measurement outweighs a later failure for another reason. */
static bool is_better_result(const struct commit_job *job, const struct commit_job *result)
{
	if (job->end != COMMIT_JUDGED && job->end != COMMIT_FAILED)
		return false;
	return !result->id || (job->end == result->end ? job->id > result->id : job->end == COMMIT_JUDGED);
}

void commit_verdict_add(struct commit_verdict *v, const struct commit_job *job)
{
	struct commit_suite *s = find(v, job);
	if (!s)
		s = append(v, job);
	bool open = job->end == COMMIT_OPEN, was_open = s->job.end == COMMIT_OPEN;
	if (open == was_open ? job->id > s->job.id : open)
		s->job = *job;
	if (is_better_result(job, &s->result))
		s->result = *job;
	if (job->id < s->first)
		s->first = job->id;
	if (job->suite[0] && job->plan > v->planned)
		v->planned = job->plan;
}

static int by_plan(const void *a, const void *b)
{
	const struct commit_suite *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

/* Handle plans that are not suites: open, or failed. A later successful plan replaces them. */
static void leave_out_old_plans(struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++) {
		struct commit_suite *s = &v->suite[i];
		if (s->job.suite[0])
			continue;
		if (s->result.id <= v->planned) {
			s->result.id = 0;
			s->first = s->job.id;
		}
		if (!commit_verdict_is_open(s) && !s->result.id && v->n > 1) {
			memmove(s, s + 1, (size_t)(v->n - i - 1) * sizeof *s);
			v->n--;
		}
		return; /* there is at most one */
	}
}

/* True if suite `i` is worse: by verdict, then by the size of the slowdown. */
static bool is_worse(const struct commit_verdict *v, int i, int than)
{
	enum verdict a = commit_verdict_of(&v->suite[i]), b = than < 0 ? VERDICT_NONE : commit_verdict_of(&v->suite[than]);
	if (a != b || than < 0)
		return a < b;
	double x = v->suite[i].result.worst_pct, y = v->suite[than].result.worst_pct;
	return isfinite(x) && (!isfinite(y) || x < y);
}

/* True if suite `i` has the worse cell: a regression, else the lowest change. */
static bool has_larger_slowdown(const struct commit_verdict *v, int i, int than)
{
	double x = v->suite[i].result.id ? v->suite[i].result.worst_pct : NAN;
	if (!isfinite(x) || than < 0)
		return isfinite(x);
	bool is_slower = v->suite[i].result.regressions > 0, was_slower = v->suite[than].result.regressions > 0;
	return is_slower == was_slower ? x < v->suite[than].result.worst_pct : is_slower;
}

static int find_most_improved(const struct commit_verdict *v)
{
	int best = -1;
	for (int i = 0; i < v->n; i++) {
		double x = v->suite[i].result.id ? v->suite[i].result.best_pct : NAN;
		if (isfinite(x) && (best < 0 || x > v->suite[best].result.best_pct))
			best = i;
	}
	return best;
}

/* Whether any suite was compared with a base. */
static bool has_base(const struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].result.id && v->suite[i].result.end == COMMIT_JUDGED && !v->suite[i].result.is_alone)
			return true;
	return false;
}

/* A new benchmark whose noise is not known yet: no run of this commit could have compared it with another. */
static bool decides_nothing(const struct commit_suite *s)
{
	return s->result.is_alone && commit_verdict_of(s) == VERDICT_UNDECIDED;
}

void commit_verdict_end(struct commit_verdict *v)
{
	int n_without_result = 0, unmeasured = -1;
	bool is_compared = has_base(v);
	v->n_open = v->n_unmeasured = v->regressions = 0;
	v->decides = v->worst = v->best = -1;
	leave_out_old_plans(v);
	if (v->n)
		qsort(v->suite, (size_t)v->n, sizeof *v->suite, by_plan);
	for (int i = 0; i < v->n; i++) {
		const struct commit_suite *s = &v->suite[i];
		bool is_known = s->result.id || (!s->job.suite[0] && v->planned); /* a repeated plan is known already */
		v->n_open += commit_verdict_is_open(s);
		n_without_result += commit_verdict_is_open(s) && !is_known;
		v->regressions += s->result.regressions;
		if (commit_verdict_is_unmeasured(s) && v->n_unmeasured++ == 0)
			unmeasured = i;
		if (is_compared && decides_nothing(s))
			continue;
		if (is_worse(v, i, v->decides))
			v->decides = i;
		if (has_larger_slowdown(v, i, v->worst))
			v->worst = i;
	}
	v->is_final = v->n && !v->n_open;
	enum verdict verdict = v->decides < 0 ? VERDICT_NONE : commit_verdict_of(&v->suite[v->decides]);
	if (v->n_unmeasured && verdict != VERDICT_NONE && verdict_worse(verdict, VERDICT_UNDECIDED) != verdict) {
		verdict = VERDICT_UNDECIDED;
		v->decides = unmeasured;
	}
	if (n_without_result && verdict > VERDICT_REGRESSION) {
		verdict = VERDICT_NONE;
		v->decides = -1;
	}
	v->verdict = verdict;
	v->best = verdict == VERDICT_IMPROVEMENT ? find_most_improved(v) : -1;
}

void commit_verdict_strict(struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].result.id && v->suite[i].result.end == COMMIT_JUDGED)
			v->suite[i].result.verdict = v->suite[i].result.measured, v->suite[i].result.accepted = 0;
	commit_verdict_end(v);
}

const struct commit_job *commit_verdict_acceptance(const struct commit_verdict *v)
{
	const struct commit_job *newest = NULL;
	for (int i = 0; i < v->n; i++) {
		const struct commit_job *result = &v->suite[i].result;
		bool is_passed = result->id && result->accepted && result->verdict != result->measured;
		if (is_passed && (!newest || result->accepted_alert > newest->accepted_alert))
			newest = result;
	}
	return newest;
}
