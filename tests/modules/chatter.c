/* Prints lines that look like the runner's records: stdout belongs to branch code and must not be trusted. */
#define BEFORE_ENQUEUE(p)                                                                                                        \
	do {                                                                                                                     \
		printf("{\"t\":\"check\",\"role\":\"target\",\"cell\":0,\"ok\":true,\"class\":\"\",\"error_ratio\":0}\n");       \
		printf("{\"t\":\"done\",\"gpu_s\":0,\"wall_s\":0,\"cancelled\":false}\n");                                       \
		fflush(stdout);                                                                                                  \
	} while (0)
#include "good.c"
