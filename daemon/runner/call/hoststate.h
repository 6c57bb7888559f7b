/**
 * hoststate.h - what any module can change in the process that it shares, beside its device: signal handlers, blocked signals,
 * timers, the measuring thread's cores and priority, filters of system calls, children.
 *
 * A snapshot is what ought to be; hoststate_set_back brings that about and says what it found. Without a change it costs some
 * ten microseconds, so that it can be asked after every timed call.
 */
#ifndef RUNNER_CALL_HOSTSTATE_H
#define RUNNER_CALL_HOSTSTATE_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { HOSTSTATE_SIGNALS = 65, HOSTSTATE_TIMERS_MAX = 16 };

struct hoststate {
	struct sigaction handler[HOSTSTATE_SIGNALS]; /* [signal number] */
	sigset_t blocked;
	int n_timers; /* timers of the process that count or could: armed by somebody whose business they are */
	int timer[HOSTSTATE_TIMERS_MAX];
	cpu_set_t cores;
	int policy, priority, nice;
	int huge_pages, store_bypass; /* prctl: transparent huge pages are off; how stores are speculated past */
	int no_new_privs, adopts;     /* prctl: it can gain no privileges; orphans become its children */
	int filters; /* of system calls (seccomp), of the calling thread; below 0: the system does not show how many */
};

/** Of the calling thread and its process. */
void hoststate_take(struct hoststate *s);
/** One thing that was not as it should be: "its handler of signal 14". `back`: it is again. */
typedef void hoststate_changed_fn(void *arg, const char *what, bool back);
/** Compare with `s`, set back what differs, tell each. */
void hoststate_set_back(const struct hoststate *s, hoststate_changed_fn *changed, void *arg);

/** Children whose parent ends become ours, so that none is out of sight. Once, before any module is loaded. */
void hoststate_adopt(void);
/** End every child that still runs, or sleeps. Returns the number of one; 0: there was none. Those that have ended by themselves stay to be waited for. */
pid_t hoststate_end_children(void);

#endif
