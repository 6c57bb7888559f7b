/*
 * A day of a fleet: 10,000 comparisons of 1,000 branches on 100 devices, through the real queue, the real judge and the real
 * database; at noon all branches are pushed at once. Usage: bench_fleet RECORDED [COMPARISONS]
 *
 * Simulated: time; the duration for which a comparison holds its device (drawn from RECORDED, the lines of tests/data/gpu that
 * end in .wall, measured on an H200); and the worker's results, from seeded noise. Builds, git and the messages between daemon
 * and worker are left out. Commits are by ten simulated minutes, so that no disk is measured.
 */
#include "fixture_result.h"

#include <sys/resource.h>
#include <sys/stat.h>

enum { BRANCHES = 1000, DEVICES = 100, FEW_DEVICES = 10, CELLS = 20, RUNS = 4, WALLS_MAX = 64, COMMIT_MS = 600000 };
enum { DAY_MS = 24 * 3600 * 1000 };
static const int64_t morning_ms = INT64_C(1790000000000);

static int64_t wall_ms[WALLS_MAX];
static int n_walls;
static uint64_t seed = 20261123;

static uint64_t draw(uint64_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (seed >> 33) % below;
}

static void read_walls(const char *path)
{
	char line[4096];
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		const char *at = strstr(line, ".wall\""), *value = at ? strstr(at, "\"value\": ") : NULL;
		if (value && n_walls < WALLS_MAX)
			wall_ms[n_walls++] = (int64_t)(1000 * strtod(value + strlen("\"value\": "), NULL));
	}
	if (file)
		fclose(file);
	if (n_walls == 0) {
		fprintf(stderr, "bench_fleet: %s holds no walls\n", path);
		exit(1);
	}
}

/* ---- one day ----------------------------------------------------------------------------------------------------------- */

struct push {
	int64_t at_ms;
	int branch;
	bool is_flood;
};

struct running {
	int64_t job, end_ms, pushed_ms; /* job 0: the device is free */
	int push;
};

struct day {
	struct fixture *f;
	struct config *config;
	int n_pushes, n_devices, n_waited, n_flooded, n_superseded, n_judged;
	bool judges;
	struct push *push;
	int64_t *push_of; /* by job: its push, plus one */
	int64_t job_max, busy_ms;
	double *waited, *flooded; /* s from push to start */
	struct running device[DEVICES];
};

static int by_time(const void *a, const void *b)
{
	const struct push *x = a, *y = b;
	return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void plan_pushes(struct day *d)
{
	for (int i = 0; i < d->n_pushes; i++) {
		bool is_flood = i < BRANCHES;
		/* a quarter of the branches has three quarters of the pushes */
		int branch = is_flood ? i : (int)draw(draw(4) ? BRANCHES / 4 : BRANCHES);
		d->push[i] = (struct push){ is_flood ? DAY_MS / 2 : (int64_t)draw(DAY_MS), branch, is_flood };
	}
	qsort(d->push, (size_t)d->n_pushes, sizeof *d->push, by_time);
}

static void queue_push(struct day *d, int n, int64_t now)
{
	struct fixture *f = d->f;
	char branch[32];
	int superseded;
	snprintf(branch, sizeof branch, "branch-%d", d->push[n].branch);
	int64_t job = fixture_job(f, branch, 1, (unsigned)n + 2, morning_ms + now);
	ok(store_job_supersede(f->db, job, morning_ms + now, &superseded, &err));
	d->n_superseded += superseded;
	if (job >= d->job_max) {
		int64_t old = d->job_max;
		d->job_max = 2 * job;
		d->push_of = realloc(d->push_of, (size_t)d->job_max * sizeof *d->push_of);
		assert_non_null(d->push_of);
		memset(d->push_of + old, 0, (size_t)(d->job_max - old) * sizeof *d->push_of);
	}
	d->push_of[job] = n + 1;
}

static void begin_job(struct day *d, struct running *device, const struct store_job *job, int64_t now)
{
	int n = (int)d->push_of[job->id] - 1;
	double waited_s = (double)(now - d->push[n].at_ms) / 1000;
	ok(store_job_send(d->f->db, job->id, d->f->device, "nonce", morning_ms + now, &err));
	ok(store_job_state(d->f->db, job->id, JOBSTATE_MEASURING, "", morning_ms + now, &err));
	int64_t takes = wall_ms[draw((uint64_t)n_walls)];
	*device = (struct running){ job->id, now + takes, d->push[n].at_ms, n };
	d->busy_ms += takes;
	if (d->push[n].is_flood)
		d->flooded[d->n_flooded++] = waited_s;
	else
		d->waited[d->n_waited++] = waited_s;
}

static void measured(struct result *r, uint64_t number)
{
	struct noise noise = { .state = number * 77 + 1, .white = 0.003, .run = 0.0005, .clock = 0.004, .outlier = 0.02 };
	fixture_accepted(r);
	for (int run = 1; run <= RUNS; run++) {
		fixture_run(r, run, 1);
		for (int i = 0; i < CELLS; i++) {
			fixture_timing(r, &noise, run, 1, i, SERIES_DEVICE, "", number % 50 ? 0 : 0.03, 0);
			if (run == 1)
				fixture_timing(r, &noise, run, 1, i, SERIES_CALL, "", 0, 0);
		}
	}
}

static void end_job(struct day *d, struct running *device, int64_t now)
{
	struct fixture *f = d->f;
	if (d->judges) {
		char branch[32];
		struct judge_outcome out;
		snprintf(branch, sizeof branch, "branch-%d", d->push[device->push].branch);
		struct result *r = fixture_result_of(f, device->job, 1, (unsigned)device->push + 2, CELLS);
		measured(r, (uint64_t)device->push);
		ok(judge_finish(f->db, d->config, r, morning_ms + now, &out, &err));
		result_free(r);
	} else {
		ok(store_job_state(f->db, device->job, JOBSTATE_FAILED, "only the queue is asked", morning_ms + now, &err));
	}
	d->n_judged++;
	device->job = 0;
}

/** Assign jobs to free devices; returns the next time at which something happens. */
static int64_t fill_devices(struct day *d, int64_t now)
{
	int64_t next = INT64_MAX;
	bool has_more = true;
	for (int i = 0; i < d->n_devices; i++) {
		struct store_job job;
		if (!d->device[i].job && has_more) {
			int got = store_job_next(d->f->db, DEVICE_SIM, "", "[]", &job, &err);
			assert_true(got >= 0);
			has_more = got == 1;
			if (has_more)
				begin_job(d, &d->device[i], &job, now);
		}
		if (d->device[i].job && d->device[i].end_ms < next)
			next = d->device[i].end_ms;
	}
	return next;
}

static void run_day(struct day *d)
{
	int64_t now = 0, committed = 0;
	int pushed = 0;
	ok(db_begin(d->f->db, &err));
	for (;;) {
		int64_t next = fill_devices(d, now);
		if (pushed < d->n_pushes && d->push[pushed].at_ms < next)
			next = d->push[pushed].at_ms;
		if (next == INT64_MAX)
			break;
		now = next;
		for (int i = 0; i < d->n_devices; i++)
			if (d->device[i].job && d->device[i].end_ms <= now)
				end_job(d, &d->device[i], now);
		for (; pushed < d->n_pushes && d->push[pushed].at_ms <= now; pushed++)
			queue_push(d, pushed, now);
		if (now - committed > COMMIT_MS) {
			ok(db_commit(d->f->db, &err));
			ok(db_begin(d->f->db, &err));
			committed = now;
		}
	}
	ok(db_commit(d->f->db, &err));
}

static void reported(const char *name, double *s, int n)
{
	qsort(s, (size_t)n, sizeof *s, by_size);
	printf("bench fleet.%s_median %.3g s\n", name, n ? s[n / 2] : 0);
	printf("bench fleet.%s_p95 %.3g s\n", name, n ? s[n * 95 / 100] : 0);
	printf("bench fleet.%s_most %.3g s\n", name, n ? s[n - 1] : 0);
}

/* ---- cost ---------------------------------------------------------------------------------------------------------------- */

static double cpu_s(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static int64_t used_bytes(struct fixture *f)
{
	return fixture_number(f,
		"SELECT (pc.page_count - fl.freelist_count) * ps.page_size FROM pragma_page_count pc, pragma_freelist_count fl, "
		"pragma_page_size ps");
}

static void archive_day(struct day *d)
{
	struct fixture *f = d->f;
	int64_t before = used_bytes(f);
	double cpu = cpu_s();
	for (int n = 1; n > 0;) {
		ok(db_begin(f->db, &err));
		for (int i = 0; i < 100 && n > 0; i++)
			ok(archived_move(f->db, INT64_MAX, &n, &err));
		ok(db_commit(f->db, &err));
	}
	int64_t archived = fixture_number(f, "SELECT sum(bytes) FROM archived"), left = used_bytes(f);
	printf("bench fleet.database_day %.6g bytes\n", (double)before);
	printf("bench fleet.database_day_archived %.6g bytes\n", (double)left);
	printf("bench fleet.archive_day %.6g bytes\n", (double)archived);
	printf("bench fleet.archive_cpu %.3g s\n", cpu_s() - cpu);
}

static struct day *new_day(int n, int n_devices, bool judges)
{
	struct day *d = calloc(1, sizeof *d);
	void *state = NULL;
	assert_non_null(d);
	assert_int_equal(fixture_setup(&state), 0);
	*d = (struct day){ .f = state, .n_pushes = n, .n_devices = n_devices, .judges = judges };
	fixture_ground(d->f);
	d->config = calloc(1, sizeof *d->config);
	d->push = calloc((size_t)n, sizeof *d->push);
	d->waited = calloc((size_t)n, sizeof *d->waited);
	d->flooded = calloc((size_t)n, sizeof *d->flooded);
	assert_true(d->config && d->push && d->waited && d->flooded);
	plan_pushes(d);
	return d;
}

static void free_day(struct day *d)
{
	void *state = d->f;
	fixture_teardown(&state);
	free(d->config);
	free(d->push);
	free(d->push_of);
	free(d->waited);
	free(d->flooded);
	free(d);
}

int main(int argc, char **argv)
{
	int n = argc == 3 ? atoi(argv[2]) : 10000;
	struct rusage u;
	if (argc < 2 || n <= BRANCHES) {
		fprintf(stderr, "usage: bench_fleet RECORDED [COMPARISONS, more than %d]\n", BRANCHES);
		return 2;
	}
	read_walls(argv[1]);
	struct day *d = new_day(n, DEVICES, true);
	double cpu = cpu_s();
	run_day(d);
	cpu = cpu_s() - cpu;
	printf("bench fleet.pushes %d count\nbench fleet.comparisons %d count\nbench fleet.superseded %d count\n", n, d->n_judged,
		d->n_superseded);
	printf("bench fleet.busy_devices %.3g count\n", (double)d->busy_ms / DAY_MS);
	reported("queue", d->waited, d->n_waited);
	reported("flood_queue", d->flooded, d->n_flooded);
	getrusage(RUSAGE_SELF, &u);
	printf("bench fleet.cpu %.3g ms_per_comparison\n", 1000 * cpu / d->n_judged);
	printf("bench fleet.cpu_of_core %.3g pct\n", 100 * cpu / 86400 * 10000 / n);
	printf("bench fleet.resident %.6g bytes\n", 1024.0 * (double)u.ru_maxrss);
	archive_day(d);
	free_day(d);
	/* the same day on a tenth of the devices: waiting times where they are nearly all busy */
	d = new_day(n, FEW_DEVICES, false);
	run_day(d);
	printf("bench fleet.few.busy_devices %.3g count\n", (double)d->busy_ms / DAY_MS);
	reported("few.queue", d->waited, d->n_waited);
	reported("few.flood_queue", d->flooded, d->n_flooded);
	free_day(d);
	return 0;
}
