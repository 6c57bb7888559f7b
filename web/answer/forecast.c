#include "web/answer/answer.h"

#include <math.h>

enum { USUAL_MAX = 64 };

struct position {
	char uuid[64], kind[8];
	double free_s; /* from now; NAN: unknown */
	bool is_late;  /* its job runs longer than its usual time */
	int64_t job;   /* that it runs; 0 none */
	enum jobkind job_kind;
	int n_queued; /* jobs that it takes next */
};

/* Cached usual duration: most jobs of a queue have the same suite. */
struct usual {
	char suite[64], device_kind[8];
	enum jobkind kind;
	double s;
};

struct start {
	int64_t job;
	double in_s; /* -1 unknown */
	int position;
	int n_before; /* queued jobs that its position takes before it */
};

struct forecast {
	struct unschedulable *unschedulable;
	int64_t now;
	bool is_worker_missing, is_waited_for; /* a worker is down or pending; jobs wait */
	struct position *position;
	struct start start[FORECAST_WAITING_MAX];
	int n, n_starts, n_usual;
	struct usual usual[USUAL_MAX];
};

static double request(struct forecast *f, const struct view_job *row)
{
	struct fw_err err = { 0 };
	double s = 0;
	if (view_usual_s(f->unschedulable->site->db, row->suite, row->kind, row->device_kind, &s, &err) == 0)
		return s;
	log_warning("forecast.usual", "suite=%s err=%s", log_quote(row->suite), log_quote(err.text));
	return 0;
}

double forecast_usual_s(struct forecast *f, const struct view_job *row)
{
	if (!*row->suite || row->quick || *row->cells_glob)
		return 0;
	for (int i = 0; i < f->n_usual; i++) {
		const struct usual *u = &f->usual[i];
		if (u->kind == row->kind && strcmp(u->suite, row->suite) == 0 && strcmp(u->device_kind, row->device_kind) == 0)
			return u->s;
	}
	double s = request(f, row);
	if (f->n_usual < USUAL_MAX && strlen(row->suite) < sizeof f->usual[0].suite) {
		struct usual *u = &f->usual[f->n_usual++];
		*u = (struct usual){ .kind = row->kind, .s = s };
		snprintf(u->suite, sizeof u->suite, "%s", row->suite);
		snprintf(u->device_kind, sizeof u->device_kind, "%s", row->device_kind);
	}
	return s;
}

static void take_worker(void *arg, const struct worker_status *w)
{
	struct forecast *f = arg;
	f->is_worker_missing |= strcmp(w->state, "down") == 0 || strcmp(w->state, "pending") == 0;
}

static void take_device(void *arg, const struct view_device *row)
{
	struct forecast *f = arg;
	if (row->state != DEVICESTATE_OK)
		return;
	f->position = mem_grow(f->position, (size_t)f->n + 1, sizeof *f->position);
	struct position *p = &f->position[f->n++];
	*p = (struct position){ .free_s = f->is_worker_missing ? NAN : 0 };
	snprintf(p->uuid, sizeof p->uuid, "%s", row->uuid);
	snprintf(p->kind, sizeof p->kind, "%s", row->kind);
}

static void take_running(void *arg, const struct view_job *row)
{
	struct forecast *f = arg;
	double usual = forecast_usual_s(f, row), elapsed_s = row->started_at ? (double)(f->now - row->started_at) / 1000 : 0;
	for (int i = 0; i < f->n; i++) {
		struct position *p = &f->position[i];
		if (strcmp(p->uuid, row->device) != 0)
			continue;
		p->job = row->id;
		p->job_kind = row->kind;
		p->is_late = usual > 0 && elapsed_s > usual;
		p->free_s = usual > 0 && !p->is_late ? usual - elapsed_s : NAN;
	}
}

/* The position that is free first; where that is known for none, the one that fewest jobs wait for, a late one first. */
static struct position *find_position(struct forecast *f, const struct view_job *row)
{
	struct position *first = NULL, *unknown = NULL;
	for (int i = 0; i < f->n; i++) {
		struct position *p = &f->position[i];
		if (*row->device_kind && strcmp(p->kind, row->device_kind) != 0)
			continue;
		if (!isnan(p->free_s) && (!first || p->free_s < first->free_s))
			first = p;
		if (isnan(p->free_s) && (!unknown || p->is_late > unknown->is_late ||
						(p->is_late == unknown->is_late && p->n_queued < unknown->n_queued)))
			unknown = p;
	}
	return first ? first : unknown;
}

static void take_waiting(void *arg, const struct view_job *row)
{
	struct forecast *f = arg;
	f->is_waited_for = true;
	if (f->n_starts == FORECAST_WAITING_MAX || *unschedulable_of(f->unschedulable, row->id))
		return;
	struct position *p = find_position(f, row);
	if (!p)
		return;
	double usual = forecast_usual_s(f, row);
	f->start[f->n_starts++] =
		(struct start){ row->id, isnan(p->free_s) ? -1 : p->free_s, (int)(p - f->position), p->n_queued++ };
	p->free_s = usual > 0 ? p->free_s + usual : NAN;
}

static int read_jobs(struct forecast *f, struct fw_err *err)
{
	const struct site *site = f->unschedulable->site;
	if (site->act->workers)
		site->act->workers(site->control, take_worker, f);
	if (view_devices(site->db, take_device, f, err) != 0 || view_running(site->db, VIEW_ROWS_MAX, take_running, f, err) != 0)
		return -1;
	return view_waiting(site->db, FORECAST_WAITING_MAX, take_waiting, f, err);
}

struct forecast *forecast_new(struct unschedulable *unschedulable, int64_t now_ms, struct fw_err *err)
{
	struct forecast *f = mem_alloc_zero(1, sizeof *f);
	f->unschedulable = unschedulable;
	f->now = now_ms;
	if (read_jobs(f, err) == 0)
		return f;
	forecast_free(f);
	return NULL;
}

void forecast_free(struct forecast *f)
{
	if (!f)
		return;
	free(f->position);
	free(f);
}

static const struct start *find_start(const struct forecast *f, int64_t job)
{
	for (int i = 0; i < f->n_starts; i++)
		if (f->start[i].job == job)
			return &f->start[i];
	return NULL;
}

double forecast_start_s(const struct forecast *f, int64_t job, const char **device)
{
	const struct start *s = find_start(f, job);
	bool is_known = s && s->in_s >= 0;
	*device = is_known ? f->position[s->position].uuid : NULL;
	return is_known ? s->in_s : -1;
}

bool forecast_is_late(const struct forecast *f, int64_t job)
{
	const struct start *s = find_start(f, job);
	return s && s->in_s < 0 && f->position[s->position].is_late;
}

bool forecast_behind(const struct forecast *f, int64_t job, struct forecast_behind *out)
{
	const struct start *s = find_start(f, job);
	if (!s)
		return false;
	const struct position *p = &f->position[s->position];
	*out = (struct forecast_behind){ p->job, p->job_kind, s->n_before };
	return true;
}

int64_t forecast_next(const struct forecast *f, const char *uuid)
{
	for (int i = 0; i < f->n_starts; i++)
		if (f->start[i].n_before == 0 && strcmp(f->position[f->start[i].position].uuid, uuid) == 0)
			return f->start[i].job;
	return 0;
}

bool forecast_is_idle(const struct forecast *f)
{
	bool has_free = false;
	for (int i = 0; i < f->n; i++)
		has_free = has_free || f->position[i].free_s == 0;
	return has_free && !f->is_waited_for;
}
