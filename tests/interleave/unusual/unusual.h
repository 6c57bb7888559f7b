/* unusual.h - shared by these programs: work of a given length, the only thing that is compared between calls. */
#ifndef TESTS_ODD_H
#define TESTS_ODD_H

#include "flopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile double work_sink;

static inline void do_work(int units)
{
	double x = 1;

	for (long i = 0; i < units * 100L; i++)
		x = x * 1.0000001 + 1e-9;
	work_sink = x;
}

#endif
