/* command.c - see command.h. */
#include "worker/command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/guard.h"
#include "core/inputs.h"
#include "worker/canary.h"
#include "worker/command_run.h"
#include "worker/measure.h"
#include "worker/workdir.h"

enum { BASE, TARGET, SIDES, PROCESSES = 2 * SIDES };

static const char prefix[] = "side-";

bool command_is(const struct msg_job *ask)
{
	return ask->n_subjects > 0 && ask->subject[0].run.name[0];
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

void command_clear(const struct build_context *c, const struct msg_job *ask)
{
	char side[128];

	for (int i = 0; i < ask->n_subjects; i++) {
		build_side(c, &ask->subject[i], side);
		(void)workdir_remove(c->cache->fd, side, NULL);
	}
}

struct command {
	struct bench *bench;
	const struct build_context *build;
	const struct msg_job *ask;
	const struct msg_subject *side[SIDES];
};

static int tell(struct command *m, int side, const char *step, struct fw_err *err)
{
	struct msg at = { .t = MSG_AT, .u.at = { .launch = m->bench->launches, .cell = -1 } };

	snprintf(at.u.at.role, sizeof at.u.at.role, "%s", m->side[side]->role);
	snprintf(at.u.at.step, sizeof at.u.at.step, "%s", step);
	return bench_send(m->bench, &at, err);
}

/* ---- the cells ----------------------------------------------------------------------------------------------------------- */

static double flops_of(const struct reading_row *row)
{
	return row && isfinite(row->tflops) ? row->tflops * 1e9 * row->median_ms : 0;
}

/* Base's rows in their order, then those that only the target has. */
static int collect(
	struct command *m, const struct reading *base, const struct reading *target, struct msg_found *found, struct fw_err *err)
{
	for (int side = BASE; side < SIDES; side++) {
		const struct reading *r = side == BASE ? base : target;

		for (int i = 0; i < r->n_rows; i++) {
			if (side == TARGET && reading_find(base, r->row[i].key))
				continue;
			if (found->n == SUITE_CELLS_MAX) {
				char detail[128];

				snprintf(detail, sizeof detail,
					"the benchmark writes more than %d rows; measure fewer, or name several benchmarks",
					SUITE_CELLS_MAX);
				return bench_fault(m->bench, -1, m->side[side]->role, "abi", detail, err) < 0 ? -1 : 0;
			}
			snprintf(found->cell[found->n].key, sizeof found->cell[0].key, "%s", r->row[i].key);
			found->cell[found->n++].flops = flops_of(&r->row[i]);
		}
	}
	return 1;
}

static int make_cells(struct command *m, const struct msg_found *found, struct cell **cells, struct fw_err *err)
{
	struct bench *b = m->bench;
	struct bench_cell *state = calloc((size_t)found->n + 1, sizeof *state);

	*cells = calloc((size_t)found->n + 1, sizeof **cells);
	if (!*cells || !state) {
		free(state);
		return err_set(err, ERR_INTERNAL, "out of memory for %d cells", found->n);
	}
	for (int i = 0; i < found->n; i++) {
		benchmark_cell(&m->side[BASE]->run, found->cell[i].key, found->cell[i].flops, &(*cells)[i]);
		state[i].open = true;
		state[i].judgement.want_set = 1;
	}
	free(b->cell);
	b->cell = state;
	b->cells = *cells;
	b->n_cells = found->n;
	b->rule.k = rule_k(found->n);
	return 0;
}

/* Rows that one side lacks. */
static int note_absent(struct command *m, const struct reading *base, const struct reading *target, struct fw_err *err)
{
	struct bench *b = m->bench;

	for (int i = 0; i < b->n_cells; i++)
		for (int side = BASE; side < SIDES; side++)
			if (!reading_find(side == BASE ? base : target, b->cells[i].key) &&
				bench_fault(b, i, m->side[side]->role, "unsupported", "the benchmark does not write this row",
					err) < 0)
				return -1;
	return 0;
}

/* Run both sides once. 1 and the cells, 0 too many of them, -1. */
static int discover(struct command *m, struct cell **cells, struct fw_err *err)
{
	struct reading reading[SIDES] = { 0 };
	struct command_trouble trouble[SIDES];
	struct msg message = { .t = MSG_FOUND, .u.found = calloc(1, sizeof(struct msg_found)) };
	int ran[SIDES] = { 0 }, status = message.u.found ? 0 : err_set(err, ERR_INTERNAL, "out of memory");

	for (int side = BASE; side < SIDES && status == 0; side++) {
		status = tell(m, side, "check", err);
		if (status == 0)
			ran[side] = command_run(m->bench, m->build, m->side[side], &reading[side], &trouble[side], err);
		status = ran[side] < 0 ? -1 : status;
	}
	if (status == 0)
		status = collect(m, &reading[BASE], &reading[TARGET], message.u.found, err);
	if (status == 1 && message.u.found->n > 0)
		status = make_cells(m, message.u.found, cells, err) < 0 || bench_send(m->bench, &message, err) < 0 ? -1 : 1;
	for (int side = BASE; side < SIDES && status == 1; side++)
		if (!ran[side] &&
			bench_fault(m->bench, -1, m->side[side]->role, trouble[side].failure, trouble[side].detail, err) < 0)
			status = -1;
	if (status == 1 && ran[BASE] && ran[TARGET] && note_absent(m, &reading[BASE], &reading[TARGET], err) < 0)
		status = -1;
	reading_fini(&reading[BASE]);
	reading_fini(&reading[TARGET]);
	msg_fini(&message);
	return status;
}

/* ---- launches ------------------------------------------------------------------------------------------------------------ */

static int announce(struct command *m, const int *list, int n, int set, uint64_t seed, struct fw_err *err)
{
	struct msg message = { .t = MSG_LAUNCH, .u.launch = calloc(1, sizeof(struct msg_launch)) };

	if (!message.u.launch)
		return err_set(err, ERR_INTERNAL, "out of memory");
	message.u.launch->launch = m->bench->launches;
	message.u.launch->set = set;
	message.u.launch->seed = seed;
	message.u.launch->n_cells = n;
	memcpy(message.u.launch->cell, list, (size_t)n * sizeof *list);
	int status = bench_send(m->bench, &message, err);

	msg_fini(&message);
	return status;
}

/* One cell of a launch: the medians of its four processes are two pairs. */
static int add_cell(
	struct command *m, int cell, int set, const int order[PROCESSES], const struct reading *reading, struct fw_err *err)
{
	struct bench *b = m->bench;
	struct msg message = { .t = MSG_CELL, .u.cell = calloc(1, sizeof(struct msg_cell)) };
	struct msg_cell *c = message.u.cell;
	int taken[SIDES] = { 0, 0 }, status = 0;

	if (!c)
		return err_set(err, ERR_INTERNAL, "out of memory");
	*c = (struct msg_cell){
		.launch = b->launches, .set = set, .cell = cell, .series = "process", .n_subjects = SIDES, .n = BENCHMARK_PAIRS
	};
	guard_unknown(&c->guard);
	for (int side = BASE; side < SIDES; side++) {
		snprintf(c->role[side], sizeof c->role[side], "%s", m->side[side]->role);
		c->ms[side] = calloc(BENCHMARK_PAIRS, sizeof(float));
		status = c->ms[side] ? status : err_set(err, ERR_INTERNAL, "out of memory");
	}
	for (int p = 0; p < PROCESSES && status == 0; p++) {
		const struct reading_row *row = reading_find(&reading[p], b->cells[cell].key);

		c->order[p] = order[p] == BASE ? 'A' : 'B';
		if (row)
			c->ms[order[p]][taken[order[p]]++] = (float)row->median_ms;
		else
			status = bench_fault(b, cell, m->side[order[p]]->role, "abi",
					 "a later run of the benchmark did not write this row", err) < 0
					 ? -1
					 : 1;
	}
	if (status == 0 && bench_add(b, c, err) < 0)
		status = -1;
	if (status == 0) {
		bench_judge(b, cell);
		status = bench_send(b, &message, err);
	}
	msg_fini(&message);
	return status < 0 ? -1 : 0;
}

static int launch(struct command *m, const int *list, int n, int set, struct fw_err *err)
{
	struct bench *b = m->bench;
	uint64_t seed = inputs_mix(b->seed + (uint64_t)++b->launches);
	int first = (int)(seed & 1), order[PROCESSES] = { first, !first, !first, first };
	struct reading reading[PROCESSES] = { 0 };
	struct command_trouble trouble;
	int status = announce(m, list, n, set, seed, err), ran = 1;

	for (int p = 0; p < PROCESSES && status == 0 && ran == 1; p++) {
		status = tell(m, order[p], "time", err);
		if (status == 0)
			ran = command_run(b, m->build, m->side[order[p]], &reading[p], &trouble, err);
		if (ran == 0)
			status = bench_fault(b, -1, m->side[order[p]]->role, trouble.failure, trouble.detail, err);
		status = ran < 0 ? -1 : status;
	}
	for (int i = 0; i < n && status == 0 && ran == 1; i++)
		status = add_cell(m, list[i], set, order, reading, err);
	for (int p = 0; p < PROCESSES; p++)
		reading_fini(&reading[p]);
	return status;
}

int command_measure(
	struct bench *b, const struct build_context *c, const struct msg_job *ask, struct cell **cells, struct fw_err *err)
{
	struct command m = { .bench = b, .build = c, .ask = ask };
	int list[SUITE_CELLS_MAX], n, set, status = 1;

	*cells = NULL;
	for (int i = 0; i < ask->n_subjects; i++) {
		if (strcmp(ask->subject[i].role, "base") == 0)
			m.side[BASE] = &ask->subject[i];
		else if (strcmp(ask->subject[i].role, "target") == 0)
			m.side[TARGET] = &ask->subject[i];
	}
	if (!m.side[BASE] || !m.side[TARGET])
		return err_set(err, ERR_PROTOCOL, "a comparison needs a base and a target");
	if (m.side[BASE]->run.gpu)
		status = canary_wait_idle(b, err);
	if (status == 1)
		status = discover(&m, cells, err);
	while (status == 1 && (n = measure_next(b, list, &set)) > 0) {
		if (b->launches > 0 && b->gpu_s >= b->limits.budget_s)
			break; /* what is open stays undecided, and says so */
		if (launch(&m, list, n, set, err) < 0)
			status = -1;
	}
	return status < 0 ? -1 : 0;
}
