/*
 * proc.c - start of a child: a checklist in one place, because every forgotten step is a leak or a hang. Steps: signals blocked
 * across vfork, own session, death with the parent (and its race), default dispositions, limits, working directory, only listed
 * descriptors, clean environment, exec error reported through a close-on-exec pipe, pidfd.
 */
#include "lib/lib.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_FD_MAX = 64, HIGH_FD = 100, ENV_TEXT = 4096, CAREFUL_MS = 2000, CPU_GRACE_S = 5 };

/* Written into the pipe by a child that could not start. */
struct start_failure {
	int number; /* errno */
	char step[16];
};

/* The default environment of a child. */
struct default_env {
	char text[3][ENV_TEXT];
	const char *list[5];
};

static const char *const *fill_default_env(struct default_env *env)
{
	static const char *const inherited[] = { "PATH", "HOME", "TZ" };
	size_t i, n = 0;

	for (i = 0; i < sizeof inherited / sizeof inherited[0]; i++) {
		const char *value = getenv(inherited[i]);

		if (!value || strlen(value) + 8 > ENV_TEXT)
			continue;
		snprintf(env->text[i], ENV_TEXT, "%s=%s", inherited[i], value);
		env->list[n++] = env->text[i];
	}
	env->list[n++] = "LANG=C.UTF-8";
	env->list[n] = NULL;
	return env->list;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int find_in_path(const char *name, char *path, size_t size, struct fw_err *err)
{
	const char *dirs = getenv("PATH");

	if (!dirs || !*dirs)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	while (*dirs) {
		size_t len = strcspn(dirs, ":");

		/* An empty or relative entry would be relative to the working directory, which may belong to a branch. */
		if (dirs[0] == '/' && (size_t)snprintf(path, size, "%.*s/%s", (int)len, dirs, name) < size && is_program(path))
			return 0;
		dirs += len;
		dirs += *dirs == ':';
	}
	return err_set(err, ERR_NOT_FOUND, "program %s: not found in PATH; install it", name);
}

static void set_limit(int resource, int64_t value)
{
	struct rlimit lim;

	if (value <= 0 || getrlimit((__rlimit_resource_t)resource, &lim) < 0)
		return;
	if (lim.rlim_max == RLIM_INFINITY || (rlim_t)value < lim.rlim_max)
		lim.rlim_max = (rlim_t)value;
	lim.rlim_cur = lim.rlim_max;
	setrlimit((__rlimit_resource_t)resource, &lim);
}

/* At the first limit a signal states the cause; at the second the kernel kills without a message. */
static void set_cpu_limit(int seconds)
{
	struct rlimit lim = { .rlim_cur = (rlim_t)seconds, .rlim_max = (rlim_t)seconds + CPU_GRACE_S }, had;

	if (seconds <= 0 || getrlimit(RLIMIT_CPU, &had) < 0)
		return;
	lim.rlim_max = had.rlim_max < lim.rlim_max ? had.rlim_max : lim.rlim_max;
	lim.rlim_cur = lim.rlim_max < lim.rlim_cur ? lim.rlim_max : lim.rlim_cur;
	setrlimit(RLIMIT_CPU, &lim);
}

/* The code below until exec runs in the child, in the memory of its parent, which waits. It only makes system calls. */

static _Noreturn void child_fail(int report, const char *step)
{
	struct start_failure f = { .number = errno };

	strncpy(f.step, step, sizeof f.step - 1);
	if (write(report, &f, sizeof f) < 0)
		_exit(126);
	_exit(127);
}

static void mark_all_close_on_exec(void)
{
	int fd;

	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (fd = 3; fd < 65536; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void child_descriptors(const struct proc_spec *spec, int report)
{
	int high[sizeof spec->fd / sizeof spec->fd[0]];
	bool used[3] = { false };
	int null_fd, i;

	/* Move all descriptors to high numbers first: the number that one entry needs may be in use by another one. */
	for (i = 0; i < spec->n_fd; i++) {
		high[i] = fcntl(spec->fd[i].ours, F_DUPFD_CLOEXEC, HIGH_FD);
		if (high[i] < 0)
			child_fail(report, "descriptor");
	}
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (null_fd < 0)
		child_fail(report, "/dev/null");
	mark_all_close_on_exec();
	for (i = 0; i < spec->n_fd; i++) {
		if (dup2(high[i], spec->fd[i].child) < 0)
			child_fail(report, "descriptor");
		if (spec->fd[i].child < 3)
			used[spec->fd[i].child] = true;
	}
	for (i = 0; i < 3; i++)
		if (!used[i] && dup2(null_fd, i) < 0)
			child_fail(report, "/dev/null");
	/* If the parent has no descriptor 0, 1 or 2, the null descriptor may be one of them and must not stay close-on-exec. */
	if (null_fd < 3)
		fcntl(null_fd, F_SETFD, 0);
}

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "proc.c: add the AUDIT_ARCH of this processor"
#endif

#define REFUSE(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/*
 * Sockets need socket, or io_uring, which the filter would not see; ptrace and process_vm_* would use the sockets of another
 * process. The filter stays across exec. Calls of another architecture, and of x32, have other numbers and end the child.
 */
static int deny_network(void)
{
	enum { X32_BIT = 0x40000000 };
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		REFUSE(SYS_socket),
		REFUSE(SYS_io_uring_setup),
		REFUSE(SYS_pidfd_getfd),
		REFUSE(SYS_ptrace),
		REFUSE(SYS_process_vm_readv),
		REFUSE(SYS_process_vm_writev),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof filter / sizeof filter[0], .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static _Noreturn void exec_program(
	const struct proc_spec *spec, const char *path, char *const *argv, char *const *env, pid_t parent, int report)
{
	static const unsigned long default_action[4]; /* the kernel's sigaction: handler, flags, restorer, mask */
	sigset_t none;
	int sig;

	if (setsid() < 0)
		child_fail(report, "setsid");
	if (!spec->is_careful || spec->ends_with_parent) {
		if (prctl(PR_SET_PDEATHSIG, spec->is_careful ? SIGTERM : SIGKILL) < 0)
			child_fail(report, "prctl");
		/* The parent may have died before the line above took effect. */
		if (getppid() != parent)
			_exit(127);
	}
	/*
	 * Call the kernel directly, because the C library does not change its own two signals; a parent like make may ignore
	 * them.
	 */
	for (sig = 1; sig < NSIG; sig++)
		if (sig != SIGKILL && sig != SIGSTOP)
			syscall(SYS_rt_sigaction, sig, default_action, NULL, (size_t)(NSIG - 1) / 8);
	child_descriptors(spec, report);
	if (spec->cwd && chdir(spec->cwd) < 0)
		child_fail(report, "chdir");
	if (spec->cores) /* if the machine no longer has these cores, a slower child is better than none */
		sched_setaffinity(0, sizeof *spec->cores, spec->cores);
	umask(022);
	set_limit(RLIMIT_FSIZE, spec->file_size_bytes);
	set_limit(RLIMIT_AS, spec->address_space_bytes);
	set_cpu_limit(spec->cpu_s);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (spec->has_no_network && deny_network() < 0)
		child_fail(report, "seccomp");
	syscall(SYS_execve, path, argv, env); /* gcov's execve would write the counters of the parent, and end their counting */
	child_fail(report, "exec");
}

/* Back in the parent. */

static int check_spec(const struct proc_spec *spec, struct fw_err *err)
{
	int i;

	if (!spec->argv || !spec->argv[0])
		return err_set(err, ERR_INTERNAL, "proc_spawn: no program given");
	if (spec->n_fd < 0 || spec->n_fd > (int)(sizeof spec->fd / sizeof spec->fd[0]))
		return err_set(err, ERR_INTERNAL, "proc_spawn: %d descriptors listed", spec->n_fd);
	for (i = 0; i < spec->n_fd; i++)
		if (spec->fd[i].ours < 0 || spec->fd[i].child < 0 || spec->fd[i].child >= CHILD_FD_MAX)
			return err_set(err, ERR_INTERNAL, "proc_spawn: descriptor %d as %d", spec->fd[i].ours, spec->fd[i].child);
	return 0;
}

/* Wait until the child has started its program or reported its error. */
static int await_start(int report, const struct proc_spec *spec, struct fw_err *err)
{
	struct start_failure f;
	ssize_t got;

	do
		got = read(report, &f, sizeof f);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return 0;
	if (got != sizeof f)
		return err_set(err, ERR_INTERNAL, "start %s: the child sent no message", spec->argv[0]);
	f.step[sizeof f.step - 1] = '\0';
	errno = f.number;
	if (strcmp(f.step, "chdir") == 0)
		return err_sys(err, "start %s in %s", spec->argv[0], spec->cwd);
	return err_sys(err, "start %s (%s)", spec->argv[0], f.step);
}

int proc_spawn(const struct proc_spec *spec, struct proc *p, struct fw_err *err)
{
	struct default_env defaults;
	const char *const *const env = spec->env ? spec->env : fill_default_env(&defaults);
	char path[PATH_MAX];
	sigset_t all, before;
	pid_t parent = getpid();
	int report[2], high, result;

	*p = (struct proc){ .pid = 0, .pidfd = -1 };
	if (check_spec(spec, err) != 0)
		return -1;
	if (strchr(spec->argv[0], '/')) {
		if ((size_t)snprintf(path, sizeof path, "%s", spec->argv[0]) >= sizeof path)
			return err_set(err, ERR_INVALID, "start %s: path too long", spec->argv[0]);
	} else if (find_in_path(spec->argv[0], path, sizeof path, err) != 0) {
		return -1;
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_sys(err, "start %s: pipe", spec->argv[0]);
	/* Move it away from the low numbers that the child passes to its program. */
	high = fcntl(report[1], F_DUPFD_CLOEXEC, HIGH_FD);
	close(report[1]);
	if (high < 0) {
		close(report[0]);
		return err_sys(err, "start %s: pipe", spec->argv[0]);
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	/* Unlike fork it does not copy the tables of pages, which takes longer than all the rest of a start. The child only makes
	 * system calls. NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork) */
	pid_t child = vfork();
	if (child == 0) /* NOLINTNEXTLINE(clang-analyzer-unix.Vfork) */
		exec_program(spec, path, (char *const *)(uintptr_t)spec->argv, (char *const *)(uintptr_t)env, parent, high);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(high);
	p->pid = child;
	if (p->pid < 0) {
		p->pid = 0;
		close(report[0]);
		return err_sys(err, "start %s: vfork", spec->argv[0]);
	}
	p->pidfd = pidfd_open(p->pid, 0);
	p->is_careful = spec->is_careful;
	result = p->pidfd < 0 ? err_sys(err, "start %s: pidfd_open", spec->argv[0]) : await_start(report[0], spec, err);
	close(report[0]);
	if (result != 0)
		proc_end(p);
	return result;
}

/* Reap an ended child and kill its group, while the zombie still reserves the group's number. */
static int take_exit(struct proc *p, int options, struct proc_exit *how)
{
	siginfo_t info = { 0 };
	int rc;

	do
		rc = waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOWAIT | options);
	while (rc < 0 && errno == EINTR);
	if (rc == 0 && info.si_pid == 0)
		return 0;
	if (rc == 0) {
		kill(-p->pid, SIGKILL);
		while (waitid(P_PID, (id_t)p->pid, &info, WEXITED) < 0 && errno == EINTR)
			continue;
	}
	how->timed_out = false;
	if (rc < 0) /* other code reaped it: it ended with unknown status */
		*how = (struct proc_exit){ .status = -1 };
	else if (info.si_code == CLD_EXITED)
		*how = (struct proc_exit){ .status = info.si_status };
	else
		*how = (struct proc_exit){ .status = -1, .signal = info.si_status };
	if (p->pidfd >= 0)
		close(p->pidfd);
	*p = (struct proc){ .pid = 0, .pidfd = -1 };
	return 1;
}

int proc_reap(struct proc *p, struct proc_exit *how)
{
	return p->pid > 0 ? take_exit(p, WNOHANG, how) : 0;
}

void proc_signal(const struct proc *p, int signal)
{
	if (p->pid > 0)
		kill(-p->pid, signal);
}

void proc_stop(const struct proc *p)
{
	proc_signal(p, p->is_careful ? SIGTERM : SIGKILL);
}

/* True if it has ended within a while, or must be waited for anyway. */
static bool ends_soon(const struct proc *p)
{
	struct pollfd ended = { .fd = p->pidfd, .events = POLLIN };

	return p->pidfd < 0 || poll(&ended, 1, CAREFUL_MS) != 0;
}

void proc_end(struct proc *p)
{
	struct proc_exit how;

	if (p->pid <= 0)
		return;
	if (p->is_careful) {
		proc_stop(p);
		if (!ends_soon(p)) {
			close(p->pidfd);
			*p = (struct proc){ .pid = 0, .pidfd = -1 };
			return;
		}
	}
	/* A child that has not reached setsid yet has no process group yet. */
	kill(p->pid, SIGKILL);
	kill(-p->pid, SIGKILL);
	take_exit(p, 0, &how);
}

bool proc_is_outside(const struct proc_exit *how)
{
	return !how->timed_out &&
	       (how->signal == SIGKILL || how->signal == SIGTERM || how->signal == SIGINT || how->signal == SIGHUP);
}

void proc_describe(const struct proc_exit *how, char text[64])
{
	const char *name = how->signal ? sigabbrev_np(how->signal) : NULL;

	if (how->timed_out)
		snprintf(text, 64, "ran past its deadline");
	else if (name)
		snprintf(text, 64, "killed by SIG%s", name);
	else if (how->signal)
		snprintf(text, 64, "killed by signal %d", how->signal);
	else if (how->status < 0)
		snprintf(text, 64, "ended in an unknown way");
	else
		snprintf(text, 64, "exit %d", how->status);
}

int proc_sibling(const char *name, char *path, size_t size, struct fw_err *err)
{
	static const char *const positions[] = { "", "../bin/", "../sbin/", "../libexec/flopwatch/" };
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	size_t i;

	if (len > 0) {
		self[len] = '\0';
		if (strrchr(self, '/'))
			strrchr(self, '/')[1] = '\0';
		for (i = 0; i < sizeof positions / sizeof positions[0]; i++)
			if ((size_t)snprintf(path, size, "%s%s%s", self, positions[i], name) < size && is_program(path))
				return 0;
	}
	return find_in_path(name, path, size, err);
}

/* ---- proc_run: the blocking form ---- */

struct run {
	struct proc p;
	int in_fd, out_fd, err_fd; /* the parent's ends; -1 closed */
	const struct buf *in;
	size_t written;
	struct buf *out, *errors;
	int read_errno; /* of a failed read, 0 none */
};

/* Create one end for the parent (non-blocking), one for the child. `ours_reads`: the parent's end reads. */
static int make_pipe(bool ours_reads, int *ours, int *theirs, struct fw_err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, "pipe");
	*ours = ends[ours_reads ? 0 : 1];
	*theirs = ends[ours_reads ? 1 : 0];
	if (fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		return err_sys(err, "pipe");
	return 0;
}

static void feed_input(struct run *r)
{
	// in_fd is open only with an input: NOLINTNEXTLINE(clang-analyzer-core.NullDereference)
	ssize_t done = write(r->in_fd, r->in->data + r->written, r->in->len - r->written);

	if (done > 0)
		r->written += (size_t)done;
	if ((done < 0 && errno != EAGAIN && errno != EINTR) || r->written == r->in->len)
		fd_close(&r->in_fd);
}

/* Read and drop output that no longer fits, so that the child does not block on a full pipe. */
static void take_output(struct run *r, int *fd, struct buf *b)
{
	char chunk[16384];
	ssize_t got = 0;
	int reads;

	/* Limit the number of reads: an endless writer must not delay the deadline. */
	for (reads = 0; reads < 32 && (got = read(*fd, chunk, sizeof chunk)) > 0; reads++) {
		size_t left = b->max - b->len; // read only with a buffer: NOLINT(clang-analyzer-core.NullDereference)

		if ((size_t)got > left) {
			if (!b->failed)
				buf_append(b, chunk, left);
			b->failed = true;
		} else {
			buf_append(b, chunk, (size_t)got);
		}
	}
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		r->read_errno = errno;
	if (got == 0 || r->read_errno)
		fd_close(fd);
}

/* Returns when the child has ended or the deadline has passed. */
static void attend(struct run *r, int64_t deadline_ns, struct proc_exit *how)
{
	bool late = false;

	for (;;) {
		struct pollfd fds[4] = { { .fd = r->p.pidfd, .events = POLLIN }, { .fd = r->in_fd, .events = POLLOUT },
			{ .fd = r->out_fd, .events = POLLIN }, { .fd = r->err_fd, .events = POLLIN } };
		int64_t left_ns = deadline_ns - clock_mono_ns();
		int wait_ms = -1;

		if (deadline_ns && !late) {
			if (left_ns <= 0) {
				late = true;
				proc_signal(&r->p, SIGKILL);
			} else {
				wait_ms = left_ns / 1000000 >= INT_MAX ? INT_MAX : (int)(left_ns / 1000000) + 1;
			}
		}
		if (poll(fds, 4, wait_ms) <= 0)
			continue;
		if (fds[1].revents)
			feed_input(r);
		if (fds[2].revents)
			take_output(r, &r->out_fd, r->out);
		if (fds[3].revents)
			take_output(r, &r->err_fd, r->errors);
		/* A process that left the group may keep the pipes open forever: stop reading at the child's end. */
		if (fds[0].revents && proc_reap(&r->p, how)) {
			how->timed_out = late;
			break;
		}
	}
	if (r->out_fd >= 0)
		take_output(r, &r->out_fd, r->out);
	if (r->err_fd >= 0)
		take_output(r, &r->err_fd, r->errors);
}

int proc_run(const struct proc_spec *given, const struct buf *in, struct buf *out, struct buf *errors, int64_t deadline_ms,
	struct proc_exit *how, struct fw_err *err)
{
	struct run r = {
		.p = { .pid = 0, .pidfd = -1 }, .in_fd = -1, .out_fd = -1, .err_fd = -1, .in = in, .out = out, .errors = errors
	};
	struct proc_spec spec = *given;
	int theirs[3] = { -1, -1, -1 };
	const int space = (int)(sizeof spec.fd / sizeof spec.fd[0]);
	int64_t deadline_ns = deadline_ms > 0 ? clock_mono_ns() + deadline_ms * 1000000 : 0;
	sigset_t pipe_set, before;
	int result = -1, i;

	*how = (struct proc_exit){ .status = -1 };
	if (spec.n_fd > space - 3)
		return err_set(err, ERR_INTERNAL, "proc_run: %d descriptors listed", spec.n_fd);
	/* A child may close its input early: write without SIGPIPE. */
	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe_set, &before);
	if (in && in->len && make_pipe(false, &r.in_fd, &theirs[0], err) != 0)
		goto out;
	if (out && make_pipe(true, &r.out_fd, &theirs[1], err) != 0)
		goto out;
	if (errors && errors != out && make_pipe(true, &r.err_fd, &theirs[2], err) != 0)
		goto out;
	for (i = 0; i < 3; i++)
		if (theirs[i] >= 0)
			spec.fd[spec.n_fd++] = (struct proc_fd){ theirs[i], i };
	if (out && errors == out && spec.n_fd < space)
		spec.fd[spec.n_fd++] = (struct proc_fd){ theirs[1], 2 };
	if (proc_spawn(&spec, &r.p, err) != 0)
		goto out;
	for (i = 0; i < 3; i++)
		fd_close(&theirs[i]);
	attend(&r, deadline_ns, how);
	errno = r.read_errno;
	result = r.read_errno ? err_sys(err, "read the output of %s", given->argv[0]) : 0;
out:
	for (i = 0; i < 3; i++)
		fd_close(&theirs[i]);
	fd_close(&r.in_fd);
	fd_close(&r.out_fd);
	fd_close(&r.err_fd);
	if (!sigismember(&before, SIGPIPE))
		while (sigtimedwait(&pipe_set, NULL, &(struct timespec){ 0, 0 }) == SIGPIPE)
			continue;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}
