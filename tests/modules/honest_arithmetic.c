/* Counts denormal numbers as zero and rounds towards zero in parts of a call, and restores both. */
#include <fenv.h>
#include <stdint.h>
struct fw_plan;
static void in_other_mode(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) in_other_mode(p, phases)
#include "good.c"

static void in_other_mode(struct fw_plan *p, uint32_t phases)
{
	int mode = fegetround();
#ifdef __SSE2__
	unsigned control = __builtin_ia32_stmxcsr();
	__builtin_ia32_ldmxcsr(control | 0x8040u);
#endif
	fesetround(FE_TOWARDZERO);
	fesetround(mode);
	run(p, phases);
#ifdef __SSE2__
	__builtin_ia32_ldmxcsr(control);
#endif
}
