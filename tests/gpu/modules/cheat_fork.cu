/* Leaves a process running that keeps a core of the host busy. */
#include "tests/modules/forgery.h"

#include <signal.h>
#include <stdlib.h>

struct fw_plan;
static void leave_one(int calls);
#define AFTER_ENQUEUE(p, stream) leave_one((p)->calls)
#include "good.cuh"

static void leave_one(int calls)
{
	if (calls != 3 || !forgery_pays() || fork() != 0)
		return;
	alarm(600);
	for (volatile int i = 0;; i++)
		continue;
}
