/*
 * record.c - parser of reports of workers and runners.
 *
 * A runner shares its process with branch code, so every report is validated: arrays equally long, times finite and above zero,
 * cell numbers inside their limits.
 */
#include "protocol/internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "lib/lib.h"

#define BYTES_MAX   (INT64_C(1) << 50)
#define COUNT_MAX   (INT64_C(1) << 53)
#define MS_MAX      1e8
#define MHZ_MAX     1e5
#define HOST_US_MAX 1e11

static const char *const failures[] = { "", "build", "abi", "unsupported", "provider", "crash", "wrong", "oob", "timeout",
	"device", "protocol", "interrupted", "escaped", "clock", "roofline", "forged", "slowed", "lost", "reported", "full",
	"unsure", "unpaired", NULL };

static const char *const repeats[] = { "", "same", "differs", NULL };

static enum role read_role(struct fields *f, bool may_be_empty)
{
	int first = may_be_empty ? ROLE_NONE : ROLE_NONE + 1, at = field_word(f, "role", role_names + first, NULL, 0);

	return at < 0 ? ROLE_NONE : (enum role)(first + at);
}

static int read_cell_number(struct fields *f)
{
	return (int)field_int(f, "cell", 0, JOB_CELLS_MAX - 1);
}

/* A null cell: the record belongs to no single cell. */
static int read_cell_or_none(struct fields *f)
{
	return (int)field_int_or(f, "cell", -1, JOB_CELLS_MAX - 1, -1);
}

static void read_device(struct fields *f, struct msg_device *d)
{
	d->kind = (enum device_kind)(DEVICE_CUDA + field_word(f, "kind", device_kind_names + DEVICE_CUDA, NULL, 0));
	field_token(f, "uuid", FIELD_WORD, 1, d->uuid, sizeof d->uuid);
	field_text(f, "name", d->name, sizeof d->name);
	field_text(f, "driver", d->driver, sizeof d->driver);
	field_text(f, "toolkit", d->toolkit, sizeof d->toolkit);
	field_text(f, "cudnn", d->cudnn, sizeof d->cudnn);
	field_text(f, "cublas", d->cublas, sizeof d->cublas);
	field_text(f, "image", d->image, sizeof d->image);
	field_text(f, "vbios", d->vbios, sizeof d->vbios);
	field_text(f, "pci", d->pci, sizeof d->pci);
	d->index = (int)field_int_or(f, "index", 0, 1023, 0);
	d->power_limit_w = field_double_or(f, "power_limit_w", 0, 1e5, 0);
	d->cores = (int)field_int_or(f, "cores", 0, 1000000, 0);
	d->memory_bytes = field_int_or(f, "memory_bytes", 0, BYTES_MAX, 0);
	d->l2_bytes = field_int_or(f, "l2_bytes", 0, BYTES_MAX, 0);
	d->clock_max_mhz = field_double_or(f, "clock_max_mhz", 0, MHZ_MAX, 0);
	d->peak_tflops = field_double_or(f, "peak_tflops", 0, 1e9, 0);
	d->peak_gb_s = field_double_or(f, "peak_gb_s", 0, 1e9, 0);
}

/* Optional: only some workers report it. */
static void read_location(struct fields *f, struct msg_location *p)
{
	struct fields in;

	if (!field_has(f, "location"))
		return;
	field_begin(&in, field_object(f, "location"), f->err, "hello.location");
	field_token(&in, "host", FIELD_PATH, 0, p->host, sizeof p->host);
	field_token(&in, "user", FIELD_PATH, 0, p->user, sizeof p->user);
	p->is_system = field_bool_or(&in, "is_system", false);
	field_token(&in, "runner", FIELD_PATH, 1, p->runner, sizeof p->runner);
	field_token(&in, "modules", FIELD_PATH, 1, p->modules, sizeof p->modules);
	f->failed = f->failed || in.failed;
}

static int read_folders(struct fields *f, struct msg_hello *h)
{
	if (!field_has(f, "read_only"))
		return f->failed ? -1 : 0;
	json_t *list = field_array(f, "read_only", 0, READONLY_MAX);

	h->n_read_only = (int)json_array_size(list);
	for (int i = 0; i < h->n_read_only; i++) {
		const char *path = json_string_value(json_array_get(list, (size_t)i));

		if (!path || readonly_wrong(path))
			return field_fail(f, "read_only", "item %d must be a folder that may be shown", i);
		snprintf(h->read_only[i], sizeof h->read_only[i], "%s", path);
	}
	return f->failed ? -1 : 0;
}

static int read_hello(struct fields *f, struct msg_hello *h)
{
	static const char *const isolations[] = { "bwrap", "none", NULL };

	h->protocol = (int)field_int(f, "protocol", 0, INT_MAX);
	field_text(f, "version", h->version, sizeof h->version);
	field_word(f, "isolation", isolations, h->isolation, sizeof h->isolation);
	h->builds_only = field_bool_or(f, "builds_only", false);
	read_location(f, &h->location);
	if (read_folders(f, h))
		return -1;
	json_t *list = field_array(f, "devices", 0, PROTOCOL_DEVICES_MAX);

	h->n_devices = (int)json_array_size(list);
	for (int i = 0; i < h->n_devices; i++) {
		struct fields d;

		field_begin(&d, json_array_get(list, (size_t)i), f->err, "hello.devices[%d]", i);
		read_device(&d, &h->device[i]);
		if (d.failed)
			return -1;
	}
	return 0;
}

static int read_need(struct fields *f, struct msg_need *m)
{
	json_t *list = field_array(f, "trees", 1, PROTOCOL_NEED_MAX);

	m->n = (int)json_array_size(list);
	for (int i = 0; i < m->n; i++) {
		json_t *item = json_array_get(list, (size_t)i);
		const char *oid = json_string_value(item);
		size_t len = json_string_length(item);

		if (!oid || (len != 40 && len != 64) || !field_is(FIELD_HEX, oid))
			return field_fail(f, "trees", "item %d must be 40 or 64 lower-case hex digits", i);
		memcpy(m->oid[i], oid, len + 1);
	}
	return 0;
}

static int read_build(struct fields *f, struct msg_build *m)
{
	static const char *const states[] = { "start", "cached", "ok", "failed", NULL };

	m->role = read_role(f, false);
	int state = field_word(f, "state", states, m->state, sizeof m->state);
	m->exit = (int)field_int_or(f, "exit", -1, 255, 0);
	m->signal = (int)field_int_or(f, "signal", 0, 64, 0);
	m->duration_ms = field_int_or(f, "duration_ms", 0, COUNT_MAX, 0);
	field_text(f, "toolchain", m->toolchain, sizeof m->toolchain);
	field_text(f, "detail", m->detail, sizeof m->detail);
	if (state == 1 || state == 2) {
		struct fields modules;

		field_begin(&modules, field_object(f, "modules"), f->err, "build.modules");
		const char *family = json_object_iter_key(json_object_iter(modules.object));

		if (!modules.failed && (!family || strlen(family) >= sizeof m->family || !field_is(FIELD_WORD, family)))
			return field_fail(&modules, "FAMILY", "must name one module");
		snprintf(m->family, sizeof m->family, "%s", family ? family : "");
		field_digest(&modules, m->family, true, false, m->module_sha256);
		if (modules.failed)
			return -1;
	}
	if (f->failed || !field_has(f, "log_b64"))
		return 0;
	json_t *log = json_object_get(f->object, "log_b64");

	if (!json_is_string(log))
		return field_fail(f, "log_b64", "must be a string");
	buf_init(&m->log, PROTOCOL_LINE_MAX);
	if (buf_unbase64(&m->log, json_string_value(log), json_string_length(log)) || m->log.failed) {
		buf_fini(&m->log);
		return field_fail(f, "log_b64", "is no base64");
	}
	return 0;
}

static int read_check(struct fields *f, struct msg_check *m)
{
	m->role = read_role(f, false);
	m->cell = read_cell_number(f);
	m->ok = field_bool(f, "ok");
	int failure = field_word(f, "class", failures, m->failure, sizeof m->failure);
	m->error_ratio = field_double_or(f, "error_ratio", -1, HUGE_VAL, -1);
	m->alone_ms = field_double_or(f, "alone_ms", 0, MS_MAX, 0);
	m->alone_mhz = field_double_or(f, "alone_mhz", 0, MHZ_MAX, 0);
	field_digest(f, "input_sha256", true, !m->ok, m->input_sha256);
	if (json_object_get(f->object, "repeats"))
		field_word(f, "repeats", repeats, m->repeats, sizeof m->repeats);
	field_text(f, "detail", m->detail, sizeof m->detail);
	if (!f->failed && m->ok != (failure == 0))
		return field_fail(f, "class", m->ok ? "must be empty when ok" : "must be named when not ok");
	return 0;
}

static int read_run(struct fields *f, struct msg_process_run *m)
{
	m->process_run = (int)field_int(f, "run", 0, INT_MAX);
	m->set = (int)field_int(f, "set", 1, 2);
	m->seed = field_u64(f, "seed");
	json_t *list = field_array(f, "cells", 0, JOB_CELLS_MAX);

	m->n_cells = (int)json_array_size(list);
	for (int i = 0; i < m->n_cells; i++) {
		json_t *v = json_array_get(list, (size_t)i);

		if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) >= JOB_CELLS_MAX)
			return field_fail(f, "cells", "item %d is no cell number", i);
		m->cell[i] = (int)json_integer_value(v);
	}
	return 0;
}

static int read_at(struct fields *f, struct msg_at *m)
{
	static const char *const steps[] = { "load", "plan", "check", "warm", "time", "phase", "count", "sample", "look", NULL };

	m->process_run = (int)field_int(f, "run", 0, INT_MAX);
	m->cell = read_cell_or_none(f);
	m->role = read_role(f, true);
	field_word(f, "step", steps, m->step, sizeof m->step);
	return 0;
}

/* Shape: *out[n], freed by the caller also after a failure. The range excludes `above` and includes `max`. */
static int read_floats(struct fields *f, const char *key, json_t *list, int n, double above, double max, float **out)
{
	if (!json_is_array(list) || json_array_size(list) != (size_t)n)
		return field_fail(f, key, "must hold an array of n numbers for each role");
	*out = calloc((size_t)n, sizeof **out);
	if (!*out) {
		f->failed = true;
		return err_set(f->err, ERR_INTERNAL, "out of memory for %d samples", n);
	}
	for (int i = 0; i < n; i++) {
		json_t *v = json_array_get(list, (size_t)i);
		double value = json_number_value(v) + 0.0;

		(*out)[i] = (float)value;
		/* compared as the stored float: a tiny double may round to 0 */
		if (!json_is_number(v) || !((double)(*out)[i] > above) || value > max)
			return field_fail(
				f, key, "item %d is no number above %g and at most %g", i, above < 0 ? 0.0 : above, max);
	}
	return 0;
}

/* Optional columns: an object of arrays under the roles of "ms"; a role may be absent. Zero means unknown. */
static int read_column(struct fields *f, const char *key, const struct msg_cell *m, double max, float *out[])
{
	if (!field_has(f, key))
		return 0;
	json_t *column = field_object(f, key);

	for (int s = 0; column && s < m->n_subjects; s++) {
		json_t *list = json_object_get(column, role_name(m->role[s]));

		if (list && !json_is_null(list) && read_floats(f, key, list, m->n, -1e-30, max, &out[s]))
			return -1;
	}
	return column ? 0 : -1;
}

/* Optional: a number under each role. */
static int read_energy(struct fields *f, struct msg_cell *m)
{
	struct fields in;

	if (!field_has(f, "energy_j"))
		return 0;
	field_begin(&in, json_object_get(f->object, "energy_j"), f->err, "cell.energy_j");
	for (int s = 0; s < m->n_subjects && !in.failed; s++)
		m->energy_j[s] = field_double_or(&in, role_name(m->role[s]), 0, 1e9, 0);
	return in.failed ? -1 : 0;
}

static int read_order(struct fields *f, struct msg_cell *m)
{
	int count[PROTOCOL_SUBJECTS_MAX] = { 0 };

	field_token(f, "order", FIELD_WORD, 0, m->order, sizeof m->order);
	if (f->failed || !m->order[0])
		return 0;
	for (const char *c = m->order; *c; c++) {
		if (*c < 'A' || *c >= 'A' + m->n_subjects)
			return field_fail(f, "order", "letter %c stands for no subject", *c);
		count[*c - 'A']++;
	}
	for (int s = 0; s < m->n_subjects; s++)
		if (count[s] != m->n)
			return field_fail(f, "order", "letter %c appears %d times, not n = %d", 'A' + s, count[s], m->n);
	return 0;
}

static int read_found(struct fields *f, struct msg_found *m)
{
	json_t *list = field_array(f, "cells", 1, JOB_CELLS_MAX);

	m->n = (int)json_array_size(list);
	for (int i = 0; i < m->n; i++) {
		struct fields c;

		field_begin(&c, json_array_get(list, (size_t)i), f->err, "found.cells[%d]", i);
		field_token(&c, "key", FIELD_PATH, 1, m->cell[i].key, sizeof m->cell[i].key);
		m->cell[i].flops = field_double_or(&c, "flops", 0, 1e30, 0);
		for (int other = 0; other < i && !c.failed; other++)
			if (strcmp(m->cell[other].key, m->cell[i].key) == 0)
				field_fail(&c, "key", "appears twice");
		if (c.failed)
			return -1;
	}
	return 0;
}

static int read_device_check(struct fields *f, struct msg_device_check *g)
{
	struct fields in;

	device_check_unknown(g);
	if (!field_has(f, "device_check"))
		return 0;
	field_begin(&in, json_object_get(f->object, "device_check"), f->err, "%.40s.device_check", f->where);
	g->power_w = field_double_or(&in, "power_w", -1, 1e5, -1);
	g->temp_c = field_double_or(&in, "temp_c", -1, 1e4, -1);
	g->sm_mhz = field_double_or(&in, "sm_mhz", -1, MHZ_MAX, -1);
	g->reasons = (uint64_t)field_int_or(&in, "reasons", 0, INT64_MAX, 0);
	g->foreign = (int)field_int_or(&in, "foreign", -1, INT_MAX, -1);
	g->xid = (int)field_int_or(&in, "xid", 0, 100000, 0);
	g->ecc = (int)field_int_or(&in, "ecc", 0, INT_MAX, 0);
	g->energy_j = field_double_or(&in, "energy_j", -1, 1e12, -1);
	field_text(&in, "regime", g->regime, sizeof g->regime);
	return in.failed ? -1 : 0;
}

static int read_cell(struct fields *f, struct msg_cell *m)
{
	const char *role;
	json_t *list;

	m->process_run = (int)field_int(f, "run", 0, INT_MAX);
	m->set = (int)field_int(f, "set", 1, 2);
	m->cell = read_cell_number(f);
	m->redo = (int)field_int_or(f, "redo", 0, 1000, 0);
	int series = field_word(f, "series", series_names, NULL, 0);
	m->series = series < 0 ? SERIES_DEVICE : (enum series)series;
	field_token(f, "phase", FIELD_WORD, 0, m->phase, sizeof m->phase);
	/*
	 * benchmark programs have their own inputs; the worker compares the sustained runs of a module with the checked inputs
	 */
	field_digest(f, "input_sha256", true, series == SERIES_PROCESS || series == SERIES_SUSTAINED, m->input_sha256);
	m->n = (int)field_int(f, "n", 1, PROTOCOL_SAMPLES_MAX);
	json_t *ms = field_object(f, "ms");

	if (f->failed)
		return -1;
	if (json_object_size(ms) < 1 || json_object_size(ms) > PROTOCOL_SUBJECTS_MAX)
		return field_fail(f, "ms", "must hold 1 to %d roles", PROTOCOL_SUBJECTS_MAX);
	json_object_foreach(ms, role, list)
	{
		int s = m->n_subjects;

		m->role[s] = role_from_name(role);
		if (m->role[s] == ROLE_NONE || m->role[s] == ROLES)
			return field_fail(f, "ms", "holds a name that is no role");
		m->n_subjects++;
		if (read_floats(f, "ms", list, m->n, 0, MS_MAX, &m->ms[s]))
			return -1;
	}
	if (read_column(f, "mhz", m, MHZ_MAX, m->mhz) || read_column(f, "host_us", m, HOST_US_MAX, m->host_us))
		return -1;
	if (read_order(f, m) || read_energy(f, m))
		return -1;
	return read_device_check(f, &m->device_check);
}

static int read_work(struct fields *f, struct msg_work *m)
{
	m->role = read_role(f, false);
	m->cell = read_cell_number(f);
	field_text(f, "provider", m->provider, sizeof m->provider);
	field_text(f, "config", m->config, sizeof m->config);
	m->flops_issued = field_double_or(f, "flops_issued", -1, HUGE_VAL, -1);
	m->bytes_moved = field_double_or(f, "bytes_moved", -1, HUGE_VAL, -1);
	m->tiles_total = field_int_or(f, "tiles_total", -1, COUNT_MAX, 0);
	m->tiles_skipped = field_int_or(f, "tiles_skipped", -1, COUNT_MAX, 0);
	m->tiles_partial = field_int_or(f, "tiles_partial", -1, COUNT_MAX, 0);
	m->blocks_kept = field_int_or(f, "blocks_kept", -1, COUNT_MAX, 0);
	m->workspace_bytes = field_int_or(f, "workspace_bytes", 0, BYTES_MAX, 0);
	m->persist_bytes = field_int_or(f, "persist_bytes", 0, BYTES_MAX, 0);
	m->tensor_bytes = field_int_or(f, "tensor_bytes", 0, BYTES_MAX, 0);
	m->taken_bytes = field_int_or(f, "taken_bytes", 0, BYTES_MAX, -1);
	m->mask_blocks = field_int_or(f, "mask_blocks", 0, COUNT_MAX, 0);
	m->mask_kept = field_int_or(f, "mask_kept", 0, COUNT_MAX, 0);
	m->phases = (uint32_t)field_int_or(f, "phases", 0, UINT32_MAX, 0);
	m->tunes = field_bool_or(f, "tunes", false);
	return tried_read(f, "tried", &m->tried);
}

static int read_node(struct fields *f, struct msg_node *m)
{
	m->role = read_role(f, false);
	m->cell = read_cell_number(f);
	field_token(f, "phase", FIELD_WORD, 0, m->phase, sizeof m->phase);
	field_text(f, "kernel", m->kernel, sizeof m->kernel);
	m->registers = (int)field_int_or(f, "registers", 0, INT_MAX, 0);
	m->local_bytes = (int)field_int_or(f, "local_bytes", 0, INT_MAX, 0);
	m->shared_bytes = (int)field_int_or(f, "shared_bytes", 0, INT_MAX, 0);
	m->sm = (int)field_int_or(f, "sm", 0, 9999, 0);
	if (field_has(f, "symbol_sha256"))
		field_digest(f, "symbol_sha256", true, false, m->symbol_sha256);
	if (field_has(f, "code_sha256"))
		field_digest(f, "code_sha256", true, false, m->code_sha256);
	return field_sizes(f, "grid", m->grid, 3) != 0 || field_sizes(f, "block", m->block, 3) != 0 ? -1 : 0;
}

static int read_fault(struct fields *f, struct msg_fault *m)
{
	m->cell = read_cell_or_none(f);
	m->role = read_role(f, false);
	field_word(f, "class", failures + 1, m->failure, sizeof m->failure);
	field_text(f, "detail", m->detail, sizeof m->detail);
	return 0;
}

static int read_note(struct fields *f, struct msg_note *m)
{
	m->cell = read_cell_or_none(f);
	m->role = read_role(f, true);
	field_text(f, "text", m->text, sizeof m->text);
	return 0;
}

static int read_state(struct fields *f, struct msg_state *m)
{
	m->what = (enum run_mode)(RUN_IDLE + field_word(f, "what", run_mode_names + RUN_IDLE, NULL, 0));
	m->ok = field_bool(f, "ok");
	field_text(f, "detail", m->detail, sizeof m->detail);
	return read_device_check(f, &m->device_check);
}

static int read_audit(struct fields *f, struct msg_audit *m)
{
	static const char *const states[] = { "ready", "done", NULL };
	char state[8];

	m->cell = read_cell_number(f);
	m->role = read_role(f, false);
	m->calls = (int)field_int(f, "calls", 1, 1000000);
	m->done = field_word(f, "state", states, state, sizeof state) == 1;
	m->ms = field_double_or(f, "ms", 0, MS_MAX, 0);
	return 0;
}

static int read_done(struct fields *f, struct msg_done *m)
{
	m->gpu_s = field_double(f, "gpu_s", 0, 1e9);
	m->wall_s = field_double_or(f, "wall_s", 0, 1e9, 0);
	m->cancelled = field_bool_or(f, "cancelled", false);
	return look_read(f, "sustained_runs", &m->sustained_runs);
}

static int read_tree(struct fields *f, struct msg_tree *m)
{
	field_digest(f, "oid", false, false, m->oid);
	m->bytes = field_int(f, "bytes", 0, BYTES_MAX);
	return 0;
}

static int read_body(struct fields *f, struct msg *out)
{
	switch (out->t) {
	case MSG_HELLO:
		return read_hello(f, &out->u.hello);
	case MSG_NEED:
		return read_need(f, &out->u.need);
	case MSG_TREE:
		return read_tree(f, &out->u.tree);
	case MSG_BUILD:
		return read_build(f, &out->u.build);
	case MSG_CHECK:
		return read_check(f, &out->u.check);
	case MSG_FOUND:
		return read_found(f, out->u.found);
	case MSG_PROCESS_RUN:
		return read_run(f, out->u.process_run);
	case MSG_AT:
		return read_at(f, &out->u.at);
	case MSG_CELL:
		return read_cell(f, out->u.cell);
	case MSG_WORK:
		return read_work(f, &out->u.work);
	case MSG_NODE:
		return read_node(f, &out->u.node);
	case MSG_AUDIT:
		return read_audit(f, &out->u.audit);
	case MSG_FAULT:
		return read_fault(f, &out->u.fault);
	case MSG_DONE:
		return read_done(f, &out->u.done);
	case MSG_NOTE:
		return read_note(f, &out->u.note);
	case MSG_STATE:
		return read_state(f, &out->u.state);
	case MSG_HEALTH_CHECK:
		field_token(f, "device", FIELD_WORD, 1, out->u.health_check.device, sizeof out->u.health_check.device);
		return 0;
	case MSG_KERNEL:
	case MSG_CODE:
	case MSG_COUNTERFACTUAL:
	case MSG_PROFILE:
	case MSG_STALLS:
		return protocol_profile_read(f, out);
	case MSG_JOB: /* parsed by job.c */
	case MSG_RUN:
	case MSG_PING:
		break;
	case MSG_CANCEL:
		out->u.cancel.stays = field_bool_or(f, "stay", false);
		return 0;
	}
	return 0;
}

int protocol_record_read(json_t *object, struct msg *out, struct fw_err *err)
{
	struct fields f;

	if (out->t == MSG_PROCESS_RUN)
		out->u.process_run = calloc(1, sizeof *out->u.process_run);
	if (out->t == MSG_FOUND)
		out->u.found = calloc(1, sizeof *out->u.found);
	if (out->t == MSG_CELL)
		out->u.cell = calloc(1, sizeof *out->u.cell);
	if ((out->t == MSG_PROCESS_RUN && !out->u.process_run) || (out->t == MSG_CELL && !out->u.cell) ||
		(out->t == MSG_FOUND && !out->u.found))
		return err_set(err, ERR_INTERNAL, "out of memory for a record");
	field_begin(&f, object, err, "%s", protocol_name(out->t));
	if (read_body(&f, out) || f.failed) {
		msg_fini(out);
		return -1;
	}
	return 0;
}
