/* Initialises itself when it is loaded: a table, a thread that has ended by then, a query of the machine; and cleans up at the
 * end. */
#include <pthread.h>
#include "good.c"

static float *table;

static void *fill(void *arg)
{
	for (int i = 0; table && i < 1024; i++)
		table[i] = expf(-(float)i / 64);
	return arg;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];
	while (f && fgets(line, sizeof line, f))
		continue;
	if (f)
		fclose(f);
	table = malloc(1024 * sizeof *table);
	if (pthread_create(&thread, NULL, fill, NULL) == 0)
		pthread_join(thread, NULL);
}

__attribute__((destructor)) static void end(void)
{
	free(table);
}
