/*
 * runner_child.c - the runner process: parsing of its records and classification of its end.
 *
 * Branch code runs in that process, so each record is parsed and checked against the task. The end of the process is classified
 * by signal, exit status, deadline, or missing records.
 */
#include "worker/internal.h"

#include <sys/random.h>
#include <sys/socket.h>

/* ---- outside: Process trees and seccomp states read from /proc. ---- */

static int number_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? atoi(at + strlen(name)) : -1;
}

static void read_process(pid_t pid, struct outside_process *out)
{
	char path[48], text[4096];

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd_read_text(path, text, sizeof text);
	*out = (struct outside_process){
		.pid = pid, .filters = number_of(text, "\nSeccomp_filters:"), .no_new_privs = number_of(text, "\nNoNewPrivs:")
	};
}

void outside_begin(struct outside *o, pid_t root)
{
	pid_t pid[OUTSIDE_PIDS_MAX];
	int n = procs_below(root, pid, OUTSIDE_PIDS_MAX);

	outside_end(o);
	o->process = mem_alloc_zero((size_t)n + 1, sizeof *o->process);
	for (int i = 0; i < n; i++)
		read_process(pid[i], &o->process[o->n++]);
}

void outside_end(struct outside *o)
{
	free(o->process);
	*o = (struct outside){ .n = 0 };
}

static const struct outside_process *find(const struct outside *o, pid_t pid)
{
	for (int i = 0; i < o->n; i++)
		if (o->process[i].pid == pid)
			return &o->process[i];
	return NULL;
}

const char *outside_compare(const struct outside *o, pid_t root, char *why)
{
	pid_t pid[OUTSIDE_PIDS_MAX];
	int n = o->n > 0 ? procs_below(root, pid, OUTSIDE_PIDS_MAX) : 0;

	for (int i = 0; i < n; i++)
		if (!find(o, pid[i])) {
			snprintf(why, OUTSIDE_WHY_SIZE,
				"a process that the runner did not find exists next to it after a call: part of the work, "
				"or of the load, is not timed");
			return "escaped";
		}
	for (int i = 0; i < o->n; i++) {
		const struct outside_process *was = &o->process[i];
		struct outside_process now;

		read_process(was->pid, &now);
		if (now.filters <= was->filters && (now.no_new_privs < 0 || now.no_new_privs == was->no_new_privs))
			continue;
		snprintf(why, OUTSIDE_WHY_SIZE,
			"changed which system calls the process may make, which cannot be undone: it holds for later calls, the base's too");
		return "slowed";
	}
	return NULL;
}

/* ---- runner_child ---- */

enum { FIRST_MODULE_FD = 10, RECORD_FD = 3, GO_FD = 4, LIST_MS = 60000, EXIT_LOST = 3 };

static const size_t records_max_bytes = 64u << 20;

struct child {
	const struct runner_task *task;
	struct bench *bench;
	struct runner_end *end;
	enum device_step step; /* since `since_ns` */
	int64_t since_ns;
	struct lines lines;
	size_t bytes;
	struct msg_at last;
	bool has_run; /* branch code has run; its threads may still run while no side is named */
	struct output_tail words;
	bool broken; /* the process violated the protocol */
	bool stopped;
	bool forged; /* ... by a line that the runner did not write */
	char signature[SIGNATURE_KEY + 1];
	unsigned long long n_lines;
	struct oomkills oom_before;
	struct pump *pump;      /* valid while it runs */
	struct outside outside; /* its processes before it loaded a module */
	const char *caught;     /* failure class that the worker detected from outside; NULL: none */
};

static int on_chatter(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct child *c = arg;

	(void)err;
	output_tail_add(&c->words, data, len);
	return 0;
}

static bool in_task(const struct runner_task *t, int cell)
{
	int i;

	for (i = 0; i < t->n_cells; i++)
		if (t->cell[i] == cell)
			return true;
	return false;
}

static enum role role_of(const struct bench *b, const struct runner_task *t, int position)
{
	return t->copy_fd > 0 && position == 1 ? ROLE_TARGET : b->side[t->side[position]].role;
}

static int module_of(const struct bench *b, const struct runner_task *t, int position)
{
	return t->copy_fd > 0 && position == 1 ? t->copy_fd : b->side[t->side[position]].fd;
}

static bool role_in_task(const struct child *c, enum role role)
{
	int i;

	for (i = 0; i < c->task->n_sides; i++)
		if (role_of(c->bench, c->task, i) == role)
			return true;
	return false;
}

/* Return whether cell and role of a record belong to this task. */
static bool is_of_task(const struct child *c, int cell, enum role role)
{
	return in_task(c->task, cell) && role_in_task(c, role);
}

/* Do the same, but accept a record without a cell, or with the role `other`. */
static bool may_be_of_task(const struct child *c, int cell, enum role role, enum role other)
{
	return (cell < 0 || in_task(c->task, cell)) && (role == other || role_in_task(c, role));
}

/* Returns 1 if the record is allowed in this task, 0 if not, -1 if no runner sends such a message. */
static int fits(const struct child *c, const struct msg *m)
{
	const struct runner_task *t = c->task;
	bool profiles = t->mode == TASK_PROFILE;

	switch (m->t) {
	case MSG_AT:
		return may_be_of_task(c, m->u.at.cell, m->u.at.role, ROLE_NONE);
	case MSG_FAULT:
		return may_be_of_task(c, m->u.fault.cell, m->u.fault.role, ROLE_DEVICE);
	case MSG_NOTE:
		return may_be_of_task(c, m->u.note.cell, m->u.note.role, ROLE_DEVICE);
	case MSG_CHECK:
		return is_of_task(c, m->u.check.cell, m->u.check.role);
	case MSG_WORK:
		return is_of_task(c, m->u.work.cell, m->u.work.role);
	case MSG_NODE:
		return is_of_task(c, m->u.node.cell, m->u.node.role);
	case MSG_CELL:
		return in_task(t, m->u.cell->cell) && m->u.cell->run == t->run && m->u.cell->set == t->set;
	case MSG_KERNEL:
		return profiles && is_of_task(c, m->u.kernel.cell, m->u.kernel.role);
	case MSG_PROFILE:
		return profiles && in_task(t, m->u.profile.cell);
	case MSG_STALLS:
		return profiles && t->samples && is_of_task(c, m->u.stalls.cell, m->u.stalls.role);
	case MSG_AUDIT:
		return t->mode == TASK_AUDIT && is_of_task(c, m->u.audit.cell, m->u.audit.role);
	case MSG_STATE:
		return m->u.state.what == t->mode;
	default:
		return -1;
	}
}

static int refuse(struct child *c, const struct msg *m, int fit, struct fw_err *err)
{
	const char *name = protocol_name(m->t);

	c->broken = true;
	if (c->forged)
		return err_set(err, ERR_PROTOCOL, "the runner sent timings of other inputs than the checked ones");
	if (fit < 0)
		return err_set(err, ERR_PROTOCOL, "the runner sent a message of an unexpected type");
	return err_set(err, ERR_PROTOCOL, "the runner sent %s `%s` record of another task", *name == 'a' ? "an" : "a", name);
}

/* Return whether timings have other inputs than the base's check. A forged line need not contain the right hash. */
static bool has_other_inputs(const struct child *c, const struct msg *m)
{
	const char *known;

	if (m->t != MSG_CELL)
		return false;
	known = c->bench->cell[m->u.cell->cell].check_inputs[BENCH_BASE];
	return *known && strcmp(known, m->u.cell->input_sha256) != 0;
}

/* Replace descriptor paths of modules by file names, which users know. Shape: detail[size]. */
static void name_modules(const struct child *c, char *detail, size_t size)
{
	static const char module_path[] = "/proc/self/fd/";
	const char *at = strstr(detail, module_path);
	char *end;

	if (!at)
		return;
	long module = strtol(at + strlen(module_path), &end, 10) - FIRST_MODULE_FD;
	if (module < 0 || module >= c->task->n_sides)
		return;
	char *rest = mem_copy_text(end);
	size_t before = (size_t)(at - detail);
	snprintf(detail + before, size - before, "%.160s%s", c->bench->side[c->task->side[module]].file, rest);
	free(rest);
}

/* Compare the processes of the waiting runner, then let it continue. */
static int compare_processes(struct child *c, const struct msg_at *at, struct fw_err *err)
{
	pid_t below = c->bench->sandbox->active ? c->pump->pid
						: getpid(); /* without a pid namespace a child may be reparented to the worker */
	char why[OUTSIDE_WHY_SIZE];

	if (at->role == ROLE_NONE)
		outside_begin(&c->outside, below);
	else
		c->caught = outside_compare(&c->outside, below, why);
	if (c->caught) {
		c->last = *at;
		c->broken = true;
		return err_set(err, ERR_PROTOCOL, "%s", why);
	}
	/* the comparison counts even if the process does not read the answer */
	(void)!send(c->pump->stream[1].fd, "l", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	return 0;
}

/* Return the first step; tasks without timing have only one. */
static enum device_step first_step(enum task_mode mode)
{
	return mode == TASK_TIME || mode == TASK_CHECK ? DEVICE_STEP_START
	       : mode == TASK_AUDIT                    ? DEVICE_STEP_AUDIT
	       : mode == TASK_PROFILE                  ? DEVICE_STEP_PROFILE
						       : DEVICE_STEP_SENTINEL;
}

/* Timed passes count as `between` until the times of their calls are subtracted. */
static enum device_step step_from_record(const char *name)
{
	enum device_step step = device_step_from_name(name);

	return step == DEVICE_STEPS ? DEVICE_STEP_BETWEEN : step;
}

/* The worker measures steps itself, because branch code runs in the runner. A task with one step stays in it. */
static void begin_step(struct child *c, enum device_step step)
{
	int64_t now_ns = clock_mono_ns();

	bench_add_held_time(c->bench, c->step, (double)(now_ns - c->since_ns) * 1e-9);
	c->since_ns = now_ns;
	if (first_step(c->task->mode) == DEVICE_STEP_START)
		c->step = step;
}

static int take(struct child *c, struct msg *m, struct fw_err *err)
{
	int fit = fits(c, m);

	c->forged = fit > 0 && has_other_inputs(c, m);
	if (fit <= 0 || c->forged)
		return refuse(c, m, fit, err);
	if (m->t == MSG_AT && strcmp(m->u.at.step, "inspect") == 0)
		return compare_processes(c, &m->u.at, err);
	if (m->t == MSG_AT) {
		c->last = m->u.at;
		c->has_run = c->has_run || m->u.at.role != ROLE_NONE;
		begin_step(c, step_from_record(m->u.at.step));
	} else if (m->t == MSG_FAULT) {
		name_modules(c, m->u.fault.detail, sizeof m->u.fault.detail);
	} else if (m->t == MSG_CHECK) {
		name_modules(c, m->u.check.detail, sizeof m->u.check.detail);
	}
	c->end->records++;
	int status = c->task->record(c->task->arg, m, err);
	c->stopped = status == RUNNER_STOP;
	return c->stopped ? -1 : status;
}

static int on_records(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct child *c = arg;
	const char *record;
	struct msg m;
	char *line;
	size_t n;
	int status;

	c->bytes += len;
	if (c->bytes > records_max_bytes || lines_feed(&c->lines, data, len, err) != 0) {
		c->broken = true;
		return err_set(err, ERR_PROTOCOL, "the runner sent more than %zu MiB of records", records_max_bytes >> 20);
	}
	while (lines_next(&c->lines, &line, &n)) {
		record = signature_open(c->signature, c->n_lines++, line, n);
		if (!record) {
			c->broken = c->forged = true;
			return err_set(err, ERR_PROTOCOL, "branch code wrote into the runner's records");
		}
		if (protocol_parse(record, n - (size_t)(record - line), &m, err) != 0) {
			c->broken = true;
			return -1;
		}
		status = take(c, &m, err);
		msg_fini(&m);
		if (status < 0)
			return -1;
	}
	return 0;
}

static void blame(struct child *c, const char *failure, const char *what)
{
	struct runner_end *end = c->end;
	char quoted[OUTPUT_TAIL_QUOTE];

	output_tail_quote(&c->words, quoted);
	snprintf(end->failure, sizeof end->failure, "%s", failure);
	snprintf(end->detail, sizeof end->detail, "%s%s%s%s", what, c->last.step[0] ? " in step " : "", c->last.step, quoted);
}

static void read_oom_kills(const struct bench *b, struct oomkills *out)
{
	(b->oom_kills ? b->oom_kills : oomkills_read)(out);
}

/*
 * Return whether the system's counters show that the out-of-memory killer ended no process since this one began. False without
 * counters.
 */
static bool had_memory(const struct child *c)
{
	const struct oomkills *before = &c->oom_before;
	struct oomkills now;

	read_oom_kills(c->bench, &now);
	return (before->machine >= 0 || before->group >= 0) && now.machine == before->machine && now.group == before->group;
}

/*
 * Return whether neither the module nor the device ended the process: the run has no result and may succeed later. The sender of a
 * signal is unknown, so a task that takes kills decides by another run.
 */
static bool was_interrupted(struct child *c, const struct proc_exit *given, struct fw_err *err)
{
	struct proc_exit how = sandbox_exit(c->bench->sandbox, given);
	bool is_named = c->last.role != ROLE_NONE || c->task->n_sides == 0;
	char ended[64], quoted[OUTPUT_TAIL_QUOTE];

	if (!proc_is_outside(&how) && (is_named || c->has_run || how.timed_out || how.status == 0 || how.status == EXIT_LOST))
		return false;
	c->end->killed = c->task->takes_kills && is_named && proc_is_outside(&how) && had_memory(c);
	if (c->end->killed)
		return false;
	proc_describe(&how, ended);
	output_tail_quote(&c->words, quoted);
	err_set(err, ERR_BUSY, "the runner: %s%s%s%s%s", ended, c->last.step[0] ? " in step " : "", c->last.step,
		proc_is_outside(&how) ? "; out of memory, or killed by another process on this machine"
				      : " before branch code ran",
		quoted);
	return true;
}

static void classify(struct child *c, const struct proc_exit *given, struct fw_err *e, int status, double deadline_s)
{
	struct proc_exit how = sandbox_exit(c->bench->sandbox, given);
	char text[160], ended[64];

	c->end->role = c->last.role != ROLE_NONE ? c->last.role : ROLE_WORKER;
	c->end->cell = c->last.cell;
	if (status < 0) { /* the runner violated the protocol */
		snprintf(text, sizeof text, "%.150s", e->text);
		blame(c, c->caught ? c->caught : c->forged ? "forged" : "protocol", text);
		return;
	}
	if (how.timed_out) {
		snprintf(text, sizeof text, "did not end within %.6g s", deadline_s);
		blame(c, "timeout", text);
	} else if (how.status == EXIT_LOST) {
		c->end->lost = true;
	} else if (how.status != 0) {
		struct crash_location crash;
		char where[CRASH_LOCATION_SIZE], died[sizeof where + sizeof ended + 8];

		proc_describe(&how, ended);
		crash_location_parse(&crash, &c->words);
		crash_location_format(c->bench, c->task->side, c->task->n_sides, &crash, where);
		snprintf(died, sizeof died, how.signal ? "%s%s%s" : "ended the process (%s)", ended, where[0] ? " at " : "",
			where);
		blame(c, "crash", died);
	}
}

/* Read the file of device readings that a test injects for a device without a driver (runner/device_check_script.c). */
static void read_device_check_script(char *out, size_t size)
{
	const char *path = getenv("FLOPWATCH_SIM_DEVICE_CHECK");
	FILE *f = path ? fopen(path, "re") : NULL;

	if (!f)
		return;
	out[fread(out, 1, size - 1, f)] = '\0';
	fclose(f);
}

/*
 * A device that timed calls a moment ago has the temperature and the clock of load: its first cell needs little more warm-up than
 * the others. Calls of a pair follow each other, so the remaining drift affects both sides.
 */
#define WARM_FOR_S   3.0
#define WARM_AGAIN_S 0.15

static bool is_warm(const struct bench *b, const struct runner_task *t)
{
	return t->mode == TASK_TIME && b->timed_until_ns != 0 &&
	       (double)(clock_mono_ns() - b->timed_until_ns) * 1e-9 < WARM_FOR_S;
}

static void fill_message(const struct bench *b, const struct runner_task *t, const char *signature, struct msg_task *task)
{
	bool gpu = b->device.kind == DEVICE_CUDA, sim = b->device.kind == DEVICE_SIM;
	int i;

	task->mode = t->mode;
	snprintf(task->signature, sizeof task->signature, "%s", signature);
	snprintf(task->device, sizeof task->device, "%s:%d", device_kind_name(b->device.kind), b->device.index);
	task->run = t->run;
	task->set = t->set;
	task->pass = t->pass;
	task->seed = t->seed;
	task->rotation = t->rotation;
	task->rule = b->rule;
	task->phases = t->phases;
	task->calls = t->calls;
	task->only_sustained_runs = t->only_sustained_runs;
	task->repeat = t->repeat;
	task->counters = t->counters;
	task->samples = t->samples;
	if (!gpu)
		read_device_check_script(task->device_check_script, sizeof task->device_check_script);
	task->cell_warm_s = sim ? 0 : 0.02;
	task->warm_s = sim ? 0 : is_warm(b, t) ? WARM_AGAIN_S : gpu ? 1.5 : 0.2;
	task->n_sides = t->n_sides;
	for (i = 0; i < t->n_sides; i++) {
		const struct bench_side *s = &b->side[t->side[i]];

		task->side[i].role = role_of(b, t, i);
		snprintf(task->side[i].provider, sizeof task->side[i].provider, "%s", s->provider);
		snprintf(task->side[i].module, sizeof task->side[i].module, "/proc/self/fd/%d", FIRST_MODULE_FD + i);
	}
	for (i = 0; i < b->n_pins; i++)
		for (int position = 0; position < t->n_sides && in_task(t, b->pin[i].cell); position++) {
			if (t->side[position] != b->pin[i].side || !b->pin[i].config[0])
				continue;
			task->pin[task->n_pins] =
				(struct msg_pin){ .cell = b->pin[i].cell, .side = position, .is_request = b->pin[i].is_request };
			memcpy(task->pin[task->n_pins++].config, b->pin[i].config, sizeof b->pin[i].config);
		}
	task->n_cells = t->n_cells;
	for (i = 0; i < t->n_cells; i++) {
		task->cell[i] = b->cells[t->cell[i]];
		task->index[i] = t->cell[i];
		task->sustained[i] = t->sustained ? t->sustained[i] : SUSTAINED_NONE;
	}
}

/* Make a random key, which branch code never sees. Shape: signature[SIGNATURE_KEY + 1]. */
static int make_signature(char *signature, struct fw_err *err)
{
	unsigned char secret[SIGNATURE_KEY / 2];

	if (getrandom(secret, sizeof secret, 0) != sizeof secret)
		return err_sys(err, "getrandom");
	hash_to_hex(secret, sizeof secret, signature);
	return 0;
}

/* Write the task line to a file that the child reads and empties before it loads branch code, which must not read the line. */
static int task_file(const struct bench *b, const struct runner_task *t, const char *signature, struct fw_err *err)
{
	struct msg m = { .t = MSG_TASK };
	struct buf line;

	buf_init(&line, PROTOCOL_LINE_MAX + 2);
	m.u.task = mem_alloc_zero(1, sizeof *m.u.task);
	m.u.task->cell = mem_alloc_zero((size_t)t->n_cells + 1, sizeof *m.u.task->cell);
	m.u.task->index = mem_alloc_zero((size_t)t->n_cells + 1, sizeof *m.u.task->index);
	m.u.task->sustained = mem_alloc_zero((size_t)t->n_cells + 1, sizeof *m.u.task->sustained);
	m.u.task->pin = mem_alloc_zero((size_t)b->n_pins * (size_t)(t->copy_fd > 0 ? 2 : 1) + 1, sizeof *m.u.task->pin);
	fill_message(b, t, signature, m.u.task);
	protocol_write(&line, &m);
	int fd = line.failed ? err_set(err, ERR_INTERNAL, "the runner's task is too long for a line")
			     : sealed_once("task", line.data, line.len, err);
	msg_fini(&m);
	buf_fini(&line);
	return fd;
}

/* Environment of a runner without a sandbox. Containers put the driver's libraries into LD_LIBRARY_PATH. */
enum { PASSED_MAX = 8 };
struct environment {
	const char *list[8 + PASSED_MAX];
	char libraries[4096], passed[PASSED_MAX][1024];
};

static void fill_environment(struct environment *e)
{
	const char *libraries = getenv("LD_LIBRARY_PATH");
	int n = 0;

	e->list[n++] = "PATH=/usr/local/bin:/usr/bin:/bin";
	e->list[n++] = "LANG=C.UTF-8";
	e->list[n++] = "HOME=/tmp";
	e->list[n++] = "CUDA_CACHE_DISABLE=1";
	e->list[n++] = "CUDA_MODULE_LOADING=EAGER";
	e->list[n++] = "OMP_WAIT_POLICY=passive"; /* spinning idle threads would look like work */
	if (libraries &&
		(size_t)snprintf(e->libraries, sizeof e->libraries, "LD_LIBRARY_PATH=%s", libraries) < sizeof e->libraries)
		e->list[n++] = e->libraries;
	for (int i = 0; i < PASSED_MAX && sandbox_passed_env[i]; i++) {
		const char *name = sandbox_passed_env[i], *value = getenv(name);

		if (value && (size_t)snprintf(e->passed[i], sizeof e->passed[i], "%s=%s", name, value) < sizeof e->passed[i])
			e->list[n++] = e->passed[i];
	}
	e->list[n] = NULL;
}

static int run_with(
	struct bench *b, const struct runner_task *t, struct child *c, int task_fd, struct proc_exit *how, struct fw_err *err)
{
	static const struct sandbox no_sandbox; /* for probes without branch code: a pid namespace would hide other processes */
	struct pump pump = { .peer = b->peer,
		.stream = { { .read = on_chatter, .arg = c, .child_fd = 1 },
			{ .read = on_records, .arg = c, .child_fd = RECORD_FD, .socket = true } },
		.n_streams = 2,
		.merge_stderr = true,
		.deadline_ms = (int64_t)(t->deadline_s * 1000) };
	struct environment env;
	struct proc_spec spec = { .env = env.list, .fd = { { task_fd, 0 } }, .n_fd = 1 };
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	int result, i;

	fill_environment(&env);
	for (i = 0; i < t->n_sides; i++)
		spec.fd[spec.n_fd++] = (struct proc_fd){ module_of(b, t, i), FIRST_MODULE_FD + i };
	if (t->mode == TASK_AUDIT)
		spec.fd[spec.n_fd++] = (struct proc_fd){ t->go_fd, GO_FD };
	(t->counters || t->samples ? sandbox_count : sandbox_run)(
		t->n_sides > 0 ? b->sandbox : &no_sandbox, v, b->runner, b->device.kind == DEVICE_CUDA);
	spec.argv = v->arg;
	result = sandbox_end(v, err);
	c->pump = &pump;
	if (result == 0)
		result = pump_run(&pump, &spec, how, err);
	c->pump = NULL;
	free(v);
	return result;
}

int runner_child_run(struct bench *b, const struct runner_task *t, struct runner_end *end, struct fw_err *err)
{
	int64_t started = clock_mono_ns();
	struct child c = {
		.task = t, .bench = b, .end = end, .last = { .cell = -1 }, .since_ns = started, .step = first_step(t->mode)
	};
	struct fw_err e = { 0 };
	struct proc_exit how;
	int task_fd, result;

	*end = (struct runner_end){ .mode = t->mode, .cell = -1 };
	if (make_signature(c.signature, err) != 0)
		return -1;
	task_fd = task_file(b, t, c.signature, err);
	if (task_fd < 0)
		return -1;
	lines_init(&c.lines, PROTOCOL_LINE_MAX + SIGNATURE_ROOM);
	read_oom_kills(b, &c.oom_before);
	result = run_with(b, t, &c, task_fd, &how, &e);
	close(task_fd);
	lines_fini(&c.lines);
	outside_end(&c.outside);
	begin_step(&c, DEVICE_STEP_END);
	b->timed_until_ns = t->mode == TASK_TIME ? c.since_ns : 0;
	end->wall_s = (double)(c.since_ns - started) * 1e-9;
	end->stopped = c.stopped;
	if (c.stopped)
		return 0;
	if (result != 0 && !c.broken)
		return err_set(err, e.code, "%s", e.text);
	if (result == 0 && was_interrupted(&c, &how, err))
		return -1;
	classify(&c, &how, &e, result, t->deadline_s);
	return 0;
}

void runner_end_early(struct runner_end *end)
{
	if (end->failure[0])
		return;
	snprintf(end->failure, sizeof end->failure, "crash");
	snprintf(end->detail, sizeof end->detail, "ended the process (exit 0) before its timings");
}

/* Store only the end of the output, which can be large. */
static int on_output(void *arg, const char *data, size_t len, struct fw_err *err)
{
	struct buf *out = arg;

	buf_append(out, data, len);
	buf_require_memory(out);
	return out->failed ? err_set(err, ERR_FULL, "it printed more than %zu bytes", out->max) : 0;
}

int runner_child_under(struct bench *b, const struct runner_task *t, const char *const *argv, const char *const *runner_argv,
	struct buf *out, struct proc_exit *how, struct fw_err *err)
{
	struct pump pump = { .peer = b->peer,
		.stream = { { .read = on_output, .arg = out, .child_fd = 1 } },
		.n_streams = 1,
		.merge_stderr = true,
		.deadline_ms = (int64_t)(t->deadline_s * 1000) };
	struct environment env;
	struct proc_spec spec = { .env = env.list };
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	int64_t started = clock_mono_ns();
	struct proc_exit given;
	int result, i;

	fill_environment(&env);
	for (i = 0; i < t->n_sides; i++)
		spec.fd[spec.n_fd++] = (struct proc_fd){ b->side[t->side[i]].fd, FIRST_MODULE_FD + i };
	sandbox_run_under(b->sandbox, v, argv, b->runner, b->device.kind == DEVICE_CUDA);
	for (; *runner_argv; runner_argv++)
		sandbox_arg(v, *runner_argv);
	spec.argv = v->arg;
	result = sandbox_end(v, err);
	if (result == 0)
		result = pump_run(&pump, &spec, &given, err);
	if (result == 0)
		*how = sandbox_exit(b->sandbox, &given);
	bench_add_held_time(b, DEVICE_STEP_PROFILE, (double)(clock_mono_ns() - started) * 1e-9);
	free(v);
	return result;
}

int runner_child_start_concurrent(struct bench *b, const struct runner_task *t, struct proc *child, int *fd, struct fw_err *err)
{
	static const struct sandbox no_sandbox;
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	int ends[2] = { -1, -1 }, task_fd = task_file(b, t, "", err), result = -1;
	struct environment env;

	if (task_fd >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		err_sys(err, "socketpair");
	if (ends[0] >= 0) {
		struct proc_spec spec = { .env = env.list, .fd = { { task_fd, 0 }, { ends[1], RECORD_FD } }, .n_fd = 2 };

		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		fill_environment(&env);
		sandbox_run(&no_sandbox, v, b->runner, b->device.kind == DEVICE_CUDA);
		spec.argv = v->arg;
		result = sandbox_end(v, err) != 0 || proc_spawn(&spec, child, err) != 0 ? -1 : 0;
		close(ends[1]);
	}
	if (result != 0 && ends[0] >= 0)
		close(ends[0]);
	*fd = result == 0 ? ends[0] : -1;
	fd_close(&task_fd);
	free(v);
	return result;
}

static int read_devices(const struct buf *text, struct msg_device *out, int max, struct fw_err *err)
{
	struct msg m;
	int n = 0;

	if (protocol_parse(text->data, text->len, &m, err) != 0)
		return err_context(err, "flopwatch-runner --list");
	if (m.t != MSG_HELLO)
		n = err_set(err, ERR_PROTOCOL, "flopwatch-runner --list did not print a hello line");
	else
		for (; n < m.u.hello.n_devices && n < max; n++)
			out[n] = m.u.hello.device[n];
	msg_fini(&m);
	return n;
}

static void log_left_out(const char *lines)
{
	for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
		char line[400];
		n = strcspn(lines, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), lines);
		if (strstr(line, " is left out: "))
			log_warning("device.left_out", "why=%s", log_quote(line));
	}
}

int runner_child_devices(const struct sandbox *s, bool isolated, struct msg_device *out, int max, struct fw_err *err)
{
	static const struct sandbox no_sandbox;
	struct sandbox_argv *v = mem_alloc(sizeof *v);
	struct environment env;
	char runner[PATH_MAX];
	struct proc_exit how;
	struct buf text, errors;
	int n = -1;

	buf_init(&text, PROTOCOL_LINE_MAX);
	buf_init(&errors, 4096);
	if (proc_sibling("flopwatch-runner", runner, sizeof runner, err) != 0)
		goto out;
	fill_environment(&env);
	sandbox_run(isolated ? s : &no_sandbox, v, runner, true);
	sandbox_arg(v, "--list");
	if (sandbox_end(v, err) != 0 ||
		proc_run(&(struct proc_spec){ .argv = v->arg, .env = env.list }, NULL, &text, &errors, LIST_MS, &how, err) != 0)
		goto out;
	if (how.status != 0 || text.failed) {
		errors.data[strcspn(errors.data, "\n")] = '\0';
		err_set(err, ERR_IO, "%s --list: %.300s", runner, *errors.data ? errors.data : "failed without a message");
	} else {
		log_left_out(errors.data);
		n = read_devices(&text, out, max, err);
	}
out:
	buf_fini(&text);
	buf_fini(&errors);
	free(v);
	return n;
}
