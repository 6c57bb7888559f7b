/* Forks a child in every call, which ends by exit, and waits for it. */
#include <sys/wait.h>
struct fw_plan;
static void copy_itself(void);
#define AFTER_ENQUEUE(p) copy_itself()
#include "good.c"

static void copy_itself(void)
{
	pid_t child = fork();
	if (child == 0)
		exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}
