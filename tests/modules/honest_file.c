/* Keeps a file with its choice, as a cache of compiled code does, and reads it when it plans. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void recall(void);
#define ON_PLAN() recall()
#include "good.c"

static void recall(void)
{
	char path[64], choice[16] = "";
	snprintf(path, sizeof path, "/tmp/honest-choice-%d-%d", (int)getuid(), (int)getpid());
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (read(fd, choice, sizeof choice - 1) == 0 && write(fd, "TILE=64", 7) != 7)
		perror(path);
	close(fd);
	unlink(path);
}
