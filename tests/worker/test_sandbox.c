/* sandbox.c: the requested isolation is applied, or one line states why not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/lib.h"
#include "worker/sandbox/sandbox.h"

static int position(const struct sandbox_argv *v, const char *arg)
{
	for (int i = 0; i < v->n; i++)
		if (strcmp(v->arg[i], arg) == 0)
			return i;
	return -1;
}

static bool has_pair(const struct sandbox_argv *v, const char *first, const char *second)
{
	for (int i = 0; i + 1 < v->n; i++)
		if (strcmp(v->arg[i], first) == 0 && strcmp(v->arg[i + 1], second) == 0)
			return true;
	return false;
}

static void words(void **state)
{
	enum sandbox_want want = SANDBOX_AUTO;

	(void)state;
	assert_int_equal(sandbox_want("required", &want), 0);
	assert_int_equal(want, SANDBOX_REQUIRED);
	assert_int_equal(sandbox_want("none", &want), 0);
	assert_int_equal(want, SANDBOX_NONE);
	assert_int_equal(sandbox_want("yes", &want), -1);
}

static void build_arguments(void **state)
{
	struct sandbox s = { .active = true, .bwrap = "/usr/bin/bwrap", .cuda = "/opt/cuda", .ends_namespaces = true };
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };

	(void)state;
	sandbox_build(&s, v, "/var/cache/x/job", "kernels");
	sandbox_arg(v, "make");
	assert_int_equal(sandbox_end(v, &err), 0);
	assert_string_equal(v->arg[0], "/usr/bin/bwrap");
	assert_true(position(v, "--unshare-all") > 0);
	assert_true(has_pair(v, "--unshare-user", "--disable-userns"));
	assert_true(position(v, "--die-with-parent") > 0);
	assert_true(position(v, "--new-session") > 0);
	assert_true(position(v, "--clearenv") > 0);
	assert_true(has_pair(v, "--cap-drop", "ALL"));
	assert_true(has_pair(v, "--ro-bind", "/usr"));
	assert_true(has_pair(v, "--ro-bind", "/opt/cuda"));
	assert_true(has_pair(v, "--bind", "/var/cache/x/job"));
	assert_true(has_pair(v, "--chdir", "/job/kernels"));
	assert_true(has_pair(v, "SOURCE_DATE_EPOCH", "0"));
	assert_int_equal(position(v, "--share-net"), -1);
	assert_int_equal(position(v, "--dev-bind"), -1);
	assert_true(position(v, "--") > position(v, "--chdir"));
	assert_true(position(v, "/usr/bin/setpriv") == -1);
	assert_string_equal(v->arg[v->n - 1], "make");
	assert_null(v->arg[v->n]);
	free(v);
}

/* Folders of the machine are visible, also if no other user may enter their parents; others are not. */
static void folders_that_are_shown(void **state)
{
	struct sandbox *s = calloc(1, sizeof *s);
	struct sandbox_argv *v = calloc(1, sizeof *v);
	char folder[] = "/tmp/flopwatch-shown-XXXXXX", cache[64], closed[64], toolchain[64], link[64];
	const char *one;
	struct fw_err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	snprintf(cache, sizeof cache, "%s/cache", folder);
	snprintf(closed, sizeof closed, "%s/closed", folder);
	snprintf(toolchain, sizeof toolchain, "%s/conda", folder);
	snprintf(link, sizeof link, "%s/link", folder);
	assert_int_equal(mkdir(cache, 0755) | mkdir(closed, 0700) | mkdir(toolchain, 0755) | symlink("/etc", link), 0);
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	one = toolchain;
	assert_int_equal(sandbox_show(s, &one, 1, cache, &err), 0);
	assert_int_equal(s->n_shown, 1);
	sandbox_run(s, v, "/usr/bin/true", false);
	if (s->active) {
		assert_true(has_pair(v, "--ro-bind", toolchain));
		assert_true(has_pair(v, "--dir", folder));
		assert_int_equal(position(v, cache), -1);
	}
	one = link;
	assert_int_equal(sandbox_show(s, &one, 1, cache, &err), -1);
	assert_non_null(strstr(err.text, "leads to /etc, which belongs to the system"));
	err_clear(&err);
	one = cache;
	assert_int_equal(sandbox_show(s, &one, 1, cache, &err), -1);
	assert_non_null(strstr(err.text, "which is the cache"));
	err_clear(&err);
	one = folder;
	assert_int_equal(sandbox_show(s, &one, 1, cache, &err), -1);
	err_clear(&err);
	one = "/opt/not-there";
	assert_int_equal(sandbox_show(s, &one, 1, cache, &err), -1);
	assert_string_equal(err.text, "--read-only: /opt/not-there is not a folder on this machine");
	if (s->drops_root) {
		err_clear(&err);
		one = closed;
		assert_int_equal(sandbox_show(s, &one, 1, cache, &err), -1);
		assert_non_null(strstr(err.text, "cannot be read by builds, which run as user nobody"));
	}
	assert_int_equal(s->n_shown, 1);
	assert_int_equal(rmdir(cache) | rmdir(closed) | rmdir(toolchain) | unlink(link) | rmdir(folder), 0);
	free(v);
	free(s);
}

/* Builds and runs of root's worker give up root. */
static void root_runs_as_nobody(void **state)
{
	struct sandbox s = { .active = true, .drops_root = true, .bwrap = "/usr/bin/bwrap" };
	struct sandbox_argv *v = calloc(1, sizeof *v);

	(void)state;
	sandbox_build(&s, v, "/var/cache/x/job", "kernels");
	assert_int_equal(position(v, "--unshare-all"), -1);
	assert_true(position(v, "--unshare-net") > 0 && position(v, "--unshare-pid") > 0 && position(v, "--unshare-ipc") > 0);
	assert_true(has_pair(v, "/usr/bin/setpriv", "--reuid=65534"));
	assert_true(position(v, "--bounding-set=-all") > 0);
	sandbox_run(&s, v, "/opt/flopwatch/flopwatch-runner", false);
	assert_int_equal(position(v, "--unshare-all"), -1);
	assert_true(has_pair(v, "/usr/bin/setpriv", "--reuid=65534"));
	assert_true(position(v, "--bounding-set=-all") > 0);
	free(v);
}

/* A run has the environment that is listed here, whatever the worker's is; scripts of benchmarks find the usual programs. */
static void environment_of_a_run(void **state)
{
	struct sandbox s = { .active = true, .bwrap = "/usr/bin/bwrap" };
	struct sandbox_argv *v = calloc(1, sizeof *v);

	(void)state;
	sandbox_run(&s, v, "/opt/flopwatch/flopwatch-runner", false);
	assert_true(position(v, "--clearenv") > 0);
	assert_true(has_pair(v, "PATH", sandbox_build_path));
	assert_true(has_pair(v, "LANG", "C.UTF-8"));
	assert_true(has_pair(v, "HOME", "/tmp"));
	assert_true(has_pair(v, "OMP_WAIT_POLICY", "passive"));
	free(v);
}

static void without_isolation_only_the_command_remains(void **state)
{
	struct sandbox s = { .active = false };
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };

	(void)state;
	sandbox_build(&s, v, "/job", "kernels");
	sandbox_arg(v, "make");
	assert_int_equal(sandbox_end(v, &err), 0);
	assert_true(position(v, "--") == -1 || position(v, "--") == v->n - 2); /* the end of the options of prlimit */
	assert_string_equal(v->arg[v->n - 1], "make");
	assert_true(v->n <= 4); /* and the limit of processes */
	sandbox_run(&s, v, "/opt/flopwatch/flopwatch-runner", true);
	assert_int_equal(v->n, 1);
	assert_string_equal(sandbox_isolation(&s), "none");
	free(v);
}

static void too_many_arguments_are_an_error(void **state)
{
	struct sandbox s = { .active = false };
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };

	(void)state;
	sandbox_build(&s, v, "/job", "kernels");
	for (int i = 0; i < SANDBOX_ARGS_MAX; i++)
		sandbox_arg(v, "x");
	assert_int_equal(sandbox_end(v, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	free(v);
}

static void a_required_sandbox_without_bubblewrap_is_an_error(void **state)
{
	char *before = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	struct sandbox *s = calloc(1, sizeof *s);
	struct fw_err err = { 0 };

	(void)state;
	setenv("PATH", "/nonexistent", 1);
	assert_int_equal(sandbox_open(s, SANDBOX_REQUIRED, &err), -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "bubblewrap is not installed"));
	err_clear(&err);
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	assert_false(s->active);
	assert_non_null(strstr(s->why, "not installed"));
	setenv("PATH", before, 1);
	free(before);
	free(s);
}

/* What bubblewrap prints shows why it does not work on this machine. */
static void a_bubblewrap_that_fails_is_explained(void **state)
{
	static const struct {
		const char *said, *why;
		bool is_service;
	} row[] = { { "bwrap: Can\'t mount proc on /newroot/proc: denied\nmore",
			    "bubblewrap needs a complete /proc (bwrap:", true },
		{ "bwrap: Can\'t mount proc on /newroot/proc: denied\nmore",
			"bubblewrap does not work here: bwrap: Can't mount proc on /newroot/proc: denied", false },
		{ "open /proc/sys/kernel/overflowuid", "bubblewrap needs a complete /proc (open", true },
		{ "No permissions to create new namespace", "bubblewrap cannot create namespaces (No permissions", false },
		{ "setting up uid map: denied", "user.max_user_namespaces > 0; see", false },
		{ "creating new namespace", "no RestrictNamespaces= in the worker's unit; see", true },
		{ "", "bubblewrap does not work here: bwrap ended without a message", false } };
	char *before = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char folder[] = "/tmp/flopwatch-bwrap-XXXXXX", program[64], path[4096];
	struct sandbox *s = calloc(1, sizeof *s);
	struct fw_err err = { 0 };

	(void)state;
	if (geteuid() != 0 && access("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", F_OK) == 0) {
		free(before);
		free(s);
		skip();
	}
	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof program, "%s/bwrap", folder);
	snprintf(path, sizeof path, "%s:%.4000s", folder, before);
	setenv("PATH", path, 1);
	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		FILE *f = fopen(program, "we");
		assert_non_null(f);
		fprintf(f, "#!/bin/sh\nprintf %%b \"%s\" >&2\nexit 1\n", row[i].said);
		assert_int_equal(fclose(f) | chmod(program, 0755), 0);
		if (row[i].is_service)
			setenv("INVOCATION_ID", "1", 1);
		else
			unsetenv("INVOCATION_ID");
		assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
		assert_false(s->active);
		if (!strstr(s->why, row[i].why))
			fail_msg("%s does not say %s", s->why, row[i].why);
	}
	unsetenv("INVOCATION_ID");
	setenv("PATH", before, 1);
	assert_int_equal(unlink(program) | rmdir(folder), 0);
	free(before);
	free(s);
}

/* A worker of root starts only with a runner that the user nobody may run. */
static void a_runner_of_root_alone_is_refused(void **state)
{
	char *before = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	char folder[] = "/tmp/flopwatch-runner-XXXXXX", program[64], path[4096];
	struct sandbox *s = calloc(1, sizeof *s);
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	if (!s->drops_root) {
		free(before);
		free(s);
		skip();
	}
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	snprintf(program, sizeof program, "%s/flopwatch-runner", folder);
	snprintf(path, sizeof path, "%s:%.4000s", folder, before);
	FILE *f = fopen(program, "we");
	assert_true(f && fputs("#!/bin/sh\n", f) >= 0 && fclose(f) == 0 && chmod(program, 0700) == 0);
	setenv("PATH", path, 1);
	int result = sandbox_open(s, SANDBOX_AUTO, &err);
	assert_int_equal(chmod(program, 0755), 0);
	struct fw_err none = { 0 };
	int again = sandbox_open(s, SANDBOX_AUTO, &none);
	setenv("PATH", before, 1);
	assert_int_equal(unlink(program) | rmdir(folder), 0);
	assert_int_equal(result, -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "cannot be run by user nobody"));
	assert_int_equal(again, 0);
	free(before);
	free(s);
}

/* A program of ours inside: it sees itself and no other process of ours; a signal that ends it is reported as 128 + n. */
static void a_program_runs_inside(void **state)
{
	struct sandbox *s = calloc(1, sizeof *s);
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };
	struct proc_exit how;
	struct buf out;

	(void)state;
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	if (!s->active) {
		free(v);
		free(s);
		skip();
	}
	buf_init(&out, 1000);
	setenv("FW_SECRET", "health_check", 1);
	sandbox_run(s, v, "/bin/sh", false);
	sandbox_arg(v, "-c");
	sandbox_arg(v, "echo ${FW_SECRET:-clean} `id -u` `ls / | tr '\\n' ' '`; unshare -U echo nested; kill -SEGV $$");
	assert_int_equal(sandbox_end(v, &err), 0);
	assert_int_equal(proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &out, &out, 10000, &how, &err), 0);
	assert_int_equal(how.status, 128 + 11);
	assert_true(strncmp(out.data, "clean ", 6) == 0);
	assert_null(strstr(out.data, "home"));
	assert_null(strstr(out.data, "root"));
	if (s->drops_root || s->ends_namespaces)
		assert_null(strstr(out.data, "nested"));
	buf_fini(&out);
	free(v);
	free(s);
}

/* The command of a branch is no option of the programs that limit it: setpriv would have its rights then. */
static void a_command_is_no_option(void **state)
{
	struct sandbox *s = calloc(1, sizeof *s);
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	for (int i = 0; i < 2; i++) {
		struct sandbox_argv *v = calloc(1, sizeof *v);
		struct proc_exit how;
		struct buf out;

		buf_init(&out, 8000);
		sandbox_build(s, v, "/usr", "bin");
		sandbox_arg(v, i ? "--nproc=7" : "--version");
		sandbox_arg(v, "/bin/true");
		assert_int_equal(sandbox_end(v, &err), 0);
		int result = proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &out, &out, 10000, &how, &err);
		assert_true(result != 0 || how.status != 0);
		assert_null(strstr(out.data, "util-linux"));
		buf_fini(&out);
		free(v);
	}
	free(s);
}

/* The limit of processes applies to the runner too: a module could otherwise start as many as the machine has numbers for. */
static void processes_of_a_run_are_limited(void **state)
{
	struct sandbox *s = calloc(1, sizeof *s);
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };
	struct proc_exit how;
	struct buf out;

	(void)state;
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	if (!s->active || access("/usr/bin/prlimit", X_OK) != 0) {
		free(v);
		free(s);
		skip();
	}
	buf_init(&out, 8000);
	sandbox_run(s, v, "/bin/sh", false);
	sandbox_arg(v, "-c");
	sandbox_arg(v, "while read a b c d e; do [ \"$a $b\" != 'Max processes' ] || echo $c $d; done </proc/self/limits");
	assert_int_equal(sandbox_end(v, &err), 0);
	assert_int_equal(proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &out, &out, 10000, &how, &err), 0);
	long soft = 0, hard = 0;
	assert_int_equal(sscanf(out.data, "%ld %ld", &soft, &hard), 2);
	assert_true(soft > 0 && soft == hard);
	buf_fini(&out);
	free(v);
	free(s);
}

/* Each folder in memory that a build or a program can write has a size limit, and there is no further one. */
static void memory_of_folders_is_limited(void **state)
{
	(void)state;
	for (int is_build = 0; is_build < 2; is_build++) {
		struct sandbox *s = calloc(1, sizeof *s);
		struct sandbox_argv *v = calloc(1, sizeof *v);
		struct fw_err err = { 0 };
		struct proc_exit how;
		struct buf out;
		char folder[] = "/tmp/fw-sandbox-XXXXXX";

		assert_non_null(mkdtemp(folder));
		assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
		if (!s->active) {
			rmdir(folder);
			free(v);
			free(s);
			skip();
		}
		buf_init(&out, 4000);
		if (is_build)
			sandbox_build(s, v, folder, ".");
		else
			sandbox_run(s, v, "/bin/sh", false);
		if (is_build)
			sandbox_arg(v, "/bin/sh");
		sandbox_arg(v, "-c");
		sandbox_arg(v,
			"for f in /tmp /dev/shm; do echo $(($(stat -f -c '%b * %S' $f))) $f; done; echo x >/dev/shm/x && cat /dev/shm/x; "
			"echo x >/dev/null && echo written; echo x >/dev/x");
		assert_int_equal(sandbox_end(v, &err), 0);
		assert_int_equal(proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &out, &out, 10000, &how, &err), 0);
		assert_non_null(strstr(out.data, "4294967296 /tmp\n4294967296 /dev/shm\nx\nwritten\n"));
		assert_non_null(strstr(out.data, "Read-only file system"));
		buf_fini(&out);
		rmdir(folder);
		free(v);
		free(s);
	}
}

/* The filter applies to this process and its children: a family that is not needed, io_uring, keys, namespaces of root's builds. */
static void calls_of_branches_are_limited(void **state)
{
	static const int refused[] = { AF_UNSPEC, AF_PACKET, AF_ALG, AF_VSOCK, AF_BLUETOOTH, 63, 64, 65, 1000 };
	static const int allowed[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	struct sandbox *s = calloc(1, sizeof *s);
	struct fw_err err = { 0 };

	(void)state;
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	if (!s->active) {
		free(s);
		skip();
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		int pair[2];
		assert_int_equal(socket(refused[i], SOCK_STREAM, 0), -1);
		assert_int_equal(errno, EAFNOSUPPORT);
		assert_int_equal(socketpair(refused[i], SOCK_STREAM, 0, pair), -1);
		assert_int_equal(errno, EAFNOSUPPORT);
	}
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
		int fd = socket(allowed[i], allowed[i] == AF_NETLINK ? SOCK_RAW : SOCK_STREAM, 0);
		assert_true(fd >= 0 || errno != EAFNOSUPPORT || allowed[i] == AF_INET6); /* a kernel may have no IPv6 */
		close(fd);
	}
	assert_int_equal(syscall(SYS_io_uring_setup, 1, NULL), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(syscall(SYS_add_key, "user", "flopwatch", "x", 1, KEY_SPEC_SESSION_KEYRING), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(syscall(SYS_request_key, "user", "flopwatch", NULL, KEY_SPEC_SESSION_KEYRING), -1);
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0), -1);
	assert_int_equal(errno, ENOSYS);
	if (s->drops_root) {
		assert_int_equal(unshare(CLONE_NEWUSER), -1);
		assert_int_equal(errno, EPERM);
		assert_int_equal(syscall(SYS_clone3, NULL, 0), -1);
		assert_int_equal(errno, ENOSYS);
	}
	free(s);
}

static void compilers_have_versions(void **state)
{
	char text[96];

	(void)state;
	toolchain_describe(NULL, DEVICE_CPU, "", "", text, sizeof text);
	assert_true(strncmp(text, "gcc ", 4) == 0 && text[4] >= '1' && text[4] <= '9');
	assert_null(strchr(text, '\n'));
	char with[sizeof text + 32], wanted[sizeof text + 32];
	snprintf(wanted, sizeof wanted, "%s in /nowhere with -O2", text);
	toolchain_describe(NULL, DEVICE_CPU, "/nowhere", "-O2", with, sizeof with);
	assert_string_equal(with, wanted);
	assert_true(toolchain_is_in("/usr") && !toolchain_is_in("/nowhere"));
	toolchain_nvcc_version("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0\n", text, sizeof text);
	assert_string_equal(text, "13.0.88");
	toolchain_nvcc_version("gcc (Debian) 12.2.0", text, sizeof text);
	assert_string_equal(text, "");
}

/* A user may name any folder as the toolchain of a job, also one in the cache, which a build of a branch has filled. */
static void a_toolchain_of_a_job_runs_inside(void **state)
{
	struct sandbox *s = calloc(1, sizeof *s);
	struct build_context *c = calloc(1, sizeof *c);
	struct msg_job *job = calloc(1, sizeof *job);
	char folder[] = "/tmp/flopwatch-tools-XXXXXX", tools[64], compiler[80], escaped[64], wanted[96];
	const char *one = tools;
	struct fw_err err = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(tools, sizeof tools, "%s/tools", folder);
	snprintf(compiler, sizeof compiler, "%s/gcc", tools);
	snprintf(escaped, sizeof escaped, "%s/escaped", folder);
	assert_int_equal(chmod(folder, 0777) | mkdir(tools, 0755), 0);
	FILE *script = fopen(compiler, "we");
	assert_non_null(script);
	assert_true(fprintf(script, "#!/bin/sh\necho escaped >%s\necho 7.8.9\n", escaped) > 0);
	assert_int_equal(fclose(script) | chmod(compiler, 0755), 0);
	assert_int_equal(sandbox_open(s, SANDBOX_AUTO, &err), 0);
	c->sandbox = s;
	c->device = DEVICE_CPU;
	job->n_sides = 1;
	job->side[0].role = ROLE_TARGET;
	snprintf(job->side[0].tools.dir, sizeof job->side[0].tools.dir, "%s", tools);
	build_tools(c, job, "usual");
	snprintf(wanted, sizeof wanted, "none in %s", tools);
	assert_string_equal(c->toolchain[ROLE_TARGET], wanted);
	assert_int_equal(access(escaped, F_OK), -1);
	assert_int_equal(sandbox_show(s, &one, 1, NULL, &err), 0);
	if (s->active) {
		build_tools(c, job, "usual");
		snprintf(wanted, sizeof wanted, "gcc 7.8.9 in %s", tools);
		assert_string_equal(c->toolchain[ROLE_TARGET], wanted);
		assert_int_equal(access(escaped, F_OK), -1);
	} else {
		puts("# without bubblewrap it runs outside");
	}
	assert_int_equal(unlink(compiler) | rmdir(tools) | rmdir(folder), 0);
	free(job);
	free(c);
	free(s);
}

/* The driver accepts only a process that has the capability outside of user namespaces. */
static void a_process_with_counters_has_one_capability(void **state)
{
	struct sandbox s = { .active = true, .bwrap = "/usr/bin/bwrap", .drops_root = true, .keeps_counters = true };
	struct sandbox_argv *v = calloc(1, sizeof *v);
	struct fw_err err = { 0 };
	struct proc_exit how;
	struct buf said;

	(void)state;
	sandbox_run(&s, v, "/bin/sh", false);
	assert_int_equal(position(v, "CAP_PERFMON"), -1); /* no other process does */
	sandbox_count(&s, v, "/bin/sh", false);
	assert_int_equal(position(v, "--unshare-all"), -1);
	assert_true(
		position(v, "--unshare-net") > 0 && has_pair(v, "--cap-drop", "ALL") && has_pair(v, "--cap-add", "CAP_PERFMON"));
	if (geteuid() != 0 || access("/usr/bin/setpriv", X_OK) != 0 || sandbox_open(&s, SANDBOX_AUTO, &err) != 0 ||
		!s.drops_root) {
		puts("# needs root, setpriv and bubblewrap");
		free(v);
		skip();
	}
	s.keeps_counters = true;
	buf_init(&said, 4096);
	sandbox_count(&s, v, "/bin/sh", false);
	sandbox_arg(v, "-c");
	sandbox_arg(v, "id -u; grep -E '^Cap(Prm|Eff|Bnd)' /proc/self/status | cut -f2 | sort -u");
	assert_int_equal(proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &said, &said, 60000, &how, &err), 0);
	assert_string_equal(said.data, "65534\n0000004000000000\n");
	/* also of a program in a folder that no other user may enter, such as one of a bundle */
	char folder[] = "/tmp/flopwatch-closed-XXXXXX", program[64];
	assert_non_null(mkdtemp(folder));
	snprintf(program, sizeof program, "%s/bin", folder);
	assert_int_equal(mkdir(program, 0755), 0);
	snprintf(program, sizeof program, "%s/bin/true", folder);
	FILE *script = fopen(program, "we");
	assert_true(script && fputs("#!/bin/sh\necho ran\n", script) >= 0 && fclose(script) == 0 && chmod(program, 0755) == 0);
	buf_clear(&said);
	sandbox_count(&s, v, program, false);
	assert_int_equal(proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, &said, &said, 60000, &how, &err), 0);
	assert_string_equal(said.data, "ran\n");
	unlink(program);
	*strrchr(program, '/') = '\0';
	assert_int_equal(rmdir(program) | rmdir(folder), 0);
	buf_fini(&said);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words),
		cmocka_unit_test(build_arguments),
		cmocka_unit_test(root_runs_as_nobody),
		cmocka_unit_test(environment_of_a_run),
		cmocka_unit_test(folders_that_are_shown),
		cmocka_unit_test(without_isolation_only_the_command_remains),
		cmocka_unit_test(too_many_arguments_are_an_error),
		cmocka_unit_test(a_required_sandbox_without_bubblewrap_is_an_error),
		cmocka_unit_test(a_bubblewrap_that_fails_is_explained),
		cmocka_unit_test(a_runner_of_root_alone_is_refused),
		cmocka_unit_test(a_program_runs_inside),
		cmocka_unit_test(a_command_is_no_option),
		cmocka_unit_test(processes_of_a_run_are_limited),
		cmocka_unit_test(memory_of_folders_is_limited),
		cmocka_unit_test(a_process_with_counters_has_one_capability),
		cmocka_unit_test(calls_of_branches_are_limited),
		cmocka_unit_test(compilers_have_versions),
		cmocka_unit_test(a_toolchain_of_a_job_runs_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
