/* Correct, and slow to bind, which takes most of the time of a whole call. */
#include <stdint.h>
struct fw_plan;
static void work_in_bind(struct fw_plan *p);
#define ON_BIND(p) work_in_bind(p)
#include "good.c"

static volatile float spent;

static void work_in_bind(struct fw_plan *p)
{
	float sum = 0;
	for (int64_t i = 0; i < (int64_t)p->a.nhq * p->a.total_q * p->a.total_k; i++)
		sum += expf(-(float)(i % 64));
	for (int64_t i = 0; i < (int64_t)p->a.nhq * p->a.total_q * p->a.total_k * 1024; i++)
		spent = sum;
}
