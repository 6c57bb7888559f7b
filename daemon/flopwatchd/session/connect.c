/* connect.c - one stream descriptor for each worker, independently of the kind of connection. */
#include "flopwatchd/session/internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENV_MAX = CONNECT_ENV_MAX, ENV_TEXT = CONNECT_ENV_TEXT, WORDS_MAX = 160, WORDS_BYTES = 64 << 10 };

static int connect_socket(const struct config_worker *w, struct connection *out, struct fw_err *err)
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

void connect_environment(const char *env[ENV_MAX], char (*text)[ENV_TEXT])
{
	static const char *const names[] = { "PATH", "HOME", "TZ", "SSH_AUTH_SOCK", "SLURM_CONF", "KUBECONFIG",
		"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
		"LD_LIBRARY_PATH", "XDG_CACHE_HOME", "FLOPWATCH_CPU_THREADS", "FLOPWATCH_CPU_CACHE_MIB", "FLOPWATCH_SIM_DEVICES",
		"FLOPWATCH_SIM_ENVIRONMENT", NULL };
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

struct arguments {
	const char *argv[WORDS_MAX + 1];
	char text[WORDS_BYTES];
	size_t used;
	int n;
	bool is_full;
};

static void add_argument(struct arguments *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_argument(struct arguments *v, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	int len = vsnprintf(v->text + v->used, sizeof v->text - v->used, format, args);
	va_end(args);
	if (v->n == WORDS_MAX || len < 0 || (size_t)len >= sizeof v->text - v->used) {
		v->is_full = true;
		return;
	}
	v->argv[v->n++] = v->text + v->used;
	v->argv[v->n] = NULL;
	v->used += (size_t)len + 1;
}

static void add_option(struct arguments *v, const char *option, const char *value)
{
	if (*value)
		add_argument(v, "%s=%s", option, value);
}

static void add_ssh(struct arguments *v, const struct config_ssh *s)
{
	/* No user can answer a prompt. A broken connection must be detected before the daemon's heartbeat timeout. */
	static const char *const always[] = { "-T", "-oBatchMode=yes", "-oConnectTimeout=30", "-oServerAliveInterval=15",
		"-oServerAliveCountMax=3", "-oClearAllForwardings=yes" };
	add_argument(v, "ssh");
	for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
		add_argument(v, "%s", always[i]);
	if (s->key[0])
		add_argument(v, "-oIdentitiesOnly=yes");
	add_option(v, "-oIdentityFile", s->key);
	add_option(v, "-oUserKnownHostsFile", s->known_hosts);
	add_option(v, "-oUser", s->user);
	if (s->port)
		add_argument(v, "-oPort=%d", s->port);
	add_argument(v, "--");
	add_argument(v, "%s", s->host);
}

static void add_srun(struct arguments *v, const struct config_slurm *s, const struct connect_as *as)
{
	add_argument(v, "srun");
	add_argument(v, "--quiet");
	add_argument(v, "--unbuffered");
	add_option(v, "--partition", s->partition);
	add_option(v, "--gres", s->gres);
	add_option(v, "--account", s->account);
	add_option(v, "--qos", s->qos);
	if (s->exclusive)
		add_argument(v, "--exclusive");
	if (s->cpus)
		add_argument(v, "--cpus-per-task=%d", s->cpus);
	if (s->time_ms)
		add_argument(v, "--time=%lld", (long long)((s->time_ms + 59999) / 60000));
	for (int i = 0; i < s->n_options; i++)
		add_argument(v, "%s", s->option[i]);
	add_argument(v, "--ntasks=1"); /* srun uses the last of equal options */
	add_option(v, "--job-name", as->name);
	add_option(v, "--nodelist", as->node);
}

static void add_kubectl_exec(struct arguments *v, const struct config_kubernetes *k, const struct connect_as *as)
{
	add_argument(v, "kubectl");
	add_option(v, "--namespace", k->namespace);
	add_option(v, "--context", k->context);
	for (const char *const *word = (const char *const[]){ "exec", "--stdin", as->name, "--container=worker", "--", "sh", "-c",
		     PODS_RUN, "sh", NULL };
		*word; word++)
		add_argument(v, "%s", *word);
}

static void add_serve_options(struct arguments *v, const struct config *c, const struct config_worker *w)
{
	const char *cache = w->cache[0] ? w->cache : w->kind == WORKER_COMMAND ? c->cache_dir : "";
	add_argument(v, "--sandbox");
	add_argument(v, "%s", c->sandbox);
	add_argument(v, "--device");
	add_argument(v, "%s", w->device == DEVICE_ANY ? "auto" : device_kind_name(w->device));
	if (*cache) {
		add_argument(v, "--cache");
		add_argument(v, "%s", cache);
	}
	if (w->build_jobs) {
		add_argument(v, "--build-jobs");
		add_argument(v, "%d", w->build_jobs);
	}
	if (w->builds)
		add_argument(v, "--build-only");
	for (int i = 0; i < c->n_read_only; i++) {
		add_argument(v, "--read-only");
		add_argument(v, "%s", c->read_only[i]);
	}
}

static int build_arguments(const struct config *c, const struct config_worker *w, const struct connect_as *as,
	struct arguments *v, struct fw_err *err)
{
	char program[4096];
	int first = 0;
	if (w->kind == WORKER_SSH)
		add_ssh(v, &w->ssh);
	else if (w->kind == WORKER_SLURM)
		add_srun(v, &w->slurm, as);
	else if (w->kind == WORKER_KUBERNETES)
		add_kubectl_exec(v, &w->kubernetes, as);
	else if (!strcmp(w->command[0], "flopwatch-worker")) {
		if (proc_sibling(w->command[0], program, sizeof program, err) != 0)
			return -1;
		add_argument(v, "%s", program);
		first = 1;
	}
	for (int i = first; i < w->n_command; i++)
		add_argument(v, "%s", w->command[i]);
	if (!strcmp(w->command[w->n_command - 1], "serve"))
		add_serve_options(v, c, w);
	return v->is_full ? err_set(err, ERR_FULL, "the command is too long") : 0;
}

/*
 * Choose the cores of a worker's process: those of its builds, or those for measuring without them. Returns 1 chosen, 0 all, -1.
 */
static int choose_cores(const struct config *c, const struct config_worker *w, cpu_set_t *out, struct fw_err *err)
{
	cpu_set_t builds, common;
	*out = c->cores.measure;
	if (!w->build_cores[0])
		return c->cores.separate;
	(void)cores_read(w->build_cores, &builds); /* the configuration has been checked */
	if (w->builds) {
		*out = builds;
		return 1;
	}
	CPU_AND(&common, out, &builds);
	CPU_XOR(out, out, &common);
	if (CPU_COUNT(out) > 0)
		return 1;
	return err_set(err, ERR_INVALID, "worker %s: build.cores %s leaves no core to measure on (see `cores`)", w->name,
		w->build_cores);
}

static int start_command(const struct config *c, const struct config_worker *w, const struct connect_as *as,
	const struct connect_line *line, struct proc *out, struct fw_err *err)
{
	const char *env[ENV_MAX];
	char env_text[ENV_MAX][ENV_TEXT];
	struct arguments *v = mem_alloc_zero(1, sizeof *v);
	cpu_set_t cores;
	connect_environment(env, env_text);
	int chosen = choose_cores(c, w, &cores, err), result = chosen < 0 ? -1 : build_arguments(c, w, as, v, err);
	if (result == 0) {
		struct proc_spec spec = {
			.argv = v->argv,
			.env = env,
			.fd = { { line->both, 0 }, { line->both, 1 }, { line->errors, 2 } },
			.n_fd = 3,
			.is_careful = true,
			/* A pending srun does not read its input, so it would not detect the end of a killed daemon. */
			.ends_with_parent = config_worker_is_on_call(w),
			.cores = chosen ? &cores : NULL,
		};
		result = proc_spawn(&spec, out, err);
	}
	free(v);
	return result;
}

void connect_close(struct connect_line *line)
{
	if (line->both >= 0)
		close(line->both);
	if (line->errors >= 0)
		close(line->errors);
	*line = (struct connect_line){ -1, -1 };
}

int connect_start(const struct config *c, const struct config_worker *w, const struct connect_as *as,
	const struct connect_line *line, struct proc *out, struct fw_err *err)
{
	if (start_command(c, w, as, line, out, err) == 0)
		return 0;
	err_context(err, "worker %s", w->name);
	return -1;
}

int connect_open(const struct config_worker *w, struct connection *out, struct connect_line *line, struct fw_err *err)
{
	int both[2] = { -1, -1 }, errors[2] = { -1, -1 };
	*out = (struct connection){ .fd = -1, .errors_fd = -1, .child = { .pidfd = -1 } };
	int result = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0 || pipe2(errors, O_CLOEXEC) != 0 ||
				     fcntl(errors[0], F_SETFL, O_NONBLOCK) != 0
			     ? err_sys(err, "worker %s: cannot create its pipes", w->name)
			     : 0;
	struct connect_line here = { both[0], errors[0] };
	*line = (struct connect_line){ both[1], errors[1] };
	if (result == 0) {
		out->fd = here.both;
		out->errors_fd = here.errors;
		return 0;
	}
	connect_close(&here);
	connect_close(line);
	return -1;
}

int connect_worker(const struct config *c, const struct config_worker *w, const struct connect_as *as, struct connection *out,
	struct fw_err *err)
{
	struct connect_line line;
	*out = (struct connection){ .fd = -1, .errors_fd = -1, .child = { .pidfd = -1 } };
	if (w->socket[0])
		return connect_socket(w, out, err);
	if (connect_open(w, out, &line, err) != 0)
		return -1;
	int result = connect_start(c, w, as, &line, &out->child, err);
	connect_close(&line);
	if (result != 0) {
		close(out->fd);
		close(out->errors_fd);
		out->fd = out->errors_fd = -1;
	}
	return result;
}
