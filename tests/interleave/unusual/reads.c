/* Reads its own file in each call. */
#include "unusual.h"

int main(void)
{
	FLOPWATCH("reads", 1e6, 0)
	{
		char chunk[4096];
		int fd = open("/proc/self/exe", O_RDONLY);
		long sum = 0;

		for (ssize_t n; fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0;)
			sum += n;
		if (fd >= 0)
			close(fd);
		do_work(sum > 0 ? 3000 : 1);
	}
	return 0;
}
