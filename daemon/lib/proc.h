/**
 * proc.h - the one way to start a child: argument vector, clean environment, listed descriptors, a pidfd.
 *
 * The child gets: its own session and process group, default signal dispositions and an empty mask, only the descriptors
 * that were listed, the environment that was given and nothing else, rlimits, and death when the parent dies. There is no
 * shell anywhere. A deadline is the caller's duty: proc_run has one built in, loops watch the pidfd and a timer.
 */
#ifndef LIB_PROC_H
#define LIB_PROC_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/buf.h"
#include "lib/err.h"

struct proc_fd {
	int ours, child;
}; /* `ours` appears as descriptor `child`; not closed in the parent */

struct proc_spec {
	const char *const *argv; /* NULL-ended; argv[0] is looked up in PATH when it holds no slash */
	const char *const *env;  /* NULL-ended "NAME=value"; NULL: PATH, HOME, LANG=C.UTF-8 and TZ of the parent only */
	const char *cwd;         /* NULL: the parent's */
	struct proc_fd fd[16];   /* 0, 1, 2 not listed become /dev/null */
	int n_fd;
	int64_t file_size_bytes;     /* RLIMIT_FSIZE; 0: no limit */
	int64_t address_space_bytes; /* RLIMIT_AS; 0: no limit; never for a CUDA process */
	int cpu_s;                   /* RLIMIT_CPU; 0: no limit */
	bool is_careful; /* it changes what is not ours: asked to end (SIGTERM) and not killed, also when the parent dies */
	const cpu_set_t *cores; /* that it may use; NULL: the parent's */
};

struct proc {
	pid_t pid; /* 0: none */
	int pidfd; /* -1: none */
	bool is_careful;
};

/** How a child ended: exit status, or the signal that killed it. */
struct proc_exit {
	int status; /* exit code, -1 when signalled */
	int signal; /* 0 when it exited */
	bool timed_out;
};

/** What programs of ours exit with, beside 0 done, 1 error, 2 usage, where their caller has to tell errors apart. */
enum {
	PROC_EXIT_GONE = 3,  /* what was asked for is not there */
	PROC_EXIT_AGAIN = 75 /* the system said no; it may say yes later (EX_TEMPFAIL of sysexits.h) */
};

/** Start a child. Own: on success `p` must end in proc_reap or proc_end; on -1 nothing runs. */
int proc_spawn(const struct proc_spec *spec, struct proc *p, struct fw_err *err);
/** 1 and `how` when it has ended (the pidfd is closed), 0 when it still runs. Never blocks. */
int proc_reap(struct proc *p, struct proc_exit *how);
/** Signal the child's whole process group. */
void proc_signal(const struct proc *p, int signal);
/** SIGKILL the group, or SIGTERM where the child is careful; it is not waited for. */
void proc_stop(const struct proc *p);
/** proc_stop, and wait for the child; a careful one that is not done within 2 s goes on without us. Accepts a proc that is none. */
void proc_end(struct proc *p);
/**
 * Run to the end: feed `in` (may be NULL), collect stdout and stderr (NULL: not collected, /dev/null; the same buf for both
 * is allowed), kill the group at the deadline. Units: deadline_ms from now, 0 none. Output beyond a buf's max sets its `failed`. Err: -1 only when it could not be run at all.
 */
int proc_run(const struct proc_spec *spec, const struct buf *in, struct buf *out, struct buf *errors, int64_t deadline_ms,
	struct proc_exit *how, struct fw_err *err);
/** Whether it was ended by a signal that a program does not raise by a mistake of its own: want of memory, or somebody outside. */
bool proc_is_outside(const struct proc_exit *how);
/** "exit 2", "killed by SIGSEGV", "ran past its deadline". Shape: text[64]. */
void proc_describe(const struct proc_exit *how, char text[64]);
/** Path of a program of ours: beside the running executable, else in ../bin, ../sbin or ../libexec/flopwatch from there, else by PATH. Shape: path[size]. */
int proc_sibling(const char *name, char *path, size_t size, struct fw_err *err);

#endif
