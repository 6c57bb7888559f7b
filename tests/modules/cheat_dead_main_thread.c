/* Leaves a process running whose first thread has ended while another one continues. */
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
struct fw_plan;
static void leave_one(int calls);
#define AFTER_ENQUEUE(p) leave_one((p)->calls)
#include "good.c"

static void *go_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void leave_one(int calls)
{
	pthread_t thread;
	if (calls != 6 || fork() != 0)
		return;
	if (pthread_create(&thread, NULL, go_on, NULL) != 0)
		_exit(1);
	syscall(SYS_exit, 0); /* of this thread only */
}
