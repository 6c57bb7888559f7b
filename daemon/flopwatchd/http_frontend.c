/* http_frontend.c - HTTP on the loop: runs when its descriptor is ready or its timer expires. */
#include "flopwatchd/internal.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "flopwatchd/schedule/schedule.h"
#include "web/answer/answer.h"
#include "web/page/page.h"
#include "web/web.h"

/* ---- control_queue: Status of the queue: health, workers, unschedulable jobs. ---- */

int control_health(struct control *c, struct fw_err *err)
{
	return queue_health(c->queue, err);
}

/* Report each configured worker, in order. */
static void control_workers(const struct control *c, worker_status_fn *each, void *to)
{
	queue_workers(c->queue, each, to);
}

/* Report each queued job (`job` 0: any) that no worker has a device for, with the device and a remedy. */
static int control_unschedulable(
	const struct control *c, int64_t job, worker_unschedulable_fn *each, void *to, struct fw_err *err)
{
	return queue_unschedulable(c->queue, job, each, to, err);
}

static void report_receivers(const struct config *c, const struct site_settings *out)
{
	for (int i = 0; i < c->n_webhooks; i++) {
		const struct config_webhook *hook = &c->webhook[i];
		const char *host = strstr(hook->url, "://");
		char address[sizeof hook->url]; /* without the path, which is a secret of many services */
		host = host ? host + 3 : hook->url;
		snprintf(address, sizeof address, "%.*s", (int)(host - hook->url + (ptrdiff_t)strcspn(host, "/?#")), hook->url);
		out->receiver(out->to_receiver,
			&(struct site_receiver){
				.name = hook->name, .kind = "webhook", .address = address, .has_secret = hook->secret[0] });
	}
	for (int i = 0; i < c->n_repos; i++) {
		const struct config_repo *repo = &c->repo[i];
		if (repo->status.kind[0])
			out->receiver(out->to_receiver, &(struct site_receiver){ .name = repo->name,
								.kind = "status",
								.address = repo->status.api,
								.has_secret = repo->status.token[0] });
		if (repo->notes[0] && strcmp(repo->notes, "none") != 0)
			out->receiver(out->to_receiver, &(struct site_receiver){ .name = repo->name,
								.kind = "note",
								.address = repo->url,
								.has_secret = repo->token_file[0] || repo->ssh_key[0] });
	}
}

/* Report the configuration, its receivers, and the disk of state_dir. */
static int control_settings(const struct control *c, struct site_settings *out, struct fw_err *err)
{
	const struct config *config = c->config;
	struct statvfs disk;
	if (statvfs(config->state_dir, &disk) != 0)
		return err_sys(err, "cannot read the free space of %s", config->state_dir);
	out->file = config->file;
	out->folder = config->state_dir;
	out->restart = config->restart;
	out->free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
	out->total_bytes = (int64_t)disk.f_blocks * (int64_t)disk.f_frsize;
	config_settings_each(config, out->setting, out->to);
	report_receivers(config, out);
	return 0;
}

/* ---- http_frontend ---- */

struct http_frontend {
	struct loop *loop;
	struct site site;
	struct http_tls tls;
	const char *name[CONFIG_LIST_MAX + 1];
	struct http *http;
	struct loop_source *io, *timer;
};

static void run_http(struct http_frontend *f);

static void on_timer(void *arg)
{
	struct http_frontend *f = arg;
	f->timer = NULL;
	run_http(f);
}

static void schedule_serve(struct http_frontend *f, int64_t delay_ms)
{
	loop_remove(f->loop, f->timer);
	loop_after(f->loop, delay_ms, on_timer, f, &f->timer);
}

static void run_http(struct http_frontend *f)
{
	int64_t wait_ms = http_run(f->http);
	if (wait_ms >= 0)
		schedule_serve(f, wait_ms);
}

static void on_ready(void *arg, uint32_t events)
{
	(void)events;
	run_http(arg);
}

void http_frontend_wake(struct http_frontend *f)
{
	http_notify(f->http);
	schedule_serve(f, 0);
}

void http_frontend_end_streams(struct http_frontend *f)
{
	http_end_all_streams(f->http);
	schedule_serve(f, 0);
}

static const struct site_actions actions = {
	.enqueue = control_enqueue,
	.calibrate = control_calibrate,
	.forget = control_forget,
	.cancel = control_cancel,
	.retry = control_retry,
	.raise_commit = control_raise_commit,
	.pause = control_pause,
	.approve = control_approve,
	.trigger = control_trigger,
	.fetch_result = control_fetch_result,
	.secret = control_secret,
	.forge_event = control_forge_event,
	.health = control_health,
	.bisect = control_bisect,
	.import = control_import,
	.cancel_bisect = control_bisect_cancel,
	.profile = control_profile,
	.judge = control_judge,
	.redeliver = control_redeliver,
	.test_receiver = control_test_receiver,
	.alert = control_alert,
	.workers = control_workers,
	.unschedulable = control_unschedulable,
	.settings = control_settings,
	.peer = control_peer,
	.backup = control_backup,
	.backup_take = control_backup_take,
	.backup_discard = control_backup_discard,
	.compare_files = control_compare_files,
	.compared_files = control_compared_files,
	.compare_files_finish = control_compare_files_finish,
	.login_begin = control_login_begin,
	.login_address = control_login_address,
	.login_code = control_login_code,
	.login_user = control_login_user,
	.log_out = control_log_out,
	.is_logged_out = control_is_logged_out,
	.login_finish = control_login_finish,
};

/* Tests and scripts read the port from this file. */
static int write_port(const struct http_frontend *f, const char *folder, struct fw_err *err)
{
	char path[600], text[16];
	snprintf(path, sizeof path, "%s/port", folder);
	int len = snprintf(text, sizeof text, "%d\n", http_frontend_port(f));
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int result = fd >= 0 && write(fd, text, (size_t)len) == len ? 0 : err_sys(err, "cannot write %s", path);
	if (fd >= 0)
		close(fd);
	return result;
}

/* Each start writes a new admin token, readable for the daemon's user and root: users need it to create the first tokens. */
static int write_admin_token(const struct http_frontend *f, const char *folder, struct fw_err *err)
{
	char path[600], part[620], token[ACCESS_TOKEN_TEXT + 1], hash[HASH_HEX];
	snprintf(path, sizeof path, "%s/admin.token", folder);
	snprintf(part, sizeof part, "%s.part", path);
	if (access_new_token(token, err) != 0)
		return -1;
	hash_hex(token, strlen(token), hash);
	const struct token_new own = { .name = "admin.token", .hash = hash, .scope = "admin", .made_by = "flopwatchd" };
	if (store_token_replace(f->site.db, &own, clock_utc_ms(), err) != 0)
		return -1;
	memcpy(token + strlen(token), "\n", 2);
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool written = fd >= 0 && write(fd, token, strlen(token)) == (ssize_t)strlen(token);
	if (fd >= 0)
		close(fd);
	explicit_bzero(token, sizeof token);
	return written && rename(part, path) == 0 ? 0 : err_sys(err, "cannot write %s", path);
}

/* Revoke admin tokens made while no token was required. */
static int begin_access(const struct http_frontend *f, const char *folder, struct fw_err *err)
{
	int revoked = 0;
	if (write_admin_token(f, folder, err) != 0 ||
		store_token_revoke_unvouched(f->site.db, clock_utc_ms(), &revoked, err) != 0)
		return -1;
	if (revoked)
		log_warning("token.revoked",
			"scope=admin n=%d why=\"they were made without a token; make new ones with admin.token\"", revoked);
	return 0;
}

static void name_tls(struct http_frontend *f, const struct config *c)
{
	f->tls = (struct http_tls){ c->tls.certificate, c->tls.key_file, c->tls.hsts_ms / 1000 };
}

int http_frontend_renew(struct http_frontend *f, const struct config *c, struct fw_err *err)
{
	name_tls(f, c);
	int result = http_renew_tls(f->http, &f->tls, err);
	f->site.certificate.is_rejected = result != 0;
	f->site.certificate.expires_at = http_tls_expires_at(f->http);
	return result;
}

int64_t http_frontend_expires_at(const struct http_frontend *f)
{
	return f->site.certificate.expires_at;
}

int http_frontend_start(struct loop *l, const struct config *c, struct db *db, struct control *control,
	struct http_frontend **out, struct fw_err *err)
{
	struct http_frontend *f = mem_alloc_zero(1, sizeof *f);
	f->loop = l;
	f->site.db = db;
	f->site.pages = page_cache_new();
	f->site.captures = captures_new();
	f->site.needs_token = c->needs_token;
	f->site.requests_per_minute = c->per_minute;
	f->site.public_url = c->public_url;
	if (c->tls.certificate[0]) {
		name_tls(f, c);
		f->site.tls = &f->tls;
	}
	f->site.provider = c->oidc.issuer[0] ? c->oidc.issuer : NULL;
	for (int i = 0; i < c->n_names; i++)
		f->name[i] = c->name[i];
	f->site.names = f->name;
	f->site.act = &actions;
	f->site.control = control;
	if ((c->needs_token && begin_access(f, c->state_dir, err) != 0) ||
		site_start(&f->site, c->listen_host, c->listen_port, &f->http, err) != 0 ||
		(c->listen_port == 0 && write_port(f, c->state_dir, err) != 0) ||
		loop_watch(l, http_fd(f->http), EPOLLIN, on_ready, f, &f->io, err) != 0) {
		http_frontend_stop(f);
		return -1;
	}
	f->site.certificate.expires_at = http_tls_expires_at(f->http);
	schedule_serve(f, 0);
	*out = f;
	return 0;
}

int http_frontend_port(const struct http_frontend *f)
{
	return http_port(f->http);
}

void http_frontend_stop(struct http_frontend *f)
{
	if (!f)
		return;
	loop_remove(f->loop, f->io);
	loop_remove(f->loop, f->timer);
	http_stop(f->http);
	page_cache_free(f->site.pages);
	captures_free(f->site.captures);
	free(f);
}
