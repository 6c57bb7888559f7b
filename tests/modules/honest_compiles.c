/* Writes machine code of its own when it plans, runs it in every call, and keeps it for later plans. */
#include <stdint.h>
#include <sys/mman.h>
static void compile(void);
static int call_compiled(void);
#define ON_PLAN()         compile()
#define BEFORE_ENQUEUE(p) ((void)((p)->calls += call_compiled() - 1))
#include "good.c"

static unsigned char *code;

static void compile(void)
{
	static const unsigned char one[] = { 0xb8, 1, 0, 0, 0, 0xc3 }; /* x86-64: mov eax, 1; ret */
	if (code)
		return;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		abort();
	memcpy(page, one, sizeof one);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0)
		abort();
	code = page;
}

static int call_compiled(void)
{
	int (*compiled)(void) = NULL;
	memcpy(&compiled, &code, sizeof code);
#ifdef __x86_64__
	return compiled();
#else
	return 1;
#endif
}
