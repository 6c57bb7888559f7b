/* search.c - division of the cells' curves where they rise. */
#include "flopwatchd/bisect/bisect.h"

#include <math.h>
#include <stdlib.h>

/* A range reported without a culprit contains at least this share of the regression. */
#define RANGE_HOLDS 0.9
/* A few runs underestimate their error (log ratio). */
#define SE_MIN 0.0002
/* Stretches above SUSPECT are searched; those below LIKELY only if the culprits do not explain the regression. */
#define SUSPECT 0.05
#define LIKELY  0.5
/* Points whose distance exceeds this many of their errors contradict each other. */
#define FAR_ERRORS 3.0

enum { PROOFS_MAX = 3 /* jobs that compare one pair */ };

/**
 * Pool measurements of the same pair: mean weighted by inverse variance, with an error that grows if they contradict each other
 * (Birge's ratio), so that one outlier reduces the weight of all.
 */
static void pool_measurement(struct bisect_evidence *e, double m, double se)
{
	se = fmax(se, SE_MIN);
	double w = 1 / (se * se), sum = e->weight + w, move = m - e->m;
	e->spread += e->weight * w / sum * move * move;
	e->m += w / sum * move;
	e->weight = sum;
	e->n++;
	e->se = sqrt((e->n > 1 ? fmax(1, e->spread / (e->n - 1)) : 1) / sum);
}

static bool is_valid(enum verdict v)
{
	return v == VERDICT_REGRESSION || v == VERDICT_UNDECIDED || v == VERDICT_IMPROVEMENT || v == VERDICT_UNCHANGED;
}

/** Return true if there is a measurement. Identical modules have a ratio of 0 without error. */
static bool read_measurement(enum verdict v, double *m, double *se)
{
	if (v == VERDICT_IDENTICAL)
		*m = *se = 0;
	return v == VERDICT_IDENTICAL || (is_valid(v) && isfinite(*m) && isfinite(*se));
}

bool bisect_timed_point(struct bisect_point *p, enum verdict v, double m, double se)
{
	if (!read_measurement(v, &m, &se))
		return false;
	p->state = BISECT_KNOWN;
	pool_measurement(&p->e, m, se);
	p->m = p->e.m;
	return true;
}

struct bisect_point bisect_failed_point(enum verdict v)
{
	bool passed = is_valid(v) || v == VERDICT_IDENTICAL;
	if (!passed && v != VERDICT_FAILED)
		return (struct bisect_point){ .state = BISECT_SKIPPED };
	return (struct bisect_point){ .state = BISECT_KNOWN, .m = passed ? 0 : 1 };
}

/** Find or add the entry of two commits; NULL if the table is full. */
static struct bisect_direct *add_direct(struct bisect_track *t, int from, int to)
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
	struct bisect_direct *d = add_direct(t, from, to);
	if (!d)
		return;
	if (read_measurement(v, &m, &se))
		pool_measurement(&d->e, m, se);
	d->comparison = comparison;
}

void bisect_job_ended(struct bisect_track *t, int from, int to)
{
	struct bisect_direct *d = add_direct(t, from, to);
	if (d)
		d->jobs++;
	if (from == 0 && t->point[to].state == BISECT_UNKNOWN)
		t->point[to].state = BISECT_SKIPPED;
}

/** Probability, under a normal distribution, that the value measured as `m` is above `limit`. */
static double probability_above(double m, double se, double limit)
{
	return se > 0 ? 0.5 * erfc((limit - m) / (se * sqrt(2))) : m > limit;
}

struct stretch {
	int from, to;
	double slowdown, p; /* p: probability that the regression exceeds half the threshold */
};

static double se_between(const struct bisect_track *t, int from, int to)
{
	return hypot(t->point[from].e.se, t->point[to].e.se);
}

static bool next_stretch(const struct bisect_track *t, int n, int from, struct stretch *out)
{
	while (from < n && t->point[from].state != BISECT_KNOWN)
		from++;
	int to = from + 1;
	while (to <= n && t->point[to].state != BISECT_KNOWN)
		to++;
	if (to > n)
		return false;
	double slowdown = t->point[to].m - t->point[from].m;
	*out = (struct stretch){ from, to, slowdown, probability_above(slowdown, se_between(t, from, to), t->threshold / 2) };
	return true;
}

/** Find the untried commit nearest to the middle; -1 none. */
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

static const struct bisect_direct *find_direct(const struct bisect_track *t, int from, int to)
{
	for (int i = 0; i < t->n_direct; i++)
		if (t->direct[i].from == from && t->direct[i].to == to)
			return &t->direct[i];
	return NULL;
}

/** Return the probability that both commits differ by more than half the threshold, from direct comparisons; -1 without any. */
static double direct_probability(const struct bisect_track *t, const struct bisect_direct *d)
{
	return d && d->e.n ? probability_above(d->e.m, d->e.se, t->threshold / 2) : -1;
}

/** True if a known point before `from` or after `to` shows that no rise by `slowdown` between them lasts. */
static bool is_contradicted(const struct bisect_track *t, int n, const double *curve, double slowdown, int from, int to)
{
	for (int i = 0; i <= n; i++) {
		double missing = i < from ? slowdown - (curve[to] - curve[i]) : i > to ? slowdown - (curve[i] - curve[from]) : 0;
		if (t->point[i].state == BISECT_KNOWN && missing > FAR_ERRORS * fmax(t->point[i].e.se, SE_MIN))
			return true;
	}
	return false;
}

/**
 * Direct comparisons needed to name a commit. Normally the curve and one comparison are two independent checks. From commit 0
 * they are the same one, and a rise that other points contradict, or of another size, may be an outlier: both need more.
 */
static int proofs_needed(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = find_direct(t, s->from, s->to);
	double curve[BISECT_COMMITS_MAX] = { 0 };
	for (int i = 0; i <= n; i++)
		curve[i] = t->point[i].m;
	bool differ = d && fabs(d->e.m - s->slowdown) > FAR_ERRORS * hypot(d->e.se, se_between(t, s->from, s->to));
	return 1 + (s->from == 0) + (differ || is_contradicted(t, n, curve, t->threshold / 2, s->from, s->to));
}

static bool is_named(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = find_direct(t, s->from, s->to);
	return s->p > LIKELY && d && direct_probability(t, d) > BISECT_NAMED && d->e.n >= proofs_needed(t, n, s);
}

static bool needs_proof(const struct bisect_track *t, int n, const struct stretch *s)
{
	const struct bisect_direct *d = find_direct(t, s->from, s->to);
	double p = direct_probability(t, d);
	if (!d || d->e.n == 0) /* a failed measurement is not repeated */
		return !d || d->jobs == 0;
	bool is_open = p > 1 - BISECT_NAMED && (p <= BISECT_NAMED || d->e.n < proofs_needed(t, n, s));
	return d->jobs < PROOFS_MAX && (is_open || d->e.n < 1 + (s->from == 0));
}

/** True if the named stretches leave less of the track's regression than is worth a search. */
static bool is_explained(const struct bisect_track *t, int n)
{
	double rest = t->point[n].m;
	struct stretch stretch;
	for (int at = 0; next_stretch(t, n, at, &stretch); at = stretch.to)
		rest -= is_named(t, n, &stretch) ? find_direct(t, stretch.from, stretch.to)->e.m : 0;
	return rest < t->threshold / 2;
}

static bool is_suspect(const struct bisect_track *t, int n, const struct stretch *s)
{
	return s->p > LIKELY || (s->p > SUSPECT && !is_explained(t, n));
}

/** Choose the most informative measurement: the middle of the longest stretch, weighted by its probability of a regression. */
static bool next_division(const struct bisect_search *s, double least, int *target)
{
	double most = 0;
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch stretch;
		for (int at = 0; next_stretch(t, s->n, at, &stretch); at = stretch.to) {
			int half = stretch.p > least && is_suspect(t, s->n, &stretch) ? middle(t, &stretch) : -1;
			double likely = stretch.p * (stretch.to - stretch.from);
			if (half >= 0 && likely > most) {
				most = likely;
				*target = half;
			}
		}
	}
	return most > 0;
}

static bool next_proof(const struct bisect_search *s, double least, int *base, int *target)
{
	double most = least;
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch stretch;
		for (int at = 0; next_stretch(t, s->n, at, &stretch); at = stretch.to)
			if (stretch.p > most && is_suspect(t, s->n, &stretch) && needs_proof(t, s->n, &stretch)) {
				most = stretch.p;
				*base = stretch.from;
				*target = stretch.to;
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
	struct stretch stretch;
	for (int at = 0; next_stretch(t, n, at, &stretch); at = stretch.to) {
		if (!is_suspect(t, n, &stretch))
			continue;
		if (base == 0 && target > stretch.from && target < stretch.to)
			return t->point[target].state == BISECT_UNKNOWN;
		if (stretch.from == base && stretch.to == target)
			return needs_proof(t, n, &stretch);
	}
	return false;
}

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

/** Add the confirmed stretches of a track; `without` becomes the curve minus their steps. Returns their number. */
static int add_culprits(const struct bisect_search *s, int k, double *without, struct bisect_finding *out, int *n)
{
	const struct bisect_track *t = &s->track[k];
	struct stretch stretch;
	double taken = 0;
	int found = 0;
	without[0] = t->point[0].m;
	for (int at = 0; next_stretch(t, s->n, at, &stretch); at = stretch.to) {
		const struct bisect_direct *d = find_direct(t, s->certain ? 0 : stretch.from, stretch.to);
		if (s->certain ? stretch.p > LIKELY : is_named(t, s->n, &stretch)) {
			struct bisect_finding f = { stretch.from, stretch.to, true, 1, { k }, stretch.slowdown,
				s->certain ? NAN : direct_probability(t, d), d && d->e.n ? stats_change_pct(d->e.m) : NAN,
				d ? d->comparison : 0 };
			add_finding(out, n, &f);
			taken += stretch.slowdown;
			found++;
		}
		without[stretch.to] = t->point[stretch.to].m - taken;
	}
	return found;
}

/** Find the shortest range over which the curve rises permanently by `slowdown`. A single commit is no range. */
static bool shortest_range(const struct bisect_track *t, int n, const double *curve, double slowdown, int *from, int *to)
{
	int best = n + 1;
	for (int a = 0; a < n; a++)
		for (int b = n > 1 ? a + 2 : a + 1; b <= n && b - a < best; b++)
			if (t->point[a].state == BISECT_KNOWN && t->point[b].state == BISECT_KNOWN &&
				curve[b] - curve[a] >= slowdown && !is_contradicted(t, n, curve, slowdown, a, b)) {
				best = b - a;
				*from = a;
				*to = b;
			}
	return best <= n;
}

static void add_range(const struct bisect_search *s, int k, const double *curve, bool any, struct bisect_finding *out, int *n)
{
	const struct bisect_track *t = &s->track[k];
	double rest = curve[s->n] - curve[0];
	int from = 0, to = s->n;
	if ((any && rest < t->threshold) || rest <= 0)
		return;
	/* without such a range: all commits */
	(void)shortest_range(t, s->n, curve, RANGE_HOLDS * rest, &from, &to);
	struct bisect_finding f = { from, to, false, 1, { k }, curve[to] - curve[from], NAN,
		stats_change_pct(curve[to] - curve[from]), 0 };
	add_finding(out, n, &f);
}

static int compare_findings(const void *a, const void *b)
{
	const struct bisect_finding *x = a, *y = b;
	return x->from != y->from ? x->from - y->from : x->to - y->to;
}

int bisect_findings(const struct bisect_search *s, struct bisect_finding *out)
{
	double curve[BISECT_COMMITS_MAX] = { 0 };
	int n = 0;
	for (int k = 0; k < s->n_tracks; k++) {
		if (s->track[k].point[0].state != BISECT_KNOWN || s->track[k].point[s->n].state != BISECT_KNOWN)
			continue;
		bool any = add_culprits(s, k, curve, out, &n) > 0;
		add_range(s, k, curve, any, out, &n);
	}
	qsort(out, (size_t)n, sizeof *out, compare_findings);
	return n;
}
