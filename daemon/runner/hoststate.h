/**
 * hoststate.h - process state that a module can change besides its device: signal handlers, blocked signals, timers, the
 * measuring thread's cores and priority, system call filters, children.
 *
 * A snapshot is the required state; hoststate_set_back restores it and reports differences. Without a difference that takes
 * some ten microseconds, so it can follow every timed call.
 */
#ifndef RUNNER_HOSTSTATE_H
#define RUNNER_HOSTSTATE_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { HOSTSTATE_SIGNALS = 65, HOSTSTATE_TIMERS_MAX = 16 };

struct hoststate {
	struct sigaction handler[HOSTSTATE_SIGNALS]; /* [signal number] */
	sigset_t blocked;
	int n_timers; /* armed timers of the process, with or without handle */
	int timer[HOSTSTATE_TIMERS_MAX];
	cpu_set_t cores;
	int policy, priority, nice;
	int huge_pages, store_bypass; /* prctl: transparent huge pages are off; speculative store bypass */
	int no_new_privs, adopts;     /* prctl: no new privileges; orphans become its children */
	int filters;                  /* seccomp filters of the calling thread; below 0: number unknown */
};

void hoststate_take(struct hoststate *s);
/** Report one difference, such as "its handler of signal 14". `back`: it was restored. */
typedef void hoststate_changed_fn(void *arg, const char *what, bool back);
/** Compare with `s`, restore what differs, and report each difference. */
void hoststate_set_back(const struct hoststate *s, hoststate_changed_fn *changed, void *arg);

/** Make orphaned descendants children of this process, so that none is hidden. Call once, before any module is loaded. */
void hoststate_adopt(void);
/** End every child that still runs or sleeps. Returns the pid of one; 0 none. Children that exited stay zombies. */
pid_t hoststate_end_children(void);

#endif
