/* search.c - curves of cells over commits, divided where they rise. */
#include "flopwatchd/bisect/search.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/stats/stats.h"

/* The share of a loss without a culprit that the range told of it has to hold. */
#define RANGE_HOLDS 0.9
/* What a few runs say of their own error is no better than this (log ratio). */
#define SE_MIN 0.0002
/* A stretch with this probability of a loss is looked into; one below LIKELY only where the culprits do not explain the loss. */
#define SUSPECT 0.05
#define LIKELY  0.5
/* Points further apart than this many of their errors contradict each other. */
#define FAR_ERRORS 3.0

enum { PROOFS_MAX = 3 /* jobs that compare one pair */ };

/* ---- measurements ---------------------------------------------------------------------------------------------------- */

/**
 * Add a measurement to those of the same two commits: their mean weighted by the inverse of the variance, and an error that grows where
 * they contradict each other (Birge's ratio), so that one that is far off makes the others say less.
 */
static void pool(struct bisect_evidence *e, double m, double se)
{
	se = fmax(se, SE_MIN);
	double w = 1 / (se * se), sum = e->weight + w, move = m - e->m;
	e->spread += e->weight * w / sum * move * move;
	e->m += w / sum * move;
	e->weight = sum;
	e->n++;
	e->se = sqrt((e->n > 1 ? fmax(1, e->spread / (e->n - 1)) : 1) / sum);
}

static bool is_believed(enum verdict v)
{
	return v == VERDICT_REGRESSION || v == VERDICT_UNDECIDED || v == VERDICT_IMPROVEMENT || v == VERDICT_UNCHANGED;
}

/** Whether there is something to add: where both commits are the same module, without an error. */
static bool read_measurement(enum verdict v, double *m, double *se)
{
	if (v == VERDICT_IDENTICAL)
		*m = *se = 0;
	return v == VERDICT_IDENTICAL || (is_believed(v) && isfinite(*m) && isfinite(*se));
}

bool bisect_timed_point(struct bisect_point *p, enum verdict v, double m, double se)
{
	if (!read_measurement(v, &m, &se))
		return false;
	p->state = BISECT_KNOWN;
	pool(&p->e, m, se);
	p->m = p->e.m;
	return true;
}

struct bisect_point bisect_failed_point(enum verdict v)
{
	bool passed = is_believed(v) || v == VERDICT_IDENTICAL;
	if (!passed && v != VERDICT_FAILED)
		return (struct bisect_point){ .state = BISECT_SKIPPED };
	return (struct bisect_point){ .state = BISECT_KNOWN, .m = passed ? 0 : 1 };
}

/** That of two commits; made where there is none, NULL where none fits any more. */
static struct bisect_direct *direct_for(struct bisect_track *t, int from, int to)
{
	int i = 0;
	while (i < t->n_direct && (t->direct[i].from != from || t->direct[i].to != to))
		i++;
	if (i == BISECT_DIRECT_MAX)
		return NULL;
	if (i == t->n_direct)
		t->direct[t->n_direct++] = (struct bisect_direct){ .from = from, .to = to };
	return &t->direct[i];
}

void bisect_direct_put(struct bisect_track *t, int from, int to, enum verdict v, double m, double se, int64_t comparison)
{
	struct bisect_direct *d = direct_for(t, from, to);
	if (!d)
		return;
	if (read_measurement(v, &m, &se))
		pool(&d->e, m, se);
	d->comparison = comparison;
}

void bisect_job_ended(struct bisect_track *t, int from, int to)
{
	struct bisect_direct *d = direct_for(t, from, to);
	if (d)
		d->jobs++;
	if (from == 0 && t->point[to].state == BISECT_UNKNOWN)
		t->point[to].state = BISECT_SKIPPED;
}

/* ---- stretches ------------------------------------------------------------------------------------------------------- */

/** Of a normal distribution: that what was measured as m is above `limit`. */
static double probability_above(double m, double se, double limit)
{
	return se > 0 ? 0.5 * erfc((limit - m) / (se * sqrt(2))) : m > limit;
}

/** Between two known points with no known one between them. */
struct stretch {
	int from, to;
	double loss, p; /* that it is more than half the threshold */
};

static double se_between(const struct bisect_track *t, int from, int to)
{
	return hypot(t->point[from].e.se, t->point[to].e.se);
}

/** The next stretch that begins at or after `from`. */
static bool next_stretch(const struct bisect_track *t, int n, int from, struct stretch *out)
{
	while (from < n && t->point[from].state != BISECT_KNOWN)
		from++;
	int to = from + 1;
	while (to <= n && t->point[to].state != BISECT_KNOWN)
		to++;
	if (to > n)
		return false;
	double loss = t->point[to].m - t->point[from].m;
	*out = (struct stretch){ from, to, loss, probability_above(loss, se_between(t, from, to), t->threshold / 2) };
	return true;
}

/** The commit nearest to the middle that was not tried yet; -1 none. */
static int middle(const struct bisect_track *t, const struct stretch *s)
{
	int half = s->from + (s->to - s->from) / 2;
	for (int away = 0; away < s->to - s->from; away++)
		for (int side = -1; side <= 1; side += 2) {
			int i = half + side * away;
			if (i > s->from && i < s->to && t->point[i].state == BISECT_UNKNOWN)
				return i;
		}
	return -1;
}

static const struct bisect_direct *direct_of(const struct bisect_track *t, int from, int to)
{
	for (int i = 0; i < t->n_direct; i++)
		if (t->direct[i].from == from && t->direct[i].to == to)
			return &t->direct[i];
	return NULL;
}

/** That both commits differ by more than half the threshold, by what compared them directly; -1 nothing did. */
static double probability_of(const struct bisect_track *t, const struct bisect_direct *d)
{
	return d && d->e.n ? probability_above(d->e.m, d->e.se, t->threshold / 2) : -1;
}

/** Whether a known point before `from` or after `to` says that there is no rise by `loss` between them that lasts. */
static bool is_contradicted(const struct bisect_track *t, int n, const double *curve, double loss, int from, int to)
{
	for (int i = 0; i <= n; i++) {
		double missing = i < from ? loss - (curve[to] - curve[i]) : i > to ? loss - (curve[i] - curve[from]) : 0;
		if (t->point[i].state == BISECT_KNOWN && missing > FAR_ERRORS * fmax(t->point[i].e.se, SE_MIN))
			return true;
	}
	return false;
}

/**
 * Direct comparisons that name a commit. The curve and one of them are two spot checks; from commit 0 they are the same one, and a rise
 * that other points contradict, or of another size, may be one point that is far off.
 */
static int proofs_needed(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = direct_of(t, s->from, s->to);
	double curve[BISECT_COMMITS_MAX];
	for (int i = 0; i <= n; i++)
		curve[i] = t->point[i].m;
	bool differ = d && fabs(d->e.m - s->loss) > FAR_ERRORS * hypot(d->e.se, se_between(t, s->from, s->to));
	return 1 + (s->from == 0) + (differ || is_contradicted(t, n, curve, t->threshold / 2, s->from, s->to));
}

static bool is_named(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = direct_of(t, s->from, s->to);
	return s->p > LIKELY && d && probability_of(t, d) > BISECT_NAMED && d->e.n >= proofs_needed(t, n, s);
}

static bool needs_proof(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = direct_of(t, s->from, s->to);
	double p = probability_of(t, d);
	if (!d || d->e.n == 0) /* what could not be measured is not tried twice */
		return !d || d->jobs == 0;
	bool is_open = p > 1 - BISECT_NAMED && (p <= BISECT_NAMED || d->e.n < proofs_needed(t, n, s));
	return d->jobs < PROOFS_MAX && (is_open || d->e.n < 1 + (s->from == 0));
}

/** What the named stretches leave of a track's loss is not worth a search. */
static bool is_explained(const struct bisect_track *t, int n)
{
	double rest = t->point[n].m;
	struct stretch part;
	for (int at = 0; next_stretch(t, n, at, &part); at = part.to)
		rest -= is_named(t, n, &part) ? direct_of(t, part.from, part.to)->e.m : 0;
	return rest < t->threshold / 2;
}

/* ---- what to do next ------------------------------------------------------------------------------------------------- */

/** Whether a stretch of this probability is looked into. */
static bool is_suspect(const struct bisect_track *t, int n, const struct stretch *s)
{
	return s->p > LIKELY || (s->p > SUSPECT && !is_explained(t, n));
}

/** The measurement that tells most: the middle of the longest stretch, weighed by the probability that a loss is in it. */
static bool next_division(const struct bisect_search *s, double least, int *target)
{
	double most = 0;
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch part;
		for (int at = 0; next_stretch(t, s->n, at, &part); at = part.to) {
			int half = part.p > least && is_suspect(t, s->n, &part) ? middle(t, &part) : -1;
			double likely = part.p * (part.to - part.from);
			if (half >= 0 && likely > most) {
				most = likely;
				*target = half;
			}
		}
	}
	return most > 0;
}

/** The likeliest stretch that nothing proves yet. */
static bool next_proof(const struct bisect_search *s, double least, int *base, int *target)
{
	double most = least;
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch part;
		for (int at = 0; next_stretch(t, s->n, at, &part); at = part.to)
			if (part.p > most && is_suspect(t, s->n, &part) && needs_proof(t, s->n, &part)) {
				most = part.p;
				*base = part.from;
				*target = part.to;
			}
	}
	return most > least;
}

bool bisect_next(const struct bisect_search *s, int *base, int *target)
{
	static const double least[] = { LIKELY, SUSPECT };
	for (size_t i = 0; i < sizeof least / sizeof *least; i++) {
		*base = 0;
		if (next_division(s, least[i], target) || (!s->certain && next_proof(s, least[i], base, target)))
			return true;
	}
	return false;
}

bool bisect_wants(const struct bisect_track *t, int n, int base, int target)
{
	struct stretch part;
	for (int at = 0; next_stretch(t, n, at, &part); at = part.to) {
		if (!is_suspect(t, n, &part))
			continue;
		if (base == 0 && target > part.from && target < part.to)
			return t->point[target].state == BISECT_UNKNOWN;
		if (part.from == base && part.to == target)
			return needs_proof(t, n, &part);
	}
	return false;
}

/* ---- who did it ------------------------------------------------------------------------------------------------------ */

static void add_finding(struct bisect_finding *out, int *n, const struct bisect_finding *f)
{
	int i = 0;
	while (i < *n && (out[i].from != f->from || out[i].to != f->to))
		i++;
	if (i == BISECT_FINDINGS_MAX)
		return;
	if (i == *n) {
		out[(*n)++] = *f;
		return;
	}
	out[i].track[out[i].n_tracks++] = f->track[0];
	out[i].confirmed = out[i].confirmed || f->confirmed;
	out[i].probability = fmax(out[i].probability, f->probability);
	if (f->m > out[i].m) {
		out[i].m = f->m;
		out[i].change_pct = f->change_pct;
	}
	if (f->comparison)
		out[i].comparison = f->comparison;
}

/** The stretches of a track that were proved. `without[i]` becomes the curve with their steps taken out. Returns their number. */
static int add_culprits(const struct bisect_search *s, int k, double *without, struct bisect_finding *out, int *n)
{
	const struct bisect_track *t = &s->track[k];
	struct stretch part;
	double taken = 0;
	int found = 0;
	without[0] = t->point[0].m;
	for (int at = 0; next_stretch(t, s->n, at, &part); at = part.to) {
		const struct bisect_direct *d = direct_of(t, s->certain ? 0 : part.from, part.to);
		if (s->certain ? part.p > LIKELY : is_named(t, s->n, &part)) {
			struct bisect_finding f = { part.from, part.to, true, 1, { k }, part.loss,
				s->certain ? NAN : probability_of(t, d), d && d->e.n ? stats_change_pct(d->e.m) : NAN,
				d ? d->comparison : 0 };
			add_finding(out, n, &f);
			taken += part.loss;
			found++;
		}
		without[part.to] = t->point[part.to].m - taken;
	}
	return found;
}

/** The shortest range of known points over which the curve rises by `loss` for good. One commit is none: nothing names it. */
static bool shortest_range(const struct bisect_track *t, int n, const double *curve, double loss, int *from, int *to)
{
	int best = n + 1;
	for (int a = 0; a < n; a++)
		for (int b = n > 1 ? a + 2 : a + 1; b <= n && b - a < best; b++)
			if (t->point[a].state == BISECT_KNOWN && t->point[b].state == BISECT_KNOWN &&
				curve[b] - curve[a] >= loss && !is_contradicted(t, n, curve, loss, a, b)) {
				best = b - a;
				*from = a;
				*to = b;
			}
	return best <= n;
}

/** A loss above the threshold that no culprit explains. */
static void add_range(const struct bisect_search *s, int k, const double *curve, bool any, struct bisect_finding *out, int *n)
{
	const struct bisect_track *t = &s->track[k];
	double rest = curve[s->n] - curve[0];
	int from = 0, to = s->n;
	if ((any && rest < t->threshold) || rest <= 0)
		return;
	/* where no range holds it for good it is all of them */
	(void)shortest_range(t, s->n, curve, RANGE_HOLDS * rest, &from, &to);
	struct bisect_finding f = { from, to, false, 1, { k }, curve[to] - curve[from], NAN,
		stats_change_pct(curve[to] - curve[from]), 0 };
	add_finding(out, n, &f);
}

static int by_place(const void *a, const void *b)
{
	const struct bisect_finding *x = a, *y = b;
	return x->from != y->from ? x->from - y->from : x->to - y->to;
}

int bisect_findings(const struct bisect_search *s, struct bisect_finding *out)
{
	double curve[BISECT_COMMITS_MAX];
	int n = 0;
	for (int k = 0; k < s->n_tracks; k++) {
		if (s->track[k].point[0].state != BISECT_KNOWN || s->track[k].point[s->n].state != BISECT_KNOWN)
			continue;
		bool any = add_culprits(s, k, curve, out, &n) > 0;
		add_range(s, k, curve, any, out, &n);
	}
	qsort(out, (size_t)n, sizeof *out, by_place);
	return n;
}
