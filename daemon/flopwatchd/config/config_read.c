/* config_read.c - reader of flopwatchd.yml, with all rules about its settings, on which the rest of the daemon relies. */
#include "flopwatchd/config/internal.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS   INT64_C(3600000)
#define DAY_MS    INT64_C(86400000)

enum { FILE_BYTES_MAX = 1 << 20 };

static void read_listen(struct yaml *y, struct yaml_node *map, struct config *c)
{
	char text[64] = "";
	if (!config_text(y, map, "listen", text, sizeof text))
		return;
	struct yaml_node *n = yaml_get(y, map, "listen");
	char *colon = strrchr(text, ':');
	char *end = NULL;
	errno = 0;
	long port = colon && isdigit((unsigned char)colon[1]) ? strtol(colon + 1, &end, 10) : -1;
	if (port < 0 || port > 65535 || errno || *end) {
		yaml_mistake(y, n, "is not ADDRESS:PORT; e.g. 127.0.0.1:8451");
		return;
	}
	*colon = 0;
	size_t len = strlen(text);
	bool bracketed = len > 2 && text[0] == '[' && text[len - 1] == ']';
	if (bracketed) {
		text[len - 1] = 0;
		memmove(text, text + 1, len - 1);
	}
	struct in_addr v4;
	struct in6_addr v6;
	bool is_v4 = !bracketed && inet_pton(AF_INET, text, &v4) == 1;
	if (!is_v4 && !(bracketed && inet_pton(AF_INET6, text, &v6) == 1))
		yaml_mistake(y, n, "needs an address in numbers; e.g. 127.0.0.1:8451 or [::1]:8451");
	else {
		c->needs_token = is_v4 ? ntohl(v4.s_addr) >> 24 != 127 : !IN6_IS_ADDR_LOOPBACK(&v6);
		snprintf(c->listen_host, sizeof c->listen_host, "%s", text);
		c->listen_port = (int)port;
	}
}

static void read_tls(struct yaml *y, struct yaml_node *map, struct config *c)
{
	struct config_tls *tls = &c->tls;
	tls->hsts_ms = 180 * DAY_MS;
	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(
			y, map, "is not a mapping; e.g. {certificate: /etc/flopwatch/tls.pem, key_file: /etc/flopwatch/tls.key}");
		return;
	}
	tls->at = yaml_position(map);
	config_file_path(y, map, "certificate", tls->certificate, sizeof tls->certificate);
	config_file_path(y, map, "key_file", tls->key_file, sizeof tls->key_file);
	if (!yaml_has(map, "certificate"))
		yaml_mistake(y, map, "needs `certificate`, a file with the certificate and those of its issuers");
	if (!yaml_has(map, "key_file"))
		yaml_mistake(y, map, "needs `key_file`, a file with the private key of the certificate");
	yaml_duration_ms(y, yaml_get(y, map, "hsts"), 0, 730 * DAY_MS, &tls->hsts_ms);
	yaml_finish(y, map);
}

enum { REQUESTS_PER_MINUTE = 1200 };

/* An address other than loopback requires tokens, independently of `access`. */
static void read_access(struct yaml *y, struct yaml_node *root, struct config *c)
{
	static const char *const choices[] = { "local", "token", NULL };
	char access[16] = "";
	int64_t per_minute = REQUESTS_PER_MINUTE;
	config_text_choice(y, root, "access", choices, "local, token", access, sizeof access);
	if (!strcmp(access, "local") && c->needs_token)
		yaml_mistake(y, yaml_get(y, root, "access"),
			"is local, but `listen` accepts other machines: write access: token, or listen on 127.0.0.1");
	c->needs_token |= !strcmp(access, "token");
	yaml_int(y, yaml_get(y, root, "requests_per_minute"), 0, 1000000, &per_minute);
	c->per_minute = (int)per_minute;
	c->n_names = config_text_list(y, root, "names", c->name[0], sizeof c->name[0], CONFIG_LIST_MAX);
	for (int i = 0; i < c->n_names; i++)
		if (strpbrk(c->name[i], "/@ "))
			yaml_mistake(y, yaml_get(y, root, "names"), "%s is not HOST or HOST:PORT", c->name[i]);
}

static void read_web_url(struct yaml *y, struct yaml_node *map, const char *key, const char *instead, char *out, size_t size)
{
	if (!config_text(y, map, key, out, size))
		return;
	config_web_url_check(y, yaml_get(y, map, key), out, instead);
	for (size_t n = strlen(out); n && out[n - 1] == '/'; n--)
		out[n - 1] = '\0';
}

static bool is_project(const char *text)
{
	bool slash = false;
	for (const char *c = text; *c; c++) {
		slash |= *c == '/';
		if (!isalnum((unsigned char)*c) && !strchr("._-/", *c))
			return false;
	}
	return slash && !strstr(text, "..") && !strstr(text, "//") && text[0] != '/' && text[strlen(text) - 1] != '/';
}

static void read_status(struct yaml *y, struct yaml_node *map, struct config_status *s)
{
	static const char *const kinds[] = { "github", "gitlab", "gitea", "forgejo", NULL };
	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(
			y, map, "is not a mapping; e.g. {kind: github, project: owner/name, token_file: /etc/flopwatch/token}");
		return;
	}
	if (!yaml_get(y, map, "kind"))
		yaml_mistake(y, map, "needs `kind`");
	config_text_choice(y, map, "kind", kinds, "github, gitlab, gitea, forgejo", s->kind, sizeof s->kind);
	read_web_url(y, map, "api", "put the forge's token into token_file", s->api, sizeof s->api);
	if (!s->api[0] && !strcmp(s->kind, "github"))
		snprintf(s->api, sizeof s->api, "https://api.github.com");
	else if (!s->api[0] && !strcmp(s->kind, "gitlab"))
		snprintf(s->api, sizeof s->api, "https://gitlab.com/api/v4");
	else if (!s->api[0] && s->kind[0])
		yaml_mistake(y, map, "needs `api`; e.g. https://git.example.org/api/v1");
	config_text_required(y, map, "project", s->project, sizeof s->project);
	if (s->project[0] && !is_project(s->project))
		yaml_mistake(y, yaml_get(y, map, "project"), "is not OWNER/NAME");
	if (!yaml_get(y, map, "token_file"))
		yaml_mistake(y, map, "needs `token_file`, a file with the forge's access token on its first line");
	config_secret(y, map, "token_file", s->token, sizeof s->token);
	yaml_bool(y, yaml_get(y, map, "allow_internal"), &s->allow_internal);
	yaml_bool(y, yaml_get(y, map, "checks"), &s->checks);
	if (s->checks && s->kind[0] && strcmp(s->kind, "github") != 0)
		yaml_mistake(y, yaml_get(y, map, "checks"), "is true, but only github has check runs");
	yaml_finish(y, map);
}

static void read_approve_by(struct yaml *y, struct yaml_node *map, const struct config_repo *r, struct config_approve_by *a)
{
	static const char *const permissions[] = { "write", "admin", NULL };
	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {label: measure, permission: write}");
		return;
	}
	config_text(y, map, "label", a->label, sizeof a->label);
	config_text(y, map, "comment", a->comment, sizeof a->comment);
	a->n_users = config_text_list(y, map, "users", a->user[0], sizeof a->user[0], CONFIG_LIST_MAX);
	config_text_choice(y, map, "permission", permissions, "write, admin", a->permission, sizeof a->permission);
	/* owners of a project of Forgejo can set the time of a change, so a comment that they changed looks unchanged */
	a->poll_ms = strcmp(r->status.kind, "forgejo") == 0 ? 0 : 5 * MINUTE_MS;
	yaml_duration_ms(y, yaml_get(y, map, "poll"), 0, DAY_MS, &a->poll_ms);
	if (!a->label[0] && !a->comment[0])
		yaml_mistake(y, map, "needs `label` or `comment`; e.g. {comment: /flopwatch approve, permission: write}");
	if (!a->n_users && !a->permission[0])
		yaml_mistake(y, map, "needs `users` or `permission`, or no user could approve");
	if (!r->status.kind[0])
		yaml_mistake(y, map, "needs `status` of the repository, which names the forge and its project");
	yaml_finish(y, map);
}

static void read_pulls(struct yaml *y, struct yaml_node *map, struct config_repo *r)
{
	static const char *const refs[] = { "pull", "merge-requests", NULL };
	static const char *const sides[] = { "merge", "head", NULL };
	struct config_pulls *p = &r->pulls;
	const char *kind = r->status.kind;
	bool has_merge = !strcmp(kind, "github") || !strcmp(kind, "gitlab"), lacks_merge = kind[0] && !has_merge;
	char side[8];
	snprintf(side, sizeof side, "%s", has_merge ? "merge" : "head");
	p->job_ms = 10 * MINUTE_MS;
	p->day_ms = 2 * HOUR_MS;
	if (!map)
		return;
	if (!yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {measure: merge, approvers: [alice]}");
		return;
	}
	snprintf(p->refs, sizeof p->refs, "%s", !strcmp(r->status.kind, "gitlab") ? "merge-requests" : "pull");
	config_text_choice(y, map, "refs", refs, "pull, merge-requests", p->refs, sizeof p->refs);
	config_text_choice(y, map, "measure", sides, "merge, head", side, sizeof side);
	p->measure_merge = !strcmp(side, "merge");
	if (p->measure_merge && lacks_merge)
		yaml_mistake(y, yaml_get(y, map, "measure"), "is merge, but %s stores no merge results; use head", kind);
	p->n_approvers = config_text_list(y, map, "approvers", p->approver[0], sizeof p->approver[0], CONFIG_LIST_MAX);
	struct yaml_node *time = yaml_get(y, map, "device_time");
	if (time && !yaml_is_map(time)) {
		yaml_mistake(y, time, "is not a mapping; e.g. {job: 10min, day: 2h}");
	} else {
		yaml_duration_ms(y, yaml_get(y, time, "job"), 1000, DAY_MS, &p->job_ms);
		yaml_duration_ms(y, yaml_get(y, time, "day"), 0, DAY_MS, &p->day_ms);
		yaml_finish(y, time);
	}
	read_approve_by(y, yaml_get(y, map, "approve_by"), r, &p->approve_by);
	yaml_bool(y, yaml_get(y, map, "comment"), &p->comment);
	if (p->comment && !kind[0])
		yaml_mistake(y, yaml_get(y, map, "comment"), "needs `status` of the repository, which names the forge");
	yaml_finish(y, map);
}

static void read_branches(struct yaml *y, struct yaml_node *map, struct config_repo *r)
{
	struct yaml_node *n = yaml_get(y, map, "branches");
	char why[256];
	bool includes = false;

	r->n_branches = config_text_list(y, map, "branches", r->branch[0], sizeof r->branch[0], CONFIG_LIST_MAX);
	if (!n)
		snprintf(r->branch[r->n_branches++], sizeof r->branch[0], "*");
	for (int i = 0; i < r->n_branches; i++) {
		includes = includes || r->branch[i][0] != '!';
		if (branch_pattern_is_wrong(r->branch[i], why, sizeof why))
			yaml_mistake(y, n && yaml_is_list(n) ? yaml_item(y, n, i) : n, "`%s` %s", r->branch[i], why);
	}
	if (r->n_branches > 0 && !includes)
		yaml_mistake(y, n, "only excludes, so that no branch is watched; begin with \"*\"");
}

/* `n` is a list, or a single suite. */
static void locate_suites(struct yaml *y, struct yaml_node *n, struct config_repo *r)
{
	bool is_list = n && yaml_is_list(n);
	for (int i = 0; i < r->n_suites; i++) {
		struct yaml_node *item = is_list ? yaml_item(y, n, i) : n;
		r->suite_at[i] = yaml_position(item);
		for (int k = 0; k < i; k++)
			if (strcmp(r->suite[i], r->suite[k]) == 0)
				yaml_mistake(y, item, "is named twice");
	}
}

static void read_repo(struct yaml *y, struct yaml_node *map, struct config *c)
{
	static const char *const notes[] = { "none", "write", "push", NULL };
	struct config_repo *r = &c->repo[c->n_repos];
	memset(r, 0, sizeof *r);
	snprintf(r->file, sizeof r->file, "%s", yaml_file(y));
	r->index = c->n_repos;
	r->at = yaml_position(map);
	config_text_name(y, map, r->name, sizeof r->name);
	if (r->name[0] && config_repo_find(c, r->name) >= 0)
		yaml_mistake(y, yaml_get(y, map, "name"), "there is another repository named %s", r->name);
	config_text_required(y, map, "url", r->url, sizeof r->url);
	const char *wrong = r->url[0] ? config_repo_url_wrong(r->url) : NULL;
	if (wrong)
		yaml_mistake(y, yaml_get(y, map, "url"), "%s", wrong);
	r->is_local = r->url[0] == '/';
	snprintf(r->upstream, sizeof r->upstream, "main");
	if (config_text(y, map, "upstream", r->upstream, sizeof r->upstream))
		r->upstream_at = yaml_position(yaml_get(y, map, "upstream"));
	const char *branch = config_after_prefix(r->upstream, "refs/heads/");
	if (branch)
		yaml_mistake(y, yaml_get(y, map, "upstream"), "is the name of a branch; write %s", branch);
	read_branches(y, map, r);
	r->n_suites =
		config_text_list(y, map, "suites", r->suite[0], sizeof r->suite[0], (int)(sizeof r->suite / sizeof r->suite[0]));
	for (int i = 0; i < r->n_suites; i++)
		if (strchr(r->suite[i], '/') || r->suite[i][0] == '.')
			yaml_mistake(y, yaml_get(y, map, "suites"), "%s is not the name of a suite; e.g. ffa", r->suite[i]);
	locate_suites(y, yaml_get(y, map, "suites"), r);
	r->has_peers = yaml_get(y, map, "peers") != NULL;
	peers_read(y, yaml_get(y, map, "peers"), &r->peers);
	r->poll_ms = r->is_local ? 30000 : 60000;
	yaml_duration_ms(y, yaml_get(y, map, "poll"), 1000, DAY_MS, &r->poll_ms);
	r->fetch_timeout_ms = 2 * MINUTE_MS;
	yaml_duration_ms(y, yaml_get(y, map, "fetch_timeout"), 1000, HOUR_MS, &r->fetch_timeout_ms);
	config_secret(y, map, "secret_file", r->secret, sizeof r->secret);
	config_access(y, map, r);
	read_status(y, yaml_get(y, map, "status"), &r->status);
	read_pulls(y, yaml_get(y, map, "pull_requests"), r);
	const struct config_approve_by *by = &r->pulls.approve_by;
	/* not r->secret: an unreadable file is a separate mistake */
	if ((by->label[0] || (by->comment[0] && !by->poll_ms)) && !yaml_get(y, map, "secret_file"))
		yaml_mistake(y, yaml_get(y, yaml_get(y, map, "pull_requests"), "approve_by"),
			"needs `secret_file` of the repository, because the forge's webhook reports approvals");
	snprintf(r->notes, sizeof r->notes, "none");
	config_text_choice(y, map, "notes", notes, "none, write, push", r->notes, sizeof r->notes);
	if (r->is_local && !strcmp(r->notes, "push"))
		yaml_mistake(y, yaml_get(y, map, "notes"), "is push, but this repository is local: use write");
	c->n_repos++;
}

static void read_section(struct yaml *y, struct yaml_node *root, const char *key, int max, struct config *c,
	void (*read_one)(struct yaml *, struct yaml_node *, struct config *))
{
	struct yaml_node *list = yaml_get(y, root, key);
	if (list && !yaml_is_list(list)) {
		yaml_mistake(y, list, "is not a list; begin each entry with \"- \"");
		return;
	}
	if (yaml_count(list) > max) {
		yaml_mistake(y, list, "has %d entries; at most %d", yaml_count(list), max);
		return;
	}
	for (int i = 0; i < yaml_count(list); i++) {
		struct yaml_node *item = yaml_item(y, list, i);
		if (!yaml_is_map(item)) {
			yaml_mistake(y, item, "is not a mapping; e.g. {name: ...}");
			continue;
		}
		read_one(y, item, c);
		yaml_finish(y, item);
	}
}

static void read_limits(struct yaml *y, struct yaml_node *map, struct config *c)
{
	static const struct {
		const char *key;
		int64_t min_ms, max_ms, normal_ms;
	} row[] = {
		{ "build", 1000, DAY_MS, 15 * MINUTE_MS },
		{ "check", 1000, DAY_MS, 5 * MINUTE_MS },
		{ "run", 1000, DAY_MS, 5 * MINUTE_MS },
		{ "job", 1000, 7 * DAY_MS, HOUR_MS },
		{ "wait", 0, DAY_MS, 10 * MINUTE_MS },
		{ "offline_after", 1000, 7 * DAY_MS, 15 * MINUTE_MS },
		{ "again", 0, 7 * DAY_MS, 10 * MINUTE_MS },
		{ "hello", 1000, DAY_MS, 5 * MINUTE_MS },
	};
	enum { ROWS = sizeof row / sizeof row[0] };
	int64_t ms[ROWS], queue_max = 10000;
	for (int i = 0; i < ROWS; i++) {
		ms[i] = row[i].normal_ms;
		yaml_duration_ms(y, yaml_get(y, map, row[i].key), row[i].min_ms, row[i].max_ms, &ms[i]);
	}
	yaml_int(y, yaml_get(y, map, "queue"), 1, 1000000, &queue_max);
	yaml_finish(y, map);
	c->build_s = (double)ms[0] / 1e3;
	c->check_s = (double)ms[1] / 1e3;
	c->run_s = (double)ms[2] / 1e3;
	c->job_timeout_ms = ms[3];
	c->wait_s = (double)ms[4] / 1e3;
	c->offline_after_ms = ms[5];
	c->retry_after_ms = ms[6];
	c->hello_ms = ms[7];
	c->queue_max = (int)queue_max;
}

static void read_cores(struct yaml *y, struct yaml_node *map, struct config *c)
{
	if (map && !yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. cores: {measure: auto}");
		return;
	}
	config_text(y, map, "measure", c->measure_cores, sizeof c->measure_cores);
	if (!cores_is_plan(c->measure_cores))
		yaml_mistake(y, yaml_get(y, map, "measure"), "is neither auto, shared nor a list of cores as 2-7,10");
	yaml_finish(y, map);
}

static void read_calibrate(struct yaml *y, struct yaml_node *map, struct config *c)
{
	c->calibrate_every_ms = DAY_MS;
	if (map && !yaml_is_map(map)) {
		yaml_mistake(y, map, "is not a mapping; e.g. {idle: true, every: 24h}");
		return;
	}
	yaml_bool(y, yaml_get(y, map, "idle"), &c->calibrate_idle);
	yaml_duration_ms(y, yaml_get(y, map, "every"), 1000, 365 * DAY_MS, &c->calibrate_every_ms);
	yaml_finish(y, map);
}

static void read_keep(struct yaml *y, struct yaml_node *root, struct config *c)
{
	const int64_t century_ms = 36525 * DAY_MS;
	c->keep_samples_ms = 14 * DAY_MS;
	yaml_duration_ms(y, yaml_get(y, root, "keep_samples"), 0, century_ms, &c->keep_samples_ms);
	yaml_duration_ms(y, yaml_get(y, root, "keep_archive"), DAY_MS, century_ms, &c->keep_archive_ms);
}

static void read_off_peak(struct yaml *y, struct yaml_node *n, struct config *c)
{
	const char *text = "00:00-06:00";
	if (yaml_string(y, n, &text) != 0 || !strcmp(text, "off"))
		return;
	c->off_peak.is_idle = !strcmp(text, "idle");
	if (c->off_peak.is_idle)
		return;
	if (!config_day_range(text, &c->off_peak.from, &c->off_peak.to))
		yaml_mistake(y, n, "\"%.40s\" is neither off, idle, nor two times of the day such as \"00:00-06:00\"", text);
}

static void read_profile(struct yaml *y, struct yaml_node *root, struct config *c)
{
	static const char *const choices[] = { "on", "off", NULL };
	char choice[4] = "on";
	config_text_choice(y, root, "profile", choices, "on, off", choice, sizeof choice);
	c->profile = !strcmp(choice, "on");
}

static void read_confirm(struct yaml *y, struct yaml_node *root, struct config *c)
{
	static const char *const choices[] = { "same_device", "other_device", NULL };
	char choice[16] = "same_device";
	config_text_choice(y, root, "confirm", choices, "same_device, other_device", choice, sizeof choice);
	c->confirm_elsewhere = !strcmp(choice, "other_device");
}

/* True if a worker runs on this machine, so that its folders can be checked here. */
static bool has_local_worker(const struct config *c)
{
	for (int i = 0; i < c->n_workers; i++)
		if (c->worker[i].kind == WORKER_SOCKET ||
			(c->worker[i].kind == WORKER_COMMAND && !strcmp(c->worker[i].command[0], "flopwatch-worker")))
			return true;
	return false;
}

/* Read the folders that branch code may read in addition to the system's. The daemon's own folders are refused. */
static void read_read_only(struct yaml *y, struct yaml_node *map, struct config *c)
{
	struct yaml_node *list = yaml_get(y, map, "read_only");
	if (list && (!yaml_is_list(list) || yaml_count(list) > READONLY_MAX)) {
		yaml_mistake(y, list, "is not a list of at most %d folders; e.g. [/opt/conda]", READONLY_MAX);
		list = NULL;
	}
	for (int i = 0; list && i < yaml_count(list); i++) {
		struct yaml_node *n = yaml_item(y, list, i);
		char *path = c->read_only[c->n_read_only];
		struct stat st;
		if (!config_text_node(y, n, path, READONLY_PATH_SIZE))
			continue;
		const char *wrong = readonly_wrong(path);
		const char *const ours[] = { c->state_dir, c->cache_dir };
		for (int k = 0; k < 2 && !wrong; k++)
			if (readonly_lies_in(path, ours[k]) || readonly_lies_in(ours[k], path))
				wrong = "overlaps state_dir or cache_dir";
		if (!wrong && has_local_worker(c) && stat(path, &st) != 0 && errno == ENOENT)
			wrong = "does not exist on this machine";
		if (wrong)
			yaml_mistake(y, n, "%s %s", path, wrong);
		else
			c->n_read_only++;
	}
	yaml_finish(y, map);
}

/* Accept `required`, or {mode: required, read_only: [/opt/conda]}. */
static void read_sandbox(struct yaml *y, struct yaml_node *root, struct config *c)
{
	static const char *const modes[] = { "auto", "required", "none", NULL };
	struct yaml_node *n = yaml_get(y, root, "sandbox");
	config_text_choice(y, yaml_is_map(n) ? n : root, yaml_is_map(n) ? "mode" : "sandbox", modes, "auto, required, none",
		c->sandbox, sizeof c->sandbox);
}

static void read_all(struct yaml *y, struct config *c)
{
	struct yaml_node *root = yaml_root(y);
	snprintf(c->state_dir, sizeof c->state_dir, "/var/lib/flopwatch");
	snprintf(c->cache_dir, sizeof c->cache_dir, "/var/cache/flopwatch");
	snprintf(c->suites_dir, sizeof c->suites_dir, "/usr/share/flopwatch/suites");
	snprintf(c->listen_host, sizeof c->listen_host, "127.0.0.1");
	c->listen_port = 8451;
	snprintf(c->sandbox, sizeof c->sandbox, "auto");
	snprintf(c->measure_cores, sizeof c->measure_cores, "auto");
	if (root && !yaml_is_map(root)) {
		yaml_mistake(y, root, "is not a mapping; e.g. state_dir: /var/lib/flopwatch");
		return;
	}
	if (yaml_has(root, "suite")) {
		yaml_mistake(y, root,
			"is a suite, not a configuration; `flopwatch config check` reads those in the configuration's "
			"suites_dir, `flopwatch try` those of a checkout");
		return;
	}
	config_text_folder(y, root, "state_dir", c->state_dir, sizeof c->state_dir);
	config_text_folder(y, root, "cache_dir", c->cache_dir, sizeof c->cache_dir);
	config_text_folder(y, root, "suites_dir", c->suites_dir, sizeof c->suites_dir);
	read_listen(y, root, c);
	read_tls(y, yaml_get(y, root, "tls"), c);
	read_access(y, root, c);
	read_web_url(y, root, "public_url", "users log in on the page", c->public_url, sizeof c->public_url);
	config_oidc_read(y, root, c);
	read_sandbox(y, root, c);
	read_limits(y, yaml_get(y, root, "limits"), c);
	read_calibrate(y, yaml_get(y, root, "calibrate"), c);
	read_off_peak(y, yaml_get(y, root, "off_peak"), c);
	read_profile(y, root, c);
	yaml_bool(y, yaml_get(y, root, "split"), &c->split);
	read_confirm(y, root, c);
	read_keep(y, root, c);
	read_cores(y, yaml_get(y, root, "cores"), c);
	read_section(y, root, "workers", CONFIG_WORKERS_MAX, c, config_worker_read);
	read_section(y, root, "repos", CONFIG_REPOS_MAX, c, read_repo);
	read_section(y, root, "webhooks", CONFIG_HOOKS_MAX, c, config_webhook_read);
	if (yaml_is_list(yaml_get(y, root, "workers")) && yaml_count(yaml_get(y, root, "workers")) == 0)
		yaml_mistake(
			y, yaml_get(y, root, "workers"), "is empty, so no job would run; name a worker, or leave `workers` out");
	if (!yaml_get(y, root, "workers")) {
		struct config_worker *w = &c->worker[c->n_workers++];
		snprintf(w->name, sizeof w->name, "local");
		snprintf(w->command[0], sizeof w->command[0], "flopwatch-worker");
		snprintf(w->command[1], sizeof w->command[1], "serve");
		w->n_command = 2;
	}
	if (yaml_is_map(yaml_get(y, root, "sandbox")))
		read_read_only(y, yaml_get(y, root, "sandbox"), c);
	yaml_finish(y, root);
}

int config_read(const char *path, struct config **out, struct buf *mistakes, struct fw_err *err)
{
	*out = NULL;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND,
			"cannot read the configuration %s: No such file or directory; copy the commented etc/flopwatchd.yml of the sources there (an installation has it as "
			"/etc/flopwatch/flopwatchd.yml), name a repository in it, then try it: flopwatch config check FILE",
			path);
	int fd = regular_open("the configuration ", path, err);
	if (fd < 0)
		return -1;
	struct buf text;
	buf_init(&text, FILE_BYTES_MAX);
	int got = buf_read_fd(&text, fd);
	if (got != 0)
		err_sys(err, "cannot read the configuration %s", path);
	close(fd);
	if (got != 0 || text.failed) {
		bool is_out_of_memory = text.is_out_of_memory;
		buf_fini(&text);
		return is_out_of_memory
			       ? err_memory(err, "cannot read the configuration %s", path)
			       : err_set(err, ERR_INVALID, "the configuration %s is larger than %d bytes", path, FILE_BYTES_MAX);
	}
	struct config *c = mem_alloc_zero(1, sizeof *c);
	struct yaml *y = yaml_new(text.data, text.len, path);
	read_all(y, c);
	int n = yaml_mistakes(y), listed = 0;
	bool is_out_of_memory = yaml_is_out_of_memory(y);
	if (!is_out_of_memory)
		buf_puts(mistakes, yaml_mistake_text(y));
	for (const char *line = yaml_mistake_text(y); (line = strchr(line, '\n')); line++)
		listed++;
	snprintf(c->file, sizeof c->file, "%s", path);
	buf_init(&c->settings, 4 * FILE_BYTES_MAX);
	if (n == 0)
		config_settings_write(y, &c->settings);
	is_out_of_memory = is_out_of_memory || c->settings.is_out_of_memory;
	yaml_free(y);
	buf_fini(&text);
	if (is_out_of_memory) {
		config_free(c);
		return err_memory(err, "cannot read the configuration %s", path);
	}
	if (n) {
		config_free(c);
		if (n > listed) /* yaml.c lists only the first of many */
			return err_set(err, ERR_INVALID, "more than %d mistakes in %s", listed, path);
		return err_set(err, ERR_INVALID, "%d %s in %s", n, n == 1 ? "mistake" : "mistakes", path);
	}
	*out = c;
	return 0;
}
