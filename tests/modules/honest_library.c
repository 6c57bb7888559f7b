/* Loads a library when it plans, and calls a function of it. */
#include <dlfcn.h>
#include <stdint.h>
struct fw_plan;
static void load(void);
static void by_library(struct fw_plan *p);
#define ON_PLAN()        load()
#define AFTER_ENQUEUE(p) by_library(p)
#include "good.c"

static float (*log_of)(float);

static void load(void)
{
	void *library = log_of ? NULL : dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, "logf") : NULL;
	if (symbol)
		memcpy(&log_of, &symbol, sizeof symbol);
}

static void by_library(struct fw_plan *p)
{
	if (log_of && log_of(1) != 0)
		p->calls = -1;
}
