/**
 * forecast.h - when what waits is expected to begin: each job takes the device of its kind that is free first, for as long as such jobs take. The
 * order of the queue is about the one that the daemon follows, so this is an estimate.
 */
#ifndef WEB_ANSWER_FORECAST_H
#define WEB_ANSWER_FORECAST_H

#include "db/view/live.h"

struct forecast;

/**
 * Of the devices that are in order. `idle_waits`: those without a job would take one at once; false where a worker is down or waits for an
 * allocation, so that nobody knows. Own: forecast_free. NULL: the database, or no memory.
 */
struct forecast *forecast_new(struct db *db, int64_t now_ms, bool idle_waits, struct fw_err *err);
/** Accepts NULL. */
void forecast_free(struct forecast *f);

/** How long jobs like this one take. Units: s; 0 unknown. */
double forecast_usual_s(struct forecast *f, const struct view_job *row);
/** A job that has a device keeps it for the rest of its usual time; one of no such time, until nobody knows when. */
void forecast_running(struct forecast *f, const struct view_job *row);
/**
 * The next job of the queue takes a device. Returns the seconds until then, -1 nobody knows; *device is its uuid, which lives as long as `f`, NULL
 * with -1.
 */
double forecast_waiting(struct forecast *f, const struct view_job *row, const char **device);

#endif
