#include "web/answer/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "db/view/cell.h"

enum { USUAL_MAX = 64 };

struct place {
	char uuid[64], kind[8];
	double free_s; /* from now; NAN nobody knows */
};

/* What was asked for once: a queue of a hundred jobs mostly is of one suite. */
struct usual {
	char suite[64], device_kind[8];
	enum jobkind kind;
	double s;
};

struct forecast {
	struct db *db;
	int64_t now;
	struct place *place;
	int n, n_usual;
	bool idle_waits, has_no_memory;
	struct usual usual[USUAL_MAX];
};

static void take_device(void *arg, const struct view_device *row)
{
	struct forecast *f = arg;
	if (row->state != DEVICESTATE_OK)
		return;
	struct place *more = realloc(f->place, (size_t)(f->n + 1) * sizeof *more);
	if (!more) {
		f->has_no_memory = true;
		return;
	}
	f->place = more;
	struct place *p = &f->place[f->n++];
	p->free_s = f->idle_waits ? 0 : NAN;
	snprintf(p->uuid, sizeof p->uuid, "%s", row->uuid);
	snprintf(p->kind, sizeof p->kind, "%s", row->kind);
}

struct forecast *forecast_new(struct db *db, int64_t now_ms, bool idle_waits, struct fw_err *err)
{
	struct forecast *f = calloc(1, sizeof *f);
	if (!f) {
		err_set(err, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	f->db = db;
	f->now = now_ms;
	f->idle_waits = idle_waits;
	int result = view_devices(db, take_device, f, err);
	if (result == 0 && f->has_no_memory)
		result = err_set(err, ERR_INTERNAL, "out of memory");
	if (result != 0) {
		forecast_free(f);
		return NULL;
	}
	return f;
}

void forecast_free(struct forecast *f)
{
	if (!f)
		return;
	free(f->place);
	free(f);
}

static double ask(struct forecast *f, const struct view_job *row)
{
	struct fw_err err = { 0 };
	double s = 0;
	if (view_usual_s(f->db, row->suite, row->kind, row->device_kind, &s, &err) == 0)
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
	double s = ask(f, row);
	if (f->n_usual < USUAL_MAX && strlen(row->suite) < sizeof f->usual[0].suite) {
		struct usual *u = &f->usual[f->n_usual++];
		*u = (struct usual){ .kind = row->kind, .s = s };
		snprintf(u->suite, sizeof u->suite, "%s", row->suite);
		snprintf(u->device_kind, sizeof u->device_kind, "%s", row->device_kind);
	}
	return s;
}

void forecast_running(struct forecast *f, const struct view_job *row)
{
	double usual = forecast_usual_s(f, row), elapsed_s = row->started_at ? (double)(f->now - row->started_at) / 1000 : 0;
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->place[i].uuid, row->device) == 0)
			f->place[i].free_s = usual > 0 ? fmax(0, usual - elapsed_s) : NAN;
}

double forecast_waiting(struct forecast *f, const struct view_job *row, const char **device)
{
	struct place *first = NULL;
	*device = NULL;
	for (int i = 0; i < f->n; i++) {
		struct place *p = &f->place[i];
		bool fits = !*row->device_kind || strcmp(p->kind, row->device_kind) == 0;
		if (fits && !isnan(p->free_s) && (!first || p->free_s < first->free_s))
			first = p;
	}
	if (!first)
		return -1;
	double usual = forecast_usual_s(f, row), in_s = first->free_s;
	first->free_s = usual > 0 ? in_s + usual : NAN;
	*device = first->uuid;
	return in_s;
}
