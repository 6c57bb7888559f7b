/**
 * forecast.h - when what waits is expected to begin: each job takes the device of its kind that is free first, for as long as such jobs
 * take. The order of the queue is about the one that the daemon follows, so this is an estimate.
 */
#ifndef WEB_ANSWER_FORECAST_H
#define WEB_ANSWER_FORECAST_H

#include "db/live.h"
#include "web/answer/unschedulable.h"

enum { FORECAST_WAITING_MAX = 100 /* jobs of the queue that are looked at */ };

struct forecast;

/**
 * Of all that runs and waits now, on the devices that are in order. One whose job has no usual time is free nobody knows when, and so is an
 * idle one while a worker is down or waits for an allocation; what lacks a device takes none. Own: forecast_free. NULL: the database, or no
 * memory.
 */
struct forecast *forecast_new(struct unschedulable *unschedulable, int64_t now_ms, struct fw_err *err);
/** Accepts NULL. */
void forecast_free(struct forecast *f);

/** How long jobs like this one take. Units: s; 0 unknown. */
double forecast_usual_s(struct forecast *f, const struct view_job *row);
/** Until a job of the queue begins. Units: s; -1 nobody knows. *device: the uuid of whose turn that is, as long as `f` lives; NULL with -1. */
double forecast_start_s(const struct forecast *f, int64_t job, const char **device);
/** Whether a job that comes now would begin at once: a device has nothing to do, and nothing waits for one. */
bool forecast_is_idle(const struct forecast *f);
/** Whether that job waits, alone or behind others, for one that runs longer than such jobs take, so that nobody knows when it begins. */
bool forecast_is_late(const struct forecast *f, int64_t job);

#endif
