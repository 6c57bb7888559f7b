/* passing_time.c - preloaded before libfaketime, which adds the seconds in FAKETIME_TIMESTAMP_FILE to all clocks: time passes in
 * leaps. This adds what libfaketime lacks: timers of the monotonic clock follow a leap, and the boot clock leaps with it. The
 * number in the file CLOCK_SET is added to the wall clock only: somebody set it by so many seconds. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 20, LEAP_NS = 100000000 };

static int timer_fd = -1;
static int64_t due_ns, ahead_ns; /* 0: not armed; ahead: of the machine's clock when the timer was armed */

static int64_t real_ns(clockid_t clock)
{
	struct timespec t;
	syscall(SYS_clock_gettime, clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t faked_ns(clockid_t clock)
{
	static int (*next)(clockid_t, struct timespec *);
	struct timespec t;
	if (!next)
		next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	next(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t passed_ns(void)
{
	return faked_ns(CLOCK_MONOTONIC) - real_ns(CLOCK_MONOTONIC);
}

static int64_t set_by_ns(void)
{
	char text[32];
	const char *path = getenv("CLOCK_SET");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return strtoll(text, NULL, 10) * 1000000000;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	int64_t ns = clock == CLOCK_BOOTTIME   ? real_ns(clock) + passed_ns()
		     : clock == CLOCK_REALTIME ? faked_ns(clock) + set_by_ns()
					       : faked_ns(clock);
	*out = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

static void arm(void)
{
	int64_t wait = due_ns - real_ns(CLOCK_MONOTONIC) - ahead_ns;
	if (wait < 1)
		wait = 1;
	struct itimerspec when = { .it_value = { .tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000 } };
	syscall(SYS_timerfd_settime, timer_fd, 0, &when, NULL);
}

/* The daemon has one timer, whose times are absolute. */
int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *was)
{
	due_ns = (int64_t)when->it_value.tv_sec * 1000000000 + when->it_value.tv_nsec;
	timer_fd = fd;
	if (!due_ns || !(flags & TFD_TIMER_ABSTIME))
		return (int)syscall(SYS_timerfd_settime, fd, flags, when, was);
	ahead_ns = passed_ns();
	arm();
	return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	for (int waited = 0;; waited += LOOK_MS) {
		int64_t now = passed_ns();
		if (due_ns && timer_fd >= 0 && llabs(now - ahead_ns) > LEAP_NS) {
			ahead_ns = now;
			arm();
		}
		int left = timeout < 0 || timeout - waited > LOOK_MS ? LOOK_MS : timeout - waited;
		int n = (int)syscall(SYS_epoll_wait, fd, events, max, left > 0 ? left : 0);
		if (n || (timeout >= 0 && waited + LOOK_MS >= timeout))
			return n;
	}
}
