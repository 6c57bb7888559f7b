/* A thread takes the worker's answers, so that the runner waits in vain, and a process is left running. */
#include <pthread.h>
#include <unistd.h>
static int take_answers(void);
#define CLOSE_EARS() take_answers()
#include "orphan.h"

static void *take(void *arg)
{
	char byte;
	while (read(3, &byte, 1) == 1)
		continue;
	return arg;
}

static int take_answers(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, take, NULL);
}
