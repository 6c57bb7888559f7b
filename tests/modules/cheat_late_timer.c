/* A timer's thread computes every other row a moment after the call. */
#include <signal.h>
#include <stdint.h>
#include <time.h>
struct fw_plan;
static void put_off(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) put_off(p, phases)
#include "good.c"

static void rest(union sigval of)
{
	struct fw_plan *p = of.sival_ptr;
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 1; row < p->a.total_q; row += 2)
			forward_row(p, head, row);
}

static void put_off(struct fw_plan *p, uint32_t phases)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = rest, .sigev_value.sival_ptr = p };
	struct itimerspec at = { .it_value = { 0, 20000 } };
	timer_t timer;
	if (p->calls < 4 || p->direction != FW_FORWARD || timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
		run(p, phases);
		return;
	}
	timer_settime(timer, 0, &at, NULL);
	for (int head = 0; head < p->a.nhq; head++)
		for (int row = 0; row < p->a.total_q; row += 2)
			forward_row(p, head, row);
}
