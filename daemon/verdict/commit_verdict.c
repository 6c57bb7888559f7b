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
	return !s->word.id ? VERDICT_NONE : s->word.end == COMMIT_FAILED ? VERDICT_FAILED : s->word.verdict;
}

bool commit_verdict_is_open(const struct commit_suite *s)
{
	return s->job.end == COMMIT_OPEN;
}

bool commit_verdict_is_unmeasured(const struct commit_suite *s)
{
	return !s->word.id && s->job.end == COMMIT_UNMEASURED;
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
static bool is_better_word(const struct commit_job *job, const struct commit_job *word)
{
	if (job->end != COMMIT_JUDGED && job->end != COMMIT_FAILED)
		return false;
	return !word->id || (job->end == word->end ? job->id > word->id : job->end == COMMIT_JUDGED);
}

void commit_verdict_add(struct commit_verdict *v, const struct commit_job *job)
{
	struct commit_suite *s = find(v, job);
	if (!s)
		s = append(v, job);
	bool open = job->end == COMMIT_OPEN, was_open = s->job.end == COMMIT_OPEN;
	if (open == was_open ? job->id > s->job.id : open)
		s->job = *job;
	if (is_better_word(job, &s->word))
		s->word = *job;
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
		if (s->word.id <= v->planned) {
			s->word.id = 0;
			s->first = s->job.id;
		}
		if (!commit_verdict_is_open(s) && !s->word.id && v->n > 1) {
			memmove(s, s + 1, (size_t)(v->n - i - 1) * sizeof *s);
			v->n--;
		}
		return; /* there is at most one */
	}
}

/* True if suite `i` is worse: by verdict, then by the size of the loss. */
static bool is_worse(const struct commit_verdict *v, int i, int than)
{
	enum verdict a = commit_verdict_of(&v->suite[i]), b = than < 0 ? VERDICT_NONE : commit_verdict_of(&v->suite[than]);
	if (a != b || than < 0)
		return a < b;
	double x = v->suite[i].word.worst_pct, y = v->suite[than].word.worst_pct;
	return isfinite(x) && (!isfinite(y) || x < y);
}

/* True if suite `i` has the worse cell: a regression, else the lowest change. */
static bool lost_more(const struct commit_verdict *v, int i, int than)
{
	double x = v->suite[i].word.id ? v->suite[i].word.worst_pct : NAN;
	if (!isfinite(x) || than < 0)
		return isfinite(x);
	bool is_slower = v->suite[i].word.regressions > 0, was_slower = v->suite[than].word.regressions > 0;
	return is_slower == was_slower ? x < v->suite[than].word.worst_pct : is_slower;
}

static int gained_most(const struct commit_verdict *v)
{
	int best = -1;
	for (int i = 0; i < v->n; i++) {
		double x = v->suite[i].word.id ? v->suite[i].word.best_pct : NAN;
		if (isfinite(x) && (best < 0 || x > v->suite[best].word.best_pct))
			best = i;
	}
	return best;
}

/* Whether any suite was compared with a base. */
static bool has_base(const struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].word.id && v->suite[i].word.end == COMMIT_JUDGED && !v->suite[i].word.is_alone)
			return true;
	return false;
}

/* A new benchmark whose noise is not known yet: no run of this commit could have compared it with another. */
static bool decides_nothing(const struct commit_suite *s)
{
	return s->word.is_alone && commit_verdict_of(s) == VERDICT_UNDECIDED;
}

void commit_verdict_end(struct commit_verdict *v)
{
	int n_wordless = 0, unmeasured = -1;
	bool is_compared = has_base(v);
	v->n_open = v->n_unmeasured = v->regressions = 0;
	v->decides = v->worst = v->best = -1;
	leave_out_old_plans(v);
	if (v->n)
		qsort(v->suite, (size_t)v->n, sizeof *v->suite, by_plan);
	for (int i = 0; i < v->n; i++) {
		const struct commit_suite *s = &v->suite[i];
		bool is_known = s->word.id || (!s->job.suite[0] && v->planned); /* a repeated plan is known already */
		v->n_open += commit_verdict_is_open(s);
		n_wordless += commit_verdict_is_open(s) && !is_known;
		v->regressions += s->word.regressions;
		if (commit_verdict_is_unmeasured(s) && v->n_unmeasured++ == 0)
			unmeasured = i;
		if (is_compared && decides_nothing(s))
			continue;
		if (is_worse(v, i, v->decides))
			v->decides = i;
		if (lost_more(v, i, v->worst))
			v->worst = i;
	}
	v->is_final = v->n && !v->n_open;
	enum verdict word = v->decides < 0 ? VERDICT_NONE : commit_verdict_of(&v->suite[v->decides]);
	if (v->n_unmeasured && word != VERDICT_NONE && verdict_worse(word, VERDICT_UNDECIDED) != word) {
		word = VERDICT_UNDECIDED;
		v->decides = unmeasured;
	}
	if (n_wordless && word > VERDICT_REGRESSION) {
		word = VERDICT_NONE;
		v->decides = -1;
	}
	v->verdict = word;
	v->best = word == VERDICT_IMPROVEMENT ? gained_most(v) : -1;
}

void commit_verdict_strict(struct commit_verdict *v)
{
	for (int i = 0; i < v->n; i++)
		if (v->suite[i].word.id && v->suite[i].word.end == COMMIT_JUDGED)
			v->suite[i].word.verdict = v->suite[i].word.measured, v->suite[i].word.accepted = 0;
	commit_verdict_end(v);
}

const struct commit_job *commit_verdict_acceptance(const struct commit_verdict *v)
{
	const struct commit_job *newest = NULL;
	for (int i = 0; i < v->n; i++) {
		const struct commit_job *word = &v->suite[i].word;
		bool is_passed = word->id && word->accepted && word->verdict != word->measured;
		if (is_passed && (!newest || word->accepted_alert > newest->accepted_alert))
			newest = word;
	}
	return newest;
}
