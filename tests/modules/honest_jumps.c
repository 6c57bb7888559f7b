/* Leaves a loop by longjmp, and reads clocks and counters of the processor for a log of its own. */
#include <setjmp.h>
#include <stdint.h>
#include <time.h>
struct fw_plan;
static void jump(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) jump(p, phases)
#include "good.c"

static jmp_buf done;
static struct timespec times[64];

static void jump(struct fw_plan *p, uint32_t phases)
{
	clock_gettime(CLOCK_MONOTONIC_RAW, &times[p->calls % 32 * 2]);
	if (setjmp(done) == 0) {
		run(p, phases);
		longjmp(done, 1);
	}
	clock_gettime(CLOCK_MONOTONIC_RAW, &times[p->calls % 32 * 2 + 1]);
}
