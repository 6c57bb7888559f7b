/* workers.c - checks of workers and their devices; see probe.c. */
#include "flopwatchd/internal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "flopwatchd/config/config.h"
#include "flopwatchd/session/session.h"
#include "lib/lib.h"
#include "protocol/protocol.h"

enum { HELLO_MAX_BYTES = 1 << 20, ERRORS_MAX_BYTES = 1 << 16 };
static const int64_t hello_ns = INT64_C(60000000000);

/* Read up to the end of the first line. 0, -1. */
static int read_line(int fd, struct buf *line, struct fw_err *err)
{
	int64_t end_ns = clock_mono_ns() + hello_ns;
	char part[4096];
	while (!memchr(line->data, '\n', line->len)) {
		int64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
		if (ready == 0)
			return err_set(err, ERR_TIMEOUT, "the worker sent nothing within %d s", (int)(hello_ns / 1000000000));
		ssize_t n = ready > 0 ? read(fd, part, sizeof part) : -1;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return err_set(err, ERR_IO, "the worker ended before its hello");
		buf_append(line, part, (size_t)n);
		if (line->failed)
			return err_set(err, ERR_PROTOCOL, "the worker sent too much data instead of its hello");
	}
	return 0;
}

/* Read the last line of standard error, which explains an early end; "": none. */
static void read_errors(int fd, char *last, size_t size)
{
	char part[4096];
	struct buf text;
	buf_init(&text, ERRORS_MAX_BYTES);
	for (ssize_t n; fd >= 0 && (n = read(fd, part, sizeof part)) > 0 && !text.failed;)
		buf_append(&text, part, (size_t)n);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	const char *line = text.len ? strrchr(text.data, '\n') : NULL;
	snprintf(last, size, "%s", line ? line + 1 : text.len ? text.data : "");
	buf_fini(&text);
}

static int read_hello(const struct connection *to, struct msg *hello, struct fw_err *err)
{
	struct buf line;
	char said[512];
	buf_init(&line, HELLO_MAX_BYTES);
	int result = read_line(to->fd, &line, err);
	if (result == 0)
		result = protocol_parse(line.data, strcspn(line.data, "\n"), hello, err);
	if (result != 0) {
		read_errors(to->errors_fd, said, sizeof said);
		if (*said)
			err_context(err, "%s", said);
	} else if (hello->t != MSG_HELLO) {
		msg_fini(hello);
		result = err_set(err, ERR_PROTOCOL, "unexpected message from worker: expected hello");
	}
	buf_fini(&line);
	return result;
}

static void check_devices(const struct config *c, const struct config_worker *w, const struct msg_hello *hello)
{
	const struct msg_device *found = NULL;
	for (int i = 0; i < hello->n_devices && !found; i++)
		if (config_worker_wants(w, hello->device[i].kind, hello->device[i].index, hello->device[i].uuid))
			found = &hello->device[i];
	if (found)
		probe_print(PROBE_OK, "worker", "", "%s measures on %s %s (%s)", w->name, device_kind_name(found->kind),
			found->uuid, found->name);
	else
		probe_print(PROBE_FAIL, "device", "see nvidia-smi on its machine; or set another device",
			"%s answers, but has no device of kind %s", w->name, device_kind_name(w->device));
	if (!strcmp(c->sandbox, "auto") && strcmp(hello->isolation, "bwrap") != 0)
		probe_print(PROBE_WARN, "sandbox", "install bubblewrap there, and allow user namespaces",
			"%s builds and runs branches without a sandbox", w->name);
}

static void add_argument(struct config_worker *w, const char *word)
{
	if (w->n_command < CONFIG_LIST_MAX)
		snprintf(w->command[w->n_command++], sizeof w->command[0], "%s", word);
}

/* Replace `serve`: that creates a cache, possibly as another user than the daemon's; a probe only sends hello. */
static void use_probe_command(const struct config *c, struct config_worker *w)
{
	if (!w->n_command || strcmp(w->command[w->n_command - 1], "serve") != 0)
		return;
	w->n_command--;
	add_argument(w, "probe");
	add_argument(w, "--sandbox");
	add_argument(w, c->sandbox);
	add_argument(w, "--device");
	add_argument(w, w->device == DEVICE_ANY ? "auto" : device_kind_name(w->device));
	for (int i = 0; i < c->n_read_only; i++) {
		add_argument(w, "--read-only");
		add_argument(w, c->read_only[i]);
	}
}

/* Query only the scheduler: an allocation may take hours and would occupy a GPU. */
static void check_slurm(const struct config_worker *w)
{
	const char *env[CONNECT_ENV_MAX], *argv[] = { "sinfo", "--noheader", "--format=%D nodes %T with %G", NULL, NULL };
	char text[CONNECT_ENV_MAX][CONNECT_ENV_TEXT], partition[160];
	static const char *const needed[] = { "srun", "squeue", "scancel" };
	struct fw_err err = { 0 };
	struct proc_exit how = { 0 };
	struct buf out, errors;
	snprintf(partition, sizeof partition, "--partition=%s", w->slurm.partition);
	if (w->slurm.partition[0])
		argv[3] = partition;
	buf_init(&out, HELLO_MAX_BYTES);
	buf_init(&errors, ERRORS_MAX_BYTES);
	connect_environment(env, text);
	struct proc_spec spec = { .argv = argv, .env = env };
	int result = proc_run(&spec, NULL, &out, &errors, hello_ns / 1000000, &how, &err);
	for (size_t i = 0; result == 0 && i < sizeof needed / sizeof needed[0]; i++) {
		char path[4096];
		result = proc_sibling(needed[i], path, sizeof path, &err);
	}
	if (result == 0 && how.status != 0)
		result =
			err_set(&err, ERR_IO, "%.*s", (int)strcspn(errors.data, "\n"), errors.len ? errors.data : "sinfo failed");
	for (size_t i = 0; i < out.len; i++)
		if (out.data[i] == '\n')
			out.data[i] = i + 1 < out.len ? ';' : '\0';
	if (result != 0)
		probe_print(PROBE_FAIL, "worker", "install Slurm's client programs, and let SLURM_CONF name its configuration",
			"%s: %s", w->name, err.text);
	else if (out.len == 0)
		probe_print(PROBE_FAIL, "worker", "see sinfo; name another partition", "%s: there is no partition %s", w->name,
			w->slurm.partition);
	else
		probe_print(PROBE_OK, "worker", "", "%s asks Slurm%s, which has %s", w->name, w->builds ? " for its builds" : "",
			out.data);
	buf_fini(&out);
	buf_fini(&errors);
}

static void check_worker(const struct config *c, const struct config_worker *configured)
{
	if (config_worker_is_slurm(configured)) {
		check_slurm(configured);
		return;
	}

	struct fw_err err = { 0 };
	struct connection to;
	struct msg hello = { 0 };
	struct config_worker probed = *configured, *w = &probed;
	use_probe_command(c, w);
	const struct connect_as no_allocation = { .name = "", .node = "" };
	int result = connect_worker(c, w, &no_allocation, &to, &err);
	bool is_reached = result == 0;
	if (is_reached) {
		result = read_hello(&to, &hello, &err);
		close(to.fd);
		if (to.errors_fd >= 0)
			close(to.errors_fd);
		proc_end(&to.child);
	}
	if (result == 0) {
		check_devices(c, w, &hello.u.hello);
		msg_fini(&hello);
	} else {
		probe_print(PROBE_FAIL, "worker",
			w->socket[0] ? "start its service; and let the daemon's user reach the socket"
				     : "fix its command; run it by hand to see its errors",
			"%s%s%s", is_reached ? w->name : "", is_reached ? ": " : "", err.text);
	}
}

void check_workers(const struct config *c)
{
	for (int i = 0; i < c->n_workers; i++)
		check_worker(c, &c->worker[i]);
	if (c->n_workers == 0)
		probe_print(PROBE_WARN, "worker", "add one under workers:", "no worker is configured, so no job runs");
}
