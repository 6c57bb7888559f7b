/* config.c - operations on a configuration: free, reload, positions of settings. */
#include "flopwatchd/config/config.h"

#include <stdio.h>
#include <stdlib.h>

void config_free(struct config *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->n_repos; i++)
		explicit_bzero(c->repo[i].secret, sizeof c->repo[i].secret),
			explicit_bzero(c->repo[i].status.token, sizeof c->repo[i].status.token);
	for (int i = 0; i < c->n_webhooks; i++)
		explicit_bzero(c->webhook[i].secret, sizeof c->webhook[i].secret);
	buf_fini(&c->settings);
	free(c);
}

static void append_setting(bool differs, const char *name, char *list, size_t size)
{
	size_t n = strlen(list);
	if (differs)
		snprintf(list + n, size - n, "%s%s", n ? ", " : "", name);
}

static bool is_same_oidc(const struct config_oidc *a, const struct config_oidc *b)
{
	bool is_same = strcmp(a->issuer, b->issuer) == 0 && strcmp(a->client_id, b->client_id) == 0 &&
		       strcmp(a->client_secret, b->client_secret) == 0 && strcmp(a->scopes, b->scopes) == 0 &&
		       strcmp(a->groups_claim, b->groups_claim) == 0 && strcmp(a->ca_file, b->ca_file) == 0 &&
		       a->allow_internal == b->allow_internal && a->has_consent == b->has_consent &&
		       a->has_log_out == b->has_log_out && a->n_roles == b->n_roles;
	for (int i = 0; is_same && i < a->n_roles; i++)
		is_same = strcmp(a->role[i].group, b->role[i].group) == 0 && a->role[i].scope == b->role[i].scope;
	return is_same;
}

void config_update(struct config *live, const struct config *fresh, char *restart, size_t size)
{
	bool workers = live->n_workers != fresh->n_workers;
	for (int i = 0; !workers && i < live->n_workers; i++)
		workers = !config_worker_same(&live->worker[i], &fresh->worker[i]);
	restart[0] = 0;
	append_setting(strcmp(live->state_dir, fresh->state_dir) != 0, "state_dir", restart, size);
	append_setting(strcmp(live->cache_dir, fresh->cache_dir) != 0, "cache_dir", restart, size);
	append_setting(strcmp(live->listen_host, fresh->listen_host) != 0 || live->listen_port != fresh->listen_port, "listen",
		restart, size);
	bool names = live->n_names != fresh->n_names || live->needs_token != fresh->needs_token;
	for (int i = 0; !names && i < live->n_names; i++)
		names = strcmp(live->name[i], fresh->name[i]) != 0;
	append_setting(names, "access and names", restart, size);
	append_setting(!live->tls.certificate[0] != !fresh->tls.certificate[0], "tls", restart, size);
	append_setting(!is_same_oidc(&live->oidc, &fresh->oidc), "oidc", restart, size);
	append_setting(live->per_minute != fresh->per_minute, "requests_per_minute", restart, size);
	bool shown = live->n_read_only != fresh->n_read_only;
	for (int i = 0; !shown && i < live->n_read_only; i++)
		shown = strcmp(live->read_only[i], fresh->read_only[i]) != 0;
	append_setting(shown || strcmp(live->sandbox, fresh->sandbox) != 0, "sandbox", restart, size);
	append_setting(strcmp(live->measure_cores, fresh->measure_cores) != 0, "cores", restart, size);
	append_setting(workers, "workers", restart, size);
	snprintf(live->restart, sizeof live->restart, "%s", restart);
	buf_clear(&live->settings);
	buf_append(&live->settings, fresh->settings.data, fresh->settings.len);
	buf_require_memory(&live->settings);
	/* Copy entry by entry: untouched entries of these arrays take no memory. */
	for (int i = 0; i < fresh->n_repos; i++)
		live->repo[i] = fresh->repo[i];
	live->n_repos = fresh->n_repos;
	for (int i = 0; i < fresh->n_webhooks; i++)
		live->webhook[i] = fresh->webhook[i];
	live->n_webhooks = fresh->n_webhooks;
	if (live->tls.certificate[0] && fresh->tls.certificate[0])
		live->tls = fresh->tls;
	memcpy(live->public_url, fresh->public_url, sizeof live->public_url);
	memcpy(live->suites_dir, fresh->suites_dir, sizeof live->suites_dir);
	live->build_s = fresh->build_s;
	live->check_s = fresh->check_s;
	live->run_s = fresh->run_s;
	live->wait_s = fresh->wait_s;
	live->job_timeout_ms = fresh->job_timeout_ms;
	live->hello_ms = fresh->hello_ms;
	live->offline_after_ms = fresh->offline_after_ms;
	live->retry_after_ms = fresh->retry_after_ms;
	live->queue_max = fresh->queue_max;
	live->calibrate_idle = fresh->calibrate_idle;
	live->calibrate_every_ms = fresh->calibrate_every_ms;
	live->off_peak = fresh->off_peak;
	live->profile = fresh->profile;
	live->split = fresh->split;
	live->confirm_elsewhere = fresh->confirm_elsewhere;
	live->keep_samples_ms = fresh->keep_samples_ms;
	live->keep_archive_ms = fresh->keep_archive_ms;
}

void config_position(const struct config_repo *r, struct yaml_position at, const char *setting, int item, char *text, size_t size)
{
	char number[16] = "";
	if (item >= 0)
		snprintf(number, sizeof number, "[%d]", item);
	text[0] = 0;
	if (at.line)
		snprintf(text, size, "%s:%d:%d: repos[%d].%s%s: ", r->file, at.line, at.column, r->index, setting, number);
}

void config_no_upstream(const struct config_repo *r, char *text, size_t size)
{
	char position[640];
	bool is_named = r->upstream_at.line > 0;
	config_position(r, is_named ? r->upstream_at : r->at, "upstream", -1, position, sizeof position);
	snprintf(text, size, "%sthere is no branch %s to compare others with%s; push it, or set `upstream` of this repository",
		position, r->upstream, is_named || !position[0] ? "" : ", the default of `upstream`");
}

int config_repo_find(const struct config *c, const char *name)
{
	for (int i = 0; i < c->n_repos; i++)
		if (!strcmp(c->repo[i].name, name))
			return i;
	return -1;
}

int config_webhook_find(const struct config *c, const char *name)
{
	for (int i = 0; i < c->n_webhooks; i++)
		if (!strcmp(c->webhook[i].name, name))
			return i;
	return -1;
}

int config_repo_access(const struct config_repo *r, const char **args)
{
	const char *const option[CONFIG_ACCESS_ARGS] = { "--ssh-key", r->ssh_key, "--known-hosts", r->known_hosts, "--host-keys",
		r->host_keys, "--token-file", r->token_file, "--token-user", r->token_user, "--ca-file", r->ca_file };
	int n = 0;
	for (int i = 0; i < CONFIG_ACCESS_ARGS; i += 2)
		if (option[i + 1][0]) {
			args[n++] = option[i];
			args[n++] = option[i + 1];
		}
	return n;
}

int config_repo_path(const struct config *c, const struct config_repo *r, char *path, size_t size, struct fw_err *err)
{
	int len = r->is_local ? snprintf(path, size, "%s", r->url)
			      : snprintf(path, size, "%s/mirrors/%s.git", c->state_dir, r->name);

	if (len < 0 || (size_t)len >= size)
		return err_set(err, ERR_FULL, "repository %s: path is too long", r->name);
	return 0;
}
