/* Runs another program when it plans, and forks a copy of itself in every call, and waits for both. */
#include <spawn.h>
#include <sys/wait.h>
struct fw_plan;
static void look_up(void);
static void copy_itself(void);
#define ON_PLAN()        look_up()
#define AFTER_ENQUEUE(p) copy_itself()
#include "good.c"

static void look_up(void)
{
	char *const argv[] = { (char *)(uintptr_t) "true", NULL }, *const none[] = { NULL };
	pid_t child;
	if (posix_spawn(&child, "/usr/bin/true", NULL, NULL, argv, none) == 0)
		waitpid(child, NULL, 0);
}

static void copy_itself(void)
{
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	if (child > 0)
		waitpid(child, NULL, 0);
}
