/* interval.c - quantiles of a mixture of normals by bisection and Newton's steps. */
#include "stats/stats.h"

#include <math.h>

enum { NODES_MAX = 64, STEPS_MAX = 60, DOUBLINGS_MAX = 60 };

#define STEP_MAX  0.7 /* between nodes, of the logarithm of the variance */
#define FADED     16  /* nodes with a density so far below the highest, in logarithms, add nothing */
#define OUTSIDE   0.025
#define PRECISION 1e-4 /* of the initial scale */

struct mixture {
	int n;
	double weight[NODES_MAX * INTERVAL_PARTS_MAX], mean[NODES_MAX * INTERVAL_PARTS_MAX], sd[NODES_MAX * INTERVAL_PARTS_MAX];
};

/* Density of u = ln(chi-squared), up to a factor; maximal at ln(degrees). */
static double ln_density(double u, double degrees)
{
	return degrees / 2 * u - exp(u) / 2;
}

/* Student's t as a mixture of n normals around 0. Shape: weight, variance [NODES_MAX]. */
static int normals_of_t(double scale, double degrees, double *weight, double *variance)
{
	double step = fmin(STEP_MAX, sqrt(2 / degrees)), middle = log(degrees), highest = ln_density(middle, degrees), sum = 0;
	int n = 0;

	for (int side = -1; side <= 1; side += 2)
		for (int i = side > 0; n < NODES_MAX; i++) {
			double u = middle + side * i * step, below = ln_density(u, degrees) - highest;

			if (below < -FADED)
				break;
			weight[n] = exp(below);
			sum += weight[n];
			variance[n++] = scale * scale * degrees * exp(-u);
		}
	for (int i = 0; i < n; i++)
		weight[i] /= sum;
	return n;
}

/* No part is narrower than `least`, so that a part without width has a density. */
static void mix(struct mixture *m, double scale, double degrees, const struct normal_part *part, int n, double least)
{
	double weight[NODES_MAX], variance[NODES_MAX];
	int nodes = normals_of_t(scale, degrees, weight, variance);

	m->n = 0;
	for (int i = 0; i < n && i < INTERVAL_PARTS_MAX; i++)
		for (int k = 0; k < nodes; k++) {
			m->weight[m->n] = part[i].weight * weight[k];
			m->mean[m->n] = part[i].mean;
			m->sd[m->n++] = fmax(sqrt(variance[k] + part[i].variance), least);
		}
}

/* P(sum < x) and the density there. */
static double below(const struct mixture *m, double x, double *density)
{
	double p = 0;

	*density = 0;
	for (int i = 0; i < m->n; i++) {
		double z = (x - m->mean[i]) / m->sd[i];

		p += m->weight[i] * 0.5 * erfc(-z * M_SQRT1_2);
		*density += m->weight[i] * exp(-z * z / 2) / (m->sd[i] * sqrt(2 * M_PI));
	}
	return p;
}

/* Newton's steps inside a shrinking bracket; a step that leaves it is replaced by bisection. */
static double quantile(const struct mixture *m, double p, double start, double scale)
{
	double low = start, high = start, density, x = start;

	for (int i = 0; i < DOUBLINGS_MAX && below(m, low, &density) > p; i++)
		low -= scale * ldexp(1, i);
	for (int i = 0; i < DOUBLINGS_MAX && below(m, high, &density) < p; i++)
		high += scale * ldexp(1, i);
	x = (low + high) / 2;
	for (int i = 0; i < STEPS_MAX && high - low > PRECISION * scale; i++) {
		double off = below(m, x, &density) - p, next = density > 0 ? x - off / density : low;

		if (off > 0)
			high = x;
		else
			low = x;
		if (fabs(next - x) < PRECISION * scale)
			return next;
		x = next > low && next < high ? next : (low + high) / 2;
	}
	return x;
}

void interval_95(double scale, double degrees, const struct normal_part *part, int n, double *low, double *high)
{
	struct mixture m;
	double mean = 0, square = scale * scale;

	for (int i = 0; i < n; i++)
		mean += part[i].weight * part[i].mean;
	for (int i = 0; i < n; i++)
		square += part[i].weight * (part[i].variance + (part[i].mean - mean) * (part[i].mean - mean));
	*low = *high = mean;
	if (!(square > 0))
		return;
	mix(&m, scale, degrees >= 1 ? degrees : 1, part, n, PRECISION * sqrt(square));
	*low = quantile(&m, OUTSIDE, mean, sqrt(square));
	*high = quantile(&m, 1 - OUTSIDE, mean, sqrt(square));
}
