/* interleave_session.c - turns, pairs and sustained runs of an interleaved session. */
#include "worker/internal.h"

#include <math.h>

enum {
	WAIT_MS = 100,
	BOUNDS = 3 /* turns without a warm-up call, which bound the time of a call */,
	SINGLES = 8 /* turns of single calls, if programs choose the number of repetitions */,
	SUSTAINED_CALLS_MIN = 2
};

#define CALL_LIMIT_S        30.0
#define CALL_LIMIT_TIMES    100
#define SUSTAINED_TURN_S    0.1 /* duration of its turns; the first one shows the full time of a call */
#define SUSTAINED_CALLS_MAX 4096
#define CUT_TIMES           2 /* limit of repeated pairs after an interrupt, or with a late call, as a multiple of the pairs */
#define UNTIMED_TIMES       4 /* the same limit for pairs without a time, which never count */

int interleave_session_side(const struct interleave_session *s, int pair, int k)
{
	return order_side(s->n_sides, s->first, pair, k);
}

static int index_of(const struct interleave_session *s, const char *key)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->cell[i].key, key) == 0)
			return i;
	return -1;
}

/* Store a call; when the list is full, drop every second one. */
static void add_sustained(struct interleave_sustained *b, float ms, float mhz)
{
	struct sustained_calls *c = b->calls;

	if (c->n == SUSTAINED_RECORDED_MAX && b->n % b->stride == 0) {
		c->n /= 2;
		for (size_t i = 0; i < (size_t)c->n; i++) {
			c->ms[i] = c->ms[2 * i];
			c->mhz[i] = c->mhz[2 * i];
		}
		b->stride *= 2;
	}
	if (b->n++ % b->stride != 0)
		return;
	c->ms[c->n] = ms;
	c->mhz[c->n++] = mhz;
}

static void add_call(struct interleave_session *s, const struct interleave_line *line)
{
	s->turn.n++;
	s->turn.ms = (float)line->ms;
	s->turn.mhz = (float)line->mhz;
	if (s->sustained_run && line->ms > 0)
		add_sustained(s->sustained_run, s->turn.ms, s->turn.mhz);
	/* without a spin the time may include a wait for the device */
	s->turn.host_us = line->spin_us > 0 ? (float)line->host_us : 0;
	if (line->spin_us > 0) {
		s->at->spin_us[s->turn.side] = line->spin_us;
		s->at->primed += line->ms > 0;
		s->at->host_bound += line->ms > 0 && line->host_us > 1000 * line->ms;
	}
	s->turn.sum_ms += line->ms * fmax(1, line->repeats);
	s->turn.repeats = line->repeats;
	s->turn.idle_us = line->idle_us;
	s->turn.cut += line->cut;
	s->turn.late += line->late;
	s->turn.done_ns = clock_mono_ns();
}

static int on_line(void *arg, struct interleave_child *c, const struct interleave_line *line, struct fw_err *err)
{
	struct interleave_session *s = arg;
	int side = (int)(c - s->child);

	(void)err;
	if (side != s->turn.side || !s->at)
		return 0;
	if (line->type == INTERLEAVE_DONE) {
		add_call(s, line);
	} else if (line->type == INTERLEAVE_FACT && line->fact == INTERLEAVE_KERNEL) {
		reported_kernels_add(&s->at->kernels[side], &line->kernel, line->kernels);
	} else if (line->type == INTERLEAVE_FAIL && s->at->failed_side < 0) {
		s->at->failed_side = side;
		snprintf(s->at->failure, sizeof s->at->failure, "%s", line->failure);
		snprintf(s->at->detail, sizeof s->at->detail, "%s", line->text);
	}
	return 0;
}

/* Return the time limit of a program's current step; `what` receives the step's name. */
static double limit_of(const struct interleave_session *s, const struct interleave_child *c, const char **what)
{
	double limit_s = c->side->benchmark.timeout_s;

	*what = c->protocol.state == INTERLEAVE_HOLDING ? "come back from a call" : "ask for its next turn";
	if (c->protocol.state != INTERLEAVE_HOLDING || !s->at)
		return limit_s;
	return fmin(limit_s, CALL_LIMIT_S + CALL_LIMIT_TIMES * s->at->alone_ms * 1e-3);
}

static void watch_clocks(struct interleave_session *s)
{
	int64_t now = clock_mono_ns();
	const char *what;

	for (int k = 0; k < s->n_sides; k++) {
		struct interleave_child *c = &s->child[k];
		double limit_s = limit_of(s, c, &what);

		interleave_child_watch(c, s->build);
		if (c->runs && c->protocol.state != INTERLEAVE_RESTING && (double)(now - c->since_ns) * 1e-9 > limit_s)
			interleave_child_late(c, what, limit_s);
	}
}

/* Return the side whose many threads prevented the failed side from starting one, or the failed side. */
static int crowding_side(struct interleave_session *s, int failed)
{
	for (int k = 0; k < s->n_sides; k++) {
		interleave_child_count(&s->child[k]);
		if (s->child[k].has_crowded)
			return k;
	}
	return failed;
}

/* Return the cell in whose turn a side failed, or that it reported as failed before it crashed (kit for Python); or -1. */
static int cell_of_failure(const struct interleave_session *s, int side)
{
	const struct interleave_child *c = &s->child[side];

	if (s->at && interleave_holds(&c->protocol))
		return s->at->cell;
	int i = strcmp(c->problem.failure, "crash") == 0 ? index_of(s, c->protocol.key) : -1;

	return i >= 0 && s->cell[i].failed_side == side ? s->cell[i].cell : -1;
}

/* Return whether the session has failed. The first failure ends it and belongs to the cell of the failed side's turn. */
static bool in_failure(struct interleave_session *s)
{
	for (int k = 0; k < s->n_sides && s->failure_side < 0; k++) {
		struct interleave_child *c = &s->child[k];

		if (!c->problem.failure[0])
			continue;
		k = crowding_side(s, k);
		c = &s->child[k];
		s->failure_side = k;
		s->problem = c->problem;
		s->failure_cell = cell_of_failure(s, k);
		s->is_memory_full = output_tail_is_out_of_memory(&c->words);
	}
	return s->failure_side >= 0;
}

/* Wait for the next event. Returns 1; 0 if the session is over; -1 on error. */
static int attend(struct interleave_session *s, struct fw_err *err)
{
	struct pollfd fd[1 + INTERLEAVE_SIDES_MAX * INTERLEAVE_CHILD_FDS];
	struct peer *peer = s->build->peer;
	int wait_ms = WAIT_MS;

	if (in_failure(s))
		return 0;
	peer_poll(peer, &fd[0], &wait_ms);
	for (int k = 0; k < s->n_sides; k++)
		interleave_child_poll(&s->child[k], &fd[1 + k * INTERLEAVE_CHILD_FDS]);
	if (poll(fd, (nfds_t)1 + (nfds_t)s->n_sides * INTERLEAVE_CHILD_FDS, wait_ms) < 0)
		memset(fd, 0, sizeof fd);
	if (peer_attend(peer, &fd[0], err) != 0)
		return -1;
	for (int k = 0; k < s->n_sides; k++)
		if (interleave_child_attend(&s->child[k], &fd[1 + k * INTERLEAVE_CHILD_FDS], s->bench, s->build, err) != 0)
			return -1;
	watch_clocks(s);
	return !in_failure(s);
}

/* Resources that the sides without the turn have used when the turn begins. */
struct background {
	double queued_s[INTERLEAVE_SIDES_MAX];
	bool is_watched[INTERLEAVE_SIDES_MAX];
};

static void snapshot_others(struct interleave_session *s, int side, struct background *r)
{
	for (int k = 0; k < s->n_sides; k++)
		if (k != side) {
			r->is_watched[k] = interleave_has_background(&s->at->seen[k]);
			interleave_child_snapshot(&s->child[k]);
			r->queued_s[k] = r->is_watched[k] ? interleave_child_queued_s(&s->child[k]) : 0;
		}
}

static void add_background(struct interleave_session *s, int side, const struct background *r, double turn_s)
{
	for (int k = 0; k < s->n_sides; k++)
		if (k != side) {
			struct interleave_background work = { .s = turn_s,
				.cpu_s = interleave_child_background_s(&s->child[k], turn_s) };

			if (r->is_watched[k])
				work.queued_s = interleave_child_queued_s(&s->child[k]) - r->queued_s[k];
			interleave_add_background(&s->at->seen[k], &work, r->is_watched[k]);
		}
}

/* Return the longest spin that a side requested: with the same one on all sides, it changes no difference between their turns. */
static double common_spin_us(const struct interleave_session *s)
{
	double longest = 0;

	for (int k = 0; k < s->n_sides; k++)
		longest = fmax(longest, s->at->spin_us[k]);
	return longest;
}

/* Grant a turn and wait for its end. Returns 1 with times, and *turn_ms up to the end of its last call; 0 without; -1: error. */
static int give_turn(struct interleave_session *s, int side, struct interleave_go go, double *turn_ms, struct fw_err *err)
{
	struct interleave_child *c = &s->child[side];
	struct background background = { 0 };
	int result = 1;

	snapshot_others(s, side, &background);
	interleave_wait_begin(&s->wait[side], s->wait[side].is_counted ? interleave_child_queued_s(c) : 0);
	memset(&s->turn, 0, sizeof s->turn);
	s->turn.side = side;
	go.spin_us = common_spin_us(s);
	interleave_child_go(c, &go);
	int64_t began = c->since_ns;

	while (result == 1 && c->protocol.state == INTERLEAVE_HOLDING)
		result = attend(s, err);
	add_background(s, side, &background, (double)(clock_mono_ns() - began) * 1e-9);
	while (result == 1 && interleave_holds(&c->protocol))
		result = attend(s, err);
	if (result != 1 || s->at->failed_side >= 0 || s->turn.n != go.calls)
		return result < 0 ? -1 : 0;
	*turn_ms = (double)(s->turn.done_ns - began) * 1e-6;
	s->turn.all_s = (double)(clock_mono_ns() - began) * 1e-9;
	return 1;
}

/* Return whether all sides are still at this cell: a program may leave it early. */
static bool all_at_cell(const struct interleave_session *s)
{
	for (int k = 0; k < s->n_sides; k++)
		if (s->child[k].protocol.state != INTERLEAVE_RESTING || strcmp(s->child[k].protocol.key, s->at->key) != 0)
			return false;
	return true;
}

/* Outcome of a pair (of three, with a reference commit). */
enum pair_result {
	PAIR_BROKEN = -1, /* an error */
	PAIR_OVER,        /* a side does not continue with this cell */
	PAIR_TAKEN,
	PAIR_CUT,    /* an external interrupt during a call */
	PAIR_LATE,   /* the device began a call before it was queued: it has no time */
	PAIR_UNTIMED /* a call has no time */
};

/*
 * Return whether another process interrupted this program in its turn, by the system's counter of the time for which its threads
 * waited for a core. An interrupt that the counter does not confirm is only a claim of the program.
 */
static bool was_cut(struct interleave_session *s, int side, double turn_ms)
{
	return s->turn.cut > 0 && interleave_wait_end(&s->wait[side], interleave_child_queued_s(&s->child[side]), turn_ms);
}

static struct interleave_one turn_of(struct interleave_session *s, int side, double turn_ms)
{
	return (struct interleave_one){ .ms = (double)s->turn.ms,
		.turn_ms = turn_ms,
		.idle_us = s->turn.idle_us,
		.repeats = s->turn.repeats,
		.cut = was_cut(s, side, turn_ms) };
}

/* Measure the next pair. An interrupted pair is repeated in the same order, which the record assigns to its position. */
static enum pair_result take_pair(struct interleave_session *s, struct fw_err *err)
{
	struct interleave_cell *at = s->at;
	enum pair_result pair = PAIR_TAKEN;

	for (int k = 0; k < s->n_sides; k++) {
		int side = interleave_session_side(s, at->n, k), result = all_at_cell(s);
		double turn_ms;

		if (result == 1)
			result = give_turn(s, side, (struct interleave_go){ .warm = at->warm, .calls = 1 }, &turn_ms, err);
		if (result != 1)
			return result < 0 ? PAIR_BROKEN : PAIR_OVER;
		at->ms[side][at->n] = s->turn.ms;
		at->mhz[side][at->n] = s->turn.mhz;
		at->host_us[side][at->n] = s->turn.host_us;
		at->n_turns++;
		at->turns_s += s->turn.all_s;
		at->calls_s += s->turn.sum_ms * 1e-3 * (1 + at->warm);
		at->calls[side]++;
		at->late[side] += s->turn.late;
		if (s->turn.late > 0)
			pair = PAIR_LATE;
		else if (s->turn.ms <= 0)
			pair = pair == PAIR_LATE ? PAIR_LATE : PAIR_UNTIMED;
		else if (pair == PAIR_TAKEN && s->turn.cut > 0)
			pair = PAIR_CUT;
		if (s->turn.ms > 0) {
			struct interleave_one turn = turn_of(s, side, turn_ms);

			interleave_add_turn(&at->seen[side], &turn);
		}
	}
	return pair;
}

/* Grant turns whose times do not count: one to each side at the start, then those without warm-up that bound a call's time. */
static int give_uncounted(struct interleave_session *s, int rounds, int warm, struct fw_err *err)
{
	int result = 1;

	for (int i = 0; i < rounds; i++)
		for (int k = 0; k < s->n_sides && result == 1; k++) {
			double turn_ms;

			result = all_at_cell(s) ? give_turn(s, interleave_session_side(s, i, k),
							  (struct interleave_go){ .warm = warm, .calls = 1 }, &turn_ms, err)
						: 0;
			if (result == 1)
				interleave_bound(&s->at->seen[s->turn.side], s->turn.sum_ms, turn_ms);
		}
	return result;
}

/* Return whether a side chooses how often it repeats a call: then its turns do not show the length of one call. */
static bool hides_calls(const struct interleave_cell *at)
{
	const struct interleave_turns *base = &at->seen[COMMAND_BASE], *target = &at->seen[COMMAND_TARGET];

	return base->chooses && (base->repeats || target->repeats);
}

/* Grant turns of single calls. Returns as give_turn. */
static int give_singles(struct interleave_session *s, struct fw_err *err)
{
	const struct interleave_go single = { .warm = s->at->warm, .calls = 1, .is_single = true };
	int result = 1;

	for (int i = 0; i < SINGLES; i++)
		for (int k = 0; k < s->n_sides && result == 1; k++) {
			int side = interleave_session_side(s, i, k);
			double turn_ms;

			result = all_at_cell(s) ? give_turn(s, side, single, &turn_ms, err) : 0;
			if (result == 1 && s->turn.ms > 0) {
				struct interleave_one turn = turn_of(s, side, turn_ms);

				interleave_add_single(&s->at->seen[side], &turn);
			}
		}
	return result;
}

/* Make one sustained run, in turns of some calls each, until `until_ns`. Returns as give_turn. */
static int take_sustained(
	struct interleave_session *s, int side, int64_t until_ns, struct sustained_calls *out, struct fw_err *err)
{
	int64_t warm_ns = until_ns - (int64_t)((SUSTAINED_S - SUSTAINED_WARMUP_S) * 1e9);
	int64_t last_ns = until_ns + (int64_t)(SUSTAINED_S * 1e9); /* a sustained run without any time by then is dropped */
	int calls = SUSTAINED_CALLS_MIN, result;

	struct interleave_sustained sustained_run = { .stride = 1, .calls = out };

	out->n = 0;
	do {
		double turn_ms;

		s->sustained_run = clock_mono_ns() >= warm_ns ? &sustained_run : NULL;
		result = all_at_cell(s) ? give_turn(s, side, (struct interleave_go){ .calls = calls }, &turn_ms, err) : 0;
		s->sustained_run = NULL;
		if (result != 1)
			return result;
		interleave_bound(&s->at->seen[side], s->turn.sum_ms, turn_ms);
		calls = (int)fmin(SUSTAINED_CALLS_MAX, fmax(SUSTAINED_CALLS_MIN, calls * SUSTAINED_TURN_S / s->turn.all_s));
	} while (clock_mono_ns() < until_ns || (out->n == 0 && clock_mono_ns() < last_ns));
	return out->n > 0;
}

/* Run base and target without pauses, to measure them at stabilised clocks. */
static int take_sustained_runs(struct interleave_session *s, struct fw_err *err)
{
	struct interleave_cell *at = s->at;
	int64_t began_ns = clock_mono_ns();

	for (int i = 0; i < 2; i++) {
		int side = i ^ (at->sustained == SUSTAINED_TARGET_FIRST);
		int64_t until_ns = began_ns + (int64_t)((i + 1) * SUSTAINED_S * 1e9);
		int result = take_sustained(s, side, until_ns, &at->sustained_calls[side], err);

		if (result != 1)
			return result;
	}
	at->n_sustained = sustained_gather(at->sustained_calls);
	return 1;
}

static void choose_core(uint64_t seed, const cpu_set_t *ours, cpu_set_t *one)
{
	int n = (int)(seed % (uint64_t)CPU_COUNT(ours));

	CPU_ZERO(one);
	for (int core = 0; core < CPU_SETSIZE; core++)
		if (CPU_ISSET(core, ours) && n-- == 0) {
			CPU_SET(core, one);
			return;
		}
}

/*
 * Pin single-threaded programs to one common core, a different one in each run: on separate cores, a third process could slow
 * down one side only. Programs with several threads may use all cores.
 */
static void pin_programs(struct interleave_session *s)
{
	cpu_set_t ours, one;
	bool single = true;

	for (int k = 0; k < s->n_sides; k++) {
		interleave_child_count(&s->child[k]);
		single = single && interleave_child_is_single(&s->child[k]);
	}
	if (single == s->is_pinned || sched_getaffinity(0, sizeof ours, &ours) < 0)
		return;
	s->is_pinned = single;
	if (single)
		choose_core(s->seed, &ours, &one);
	for (int k = 0; k < s->n_sides; k++)
		interleave_child_pin(&s->child[k], single ? &one : &ours);
}

static bool is_enough(const struct interleave_cell *c, int64_t began)
{
	return c->n >= c->pairs || (c->n >= INTERLEAVE_PAIRS_MIN && (double)(clock_mono_ns() - began) * 1e-6 > 2 * c->budget_ms);
}

static int run_cell(struct interleave_session *s, struct fw_err *err)
{
	struct interleave_cell *at = s->at;
	int status = give_uncounted(s, 1, at->warm, err);
	int64_t began = clock_mono_ns(); /* measured without the first call, which may compile or tune */

	if (status >= 1) /* the threads of the first call exist by now */
		pin_programs(s);
	while (status >= 1 && !is_enough(at, began) && at->untimed < UNTIMED_TIMES * at->pairs &&
		at->late_pairs < CUT_TIMES * at->pairs) {
		enum pair_result pair = take_pair(s, err);

		at->untimed += pair == PAIR_UNTIMED;
		at->late_pairs += pair == PAIR_LATE;
		if (pair == PAIR_CUT && at->cut < CUT_TIMES * at->pairs)
			at->cut++;
		else if (pair == PAIR_TAKEN || pair == PAIR_CUT)
			at->n++;
		status = pair == PAIR_BROKEN ? -1 : pair != PAIR_OVER;
	}
	if (status >= 1 && hides_calls(at))
		status = give_singles(s, err);
	at->pairs_s = (double)(clock_mono_ns() - began) * 1e-9;
	if (status >= 1 && at->warm > 0)
		status = give_uncounted(s, BOUNDS, 0, err);
	/* sustained runs of calls that the host queues slowly would show the host's time */
	if (status >= 1 && at->sustained != SUSTAINED_NONE && 2 * at->host_bound <= at->primed) {
		began = clock_mono_ns();
		status = take_sustained_runs(s, err);
		at->sustained_runs_s = (double)(clock_mono_ns() - began) * 1e-9;
	}
	return status < 0 ? -1 : 0;
}

/* Bring every program to cell `i`. Returns 1 if all reached it, 2 if one skipped it, 0 if the session is over, -1 on error. */
static int gather(struct interleave_session *s, int i, struct fw_err *err)
{
	int result = 1;

	while (result == 1) {
		int here = 0;

		for (int k = 0; k < s->n_sides; k++) {
			struct interleave_child *c = &s->child[k];
			int at = c->protocol.state == INTERLEAVE_RESTING ? index_of(s, c->protocol.key) : -1;

			/* the exit status shows whether a program without the cell ended well */
			if ((c->protocol.state == INTERLEAVE_GONE && !c->runs) || at > i)
				return 2;
			here += at == i;
			if (c->protocol.state == INTERLEAVE_RESTING && at < i)
				interleave_child_next(c);
		}
		if (here == s->n_sides)
			return 1;
		result = attend(s, err);
	}
	return result;
}

static int record_outcome(struct interleave_session *s, int cell, struct fw_err *err)
{
	struct msg at = { .t = MSG_AT, .u.at = { .run = s->bench->runs, .cell = cell, .step = "time" } };

	return bench_send(s->bench, &at, err);
}

/* Return whether the budget ends the run before its next cell; also the first run, unless that is the only one. */
static bool is_over_budget(const struct interleave_session *s)
{
	double here_s = (double)(clock_mono_ns() - s->began_ns) * 1e-9;

	return !s->bench->quick && s->bench->gpu_s + here_s >= s->bench->limits.budget_s;
}

static int run_cells(struct interleave_session *s, struct fw_err *err)
{
	int status = 1;

	for (int i = 0; i < s->n && status >= 1 && !(i > 0 && is_over_budget(s)); i++) {
		status = gather(s, i, err);
		s->cell[i].missed = status == 2;
		if (status != 1)
			continue;
		if (!s->started_ns)
			s->started_ns = clock_mono_ns();
		s->at = &s->cell[i];
		s->at->reached = true;
		if (record_outcome(s, s->at->cell, err) < 0 || run_cell(s, err) != 0)
			return -1;
		status = !in_failure(s);
		s->at = NULL;
	}
	return status < 0 ? -1 : 0;
}

int interleave_session_run(struct interleave_session *s, struct fw_err *err)
{
	int result = 0;

	s->began_ns = clock_mono_ns();
	s->started_ns = 0;
	s->failure_side = s->failure_cell = -1;
	s->is_memory_full = s->is_pinned = false;
	s->at = NULL;
	for (int i = 0; i < s->n; i++)
		s->cell[i].failed_side = -1;
	for (int k = 0; k < s->n_sides; k++) {
		s->child[k] = (struct interleave_child){ .on_line = on_line,
			.arg = s,
			.parent = s->parent ? &s->parent[k] : NULL,
			.lines_fd = -1,
			.out_fd = -1,
			.err_fd = -1 };
		s->child[k].proc.pidfd = -1;
	}
	for (int k = 0; k < s->n_sides && result == 0; k++)
		result = interleave_child_start(&s->child[k], s->bench, s->build, s->side[k], err);
	if (result == 0)
		result = run_cells(s, err);
	for (int k = 0; k < s->n_sides; k++)
		interleave_child_end(&s->child[k]);
	interleave_parents_prune(s->parent, s->parent ? INTERLEAVE_SIDES_MAX : 0);
	s->all_s = (double)(clock_mono_ns() - s->began_ns) * 1e-9;
	s->start_s = s->started_ns ? (double)(s->started_ns - s->began_ns) * 1e-9 : s->all_s;
	bench_add_held_time(s->bench, DEVICE_STEP_START, s->start_s);
	bench_add_held_time(s->bench, DEVICE_STEP_PROGRAM, s->all_s - s->start_s);
	return result;
}
