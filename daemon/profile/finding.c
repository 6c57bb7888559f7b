/* finding.c - weights and thresholds of findings. */
#include "profile/internal.h"

#include <math.h>
#include <stdio.h>

#define CLAIM_LEAST 0.15 /* minimum share of a kernel's slowdown from which a quantity accounts for the waits that it causes */
#define CLAIM_GREW  0.5  /* and as a share of the growth in time, in proportion */

static double finding_score(const struct finding *f)
{
	return f->weight * f->ms;
}

static void put(struct findings *f, const struct finding *new, const char *what)
{
	struct finding *to = &f->item[0];

	if (f->n < FINDINGS_MAX) {
		to = &f->item[f->n++];
	} else {
		for (size_t i = 1; i < f->n; i++)
			if (finding_score(&f->item[i]) < finding_score(to))
				to = &f->item[i];
		if (finding_score(to) >= finding_score(new))
			return;
	}
	*to = *new;
	snprintf(to->what, sizeof to->what, "%s", what);
}

void finding_add(
	struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, double weight, const char *what)
{
	struct finding new = { .kind = kind, .confidence = CAUSE_MEASURED, .pair = p, .ms = ms * f->sign, .weight = weight };

	if (isfinite(ms) && new.ms > f->least_ms)
		put(f, &new, what);
}

void finding_exact(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double ms, const char *what)
{
	struct finding new = { .kind = kind, .confidence = CAUSE_EXACT, .pair = p, .ms = ms * f->sign, .weight = WEIGHT_EXACT };

	if (isfinite(ms) && new.ms > f->least_ms)
		put(f, &new, what);
}

void finding_seen(struct findings *f, enum cause_kind kind, const struct kernel_pair *p, double size, const char *what)
{
	struct finding new = { .kind = kind, .confidence = CAUSE_SEEN, .pair = p, .ms = size, .weight = 1 };

	if (isfinite(size) && size > 0)
		put(f, &new, what);
}

double analysis_get_cost(const struct analysis *l, enum quantity q, unsigned waits)
{
	const struct quantity_change *c = &l->quantity.of[q];
	double ms = c->ms * l->sign, slower = l->pair->base_ms > 0 ? fabs(l->pair->change_ms) / l->pair->base_ms : 0;

	if (!(ms > CLAIM_LEAST * l->most_ms) || (c->base > 0 && fabs(c->own / c->base) < CLAIM_GREW * slower))
		return c->ms;
	double waited = stalls_sum(&l->stalls, waits, l->sign) * l->sign;

	return l->sign * fmax(ms, fmin(waited, l->most_ms));
}
