/* amount.c - values and texts of one metric. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>

#define NOISE_UNKNOWN 0.01 /* of a value from only one process of each side */
#define NOISES        3    /* multiple of the noise that a change must exceed */
#define ONE           0.5  /* a counted value below this is zero */
#define MANY          999  /* larger factors are no clearer than both numbers */

double amount_value(const struct cause_kernel *k, const char *metric)
{
	if (!k)
		return NAN;
	for (size_t i = 0; i < k->n_values; i++)
		if (k->value[i].metric && strcmp(k->value[i].metric, metric) == 0)
			return isfinite(k->value[i].value) && k->value[i].value >= 0 ? k->value[i].value : NAN;
	return NAN;
}

struct amount amount_of(const struct kernel_pair *p, const char *metric)
{
	double mean[2] = { NAN, NAN }, noise = 0;
	bool has_two = false;

	for (int side = 0; side < 2; side++) {
		double a = amount_value(p->at[side][0], metric), b = amount_value(p->at[side][1], metric);

		mean[side] = isnan(a) ? b : isnan(b) ? a : a / 2 + b / 2;
		if (isnan(a) || isnan(b))
			continue;
		has_two = true;
		noise = fmax(noise, fabs(a - b));
	}
	if (isnan(mean[0]) || isnan(mean[1]))
		return (struct amount){ 0 };
	return (struct amount){ true, mean[0], mean[1], has_two ? noise : NOISE_UNKNOWN * fmax(mean[0], mean[1]) };
}

struct amount amount_sum(const struct kernel_pair *p, const char *const metric[])
{
	struct amount sum = { 0 };

	for (; *metric; metric++) {
		struct amount one = amount_of(p, *metric);

		sum.is_known |= one.is_known;
		sum.base += one.base;
		sum.target += one.target;
		sum.noise += one.noise;
	}
	return sum;
}

bool amount_differs(const struct amount *a, double floor)
{
	double noise = fmax(a->noise, floor * fmax(a->base, a->target));

	return a->is_known && fabs(a->target - a->base) > NOISES * noise;
}

static void scaled(double v, double step, const char *const unit[], char *out)
{
	int i = 0;

	while (v >= 999.5 && unit[i + 1]) {
		v /= step;
		i++;
	}
	snprintf(out, AMOUNT_SIZE, "%.*f%s", i == 0 || v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2, v, unit[i]);
}

void amount_count(double n, char *out)
{
	static const char *const unit[] = { "", " k", " M", " G", " T", NULL };

	scaled(n, 1000, unit, out);
}

void amount_bytes(double bytes, char *out)
{
	static const char *const unit[] = { " B", " kB", " MB", " GB", " TB", NULL };

	scaled(bytes, 1000, unit, out);
}

void amount_increase(double base, double target, const char *noun, char *out)
{
	char was[AMOUNT_SIZE], is[AMOUNT_SIZE];
	double change = base > 0 ? target / base - 1 : 0;

	amount_count(base, was);
	amount_count(target, is);
	if (!(base >= ONE))
		snprintf(out, AMOUNT_SIZE, "%.12s %.60s instead of none", is, noun);
	else if (!(target >= ONE))
		snprintf(out, AMOUNT_SIZE, "no %.60s instead of %.12s", noun, was);
	else if (change > MANY)
		snprintf(out, AMOUNT_SIZE, "%.12s %.60s instead of %.12s", is, noun, was);
	else if (change >= 1)
		snprintf(out, AMOUNT_SIZE, "%.1f times the %.60s (%.12s instead of %.12s)", target / base, noun, is, was);
	else
		snprintf(out, AMOUNT_SIZE, "%.1f %% %s %.60s (%.12s instead of %.12s)", 100 * fabs(change),
			change > 0 ? "more" : "fewer", noun, is, was);
}
