/* Changes the thread count, the core and the handling of denormals during a call, and restores them. */
#include <fenv.h>
#include <omp.h>
#include <sched.h>
#include <stdint.h>
struct fw_plan;
static void in_its_way(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) in_its_way(p, phases)
#include "good.c"

static void in_its_way(struct fw_plan *p, uint32_t phases)
{
	int threads = omp_get_max_threads(), dynamic = omp_get_dynamic();
	cpu_set_t before, one;
	fenv_t arithmetic;
	sched_getaffinity(0, sizeof before, &before);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	fegetenv(&arithmetic);
	omp_set_num_threads(1);
	omp_set_dynamic(1);
	sched_setaffinity(0, sizeof one, &one);
	run(p, phases);
	sched_setaffinity(0, sizeof before, &before);
	omp_set_dynamic(dynamic);
	omp_set_num_threads(threads);
	fesetenv(&arithmetic);
}
