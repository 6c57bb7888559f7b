/* Prints a lot on standard error, in its calls and between them. */
#include "unusual.h"

int main(void)
{
	FLOPWATCH("talks", 1e6, 0)
	{
		for (int i = 0; i < 200; i++)
			fprintf(stderr, "warning: row %d is as it was, which is as it should be, but printed\n", i);
		do_work(3000);
	}
	for (int i = 0; i < 2000; i++)
		fprintf(stderr, "done with %d\n", i);
	return 0;
}
