#include "flopwatchd/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALARMS_MOST = 1 /* of the newest STORE_CLASS_COMPARISONS_MAX A/A comparisons */ };
/* minimum difference between two environments at held clock that is reported */
#define SEPARATE_PCT 3.0

/* Times of a class: one row per cell, one column per device. */
struct table {
	int n_devices, n_cells, capacity;
	const struct store_class_device *device;
	double *ln_ms;
	int64_t baseline_period; /* of the last row */
	char key[CASE_KEY_SIZE];
};

static int find_column(const struct table *t, int64_t device)
{
	for (int i = 0; i < t->n_devices; i++)
		if (t->device[i].id == device)
			return i;
	return -1;
}

static void add_row(struct table *t)
{
	if (t->n_cells == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->ln_ms = mem_grow(t->ln_ms, (size_t)t->capacity * (size_t)t->n_devices, sizeof *t->ln_ms);
	}
	for (int i = 0; i < t->n_devices; i++)
		t->ln_ms[(size_t)t->n_cells * (size_t)t->n_devices + (size_t)i] = NAN;
	t->n_cells++;
}

static void add_time(void *arg, const struct store_reference_time *a)
{
	struct table *t = arg;
	int column = find_column(t, a->device);
	if (column < 0)
		return;
	if (t->n_cells == 0 || t->baseline_period != a->baseline_period || strcmp(t->key, a->key) != 0) {
		add_row(t);
		t->baseline_period = a->baseline_period;
		snprintf(t->key, sizeof t->key, "%s", a->key);
	}
	t->ln_ms[(size_t)(t->n_cells - 1) * (size_t)t->n_devices + (size_t)column] = a->ln_ms;
}

/* Describe the deviation; "": none. Shape: why[size]. */
static void describe_device(const struct store_class_device *d, double off, char *why, size_t size)
{
	double pct = 100 * expm1(off);
	why[0] = 0;
	if (d->alarms > ALARMS_MOST)
		snprintf(why, size, "%d of its last %d comparisons of equal builds called a slowdown", d->alarms, d->of_itself);
	else if (isfinite(pct) && fabs(pct) > SEPARATE_PCT)
		snprintf(why, size, "at held clock its reference commit takes %.1f %% %s than on the other devices of its class",
			fabs(pct), pct > 0 ? "longer" : "less");
}

static int send_event(struct db *db, const struct store_class_device *d, const char *why, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = store_event_begin(&event, "device.state");
	jsonw_format(j, "device=%s state=%s outlier=%s who=%s", d->uuid, devicestate_name(d->state), why, "flopwatchd");
	return store_event_end(&event, db, now_ms, err);
}

static int write_device(struct db *db, const struct store_class_device *d, const char *why, int64_t now_ms, struct fw_err *err)
{
	if (strcmp(why, d->outlier) == 0)
		return 0;
	log_info("device.class", "device=%s outlier=%s", log_quote(d->uuid), log_quote(why));
	return store_class_set_deviation(db, d->id, why, err) || send_event(db, d, why, now_ms, err) ? -1 : 0;
}

static int check_class(struct db *db, int64_t class, struct table *t, int64_t now_ms, struct fw_err *err)
{
	char why[sizeof t->device->outlier];
	double off[STORE_CLASS_DEVICES_MAX];
	if (store_reference_times(db, class, add_time, t, err) != 0)
		return -1;
	device_offset_find(t->ln_ms, t->n_cells, t->n_devices, off);
	for (int i = 0; i < t->n_devices; i++) {
		describe_device(&t->device[i], off[i], why, sizeof why);
		if (write_device(db, &t->device[i], t->n_devices > 1 ? why : "", now_ms, err) != 0)
			return -1;
	}
	return 0;
}

int device_offset_check(struct db *db, int64_t class, int64_t now_ms, struct fw_err *err)
{
	struct store_class_device *device = NULL;
	int n = store_class_devices(db, class, &device, err);
	struct table t = { .n_devices = n, .device = device };
	int result = n < 0 ? -1 : n == 0 ? 0 : check_class(db, class, &t, now_ms, err);
	free(t.ln_ms);
	free(device);
	return result;
}
