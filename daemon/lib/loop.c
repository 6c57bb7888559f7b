/* loop.c - one epoll set, one timerfd with a heap of deadlines, one signalfd; children are pidfds with a deadline. */
#include "lib/lib.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum source_kind { SOURCE_FD, SOURCE_TIMER, SOURCE_CHILD };
enum { SIGNALS_MAX = 65, BATCH = 64, NOT_IN_HEAP = -1 };

struct loop_source {
	enum source_kind kind;
	bool removed; /* freed at the end of the iteration: its events may still point here */
	int fd;
	loop_fn *on_event;
	loop_timer_fn *on_timer;
	loop_child_fn *on_child;
	void *arg;
	struct proc child;
	bool timed_out;
	int64_t due_ns;
	uint64_t number; /* order of creation, decides between equal deadlines */
	int heap_at;
	struct loop_source *previous, *next; /* list of all sources of the loop */
};

struct hook {
	loop_timer_fn *fn;
	void *arg;
};

struct loop {
	int epoll_fd, timer_fd, signal_fd;
	struct loop_source *all;
	bool has_removed;
	struct loop_source **heap;
	int n_heap, heap_cap;
	uint64_t next_number;
	int64_t armed_ns; /* deadline set in timer_fd; 0: none */
	sigset_t signals;
	struct hook on_signal[SIGNALS_MAX];
	loop_clock_fn *on_clock_set;
	void *clock_arg;
	int64_t clock_ahead_ms; /* wall clock minus the time since boot */
	bool stopped;
};

static bool is_earlier(const struct loop_source *a, const struct loop_source *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->number < b->number;
}

static void heap_put(struct loop *l, int at, struct loop_source *s)
{
	l->heap[at] = s;
	s->heap_at = at;
}

static void heap_up(struct loop *l, int at)
{
	struct loop_source *s = l->heap[at];
	while (at > 0 && is_earlier(s, l->heap[(at - 1) / 2])) {
		heap_put(l, at, l->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_put(l, at, s);
}

static void heap_down(struct loop *l, int at)
{
	struct loop_source *s = l->heap[at];
	for (;;) {
		int child = 2 * at + 1;
		if (child >= l->n_heap)
			break;
		if (child + 1 < l->n_heap && is_earlier(l->heap[child + 1], l->heap[child]))
			child++;
		if (!is_earlier(l->heap[child], s))
			break;
		heap_put(l, at, l->heap[child]);
		at = child;
	}
	heap_put(l, at, s);
}

static void heap_add(struct loop *l, struct loop_source *s)
{
	if (l->n_heap == l->heap_cap) {
		l->heap_cap = l->heap_cap ? 2 * l->heap_cap : 32;
		l->heap = mem_grow(l->heap, (size_t)l->heap_cap, sizeof(struct loop_source *));
	}
	heap_put(l, l->n_heap++, s);
	heap_up(l, s->heap_at);
}

static void heap_take(struct loop *l, struct loop_source *s)
{
	int at = s->heap_at;
	if (at == NOT_IN_HEAP)
		return;
	s->heap_at = NOT_IN_HEAP;
	struct loop_source *last = l->heap[--l->n_heap];
	if (last == s)
		return;
	heap_put(l, at, last);
	heap_up(l, at);
	heap_down(l, last->heap_at);
}

static struct loop_source *source_new(struct loop *l, enum source_kind kind, void *arg)
{
	struct loop_source *s = mem_alloc_zero(1, sizeof *s);
	s->kind = kind;
	s->fd = -1;
	s->arg = arg;
	s->heap_at = NOT_IN_HEAP;
	s->number = l->next_number++;
	s->next = l->all;
	if (l->all)
		l->all->previous = s;
	l->all = s;
	return s;
}

static void source_free(struct loop *l, struct loop_source *s)
{
	heap_take(l, s);
	if (s->previous)
		s->previous->next = s->next;
	else
		l->all = s->next;
	if (s->next)
		s->next->previous = s->previous;
	free(s);
}

static void source_retire(struct loop *l, struct loop_source *s)
{
	heap_take(l, s);
	s->removed = true;
	l->has_removed = true;
}

static void free_removed(struct loop *l)
{
	if (!l->has_removed)
		return;
	l->has_removed = false;
	for (struct loop_source *s = l->all, *next; s; s = next) {
		next = s->next;
		if (s->removed)
			source_free(l, s);
	}
}

static int epoll_put(struct loop *l, int op, int fd, uint32_t events, struct loop_source *s, struct fw_err *err)
{
	struct epoll_event e = { .events = events, .data.ptr = s };
	if (epoll_ctl(l->epoll_fd, op, fd, &e) != 0)
		return err_sys(err, "cannot watch descriptor %d", fd);
	return 0;
}

int loop_new(struct loop **out, struct fw_err *err)
{
	struct loop *l = mem_alloc_zero(1, sizeof *l);
	sigemptyset(&l->signals);
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	l->signal_fd = signalfd(-1, &l->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->epoll_fd < 0 || l->timer_fd < 0 || l->signal_fd < 0) {
		err_sys(err, "cannot create the event loop");
		loop_free(l);
		return -1;
	}
	/* The addresses of these fields identify the loop's own descriptors. */
	struct epoll_event timer = { .events = EPOLLIN, .data.ptr = &l->timer_fd };
	struct epoll_event sig = { .events = EPOLLIN, .data.ptr = &l->signal_fd };
	if (epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->timer_fd, &timer) != 0 ||
		epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, l->signal_fd, &sig) != 0) {
		err_sys(err, "cannot create the event loop");
		loop_free(l);
		return -1;
	}
	*out = l;
	return 0;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	while (l->all) {
		struct loop_source *s = l->all;
		// source_free takes it out of l->all: NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
		if (s->kind == SOURCE_CHILD)
			proc_end(&s->child);
		source_free(l, s);
	}
	free(l->heap);
	if (l->epoll_fd >= 0)
		close(l->epoll_fd);
	if (l->timer_fd >= 0)
		close(l->timer_fd);
	if (l->signal_fd >= 0)
		close(l->signal_fd);
	free(l);
}

void loop_stop(struct loop *l)
{
	l->stopped = true;
}

int loop_watch(struct loop *l, int fd, uint32_t events, loop_fn *fn, void *arg, struct loop_source **out, struct fw_err *err)
{
	struct loop_source *s = source_new(l, SOURCE_FD, arg);
	s->fd = fd;
	s->on_event = fn;
	if (epoll_put(l, EPOLL_CTL_ADD, fd, events, s, err) != 0) {
		source_free(l, s);
		return -1;
	}
	if (out)
		*out = s;
	return 0;
}

int loop_change(struct loop *l, struct loop_source *s, uint32_t events, struct fw_err *err)
{
	return epoll_put(l, EPOLL_CTL_MOD, s->fd, events, s, err);
}

void loop_after(struct loop *l, int64_t delay_ms, loop_timer_fn *fn, void *arg, struct loop_source **out)
{
	struct loop_source *s = source_new(l, SOURCE_TIMER, arg);
	s->on_timer = fn;
	s->due_ns = clock_mono_ns() + (delay_ms > 0 ? delay_ms : 0) * 1000000;
	heap_add(l, s);
	if (out)
		*out = s;
}

int loop_child(struct loop *l, struct proc p, int64_t deadline_ms, loop_child_fn *fn, void *arg, struct loop_source **out,
	struct fw_err *err)
{
	struct loop_source *s = source_new(l, SOURCE_CHILD, arg);
	s->child = p;
	s->fd = p.pidfd;
	s->on_child = fn;
	s->due_ns = clock_mono_ns() + deadline_ms * 1000000;
	if (epoll_put(l, EPOLL_CTL_ADD, s->fd, EPOLLIN, s, err) != 0) {
		proc_end(&s->child);
		source_free(l, s);
		return -1;
	}
	if (deadline_ms > 0)
		heap_add(l, s);
	if (out)
		*out = s;
	return 0;
}

int loop_signal(struct loop *l, int signal, loop_timer_fn *fn, void *arg, struct fw_err *err)
{
	if (signal <= 0 || signal >= SIGNALS_MAX)
		return err_set(err, ERR_INTERNAL, "signal %d does not exist", signal);
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigaddset(&l->signals, signal);
	if (sigprocmask(SIG_BLOCK, &one, NULL) != 0 || signalfd(l->signal_fd, &l->signals, 0) < 0)
		return err_sys(err, "cannot receive signal %d", signal);
	l->on_signal[signal] = (struct hook){ fn, arg };
	return 0;
}

void loop_remove(struct loop *l, struct loop_source *s)
{
	if (!s || s->removed)
		return;
	if (s->kind == SOURCE_CHILD && s->child.pid > 0) {
		/* Signal now, reap when the pidfd is readable: a child stuck in the kernel must not block the daemon. */
		proc_stop(&s->child);
		s->on_child = NULL;
		heap_take(l, s);
		return;
	}
	if (s->kind == SOURCE_FD)
		epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL); /* fails only if the caller closed it before */
	source_retire(l, s);
}

static void arm_timer(struct loop *l)
{
	int64_t due = l->n_heap ? l->heap[0]->due_ns : 0;
	if (due == l->armed_ns)
		return;
	struct itimerspec when = { .it_value = { .tv_sec = due / 1000000000, .tv_nsec = due % 1000000000 } };
	timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &when, NULL); /* cannot fail with a valid time */
	l->armed_ns = due;
}

static void run_timers(struct loop *l)
{
	int64_t now = clock_mono_ns();
	/* timers added by callbacks wait for the next iteration, so descriptors are not starved */
	uint64_t newest = l->next_number;
	l->armed_ns = 0; /* the timer has fired */
	while (!l->stopped && l->n_heap && l->heap[0]->due_ns <= now && l->heap[0]->number < newest) {
		struct loop_source *s = l->heap[0];
		heap_take(l, s);
		if (s->kind == SOURCE_CHILD) {
			s->timed_out = true;
			proc_stop(&s->child);
			continue;
		}
		s->on_timer(s->arg);
		source_retire(l, s);
	}
}

static void run_signals(struct loop *l)
{
	struct signalfd_siginfo got;
	while (!l->stopped && read(l->signal_fd, &got, sizeof got) == (ssize_t)sizeof got) {
		if (got.ssi_signo < SIGNALS_MAX && l->on_signal[got.ssi_signo].fn)
			l->on_signal[got.ssi_signo].fn(l->on_signal[got.ssi_signo].arg);
	}
}

static void run_child(struct loop *l, struct loop_source *s)
{
	struct proc_exit how = { 0 };
	/* The child is still a zombie, so its process group id is not reused: kill the rest of the group. */
	proc_signal(&s->child, SIGKILL);
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	if (proc_reap(&s->child, &how) != 1) {
		struct epoll_event e = { .events = EPOLLIN, .data.ptr = s };
		epoll_ctl(
			l->epoll_fd, EPOLL_CTL_ADD, s->fd, &e); /* ended but not yet waitable: try again in the next iteration */
		return;
	}
	s->child.pid = 0;
	how.timed_out = how.timed_out || s->timed_out;
	if (s->on_child)
		s->on_child(s->arg, &how);
	source_retire(l, s);
}

static int64_t clock_ahead_ms(void)
{
	return clock_utc_ms() - clock_boot_ms();
}

void loop_on_clock_set(struct loop *l, loop_clock_fn *fn, void *arg)
{
	l->on_clock_set = fn;
	l->clock_arg = arg;
	l->clock_ahead_ms = clock_ahead_ms();
}

/* Follow small corrections of a time service; report a step that would distort timers. */
static void check_clock(struct loop *l)
{
	int64_t ahead_ms, by_ms;
	if (!l->on_clock_set)
		return;
	ahead_ms = clock_ahead_ms();
	by_ms = ahead_ms - l->clock_ahead_ms;
	if ((by_ms < LOOP_CLOCK_SET_MS && by_ms > -LOOP_CLOCK_SET_MS) || l->on_clock_set(l->clock_arg, by_ms) == 0)
		l->clock_ahead_ms = ahead_ms;
}

int loop_run(struct loop *l, struct fw_err *err)
{
	struct epoll_event batch[BATCH];
	l->stopped = false;
	while (!l->stopped) {
		free_removed(l);
		arm_timer(l);
		int n = epoll_wait(l->epoll_fd, batch, BATCH, -1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot wait for events");
		check_clock(l);
		bool timers = false, signals = false;
		for (int i = 0; i < n && !l->stopped; i++) {
			struct loop_source *s = batch[i].data.ptr;
			if (batch[i].data.ptr == &l->timer_fd)
				timers = true;
			else if (batch[i].data.ptr == &l->signal_fd)
				signals = true;
			else if (s->removed)
				continue;
			else if (s->kind == SOURCE_CHILD)
				run_child(l, s);
			else
				s->on_event(s->arg, batch[i].events);
		}
		if (timers) {
			uint64_t fired;
			if (read(l->timer_fd, &fired, sizeof fired) > 0 || errno == EAGAIN)
				run_timers(l);
		}
		if (signals)
			run_signals(l);
	}
	free_removed(l);
	return 0;
}
