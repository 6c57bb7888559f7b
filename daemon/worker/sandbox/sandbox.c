/*
 * sandbox.c - the only file with arguments of bubblewrap, and the seccomp filter.
 *
 * If root starts bubblewrap without --cap-drop ALL, code inside has all capabilities. Killing the bwrap process ends its pid
 * namespace and all processes inside.
 */
#include "worker/sandbox/internal.h"

#include <glob.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* ---- calls: The seccomp filter. ---- */

enum { FAMILIES = 64 /* more than exist */ };

static bool is_allowed(int family)
{
	return family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
}

/* Reject socket families. A rule can compare an argument only once, so each rejected family needs a rule. */
static int refuse_families(scmp_filter_ctx filter, int call)
{
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, SCMP_A0(SCMP_CMP_GE, FAMILIES));

	for (int family = 0; rc == 0 && family < FAMILIES; family++)
		if (!is_allowed(family))
			rc = seccomp_rule_add(
				filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family));
	return rc;
}

/* Extend the filter to programs with other word sizes that this kernel runs, such as 32-bit programs. */
static int add_architectures(scmp_filter_ctx filter)
{
	static const uint32_t beside_x86_64[] = { SCMP_ARCH_X86, SCMP_ARCH_X32 }, beside_aarch64[] = { SCMP_ARCH_ARM };
	uint32_t native = seccomp_arch_native();
	const uint32_t *others = native == SCMP_ARCH_X86_64 ? beside_x86_64 : beside_aarch64;
	size_t n = native == SCMP_ARCH_X86_64 ? 2 : native == SCMP_ARCH_AARCH64 ? 1 : 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = seccomp_arch_add(filter, others[i]);
	return rc;
}

/*
 * Reject new user namespaces: a process has all capabilities in a namespace that it creates, and with them access to kernel code
 * that unprivileged users cannot call otherwise. clone3 has its flags in memory, where a filter cannot read them, so it fails
 * with ENOSYS; the C library then uses clone.
 */
static int refuse_user_namespaces(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp flag = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER);
	int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1, flag);

	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1, flag) : rc;
	return rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) : rc;
}

/*
 * Reject access to keyrings. Branch code inherits the session keyring of the user who started the worker: it could read keys, and
 * store keys for later builds. Keys in the user's keyring remain after a process ends, too.
 */
static int refuse_keys(scmp_filter_ctx filter)
{
	static const int calls[] = { SCMP_SYS(add_key), SCMP_SYS(request_key), SCMP_SYS(keyctl) };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof calls / sizeof calls[0]; i++)
		rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), calls[i], 0);
	return rc;
}

static int fill(scmp_filter_ctx filter, bool without_namespaces)
{
	int rc = add_architectures(filter);

	/* 32-bit programs can also use socketcall, whose arguments are in memory, where a filter cannot read them */
	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socketcall), 0) : rc;
	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(io_uring_setup), 0) : rc;
	/* a module could delay work until after its call, by a thread that fills a page only when it is read */
	rc = rc == 0 ? seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(userfaultfd), 0) : rc;
	rc = rc == 0 ? refuse_keys(filter) : rc;
	rc = rc == 0 ? refuse_families(filter, SCMP_SYS(socket)) : rc;
	rc = rc == 0 && without_namespaces ? refuse_user_namespaces(filter) : rc;
	return rc == 0 ? refuse_families(filter, SCMP_SYS(socketpair)) : rc;
}

/*
 * Install a permanent seccomp filter in this process, which its children inherit, and set no_new_privs. Other socket families
 * fail with EAFNOSUPPORT; io_uring, userfaultfd and keyrings with ENOSYS; with `without_namespaces` new user namespaces with
 * EPERM. A second call does nothing. Err: ERR_UNSUPPORTED if the kernel has no seccomp filters, or libseccomp does not support
 * this architecture.
 */
static int limit_calls(bool without_namespaces, struct fw_err *err)
{
	static bool is_limited;
	scmp_filter_ctx filter = is_limited ? NULL : seccomp_init(SCMP_ACT_ALLOW);

	if (is_limited)
		return 0;
	if (!filter)
		return err_set(err, ERR_FULL, "out of memory");
	int rc = fill(filter, without_namespaces);
	rc = rc == 0 ? seccomp_load(filter) : rc; /* sets no_new_privs */
	seccomp_release(filter);
	if (rc != 0) {
		errno = -rc;
		err_sys(err, "limit the system calls of branch code (seccomp)");
		err->code = ERR_UNSUPPORTED;
		return -1;
	}
	is_limited = true;
	return 0;
}

/* ---- sandbox ---- */

enum { TRY_MS = 10000 }; /* deadline of a test of bubblewrap */

/* util-linux, which every Debian and Ubuntu has */
static const char prlimit_path[] = "/usr/bin/prlimit", setpriv[] = "/usr/bin/setpriv";
/* root can change settings of the machine by these files */
static const char *const closed_proc[] = { "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi",
	"/proc/scsi" };
static const char tmp_bytes[] = "4294967296"; /* size limit of /tmp and of /dev/shm; memory is allocated as it is used */

const char *const sandbox_passed_env[] = { "FLOPWATCH_CPU_THREADS", "FLOPWATCH_CPU_CACHE_MIB", "FLOPWATCH_SIM_DEVICES",
	"FLOPWATCH_SIM_ENVIRONMENT", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", NULL };
const char sandbox_build_path[] = BUILD_PATH;
const char *const sandbox_build_env[] = { "HOME=/tmp", "TMPDIR=/tmp", "PATH=" BUILD_PATH, "LANG=C.UTF-8", "SOURCE_DATE_EPOCH=0",
	"CUDA_CACHE_DISABLE=1", "USER=flopwatch", "LOGNAME=flopwatch" /* Python needs a name, and there is no /etc/passwd */,
	NULL };

int sandbox_want(const char *text, enum sandbox_want *out)
{
	static const char *const words[] = { "auto", "required", "none" };
	int i;

	for (i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0) {
			*out = (enum sandbox_want)i;
			return 0;
		}
	return -1;
}

const char *sandbox_isolation(const struct sandbox *s)
{
	return s->active ? "bwrap" : "none";
}

void sandbox_arg(struct sandbox_argv *v, const char *arg)
{
	size_t len = strlen(arg) + 1;

	if (v->n + 1 >= SANDBOX_ARGS_MAX || len > sizeof v->text - v->used) {
		v->failed = true;
		return;
	}
	memcpy(v->text + v->used, arg, len);
	v->arg[v->n++] = v->text + v->used;
	v->arg[v->n] = NULL;
	v->used += len;
}

int sandbox_end(struct sandbox_argv *v, struct fw_err *err)
{
	return v->failed ? err_set(err, ERR_INVALID, "the command has too many or too long arguments") : 0;
}

static void args(struct sandbox_argv *v, const char *a, const char *b, const char *c)
{
	sandbox_arg(v, a);
	if (b)
		sandbox_arg(v, b);
	if (c)
		sandbox_arg(v, c);
}

/* Mount a system folder read-only. A link, as /bin in a merged /usr, becomes the same link. */
static void system_folder(struct sandbox_argv *v, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof target - 1);

	if (n > 0) {
		target[n] = '\0';
		args(v, "--symlink", target, path);
	} else if (access(path, F_OK) == 0) {
		args(v, "--ro-bind", path, path);
	}
}

/* Return whether the path is already visible, also through a link: bubblewrap cannot mount over a link such as /bin. */
static bool below_usr(const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		snprintf(real, sizeof real, "%s", path);
	return strncmp(real, "/usr/", 5) == 0 || strcmp(real, "/usr") == 0;
}

bool sandbox_shows(const struct sandbox *s, const char *dir)
{
	char real[PATH_MAX], shown[PATH_MAX];

	if (!realpath(dir, real))
		return false;
	for (int i = 0; i < s->n_shown; i++)
		if (realpath(s->shown[i], shown) && readonly_lies_in(real, shown))
			return true;
	return below_usr(real) || (*s->cuda && readonly_lies_in(real, s->cuda));
}

/* Mount a folder of this machine read-only. Its parent folders are created so that every user may enter them. */
static void show_folder(struct sandbox_argv *v, const char *path)
{
	char parent[READONLY_PATH_SIZE];

	if (below_usr(path))
		return;
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
		args(v, "--perms", "0755", NULL);
		args(v, "--dir", parent, NULL);
	}
	args(v, "--ro-bind", path, path);
}

static void begin(const struct sandbox *s, struct sandbox_argv *v, bool as_nobody)
{
	v->n = 0;
	v->used = 0;
	v->failed = false;
	if (!s->active)
		return;
	args(v, s->bwrap, "--die-with-parent", "--new-session");
	args(v, "--clearenv", "--cap-drop", "ALL");
	if (as_nobody) {
		/* in a user namespace root would be the only user; setpriv needs these three capabilities and drops them */
		args(v, "--unshare-ipc", "--unshare-pid", "--unshare-net");
		args(v, "--unshare-uts", "--unshare-cgroup-try", NULL);
		args(v, "--cap-add", "CAP_SETUID", NULL);
		args(v, "--cap-add", "CAP_SETGID", NULL);
		args(v, "--cap-add", "CAP_SETPCAP", NULL);
	} else {
		sandbox_arg(v, "--unshare-all");
		if (s->ends_namespaces)
			args(v, "--unshare-user", "--disable-userns", NULL);
	}
	args(v, "--ro-bind", "/usr", "/usr");
	system_folder(v, "/bin");
	system_folder(v, "/sbin");
	system_folder(v, "/lib");
	system_folder(v, "/lib64");
	/* bubblewrap would create /etc so that only root may enter it; /etc/alternatives may link to a CUDA toolkit */
	args(v, "--perms", "0755", NULL);
	args(v, "--dir", "/etc", NULL);
	system_folder(v, "/etc/alternatives");
	system_folder(v, "/etc/ld.so.cache");
	args(v, "--proc", "/proc", NULL);
	/* code inside runs as the machine's root if the worker is root and setpriv does not work */
	for (size_t i = 0; i < sizeof closed_proc / sizeof closed_proc[0]; i++)
		if (access(closed_proc[i], F_OK) == 0)
			args(v, "--ro-bind", closed_proc[i], closed_proc[i]);
	args(v, "--dev", "/dev", NULL);
	args(v, "--perms", "1777", NULL);
	args(v, "--size", tmp_bytes, NULL);
	args(v, "--tmpfs", "/tmp", NULL);
	if (*s->cuda)
		args(v, "--ro-bind", s->cuda, s->cuda);
	for (int i = 0; i < s->n_shown; i++)
		show_folder(v, s->shown[i]);
	if (*s->kit)
		show_folder(v, s->kit);
}

static void environment(struct sandbox_argv *v, const char *const *env)
{
	for (; *env; env++) {
		const char *equals = strchr(*env, '=');
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)(equals - *env), *env);
		args(v, "--setenv", name, equals + 1);
	}
}

/*
 * Let the kernel limit the number of processes, because a check ten times a second is too slow for a fork bomb. The kernel counts
 * all threads of the user, so the threads that the machine has now are added. It does not limit root.
 */
static void process_limit(struct sandbox_argv *v, int more)
{
	struct rlimit now;
	rlim_t wanted;
	char limit[48];
	int threads = procs_threads();

	if (threads < 0 || access(prlimit_path, X_OK) != 0 || getrlimit(RLIMIT_NPROC, &now) < 0)
		return;
	wanted = (rlim_t)threads + (rlim_t)more;
	if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted)
		wanted = now.rlim_max;
	snprintf(limit, sizeof limit, "--nproc=%llu", (unsigned long long)wanted);
	args(v, prlimit_path, limit, "--"); /* a branch's command may begin with a dash */
}

long sandbox_threads_of_side(const struct sandbox *s)
{
	int threads = procs_threads();

	return s->active && s->drops_root && threads > 0 ? (threads + procs_build_max() + SANDBOX_PROCESSES_EXTRA) / 2 : 0;
}

/* Make the GPU visible: device nodes, the driver's files in /sys, and the libraries of LD_LIBRARY_PATH, as containers set it. */
static void gpu_arguments(struct sandbox_argv *v)
{
	const char *libraries = getenv("LD_LIBRARY_PATH");
	glob_t nodes = { 0 };
	size_t i;

	if (glob("/dev/nvidia*", 0, NULL, &nodes) == 0)
		for (i = 0; i < nodes.gl_pathc; i++)
			args(v, "--dev-bind", nodes.gl_pathv[i], nodes.gl_pathv[i]);
	globfree(&nodes);
	if (access("/sys", F_OK) == 0)
		args(v, "--ro-bind", "/sys", "/sys");
	if (!libraries || !*libraries)
		return;
	args(v, "--setenv", "LD_LIBRARY_PATH", libraries);
	while (*libraries) {
		size_t n = strcspn(libraries, ":");
		char dir[PATH_MAX];

		if (*libraries == '/' && n < sizeof dir) {
			snprintf(dir, sizeof dir, "%.*s", (int)n, libraries);
			if (!below_usr(dir))
				args(v, "--ro-bind-try", dir, dir);
		}
		libraries += n;
		libraries += *libraries == ':';
	}
}

/* Limit the memory that files can use: /dev/shm gets a size, and /dev, which cannot have one, becomes read-only. */
static void end_dev(struct sandbox_argv *v)
{
	args(v, "--perms", "1777", NULL);
	args(v, "--size", tmp_bytes, NULL);
	args(v, "--tmpfs", "/dev/shm", NULL);
	args(v, "--remount-ro", "/dev", NULL);
}

static void become_nobody(struct sandbox_argv *v)
{
	args(v, setpriv, "--reuid=65534", "--regid=65534");
	args(v, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all");
	sandbox_arg(v, "--");
}

static void in_job(const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, bool gpu,
	const struct sandbox_more *more)
{
	char inside[PATH_MAX];

	begin(s, v, s->drops_root);
	if (s->active && more && more->folder[0])
		show_folder(v, more->folder);
	if (s->active) {
		snprintf(inside, sizeof inside, "/job/%s", dir);
		environment(v, sandbox_build_env);
		if (*s->kit)
			args(v, "--setenv", SANDBOX_KIT_VARIABLE, s->kit);
		if (*s->before)
			args(v, "--setenv", SANDBOX_BEFORE_VARIABLE, s->before);
		if (more && more->variable)
			environment(v, more->variable);
		if (gpu)
			gpu_arguments(v);
		end_dev(v);
		args(v, "--bind", job_dir, "/job");
		args(v, "--chdir", inside, NULL);
		sandbox_arg(v, "--");
	}
	process_limit(v, procs_build_max() + SANDBOX_PROCESSES_EXTRA);
	if (s->drops_root)
		become_nobody(v);
}

void sandbox_build_with(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, const struct sandbox_more *more)
{
	in_job(s, v, job_dir, dir, false, more);
}

void sandbox_build(const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir)
{
	in_job(s, v, job_dir, dir, false, NULL);
}

void sandbox_benchmark(
	const struct sandbox *s, struct sandbox_argv *v, const char *job_dir, const char *dir, bool gpu, const char *const *more)
{
	struct sandbox_more with = { .variable = more, .folder = "" };

	in_job(s, v, job_dir, dir, gpu, &with);
}

static bool is_replaced(const char *variable, const char *const *more)
{
	size_t n = strcspn(variable, "=") + 1;

	for (; more && *more; more++)
		if (strncmp(*more, variable, n) == 0)
			return true;
	return false;
}

void sandbox_environment(const struct sandbox *s, const char *const *more, struct sandbox_environment *out)
{
	int n = 0;

	for (const char *const *e = sandbox_build_env; *e; e++)
		if (!is_replaced(*e, more))
			out->list[n++] = *e;
	if (*s->kit) {
		snprintf(out->kit, sizeof out->kit, SANDBOX_KIT_VARIABLE "=%s", s->kit);
		out->list[n++] = out->kit;
	}
	if (*s->before) {
		snprintf(out->before, sizeof out->before, SANDBOX_BEFORE_VARIABLE "=%s", s->before);
		out->list[n++] = out->before;
	}
	while (more && *more && n + 1 < (int)(sizeof out->list / sizeof out->list[0]))
		out->list[n++] = *more++;
	out->list[n] = NULL;
}

static void show_program(struct sandbox_argv *v, const char *program)
{
	char folder[PATH_MAX], lib[PATH_MAX + 8], *slash;

	if (below_usr(program))
		return;
	snprintf(folder, sizeof folder, "%s", program);
	slash = strrchr(folder, '/');
	if (slash && slash != folder)
		*slash = '\0';
	show_folder(v, folder);
	snprintf(lib, sizeof lib, "%s/../lib", folder);
	if (realpath(lib, folder))
		show_folder(v, folder);
}

/* Add all arguments before the command `program`, which `tool` starts (NULL: none). `counts`: it reads the GPU's counters. */
static void in_run(const struct sandbox *s, struct sandbox_argv *v, const char *tool, const char *program, bool gpu, bool counts)
{
	bool with_perfmon = counts && s->keeps_counters;

	begin(s, v, s->drops_root);
	if (!s->active)
		return;
	if (with_perfmon)
		args(v, "--cap-add", "CAP_PERFMON", NULL);
	show_program(v, program);
	if (tool) {
		show_program(v, tool);
		args(v, "--ro-bind-try", "/opt/nvidia", "/opt/nvidia"); /* ncu in PATH is a script that runs a program there */
	}
	if (gpu)
		gpu_arguments(v);
	end_dev(v);
	args(v, "--setenv", "PATH", BUILD_PATH);
	args(v, "--setenv", "LANG", "C.UTF-8");
	args(v, "--setenv", "HOME", "/tmp");
	args(v, "--setenv", "CUDA_CACHE_DISABLE", "1");
	args(v, "--setenv", "CUDA_MODULE_LOADING", "EAGER");
	args(v, "--setenv", "OMP_WAIT_POLICY", "passive");
	for (const char *const *name = sandbox_passed_env; *name; name++)
		if (getenv(*name))
			args(v, "--setenv", *name, getenv(*name));
	args(v, "--chdir", "/", NULL);
	sandbox_arg(v, "--");
	process_limit(v, SANDBOX_RUN_PROCESSES);
	if (with_perfmon) {
		args(v, setpriv, "--reuid=65534", "--regid=65534");
		args(v, "--clear-groups", "--inh-caps=-all,+perfmon", "--ambient-caps=-all,+perfmon");
		args(v, "--bounding-set=-all,+perfmon", "--", NULL);
	} else if (s->drops_root) {
		become_nobody(v);
	}
}

void sandbox_run(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu)
{
	in_run(s, v, NULL, program, gpu, false);
	sandbox_arg(v, program);
}

void sandbox_count(const struct sandbox *s, struct sandbox_argv *v, const char *program, bool gpu)
{
	in_run(s, v, NULL, program, gpu, true);
	sandbox_arg(v, program);
}

void sandbox_run_under(const struct sandbox *s, struct sandbox_argv *v, const char *const *argv, const char *program, bool gpu)
{
	in_run(s, v, argv[0], program, gpu, true);
	for (; *argv; argv++)
		sandbox_arg(v, *argv);
	sandbox_arg(v, program);
}

static void explain_failure(struct sandbox *s, const char *output)
{
	char text[128] = "";
	int fd = open("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, text, 1) == 1 && text[0] == '1' && geteuid() != 0) {
			snprintf(s->why, sizeof s->why,
				"bubblewrap cannot create user namespaces (kernel.apparmor_restrict_unprivileged_userns=1): add "
				"an "
				"AppArmor profile with `userns,` for %.80s (see doc/troubleshooting.md#namespaces)",
				s->bwrap);
			close(fd);
			return;
		}
		close(fd);
	}
	snprintf(text, sizeof text, "%.*s", (int)strcspn(output, "\n"), output);
	/* INVOCATION_ID is set: systemd started the worker as a service */
	if (getenv("INVOCATION_ID") && (strstr(output, "mount proc") || strstr(output, "/proc/sys/kernel/overflow")))
		snprintf(s->why, sizeof s->why,
			"bubblewrap needs a complete /proc (%.60s): remove ProtectKernelTunables=, ProtectKernelLogs= and ProcSubset= "
			"from the worker's unit (see doc/troubleshooting.md#unit)",
			text);
	else if (strstr(output, "No permissions to create") || strstr(output, "new namespace") ||
		 strstr(output, "user namespace") || strstr(output, "uid map"))
		snprintf(s->why, sizeof s->why,
			"bubblewrap cannot create namespaces (%.30s): allow user namespaces (kernel.unprivileged_userns_clone=1, "
			"user.max_user_namespaces > 0%s; see doc/troubleshooting.md#namespaces)",
			text, getenv("INVOCATION_ID") ? ", no RestrictNamespaces= in the worker's unit" : "");
	else
		snprintf(s->why, sizeof s->why, "bubblewrap does not work here: %.150s",
			*text ? text : "bwrap ended without a message");
}

static void find_cuda(struct sandbox *s)
{
	char path[PATH_MAX];

	if (realpath("/usr/local/cuda", path) && !below_usr(path))
		snprintf(s->cuda, sizeof s->cuda, "%s", path);
}

/* Headers for which the kit has a replacement. If the library is not installed, the replacement would only hide that. */
static const char *const replaced_headers[] = { "/usr/include/benchmark/benchmark.h",
	"/usr/local/include/benchmark/benchmark.h" };

static void find_before(struct sandbox *s)
{
	bool is_there = false;

	for (size_t i = 0; i < sizeof replaced_headers / sizeof replaced_headers[0]; i++)
		is_there = is_there || access(replaced_headers[i], R_OK) == 0;
	if (is_there && *s->kit)
		snprintf(s->before, sizeof s->before, "%s/before", s->kit);
}

/* Find the kit: at its installed path, in a bundle, or in the source tree. Paths are relative to the program's folder. */
static void find_kit(struct sandbox *s)
{
	static const char *const paths[] = { "../../share/flopwatch/kit", "../share/kit", "../../daemon/kit" };
	char self[PATH_MAX], path[PATH_MAX + 64], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = '\0';
	for (size_t i = 0; i < sizeof paths / sizeof paths[0] && !*s->kit; i++) {
		snprintf(path, sizeof path, "%s/%s/flopwatch.py", self, paths[i]);
		if (access(path, R_OK) != 0)
			continue;
		*strrchr(path, '/') = '\0';
		if (!realpath(path, s->kit))
			*s->kit = '\0';
	}
}

enum run_as { AS_BUILD, AS_RUN, AS_COUNT };

/* Run the command `v`. Returns whether it exits with status 0. `output` receives its output; NULL: dropped. Own: frees `v`. */
static bool ends_well(struct sandbox_argv *v, struct buf *output, struct fw_err *err)
{
	struct proc_exit how;
	bool good = sandbox_end(v, err) == 0 &&
		    proc_run(&(struct proc_spec){ .argv = v->arg }, NULL, output, output, TRY_MS, &how, err) == 0 &&
		    how.status == 0;

	free(v);
	return good;
}

/* Run /usr/bin/true like branch code. Returns whether this works. `output` receives the output of a failure. */
static bool works(struct sandbox *s, enum run_as as, struct buf *output, struct fw_err *err)
{
	struct sandbox_argv *v = mem_alloc(sizeof *v);

	buf_clear(output);
	if (as == AS_BUILD)
		sandbox_build(s, v, "/usr", "bin");
	else
		in_run(s, v, NULL, "/usr/bin/true", false, as == AS_COUNT);
	sandbox_arg(v, "/usr/bin/true");
	return ends_well(v, output, err);
}

/* Return whether the driver restricts counters to processes with CAP_PERFMON (before version 565: CAP_SYS_ADMIN). */
static bool counters_are_closed(void)
{
	FILE *f = fopen("/proc/driver/nvidia/params", "re");
	char line[256];
	bool closed = false;

	while (f && fgets(line, sizeof line, f))
		closed = closed || strncmp(line, "RmProfilingAdminOnly: 1", 23) == 0;
	if (f)
		fclose(f);
	return closed;
}

/* Check that user nobody, who can read only public files, can start the runner: otherwise every job would fail. */
static int check_runner(const struct sandbox *s, struct fw_err *err)
{
	struct fw_err e = { 0 };
	char runner[PATH_MAX];

	if (proc_sibling("flopwatch-runner", runner, sizeof runner, NULL) != 0)
		return 0;
	struct sandbox_argv *v = mem_alloc(sizeof *v);

	in_run(s, v, NULL, runner, false, false);
	args(v, "/usr/bin/test", "-x", runner);
	if (ends_well(v, NULL, &e))
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		"%s cannot be run by user nobody (uid 65534), as which a worker of root runs branch code; install it where "
		"every user may read it",
		runner);
}

/* Install the filter, then test bubblewrap again, because a bubblewrap that is setuid root cannot work with no_new_privs. */
static void limit_and_test(struct sandbox *s, struct buf *output)
{
	struct fw_err e = { 0 };

	if (!s->active)
		return;
	/* with drops_root bubblewrap creates no user namespace, so the filter may reject them */
	if (limit_calls(s->drops_root, &e) != 0) {
		snprintf(s->why, sizeof s->why, "%.250s", e.text);
	} else if (!works(s, AS_RUN, output, &e)) {
		s->active = false;
		explain_failure(s, e.text[0] ? e.text : output->data);
	}
}

int sandbox_open(struct sandbox *s, enum sandbox_want want, struct fw_err *err)
{
	struct fw_err e = { 0 };
	struct buf output;

	memset(s, 0, sizeof *s);
	find_kit(s);
	find_before(s);
	if (want == SANDBOX_NONE) {
		snprintf(s->why, sizeof s->why, "disabled (--sandbox none)");
		return 0;
	}
	find_cuda(s);
	if (proc_sibling("bwrap", s->bwrap, sizeof s->bwrap, &e) != 0) {
		snprintf(s->why, sizeof s->why, "bubblewrap is not installed (package bubblewrap)");
	} else {
		buf_init(&output, 4096);
		s->active = true;
		/* try this first: the filter of an earlier call would reject the user namespaces of AS_RUN without drops_root */
		s->drops_root = geteuid() == 0 && access(setpriv, X_OK) == 0;
		s->drops_root = s->drops_root && works(s, AS_BUILD, &output, &e);
		s->active = s->drops_root || works(s, AS_RUN, &output, &e);
		if (!s->active)
			explain_failure(s, e.text[0] ? e.text : output.data);
		s->ends_namespaces = s->active && !s->drops_root; /* needs bubblewrap 0.8 */
		s->ends_namespaces = s->ends_namespaces && works(s, AS_RUN, &output, &e);
		s->keeps_counters = s->drops_root && counters_are_closed();
		s->keeps_counters = s->keeps_counters && works(s, AS_COUNT, &output, &e);
		limit_and_test(s, &output);
		buf_fini(&output);
	}
	if (s->active && geteuid() == 0 && !s->drops_root)
		snprintf(s->why, sizeof s->why,
			"the worker is root, and branch code would be root too, because %s does not work here; run the worker as its own user",
			access(setpriv, X_OK) == 0 ? "the change from root to user nobody inside bubblewrap"
						   : "/usr/bin/setpriv (package util-linux)");
	if (want == SANDBOX_REQUIRED && (!s->active || s->why[0]))
		return err_set(err, ERR_UNSUPPORTED, "the sandbox is required and not available: %s", s->why);
	return s->drops_root ? check_runner(s, err) : 0;
}

/* Return whether code in a build can list and enter the folder. */
static bool can_read(const struct sandbox *s, const char *path, struct fw_err *err)
{
	struct sandbox_argv *v = mem_alloc(sizeof *v);

	sandbox_build(s, v, "/usr", "bin");
	sandbox_arg(v, "/usr/bin/test");
	args(v, "-r", path, "-a");
	args(v, "-x", path, NULL);
	return ends_well(v, NULL, err);
}

static int show_one(struct sandbox *s, const char *path, const char *cache, struct fw_err *err)
{
	char real[PATH_MAX];
	struct fw_err e = { 0 };
	struct stat st;
	const char *wrong = readonly_wrong(path);

	if (wrong)
		return err_set(err, ERR_INVALID, "%s %s", path, wrong);
	if (!realpath(path, real) || stat(real, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a folder on this machine", path);
	wrong = readonly_wrong(real);
	if (!wrong && cache && (readonly_lies_in(real, cache) || readonly_lies_in(cache, real)))
		wrong = "is the cache";
	if (wrong)
		return err_set(err, ERR_INVALID, "%s leads to %s, which %s", path, real, wrong);
	if (s->n_shown == READONLY_MAX)
		return err_set(err, ERR_INVALID, "more than %d folders", READONLY_MAX);
	snprintf(s->shown[s->n_shown++], READONLY_PATH_SIZE, "%s", path);
	if (!s->active || can_read(s, path, &e))
		return 0;
	s->n_shown--;
	return err_set(err, ERR_INVALID, "%s cannot be read by builds%s%s%s", path,
		s->drops_root ? ", which run as user nobody" : "", e.text[0] ? ": " : "", e.text);
}

int sandbox_show(struct sandbox *s, const char *const *path, int n, const char *cache, struct fw_err *err)
{
	for (int i = 0; i < n; i++)
		if (show_one(s, path[i], cache, err) != 0)
			return err_context(err, "--read-only");
	return 0;
}

struct proc_exit sandbox_exit(const struct sandbox *s, const struct proc_exit *how)
{
	if (s->active && !how->timed_out && how->status > 128 && how->status < 128 + 65)
		return (struct proc_exit){ .status = -1, .signal = how->status - 128 };
	return *how;
}
