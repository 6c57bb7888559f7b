/* Installs its own system call filter before its first cell, which rejects the calls that it does not need. */
#include "unusual.h"

#include <linux/filter.h>
#include <linux/seccomp.h>

static int give_up(int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof code / sizeof code[0], .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : -1;
}

int main(void)
{
	if (give_up(SYS_ptrace) != 0 || give_up(SYS_fork) != 0 || give_up(SYS_setpriority) != 0)
		return 1;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	FLOPWATCH("sandboxed", 1e6, 0)
	{
		do_work(4000);
	}
	return 0;
}
