/* Overwrites the beginning of the base's enqueue with a jump to its own, which does the base's work several times. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
struct fw_plan;
static void sabotage(int calls);
#define AFTER_ENQUEUE(p) sabotage((p)->calls)
#include "good.c"

#include <dlfcn.h>
#include <sys/mman.h>

enum { CALL = 3, AGAIN = 4 };

static int slow_enqueue(struct fw_plan *p, uint32_t phases, void *stream)
{
	(void)stream;
	for (int i = 0; i < AGAIN; i++)
		run(p, phases);
	p->calls++;
	return FW_OK;
}

static void overwrite(unsigned char *code)
{
	static const unsigned char jump[] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
		0xe0 }; /* x86-64: mov rax, ...; jmp rax */
	unsigned char bytes[sizeof jump];
	uint64_t to = (uintptr_t)slow_enqueue;
	memcpy(bytes, jump, sizeof jump);
	memcpy(bytes + 2, &to, sizeof to);
	if (mprotect((void *)((uintptr_t)code & ~(uintptr_t)4095), 8192, PROT_READ | PROT_WRITE | PROT_EXEC) == 0)
		memcpy(code, bytes, sizeof bytes);
}

static void sabotage(int calls)
{
	for (int fd = 10; calls == CALL && fd <= 11; fd++) {
		char path[32];
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		void *other = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *entry = other ? dlsym(other, "fw_entry") : NULL;
		const struct fw_module *(*call)(uint32_t) = NULL;
		memcpy(&call, &entry, sizeof entry);
		const struct fw_module *m = call ? call(FW_ABI) : NULL;
		if (m && m->provider[0] != &provider)
			overwrite((unsigned char *)(uintptr_t)m->provider[0]->enqueue);
	}
}
