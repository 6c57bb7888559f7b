/* command.c - cells of two benchmark programs, and their runs. */
#include "worker/internal.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>

enum { BASE = COMMAND_BASE, TARGET = COMMAND_TARGET, PAIR };
enum { HOPELESS_RUNS_MIN = 4 }; /* runs before a cell can be hopeless */

static const char prefix[] = "side-";

bool command_is(const struct msg_job *request)
{
	return request->n_sides > 0 && request->side[0].benchmark.name[0];
}

void command_sides(char out[64])
{
	snprintf(out, 64, "%s%ld", prefix, (long)getpid());
}

void command_sweep(const struct cache *cache)
{
	int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *d;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (d = readdir(dir))) {
		long pid =
			strncmp(d->d_name, prefix, sizeof prefix - 1) == 0 ? strtol(d->d_name + sizeof prefix - 1, NULL, 10) : 0;

		if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			(void)workdir_remove(cache->fd, d->d_name, NULL);
	}
	if (dir)
		closedir(dir);
}

void command_clear(const struct build_context *c, const struct msg_job *request)
{
	char side[128];

	for (int i = 0; i < request->n_sides; i++) {
		build_program_folder(c, &request->side[i], side);
		(void)workdir_remove(c->cache->fd, side, NULL);
	}
}

static double flops_of(const struct reading_row *row)
{
	return row && row->n > 0 && isfinite(row->tflops) ? row->tflops * 1e9 * row->median_ms : 0;
}

/* Returns 1, or 0 after reporting a fault of the side: too many rows. */
static int add_row(struct command *m, int side, const char *key, double flops, struct msg_found *found, struct fw_err *err)
{
	if (found->n == JOB_CELLS_MAX)
		return bench_fault(m->bench, -1, m->side[side]->role, "abi", err,
			"the benchmark writes more than %d rows; measure fewer, or define several benchmarks", JOB_CELLS_MAX);
	snprintf(found->cell[found->n].key, sizeof found->cell[0].key, "%s", key);
	found->cell[found->n++].flops = flops;
	return 1;
}

/* List the rows of the base in order, then those that only the target has, and last the unpaired rows of each side. */
static int collect(
	struct command *m, const struct reading *base, const struct reading *target, struct msg_found *found, struct fw_err *err)
{
	int status = 1;

	for (int side = BASE; side < PAIR; side++) {
		const struct reading *r = side == BASE ? base : target;

		for (int i = 0; i < r->n_rows && status == 1; i++) {
			const char *key = r->row[i].key;
			double flops = flops_of(&r->row[i]);

			if (side == BASE || !reading_find(base, key))
				status = add_row(
					m, side, key, flops > 0 ? flops : flops_of(reading_find(target, key)), found, err);
		}
		for (int i = 0; i < r->n_left && status == 1; i++)
			if (r->left[i].unpaired && (side == BASE || !reading_find_unpaired(base, r->left[i].key)))
				status = add_row(m, side, r->left[i].key, 0, found, err);
	}
	return status;
}

static void make_cells(struct command *m, const struct msg_found *found, struct cell **cells)
{
	struct bench *b = m->bench;
	struct bench_cell *state = mem_alloc_zero((size_t)found->n + 1, sizeof *state);

	*cells = mem_alloc_zero((size_t)found->n + 1, sizeof **cells);
	for (int i = 0; i < found->n; i++) {
		benchmark_cell(&m->side[BASE]->benchmark, found->cell[i].key, found->cell[i].flops, &(*cells)[i]);
		state[i].open = true;
		state[i].found.typical.want_set = 1;
	}
	free(b->cell);
	b->cell = state;
	b->cells = *cells;
	b->n_cells = found->n;
	b->rule.k = rule_k(found->n);
}

/*
 * Mark a row that both sides may have but that has no pair as not comparable: the job's verdict must not depend on the other rows
 * only. An undecided row would prevent comparisons of later commits with this one, although it is the only base with which they
 * have a pair. A key that only the base has is a missing row of the target.
 */
static int note_unpaired(struct command *m, int cell, const struct reading *target, struct fw_err *err)
{
	const struct reading_skipped *left = reading_find_unpaired(target, m->bench->cells[cell].key);

	if (!left)
		return command_timed(m, TARGET, cell, target, "unsupported", err);
	return bench_fault(m->bench, cell, ROLE_DEVICE, "unpaired", err, "%s", left->why);
}

static int note_absent(struct command *m, const struct reading *base, const struct reading *target, struct fw_err *err)
{
	for (int i = 0; i < m->bench->n_cells; i++) {
		const char *key = m->bench->cells[i].key;

		if (reading_find_unpaired(base, key) || reading_find_unpaired(target, key)) {
			if (note_unpaired(m, i, target, err) < 0)
				return -1;
			continue;
		}
		for (int side = BASE; side < PAIR; side++)
			if ((m->list[side].can_interleave
					    ? interleave_listed(m, side, i, err)
					    : command_timed(m, side, i, side == BASE ? base : target, "unsupported", err)) < 0)
				return -1;
	}
	return 0;
}

/* Report a side that failed, after the cells in whose turns it ended before: the first fault of a cell is its reason. */
static int note_failed(struct command *m, int side, const struct command_failure *problem, struct fw_err *err)
{
	for (int i = 0; i < m->bench->n_cells; i++) {
		const struct interleave_reported *reported = interleave_list_find(&m->list[side], m->bench->cells[i].key);

		if (reported && reported->failure[0] && interleave_listed(m, side, i, err) < 0)
			return -1;
	}
	return command_failed(m, side, problem, err);
}

/* Report rows without a time on both sides, and columns without times, which do not become cells. */
static int note_rows_without_times(struct command *m, int side, const struct reading *r, struct fw_err *err)
{
	char text[sizeof((struct msg_note *)0)->text];
	enum role role = m->side[side]->role;

	for (int i = 0; i < r->n_notes; i++)
		if (bench_send_note(m->bench, -1, role, err, "%s", r->note[i]) != 0)
			return -1;
	if (r->n_left == 0)
		return 0;
	reading_report_skipped(r, text, sizeof text);
	return bench_send_note(m->bench, -1, role, err, "%s", text);
}

/* Make base and target comparable; send a note for each difference that prevents it. */
static int note_incomparable(struct command *m, struct reading *base, struct reading *target, struct fw_err *err)
{
	/* space for one message for each possible row of both outputs */
	enum { WARNINGS_MAX_BYTES = 2 * READING_ROWS_MAX * (3 * CASE_KEY_SIZE + 256), WARNINGS_SENT_MAX = 32 };
	struct buf warnings;
	int unpaired, result, n = 0;

	buf_init(&warnings, WARNINGS_MAX_BYTES);
	result = reading_pair(base, "the base's output", target, "the target's output", &warnings, &unpaired, err);
	for (const char *at = warnings.data; result == 0 && *at; at = strchr(at, '\n') + 1)
		if (n++ < WARNINGS_SENT_MAX)
			result = bench_send_note(m->bench, -1, ROLE_NONE, err, "%.*s", (int)(strchr(at, '\n') - at), at);
	if (result == 0 && n > WARNINGS_SENT_MAX)
		result = bench_send_note(
			m->bench, -1, ROLE_NONE, err, "%d more rows are not compared for similar reasons", n - WARNINGS_SENT_MAX);
	buf_fini(&warnings);
	return result;
}

/*
 * Fork the runs only if all sides can: forked and fresh processes may differ in speed. Otherwise every run starts fresh processes.
 */
static int choose_start(struct command *m, const struct command_check *check, struct fw_err *err)
{
	int without = -1;

	for (int side = BASE; side < m->n_sides; side++)
		if (m->parent[side].proc.pid <= 0 && (without < 0 || !check->why_fresh[without][0]))
			without = side;
	if (!m->forks || without < 0)
		return 0;
	m->forks = false;
	interleave_parents_end(m->parent, COMMAND_SIDES_MAX);
	if (!check->why_fresh[without][0])
		return 0; /* a program without the Python kit ends after its list */
	return bench_send_note(m->bench, -1, m->side[without]->role, err,
		"every run starts the benchmark again, because its process cannot fork runs: %.300s", check->why_fresh[without]);
}

/* Run all sides once. Returns 1 with the cells, 0 if there are too many, -1 on error. */
static int discover(struct command *m, struct cell **cells, struct fw_err *err)
{
	struct command_check check;
	struct reading *reading = check.reading;
	struct msg message = { .t = MSG_FOUND, .u.found = mem_alloc_zero(1, sizeof(struct msg_found)) };
	const int *ran = check.ran;
	int status = command_check(m, &check, err);

	if (status == 0 && ran[BASE] && ran[TARGET])
		status = note_incomparable(m, &reading[BASE], &reading[TARGET], err);
	if (status == 0)
		status = collect(m, &reading[BASE], &reading[TARGET], message.u.found, err);
	if (status == 1 && message.u.found->n > 0) {
		make_cells(m, message.u.found, cells);
		status = bench_send(m->bench, &message, err) < 0 ? -1 : 1;
	}
	if (status == 1 && choose_start(m, &check, err) != 0)
		status = -1;
	for (int side = m->n_sides - 1; side >= BASE && status == 1; side--)
		if (!ran[side] && note_failed(m, side, &check.problem[side], err) < 0)
			status = -1;
	if (status == 1 && ran[BASE] && ran[TARGET] && note_absent(m, &reading[BASE], &reading[TARGET], err) != 0)
		status = -1;
	for (int side = BASE; side < m->n_sides && status == 1; side++)
		if (note_rows_without_times(m, side, &reading[side], err) < 0)
			status = -1;
	for (int side = BASE; side < COMMAND_SIDES_MAX; side++)
		reading_fini(&reading[side]);
	msg_fini(&message);
	return status;
}

/* Hash the files that a side's build made, before any run in its folder. "": none, or unknown. */
static void hash_made(const struct command *m, int side, char sha256[HASH_HEX])
{
	char name[128];
	int fd;

	sha256[0] = '\0';
	build_program_folder(m->build, m->side[side], name);
	fd = openat(m->build->cache->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || workdir_hash_made(fd, sha256, NULL) != 0)
		sha256[0] = '\0';
	fd_close(&fd);
}

/* Note that equal builds of different sources are measured, because the run may read sources; declared artifacts avoid that. */
static int note_sources_alone(struct command *m, struct fw_err *err)
{
	const struct benchmark *base = &m->side[BASE]->benchmark, *target = &m->side[TARGET]->benchmark;
	char made[PAIR][HASH_HEX];

	if (m->bench->selfcheck || base->n_artifacts || target->n_artifacts)
		return 0;
	for (int side = BASE; side < PAIR; side++)
		hash_made(m, side, made[side]);
	if (!made[BASE][0] || strcmp(made[BASE], made[TARGET]) != 0)
		return 0;
	return bench_send_note(m->bench, -1, ROLE_NONE, err,
		"the builds of both sides made the same files, and only sources differ, which %s may read: if it does not, name "
		"the files that it runs from as its artifacts in .flopwatch.yaml, and such a push is identical",
		base->name);
}

static bool is_base_alone(const struct command *m)
{
	return m->list[TARGET].can_interleave && !m->list[BASE].can_interleave;
}

/* Note that only the base prevents an interleaved measurement. The daemon searches for VERDICT_BASE_WHOLE, its beginning. */
static int note_base_alone(struct command *m, struct fw_err *err)
{
	return bench_send_note(m->bench, -1, ROLE_BASE, err,
		"the base is not interleaved yet, so both sides are timed as whole processes; the first comparison with a base that is "
		"interleaved pairs their calls");
}

/* Close cells that all allowed runs would leave undecided: only a change of the benchmark would help. */
static int stop_hopeless(struct command *m, const int *list, int n, struct fw_err *err)
{
	struct bench *b = m->bench;

	for (int i = 0; i < n; i++) {
		int runs = b->cell[list[i]].n_runs;
		double se;

		if (b->quick || b->selfcheck || runs < HOPELESS_RUNS_MIN || !bench_is_hopeless(b, list[i], &se))
			continue;
		b->cell[list[i]].open = false;
		if (bench_send_note(b, list[i], ROLE_NONE, err,
			    "stopped after %d runs, whose processes vary so much that %d would leave a standard error of %.2f %% "
			    "(%.2f %% is allowed): %s",
			    runs, b->rule.runs_max, 100 * se, 100 * b->rule.se_max,
			    is_base_alone(m) ? VERDICT_BASE_WHOLE
					     : "an interleaved program is paired call by call instead (doc/interleave.md)") != 0)
			return -1;
	}
	return 0;
}

/* Report the number of excluded warm-up calls, and the cell with the most. */
static int note_excluded_calls(struct command *m, struct fw_err *err)
{
	struct bench *b = m->bench;
	int calls = 0, cut = 0, cells = 0, most = 0;

	for (int i = 0; i < b->n_cells; i++) {
		calls += m->calls[i].calls;
		cut += m->calls[i].cut;
		cells += m->calls[i].cut > 0;
		most = m->calls[i].cut > m->calls[most].cut ? i : most;
	}
	if (cut == 0)
		return 0;
	return bench_send_note(b, -1, ROLE_NONE, err,
		"processes took a while to stabilise: %d of %d calls, at the start of a process and further from its others than "
		"those vary, are left out, of %d of %d cells; most of %s, %d of %d",
		cut, calls, cells, b->n_cells, b->cells[most].key, m->calls[most].cut, m->calls[most].calls);
}

static int measure_processes(struct command *m, struct fw_err *err)
{
	struct bench *b = m->bench;
	int list[JOB_CELLS_MAX], n, set, result = 0;

	m->calls = mem_alloc_zero((size_t)b->n_cells + 1, sizeof *m->calls);
	while (result == 0 && !b->lost && (n = measure_next(b, list, &set)) > 0) {
		if (b->runs > 0 && b->gpu_s >= b->limits.budget_s)
			break; /* open cells remain undecided */
		result = command_measure_run(m, list, n, set, err) < 0 || stop_hopeless(m, list, n, err) != 0 ? -1 : 0;
	}
	if (result == 0)
		result = note_excluded_calls(m, err);
	free(m->calls);
	m->calls = NULL;
	return result;
}

int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *request, struct cell **cells, struct fw_err *err)
{
	struct command m = { .bench = b, .build = c };
	int status = 1, interleaved = 0;

	*cells = NULL;
	if (command_open(&m, request, err) != 0)
		return -1;
	m.forks = m.side[BASE]->benchmark.fork;
	if (note_sources_alone(&m, err) < 0)
		return -1;
	for (int side = BASE; side < COMMAND_SIDES_MAX; side++)
		if (m.side[side])
			compiled_take(c, m.side[side]);
	if (m.side[BASE]->benchmark.gpu)
		status = health_check_wait_idle(b, err);
	if (status == 1)
		status = discover(&m, cells, err);
	if (status == 1 && command_can_interleave(&m))
		interleaved = interleave_measure(&m, err);
	interleave_parents_end(m.parent, COMMAND_SIDES_MAX);
	if (status == 1 && is_base_alone(&m) && note_base_alone(&m, err) < 0)
		status = -1;
	if (status == 1 && interleaved == 0)
		status = measure_processes(&m, err);
	if (status >= 0 && interleaved >= 0)
		bench_end(m.bench);
	for (int side = 0; side < COMMAND_SIDES_MAX; side++)
		if (m.side[side])
			compiled_store(c, m.side[side]);
	for (int side = 0; side < COMMAND_SIDES_MAX; side++)
		interleave_list_fini(&m.list[side]);
	return status < 0 || interleaved < 0 ? -1 : 0;
}
