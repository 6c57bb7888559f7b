/** interval.h - interval of a sum of a Student t posterior and a mixture of normals. Pure. */
#ifndef STATS_INTERVAL_H
#define STATS_INTERVAL_H

/** A normal distribution as part of a mixture. Units: those of the sum; the variance their square. */
struct normal_part {
	double weight, mean, variance;
};

enum { INTERVAL_PARTS_MAX = 2 };

/**
 * Compute the 95 % interval, 2.5 % outside on each side, of t + x: t is Student's t around 0, x is independent and a mixture of
 * normals. Student's t is a normal whose variance is drawn from an inverse gamma distribution. Integrated by the trapezoidal
 * rule in the logarithm of the variance, which converges exponentially, the sum is a mixture of normals again. Shape: part[n],
 * 1 <= n <= INTERVAL_PARTS_MAX, weights sum up to 1. Units: scale >= 0; degrees real, below 1 taken as 1. Without any width
 * both ends are the mean. Ends are exact to a thousandth of the standard deviation.
 */
void interval_95(double scale, double degrees, const struct normal_part *part, int n, double *low, double *high);

#endif
