/* acceptance.c - checks of each module, their cache, and classification of failures. */
#include "worker/internal.h"

enum { ENTRY_MAX = 256 << 10 };

struct examination {
	struct bench *bench;
	struct bench_side *side;
	struct buf *entry; /* entry[n_cells]: records of a cell, as cached */
	bool *done;        /* done[n_cells]: the cell has an outcome */
	int n_done;        /* outcomes of the current process */
	bool all_failed;   /* the module or the device failed, not a single cell */
	bool replay;       /* records come from the cache */
};

/* Compute the cache key: a hash of all inputs of an outcome. */
static void entry_name(const struct examination *x, int cell, char name[HASH_HEX])
{
	const struct bench *b = x->bench;
	const struct cell *c = &b->cells[cell];
	struct hash_state h;

	hash_begin(&h);
	hash_text(&h, "flopwatch check 3");
	hash_text(&h, b->runner_sha);
	hash_text(&h, x->side->sha256);
	hash_text(&h, x->side->provider);
	hash_text(&h, x->side->config);
	hash_text(&h, device_kind_name(b->device.kind));
	hash_text(&h, b->device.uuid);
	hash_text(&h, b->device.driver);
	hash_text(&h, b->device.cudnn); /* a provider may load this version at run time */
	hash_text(&h, b->device.cublas);
	hash_text(&h, b->device.image);
	hash_text(&h, c->key);
	hash_update(&h, &c->seed, sizeof c->seed);
	hash_update(&h, c->shape.bytes, case_family(c)->shape_bytes);
	hash_end(&h, name);
}

static void cache_record(struct examination *x, int cell, const struct msg *m)
{
	if (!x->replay && x->bench->cache)
		protocol_write(&x->entry[cell], m);
}

/* Return whether the outcome is reproducible: only such outcomes are cached. */
static bool repeatable(const struct msg_check *m)
{
	return m->ok || strcmp(m->failure, "wrong") == 0 || strcmp(m->failure, "oob") == 0 ||
	       strcmp(m->failure, "unsupported") == 0 || strcmp(m->failure, "provider") == 0 || strcmp(m->failure, "abi") == 0;
}

static void finish_cell(struct examination *x, int cell)
{
	x->n_done += !x->done[cell];
	x->done[cell] = true;
}

/* Store the input hash and the time of a check, for comparison with runs. */
static void store_check_facts(const struct examination *x, const struct msg_check *check)
{
	const struct bench *b = x->bench;
	struct bench_cell *c = &b->cell[check->cell];
	bool base = x->side == &b->side[b->base];
	enum bench_origin side = base ? BENCH_BASE : BENCH_TARGET;

	if (!base && x->side != &b->side[b->target])
		return;
	c->target_passed = c->target_passed || !base;
	memcpy(c->check_inputs[side], check->input_sha256, sizeof c->check_inputs[side]);
	c->alone[side] = (struct bench_alone){ .ms = check->alone_ms, .mhz = check->alone_mhz };
}

/* Add a kernel of the checked call. */
static void store_launch(const struct examination *x, const struct msg_node *node)
{
	const struct bench *b = x->bench;
	bool base = x->side == &b->side[b->base];

	if (base || x->side == &b->side[b->target])
		launches_add(b->cell[node->cell].launches[base ? BENCH_BASE : BENCH_TARGET], node);
}

/* Store the work record for `compare` and `profile`, which print it on this machine. */
static void store_work(const struct examination *x, const struct msg_work *work)
{
	const struct bench *b = x->bench;
	bool base = x->side == &b->side[b->base];

	if (!base && x->side != &b->side[b->target])
		return;
	struct msg_work *mine = &b->cell[work->cell].work[base ? BENCH_BASE : BENCH_TARGET];

	b->cell[work->cell].launches[base ? BENCH_BASE : BENCH_TARGET][0] = '\0'; /* its kernels follow */
	*mine = *work;
	mine->tried = (struct tried){ 0 };
}

static int take_check(struct examination *x, const struct msg *m, struct fw_err *err)
{
	const struct msg_check *check = &m->u.check;
	struct bench *b = x->bench;
	char name[HASH_HEX];

	cache_record(x, check->cell, m);
	finish_cell(x, check->cell);
	if (!check->ok)
		bench_note(b, check->cell, x->side->role, check->failure, check->detail);
	else
		store_check_facts(x, check);
	if (!x->replay && b->cache && repeatable(check) && !x->entry[check->cell].failed) {
		entry_name(x, check->cell, name);
		/* on failure only the next job takes longer */
		(void)cache_put(b->cache->checks_fd, name, x->entry[check->cell].data, x->entry[check->cell].len, NULL);
	}
	return bench_send(b, m, err);
}

static int take_record(void *arg, struct msg *m, struct fw_err *err)
{
	struct examination *x = arg;
	int cell;

	switch (m->t) {
	case MSG_CHECK:
		return take_check(x, m, err);
	case MSG_WORK:
		cache_record(x, m->u.work.cell, m);
		store_work(x, &m->u.work);
		return bench_take_config(x->bench, (int)(x->side - x->bench->side), m->u.work.cell, m->u.work.config,
			       m->u.work.tunes, err) != 0
			       ? -1
			       : bench_send(x->bench, m, err);
	case MSG_NODE:
		if (!x->replay)
			bench_code(x->side, m->u.node.symbol_sha256, m->u.node.sm, m->u.node.code_sha256);
		store_launch(x, &m->u.node);
		m->u.node.symbol_sha256[0] = '\0';
		cache_record(x, m->u.node.cell, m);
		return bench_send(x->bench, m, err);
	case MSG_FAULT:
		cell = m->u.fault.cell;
		bench_note(x->bench, cell, m->u.fault.role, m->u.fault.failure, m->u.fault.detail);
		if (cell >= 0)
			finish_cell(x, cell);
		else
			x->all_failed = true;
		return bench_send(x->bench, m, err);
	case MSG_AT:
	case MSG_NOTE:
		return bench_send(x->bench, m, err);
	default:
		return err_set(err, ERR_PROTOCOL, "the runner sent timings during a check");
	}
}

/* Send the cached check of a cell. Returns false if none is usable. */
static bool replay(struct examination *x, int cell, struct fw_err *err)
{
	struct buf text;
	char name[HASH_HEX], *line, *next;
	struct msg m;
	bool good;

	if (!x->bench->cache)
		return false;
	entry_name(x, cell, name);
	buf_init(&text, ENTRY_MAX);
	good = cache_get(x->bench->cache->checks_fd, name, &text) && text.len > 0;
	x->replay = true;
	for (line = text.data; good && *line; line = next) {
		next = strchr(line, '\n');
		if (!next || protocol_parse(line, (size_t)(next - line), &m, NULL) != 0) {
			good = false;
			break;
		}
		next++;
		/* the entry was written for another job: set role and cell number of this job */
		if (m.t == MSG_CHECK) {
			m.u.check.cell = cell;
			m.u.check.role = x->side->role;
		} else if (m.t == MSG_WORK) {
			m.u.work.cell = cell;
			m.u.work.role = x->side->role;
		} else if (m.t == MSG_NODE) {
			m.u.node.cell = cell;
			m.u.node.role = x->side->role;
		} else {
			good = false;
		}
		good = good && take_record(x, &m, err) == 0;
		msg_fini(&m);
	}
	x->replay = false;
	buf_fini(&text);
	if (!good)
		cache_forget(x->bench->cache->checks_fd, name);
	return good && x->done[cell];
}

static int fail_cell(struct examination *x, int cell, const char *failure, const char *detail, struct fw_err *err)
{
	struct msg m = { .t = MSG_CHECK };

	m.u.check.cell = cell;
	m.u.check.error_ratio = -1;
	m.u.check.role = x->side->role;
	snprintf(m.u.check.failure, sizeof m.u.check.failure, "%s", failure);
	snprintf(m.u.check.detail, sizeof m.u.check.detail, "%s", detail);
	return take_check(x, &m, err);
}

/* List the cells without an outcome. Shape: list[n_cells]. */
static int remaining(const struct examination *x, int *list)
{
	int n = 0, i;

	for (i = 0; i < x->bench->n_cells; i++)
		if (!x->done[i])
			list[n++] = i;
	return n;
}

/* Handle a process that ended early. Sets the outcome of at least one cell, so that the caller's loop ends. */
static int blame_unfinished(struct examination *x, const struct runner_end *end, const int *list, int n, struct fw_err *err)
{
	int culprit = -1, i;
	char detail[300];

	for (i = 0; i < n; i++)
		if (!x->done[list[i]] && (culprit < 0 || list[i] == end->cell))
			culprit = list[i];
	if (culprit < 0 || x->all_failed)
		return 0;
	if (end->role != x->side->role) { /* the process died before branch code ran, or between cells */
		x->all_failed = true;
		return bench_fault(x->bench, -1, ROLE_DEVICE, "device", err, "%s",
			end->failure[0] ? end->detail : "the runner ended before it checked every cell");
	}
	if (end->failure[0] && end->cell < 0) { /* the module does not load */
		x->all_failed = true;
		return bench_fault(x->bench, -1, x->side->role, end->failure, err, "%s", end->detail);
	}
	if (!end->failure[0] && x->n_done > 0 && end->cell != culprit)
		return 0; /* the device failed in an earlier cell, which has its own record */
	if (fail_cell(x, culprit, end->failure[0] ? end->failure : "crash",
		    end->failure[0] ? end->detail
				    : "ended the process (exit 0) before its result (see doc/troubleshooting.md#early-exit)",
		    err) < 0)
		return -1;
	if (strcmp(end->failure, "timeout") != 0)
		return 0;
	snprintf(detail, sizeof detail, "not reached: %.200s took the time of all cells", x->bench->cells[culprit].key);
	for (i = 0; i < n; i++)
		if (!x->done[list[i]] && fail_cell(x, list[i], "timeout", detail, err) < 0)
			return -1;
	return 0;
}

static int examine(struct examination *x, int side, struct fw_err *err)
{
	struct bench *b = x->bench;
	double left_s = b->limits.check_s;
	int *list = mem_alloc((size_t)b->n_cells * sizeof *list), n, i, status = 0;

	for (i = 0; i < b->n_cells; i++) {
		struct fw_err e = { 0 };

		if (!replay(x, i, &e) && e.code) {
			status = err_set(err, e.code, "%s", e.text);
			break;
		}
	}
	while (status == 0 && !x->all_failed && (n = remaining(x, list)) > 0) {
		struct runner_task task = { .mode = TASK_CHECK,
			.seed = b->seed,
			.n_sides = 1,
			.side = { side },
			.n_cells = n,
			.cell = list,
			.deadline_s = left_s > 1 ? left_s : 1,
			.record = take_record,
			.arg = x };
		struct runner_end end;

		for (i = 0; i < n; i++)
			buf_clear(&x->entry[list[i]]);
		x->n_done = 0;
		status = runner_child_run(b, &task, &end, err);
		left_s -= end.wall_s;
		if (status == 0)
			status = health_check_after(b, &end, err);
		if (status == 0 && b->lost)
			break;
		if (status == 0)
			status = blame_unfinished(x, &end, list, n, err);
	}
	free(list);
	return status;
}

static int examine_side(struct bench *b, int side, struct fw_err *err)
{
	struct examination x = { .bench = b, .side = &b->side[side] };
	int status, i;

	x.entry = mem_alloc_zero((size_t)b->n_cells, sizeof *x.entry);
	x.done = mem_alloc_zero((size_t)b->n_cells, sizeof *x.done);
	for (i = 0; i < b->n_cells; i++)
		buf_init(&x.entry[i], ENTRY_MAX);
	status = examine(&x, side, err);
	for (i = 0; i < b->n_cells; i++)
		buf_fini(&x.entry[i]);
	free(x.entry);
	free(x.done);
	return status;
}

int acceptance_run(struct bench *b, struct fw_err *err)
{
	int i;

	for (i = 0; i < b->n_sides && !b->lost; i++)
		if (examine_side(b, i, err) < 0)
			return -1;
	return 0;
}

struct solo {
	bool seen, failed;
	char *failure, *detail;
};

static void solo_failed(struct solo *s, const char *failure, const char *detail)
{
	s->failed = true;
	snprintf(s->failure, 16, "%s", failure);
	snprintf(s->detail, 512, "%s", detail);
}

static int take_solo(void *arg, struct msg *m, struct fw_err *err)
{
	struct solo *s = arg;

	(void)err;
	if (m->t == MSG_CHECK) {
		s->seen = true;
		if (!m->u.check.ok)
			solo_failed(s, m->u.check.failure, m->u.check.detail);
	} else if (m->t == MSG_FAULT && m->u.fault.role != ROLE_DEVICE) {
		solo_failed(s, m->u.fault.failure, m->u.fault.detail);
	} else if (m->t == MSG_FAULT) {
		s->seen = true; /* a fault of the device is no side's outcome */
	}
	return 0;
}

int acceptance_solo(struct bench *b, int side, int cell, char failure[16], char detail[512], struct fw_err *err)
{
	struct solo s = { .failure = failure, .detail = detail };
	struct runner_task task = { .mode = TASK_CHECK,
		.seed = b->seed,
		.n_sides = 1,
		.side = { side },
		.n_cells = 1,
		.cell = &cell,
		.deadline_s = b->limits.check_s,
		.record = take_solo,
		.arg = &s };
	struct runner_end end;

	failure[0] = detail[0] = '\0';
	if (runner_child_run(b, &task, &end, err) != 0)
		return -1;
	if (!s.failed && (end.failure[0] || !s.seen) && end.role == b->side[side].role)
		solo_failed(&s, end.failure[0] ? end.failure : "crash",
			end.failure[0] ? end.detail
				       : "ended the process (exit 0) before its result (see doc/troubleshooting.md#early-exit)");
	return s.failed;
}
