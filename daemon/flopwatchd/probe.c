/* probe.c - checks of folders, suites and programs; documented in internal.h. */
#include "flopwatchd/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include "flopwatchd/session/session.h"
#include "flopwatchd/watch/watch.h"
#include "web/answer/answer.h"

/* ---- probe_print ---- */

enum { TEXT_BYTES = 2048, LINE_MAX_BYTES = 1 << 16 };
static const char shortage_advice[] = "end other programs on this machine, then run it again";

/* Print the result of a check. `advice`: the remedy, "" none. */
static void probe_print(enum look_health health, const char *what, const char *advice, const char *format, ...)
{
	static const char *const names[] = { "ok", "warn", "fail" };
	char text[TEXT_BYTES];
	struct buf line;
	struct jsonw j;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	buf_init(&line, LINE_MAX_BYTES);
	jsonw_init(&j, &line);
	jsonw_format(&j, "{ what=%s health=%s text=%s advice?=%s }", what, names[health], text, advice);
	puts(line.data);
	fflush(stdout);
	buf_fini(&line);
}

/* ---- port ---- */

enum { TCP_LISTEN = 10 };

/* Return the inode of the socket that listens on the port, from a kernel table; 0 none. */
static unsigned long find_socket(const char *table, int port)
{
	char line[512];
	unsigned long found = 0;
	FILE *f = fopen(table, "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		unsigned local, state;
		unsigned long inode;
		if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*x:%*x %*x:%*x %*x %*u %*u %lu", &local, &state,
			    &inode) == 3 &&
			(int)local == port && state == TCP_LISTEN)
			found = inode;
	}
	if (f)
		fclose(f);
	return found;
}

static bool has_socket(const char *pid, unsigned long inode)
{
	char folder[300], path[600], target[64], wanted[64];
	bool found = false;
	snprintf(folder, sizeof folder, "/proc/%s/fd", pid);
	snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
	DIR *dir = opendir(folder);
	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		ssize_t n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, wanted) == 0;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Find the process that listens on the port; 0: not visible, e.g. of another user. */
static long find_owner(int port)
{
	unsigned long inode = find_socket("/proc/net/tcp", port);
	long owner = 0;
	if (!inode)
		inode = find_socket("/proc/net/tcp6", port);
	DIR *dir = inode ? opendir("/proc") : NULL;
	for (struct dirent *e; dir && !owner && (e = readdir(dir));)
		if (strspn(e->d_name, "0123456789") == strlen(e->d_name) && has_socket(e->d_name, inode))
			owner = strtol(e->d_name, NULL, 10);
	if (dir)
		closedir(dir);
	return owner;
}

static void name_process(long pid, char *text, size_t size)
{
	char path[64], name[64] = "";
	snprintf(path, sizeof path, "/proc/%ld/comm", pid);
	FILE *f = fopen(path, "re");
	if (f && fgets(name, sizeof name, f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(text, size, "%s (process %ld)", *name ? name : "a program", pid);
}

/* Find the daemon that runs on this state_dir; 0 none. */
static long find_daemon(const struct config *c)
{
	char path[1100], text[32] = "";
	snprintf(path, sizeof path, "%s/lock", c->state_dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	bool is_free = flock(fd, LOCK_SH | LOCK_NB) == 0;
	ssize_t n = is_free ? 0 : read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return is_free ? 0 : strtol(text, NULL, 10);
}

/* Try to bind `listen`. Names the process that uses the address, which may be the daemon of the same state_dir. */
static void check_port(const struct config *c)
{
	struct fw_err err = { 0 };
	char who[160] = "a program that this user cannot see";
	int bound, fd = http_listen(c->listen_host, c->listen_port, &bound, &err);
	if (fd >= 0) {
		close(fd);
		probe_print(PROBE_OK, "port", "", "%d on %s is free", c->listen_port, c->listen_host);
		return;
	}
	if (err.code != ERR_BUSY) {
		probe_print(PROBE_FAIL, "port", err.is_shortage ? shortage_advice : "set another `listen`", "%s", err.text);
		return;
	}
	long owner = find_owner(c->listen_port), daemon = find_daemon(c);
	if (owner)
		name_process(owner, who, sizeof who);
	if (daemon && owner == daemon)
		probe_print(PROBE_OK, "port", "", "%d on %s is that of the daemon that runs on this state_dir (process %ld)",
			c->listen_port, c->listen_host, daemon);
	else if (daemon && !owner)
		probe_print(PROBE_WARN, "port", "no change needed if it is the daemon that runs on this state_dir",
			"%d on %s is in use by %s", c->listen_port, c->listen_host, who);
	else
		probe_print(PROBE_FAIL, "port",
			"set another `listen`, or stop that program: flopwatch would connect to it instead of this daemon",
			"port %d on %s is in use by %s", c->listen_port, c->listen_host, who);
}

/* ---- repos: Checks of repositories and their branches. ---- */

enum { REQUEST_MS = 60000, TIPS_MAX_BYTES = 64 << 20, ERRORS_MAX_BYTES = 1 << 16, NAME_BYTES = 1024 };

/* Set the error to the first line of flopwatch-git's errors, without the program's name. */
static int set_error(const struct buf *errors, enum err_code code, struct fw_err *err)
{
	static const char own_name[] = "flopwatch-git: ";
	const char *line = errors->len ? errors->data : "flopwatch-git failed";
	if (strncmp(line, own_name, sizeof own_name - 1) == 0)
		line += sizeof own_name - 1;
	return err_set(err, code, "%.*s", (int)strcspn(line, "\n"), line);
}

static int read_branches(const struct config_repo *r, struct buf *out, struct fw_err *err)
{
	char program[4096];
	struct proc_exit how;
	struct buf errors;
	int n = 1;
	if (proc_sibling("flopwatch-git", program, sizeof program, err) != 0)
		return -1;
	const char *argv[5 + CONFIG_ACCESS_ARGS] = { program };
	argv[n++] = r->is_local ? "tips" : "heads";
	argv[n++] = r->is_local ? "--repo" : "--url";
	argv[n++] = r->url;
	if (!r->is_local)
		(void)config_repo_access(r, argv + n);
	struct proc_spec spec = { .argv = argv };
	buf_init(&errors, ERRORS_MAX_BYTES);
	int result = proc_run(&spec, NULL, out, &errors, REQUEST_MS, &how, err);
	if (result == 0 && how.timed_out)
		result = err_set(err, ERR_TIMEOUT, "the server did not answer within %d s", REQUEST_MS / 1000);
	else if (result == 0 && how.status != 0)
		result = set_error(&errors, how.status == PROC_EXIT_AGAIN ? ERR_IO : ERR_INVALID, err);
	else if (result == 0 && out->failed)
		result = err_set(err, ERR_FULL, "the list of branches is too large");
	buf_fini(&errors);
	return result;
}

/* True for a local repository with truncated history, which git marks by the file `shallow`. */
static bool is_shallow(const struct config_repo *r)
{
	static const char *const file[] = { "/.git/shallow", "/shallow" };
	char path[sizeof r->url + 16];
	struct stat st;

	for (size_t i = 0; r->is_local && i < sizeof file / sizeof file[0]; i++) {
		snprintf(path, sizeof path, "%s%s", r->url, file[i]);
		if (stat(path, &st) == 0 && st.st_size > 0)
			return true;
	}
	return false;
}

struct branches {
	int n;
	bool has_upstream;
	bool is_matched[CONFIG_LIST_MAX]; /* by pattern of `branches` */
};

static void read_lines(const struct config_repo *r, char *lines, const char *upstream, struct branches *out)
{
	char *line;

	*out = (struct branches){ 0 };
	while ((line = strsep(&lines, "\n"))) {
		json_t *tip = *line ? json_loads(line, 0, NULL) : NULL;
		const char *name = json_string_value(json_object_get(tip, "name"));
		const char *display = json_string_value(json_object_get(tip, "display"));

		if (name) {
			out->n++;
			out->has_upstream = out->has_upstream || !strcmp(name, upstream);
			for (int i = 0; i < r->n_branches; i++)
				if (branch_pattern_matches(r->branch[i], name, display ? display : name))
					out->is_matched[i] = true;
		}
		json_decref(tip);
	}
}

static void check_patterns(const struct config_repo *r, const struct branches *b)
{
	for (int i = 0; i < r->n_branches; i++)
		if (!b->is_matched[i])
			probe_print(PROBE_WARN, "branches",
				"no change needed if the branch will be pushed; else correct the pattern",
				"%s: `%s` %s no existing branch", r->name, r->branch[i],
				r->branch[i][0] == '!' ? "excludes" : "matches");
}

static void check_repo(const struct config_repo *r)
{
	struct fw_err err = { 0 };
	struct buf out;
	char upstream[NAME_BYTES], why[NAME_BYTES];
	struct branches branches;
	buf_init(&out, TIPS_MAX_BYTES);
	if (read_branches(r, &out, &err) != 0 || gitread_encode(r->upstream, upstream, sizeof upstream, &err) != 0) {
		probe_print(PROBE_FAIL, "repository",
			err.is_shortage           ? shortage_advice
			: err.code == ERR_INVALID ? "" /* flopwatch-git's message contains the remedy */
			: r->is_local             ? "correct its url, or let the daemon's user read it"
						  : "correct its url, its key, or the way to the server",
			"%s: %s", r->name, err.text);
		buf_fini(&out);
		return;
	}
	read_lines(r, out.data, upstream, &branches);
	int n = branches.n;
	config_no_upstream(r, why, sizeof why);
	if (n == 0)
		probe_print(PROBE_WARN, "repository", "push one", "%s can be read, but has no branch yet", r->name);
	else if (!branches.has_upstream)
		probe_print(PROBE_FAIL, "branch", "", "%s: %s", r->name, why);
	else
		probe_print(PROBE_OK, "repository", "", "%s can be read: %d branch%s, %s among them", r->name, n,
			n == 1 ? "" : "es", r->upstream);
	if (is_shallow(r))
		probe_print(PROBE_WARN, "repository", "complete it with `git fetch --unshallow`",
			"%s: %s is a shallow clone; commits whose merge-base is not in it fail", r->name, r->url);
	if (n > 0)
		check_patterns(r, &branches);
	buf_fini(&out);
}

/* Check that each repository can be read and has its upstream branch. */
static void check_repos(const struct config *c)
{
	for (int i = 0; i < c->n_repos; i++)
		check_repo(&c->repo[i]);
	if (c->n_repos == 0)
		probe_print(PROBE_WARN, "repository", "add one under repos:", "none is watched");
}

/* ---- workers: Checks of workers and their devices. ---- */

enum { HELLO_MAX_BYTES = 1 << 20, WORKERS_ERRORS_MAX_BYTES = 1 << 16 };
static const int64_t hello_ns = INT64_C(60000000000);

/* Read up to the end of the first line. 0, -1. */
static int read_line(int fd, struct buf *line, struct fw_err *err)
{
	int64_t end_ns = clock_mono_ns() + hello_ns;
	char chunk[4096];
	while (!memchr(line->data, '\n', line->len)) {
		int64_t left_ms = (end_ns - clock_mono_ns()) / 1000000;
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
		if (ready == 0)
			return err_set(err, ERR_TIMEOUT, "the worker sent nothing within %d s", (int)(hello_ns / 1000000000));
		ssize_t n = ready > 0 ? read(fd, chunk, sizeof chunk) : -1;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return err_set(err, ERR_IO, "the worker ended before its hello");
		buf_append(line, chunk, (size_t)n);
		if (line->failed)
			return err_set(err, ERR_PROTOCOL, "the worker sent too much data instead of its hello");
	}
	return 0;
}

/* Read the last line of standard error, which explains an early end; "": none. */
static void read_errors(int fd, char *last, size_t size)
{
	char chunk[4096];
	struct buf text;
	buf_init(&text, WORKERS_ERRORS_MAX_BYTES);
	for (ssize_t n; fd >= 0 && (n = read(fd, chunk, sizeof chunk)) > 0 && !text.failed;)
		buf_append(&text, chunk, (size_t)n);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = '\0';
	const char *line = text.len ? strrchr(text.data, '\n') : NULL;
	snprintf(last, size, "%s", line ? line + 1 : text.len ? text.data : "");
	buf_fini(&text);
}

static int read_hello(const struct connection *to, struct msg *hello, struct fw_err *err)
{
	struct buf line;
	char errors[512];
	buf_init(&line, HELLO_MAX_BYTES);
	int result = read_line(to->fd, &line, err);
	if (result == 0)
		result = protocol_parse(line.data, strcspn(line.data, "\n"), hello, err);
	if (result != 0) {
		read_errors(to->errors_fd, errors, sizeof errors);
		if (*errors)
			err_context(err, "%s", errors);
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

/* Replace `serve`, which creates a cache, possibly as another user than the daemon's; a probe only receives hello. */
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
	buf_init(&errors, WORKERS_ERRORS_MAX_BYTES);
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
		probe_print(PROBE_OK, "worker", "", "%s queries Slurm%s, which has %s", w->name,
			w->builds ? " for its builds" : "", out.data);
	buf_fini(&out);
	buf_fini(&errors);
}

/* ---- check_kubernetes: As check_slurm: a pod would occupy a GPU. ---- */

enum { KUBECTL_WORDS_MAX = 12, ANSWER_BYTES = 512, MANIFEST_MAX_BYTES = 1 << 20 };

/* Run kubectl as the daemon would. Returns its exit status, -1 not run; `answer`: its output, or the last line of its errors. */
static int run_kubectl(const struct config_kubernetes *k, const char *const *words, const struct buf *in,
	char answer[ANSWER_BYTES], struct fw_err *err)
{
	const char *env[CONNECT_ENV_MAX], *argv[KUBECTL_WORDS_MAX + 1] = { "kubectl" };
	char text[CONNECT_ENV_MAX][CONNECT_ENV_TEXT], namespace[160], context[160];
	struct proc_exit how = { 0 };
	struct buf out, errors;
	int n = 1;
	snprintf(namespace, sizeof namespace, "--namespace=%s", k->namespace);
	snprintf(context, sizeof context, "--context=%s", k->context);
	argv[n++] = namespace;
	argv[n++] = "--request-timeout=20s";
	if (k->context[0])
		argv[n++] = context;
	for (int i = 0; words[i] && n < KUBECTL_WORDS_MAX; i++)
		argv[n++] = words[i];
	buf_init(&out, MANIFEST_MAX_BYTES);
	buf_init(&errors, WORKERS_ERRORS_MAX_BYTES);
	connect_environment(env, text);
	struct proc_spec spec = { .argv = argv, .env = env };
	int result = proc_run(&spec, in, &out, &errors, hello_ns / 1000000, &how, err);
	const char *last = errors.data ? errors.data : "";
	for (const char *at = last; (at = strchr(at, '\n')) && at[1];)
		last = ++at;
	const char *shown = out.len ? out.data : last;
	snprintf(answer, ANSWER_BYTES, "%.*s", (int)strcspn(shown, "\n"), shown);
	if (result == 0 && !answer[0] && how.status != 0)
		proc_describe(&how, answer);
	buf_fini(&out);
	buf_fini(&errors);
	return result == 0 ? how.status : -1;
}

/* Check each right that the daemon needs at the server. Returns -1 after a message. */
static int check_rights(const struct config_worker *w)
{
	static const struct {
		const char *verb, *subresource, *text;
	} needed[] = {
		{ "list", NULL, "list pods" },
		{ "get", NULL, "get pods" },
		{ "create", NULL, "create pods" },
		{ "delete", NULL, "delete pods" },
		{ "create", "--subresource=exec", "create pods/exec" },
	};
	char answer[ANSWER_BYTES], missing[200] = "";
	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
		struct fw_err err = { 0 };
		const char *words[] = { "auth", "can-i", needed[i].verb, "pods", needed[i].subresource, NULL };
		int status = run_kubectl(&w->kubernetes, words, NULL, answer, &err);
		if (status == 0 && strncmp(answer, "yes", 3) == 0)
			continue;
		if (status < 0 || strncmp(answer, "no", 2) != 0 || (answer[2] && answer[2] != ' ')) {
			probe_print(PROBE_FAIL, "worker",
				"install kubectl (package kubernetes-client), and let KUBECONFIG name its configuration",
				"%s: %s", w->name, status < 0 && err.text[0] ? err.text : answer);
			return -1;
		}
		size_t used = strlen(missing);
		snprintf(missing + used, sizeof missing - used, "%s%s", used ? ", " : "", needed[i].text);
	}
	if (!missing[0])
		return 0;
	probe_print(PROBE_FAIL, "worker", "give its account the role of doc/howto/kubernetes.md",
		"%s: its account may not %s in namespace %s", w->name, missing, w->kubernetes.namespace);
	return -1;
}

/* Let the server check a pod without creating it: the template, policies, quotas. */
static void check_pod(const struct config_worker *w)
{
	struct fw_err err = { 0 };
	struct buf manifest;
	char path[300], answer[ANSWER_BYTES] = "";
	snprintf(path, sizeof path, "--raw=/api/v1/namespaces/%s/pods?dryRun=All", w->kubernetes.namespace);
	const char *words[] = { "create", path, "--filename=-", NULL };
	buf_init(&manifest, MANIFEST_MAX_BYTES);
	int status = pods_manifest(&w->kubernetes, "flopwatch-probe", "flopwatch-probe", "", &manifest, &err);
	if (status == 0)
		status = run_kubectl(&w->kubernetes, words, &manifest, answer, &err);
	buf_fini(&manifest);
	if (status == 0)
		probe_print(PROBE_OK, "worker", "", "%s may create pods%s in namespace %s of Kubernetes", w->name,
			w->builds ? " for its builds" : "", w->kubernetes.namespace);
	else if (strstr(answer, "exceeded quota")) /* which its own running pods may use */
		probe_print(PROBE_WARN, "worker", "jobs wait while the quota is used up", "%s: %s", w->name, answer);
	else
		probe_print(PROBE_FAIL, "worker", "fix its keys of kubernetes and its template",
			"%s: the server rejects its pod: %s", w->name, status < 0 && err.text[0] ? err.text : answer);
}

static void check_kubernetes(const struct config_worker *w)
{
	if (check_rights(w) == 0)
		check_pod(w);
}

static void check_worker(const struct config *c, const struct config_worker *configured)
{
	if (config_worker_is_slurm(configured)) {
		check_slurm(configured);
		return;
	}
	if (config_worker_is_kubernetes(configured)) {
		check_kubernetes(configured);
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
			err.is_shortage ? shortage_advice
			: w->socket[0]  ? "start its service; and let the daemon's user reach the socket"
					: "fix its command; run it by hand to see its errors",
			"%s%s%s", is_reached ? w->name : "", is_reached ? ": " : "", err.text);
	}
}

/* Check that each worker answers, as the daemon would start it or connect to it, and list its devices. */
static void check_workers(const struct config *c)
{
	for (int i = 0; i < c->n_workers; i++)
		check_worker(c, &c->worker[i]);
	if (c->n_workers == 0)
		probe_print(PROBE_WARN, "worker", "add one under workers:", "no worker is configured, so no job runs");
}

/* ---- probe ---- */

enum { SUITE_MAX_BYTES = 1 << 20, PATH_BYTES = 1024 };

/* Find the folder, or its nearest existing parent. Shape: out[PATH_BYTES]. */
static void find_nearest(const char *path, char *out)
{
	struct stat st;
	snprintf(out, PATH_BYTES, "%s", path);
	while (stat(out, &st) != 0 && errno == ENOENT) {
		char *slash = strrchr(out, '/');
		if (!slash || slash == out)
			snprintf(out, PATH_BYTES, "/");
		else
			*slash = '\0';
		if (!strcmp(out, "/"))
			return;
	}
}

/* Write and flush an unnamed file, as the database would. Skipped on file systems without unnamed files. */
static int try_to_write(const char *folder, struct fw_err *err)
{
	char page[4096] = "";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EOPNOTSUPP || errno == EISDIR ? 0 : err_sys(err, "cannot create a file in %s", folder);
	int result = 0;
	if (write(fd, page, sizeof page) != (ssize_t)sizeof page)
		result = err_sys(err, "cannot write in %s", folder);
	else if (fsync(fd) != 0)
		result = err_sys(err, "cannot flush a file in %s", folder);
	close(fd);
	return result;
}

static void check_folder(const char *what, const char *path)
{
	char nearest[PATH_BYTES];
	struct stat st;
	struct fw_err err = { 0 };
	const struct passwd *me = getpwuid(geteuid());
	const char *who = me ? me->pw_name : "this user";
	find_nearest(path, nearest);
	bool is_there = !strcmp(nearest, path);
	int number = stat(nearest, &st) == 0 ? 0 : errno;
	if (number && number != ENOTDIR)
		probe_print(PROBE_FAIL, "folder",
			err_is_shortage(number) ? shortage_advice : "set another folder, or check the disk",
			"%s: cannot read %s: %s", what, nearest, strerror(number));
	else if (number || !S_ISDIR(st.st_mode))
		probe_print(
			PROBE_FAIL, "folder", "set another folder, or move the file", "%s: %s is not a folder", what, nearest);
	else if (access(nearest, W_OK | X_OK) != 0)
		probe_print(PROBE_FAIL, "folder",
			"chown it to the daemon's user; or run the check as that user: sudo -u flopwatch flopwatch config check",
			"%s: %s may not write %s%s", what, who, nearest, is_there ? "" : ", so it cannot create the folder");
	else if (try_to_write(nearest, &err) != 0)
		probe_print(PROBE_FAIL, "folder", err.is_shortage ? shortage_advice : "free space, or check the disk", "%s: %s",
			what, err.text);
	else
		probe_print(PROBE_OK, "folder", "", "%s: %s %s", what, path, is_there ? "is writable" : "will be created");
}

static int is_suite(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);
	return entry->d_name[0] != '.' && len > 5 && !strcmp(entry->d_name + len - 5, ".yaml");
}

static int read_suite(const char *path, struct fw_err *err)
{
	struct suite suite;
	struct buf text;
	char chunk[8192];
	int fd = regular_open("", path, err);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (fd >= 0 && !file) {
		err_sys(err, "cannot read %s", path);
		close(fd);
	}
	if (!file)
		return -1;
	buf_init(&text, SUITE_MAX_BYTES);
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
		buf_append(&text, chunk, n);
	int result = ferror(file)  ? err_sys(err, "cannot read %s", path)
		     : text.failed ? err_set(err, ERR_FULL, "%s: larger than %d bytes", path, SUITE_MAX_BYTES)
				   : suite_parse(text.data, text.len, path, &suite, err);
	if (result == 0)
		suite_fini(&suite);
	fclose(file);
	buf_fini(&text);
	return result;
}

/* A suite may be in the repository instead, which is known after its first push. */
static void check_named_suites(const struct config *c)
{
	char path[PATH_BYTES];
	for (int i = 0; i < c->n_repos; i++)
		for (int k = 0; k < c->repo[i].n_suites; k++) {
			const char *name = c->repo[i].suite[k];
			snprintf(path, sizeof path, "%s/%s.yaml", c->suites_dir, name);
			if (*name && access(path, R_OK) != 0)
				probe_print(PROBE_WARN, "suite",
					"no change needed if the repository has it as etc/suites/NAME.yaml",
					"%s: suite %s is not in %s", c->repo[i].name, name, c->suites_dir);
		}
}

/* Whether every worker that measures uses CPUs alone. */
static bool measures_on_cpus(const struct config *c)
{
	int n = 0;
	for (int i = 0; i < c->n_workers; i++) {
		n += !c->worker[i].builds;
		if (!c->worker[i].builds && c->worker[i].device != DEVICE_CPU)
			return false;
	}
	return n > 0;
}

/* The default suite has sizes of GPUs: a call takes minutes on a CPU. */
static void check_suites_of_cpus(const struct config *c)
{
	for (int i = 0; i < c->n_repos && measures_on_cpus(c); i++) {
		const struct config_repo *r = &c->repo[i];
		bool is_named = false;
		for (int k = 0; k < r->n_suites; k++)
			is_named = is_named || strcmp(r->suite[k], "ffa") == 0;
		if (is_named)
			probe_print(PROBE_WARN, "suite", "name ffa-smoke instead, the same matrix for a CPU",
				"%s: suite ffa has sizes of GPUs, and all workers measure on CPUs", r->name);
		else if (r->n_suites == 0)
			probe_print(PROBE_WARN, "suite",
				"no change needed if its .flopwatch.yaml names suites; else name suites: [ffa-smoke]",
				"%s: the default suite ffa has sizes of GPUs, and all workers measure on CPUs", r->name);
	}
}

static void check_suites(const struct config *c)
{
	struct dirent **entry;
	int n = scandir(c->suites_dir, &entry, is_suite, alphasort), good = 0;
	if (n < 0 && errno != ENOENT && errno != ENOTDIR) {
		probe_print(PROBE_FAIL, "suites",
			err_is_shortage(errno) ? shortage_advice : "let the daemon's user read the folder, or set suites_dir",
			"%s: %s", c->suites_dir, strerror(errno));
		return;
	}
	if (n < 0) {
		probe_print(PROBE_WARN, "suites", "no change needed if every repository has its own; else set suites_dir",
			"%s: %s", c->suites_dir, strerror(errno));
		return;
	}
	for (int i = 0; i < n; i++) {
		struct fw_err err = { 0 };
		char path[PATH_BYTES];
		snprintf(path, sizeof path, "%s/%s", c->suites_dir, entry[i]->d_name);
		if (read_suite(path, &err) == 0)
			good++;
		else
			probe_print(PROBE_FAIL, "suite",
				err.is_shortage ? shortage_advice : "fix the file; jobs that name the suite fail", "%s",
				err.text);
		free(entry[i]);
	}
	free(entry);
	probe_print(PROBE_OK, "suites", "", "%d in %s can be read", good, c->suites_dir);
	check_named_suites(c);
	check_suites_of_cpus(c);
}

static void check_programs(void)
{
	static const char *const names[] = { "flopwatch-git", "flopwatch-send" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct fw_err err = { 0 };
		char path[4096];
		if (proc_sibling(names[i], path, sizeof path, &err) == 0)
			probe_print(PROBE_OK, "program", "", "%s", path);
		else
			probe_print(PROBE_FAIL, "program",
				"install all programs of flopwatch in one folder, or put them into PATH", "%s", err.text);
	}
}

static void check_certificate(const struct config *c)
{
	const struct http_tls tls = { c->tls.certificate, c->tls.key_file, 0 };
	const int64_t now_ms = clock_utc_ms();
	struct fw_err err = { 0 };
	char when[32];
	int64_t expires_at;
	if (!tls.certificate[0])
		return;
	if (http_check_tls(&tls, &expires_at, &err) != 0) {
		probe_print(PROBE_FAIL, "tls", "see doc/howto/https.md", "%s", err.text);
		return;
	}
	clock_format(expires_at, when);
	if (expires_at <= now_ms)
		probe_print(PROBE_FAIL, "tls", "renew it; the daemon reads a new one within seconds", "%s expired at %s",
			tls.certificate, when);
	else if (expires_at - now_ms < SITE_CERTIFICATE_WARN_MS)
		probe_print(PROBE_WARN, "tls", "renew it; the daemon reads a new one within seconds", "%s expires at %s",
			tls.certificate, when);
	else
		probe_print(PROBE_OK, "tls", "", "%s is valid until %s", tls.certificate, when);
}

void check_config_names(const struct config *c)
{
	check_folder("state_dir", c->state_dir);
	check_folder("cache_dir", c->cache_dir);
	check_port(c);
	check_certificate(c);
	check_suites(c);
	check_programs();
	check_repos(c);
	check_workers(c);
}
