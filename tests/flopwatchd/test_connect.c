/* The two transports to a worker: a command with its arguments, and a socket. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "flopwatchd/session/session.h"

static struct config *config;
static const struct connect_as as = { .name = "", .node = "" };

static int setup(void **state)
{
	(void)state;
	config = calloc(1, sizeof *config);
	if (!config)
		return -1;
	snprintf(config->sandbox, sizeof config->sandbox, "required");
	snprintf(config->cache_dir, sizeof config->cache_dir, "/var/cache/x");
	snprintf(config->worker[0].name, sizeof config->worker[0].name, "w");
	config->worker[0].device = DEVICE_SIM;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(config);
	return 0;
}

static void add_argument(const char *text)
{
	struct config_worker *w = &config->worker[0];
	snprintf(w->command[w->n_command++], sizeof w->command[0], "%s", text);
}

/* Everything that the worker sends until it closes its side. */
static void read_all(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;
	while ((got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
}

static void finish(struct connection *d)
{
	close(d->fd);
	close(d->errors_fd);
	proc_end(&d->child);
}

/* A worker whose command prints its arguments. */
static void expect_arguments(const char *words)
{
	struct fw_err err = { 0 };
	struct connection d;
	char text[256];
	add_argument("echo");
	add_argument("-n");
	add_argument("serve");
	assert_int_equal(connect_worker(config, &config->worker[0], &as, &d, &err), 0);
	read_all(d.fd, text, sizeof text);
	assert_string_equal(text, words);
	finish(&d);
}

static void test_serve_gets_the_settings(void **state)
{
	(void)state;
	expect_arguments("serve --sandbox required --device sim --cache /var/cache/x");
}

static void test_a_builder_gets_build_only(void **state)
{
	(void)state;
	config->worker[0].builds = true;
	expect_arguments("serve --sandbox required --device sim --cache /var/cache/x --build-only");
}

static void test_another_command_is_left_as_it_is(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct connection d;
	char text[256];
	add_argument("echo");
	add_argument("-n");
	add_argument("serve");
	add_argument("elsewhere");
	assert_int_equal(connect_worker(config, &config->worker[0], &as, &d, &err), 0);
	read_all(d.fd, text, sizeof text);
	assert_string_equal(text, "serve elsewhere");
	finish(&d);
}

static void test_lines_go_both_ways(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct connection d;
	char text[256];
	setenv("FLOPWATCH_SECRET", "x", 1);
	setenv("CUDA_VISIBLE_DEVICES", "3", 1);
	add_argument("sh");
	add_argument("-c");
	add_argument("read line; echo \"$line $CUDA_VISIBLE_DEVICES$FLOPWATCH_SECRET\"; echo aside >&2");
	assert_int_equal(connect_worker(config, &config->worker[0], &as, &d, &err), 0);
	assert_int_equal(write(d.fd, "said\n", 5), 5);
	read_all(d.fd, text, sizeof text);
	assert_string_equal(text, "said 3\n");
	assert_int_equal(read(d.errors_fd, text, sizeof text), 6);
	finish(&d);
}

static void test_a_socket(void **state)
{
	(void)state;
	struct fw_err err = { 0 };
	struct connection d;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "/tmp/fw-dial-%d.sock", (int)getpid());
	snprintf(config->worker[0].socket, sizeof config->worker[0].socket, "%s", at.sun_path);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(connect_worker(config, &config->worker[0], &as, &d, &err), 0);
	assert_int_equal(d.child.pid, 0);
	assert_int_equal(d.errors_fd, -1);
	int peer = accept(listener, NULL, NULL);
	assert_int_equal(write(peer, "hi", 2), 2);
	close(peer);
	char text[8];
	read_all(d.fd, text, sizeof text);
	assert_string_equal(text, "hi");
	close(d.fd);
	close(listener);
	unlink(at.sun_path);
	assert_int_equal(connect_worker(config, &config->worker[0], &as, &d, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_serve_gets_the_settings),
		CASE(test_a_builder_gets_build_only),
		CASE(test_another_command_is_left_as_it_is),
		CASE(test_lines_go_both_ways),
		CASE(test_a_socket),
	};
	return cmocka_run_group_tests_name("dial", tests, NULL, NULL);
}
