/* library.c - see library.h. */
#include "common/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_open(struct library *l, const char *called, const char *const *places, const struct library_function *functions)
{
	void *handle = NULL;
	l->is_tried = true;
	for (; !handle && *places; places++)
		handle = dlopen(*places, RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		snprintf(l->why, sizeof l->why, "%s is not on this machine, or not on the loader's path", called);
		return false;
	}
	for (; functions->name; functions++) {
		void *const symbol = dlsym(handle, functions->name);
		if (!symbol) {
			snprintf(l->why, sizeof l->why, "%s has no %s", called, functions->name);
			return false;
		}
		memcpy(functions->function, &symbol, sizeof symbol); /* ISO C forbids the cast from an object pointer */
	}
	return true;
}
