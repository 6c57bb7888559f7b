/*
 * metrics.c - /metrics for Prometheus, text format 0.0.4, or OpenMetrics 1.0 with exemplars for clients that accept it: families
 * with help and type, in base units. Names of branches and commits are not labels.
 */
#include "web/api/internal.h"

#include <dirent.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct metrics {
	struct db *db;
	struct buf *out;
	struct fw_err *err;
	int failed;
	bool is_open;  /* OpenMetrics */
	char what[32]; /* family of the previous count */
	const struct gauge *gauge;
};

/*
 * OpenMetrics names the family of a counter without _total. jobs_total has no such family, because `jobs` is a gauge.
 */
static void describe(struct metrics *m, const char *prefix, const char *name, const char *type, const char *help)
{
	int n = (int)strlen(name);
	if (m->is_open && strcmp(name, "jobs_total") == 0)
		type = "unknown";
	else if (m->is_open && strcmp(type, "counter") == 0)
		n -= (int)strlen("_total");
	buf_printf(m->out, "# HELP %s_%.*s %s\n# TYPE %s_%.*s %s\n", prefix, n, name, help, prefix, n, name, type);
}

static void family(struct metrics *m, const char *name, const char *type, const char *help)
{
	describe(m, "flopwatch", name, type, help);
}

/* Write a label's value: backslash, quote and line feed are escaped. */
static void put_label(struct buf *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '\\' || *value == '"')
			buf_putc(out, '\\');
		if (*value == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *value);
	}
}

static void sample(struct metrics *m, const char *name, const char *label, const char *value, double v)
{
	buf_printf(m->out, "flopwatch_%s", name);
	if (label) {
		buf_printf(m->out, "{%s=\"", label);
		put_label(m->out, value);
		buf_puts(m->out, "\"}");
	}
	buf_printf(m->out, " %.15g\n", v);
}

/* ---- counts by state ----------------------------------------------------------------------------------------------- */

static void count_row(void *arg, const char *what, const char *label, int64_t n)
{
	struct metrics *m = arg;
	if (strcmp(m->what, what) != 0) {
		char help[64];
		snprintf(m->what, sizeof m->what, "%s", what);
		snprintf(help, sizeof help, "Rows of %s as they are now.", what);
		family(m, what, "gauge", help);
	}
	sample(m, what, strcmp(what, "comparisons") == 0 ? "verdict" : "state", label, (double)n);
}

/* Write final states of jobs, which never change, also as a counter. */
static void result_row(void *arg, const char *what, const char *label, int64_t n)
{
	static const char *const ends[] = { "done", "failed", "cancelled", "superseded", "target_missing" };
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
		if (strcmp(what, "jobs") == 0 && strcmp(label, ends[i]) == 0)
			sample(arg, "jobs_total", "result", label, (double)n);
}

/* End a bucket's line, with a job of the bucket if the format has exemplars. */
static void write_exemplar(struct metrics *m, const struct view_exemplar *of)
{
	if (m->is_open && of->job)
		buf_printf(m->out, " # {job=\"%lld\"} %.15g %.3f", (long long)of->job, of->seconds, (double)of->ended_at / 1e3);
	buf_putc(m->out, '\n');
}

static int write_durations(struct metrics *m)
{
	struct view_durations d;
	struct view_exemplar newest[VIEW_EXEMPLARS] = { { 0 } };
	if (view_durations(m->db, &d, m->err) != 0 || (m->is_open && view_exemplars(m->db, newest, m->err) != 0))
		return -1;
	family(m, "job_duration_seconds", "histogram", "From a job's start to its end, done or failed.");
	for (int i = 0; i < VIEW_DURATION_BUCKETS; i++) {
		buf_printf(m->out, "flopwatch_job_duration_seconds_bucket{le=\"%d\"} %lld", view_duration_bound_s[i],
			(long long)d.below[i]);
		write_exemplar(m, &newest[i]);
	}
	buf_printf(m->out, "flopwatch_job_duration_seconds_bucket{le=\"+Inf\"} %lld", (long long)d.n);
	write_exemplar(m, &newest[VIEW_DURATION_BUCKETS]);
	sample(m, "job_duration_seconds_sum", NULL, NULL, d.sum_s);
	sample(m, "job_duration_seconds_count", NULL, NULL, (double)d.n);
	return 0;
}

/* ---- repositories -------------------------------------------------------------------------------------------------- */

static void failure_row(void *arg, const char *repo, int64_t failures, int64_t fetched_at)
{
	(void)fetched_at;
	sample(arg, "fetch_failures_total", "repo", repo, (double)failures);
}

static void fetched_row(void *arg, const char *repo, int64_t failures, int64_t fetched_at)
{
	(void)failures;
	if (fetched_at)
		sample(arg, "last_fetch_timestamp_seconds", "repo", repo, (double)fetched_at / 1e3);
}

static int write_fetches(struct metrics *m)
{
	family(m, "fetch_failures_total", "counter", "Failed reads of a repository.");
	if (view_fetches(m->db, failure_row, m, m->err) != 0)
		return -1;
	family(m, "last_fetch_timestamp_seconds", "gauge", "Time of the last read of a repository.");
	return view_fetches(m->db, fetched_row, m, m->err);
}

/* ---- devices ------------------------------------------------------------------------------------------------------- */

static const struct gauge {
	const char *name, *type, *help, *label;
	const char *key; /* key in the last device check of a run, where -1 means unknown; NULL: from another source */
	double scale;
} gauges[] = {
	{ "gpu_temperature_celsius", "gauge", "Temperature at the device's last run.", "gpu", "temp_c", 1 },
	{ "gpu_power_watts", "gauge", "Power at the device's last run.", "gpu", "power_w", 1 },
	{ "gpu_sm_clock_hertz", "gauge", "SM clock at the device's last run.", "gpu", "sm_mhz", 1e6 },
	{ "device_outlier", "gauge", "1 if the device is an outlier of its class and gets only jobs that name it.", "device",
		NULL, 1 },
	{ "aa_comparisons_total", "counter", "Comparisons of equal builds.", "device", NULL, 1 },
	{ "aa_alarms_total", "counter", "Comparisons of equal builds that would have opened an alert.", "device", NULL, 1 },
};
enum { GAUGES_SEEN = 3, GAUGE_OUTLIER = 3, GAUGE_COMPARISONS, GAUGES = sizeof gauges / sizeof gauges[0] };

static double last_seen(struct metrics *m, const struct view_device *row)
{
	struct buf text;
	buf_init(&text, 1 << 16);
	if (view_last_device_check(m->db, row->id, &text, m->err) != 0)
		m->failed = -1;
	json_t *device_check = text.len ? json_loadb(text.data, text.len, 0, NULL) : NULL;
	const json_t *value = json_object_get(device_check, m->gauge->key);
	double seen = json_is_number(value) ? json_number_value(value) * m->gauge->scale : -1;
	json_decref(device_check);
	buf_fini(&text);
	return seen;
}

static void gauge_row(void *arg, const struct view_device *row)
{
	struct metrics *m = arg;
	struct view_false_alarms f = { 0 };
	int which = (int)(m->gauge - gauges);
	if (which > GAUGE_OUTLIER && !m->failed)
		m->failed = view_false_alarms(m->db, row->id, &f, m->err);
	double v = which < GAUGES_SEEN          ? last_seen(m, row)
		   : which == GAUGE_OUTLIER     ? *row->outlier != 0
		   : which == GAUGE_COMPARISONS ? f.comparisons
						: f.alarms;
	if (v >= 0 && !(which > GAUGE_OUTLIER && m->failed))
		sample(m, m->gauge->name, m->gauge->label, row->uuid, v);
}

static void throttle_row(void *arg, const char *device_uuid, const char *reason, double seconds)
{
	struct metrics *m = arg;
	buf_puts(m->out, "flopwatch_gpu_throttle_seconds_total{gpu=\"");
	put_label(m->out, device_uuid);
	buf_printf(m->out, "\",reason=\"%s\"} %.15g\n", reason, seconds);
}

static void step_row(void *arg, const char *device_uuid, const char *step, double seconds)
{
	struct metrics *m = arg;
	buf_puts(m->out, "flopwatch_device_step_seconds_total{device=\"");
	put_label(m->out, device_uuid);
	buf_printf(m->out, "\",step=\"%s\"} %.15g\n", step, seconds);
}

static int write_devices(struct metrics *m)
{
	for (int i = 0; i < GAUGES; i++) {
		m->gauge = &gauges[i];
		if (i == GAUGES_SEEN) {
			family(m, "gpu_throttle_seconds_total", "counter",
				"Device time of timed calls while the driver reported this reason for lower clocks, before or after them.");
			if (store_throttle_each(m->db, throttle_row, m, m->err) != 0)
				return -1;
			family(m, "device_step_seconds_total", "counter",
				"Time that the device was held for comparisons, by step: timed is the time of timed calls.");
			if (store_device_step_each(m->db, step_row, m, m->err) != 0)
				return -1;
		}
		family(m, gauges[i].name, gauges[i].type, gauges[i].help);
		if (view_devices(m->db, gauge_row, m, m->err) != 0 || m->failed)
			return -1;
	}
	return 0;
}

/* ---- workers ------------------------------------------------------------------------------------------------------- */

static const char *const worker_states[] = { "down", "starting", "free", "pending", "busy" };
enum { WORKER_STATES = sizeof worker_states / sizeof worker_states[0] };

struct workers {
	struct metrics *m;
	char name[64]; /* worker whose slots are counted; they are consecutive */
	int n[WORKER_STATES];
};

static void write_worker(struct workers *w)
{
	for (int i = 0; i < WORKER_STATES && w->name[0]; i++) {
		buf_puts(w->m->out, "flopwatch_workers{worker=\"");
		put_label(w->m->out, w->name);
		buf_printf(w->m->out, "\",state=\"%s\"} %d\n", worker_states[i], w->n[i]);
	}
	memset(w->n, 0, sizeof w->n);
}

static void count_worker(void *arg, const struct worker_status *w)
{
	struct workers *all = arg;
	if (strcmp(all->name, w->name) != 0)
		write_worker(all);
	snprintf(all->name, sizeof all->name, "%s", w->name);
	for (int i = 0; i < WORKER_STATES; i++)
		all->n[i] += strcmp(worker_states[i], w->state) == 0;
}

static void pending_row(void *arg, const struct worker_status *w)
{
	struct metrics *m = arg;
	if (strcmp(w->state, "pending") != 0)
		return;
	buf_puts(m->out, "flopwatch_worker_pending_position{worker=\"");
	put_label(m->out, w->name);
	buf_printf(m->out, "\",slot=\"%d\",reason=\"", w->slot);
	put_label(m->out, w->why);
	if (*w->aim)
		buf_printf(m->out, "\",to=\"%s", w->aim);
	buf_printf(m->out, "\"} %d\n", w->position);
}

static void write_workers(struct metrics *m, const struct site *site)
{
	struct workers all = { .m = m };
	if (!site->act->workers)
		return;
	family(m, "workers", "gauge", "Job slots of a worker by state.");
	site->act->workers(site->control, count_worker, &all);
	write_worker(&all);
	family(m, "worker_pending_position", "gauge",
		"Position of an allocation in its scheduler's queue, from 1; 0 if not known yet.");
	site->act->workers(site->control, pending_row, m);
}

/* ---- the daemon ---------------------------------------------------------------------------------------------------- */

static void request_row(void *arg, const char *method, const char *route, int status, uint64_t n)
{
	struct metrics *m = arg;
	buf_printf(m->out, "flopwatch_http_requests_total{method=\"%s\",route=\"", method);
	put_label(m->out, route);
	buf_printf(m->out, "\",code=\"%d\"} %llu\n", status, (unsigned long long)n);
}

static int open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int n = -1; /* minus the descriptor that lists the folder */
	if (!folder)
		return 0;
	for (const struct dirent *e; (e = readdir(folder));)
		n += e->d_name[0] != '.';
	closedir(folder);
	return n;
}

static void process_value(struct metrics *m, const char *name, const char *type, const char *help, double v)
{
	describe(m, "process", name, type, help);
	buf_printf(m->out, "process_%s %.15g\n", name, v);
}

/* Start time since boot: field 22 of /proc/self/stat. Parsed after the name, which may contain any character. */
static double started_s(void)
{
	char text[1024], *at;
	unsigned long long ticks = 0;
	FILE *file = fopen("/proc/self/stat", "re");
	size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file)
		fclose(file);
	text[n] = '\0';
	at = strrchr(text, ')');
	if (!at || sscanf(at + 1, " %*c%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%llu", &ticks) != 1)
		return 0;
	struct timespec boot, now;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec - (double)boot.tv_sec + (double)(now.tv_nsec - boot.tv_nsec) * 1e-9 +
	       (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static void write_process(struct metrics *m)
{
	struct rusage use;
	struct rlimit files;
	unsigned long pages = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (file) {
		if (fscanf(file, "%lu %lu", &pages, &resident) != 2)
			pages = resident = 0;
		fclose(file);
	}
	getrusage(RUSAGE_SELF, &use);
	getrlimit(RLIMIT_NOFILE, &files);
	const double page = (double)sysconf(_SC_PAGESIZE);
	process_value(m, "cpu_seconds_total", "counter", "User and system time of the daemon.",
		(double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			(double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6);
	process_value(m, "resident_memory_bytes", "gauge", "Resident memory of the daemon.", (double)resident * page);
	process_value(m, "virtual_memory_bytes", "gauge", "Virtual memory of the daemon.", (double)pages * page);
	process_value(m, "open_fds", "gauge", "Open descriptors of the daemon.", open_descriptors());
	process_value(m, "max_fds", "gauge", "Limit of open descriptors of the daemon.", (double)files.rlim_cur);
	process_value(m, "start_time_seconds", "gauge", "Start time of the daemon.", started_s());
}

static int write_all(struct metrics *m, const struct site *site, const struct http_request *r)
{
	int64_t bytes;
	int n_unschedulable;
	family(m, "build_info", "gauge", "The running version.");
	sample(m, "build_info", "version", FW_VERSION, 1);
	if (view_counts(m->db, count_row, m, m->err) != 0)
		return -1;
	family(m, "jobs_total", "counter", "Ended jobs by result.");
	if (view_counts(m->db, result_row, m, m->err) != 0 || write_durations(m) != 0 || write_fetches(m) != 0 ||
		write_devices(m) != 0 || view_size(m->db, &bytes, m->err) != 0)
		return -1;
	family(m, "db_size_bytes", "gauge", "Size of the database without its log.");
	sample(m, "db_size_bytes", NULL, NULL, (double)bytes);
	if (site->certificate.expires_at) {
		family(m, "certificate_expiry_timestamp_seconds", "gauge", "End of the period of the certificate of HTTPS.");
		sample(m, "certificate_expiry_timestamp_seconds", NULL, NULL, (double)site->certificate.expires_at / 1e3);
		family(m, "certificate_rejected", "gauge", "1 if the files contain another certificate, which cannot be used.");
		sample(m, "certificate_rejected", NULL, NULL, site->certificate.is_rejected);
	}
	write_workers(m, site);
	if (unschedulable_count(site, &n_unschedulable, m->err) != 0)
		return -1;
	family(m, "jobs_without_device", "gauge", "Queued jobs that no worker has a device for.");
	sample(m, "jobs_without_device", NULL, NULL, n_unschedulable);
	family(m, "http_requests_total", "counter", "Requests answered since the daemon started.");
	http_each_count(r, request_row, m);
	write_process(m);
	return 0;
}

/* Return whether the client accepts OpenMetrics, which Prometheus lists first. */
static bool accepts_open(const struct http_request *r)
{
	const char *accept = http_header(r, "Accept");
	return accept && strstr(accept, "application/openmetrics-text") != NULL;
}

int api_metrics(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct metrics m = { .db = site->db, .out = &response->body, .err = err, .is_open = accepts_open(r) };
	response->type = m.is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
				   : "text/plain; version=0.0.4; charset=utf-8";
	int result = write_all(&m, site, r);
	if (result == 0 && m.is_open)
		buf_puts(&response->body, "# EOF\n");
	return result;
}
