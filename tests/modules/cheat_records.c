/* After the warm-up, reports in the runner's name that the base has crashed. */
#define AFTER_ENQUEUE(p)                                                                                                         \
	do {                                                                                                                     \
		static const char line[] =                                                                                       \
			"{\"t\":\"fault\",\"cell\":0,\"role\":\"base\",\"class\":\"crash\",\"detail\":\"honest\"}\n";            \
		if ((p)->calls == 6 && write(3, line, sizeof line - 1) < 0)                                                      \
			perror("records");                                                                                       \
	} while (0)
#include "good.c"
