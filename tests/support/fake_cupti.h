/* fake_cupti.h - the script of the stand-in for the counter library, tests/modules/fake_cupti.c. */
#ifndef TESTS_FAKE_CUPTI_H
#define TESTS_FAKE_CUPTI_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* As in fake_cupti.c. */
static struct fake_cupti {
	char fails[64];
	int code;
	int skip;
	char hangs[64];
	char lacks[80];
	int passes, ranges, dropped;
	int never_done;
	int open, hosts, enabled, starts, metrics, add_calls;
	int range_mode, replay_mode;
	int sampling, samples_full, sample_calls, sample_mode;
	int tracing, traced, flushes;
} * fake;

static inline int load_fake(void **state)
{
	(void)state;
	void *library = dlopen("build/tests/modules/fake_cupti.so", RTLD_NOW | RTLD_LOCAL);
	fake = library ? dlsym(library, "fake_cupti") : NULL;
	return fake ? 0 : -1;
}

/* Three replays, two kernels. */
static inline int fresh_fake(void **state)
{
	(void)state;
	*fake = (struct fake_cupti){ .passes = 3, .ranges = 2 };
	return 0;
}

static inline void fake_fails(const char *function, int code)
{
	snprintf(fake->fails, sizeof fake->fails, "%s", function);
	fake->code = code;
}

#endif
