/* Closes its standard input, counts its descriptors, reads the kernel's information about the process, and prints output. */
#include <dirent.h>
struct fw_plan;
static void look_around(int calls);
#define BEFORE_ENQUEUE(p) look_around((p)->calls)
#include "good.c"

static void look_around(int calls)
{
	static const char *const about[] = { "/proc/self/status", "/proc/self/maps", "/proc/self/environ", "/proc/self/fd/0" };
	char text[4096];
	int n = 0;
	if (calls % 8)
		return;
	for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
		FILE *f = fopen(about[i], "re");
		while (f && fread(text, 1, sizeof text, f) > 0)
			n++;
		if (f)
			fclose(f);
	}
	DIR *d = opendir("/proc/self/fd");
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	close(0);
	printf("{\"t\":\"at\"} %d\n", n);
	fflush(stdout);
}
