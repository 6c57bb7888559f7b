/* Runs another program in each call by vfork and exec, like a program that compiles. */
#include "unusual.h"

#include <spawn.h>

int main(void)
{
	char *const argv[] = { (char *)(uintptr_t) "true", NULL }, *const none[] = { NULL };

	FLOPWATCH("spawns", 1e6, 0)
	{
		pid_t child;

		if (posix_spawn(&child, "/usr/bin/true", NULL, NULL, argv, none) == 0)
			waitpid(child, NULL, 0);
		do_work(2000);
	}
	return 0;
}
