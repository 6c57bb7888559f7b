/* keyring.c - a child process that becomes the build user to clear its keyrings. */
#include "worker/sandbox/sandbox.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static long request(long what, long a, long b)
{
	return syscall(SYS_keyctl, what, a, b, 0, 0);
}

/* Uses only async-signal-safe calls. They fail on a kernel without keyrings, which has nothing to clear. */
static void clear_as_nobody(void)
{
	long persistent;

	if (syscall(SYS_setgroups, 0, NULL) < 0 || syscall(SYS_setresgid, SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY) < 0 ||
		syscall(SYS_setresuid, SANDBOX_NOBODY, SANDBOX_NOBODY, SANDBOX_NOBODY) < 0)
		return;
	request(KEYCTL_JOIN_SESSION_KEYRING, 0, 0);
	request(KEYCTL_CLEAR, KEY_SPEC_USER_KEYRING, 0);
	request(KEYCTL_CLEAR, KEY_SPEC_USER_SESSION_KEYRING, 0);
	persistent = request(KEYCTL_GET_PERSISTENT, -1, KEY_SPEC_PROCESS_KEYRING);
	if (persistent > 0)
		request(KEYCTL_CLEAR, persistent, 0);
}

void keyring_clear(const struct sandbox *s)
{
	pid_t pid = s->drops_root ? fork() : -1;

	if (pid == 0) {
		clear_as_nobody();
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}
