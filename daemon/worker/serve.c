/* serve.c - order of a job's steps. */
#include "worker/internal.h"

enum { JOB_WAIT_MS = 3600 * 1000, LOCK_POLL_MS = 100, CROSSING_MS = 5000, CACHE_KEEP = 200 };

struct job {
	struct peer *peer;
	struct cache *cache;
	struct sandbox *sandbox;
	const struct msg_job *request;
	const struct msg_device *device;
	struct build_context build;
	struct bench bench;
	struct cell *cells;    /* cells of a benchmark program, else NULL */
	int trees_fd;          /* folder of received archives; -1: none */
	int lock;              /* the device's lock; -1: none */
	int n_slots;           /* concurrent builds */
	const char *tools_dir; /* folder of preferred compilers; "": the system's */
};

/* Return whether a signal to processes of the job may cause the failure, also through a shell or make, which exit then. */
static bool may_be_killed(const char *failure)
{
	return !strcmp(failure, "interrupted") || !strcmp(failure, "build") || !strcmp(failure, "crash");
}

static int send_record(void *arg, const struct msg *m, struct fw_err *err)
{
	if (m->t == MSG_FAULT && may_be_killed(m->u.fault.failure) && peer_await_signal(arg, err) != 0)
		return -1;
	return peer_send(arg, m, err);
}

/* Try to lock. Returns the descriptor, or -1 with ERR_BUSY. */
typedef int lock_fn(struct job *j, const void *what, struct fw_err *err);

static int try_device(struct job *j, const void *what, struct fw_err *err)
{
	return cache_lock(j->cache, what, err);
}

static int try_slot(struct job *j, const void *what, struct fw_err *err)
{
	(void)what;
	return cache_lock_slot(j->cache, j->n_slots, &j->build.slot, err);
}

static int try_concurrent(struct job *j, const void *what, struct fw_err *err)
{
	bool alone;
	int fd = cache_lock_concurrent(j->cache, &alone, err);

	(void)what;
	if (fd < 0 || !alone)
		return fd;
	cache_trim(j->cache, CACHE_KEEP);
	command_sweep(j->cache);
	if (cache_lock_share(fd, err) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Wait for a lock. Returns its descriptor, -1 on error. Own: close. */
static int wait_for(struct job *j, lock_fn *try, const void *what, struct fw_err *err)
{
	bool is_reported = false;

	for (;;) {
		struct fw_err e = { 0 };
		int fd = try(j, what, &e);

		if (fd >= 0)
			return fd;
		if (e.code != ERR_BUSY)
			return err_set(err, e.code, "%s", e.text);
		if (!is_reported)
			log_info("lock.wait", "err=%s", log_quote(e.text));
		is_reported = true;
		if (pump_sleep(j->peer, LOCK_POLL_MS, err) != 0)
			return -1;
	}
}

static int send_build(struct job *j, struct msg_build *b, struct fw_err *err)
{
	struct msg m = { .t = MSG_BUILD, .u.build = *b };

	return peer_send(j->peer, &m, err);
}

/* Add an existing module to the bench. Returns 1, or -1 on error. Own: takes over `fd`. */
static int take_module(struct job *j, const struct msg_side *s, int fd, const char *sha256, struct fw_err *err)
{
	char file[MANIFEST_TEXT_SIZE + 16];

	build_output(&j->build, s, file, sizeof file);
	if (bench_add_side(&j->bench, s->role, s->provider, file, fd, sha256, err) != 0)
		return -1;
	bench_request_config(&j->bench, s->config);
	return 1;
}

/* Build one side. Returns 1 if its module is in the bench, 0 if its build failed, -1 on error. */
static int build_side(struct job *j, const struct msg_side *s, struct fw_err *err)
{
	struct msg_build result;
	int fd, cached, status;

	cached = build_lookup(&j->build, s, &result, &fd);
	status = send_build(j, &result, err); /* "cached", or "start" */
	if (status == 0 && !cached) {
		buf_fini(&result.log);
		log_info("build.start", "job=%lld role=%s", (long long)j->request->job, role_name(s->role));
		status = build_make(&j->build, s, trees_open, &j->trees_fd, &result, &fd, err);
		log_info("build.end", "job=%lld role=%s state=%s dur_ms=%lld err=%s", (long long)j->request->job,
			role_name(s->role), result.state, (long long)result.duration_ms, log_quote(result.detail));
		if (status == 0)
			status = send_build(j, &result, err);
	}
	buf_fini(&result.log);
	if (status < 0 || strcmp(result.state, "failed") == 0) {
		fd_close(&fd);
		if (status == 0)
			status = bench_fault(&j->bench, -1, s->role, "build", err, "%s", result.detail);
		return status < 0 ? -1 : 0;
	}
	return take_module(j, s, fd, result.module_sha256, err);
}

/* As build_side; if another worker is building the same sources, wait and use its module from the cache. */
static int build_or_wait(struct job *j, const struct msg_side *s, struct fw_err *err)
{
	char key[HASH_HEX], name[32];
	int turn, result;

	if (s->benchmark.name[0]) /* two workers may build a program at once: each has its own folder */
		return build_side(j, s, err);
	build_key(&j->build, s, key);
	snprintf(name, sizeof name, "source-%.2s", key);
	turn = wait_for(j, try_device, name, err);
	if (turn < 0)
		return -1;
	result = build_side(j, s, err);
	close(turn);
	return result;
}

static int clear_slot(struct job *j, struct fw_err *err)
{
	static const char *const what[] = { "job", "trees" };
	char folder[128];

	for (size_t i = 0; i < sizeof what / sizeof what[0]; i++) {
		build_folder(&j->build, what[i], folder);
		if (workdir_remove(j->cache->fd, folder, err) != 0)
			return -1;
	}
	return 0;
}

/* Build all sides in a slot. Returns 1 if both sides are built, 0 if one failed to build, -1 on error. */
static int build_here(struct job *j, struct fw_err *err)
{
	int built = 1, i;
	int result = clear_slot(j, err); /* may have files of a crashed worker */

	if (result == 0)
		result = trees_fetch(j->peer, j->cache, &j->build, j->request, &j->trees_fd, err);
	for (i = 0; i < j->request->n_sides && result >= 0; i++) {
		enum role role = j->request->side[i].role;

		result = build_or_wait(j, &j->request->side[i], err);
		if (result == 0 && (role == ROLE_BASE || role == ROLE_TARGET))
			built = 0;
	}
	fd_close(&j->trees_fd);
	if (clear_slot(j, result < 0 ? NULL : err) != 0)
		result = -1;
	return result < 0 ? -1 : built;
}

/*
 * Use cached modules for all sides, without waiting for concurrent builds. Returns 1; 0 if one must be built; -1 on error.
 */
static int take_cached(struct job *j, struct fw_err *err)
{
	struct msg_build found[PROTOCOL_SIDES_MAX];
	int fd[PROTOCOL_SIDES_MAX], n = 0, result = 1;

	for (; n < j->request->n_sides && result == 1; n++)
		result = build_lookup(&j->build, &j->request->side[n], &found[n], &fd[n]);
	for (int i = 0; i < n; i++) {
		if (result == 1 && send_build(j, &found[i], err) != 0)
			result = -1;
		buf_fini(&found[i].log);
		if (result == 1)
			result = take_module(j, &j->request->side[i], fd[i], found[i].module_sha256, err);
		else if (fd[i] >= 0)
			close(fd[i]);
	}
	return result;
}

/* Remove files of crashed workers if no build runs. */
static void remove_stale(struct job *j)
{
	struct fw_err busy = { 0 };
	int slot = try_slot(j, NULL, &busy);
	if (slot < 0)
		return;
	(void)clear_slot(j, NULL); /* the next build reports why it failed */
	close(slot);
}

static int build_all(struct job *j, struct fw_err *err)
{
	int cached = take_cached(j, err);
	if (cached == 1)
		remove_stale(j);
	if (cached != 0)
		return cached;
	int slot = wait_for(j, try_slot, NULL, err);
	int lock = slot < 0 ? -1 : wait_for(j, try_concurrent, NULL, err);
	int result = lock < 0 ? -1 : build_here(j, err);

	fd_close(&lock);
	fd_close(&slot);
	return result;
}

static void device_lock_name(const struct msg_device *d, char *name, size_t size)
{
	size_t i;

	snprintf(name, size, "device-%s", d->uuid);
	for (i = 0; name[i]; i++)
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-", name[i]))
			name[i] = '_';
}

/* Profile a few cells at a time, so that a process that damages its state affects only them. */
static int profile_cells(struct job *j, struct fw_err *err)
{
	int result = 0, all = j->bench.n_cells < EVIDENCE_SUITE_MAX ? j->bench.n_cells : EVIDENCE_SUITE_MAX;

	for (int from = 0; from < all && result == 0; from += EVIDENCE_CELLS_MAX) {
		int list[EVIDENCE_CELLS_MAX], n = 0;

		for (; n < EVIDENCE_CELLS_MAX && from + n < all; n++)
			list[n] = from + n;
		result = profile_run(&j->bench, list, n, EVIDENCE_RANGE, err);
	}
	return result;
}

static int measure(struct job *j, struct fw_err *err)
{
	char name[100];
	int result;

	if (bench_ready(&j->bench, err) != 0)
		return -1;
	if (j->request->kind != JOBKIND_PROFILE && bench_identical(&j->bench))
		return 0;
	device_lock_name(j->device, name, sizeof name);
	j->lock = wait_for(j, try_device, name, err);
	if (j->lock < 0)
		return -1;
	if (j->request->kind == JOBKIND_PROFILE)
		result = profile_cells(j, err);
	else if (command_is(j->request))
		result = command_measure(&j->bench, &j->build, j->request, &j->cells, err);
	else
		result = acceptance_run(&j->bench, err) != 0 || measure_run(&j->bench, err) != 0 ? -1 : 0;
	fd_close(&j->lock);
	return result;
}

/*
 * Compare base and target of benchmark programs, whose builds differ. Returns 1 if they must be measured; 0 after a message that
 * they execute the same code; -1 if cancelled.
 */
static int find_difference(struct job *j, struct fw_err *err)
{
	struct msg same = { .t = MSG_SAME };
	struct command m = { .bench = &j->bench };
	struct fw_err unknown = { 0 };

	if (!command_is(j->request) || j->bench.selfcheck)
		return 1;
	if (bench_ready(&j->bench, err) != 0 || command_open(&m, j->request, err) != 0)
		return -1;
	if (bench_identical(&j->bench))
		return 1;
	int result = comments_compare(
		&j->build, m.side[COMMAND_BASE], m.side[COMMAND_TARGET], same.u.same.why, sizeof same.u.same.why, &unknown);

	if (result < 0 && j->peer->cancelled)
		return err_set(err, unknown.code, "%s", unknown.text);
	if (result < 0)
		log_warning("comments.unknown", "job=%lld err=%s", (long long)j->request->job, log_quote(unknown.text));
	if (result == 0 && same.u.same.why[0])
		return bench_send_note(&j->bench, -1, ROLE_NONE, err, "%s", same.u.same.why) < 0 ? -1 : 1;
	if (result != 1)
		return 1;
	return bench_send(&j->bench, &same, err) < 0 ? -1 : 0;
}

static bool may_run_concurrently(const struct msg_job *request, const struct msg_device *device)
{
	for (int i = 0; i < request->n_concurrent; i++)
		if (strcmp(request->concurrent[i], device->uuid) == 0)
			return true;
	return request->n_concurrent == 0;
}

/* Restrict this job and its builds to its share of the cores, near its device, because other jobs may run concurrently. */
static void restrict_to_share(const struct msg_hello *hello, const struct msg_device *device, const struct msg_job *request)
{
	cpu_set_t all, mine, near[PROTOCOL_DEVICES_MAX];
	struct fw_err err = { 0 };
	char text[CORES_TEXT];
	int n = 0, k = 0;

	for (int i = 0; i < hello->n_devices; i++) {
		if (hello->device[i].kind != device->kind)
			continue;
		if (&hello->device[i] != device && !may_run_concurrently(request, &hello->device[i]))
			continue;
		if (&hello->device[i] == device)
			k = n;
		cores_near(hello->device[i].pci, &near[n++]);
	}
	if (n < 2 || sched_getaffinity(0, sizeof all, &all) != 0)
		return;
	cores_share(&all, near, n, k, &mine);
	cores_text(&mine, text);
	if (cores_use(&mine, &err) != 0)
		log_warning("job.cores", "err=%s", log_quote(err.text));
	else
		log_info("job.cores", "device=%s cores=%s", log_quote(device->uuid), text);
}

static int start_job(struct job *j, struct fw_err *err)
{
	const struct msg_job *request = j->request;
	struct bench *b = &j->bench;

	if (bench_init(b, request->cell, request->n_cells, err) != 0)
		return -1;
	b->peer = j->peer;
	b->sandbox = j->sandbox;
	b->cache = j->cache;
	b->emit = send_record;
	b->emit_arg = j->peer;
	b->device = *j->device;
	b->rule = request->rule;
	b->limits = request->limits;
	b->seed = request->seed;
	b->quick = request->quick;
	b->selfcheck = jobkind_is_itself(request->kind);
	b->sentinels_elsewhere = request->sentinels_elsewhere;
	b->requested = b->sustained_runs = request->sustained_runs;
	if (b->quick) {
		b->rule.runs_max = 1;
		b->rule.confirm = false;
	}
	j->build = (struct build_context){ .peer = j->peer,
		.cache = j->cache,
		.sandbox = j->sandbox,
		.timeout_s = request->limits.build_s,
		.log_bytes = request->limits.log_bytes };
	j->build.device = j->device->kind == DEVICE_CUDA ? DEVICE_CUDA : DEVICE_CPU;
	snprintf(j->build.image, sizeof j->build.image, "%s", j->device->image);
	command_sides(j->build.sides);
	if (request->n_cells)
		snprintf(j->build.family, sizeof j->build.family, "%s", request->cell[0].family);
	snprintf(j->build.tools_dir, sizeof j->build.tools_dir, "%s", j->tools_dir);
	build_tools(&j->build, request, j->device->toolkit);
	return 0;
}

static int finish(struct job *j, int status, struct fw_err *why, struct fw_err *err)
{
	struct msg m = { .t = MSG_DONE };

	m.u.done.gpu_s = j->bench.gpu_s;
	m.u.done.wall_s = (double)clock_mono_ns() * 1e-9 - j->bench.started_s;
	bench_steps(&j->bench, m.u.done.step_s);
	m.u.done.sustained_runs = j->bench.sustained_runs;
	log_info("job.end", "job=%lld dur_ms=%.0f err=%s", (long long)j->request->job, m.u.done.wall_s * 1e3,
		log_quote(status < 0 ? why->text : ""));
	if (status < 0 && why->code == ERR_PROTOCOL)
		return err_set(err, why->code, "%s", why->text);
	/* the daemon queues the job again after an error of the worker; it may have disconnected */
	if (status < 0 && !j->peer->cancelled)
		(void)bench_fault(
			&j->bench, -1, ROLE_WORKER, why->code == ERR_FULL ? "full" : "interrupted", NULL, "%s", why->text);
	m.u.done.cancelled = j->peer->cancelled;
	if (peer_send(j->peer, &m, NULL) != 0 && !j->peer->cancelled)
		return err_set(err, ERR_IO, "the daemon has disconnected");
	return status < 0 && !j->peer->cancelled ? err_set(err, why->code, "%s", why->text) : 0;
}

static int run_job(const struct serve_options *o, struct peer *peer, struct cache *cache, struct sandbox *sandbox,
	const struct msg_hello *hello, const struct msg_job *request, struct fw_err *err)
{
	struct job *j = mem_alloc_zero(1, sizeof *j);
	struct fw_err why = { 0 };
	int result = -1;

	*j = (struct job){ .peer = peer,
		.cache = cache,
		.sandbox = sandbox,
		.request = request,
		.trees_fd = -1,
		.lock = -1,
		.n_slots = o->build_jobs,
		.tools_dir = o->tools_dir };
	log_info("job.start", "job=%lld device=%s", (long long)request->job, log_quote(request->device));
	j->bench.started_s = (double)clock_mono_ns() * 1e-9;
	j->device = hardware_find(hello, request->device, &why);
	if (j->device)
		restrict_to_share(hello, j->device, request);
	if (j->device && start_job(j, &why) == 0) {
		result = build_all(j, &why);
		if (result == 1)
			result = find_difference(j, &why);
		if (result == 1 && !o->build_only)
			result = measure(j, &why);
	}
	fd_close(&j->lock);
	j->bench.emit = send_record;
	j->bench.emit_arg = peer;
	result = finish(j, result, &why, err);
	if (command_is(request))
		command_clear(&j->build, request);
	bench_fini(&j->bench);
	free(j->cells);
	free(j);
	return result;
}

static int run_health_check(struct peer *peer, struct sandbox *sandbox, const struct msg_hello *hello,
	const struct msg_health_check *request, struct fw_err *err)
{
	const struct msg_device *device = hardware_find(hello, request->device, err);
	struct msg m = { .t = MSG_STATE };
	struct bench b;
	int result;

	if (!device || bench_init(&b, NULL, 0, err) != 0)
		return -1;
	b.peer = peer;
	b.sandbox = sandbox;
	b.device = *device;
	rule_default(&b.rule, 1);
	result = health_check_run(&b, &m.u.state, err);
	bench_fini(&b);
	return result < 0 ? -1 : peer_send(peer, &m, err);
}

static int serve_one(const struct serve_options *o, struct peer *peer, struct cache *cache, struct sandbox *sandbox,
	const struct msg_hello *hello, struct fw_err *err)
{
	struct msg greeting = { .t = MSG_HELLO, .u.hello = *hello }, m;
	struct fw_err e = { 0 };
	int result;

	if (peer_send(peer, &greeting, err) != 0)
		return -1;
	if (peer_receive(peer, JOB_WAIT_MS, &m, &e) != 0)
		/* the daemon only probed this worker */
		return peer->cancelled && peer->why.code == ERR_CANCELLED ? 0 : err_set(err, e.code, "%s", e.text);
	if (m.t == MSG_HEALTH_CHECK)
		result = run_health_check(peer, sandbox, hello, &m.u.health_check, err);
	else if (m.t == MSG_JOB)
		result = run_job(o, peer, cache, sandbox, hello, m.u.job, err);
	else
		result = err_set(err, ERR_PROTOCOL, "unexpected message from the daemon: expected a job");
	msg_fini(&m);
	return result;
}

/* Return whether the daemon has another job. Its message may arrive while this job ends. */
static bool has_another(struct peer *peer)
{
	struct fw_err e = { 0 };
	struct msg m;

	if (!peer->cancelled && peer_receive(peer, CROSSING_MS, &m, &e) == 0)
		msg_fini(&m);
	return peer_take_preemption(peer);
}

/* Serve one job; whenever a job is cancelled in favour of another one, serve that too. */
static int session(const struct serve_options *o, struct peer *peer, struct cache *cache, struct sandbox *sandbox,
	const struct msg_hello *hello, struct fw_err *err)
{
	cpu_set_t cores;
	bool has_cores = sched_getaffinity(0, sizeof cores, &cores) == 0;
	int result;

	for (;;) {
		result = serve_one(o, peer, cache, sandbox, hello, err);
		if (result != 0 || !has_another(peer))
			return result;
		if (has_cores && cores_use(&cores, err) != 0) /* undo restrict_to_share */
			return -1;
	}
}

static int probe_worker(
	const struct serve_options *o, const char *cache, struct sandbox *sandbox, struct msg_hello *hello, struct fw_err *err)
{
	if (sandbox_open(sandbox, o->sandbox, err) != 0 || sandbox_show(sandbox, o->shown, o->n_shown, cache, err) != 0 ||
		compilers_check(sandbox, o->tools_dir, err) != 0)
		return -1;
	int result = o->build_only ? hardware_builder(sandbox, o->device, o->tools_dir, hello, err)
				   : hardware_hello(sandbox, o->sandbox, o->device, o->tools_dir, hello, err);
	if (result != 0)
		return -1;
	if (sandbox->why[0])
		log_warning(sandbox->active ? "sandbox.weak" : "sandbox.off", "reason=%s", log_quote(sandbox->why));
	return 0;
}

/* Sent instead of hello when the worker cannot start. Jobs stay queued. */
static int send_refusal(struct peer *peer, const struct fw_err *err)
{
	struct msg m = { .t = MSG_FAULT, .u.fault = { .cell = -1, .role = ROLE_WORKER } };

	snprintf(m.u.fault.failure, sizeof m.u.fault.failure, "%s", err->code == ERR_FULL ? "full" : "interrupted");
	snprintf(m.u.fault.detail, sizeof m.u.fault.detail, "%.*s", (int)sizeof m.u.fault.detail - 1, err->text);
	(void)peer_send(peer, &m, NULL);
	return -1;
}

int serve_run(const struct serve_options *o, int in, int out, struct fw_err *err)
{
	struct sandbox sandbox;
	struct msg_hello hello;
	struct cache cache;
	struct peer peer;
	int result;

	result = cache_open(&cache, o->cache, err);
	if (result == 0)
		result = probe_worker(o, cache.dir, &sandbox, &hello, err);
	peer_init(&peer, in, out);
	if (result == 0) {
		hardware_location(cache.dir, &hello.location);
		result = disk_space_check(cache.fd, cache.dir, err);
	}
	result = result == 0 ? session(o, &peer, &cache, &sandbox, &hello, err) : send_refusal(&peer, err);
	peer_fini(&peer);
	cache_close(&cache);
	return result;
}

int serve_probe(const struct serve_options *o, int out, struct fw_err *err)
{
	struct msg m = { .t = MSG_HELLO };
	struct sandbox sandbox;
	struct peer peer;
	int result;

	if (probe_worker(o, NULL, &sandbox, &m.u.hello, err) != 0)
		return -1;
	peer_init(&peer, -1, out);
	result = peer_send(&peer, &m, err);
	peer_fini(&peer);
	return result;
}
