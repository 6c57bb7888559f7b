/* Messages to the service manager, and the interval of the watchdog. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/lib.h"

static void received_at(const char *name, bool abstract)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[64] = "";
	int len = snprintf(at.sun_path, sizeof at.sun_path, "%s", name);
	if (abstract)
		at.sun_path[0] = 0;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, (socklen_t)offsetof(struct sockaddr_un, sun_path) + (socklen_t)len), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	sd_notify("READY=1");
	assert_int_equal(read(fd, text, sizeof text), 7);
	assert_string_equal(text, "READY=1");
	close(fd);
}

static void test_messages_arrive(void **state)
{
	(void)state;
	char name[64];
	snprintf(name, sizeof name, "/tmp/fw-notify-%d", (int)getpid());
	received_at(name, false);
	unlink(name);
	name[0] = '@';
	received_at(name, true);
}

static void test_without_a_manager_no_message_is_sent(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	sd_notify("READY=1");
	setenv("NOTIFY_SOCKET", "relative", 1);
	sd_notify("READY=1");
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	sd_notify("READY=1");
	unsetenv("WATCHDOG_USEC");
	assert_int_equal(sd_notify_watchdog_ms(), 0);
}

static void test_the_watchdog_is_fed_at_half_time(void **state)
{
	(void)state;
	char pid[16];
	setenv("WATCHDOG_USEC", "60000000", 1);
	unsetenv("WATCHDOG_PID");
	assert_int_equal(sd_notify_watchdog_ms(), 30000);
	snprintf(pid, sizeof pid, "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	assert_int_equal(sd_notify_watchdog_ms(), 30000);
	setenv("WATCHDOG_PID", "1", 1); /* meant for another process */
	assert_int_equal(sd_notify_watchdog_ms(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_arrive),
		cmocka_unit_test(test_without_a_manager_no_message_is_sent),
		cmocka_unit_test(test_the_watchdog_is_fed_at_half_time),
	};
	return cmocka_run_group_tests_name("sd_notify", tests, NULL, NULL);
}
