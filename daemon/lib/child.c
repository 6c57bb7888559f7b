/* child.c - git and notification children, which would block the loop if it waited for them. */
#include "lib/lib.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGS_MAX = 128, ERRORS_MAX = 64 << 10 };

struct child {
	struct loop *loop;
	struct loop_source *child;
	int out_fd, errors_fd; /* out_fd -1: the caller's file */
	size_t out_max;
	child_fn *fn;
	void *arg;
	char program[32];
};

static void child_free(struct child *c)
{
	if (c->out_fd >= 0)
		close(c->out_fd);
	if (c->errors_fd >= 0)
		close(c->errors_fd);
	free(c);
}

static int memory_file(const char *name, struct fw_err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	return fd < 0 ? err_sys(err, "cannot create a memory file") : fd;
}

static int memory_file_of(const struct buf *in, struct fw_err *err)
{
	int fd = memory_file("input", err);
	if (fd < 0)
		return -1;
	if (fd_write(fd, in->data, in->len) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	err_sys(err, "cannot fill a memory file");
	close(fd);
	return -1;
}

/* A program raises these by itself; any other signal came from outside. */
static bool is_crash(int signal)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGSYS, SIGTRAP, SIGXFSZ };
	for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
		if (signal == crashes[i])
			return true;
	return false;
}

static enum err_code code_of(const struct proc_exit *how)
{
	if (how->timed_out)
		return ERR_TIMEOUT;
	if (how->signal)
		return is_crash(how->signal) ? ERR_CRASHED : ERR_BUSY;
	return how->status == PROC_EXIT_GONE ? ERR_NOT_FOUND : how->status == PROC_EXIT_AGAIN ? ERR_BUSY : ERR_INVALID;
}

/* flopwatch's programs print their error as the last line; drop the program's name in front of it. */
static void last_line(struct buf *text, struct fw_err *err, const char *program, const struct proc_exit *how)
{
	while (text->len && (text->data[text->len - 1] == '\n' || text->data[text->len - 1] == '\r'))
		text->data[--text->len] = 0;
	const char *line = strrchr(text->data, '\n');
	line = line ? line + 1 : text->data;
	size_t name = strlen(program);
	if (strncmp(line, program, name) == 0 && strncmp(line + name, ": ", 2) == 0)
		line += name + 2;
	char outcome[64];
	proc_describe(how, outcome);
	if (how->timed_out)
		err_set(err, ERR_TIMEOUT, "%s %s", program, outcome);
	else if (!*line)
		err_set(err, code_of(how), "%s: %s", program, outcome);
	else if (how->signal)
		err_set(err, code_of(how), "%s: %s; last line: %.800s", program, outcome, line);
	else
		err_set(err, code_of(how), "%s", line);
}

static void on_child_exit(void *arg, const struct proc_exit *how)
{
	struct child *c = arg;
	struct fw_err failed = { 0 };
	struct buf out, errors;
	buf_init(&out, c->out_max + 1);
	buf_init(&errors, ERRORS_MAX);
	if (c->out_fd >= 0 && (lseek(c->out_fd, 0, SEEK_SET) < 0 || buf_read_fd(&out, c->out_fd) != 0))
		err_sys(&failed, "cannot read the output of %s", c->program);
	if (out.is_out_of_memory)
		err_memory(&failed, "cannot read the output of %s", c->program);
	if (out.failed || out.len > c->out_max)
		err_set(&failed, ERR_INVALID, "%s printed more than %zu bytes", c->program, c->out_max);
	if (how->status != 0) {
		if (lseek(c->errors_fd, 0, SEEK_SET) == 0)
			(void)buf_read_fd(&errors, c->errors_fd); /* a partial read is good enough */
		last_line(&errors, &failed, c->program, how);
	}
	c->fn(c->arg, &out, failed.code ? &failed : NULL);
	buf_fini(&out);
	buf_fini(&errors);
	child_free(c);
}

int child_start(struct loop *l, const struct child_spec *spec, child_fn *fn, void *arg, struct child **out, struct fw_err *err)
{
	char path[4096];
	const char *argv[ARGS_MAX + 2] = { path };
	int n = 0;
	while (n < ARGS_MAX && spec->args[n]) {
		argv[n + 1] = spec->args[n];
		n++;
	}
	if (spec->args[n])
		return err_set(err, ERR_INTERNAL, "%s: more than %d arguments", spec->program, ARGS_MAX);
	if (proc_sibling(spec->program, path, sizeof path, err) != 0)
		return -1;
	struct child *c = mem_alloc_zero(1, sizeof *c);
	*c = (struct child){ .loop = l, .out_fd = -1, .errors_fd = -1, .out_max = spec->out_max, .fn = fn, .arg = arg };
	strncpy(c->program, spec->program, sizeof c->program - 1);
	int in_fd = -1, result = -1;
	struct proc child;
	if ((c->errors_fd = memory_file("errors", err)) < 0)
		goto end;
	if (spec->out_fd < 0 && (c->out_fd = memory_file("output", err)) < 0)
		goto end;
	if (spec->in && (in_fd = memory_file_of(spec->in, err)) < 0)
		goto end;
	/* Twice the errors' size: output and errors are files of the same kind, and one limit applies to both. */
	struct proc_spec run = { .argv = argv,
		.env = spec->env,
		.is_careful = spec->is_careful,
		.has_no_network = spec->has_no_network,
		.address_space_bytes = spec->address_space_bytes,
		.cpu_s = spec->cpu_s };
	if (!spec->writes_files)
		run.file_size_bytes = (int64_t)spec->out_max + INT64_C(2) * ERRORS_MAX;
	if (in_fd >= 0)
		run.fd[run.n_fd++] = (struct proc_fd){ in_fd, 0 };
	run.fd[run.n_fd++] = (struct proc_fd){ spec->out_fd < 0 ? c->out_fd : spec->out_fd, 1 };
	run.fd[run.n_fd++] = (struct proc_fd){ c->errors_fd, 2 };
	if (proc_spawn(&run, &child, err) != 0)
		goto end;
	result = loop_child(l, child, spec->deadline_ms, on_child_exit, c, &c->child, err);
end:
	if (in_fd >= 0)
		close(in_fd);
	if (result != 0) {
		child_free(c);
		return -1;
	}
	if (out)
		*out = c;
	return 0;
}

void child_cancel(struct child *c)
{
	if (!c)
		return;
	loop_remove(c->loop, c->child);
	child_free(c);
}
