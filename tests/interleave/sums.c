/* sums.c - a benchmark of two cells, using the kit. */
#include "flopwatch.h"

#define N 20000

static float x[2 * N], total, product;

static float sum(const float *v, unsigned n)
{
	volatile float s = 0;

	for (unsigned i = 0; i < n; i++)
		s = s + v[i];
	return s;
}

static const char *check(void *argument)
{
	float wanted = (float)N;

	(void)argument;
	if (getenv("WRONG"))
		total += 1;
	return flopwatch_compare(&total, &wanted, 1, 1e-6F, 0);
}

#ifdef OTHER
void other(void);
#endif

int main(void)
{
	unsigned n = (unsigned)(20000 * 1);

	for (unsigned i = 0; i < N; i++)
		x[i] = 1;
	flopwatch_check(check, NULL);
	flopwatch_output(&total, sizeof total);
	FLOPWATCH("sum/20000", N, 4.0 * N)
	{
		total = sum(x, n);
	}
	FLOPWATCH("dot/20000", 2.0 * N, 4.0 * N)
	{
		volatile float s = 0;

		for (unsigned i = 0; i < N; i++)
			s = s + x[i] * x[i];
		product = s;
	}
#ifdef OTHER
	other();
#endif
	return product > 0 ? 0 : 1;
}
