/* progress.c - the log lines of a job, and its progress object for pages and CLI. */
#include "flopwatchd/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLUSH_MS = 500, LINES_MAX = 256 << 10, LINE_MAX_BYTES = 900 };

void progress_init(struct progress *c, struct loop *l, struct txn *txn)
{
	memset(c, 0, sizeof *c);
	c->loop = l;
	c->txn = txn;
	buf_init(&c->lines, LINES_MAX);
}

static void on_timer(void *arg)
{
	struct progress *c = arg;
	c->timer = NULL;
	progress_flush(c);
}

static void mark_dirty(struct progress *c)
{
	c->is_dirty = true;
	if (!c->timer)
		loop_after(c->loop, FLUSH_MS, on_timer, c, &c->timer);
}

static void add_line(struct progress *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_line(struct progress *c, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	for (char *p = line; *p; p++)
		if (*p == '\n')
			*p = ' ';
	buf_printf(&c->lines, "%s\n", line);
	mark_dirty(c);
}

static const char *cell_key(const struct progress *c, int cell)
{
	return cell >= 0 && cell < c->n_cells ? c->key[cell] : "";
}

void progress_for(struct progress *c, const struct store_job *job)
{
	progress_end(c);
	c->job = *job;
	c->n_checked = c->run = c->set = c->n_open = 0;
	c->budget_s = 0;
	c->cell = -1;
	c->role = ROLE_NONE;
	c->step[0] = c->note[0] = 0;
	buf_clear(&c->lines);
	c->is_dirty = false;
}

void progress_begin(struct progress *c, const struct msg_job *request)
{
	free(c->key);
	c->key = mem_alloc_zero((size_t)request->n_cells, sizeof *c->key);
	c->n_cells = request->n_cells;
	c->n_checked = 0;
	c->n_sides = request->n_sides;
	c->budget_s = request->limits.budget_s;
	for (int i = 0; i < c->n_cells; i++)
		snprintf(c->key[i], sizeof c->key[i], "%s", request->cell[i].key);
}

void progress_end(struct progress *c)
{
	if (c->job.id)
		progress_flush(c);
	loop_remove(c->loop, c->timer);
	c->timer = NULL;
	buf_fini(&c->lines);
	buf_init(&c->lines, LINES_MAX);
	free(c->key);
	c->key = NULL;
	c->n_cells = 0;
	c->job.id = 0;
	c->is_dirty = false;
}

static void on_build(struct progress *c, const struct msg_build *b)
{
	c->role = b->role;
	snprintf(c->step, sizeof c->step, "build");
	if (!strcmp(b->state, "start"))
		add_line(c, "build of %s begins", role_name(b->role));
	else if (!strcmp(b->state, "failed"))
		add_line(c, "build of %s failed after %.1f s: %s", role_name(b->role), (double)b->duration_ms / 1e3, b->detail);
	else
		add_line(c, "build of %s %s: module %.12s", role_name(b->role),
			!strcmp(b->state, "cached") ? "was cached" : "done", b->module_sha256);
}

/* The rows of a benchmark are its cells from now on. */
static void on_found(struct progress *c, const struct msg_found *m)
{
	free(c->key);
	c->key = mem_alloc_zero((size_t)m->n + 1, sizeof *c->key);
	c->n_cells = m->n;
	for (int i = 0; i < c->n_cells; i++)
		snprintf(c->key[i], sizeof c->key[i], "%s", m->cell[i].key);
	add_line(c, "the benchmark writes %d rows", m->n);
}

static void on_check(struct progress *c, const struct msg_check *m)
{
	c->role = m->role;
	snprintf(c->step, sizeof c->step, "check");
	c->cell = m->cell;
	c->n_checked++;
	if (m->ok)
		mark_dirty(c);
	else
		add_line(c, "check of %s: %s is %s: %s", role_name(m->role), cell_key(c, m->cell), m->failure, m->detail);
}

static void on_run(struct progress *c, const struct msg_run *m)
{
	c->run = m->run;
	c->set = m->set;
	c->n_open = m->n_cells;
	c->cell = -1;
	c->role = ROLE_NONE;
	snprintf(c->step, sizeof c->step, "run");
	add_line(c, "run %d, set %d: %d cells", m->run, m->set, m->n_cells);
}

/* Waiting for the device can take minutes without any other message. */
static void on_note(struct progress *c, const struct msg_note *m)
{
	bool of_device = m->role == ROLE_DEVICE && m->cell < 0;
	if (of_device)
		snprintf(c->note, sizeof c->note, "%s", m->text);
	add_line(c, "%s%s%s%s%s", role_name(m->role), m->role != ROLE_NONE ? ": " : "", m->text, m->cell >= 0 ? ", in " : "",
		m->cell >= 0 ? cell_key(c, m->cell) : "");
}

static void on_done(struct progress *c, const struct msg_done *m)
{
	char steps[400];

	device_step_summary(m->step_s, steps, sizeof steps);
	add_line(c, "measured: device held %.1f s, %.1f s in all%s%s", m->gpu_s, m->wall_s, *steps ? "; of the held time: " : "",
		steps);
}

void progress_receive(struct progress *c, const struct msg *m)
{
	if (!c->job.id)
		return;
	if (m->t != MSG_NOTE)
		c->note[0] = 0;
	switch (m->t) {
	case MSG_BUILD:
		on_build(c, &m->u.build);
		break;
	case MSG_CHECK:
		on_check(c, &m->u.check);
		break;
	case MSG_FOUND:
		on_found(c, m->u.found);
		break;
	case MSG_RUN:
		on_run(c, m->u.run);
		break;
	case MSG_AT:
		c->cell = m->u.at.cell;
		c->role = m->u.at.role;
		snprintf(c->step, sizeof c->step, "%s", m->u.at.step);
		mark_dirty(c);
		break;
	case MSG_NOTE:
		on_note(c, &m->u.note);
		break;
	case MSG_SAME:
		add_line(c, "identical: %s", m->u.same.why);
		break;
	case MSG_KERNEL:
		c->cell = m->u.kernel.cell;
		c->role = m->u.kernel.role;
		snprintf(c->step, sizeof c->step, "profile");
		mark_dirty(c);
		break;
	case MSG_PROFILE:
		add_line(c, "profile of %s by %s%s%s", cell_key(c, m->u.profile.cell), evidence_path_names[m->u.profile.path],
			m->u.profile.why[0] ? ": " : "", m->u.profile.why);
		break;
	case MSG_FAULT:
		add_line(c, "fault of %s%s%s: %s: %s", role_name(m->u.fault.role), m->u.fault.cell >= 0 ? " in " : "",
			cell_key(c, m->u.fault.cell), m->u.fault.failure, m->u.fault.detail);
		break;
	case MSG_DONE:
		on_done(c, &m->u.done);
		break;
	default:
		break;
	}
}

static void write_progress(const struct progress *c, struct jsonw *j)
{
	jsonw_format(j, "{ run=%d set=%d cell=%s role=%s step?=%s checked=%d checks=%ld cells=%d open=%d budget_s=%g note?=%s }",
		c->run, c->set, c->cell >= 0 ? cell_key(c, c->cell) : NULL, c->role != ROLE_NONE ? role_name(c->role) : NULL,
		c->step, c->n_checked, (int64_t)c->n_cells * c->n_sides, c->n_cells, c->n_open,
		c->budget_s > 0 ? c->budget_s : NAN, c->note);
}

static int send_progress(const struct progress *c, const struct buf *progress, int64_t now, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "job.progress");
	jsonw_kv_int(j, "job", c->job.id);
	jsonw_key(j, "progress");
	jsonw_raw(j, progress->data, progress->len);
	return store_event_end(&event, c->txn->db, now, err);
}

static int write_all(struct progress *c, int64_t now, struct fw_err *err)
{
	struct buf progress;
	struct jsonw j;
	char *rest = c->lines.data, *line;
	while ((line = strsep(&rest, "\n")))
		if (*line && store_job_log(c->txn->db, c->job.id, now, line, err) != 0)
			return -1;
	buf_init(&progress, 4096);
	jsonw_init(&j, &progress);
	write_progress(c, &j);
	int result = 0;
	if (!progress.failed)
		result = store_job_progress(c->txn->db, c->job.id, progress.data, err) || send_progress(c, &progress, now, err)
				 ? -1
				 : 0;
	buf_fini(&progress);
	return result;
}

void progress_flush(struct progress *c)
{
	struct fw_err err = { 0 };
	loop_remove(c->loop, c->timer);
	c->timer = NULL;
	if (!c->job.id || !c->is_dirty)
		return;
	c->is_dirty = false;
	if (txn_begin(c->txn, &err) == 0)
		(void)txn_end(c->txn, write_all(c, clock_utc_ms(), &err), &err); /* a failed write is dropped */
	buf_clear(&c->lines);
}
