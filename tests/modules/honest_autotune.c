/* Times two orders of rows when it plans, on memory of its own, and uses the faster one. */
#include <stdint.h>
#include <time.h>
struct fw_plan;
static void in_best_order(struct fw_plan *p, uint32_t phases);
static void tune(void);
#define ON_PLAN()          tune()
#define COMPUTE(p, phases) in_best_order(p, phases)
#include "good.c"

static bool backwards;

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tune(void)
{
	enum { N = 1 << 16 };
	float *x = calloc(N, sizeof *x);
	double took[2] = { 0 };
	volatile float sum = 0;
	for (int order = 0; x && order < 2; order++) {
		double begin = seconds();
		for (int i = 0; i < N; i++)
			sum += x[order ? N - 1 - i : i];
		took[order] = seconds() - begin;
	}
	backwards = took[1] < took[0];
	free(x);
}

static void in_best_order(struct fw_plan *p, uint32_t phases)
{
	int n = p->a.total_q;
	if (p->direction != FW_FORWARD) {
		run(p, phases);
		return;
	}
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < n; row++)
			forward_row(p, head, backwards ? n - 1 - row : row);
}
