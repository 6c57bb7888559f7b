/* Maps 256 MiB in each call, uses some of it, and unmaps it. */
#include "unusual.h"

enum { BYTES = 256 << 20, STEP = 1 << 20 };

int main(void)
{
	FLOPWATCH("maps", 1e6, 0)
	{
		char *all = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (all == MAP_FAILED)
			return 1;
		for (int i = 0; i < BYTES; i += STEP)
			all[i] = 1;
		do_work(3000);
		munmap(all, BYTES);
	}
	return 0;
}
