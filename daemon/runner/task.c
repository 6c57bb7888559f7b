/* task.c - from a line on stdin to an exit status, also if branch code ends the process. */
#include "runner/internal.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>

/* ---- cublas_version: Properties read from libcublas, which needs no handle and so no context. ---- */

typedef int property_fn(int which, int *value);

enum { PROPERTIES = 3 /* major, minor, patch */ };

void cublas_version(char *out, size_t size)
{
	static const char *const paths[] = { "libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so" };
	void *library = NULL, *symbol;
	property_fn *property = NULL;
	int value[PROPERTIES] = { 0 };
	bool is_reported = false;

	snprintf(out, size, "%s", "");
	for (size_t i = 0; i < sizeof paths / sizeof *paths && !library; i++)
		/* RTLD_NODELETE: unloading does not undo all effects of loading */
		library = dlopen(paths[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return;
	/* ISO C forbids the cast from an object pointer that dlsym needs */
	symbol = dlsym(library, "cublasGetProperty");
	memcpy(&property, &symbol, sizeof symbol);
	for (int i = 0; i < PROPERTIES && property; i++)
		is_reported = property(i, &value[i]) == 0;
	if (is_reported)
		snprintf(out, size, "%d.%d.%d", value[0], value[1], value[2]);
	dlclose(library);
}

/* ---- cudnn_version: Version read from libcudnn, at the paths where provider "cudnn" searches. ---- */

typedef size_t version_fn(void);

void cudnn_version(char *out, size_t size)
{
	static const char *const paths[] = { "libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9" };
	void *library = NULL, *symbol;
	version_fn *version = NULL;

	snprintf(out, size, "%s", "");
	for (size_t i = 0; i < sizeof paths / sizeof *paths && !library; i++)
		library = dlopen(paths[i], RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		return;
	/* ISO C forbids the cast from an object pointer that dlsym needs */
	symbol = dlsym(library, "cudnnGetVersion");
	memcpy(&version, &symbol, sizeof symbol);
	if (version) {
		size_t v = version(); /* major 10000, minor 100, patch */
		snprintf(out, size, "%zu.%zu.%zu", v / 10000, v / 100 % 100, v % 100);
	}
	dlclose(library);
}

/* ---- task ---- */

enum { EXIT_NO_TASK = 2, WIPE = 0xa5 };

/* Branch code may call exit(). The record of this fault names the calling side. */
static struct runner *unfinished;
static pid_t own_pid; /* a module's forked child may call exit */

static void end_unfinished(const char *detail)
{
	if (!unfinished || getpid() != own_pid)
		return;
	enum role role = unfinished->at_role != ROLE_NONE ? unfinished->at_role : ROLE_DEVICE;
	record_fault(unfinished->records, unfinished->at_cell, role, "crash", detail);
	_exit(RUNNER_ERROR);
}

static void at_exit(void)
{
	end_unfinished("the module ended the process by calling exit");
}

/* End the process, which would otherwise continue without records while another thread lives. */
static void at_thread_exit(void *arg)
{
	(void)arg;
	end_unfinished("the module ended the measuring thread by calling pthread_exit");
}

/* Shape: *line is NUL-terminated, owned by `in`. */
static int read_line(int fd, struct lines *in, char **line, size_t *len, struct fw_err *err)
{
	char chunk[16384];
	for (;;) {
		if (lines_next(in, line, len) == 1) {
			explicit_bzero(chunk, sizeof chunk);
			return 0;
		}
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "standard input");
		if (n == 0)
			return err_set(err, ERR_PROTOCOL, "standard input ended before a whole line");
		if (lines_feed(in, chunk, (size_t)n, err) != 0)
			return -1;
	}
}

/*
 * The task holds the key of the records and the seed. Branch code must not find them on any descriptor: the file is emptied,
 * also for other holders of it (bubblewrap's first process). Memory is handled separately.
 */
static int take_task(int fd, struct msg *m, struct fw_err *err)
{
	struct lines in;
	char *line;
	size_t len;

	mallopt(M_PERTURB, WIPE); /* overwrite freed memory from here on */
	lines_init(&in, PROTOCOL_LINE_MAX);
	int result = read_line(fd, &in, &line, &len, err);
	if (result == 0)
		result = protocol_parse(line, len, m, err);
	lines_fini(&in);
	mallopt(M_PERTURB, 0);
	if (result != 0)
		return -1;
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)!ftruncate(fd, 0); /* a manually written task may be a pipe or a read-only file */
	if (nothing >= 0 && dup2(nothing, fd) == fd) {
		close(nothing);
		return 0;
	}
	msg_fini(m);
	return err_sys(err, "/dev/null instead of the task");
}

static int run_in_mode(const struct msg_task *task, struct records *records, struct fw_err *err)
{
	struct runner runner = { 0 };
	volatile int status = RUNNER_ERROR; /* pthread_cleanup_push may use setjmp */
	if (task->mode == TASK_IDLE || task->mode == TASK_DEVICE_CHECK)
		return mode_device_read_run(task, records);
	if (task->mode == TASK_HEALTH_CHECK)
		return mode_health_check_run(task, records);
	if (task->mode == TASK_CLOCKS)
		return mode_clocks_run(task, records);
	own_pid = getpid();
	unfinished = &runner;
	pthread_cleanup_push(at_thread_exit, NULL);
	if (runner_open(&runner, task, records, err) == 0) {
		status = task->mode == TASK_CHECK     ? mode_check_run(&runner)
			 : task->mode == TASK_AUDIT   ? mode_audit_run(&runner)
			 : task->mode == TASK_PROFILE ? mode_profile_run(&runner)
						      : mode_time_run(&runner);
	} else {
		record_fault(records, -1, ROLE_DEVICE, "device", err->text);
	}
	runner_close(&runner);
	pthread_cleanup_pop(0);
	unfinished = NULL;
	return status;
}

int task_run(int in_fd, int records_fd)
{
	struct fw_err err = { 0 };
	struct records records;
	struct msg m;
	int status = EXIT_NO_TASK;

	if (records_init(&records, records_fd, 0, &err) != 0) {
		fprintf(stderr, "flopwatch-runner: %s; start it through flopwatch-worker, or with 3>FILE\n", err.text);
		records_fini(&records);
		return EXIT_NO_TASK;
	}
	if (take_task(in_fd, &m, &err) != 0)
		goto out;
	if (m.t != MSG_TASK || m.u.task->mode == TASK_CAPTURE) {
		err_set(&err, ERR_PROTOCOL,
			"expected a task with mode check, time, audit, profile, idle, device_check, health_check or clocks");
		msg_fini(&m);
		goto out;
	}
	records.run = m.u.task->run;
	records_signature(&records, m.u.task->signature);
	explicit_bzero(m.u.task->signature, sizeof m.u.task->signature);
	if (atexit(at_exit) == 0)
		status = run_in_mode(m.u.task, &records, &err);
	msg_fini(&m);
out:
	if (err.code != ERR_NONE)
		fprintf(stderr, "flopwatch-runner: %s\n", err.text);
	if (records.failed)
		fprintf(stderr, "flopwatch-runner: the reader of the records has disconnected\n");
	records_fini(&records);
	return status;
}

static void read_library_versions(struct msg_device *d)
{
	cudnn_version(d->cudnn, sizeof d->cudnn);
	cublas_version(d->cublas, sizeof d->cublas);
}

static void print_left_out(const char *address, const char *why)
{
	fprintf(stderr, "%s is left out: %s\n", address, why);
}

int task_list(void)
{
	struct msg m = { .t = MSG_HELLO };
	struct buf line;
	int status = RUNNER_ERROR;

	m.u.hello.protocol = PROTOCOL_VERSION;
	snprintf(m.u.hello.version, sizeof m.u.hello.version, "%s", FW_VERSION);
	snprintf(m.u.hello.isolation, sizeof m.u.hello.isolation, "none");
	m.u.hello.n_devices = device_list(m.u.hello.device, PROTOCOL_DEVICES_MAX, print_left_out);
	for (int i = 0; i < m.u.hello.n_devices; i++)
		if (m.u.hello.device[i].kind == DEVICE_CUDA)
			read_library_versions(&m.u.hello.device[i]);
	buf_init(&line, PROTOCOL_LINE_MAX);
	protocol_write(&line, &m);
	if (!line.failed && fwrite(line.data, 1, line.len, stdout) == line.len && fflush(stdout) == 0)
		status = 0;
	buf_fini(&line);
	return status;
}
