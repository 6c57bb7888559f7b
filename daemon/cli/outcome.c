/* outcome.c - documented in internal.h. Both sides are the same files, so a message about either side applies to both. */
#include "cli/internal.h"

#include <math.h>

void outcome_init(struct outcome *o)
{
	memset(o, 0, sizeof *o);
	buf_init(&o->log, PROTOCOL_LOG_MAX);
}

void outcome_fini(struct outcome *o)
{
	buf_fini(&o->log);
	free(o->cell);
	o->cell = NULL;
}

static void make_cells(struct outcome *o, int n)
{
	free(o->cell);
	o->cell = mem_alloc_zero((size_t)n + 1, sizeof *o->cell);
	o->n_cells = n;
	for (int i = 0; i < n; i++)
		o->cell[i].ms = o->cell[i].flops = o->cell[i].bytes = NAN;
}

void outcome_cells(struct outcome *o, const struct cell *cell, int n)
{
	make_cells(o, n);
	for (int i = 0; i < n; i++) {
		snprintf(o->cell[i].key, sizeof o->cell[i].key, "%s", cell[i].key);
		o->cell[i].flops = case_flops(&cell[i]);
		if (case_metric(&cell[i]) == METRIC_GBPS)
			o->cell[i].bytes = case_bytes(&cell[i]);
	}
}

static void take_found(struct outcome *o, const struct msg_found *f)
{
	make_cells(o, f->n);
	for (int i = 0; i < f->n; i++) {
		snprintf(o->cell[i].key, sizeof o->cell[i].key, "%s", f->cell[i].key);
		o->cell[i].flops = f->cell[i].flops > 0 ? f->cell[i].flops : NAN;
	}
}

static struct outcome_cell *cell_of(struct outcome *o, int i)
{
	return i >= 0 && i < o->n_cells ? &o->cell[i] : NULL;
}

/* Keep the first reason: later failures are consequences. */
static void take_failure(struct outcome_cell *c, const char *failure, const char *detail)
{
	if (c->failure[0])
		return;
	snprintf(c->failure, sizeof c->failure, "%s", failure);
	snprintf(c->detail, sizeof c->detail, "%s", detail);
}

static int ascending(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

static void take_times(struct outcome *o, const struct msg_cell *m)
{
	struct outcome_cell *c = cell_of(o, m->cell);
	float sorted[PROTOCOL_SAMPLES_MAX];
	bool decides = m->series == SERIES_DEVICE || m->series == SERIES_PROCESS;

	if (!c || m->n < 1 || m->n > PROTOCOL_SAMPLES_MAX || m->n_sides < 1 ||
		(!decides && !(m->series == SERIES_CALL && isnan(c->ms))))
		return;
	memcpy(sorted, m->ms[0], (size_t)m->n * sizeof sorted[0]);
	qsort(sorted, (size_t)m->n, sizeof sorted[0], ascending);
	c->ms = (double)sorted[m->n / 2];
}

static void take_fault(struct outcome *o, const struct msg_fault *f)
{
	struct outcome_cell *c = cell_of(o, f->cell);

	if (c) {
		take_failure(c, f->failure, f->detail);
		return;
	}
	for (int i = 0; i < o->n_faults; i++)
		if (strcmp(o->fault[i].detail, f->detail) == 0)
			return;
	if (o->n_faults == OUTCOME_FAULTS_MAX) {
		o->n_left++;
		return;
	}
	snprintf(o->fault[o->n_faults].failure, sizeof o->fault[0].failure, "%s", f->failure);
	snprintf(o->fault[o->n_faults++].detail, sizeof o->fault[0].detail, "%s", f->detail);
}

static void take_note(struct outcome *o, const struct msg_note *n)
{
	for (int i = 0; i < o->n_notes; i++)
		if (strcmp(o->note[i], n->text) == 0)
			return;
	if (o->n_notes < OUTCOME_NOTES_MAX)
		snprintf(o->note[o->n_notes++], sizeof o->note[0], "%s", n->text);
	else
		o->n_left++;
}

static void take_build(struct outcome *o, const struct msg_build *b)
{
	o->built_ns = clock_mono_ns();
	if (b->role == ROLE_BASE || b->role == ROLE_TARGET)
		snprintf(o->module_sha256[b->role == ROLE_TARGET], sizeof o->module_sha256[0], "%s", b->module_sha256);
	if (strcmp(b->state, "start") == 0 || strcmp(o->build_state, "failed") == 0)
		return;
	/* the second of two equal builds comes from the cache: the first has more details */
	if (!o->build_state[0] || strcmp(b->state, "failed") == 0) {
		snprintf(o->build_state, sizeof o->build_state, "%s", b->state);
		snprintf(o->build_detail, sizeof o->build_detail, "%s", b->detail);
		o->build_s = (double)b->duration_ms / 1e3;
		buf_clear(&o->log);
		buf_append(&o->log, b->log.data ? b->log.data : "", b->log.len);
	}
}

void outcome_receive(struct outcome *o, const struct msg *m)
{
	struct outcome_cell *c;

	switch (m->t) {
	case MSG_BUILD:
		take_build(o, &m->u.build);
		break;
	case MSG_FOUND:
		take_found(o, m->u.found);
		break;
	case MSG_CHECK:
		if ((c = cell_of(o, m->u.check.cell)) && !m->u.check.ok)
			take_failure(c, m->u.check.failure, m->u.check.detail);
		break;
	case MSG_RUN:
		if (o->runs++ == 0)
			o->launched_ns = clock_mono_ns();
		break;
	case MSG_CELL:
		take_times(o, m->u.cell);
		break;
	case MSG_FAULT:
		take_fault(o, &m->u.fault);
		break;
	case MSG_NOTE:
		take_note(o, &m->u.note);
		break;
	case MSG_DONE:
		o->is_done = true;
		if (o->runs) {
			o->check_s = (double)(o->launched_ns - o->built_ns) * 1e-9;
			o->run_s = (double)(clock_mono_ns() - o->launched_ns) * 1e-9 / o->runs;
		}
		break;
	default:
		break;
	}
}

void outcome_count(const struct outcome *o, int *timed, int *unsupported, int *failed)
{
	*timed = *unsupported = *failed = 0;
	for (int i = 0; i < o->n_cells; i++) {
		bool is_unsupported = strcmp(o->cell[i].failure, "unsupported") == 0;

		*unsupported += is_unsupported;
		*failed += o->cell[i].failure[0] && !is_unsupported;
		*timed += !o->cell[i].failure[0] && isfinite(o->cell[i].ms);
	}
}
