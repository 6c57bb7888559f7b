/* mem.c - allocations of sizes that flopwatch itself bounds: if memory is exhausted, the program ends. */
#include "lib/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *ended_program; /* NULL: abort */
static int ended_status;

void mem_end_program(const char *program, int status)
{
	ended_program = program;
	ended_status = status;
}

/* Without stdio, whose buffers may need memory. `size` 0: unknown. */
static void print(size_t size)
{
	char line[160], bytes[40] = "";
	int len;

	if (size)
		snprintf(bytes, sizeof bytes, ": %zu bytes", size);
	len = snprintf(line, sizeof line, "%s%sout of memory%s%s\n", ended_program ? ended_program : "",
		ended_program ? ": " : "", bytes, ended_program ? "; free memory on this machine and try again" : "");
	if (write(STDERR_FILENO, line, (size_t)len) != len)
		abort();
}

void mem_end_if_asked(size_t size)
{
	if (!ended_program)
		return;
	print(size);
	_exit(ended_status);
}

static _Noreturn void fail(size_t size)
{
	mem_end_if_asked(size);
	print(size);
	abort();
}

void buf_require_memory(const struct buf *b)
{
	if (b->is_out_of_memory)
		fail(b->cap ? 2 * b->cap : 64);
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
