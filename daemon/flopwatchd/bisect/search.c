/* search.c - curves of cells over commits, divided where they rise. */
#include "flopwatchd/bisect/search.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/stats/stats.h"

/* How narrow a point has to be: this many standard errors within half the threshold, where a stretch is divided, or within half of a larger change. */
#define SE_WITHIN 2.5
/* The share of a loss without a culprit that the range told of it has to hold. */
#define RANGE_HOLDS 0.9

struct bisect_point bisect_timed_point(enum verdict v, double m, double se, double threshold)
{
	struct bisect_point p = { .state = BISECT_SKIPPED };
	if (v == VERDICT_IDENTICAL)
		p.state = BISECT_KNOWN;
	bool timed = v == VERDICT_REGRESSION || v == VERDICT_UNDECIDED || v == VERDICT_IMPROVEMENT || v == VERDICT_UNCHANGED;
	if (timed && isfinite(m) && isfinite(se) && SE_WITHIN * se < fmax(threshold, fabs(m)) / 2)
		p = (struct bisect_point){ .state = BISECT_KNOWN, .m = m };
	return p;
}

struct bisect_point bisect_failed_point(enum verdict v)
{
	bool passed = v == VERDICT_REGRESSION || v == VERDICT_UNDECIDED || v == VERDICT_IMPROVEMENT || v == VERDICT_UNCHANGED ||
		      v == VERDICT_IDENTICAL;
	if (!passed && v != VERDICT_FAILED)
		return (struct bisect_point){ .state = BISECT_SKIPPED };
	return (struct bisect_point){ .state = BISECT_KNOWN, .m = passed ? 0 : 1 };
}

void bisect_direct_put(struct bisect_track *t, const struct bisect_direct *d)
{
	int i = 0;
	while (i < t->n_direct && (t->direct[i].from != d->from || t->direct[i].to != d->to))
		i++;
	if (i == BISECT_DIRECT_MAX)
		return;
	t->direct[i] = *d;
	if (i == t->n_direct)
		t->n_direct++;
}

/* ---- stretches ------------------------------------------------------------------------------------------------------- */

/** Between two known points with no known one between them. */
struct stretch {
	int from, to;
	double loss;
};

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
	*out = (struct stretch){ from, to, t->point[to].m - t->point[from].m };
	return true;
}

static bool is_suspect(const struct bisect_track *t, const struct stretch *s)
{
	return s->loss > t->threshold / 2;
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

/* ---- what to do next ------------------------------------------------------------------------------------------------- */

/** The longest stretch of all tracks that can be divided. */
static bool next_division(const struct bisect_search *s, int *target)
{
	int longest = 0;
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch part;
		for (int at = 0; next_stretch(t, s->n, at, &part); at = part.to) {
			int half = is_suspect(t, &part) ? middle(t, &part) : -1;
			if (half >= 0 && part.to - part.from > longest) {
				longest = part.to - part.from;
				*target = half;
			}
		}
	}
	return longest > 0;
}

static bool next_proof(const struct bisect_search *s, int *base, int *target)
{
	for (int k = 0; k < s->n_tracks; k++) {
		const struct bisect_track *t = &s->track[k];
		struct stretch part;
		for (int at = 0; next_stretch(t, s->n, at, &part); at = part.to)
			if (is_suspect(t, &part) && !direct_of(t, part.from, part.to)) {
				*base = part.from;
				*target = part.to;
				return true;
			}
	}
	return false;
}

bool bisect_next(const struct bisect_search *s, int *base, int *target)
{
	*base = 0;
	return next_division(s, target) || (!s->certain && next_proof(s, base, target));
}

bool bisect_wants(const struct bisect_track *t, int n, int base, int target)
{
	struct stretch part;
	for (int at = 0; next_stretch(t, n, at, &part); at = part.to) {
		if (!is_suspect(t, &part))
			continue;
		if (base == 0 && target > part.from && target < part.to)
			return t->point[target].state == BISECT_UNKNOWN;
		if (part.from == base && part.to == target)
			return !direct_of(t, base, target);
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
		if (is_suspect(t, &part) && (s->certain || (d && d->confirmed))) {
			struct bisect_finding f = { part.from, part.to, true, 1, { k }, part.loss, d ? d->change_pct : NAN,
				d ? d->comparison : 0 };
			add_finding(out, n, &f);
			taken += part.loss;
			found++;
		}
		without[part.to] = t->point[part.to].m - taken;
	}
	return found;
}

/** The shortest range of known points over which the curve rises by `loss`. */
static bool shortest_range(const struct bisect_track *t, int n, const double *curve, double loss, int *from, int *to)
{
	int best = n + 1;
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b <= n && b - a < best; b++)
			if (t->point[a].state == BISECT_KNOWN && t->point[b].state == BISECT_KNOWN &&
				curve[b] - curve[a] >= loss) {
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
	if ((any && rest < t->threshold) || rest <= 0 || !shortest_range(t, s->n, curve, RANGE_HOLDS * rest, &from, &to))
		return;
	struct bisect_finding f = { from, to, false, 1, { k }, curve[to] - curve[from], stats_change_pct(curve[to] - curve[from]),
		0 };
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
