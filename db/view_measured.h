/** view_measured.h - cells of a profile with their properties in the explained comparison, and the times of both sides. */
#ifndef DB_VIEW_MEASURED_H
#define DB_VIEW_MEASURED_H

#include "db/db.h"

struct view_measured {
	int64_t cell; /* a view_profile_cell's id */
	const char *key, *state, *path, *base_config, *target_config;
	const char *group, *title, *direction; /* "" where the profile explains no comparison */
	int size;                              /* 0 in that case */
	double flops, base_ms, target_ms;      /* NAN unknown */
};
typedef void view_measured_fn(void *arg, const struct view_measured *row);
/** In the order of the job. */
int view_measured(struct db *db, int64_t profile, view_measured_fn *each, void *arg, struct fw_err *err);

#endif
