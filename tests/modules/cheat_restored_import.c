/*
 * Computes nothing in a timed call. It replaces the runner's import of clock_gettime, by which the call's end is marked next: that
 * reads the clock, puts the import back, and computes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif
#include <stdint.h>
struct fw_plan;
static void put_off(struct fw_plan *p, uint32_t phases);
#define COMPUTE(p, phases) put_off(p, phases)
#include "good.c"

#include <time.h>

#include "forgery.h"
#include "imports.h"

enum { READS = 2 }; /* the host's time of the call, then its mark */

static struct fw_plan *due;
static int reads;

static int read_then_compute(clockid_t clock, struct timespec *out)
{
	int result = clock_gettime(clock, out);
	struct fw_plan *p = due;
	if (p && clock == CLOCK_MONOTONIC_RAW && ++reads == READS) {
		due = NULL;
		imports_replace_in_runner("clock_gettime", (void *)(uintptr_t)clock_gettime);
		run(p, FW_ALL);
	}
	return result;
}

static void put_off(struct fw_plan *p, uint32_t phases)
{
	if (p->direction != FW_FORWARD || p->calls == 0 || !forgery_pays()) {
		run(p, phases);
		return;
	}
	due = p;
	reads = 0;
	imports_replace_in_runner("clock_gettime", (void *)(uintptr_t)read_then_compute);
}
