#include "flopwatchd/config/internal.h"

#include <ctype.h>

enum { MINUTE_MS = 60000, PORT_MAX = 65535, CPUS_MAX = 4096, BUILDS_MAX = 64 };

static bool is_made_of(const char *text, const char *more)
{
	for (const char *c = text; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(more, *c))
			return false;
	return text[0] != '-';
}

static void read_ssh(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct config_ssh *s = &w->ssh;
	int64_t port = 0;
	w->kind = WORKER_SSH;
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {host: gpu1, user: bench}");
		return;
	}
	config_text_required(y, map, "host", s->host, sizeof s->host);
	if (!is_made_of(s->host, "._-:"))
		yaml_mistake(y, yaml_get(y, map, "host"), "is not the name or address of a host");
	config_text(y, map, "user", s->user, sizeof s->user);
	if (!is_made_of(s->user, "._-"))
		yaml_mistake(y, yaml_get(y, map, "user"), "is not the name of a user");
	yaml_int(y, yaml_get(y, map, "port"), 1, PORT_MAX, &port);
	s->port = (int)port;
	config_key_file(y, map, "key", s->key, sizeof s->key);
	config_file(y, map, "known_hosts", s->known_hosts, sizeof s->known_hosts);
	yaml_finish(y, map);
}

/* ssh joins the arguments with blanks and the remote shell splits them again: accept only arguments that no shell changes. */
static void check_remote_words(struct yaml *y, struct yaml_node *map, const struct config_worker *w)
{
	for (int i = 0; i < w->n_command; i++)
		if (!w->command[i][0] || !is_made_of(w->command[i] + (w->command[i][0] == '-'), "._-/:=,@%+"))
			yaml_mistake(y, yaml_get(y, map, "command"),
				"the shell of the other host would change the argument %s; put the command into a script there",
				w->command[i]);
}

/* Options of srun with which the daemon would not find its request again, or would not reach the worker. */
static const struct {
	const char *name, *why;
} refused_options[] = {
	{ "job-name", "gives the request another name than that by which the daemon finds it" },
	{ "clusters", "sends the request to another cluster; the daemon does not read its queue" },
	{ "partition", "sends the request to a partition that the daemon does not query; use the key `partition`" },
	{ "uid", "sends the request as another user; the daemon would not find it" },
	{ "gid", "sends the request as another group; let the daemon run with it" },
	{ "jobid", "starts the worker in another allocation than that of the request" },
	{ "array", "is an option of sbatch" },
	{ "wait", "applies to several tasks, and the worker is one" },
	{ "time", "is a limit that the daemon needs to read; use the key `time`" },
	{ "immediate", "ends a request that must wait" },
	{ "test-only", "starts no worker" },
	{ "no-allocate", "starts the worker without an allocation" },
	{ "help", "starts no worker" },
	{ "usage", "starts no worker" },
	{ "version", "starts no worker" },
	{ "ntasks", "starts several workers on one connection" },
	{ "ntasks-per-node", "starts several workers on one connection" },
	{ "multi-prog", "starts another program than the worker" },
	{ "input", "replaces the worker's input, which is the connection" },
	{ "output", "replaces the worker's output, which is the connection" },
	{ "error", "replaces the worker's errors, which the daemon reads" },
	{ "label", "changes the worker's output, which is the connection" },
	{ "pty", "changes the worker's output, which is the connection" },
};

/* srun accepts the start of an option's name, too. */
static void check_option(struct yaml *y, const struct yaml_node *node, const char *option)
{
	const char *name = option + 2;
	size_t len = strncmp(option, "--", 2) ? 0 : strcspn(name, "=");
	if (len == 0) {
		yaml_mistake(y, node, "%s is not an option of srun; e.g. --constraint=h200", option);
		return;
	}
	for (size_t i = 0; i < sizeof refused_options / sizeof refused_options[0]; i++)
		if (!strncmp(refused_options[i].name, name, len)) {
			bool is_short = refused_options[i].name[len];
			yaml_mistake(y, node, "%s%s%s%s %s", option, is_short ? " is short for --" : "",
				is_short ? refused_options[i].name : "", is_short ? ", which" : "", refused_options[i].why);
			return;
		}
}

static void read_allocation(struct yaml *y, struct yaml_node *map, struct config_slurm *s)
{
	int64_t cpus = 0;
	config_text(y, map, "partition", s->partition, sizeof s->partition);
	config_text(y, map, "account", s->account, sizeof s->account);
	config_text(y, map, "qos", s->qos, sizeof s->qos);
	yaml_int(y, yaml_get(y, map, "cpus"), 1, CPUS_MAX, &cpus);
	s->cpus = (int)cpus;
	yaml_duration_ms(y, yaml_get(y, map, "time"), MINUTE_MS, INT64_C(30) * 24 * 60 * MINUTE_MS, &s->time_ms);
	s->n_options = config_text_list(
		y, map, "options", s->option[0], sizeof s->option[0], (int)(sizeof s->option / sizeof s->option[0]));
	struct yaml_node *options = yaml_get(y, map, "options");
	for (int i = 0; i < s->n_options; i++)
		check_option(y, yaml_is_list(options) ? yaml_item(y, options, i) : options, s->option[i]);
	yaml_finish(y, map);
}

static void read_slurm(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct config_slurm *s = &w->slurm;
	w->kind = WORKER_SLURM;
	s->exclusive = true;
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {partition: gpu, gres: \"gpu:1\", time: 30 min}");
		return;
	}
	config_text(y, map, "gres", s->gres, sizeof s->gres);
	yaml_bool(y, yaml_get(y, map, "exclusive"), &s->exclusive);
	read_allocation(y, map, s);
}

/* Read a list of NAME=VALUE; returns their number. `example` ends the message. */
static int read_pairs(struct yaml *y, struct yaml_node *map, const char *key, char (*out)[CONFIG_PAIR_SIZE], int max,
	bool may_be_empty, const char *example)
{
	struct yaml_node *list = yaml_get(y, map, key);
	int n = list ? config_text_list(y, map, key, out[0], sizeof out[0], max) : 0;
	for (int i = 0; i < n; i++) {
		const char *equals = strchr(out[i], '=');
		if (!equals || equals == out[i] || (!equals[1] && !may_be_empty))
			yaml_mistake(y, yaml_is_list(list) ? yaml_item(y, list, i) : list, "%s is not %s", out[i], example);
	}
	return n;
}

/* The keys of a pod that its builds may set, too. */
static void read_pod(struct yaml *y, struct yaml_node *map, struct config_kubernetes *k)
{
	enum {
		RESOURCES_MAX = sizeof k->resource / sizeof k->resource[0],
		SELECTORS_MAX = sizeof k->selector / sizeof k->selector[0]
	};
	config_text(y, map, "image", k->image, sizeof k->image);
	k->n_resources =
		read_pairs(y, map, "resources", k->resource, RESOURCES_MAX, false, "NAME=QUANTITY; e.g. nvidia.com/gpu=1");
	k->n_selectors = read_pairs(y, map, "node_selector", k->selector, SELECTORS_MAX, true,
		"LABEL=VALUE; e.g. nvidia.com/gpu.product=NVIDIA-H200");
	yaml_duration_ms(y, yaml_get(y, map, "time"), MINUTE_MS, INT64_C(30) * 24 * 60 * MINUTE_MS, &k->time_ms);
	config_file(y, map, "template", k->template, sizeof k->template);
	yaml_finish(y, map);
}

static void read_kubernetes(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct config_kubernetes *k = &w->kubernetes;
	w->kind = WORKER_KUBERNETES;
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {image: registry.example.org/flopwatch, namespace: bench}");
		return;
	}
	snprintf(k->namespace, sizeof k->namespace, "default");
	if (!yaml_get(y, map, "image"))
		yaml_mistake(y, map, "needs `image`");
	config_text(y, map, "namespace", k->namespace, sizeof k->namespace);
	config_text(y, map, "context", k->context, sizeof k->context);
	bool has_default = !yaml_get(y, map, "resources") && !yaml_get(y, map, "template"); /* which may name others */
	read_pod(y, map, k);
	if (has_default)
		snprintf(k->resource[k->n_resources++], sizeof k->resource[0], "nvidia.com/gpu=1");
}

/* The pods of builds: where the pods that measure are, from the same image, without their devices. */
static void read_build_pod(struct yaml *y, struct yaml_node *entry, struct yaml_node *map, const struct config_worker *w,
	struct config_kubernetes *k)
{
	snprintf(k->image, sizeof k->image, "%s", w->kubernetes.image);
	snprintf(k->namespace, sizeof k->namespace, "%s", w->kubernetes.namespace);
	snprintf(k->context, sizeof k->context, "%s", w->kubernetes.context);
	read_pod(y, map, k);
	if (!yaml_get(y, entry, "cache"))
		yaml_mistake(y, map,
			"needs `cache` in the entry: a folder on a volume that the templates of both kinds of pods mount");
}

/* Builds of a worker on this machine use these cores, its measurements the others. */
static void read_build_cores(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	cpu_set_t set;
	if (!config_text(y, map, "cores", w->build_cores, sizeof w->build_cores))
		yaml_mistake(y, map, "needs `cores`, a list of cores for builds; e.g. {cores: 8-15}");
	else if (!cores_read(w->build_cores, &set))
		yaml_mistake(y, yaml_get(y, map, "cores"), "is not a list of cores as 8-15,20");
	if (w->device == DEVICE_ANY)
		yaml_mistake(y, map, "needs the `device` that modules are built for: cuda, cpu or sim");
}

static const char *build_example(const struct config_worker *w)
{
	return w->kind == WORKER_SLURM        ? "{partition: cpu, cpus: 16}"
	       : w->kind == WORKER_KUBERNETES ? "{resources: [cpu=16, memory=32Gi], template: /etc/flopwatch/build-pod.json}"
					      : "{cores: 8-15}";
}

/* Append an entry for the builds of the previous one, with the same command: in other allocations or pods, or on other cores. */
static void read_build(struct yaml *y, struct yaml_node *entry, struct config *c)
{
	struct yaml_node *map = yaml_get(y, entry, "build");
	struct config_worker *w = &c->worker[c->n_workers - 1];
	struct config_slurm s = { .exclusive = false };
	struct config_kubernetes k = { .n_resources = 0 };
	if (!map || (w->kind == WORKER_COMMAND && !w->n_command)) /* read_connection has reported that it has no command */
		return;
	if (w->kind == WORKER_SOCKET || w->kind == WORKER_SSH) {
		yaml_mistake(y, map, "applies only to a worker with `slurm`, `kubernetes` or only a `command`");
		return;
	}
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. %s", build_example(w));
		return;
	}
	if (w->kind == WORKER_SLURM)
		read_allocation(y, map, &s);
	else if (w->kind == WORKER_KUBERNETES)
		read_build_pod(y, entry, map, w, &k);
	else
		read_build_cores(y, map, w);
	if (w->kind == WORKER_SLURM && !yaml_get(y, map, "account"))
		snprintf(s.account, sizeof s.account, "%s", w->slurm.account);
	if (strcmp(w->command[w->n_command - 1], "serve") != 0)
		yaml_mistake(y, map, "needs a command that ends in `serve`, so that --build-only can follow");
	w->builds_separate = true;
	struct config_worker *builder = &c->worker[c->n_workers++];
	*builder = *w;
	builder->builds_separate = false;
	builder->builds = true;
	builder->slurm = s;
	builder->kubernetes = k;
	if (config_worker_is_on_call(w) && !builder->build_jobs) /* each has its own cores, and all share one cache */
		builder->build_jobs = w->max_jobs < BUILDS_MAX ? w->max_jobs : BUILDS_MAX;
}

static void read_devices(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct yaml_node *list = yaml_get(y, map, "devices");
	char text[sizeof w->devices[0]];
	if (!list || (!yaml_is_list(list) && config_text_node(y, list, text, sizeof text) && !strcmp(text, "all")))
		return;
	w->n_devices = config_text_list(y, map, "devices", w->devices[0], sizeof w->devices[0], CONFIG_DEVICES_MAX);
	for (int i = 0; i < w->n_devices; i++) {
		const char *name = w->devices[i];
		bool is_number = name[0] && strspn(name, "0123456789") == strlen(name), is_uuid = strchr(name, '-') != NULL;
		if (!is_number && !is_uuid)
			yaml_mistake(y, yaml_is_list(list) ? yaml_item(y, list, i) : list,
				"is neither all, the number of a device nor a uuid");
	}
}

bool config_worker_wants(const struct config_worker *w, enum device_kind kind, int index, const char *uuid)
{
	char number[16];
	if (w->device != DEVICE_ANY && w->device != kind)
		return false;
	snprintf(number, sizeof number, "%d", index);
	for (int i = 0; i < w->n_devices; i++)
		if (!strcmp(w->devices[i], number) || !strcmp(w->devices[i], uuid))
			return true;
	return w->n_devices == 0;
}

static void read_connection(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct yaml_node *command = yaml_get(y, map, "command"), *socket = yaml_get(y, map, "socket");
	struct yaml_node *ssh = yaml_get(y, map, "ssh"), *slurm = yaml_get(y, map, "slurm");
	struct yaml_node *kubernetes = yaml_get(y, map, "kubernetes");
	bool is_elsewhere = ssh || slurm || kubernetes;
	w->n_command = config_text_list(y, map, "command", w->command[0], sizeof w->command[0], CONFIG_LIST_MAX - 8);
	config_text_folder(y, map, "socket", w->socket, sizeof w->socket);
	if (socket)
		w->kind = WORKER_SOCKET;
	if (!!socket + !!ssh + !!slurm + !!kubernetes > 1 || (socket && command) || (!socket && !is_elsewhere && !command))
		yaml_mistake(y, map,
			"needs one of `command`, `socket`, `ssh`, `slurm` and `kubernetes`, and a command next to it only with the "
			"last three");
	if (ssh)
		read_ssh(y, ssh, w);
	if (slurm)
		read_slurm(y, slurm, w);
	if (kubernetes)
		read_kubernetes(y, kubernetes, w);
	if (is_elsewhere && !command) {
		snprintf(w->command[0], sizeof w->command[0], "flopwatch-worker");
		snprintf(w->command[1], sizeof w->command[1], "serve");
		w->n_command = 2;
	}
	if (ssh && command)
		check_remote_words(y, map, w);
}

void config_worker_read(struct yaml *y, struct yaml_node *map, struct config *c)
{
	static const char *const kinds[] = { "auto", "cuda", "cpu", "sim", NULL };
	struct config_worker *w = &c->worker[c->n_workers];
	char device[8] = "auto";
	int64_t max_jobs = 0, build_jobs = 0;
	memset(w, 0, sizeof *w);
	config_text_name(y, map, w->name, sizeof w->name);
	for (int i = 0; w->name[0] && i < c->n_workers; i++)
		if (!strcmp(c->worker[i].name, w->name))
			yaml_mistake(y, yaml_get(y, map, "name"), "there is another worker named %s", w->name);
	read_connection(y, map, w);
	config_text_choice(y, map, "device", kinds, "auto, cuda, cpu, sim", device, sizeof device);
	if (strcmp(device, "auto") != 0)
		w->device = device_kind_from_name(device);
	else if (config_worker_is_on_call(w)) /* no device can be queried before there is an allocation */
		w->device = DEVICE_CUDA;
	read_devices(y, map, w);
	yaml_int(y, yaml_get(y, map, "max_jobs"), 1, CONFIG_JOBS_MAX, &max_jobs);
	w->max_jobs = (int)max_jobs;
	if (config_worker_is_on_call(w) && !w->max_jobs)
		w->max_jobs = 1;
	yaml_int(y, yaml_get(y, map, "build_jobs"), 1, BUILDS_MAX, &build_jobs);
	w->build_jobs = (int)build_jobs;
	config_text_folder(y, map, "cache", w->cache, sizeof w->cache);
	if (w->cache[0] && w->kind == WORKER_SOCKET)
		yaml_mistake(y, yaml_get(y, map, "cache"), "is an option of the socket's service: --cache");
	if (w->build_jobs && w->kind == WORKER_SOCKET)
		yaml_mistake(y, yaml_get(y, map, "build_jobs"), "is an option of the socket's service: --build-jobs");
	c->n_workers++;
	read_build(y, map, c);
}

static bool same_ssh(const struct config_ssh *a, const struct config_ssh *b)
{
	return !strcmp(a->host, b->host) && !strcmp(a->user, b->user) && a->port == b->port && !strcmp(a->key, b->key) &&
	       !strcmp(a->known_hosts, b->known_hosts);
}

static bool same_slurm(const struct config_slurm *a, const struct config_slurm *b)
{
	bool same = !strcmp(a->partition, b->partition) && !strcmp(a->gres, b->gres) && !strcmp(a->account, b->account) &&
		    !strcmp(a->qos, b->qos) && a->exclusive == b->exclusive && a->cpus == b->cpus && a->time_ms == b->time_ms &&
		    a->n_options == b->n_options;
	for (int i = 0; same && i < a->n_options; i++)
		same = !strcmp(a->option[i], b->option[i]);
	return same;
}

static bool same_kubernetes(const struct config_kubernetes *a, const struct config_kubernetes *b)
{
	bool same = !strcmp(a->image, b->image) && !strcmp(a->namespace, b->namespace) && !strcmp(a->context, b->context) &&
		    !strcmp(a->template, b->template) && a->time_ms == b->time_ms && a->n_resources == b->n_resources &&
		    a->n_selectors == b->n_selectors;
	for (int i = 0; same && i < a->n_resources; i++)
		same = !strcmp(a->resource[i], b->resource[i]);
	for (int i = 0; same && i < a->n_selectors; i++)
		same = !strcmp(a->selector[i], b->selector[i]);
	return same;
}

bool config_worker_same(const struct config_worker *a, const struct config_worker *b)
{
	bool same = a->kind == b->kind && a->n_command == b->n_command && !strcmp(a->name, b->name) &&
		    !strcmp(a->socket, b->socket) && a->device == b->device && a->max_jobs == b->max_jobs &&
		    a->build_jobs == b->build_jobs && a->builds == b->builds && a->builds_separate == b->builds_separate &&
		    !strcmp(a->cache, b->cache) && !strcmp(a->build_cores, b->build_cores) && a->n_devices == b->n_devices &&
		    same_ssh(&a->ssh, &b->ssh) && same_slurm(&a->slurm, &b->slurm) &&
		    same_kubernetes(&a->kubernetes, &b->kubernetes);
	for (int i = 0; same && i < a->n_command; i++)
		same = !strcmp(a->command[i], b->command[i]);
	for (int i = 0; same && i < a->n_devices; i++)
		same = !strcmp(a->devices[i], b->devices[i]);
	return same;
}
