/* connect.c - the two ways to a worker end in the same: one stream descriptor. */
#include "flopwatchd/dispatch/connect.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENV_MAX = 16, ENV_TEXT = 4096 };

static int reach(const struct config_worker *w, struct connection *out, struct fw_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	snprintf(to.sun_path, sizeof to.sun_path, "%s", w->socket);
	out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (out->fd >= 0 && connect(out->fd, (struct sockaddr *)&to, sizeof to) == 0)
		return 0;
	err_sys(err, "worker %s: cannot reach %s", w->name, w->socket);
	if (out->fd >= 0)
		close(out->fd);
	return -1;
}

/* Variables that remote shells, schedulers and CUDA need; nothing else of the daemon's environment goes to a worker. */
static void environment(const char *env[ENV_MAX], char (*text)[ENV_TEXT])
{
	static const char *const names[] = { "PATH", "HOME", "TZ", "SSH_AUTH_SOCK", "SLURM_CONF", "CUDA_VISIBLE_DEVICES",
		"CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "FLOPWATCH_CPU_THREADS", NULL };
	int n = 0;
	for (int i = 0; names[i]; i++) {
		const char *value = getenv(names[i]);
		if (value && (size_t)snprintf(text[n], ENV_TEXT, "%s=%s", names[i], value) < ENV_TEXT) {
			env[n] = text[n];
			n++;
		}
	}
	env[n++] = "LANG=C.UTF-8";
	env[n] = NULL;
}

static int start(
	const struct config *c, const struct config_worker *w, int line, int errors, struct connection *out, struct fw_err *err)
{
	const char *argv[CONFIG_LIST_MAX + 8 + 2 * READONLY_MAX], *env[ENV_MAX];
	char program[4096], env_text[ENV_MAX][ENV_TEXT];
	int n = 0;
	for (; n < w->n_command; n++)
		argv[n] = w->command[n];
	if (!strcmp(w->command[0], "flopwatch-worker")) {
		if (proc_sibling(w->command[0], program, sizeof program, err) != 0)
			return -1;
		argv[0] = program;
	}
	if (!strcmp(w->command[n - 1], "serve")) {
		argv[n++] = "--sandbox";
		argv[n++] = c->sandbox;
		argv[n++] = "--device";
		argv[n++] = w->device == DEVICE_ANY ? "auto" : device_kind_name(w->device);
		argv[n++] = "--cache";
		argv[n++] = c->cache_dir;
		for (int i = 0; i < c->n_read_only; i++) {
			argv[n++] = "--read-only";
			argv[n++] = c->read_only[i];
		}
	}
	argv[n] = NULL;
	environment(env, env_text);
	struct proc_spec spec = {
		.argv = argv,
		.env = env,
		.fd = { { line, 0 }, { line, 1 }, { errors, 2 } },
		.n_fd = 3,
		.cores = c->cores.apart ? &c->cores.measure : NULL,
	};
	return proc_spawn(&spec, &out->child, err);
}

static void close_both(const int pair[2])
{
	if (pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
}

int connect_worker(const struct config *c, const struct config_worker *w, struct connection *out, struct fw_err *err)
{
	int line[2] = { -1, -1 }, errors[2] = { -1, -1 };
	*out = (struct connection){ .fd = -1, .errors_fd = -1, .child = { .pidfd = -1 } };
	if (w->socket[0])
		return reach(w, out, err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line) != 0 || pipe2(errors, O_CLOEXEC) != 0 ||
		fcntl(errors[0], F_SETFL, O_NONBLOCK) != 0) {
		err_sys(err, "worker %s: cannot make its pipes", w->name);
	} else if (start(c, w, line[1], errors[1], out, err) != 0) {
		err_context(err, "worker %s", w->name);
	} else {
		out->fd = line[0];
		out->errors_fd = errors[0];
		close(line[1]);
		close(errors[1]);
		return 0;
	}
	close_both(line);
	close_both(errors);
	return -1;
}
