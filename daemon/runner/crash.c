/*
 * crash.c - crash handler on its own stack. Walking the stack takes locks that a dying process may hold, so a timer limits the
 * handler; at its end the process dies by the original signal.
 */
#include "runner/internal.h"

#include <execinfo.h>
#include <link.h>

enum { STACK_BYTES = 256 << 10, FRAMES_MAX = 32, WALK_S = 2 };

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static const char descriptor_path[] = "/proc/self/fd/"; /* path prefix of modules, and of no other library */
static volatile sig_atomic_t died_of;

static void die(int number)
{
	(void)number;
	signal(died_of, SIG_DFL);
	raise(died_of);
	sigset_t it;
	sigemptyset(&it);
	sigaddset(&it, died_of);
	sigprocmask(SIG_UNBLOCK, &it, NULL);
}

struct frame_address {
	uintptr_t address;
	bool is_exact; /* address of the instruction itself, not a return address */
};

static int print_if_inside(struct dl_phdr_info *object, size_t size, void *arg)
{
	const struct frame_address *p = arg;
	char line[128];

	(void)size;
	if (strncmp(object->dlpi_name, descriptor_path, sizeof descriptor_path - 1) != 0)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t start = object->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD || p->address < start || p->address - start >= segment->p_memsz)
			continue;
		int n = snprintf(line, sizeof line, "flopwatch: crash in %.40s at 0x%lx\n", object->dlpi_name,
			(unsigned long)(p->address - object->dlpi_addr - (p->is_exact ? 0 : 1)));
		(void)!write(STDERR_FILENO, line, (size_t)n);
		return 1;
	}
	return 0;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
	void *frame[FRAMES_MAX];

	(void)info;
	(void)context;
	died_of = number;
	signal(SIGALRM, die);
	alarm(WALK_S);
	int n = backtrace(frame, FRAMES_MAX);
	/* frame 0 is this function, frame 1 the signal trampoline, frame 2 the crashing instruction */
	for (int i = 2; i < n; i++) {
		struct frame_address at = { .address = (uintptr_t)frame[i], .is_exact = i == 2 };
		dl_iterate_phdr(print_if_inside, &at);
	}
	alarm(0);
	die(0);
}

void crash_watch(void)
{
	static char stack[STACK_BYTES];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	struct sigaction how = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER };
	void *frame[1];

	backtrace(frame, 1); /* the first call loads a library, which a dying process should not */
	sigaltstack(&own, NULL);
	sigemptyset(&how.sa_mask);
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		sigaction(fatal[i], &how, NULL);
}
