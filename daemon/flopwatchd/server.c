/* server.c - connects the modules, and defines the order of start and stop. */
#include "flopwatchd/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "flopwatchd/alert/alert.h"
#include "flopwatchd/bisect/bisect.h"
#include "flopwatchd/notify/notify.h"
#include "flopwatchd/schedule/schedule.h"
#include "flopwatchd/watch/watch.h"
#include "web/answer/answer.h"
#include "web/api/api.h"

enum { DRAIN_MS = 4000, WATCH_AGAIN_MS = 30000, LOCK_TRIES = 10, CARRY_REPORT_S = 5, EXIT_CONFIGURATION = 2, EXIT_DATABASE = 3 };

struct server {
	const char *config_path;
	struct config *config;
	int lock_fd;
	struct db *db;
	struct loop *loop;
	struct queue *queue;
	struct watch *watch;
	struct sender *sender;
	struct approval_poll *approval_poll;
	struct sender_hooks sender_hooks;
	struct janitor *janitor;
	struct idle *idle;
	struct bisects *bisects;
	struct device_alert_watch *device_alerts;
	struct backup *backup;
	struct file_compare *files;
	struct oidc *oidc;
	struct oidc_hooks oidc_hooks;
	struct check *check;
	struct fw_err damage;
	struct control control;
	struct http_frontend *frontend;
	struct certificate_watch *certificate;
	struct loop_source *watchdog, *deadline, *watch_timer;
	bool is_checked, is_ending;
};

static int write_comment(void *arg, int64_t comparison, struct buf *out, struct fw_err *err)
{
	struct server *s = arg;
	return review_write(s->db, s->config->public_url, comparison, out, err);
}

static void on_approved(void *arg, const char *repo)
{
	struct server *s = arg;
	if (s->watch)
		(void)watch_trigger(s->watch, repo);
}

static void on_event(void *arg)
{
	struct server *s = arg;
	if (s->sender)
		sender_wake(s->sender);
	if (s->frontend)
		http_frontend_wake(s->frontend);
	if (s->bisects)
		bisects_wake(s->bisects);
}

/* A client waits for a result of a child process, such as a backup. */
static void on_deferred(void *arg)
{
	struct server *s = arg;
	if (s->frontend)
		http_frontend_wake(s->frontend);
}

static void on_role_change(void *arg)
{
	struct server *s = arg;
	if (s->frontend)
		http_frontend_end_streams(s->frontend);
}

static void on_new_job(void *arg)
{
	struct server *s = arg;
	queue_wake(s->queue);
	on_event(s);
}

static void retry_watch(void *arg);

static int start_watch(struct server *s, struct fw_err *err)
{
	int result = watch_start(s->loop, s->config, s->db, on_new_job, s, &s->watch, err);
	s->control.watch = s->watch;
	return result;
}

static void start_watch_or_retry(struct server *s)
{
	struct fw_err err = { 0 };
	if (start_watch(s, &err) == 0)
		return;
	log_error("watch.start", "err=%s", log_quote(err.text));
	loop_after(s->loop, WATCH_AGAIN_MS, retry_watch, s, &s->watch_timer);
}

static void retry_watch(void *arg)
{
	struct server *s = arg;
	s->watch_timer = NULL;
	start_watch_or_retry(s);
}

static void stop_watch(struct server *s)
{
	loop_remove(s->loop, s->watch_timer);
	s->watch_timer = NULL;
	watch_stop(s->watch);
	s->watch = s->control.watch = NULL;
}

static void log_mistakes(struct buf *mistakes)
{
	char *rest = mistakes->data, *line;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_error("config.mistake", "at=%s", log_quote(line));
}

static void reload(void *arg)
{
	struct server *s = arg;
	struct config *fresh = NULL;
	struct fw_err err = { 0 };
	struct buf mistakes;
	char restart[256];
	if (s->is_ending)
		return;
	buf_init(&mistakes, 1 << 20);
	if (config_read(s->config_path, &fresh, &mistakes, &err) != 0) {
		log_mistakes(&mistakes);
		log_error("config.rejected", "err=%s", log_quote(err.text));
	} else {
		queue_forget_plans(s->queue);
		stop_watch(s);
		config_update(s->config, fresh, restart, sizeof restart);
		start_watch_or_retry(s);
		certificate_watch_read(s->certificate);
		queue_wake(s->queue);
		janitor_wake(s->janitor);
		if (s->sender)
			sender_wake(s->sender); /* quiet hours may have changed */
		approval_poll_read_again(s->approval_poll);
		oidc_wake(s->oidc);
		log_info("config.read", "repos=%d webhooks=%d", s->config->n_repos, s->config->n_webhooks);
		if (restart[0])
			log_warning("config.restart", "needed_for=%s", log_quote(restart));
	}
	config_free(fresh);
	buf_fini(&mistakes);
}

static void stop_loop(void *arg)
{
	struct server *s = arg;
	loop_stop(s->loop);
}

static void drain_checks(void *arg)
{
	struct server *s = arg;
	oidc_drain(s->oidc, stop_loop, s);
}

static void on_stop_deadline(void *arg)
{
	struct server *s = arg;
	s->deadline = NULL;
	log_warning("stop.forced", "after_ms=%d", DRAIN_MS);
	loop_stop(s->loop);
}

static void on_stop_signal(void *arg)
{
	struct server *s = arg;
	if (s->is_ending) { /* the second signal: stop now */
		loop_stop(s->loop);
		return;
	}
	s->is_ending = true;
	log_info("stop", "within_ms=%d", DRAIN_MS);
	sd_notify("STOPPING=1");
	stop_watch(s);
	backup_stop(s->backup);
	idle_stop(s->idle);
	s->idle = NULL;
	bisects_stop(s->bisects); /* Queue no more jobs; the next start continues open bisects. */
	s->bisects = NULL;
	oidc_stop_checks(s->oidc);
	queue_drain(s->queue, drain_checks, s);
	loop_after(s->loop, DRAIN_MS, on_stop_deadline, s, &s->deadline);
}

static void on_damage(void *arg, const struct fw_err *damage)
{
	struct server *s = arg;
	s->damage = *damage;
	log_error("db.damaged", "err=%s", log_quote(damage->text));
	on_stop_signal(s);
}

static int make_folder(const char *path, struct fw_err *err)
{
	char part[512];
	snprintf(part, sizeof part, "%s", path);
	for (char *slash = part + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		if (mkdir(part, 0755) != 0 && errno != EEXIST)
			return err_sys(err, "cannot create the folder %s", part);
		*slash = '/';
	}
	if (mkdir(part, 0700) != 0 && errno != EEXIST)
		return err_sys(err, "cannot create the folder %s", part);
	return 0;
}

/* A child that a killed daemon was starting has the lock until it detects the daemon's end: retry. */
static int acquire_lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return -1;
}

/* Two daemons on one state folder would overwrite each other's work. The lock ends with the process. */
static int lock_state(struct server *s, struct fw_err *err)
{
	char path[600], pid[32];
	snprintf(path, sizeof path, "%s/lock", s->config->state_dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0)
		return err_sys(err, "cannot write in the state_dir, which must belong to the user of flopwatchd: %s", path);
	if (acquire_lock(s->lock_fd) != 0) {
		ssize_t n = read(s->lock_fd, pid, sizeof pid - 1);
		pid[n > 0 ? n : 0] = 0;
		pid[strcspn(pid, "\n")] = 0;
		return err_set(err, ERR_BUSY, "another flopwatchd (process %s) uses %s; stop it, or set another state_dir", pid,
			s->config->state_dir);
	}
	int len = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
	if (ftruncate(s->lock_fd, 0) != 0 || write(s->lock_fd, pid, (size_t)len) != len)
		return err_sys(err, "cannot write %s", path);
	return 0;
}

/* Shift the times in rows with the clock, so that queue order, delays and sessions stay as they were. */
static int shift_times(struct db *db, int64_t by_ms, struct fw_err *err)
{
	const int64_t session_ms = (int64_t)ACCESS_SESSION_DAYS * 24 * 3600 * 1000;
	log_warning("clock.set", "by_s=%lld", (long long)(by_ms / 1000));
	return store_clock_set(db, by_ms, session_ms, clock_utc_ms(), err);
}

static int on_clock_set(void *arg, int64_t by_ms)
{
	struct server *s = arg;
	struct txn *txn = queue_txn(s->queue);
	struct fw_err err = { 0 };
	if (txn_begin(txn, &err) == 0 && txn_end(txn, shift_times(s->db, by_ms, &err), &err) == 0)
		return 0;
	log_error("clock.follow", "err=%s", log_quote(err.text));
	return -1;
}

/* The clock may have been set back while no daemon ran. */
static int check_stored_clock(struct db *db, struct fw_err *err)
{
	int64_t ahead_ms;
	if (store_clock_ahead(db, clock_utc_ms(), &ahead_ms, err) != 0)
		return -1;
	return ahead_ms < LOOP_CLOCK_SET_MS ? 0 : shift_times(db, -ahead_ms, err);
}

static int recover(struct server *s, struct fw_err *err)
{
	int requeued = 0, failed = 0;
	int64_t now = clock_utc_ms();
	if (db_begin(s->db, err) != 0)
		return -1;
	if (check_stored_clock(s->db, err) != 0 || store_job_recover(s->db, now, &requeued, &failed, err) != 0 ||
		(failed && status_ended(s->db, s->config, NULL, now, err) != 0)) {
		db_rollback(s->db);
		return -1;
	}
	if (requeued || failed)
		log_info("job.recover", "requeued=%d failed=%d", requeued, failed);
	return db_commit(s->db, err);
}

/* Detect errors that a user must fix before a start can succeed. A full or read-only disk may recover without a user. */
static int check_rights(const char *path, struct fw_err *err)
{
	if (access(path, R_OK | W_OK) == 0 || errno != EACCES)
		return 0;
	return err_set(err, ERR_INVALID, "%s must belong to the user of flopwatchd, who has no right to read and write it", path);
}

/* The migration of a large database may take minutes: the service manager must not end the start because of it. */
static void report_carried(void *arg, const char *what, int n, int of)
{
	int64_t *reported_ns = arg, now_ns = clock_mono_ns();
	sd_notify("EXTEND_TIMEOUT_USEC=600000000");
	if (*reported_ns && now_ns - *reported_ns < CARRY_REPORT_S * 1000000000LL)
		return;
	*reported_ns = now_ns;
	log_info("database.carry", "step=%s n=%d of=%d", log_quote(what), n, of);
}

/* An existing database is only read until it is known to be flopwatch's, undamaged, and of a version that can be migrated. */
static int check_database(struct server *s, const char *path, struct fw_err *err)
{
	struct stat st;
	char journal[640];
	int64_t reported_ns = 0;
	snprintf(journal, sizeof journal, "%s-journal", path);
	if (stat(path, &st) != 0 || st.st_size == 0)
		return 0;
	if (access(journal, F_OK) == 0 && db_open(path, false, &s->db, err) != 0) /* a reader cannot roll back */
		return -1;
	db_close(s->db);
	if (db_open(path, true, &s->db, err) != 0)
		return -1;
	/* otherwise the daemon would read and write a damaged database as if it were sound */
	int result = check_here(s->db, path, &s->is_checked, err) != 0 ||
				     carry_over(&s->db, path, report_carried, &reported_ns, err) != 0 ||
				     (s->db && migrate_check(s->db, err) != 0)
			     ? err_context(err, "%s", path)
			     : 0;
	db_close(s->db);
	s->db = NULL;
	return result;
}

static int open_state(struct server *s, struct fw_err *err)
{
	char path[600];
	umask(0077);
	if (make_folder(s->config->state_dir, err) != 0)
		return err_context(err, "state_dir");
	if (make_folder(s->config->cache_dir, err) != 0)
		return err_context(err, "cache_dir");
	snprintf(path, sizeof path, "%s/flopwatch.db", s->config->state_dir);
	if (check_rights(s->config->state_dir, err) != 0 || check_rights(s->config->cache_dir, err) != 0 ||
		check_rights(path, err) != 0)
		return -1;
	if (lock_state(s, err) != 0)
		return -1;
	if (check_database(s, path, err) != 0 || db_open(path, false, &s->db, err) != 0)
		return -1;
	if (migrate(s->db, err) != 0)
		return err_context(err, "%s", path);
	if (recover(s, err) != 0)
		return -1;
	db_hurry(s->db);
	return 0;
}

static void feed_watchdog(void *arg)
{
	struct server *s = arg;
	s->watchdog = NULL;
	sd_notify("WATCHDOG=1");
	loop_after(s->loop, sd_notify_watchdog_ms(), feed_watchdog, s, &s->watchdog);
}

/* Must run before any child starts, so that all children run on the cores for serving. */
static int divide_cores(struct config *config, struct fw_err *err)
{
	struct fw_err refused = { 0 };
	char measure[CORES_TEXT], serve[CORES_TEXT];
	if (cores_plan(config->measure_cores, &config->cores, err) != 0)
		return -1;
	if (!config->cores.separate)
		return 0;
	cores_text(&config->cores.measure, measure);
	cores_text(&config->cores.serve, serve);
	if (cores_use(&config->cores.serve, &refused) != 0)
		log_warning("cores", "measure=%s serve=%s err=%s", measure, serve, log_quote(refused.text));
	else
		log_info("cores", "measure=%s serve=%s", measure, serve);
	return 0;
}

static int start_check(struct server *s, struct fw_err *err)
{
	char path[600];
	snprintf(path, sizeof path, "%s/flopwatch.db", s->config->state_dir);
	return check_start(s->loop, path, on_damage, s, &s->check, err);
}

static int start(struct server *s, struct fw_err *err)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* with a file size limit, a write must fail and not end the daemon */
	if (divide_cores(s->config, err) != 0 || open_state(s, err) != 0 || loop_new(&s->loop, err) != 0)
		return -1;
	/* bind the port before starting workers: a second daemon must not disturb anything */
	s->certificate = certificate_watch_new(s->loop, s->config);
	if (http_frontend_start(s->loop, s->config, s->db, &s->control, &s->frontend, err) != 0 ||
		queue_start(s->loop, s->config, s->db, on_event, s, &s->queue, err) != 0)
		return -1;
	certificate_watch_start(s->certificate, s->frontend);
	s->sender = sender_start(s->loop, s->config, queue_txn(s->queue));
	s->sender_hooks = (struct sender_hooks){ write_comment, on_approved, s };
	sender_set_hooks(s->sender, &s->sender_hooks);
	s->approval_poll = approval_poll_start(s->loop, s->config, queue_txn(s->queue), s->sender);
	s->bisects = bisects_start(s->loop, s->config, queue_txn(s->queue), on_new_job, s);
	s->backup = backup_new(s->loop, s->config->state_dir, on_deferred, s);
	s->files = file_compare_new(s->loop, on_deferred, s);
	s->oidc_hooks = (struct oidc_hooks){ on_deferred, on_role_change, s };
	if (oidc_start(s->loop, s->config, s->db, &s->oidc_hooks, &s->oidc, err) != 0)
		return -1;
	s->device_alerts = device_alert_start(s->loop, s->config, queue_txn(s->queue));
	s->janitor = janitor_start(s->loop, s->config, s->db);
	s->idle = idle_start(s->loop, s->config, queue_txn(s->queue), on_new_job, s);
	if (!s->is_checked && start_check(s, err) != 0)
		return -1;
	s->control = (struct control){
		.db = s->db, .queue = s->queue, .config = s->config, .backup = s->backup, .files = s->files, .oidc = s->oidc
	};
	if (start_watch(s, err) != 0)
		return -1;
	if (loop_signal(s->loop, SIGTERM, on_stop_signal, s, err) != 0 ||
		loop_signal(s->loop, SIGINT, on_stop_signal, s, err) != 0 || loop_signal(s->loop, SIGHUP, reload, s, err) != 0)
		return -1;
	if (sd_notify_watchdog_ms() > 0)
		feed_watchdog(s);
	loop_on_clock_set(s->loop, on_clock_set, s);
	return 0;
}

static void stop(struct server *s)
{
	if (s->loop) {
		certificate_watch_stop(s->certificate);
		http_frontend_stop(s->frontend); /* first: its handlers use all the others */
		s->frontend = NULL;
		stop_watch(s);
		janitor_stop(s->janitor);
		idle_stop(s->idle);
		bisects_stop(s->bisects);
		device_alert_stop(s->device_alerts);
		approval_poll_stop(s->approval_poll);
		sender_stop(s->sender);
		queue_stop(s->queue);
		backup_stop(s->backup);
		check_stop(s->check);
		file_compare_free(s->files);
		oidc_stop(s->oidc);
		loop_free(s->loop);
		backup_free(s->backup);
	}
	db_close(s->db);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	config_free(s->config);
}

static int read_config(struct server *s, struct fw_err *err)
{
	struct buf mistakes;
	buf_init(&mistakes, 1 << 20);
	int result = config_read(s->config_path, &s->config, &mistakes, err);
	fputs(mistakes.data, stderr);
	buf_fini(&mistakes);
	return result;
}

/* systemd/flopwatchd.service does not restart after 2 and 3: a user must change something first. */
static int exit_status(const struct fw_err *err)
{
	if (err->code == ERR_INVALID)
		return EXIT_CONFIGURATION;
	return err->code == ERR_DAMAGED || err->code == ERR_UNSUPPORTED ? EXIT_DATABASE : 1;
}

int server_run(const char *config_path)
{
	struct server s = { .config_path = config_path, .lock_fd = -1 };
	struct fw_err err = { 0 };
	if (read_config(&s, &err) != 0) {
		fprintf(stderr, "flopwatchd: %s\n", err.text);
		return err.is_shortage ? 1 : EXIT_CONFIGURATION;
	}
	int result = start(&s, &err);
	if (result == 0) {
		bool v6 = strchr(s.config->listen_host, ':') != NULL;
		fprintf(stderr, "listening on http%s://%s%s%s:%d\n", s.config->tls.certificate[0] ? "s" : "", v6 ? "[" : "",
			s.config->listen_host, v6 ? "]" : "", http_frontend_port(s.frontend));
		sd_notify("READY=1");
		result = loop_run(s.loop, &err);
	}
	if (result == 0 && s.damage.code)
		result = err_set(&err, s.damage.code, "%s", s.damage.text);
	if (result != 0)
		fprintf(stderr, "flopwatchd: %s\n", err.text);
	stop(&s);
	return result == 0 ? 0 : exit_status(&err);
}
