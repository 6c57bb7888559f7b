/* saboteur.h - put a function in the place of one that the other modules of this process import. */
#ifndef TESTS_SABOTEUR_H
#define TESTS_SABOTEUR_H

#include "imports.h"

struct sabotage {
	const char *name;
	void *instead;
};

static int saboteur_visit(struct dl_phdr_info *object, size_t size, void *arg)
{
	const struct sabotage *s = arg;
	bool is_module = strncmp(object->dlpi_name, "/proc/self/fd/", 14) == 0, is_own = false;
	(void)size;
	for (int i = 0; is_module && i < object->dlpi_phnum; i++) {
		uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, here = (uintptr_t)saboteur_visit;
		is_own = is_own || (here >= begin && here < begin + object->dlpi_phdr[i].p_memsz);
	}
	if (is_module && !is_own)
		imports_replace(object, s->name, s->instead);
	return 0;
}

static void saboteur_replace(const char *name, void *instead)
{
	struct sabotage s = { name, instead };
	dl_iterate_phdr(saboteur_visit, &s);
}

#endif
