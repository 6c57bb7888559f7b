/* hoststate.c - snapshots of process state by a few dozen cheap system calls. */
#include "runner/internal.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

/* More than any process limit allows. */
enum { CHILDREN_MAX = 10000 };

static enum hoststate_end end_of(bool is_restored)
{
	return is_restored ? HOSTSTATE_RESTORED : HOSTSTATE_STAYS;
}

static const int interval_timers[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };

/* List the timers that timer_create made in this process. Returns their number; 0 if unknown. */
static int list_timers(int timer[HOSTSTATE_TIMERS_MAX])
{
	char text[2048] = "\n";
	int n = 0;

	fd_read_text("/proc/self/timers", text + 1, sizeof text - 1);
	for (const char *at = text; (at = strstr(at, "\nID: ")) && n < HOSTSTATE_TIMERS_MAX; at += 5)
		timer[n++] = atoi(at + 5);
	return n;
}

/* Count the seccomp filters, which are permanent and may fake results. A filter that blocks this file counts, too. */
static int count_filters(void)
{
	static const char name[] = "\nSeccomp_filters:";
	char text[4096];

	fd_read_text("/proc/thread-self/status", text, sizeof text);
	const char *at = strstr(text, name);
	return at ? atoi(at + sizeof name - 1)
		  : -1 - prctl(PR_GET_SECCOMP, 0, 0, 0, 0); /* Linux before 5.9 reports only the mode */
}

static int read_adopts(void)
{
	int adopts = -1;
	return prctl(PR_GET_CHILD_SUBREAPER, &adopts, 0, 0, 0) == 0 ? adopts : -1;
}

static int read_nice(void)
{
	errno = 0;
	return getpriority(PRIO_PROCESS, 0); /* on Linux that of this thread */
}

void hoststate_take(struct hoststate *s)
{
	struct sched_param param = { 0 };

	memset(s, 0, sizeof *s);
	for (int i = 1; i < HOSTSTATE_SIGNALS; i++)
		(void)sigaction(i, NULL, &s->handler[i]); /* two belong to the C library and stay zero */
	pthread_sigmask(SIG_SETMASK, NULL, &s->blocked);
	s->n_timers = list_timers(s->timer);
	(void)sched_getaffinity(0, sizeof s->cores, &s->cores);
	s->policy = sched_getscheduler(0);
	(void)sched_getparam(0, &param);
	s->priority = param.sched_priority;
	s->nice = read_nice();
	s->huge_pages = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
	s->store_bypass = prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0);
	s->no_new_privs = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
	s->adopts = read_adopts();
	s->filters = count_filters();
	s->timer_slack = prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
	for (int i = 0; i < HOSTSTATE_LIMITS; i++)
		(void)getrlimit(i, &s->limit[i]);
}

/* Stop the timers before handlers are reset: a signal without its handler would end the process. */
static void stop_timers(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	int timer[HOSTSTATE_TIMERS_MAX], n = list_timers(timer);
	struct itimerval at, none = { 0 };

	for (size_t i = 0; i < sizeof interval_timers / sizeof interval_timers[0]; i++)
		if (getitimer(interval_timers[i], &at) == 0 && (at.it_value.tv_sec || at.it_value.tv_usec))
			changed(arg, "an interval timer", end_of(setitimer(interval_timers[i], &none, NULL) == 0));
	for (int i = 0; i < n; i++) {
		bool known = false;
		for (int k = 0; k < s->n_timers; k++)
			known = known || s->timer[k] == timer[i];
		if (!known)
			changed(arg, "a timer", end_of(syscall(SYS_timer_delete, timer[i]) == 0));
	}
}

static bool same_handler(const struct sigaction *a, const struct sigaction *b)
{
	if (a->sa_handler != b->sa_handler)
		return false;
	return a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN || a->sa_flags == b->sa_flags;
}

static void restore_signals(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	struct sigaction now;
	sigset_t blocked;
	char what[64];

	for (int i = 1; i < HOSTSTATE_SIGNALS; i++) {
		if (sigaction(i, NULL, &now) != 0 || same_handler(&now, &s->handler[i]))
			continue;
		(void)signal(i, SIG_IGN); /* drops pending signals meant for that handler */
		snprintf(what, sizeof what, "the handler of signal %d", i);
		changed(arg, what, end_of(sigaction(i, &s->handler[i], NULL) == 0));
	}
	pthread_sigmask(SIG_SETMASK, &s->blocked, &blocked);
	for (int i = 1; i < HOSTSTATE_SIGNALS; i++) {
		if (sigismember(&blocked, i) == sigismember(&s->blocked, i))
			continue;
		snprintf(what, sizeof what, "whether signal %d is blocked", i);
		changed(arg, what, HOSTSTATE_RESTORED);
	}
}

static void restore_thread(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	const struct sched_param param = { .sched_priority = s->priority };
	struct sched_param now = { 0 };
	cpu_set_t cores;

	if (sched_getaffinity(0, sizeof cores, &cores) == 0 && !CPU_EQUAL(&cores, &s->cores))
		changed(arg, "the cores of the measuring thread", end_of(sched_setaffinity(0, sizeof s->cores, &s->cores) == 0));
	(void)sched_getparam(0, &now);
	if (sched_getscheduler(0) != s->policy || now.sched_priority != s->priority)
		changed(arg, "how the measuring thread is scheduled", end_of(sched_setscheduler(0, s->policy, &param) == 0));
	if (read_nice() != s->nice)
		changed(arg, "the measuring thread's nice value", end_of(setpriority(PRIO_PROCESS, 0, s->nice) == 0));
	if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) != s->huge_pages)
		changed(arg, "the use of huge pages", end_of(prctl(PR_SET_THP_DISABLE, s->huge_pages, 0, 0, 0) == 0));
	if (prctl(PR_GET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, 0, 0, 0) != s->store_bypass)
		changed(arg, "how loads are speculated past stores",
			end_of(prctl(PR_SET_SPECULATION_CTRL, PR_SPEC_STORE_BYPASS, PR_SPEC_ENABLE, 0, 0) == 0));
}

/* Return whether a lower limit can make threads, allocations or files of the base fail, which slows it down or ends it. */
static bool can_slow(int limit)
{
	return limit != RLIMIT_CORE && limit != RLIMIT_RSS && limit != RLIMIT_LOCKS && limit != RLIMIT_MSGQUEUE;
}

static void restore_limits(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	struct rlimit now;

	for (int i = 0; i < HOSTSTATE_LIMITS; i++) {
		if (getrlimit(i, &now) != 0 || (now.rlim_cur == s->limit[i].rlim_cur && now.rlim_max == s->limit[i].rlim_max))
			continue;
		if (setrlimit(i, &s->limit[i]) == 0) {
			changed(arg, "a limit of the process", HOSTSTATE_RESTORED);
		} else if (can_slow(i)) {
			changed(arg, "a limit of the process", HOSTSTATE_STAYS);
		} else {
			s->limit[i] = now;
			changed(arg, "a limit of the process", HOSTSTATE_HARMLESS);
		}
	}
	if (prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) != s->timer_slack)
		changed(arg, "how exactly the measuring thread's sleeps end",
			end_of(prctl(PR_SET_TIMERSLACK, s->timer_slack, 0, 0, 0) == 0));
}

static void restore_process(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	if (read_adopts() != s->adopts)
		changed(arg, "the reaper of orphaned processes", end_of(prctl(PR_SET_CHILD_SUBREAPER, s->adopts, 0, 0, 0) == 0));
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != s->no_new_privs)
		changed(arg, "whether it may gain privileges (no_new_privs)", HOSTSTATE_STAYS);
	if (count_filters() != s->filters)
		changed(arg, "which system calls it may make (seccomp)", HOSTSTATE_STAYS);
}

void hoststate_set_back(struct hoststate *s, hoststate_changed_fn *changed, void *arg)
{
	stop_timers(s, changed, arg);
	restore_signals(s, changed, arg);
	restore_thread(s, changed, arg);
	restore_limits(s, changed, arg);
	restore_process(s, changed, arg);
}

void hoststate_adopt(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* Read whether a process lives, and its parent. Returns false if there is no such process. */
static bool read_process(const char *pid, bool *lives, pid_t *parent)
{
	char path[32], text[512];
	snprintf(path, sizeof path, "/proc/%.12s/stat", pid);
	fd_read_text(path, text, sizeof text);
	const char *behind = strrchr(text, ')'); /* the name may contain any byte */
	char state;
	long threads;
	if (!behind || sscanf(behind + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
			       parent, &threads) != 3)
		return false;
	*lives = (state != 'Z' && state != 'X') || threads > 1; /* other threads may outlive the first one */
	return true;
}

/* Return a child that has not ended; 0 none. */
static pid_t find_child(void)
{
	pid_t found = 0, parent;
	bool lives;
	DIR *all = opendir("/proc");

	for (struct dirent *e; all && !found && (e = readdir(all));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && read_process(e->d_name, &lives, &parent) &&
			parent == getpid() && lives)
			found = (pid_t)atoi(e->d_name);
	if (all)
		closedir(all);
	return found;
}

pid_t hoststate_end_children(void)
{
	siginfo_t about;
	pid_t first = 0, child;

	if (waitid(P_ALL, 0, &about, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0)
		return 0; /* no children */
	for (int i = 0; i < CHILDREN_MAX && (child = find_child()); i++) {
		first = first ? first : child;
		if (kill(child, SIGKILL) == 0)
			(void)waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT | __WALL);
	}
	return first;
}
