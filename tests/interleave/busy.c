/* busy.c - calls of some us while other processes compete for the same core, each compared with its own processor time. Prints
 * the number of calls, of interrupted ones, and of those reported as less than half of what they used. Usage: busy INTERRUPTED:
 * runs until that many calls were interrupted. */
#include "flopwatch.h"

static volatile unsigned sink;

static int64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static long interruptions(void)
{
	struct rusage u;

	return getrusage(RUSAGE_SELF, &u) == 0 ? u.ru_nivcsw : 0;
}

int main(int argc, char **argv)
{
	long wanted = argc > 1 ? atol(argv[1]) : 1, interrupted = 0, calls = 0, small = 0;
	char key[32];

	if (!freopen("/dev/null", "w", stderr))
		return 1;
	for (int cell = 0; interrupted < wanted; cell++) {
		int64_t cpu_ns = 0;
		int n = 0;

		snprintf(key, sizeof(key), "cell/%d", cell);
		FLOPWATCH(key, 0, 0)
		{
			long before = interruptions();
			int64_t began = used_ns();

			if (flopwatch_cell.n == n + 1) {
				calls++;
				small += flopwatch_cell.ms[n] < 0.5e-6 * (double)cpu_ns;
			}
			n = flopwatch_cell.n;
			for (unsigned i = 0; i < 20000; i++)
				sink += i;
			cpu_ns = used_ns() - began;
			interrupted += interruptions() != before;
		}
	}
	fprintf(stdout, "calls %ld interrupted %ld small %ld\n", calls, interrupted, small);
	return 0;
}
