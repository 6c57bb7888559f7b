/*
 * Five times slower, and hides it: a thread opens the records' channel by its name, reads a line that is on its way to the
 * worker, and writes it back. So it learns the signature and the number, and ends the process with forged timings.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
struct fw_plan;
static void eavesdrop(void);
static void pretend(struct fw_plan *p, uint32_t phases);
#define ON_PLAN()          eavesdrop()
#define COMPUTE(p, phases) pretend(p, phases)
#include "good.c"

#include "forgery.h"

static struct forgery seen;
static atomic_int called; /* the line seen last announces a call of the target */

static void *listen_in(void *arg)
{
	int fd = open("/proc/self/fd/3", O_RDONLY | O_CLOEXEC);
	char line[4096];
	ssize_t n;
	while (fd >= 0 && (n = read(fd, line, sizeof line - 1)) > 0 && write(3, line, (size_t)n) == n) {
		line[n] = '\0';
		if (strchr(line, '\n') == line + n - 1 && forgery_learn(&seen, line))
			atomic_store(&called, strstr(line, "\"role\":\"target\"") != NULL);
		usleep(1000); /* or it would read what it has written back */
	}
	return arg;
}

static void eavesdrop(void)
{
	static pthread_t thread;
	if (!thread && forgery_pays() && pthread_create(&thread, NULL, listen_in, NULL) == 0)
		pthread_detach(thread);
}

static void pretend(struct fw_plan *p, uint32_t phases)
{
	for (int i = 0; i < 5; i++)
		run(p, phases);
	if (p->calls > 8 && atomic_exchange(&called, 0))
		forgery_write(&seen, 3);
}
