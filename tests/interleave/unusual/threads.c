/* Starts four threads in each call, and waits for them. */
#include "unusual.h"

#include <pthread.h>

static void *share(void *arg)
{
	do_work(1000);
	return arg;
}

int main(void)
{
	FLOPWATCH("threads", 1e6, 0)
	{
		pthread_t thread[4];
		int n = 0;

		while (n < 4 && pthread_create(&thread[n], NULL, share, NULL) == 0)
			n++;
		for (int i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}
