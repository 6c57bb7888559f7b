#include "flopwatchd/config/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
	for (int i = 0; i < s->n_options; i++)
		if (strncmp(s->option[i], "--", 2) != 0)
			yaml_mistake(y, yaml_get(y, map, "options"), "%s is not an option of srun; e.g. --constraint=h200",
				s->option[i]);
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

/* Builds of a worker on this machine use these cores, its measurements the others. */
static void read_build_cores(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	cpu_set_t set;
	if (!config_text(y, map, "cores", w->build_cores, sizeof w->build_cores))
		yaml_mistake(y, map, "needs `cores`, a list of cores for builds; e.g. {cores: 8-15}");
	else if (!cores_read(w->build_cores, &set))
		yaml_mistake(y, yaml_get(y, map, "cores"), "is no list of cores as 8-15,20");
	if (w->device == DEVICE_ANY)
		yaml_mistake(y, map, "needs the `device` that modules are built for: cuda, cpu or sim");
}

/* Append an entry for the builds of the previous one, with the same command: in other allocations, or on other cores. */
static void read_build(struct yaml *y, struct yaml_node *map, struct config *c)
{
	struct config_worker *w = &c->worker[c->n_workers - 1];
	struct config_slurm s = { .exclusive = false };
	if (!map)
		return;
	if (w->kind != WORKER_SLURM && w->kind != WORKER_COMMAND) {
		yaml_mistake(y, map, "applies only to a worker with `slurm` or with only a `command`");
		return;
	}
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map,
			w->kind == WORKER_SLURM ? "is not a mapping; e.g. {partition: cpu, cpus: 16}"
						: "is not a mapping; e.g. {cores: 8-15}");
		return;
	}
	if (w->kind == WORKER_SLURM)
		read_allocation(y, map, &s);
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
	if (w->kind == WORKER_SLURM && !builder->build_jobs) /* each allocation has its own cores, and all share one cache */
		builder->build_jobs = w->max_jobs < BUILDS_MAX ? w->max_jobs : BUILDS_MAX;
}

static void read_devices(struct yaml *y, struct yaml_node *map, struct config_worker *w)
{
	struct yaml_node *list = yaml_get(y, map, "devices");
	char word[sizeof w->devices[0]];
	if (!list || (!yaml_is_list(list) && config_text_node(y, list, word, sizeof word) && !strcmp(word, "all")))
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
	w->n_command = config_text_list(y, map, "command", w->command[0], sizeof w->command[0], CONFIG_LIST_MAX - 8);
	config_text_folder(y, map, "socket", w->socket, sizeof w->socket);
	if (socket)
		w->kind = WORKER_SOCKET;
	if (!!socket + !!ssh + !!slurm > 1 || (socket && command) || (!socket && !ssh && !slurm && !command))
		yaml_mistake(y, map,
			"needs one of `command`, `socket`, `ssh` and `slurm`, and a command next to it only with the last two");
	if (ssh)
		read_ssh(y, ssh, w);
	if (slurm)
		read_slurm(y, slurm, w);
	if ((ssh || slurm) && !command) {
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
	else if (config_worker_is_slurm(w)) /* no device can be queried before there is an allocation */
		w->device = DEVICE_CUDA;
	read_devices(y, map, w);
	yaml_int(y, yaml_get(y, map, "max_jobs"), 1, CONFIG_JOBS_MAX, &max_jobs);
	w->max_jobs = (int)max_jobs;
	if (config_worker_is_slurm(w) && !w->max_jobs)
		w->max_jobs = 1;
	yaml_int(y, yaml_get(y, map, "build_jobs"), 1, BUILDS_MAX, &build_jobs);
	w->build_jobs = (int)build_jobs;
	config_text_folder(y, map, "cache", w->cache, sizeof w->cache);
	if (w->cache[0] && w->kind == WORKER_SOCKET)
		yaml_mistake(y, yaml_get(y, map, "cache"), "is an option of the socket's service: --cache");
	if (w->build_jobs && w->kind == WORKER_SOCKET)
		yaml_mistake(y, yaml_get(y, map, "build_jobs"), "is an option of the socket's service: --build-jobs");
	c->n_workers++;
	read_build(y, yaml_get(y, map, "build"), c);
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

bool config_worker_same(const struct config_worker *a, const struct config_worker *b)
{
	bool same = a->kind == b->kind && a->n_command == b->n_command && !strcmp(a->name, b->name) &&
		    !strcmp(a->socket, b->socket) && a->device == b->device && a->max_jobs == b->max_jobs &&
		    a->build_jobs == b->build_jobs && a->builds == b->builds && a->builds_separate == b->builds_separate &&
		    !strcmp(a->cache, b->cache) && !strcmp(a->build_cores, b->build_cores) && a->n_devices == b->n_devices &&
		    same_ssh(&a->ssh, &b->ssh) && same_slurm(&a->slurm, &b->slurm);
	for (int i = 0; same && i < a->n_command; i++)
		same = !strcmp(a->command[i], b->command[i]);
	for (int i = 0; same && i < a->n_devices; i++)
		same = !strcmp(a->devices[i], b->devices[i]);
	return same;
}
