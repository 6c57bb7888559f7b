/* mem.c - allocations of sizes that flopwatch itself bounds: if memory is exhausted, the program ends. */
#include "lib/lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without stdio, whose buffers may need memory. */
static _Noreturn void fail(size_t size)
{
	char line[64];
	int len = snprintf(line, sizeof line, "out of memory: %zu bytes\n", size);

	if (write(STDERR_FILENO, line, (size_t)len) != len)
		abort();
	abort();
}

void *mem_alloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		fail(size);
	return p;
}

void *mem_alloc_zero(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		fail(n > SIZE_MAX / size ? SIZE_MAX : n * size);
	return p;
}

void *mem_grow(void *p, size_t n, size_t size)
{
	void *grown = reallocarray(p, n ? n : 1, size);

	if (!grown)
		fail(n > SIZE_MAX / size ? SIZE_MAX : n * size);
	return grown;
}

void *mem_grow_one(void *p, size_t n, size_t size)
{
	return n & (n - 1) ? p : mem_grow(p, n ? 2 * n : 1, size);
}

char *mem_copy_text(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(mem_alloc(size), text, size);
}
