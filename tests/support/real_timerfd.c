/* real_timerfd.c - preloaded before libfaketime, which moves timers of the monotonic clock although it does not change that
 * clock. */
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *was)
{
	return (int)syscall(SYS_timerfd_settime, fd, flags, when, was);
}
