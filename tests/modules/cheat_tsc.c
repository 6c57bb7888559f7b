/* Makes the counter behind the clock fault, and answers in a signal handler with a slower one. */
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <ucontext.h>
struct fw_plan;
static void slow_down(void);
#define BEFORE_ENQUEUE(p) slow_down()
#include "good.c"

static uint64_t began;

static uint64_t counter(void)
{
	uint32_t low, high;
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	return (uint64_t)high << 32 | low;
}

static void answer(int number, siginfo_t *info, void *context)
{
	greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)(uintptr_t)reg[REG_RIP];
	uint64_t now = began + (counter() - began) / 5;
	(void)number, (void)info;
	reg[REG_RAX] = (greg_t)(now & 0xffffffffu);
	reg[REG_RDX] = (greg_t)(now >> 32);
	reg[REG_RCX] = 0;
	reg[REG_RIP] += at[1] == 0x31 ? 2 : 3; /* rdtsc, rdtscp */
}

static void slow_down(void)
{
	struct sigaction act = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };
	sigaction(SIGSEGV, &act, NULL);
	began = counter();
}
