#include "db/db.h"

#include <stdio.h>

/* Memory in whole GiB: the size that the driver reserves differs by some pages between equal devices. */
static void name_model(const struct msg_device *d, char model[STORE_MODEL_SIZE])
{
	snprintf(model, STORE_MODEL_SIZE, "%s, %d %s, %lld GiB", d->name, d->cores, d->kind == DEVICE_CPU ? "threads" : "SMs",
		(long long)((d->memory_bytes + (INT64_C(1) << 29)) >> 30));
}

static void class_hash(const struct msg_device *d, const char *model, char hex[HASH_HEX])
{
	struct buf text; /* one field per line; no field contains a line end */
	buf_init(&text, 1 << 16);
	buf_printf(&text, "%s\n%s\n%.17g\n%s\n%s\n", device_kind_name(d->kind), model, d->power_limit_w, d->driver, d->toolkit);
	hash_hex(text.data, text.len, hex);
	buf_fini(&text);
}

int store_class_put(struct db *db, const struct msg_device *d, int64_t *id, struct fw_err *err)
{
	char model[STORE_MODEL_SIZE], hash[HASH_HEX];
	name_model(d, model);
	class_hash(d, model, hash);
	int found = db_first_int(db, id, err, "SELECT id FROM device_class WHERE hash = :hash", "hash=%s", hash);
	if (found)
		return found < 0 ? -1 : 0;
	return db_insert(db, id, err,
		"INSERT INTO device_class (hash, kind, model, power_limit_w, driver, toolkit) VALUES (:hash, :kind, :model, "
		":power, :driver, :toolkit)",
		"hash=%s kind=%s model=%s power=%f driver=%s toolkit=%s", hash, device_kind_name(d->kind), model,
		d->power_limit_w, d->driver, d->toolkit);
}

int store_class_of_environment(struct db *db, int64_t environment, int64_t *id, struct fw_err *err)
{
	*id = 0;
	return stmt_optional(db_first_int(
		db, id, err, "SELECT class FROM environment WHERE id = :environment", "environment=%ld", environment));
}

int store_class_model(struct db *db, int64_t id, char *model, struct fw_err *err)
{
	model[0] = 0;
	return stmt_optional(
		db_first_text(db, model, STORE_MODEL_SIZE, err, "SELECT model FROM device_class WHERE id = :id", "id=%ld", id));
}

int store_class_has_other(struct db *db, int64_t device, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM device d JOIN device o ON o.class = d.class AND o.cudnn = d.cudnn AND o.id <> d.id WHERE d.id = "
		":device AND o.state = 'ok' AND o.outlier = '' LIMIT 1",
		"device=%ld", device);
}

int store_class_same(struct db *db, int64_t device, int64_t other, struct fw_err *err)
{
	return db_any(db, err,
		"SELECT 1 FROM device d JOIN device o ON o.class = d.class AND o.cudnn = d.cudnn WHERE d.id = :device AND o.id = "
		":other AND o.outlier = ''",
		"device=%ld other=%ld", device, other);
}

/* ---- devices of a class ---------------------------------------------------------------------------------------------------- */

int store_reference_time_put(struct db *db, const struct store_reference_time *t, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT OR REPLACE INTO reference_time (device, baseline_period, key, ln_ms, comparison) VALUES (:device, "
		":baseline_period, :key, :ln_ms, :comparison)",
		"device=%ld baseline_period=%ld key=%s ln_ms=%f comparison=%ld", t->device, t->baseline_period, t->key, t->ln_ms,
		t->comparison);
}

int store_reference_times(struct db *db, int64_t class, store_reference_time_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT a.device, a.baseline_period, a.comparison, a.key, a.ln_ms FROM environment v JOIN baseline_period e ON "
		"e.environment = v.id JOIN reference_time a ON a.baseline_period = e.id JOIN device d ON d.id = a.device AND "
		"d.class = v.class WHERE v.class = :class ORDER BY a.baseline_period, a.key",
		"class=%ld", class);
	struct store_reference_time t;
	return stmt_each(s, err, each(arg, &t), t.device, t.baseline_period, t.comparison, t.key, t.ln_ms);
}

int store_class_devices(struct db *db, int64_t class, struct store_class_device **out, struct fw_err *err)
{
	int n = 0, result;
	*out = mem_alloc_zero(STORE_CLASS_DEVICES_MAX, sizeof **out);
	struct stmt *s = db_query(db, err,
		"SELECT d.id, d.uuid, d.outlier, d.state, coalesce((SELECT sum(n_regressions > 0) FROM (SELECT n_regressions "
		"FROM comparison c WHERE c.device = d.id AND c.kind IN ('selfcheck', 'calibrate') ORDER BY c.id DESC LIMIT "
		":limit)), 0), (SELECT count(*) FROM (SELECT 1 FROM comparison c WHERE c.device = d.id AND c.kind IN "
		"('selfcheck', 'calibrate') LIMIT :limit)) FROM device d WHERE d.class = :class AND d.state <> 'absent' ORDER BY "
		"d.id LIMIT :most",
		"class=%ld limit=%d most=%d", class, STORE_CLASS_COMPARISONS_MAX, STORE_CLASS_DEVICES_MAX);
	struct store_class_device d;
	while ((result = stmt_next(s, err, d.id, d.uuid, d.outlier, COLUMN_NAMED(d.state, devicestate_from_name), d.alarms,
			d.of_itself)) == 1)
		(*out)[n++] = d;
	return result < 0 ? -1 : n;
}

int store_class_set_deviation(struct db *db, int64_t device, const char *why, struct fw_err *err)
{
	return db_exec(db, err, "UPDATE device SET outlier = :why WHERE id = :device", "device=%ld why=%s", device, why);
}

/* ---- steps ----------------------------------------------------------------------------------------------------------------- */

int store_device_step_add(struct db *db, int64_t device, enum device_step step, double seconds, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO device_step (device, step, seconds) VALUES (:device, :step, :seconds) ON CONFLICT (device, step) DO "
		"UPDATE SET seconds = seconds + excluded.seconds",
		"step=%s seconds=%f device=%ld", device_step_names[step], seconds, device);
}

int store_device_step_each(struct db *db, store_device_step_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_stmt(db,
		"SELECT d.uuid, t.step, t.seconds FROM device d JOIN device_step t ON t.device = d.id ORDER BY d.uuid, t.step",
		err);
	const char *device_uuid, *step;
	double seconds;
	return stmt_each(s, err, each(arg, device_uuid, step, seconds), device_uuid, step, seconds);
}

/* ---- throttling ------------------------------------------------------------------------------------------------------------ */

int store_throttle_add(struct db *db, int64_t device, const char *reason, double seconds, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO device_throttle (device, reason, seconds) VALUES (:device, :reason, :seconds) ON CONFLICT (device, "
		"reason) DO UPDATE SET seconds = seconds + excluded.seconds",
		"reason=%s seconds=%f device=%ld", reason, seconds, device);
}

static int each_of(struct db *db, const char *reason, store_throttle_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT d.uuid, coalesce(t.seconds, 0) FROM device d LEFT JOIN device_throttle t ON t.device = d.id AND t.reason "
		"= :reason WHERE d.kind <> 'cpu' ORDER BY d.uuid",
		"reason=%s", reason);
	const char *device_uuid;
	double seconds;
	return stmt_each(s, err, each(arg, device_uuid, reason, seconds), device_uuid, seconds);
}

int store_throttle_each(struct db *db, store_throttle_fn *each, void *arg, struct fw_err *err)
{
	for (int i = 0; i < DEVICE_CHECK_REASONS; i++)
		if (device_check_reason[i].limits && each_of(db, device_check_reason[i].name, each, arg, err) != 0)
			return -1;
	return 0;
}
