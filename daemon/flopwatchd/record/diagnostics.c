#include "flopwatchd/record/internal.h"

#include <stdlib.h>

#include "db/db.h"

enum { LOG_MAX = 1 << 20 };

/* 1, 0 that side's log is unknown, -1. */
static int read_log(struct db *db, const struct result *r, enum role role, struct buf *log, struct fw_err *err)
{
	int subject = result_subject(r, role);
	const struct msg_build *b = subject >= 0 ? &r->build[subject] : NULL;
	enum device_kind kind = r->device.kind == DEVICE_CUDA ? DEVICE_CUDA : DEVICE_CPU;
	char inputs[65];
	if (!b || b->role == ROLE_NONE || !b->module_sha256[0])
		return 0;
	if (b->log.len > 0) {
		buf_append(log, b->log.data, b->log.len);
		return log->failed ? err_set(err, ERR_FULL, "a build's log does not fit") : 1;
	}
	plan_inputs_hash(&r->plan.request.subject[subject], kind, inputs);
	return store_build_log(db, inputs, kind, b, log, err);
}

/* A module may hold code for devices that it did not run on. */
static bool is_of_other_device(const struct result *r, const struct ptxas_change *c)
{
	bool is_known = false;
	for (int i = 0; i < r->profiled.n_kernels; i++) {
		int sm = r->profiled.kernel[i].sm;
		if (sm > 0 && sm == c->architecture)
			return false;
		is_known = is_known || sm > 0;
	}
	return is_known && c->architecture > 0;
}

static int compare_logs(const struct result *r, const struct buf text[2], struct diagnostics *out, struct fw_err *err)
{
	struct ptxaslog log[2] = { { .is_whole = false } };
	int result = ptxaslog_read(&log[0], text[0].data, text[0].len, err);
	if (result == 0)
		result = ptxaslog_read(&log[1], text[1].data, text[1].len, err);
	if (result == 0 && !(out->change = calloc(PTXASDELTA_MAX, sizeof *out->change)))
		result = err_set(err, ERR_INTERNAL, "out of memory for ptxas diagnostics");
	size_t n = result == 0 ? ptxasdelta(&log[0], &log[1], out->change, PTXASDELTA_MAX) : 0;
	for (size_t i = 0; i < n && out->n < DIAGNOSTICS_MAX; i++)
		if (!is_of_other_device(r, &out->change[i]))
			out->change[out->n++] = out->change[i];
	ptxaslog_fini(&log[0]);
	ptxaslog_fini(&log[1]);
	return result;
}

int diagnostics_read(struct db *db, const struct result *r, struct diagnostics *out, struct fw_err *err)
{
	struct buf text[2];
	*out = (struct diagnostics){ 0 };
	buf_init(&text[0], LOG_MAX);
	buf_init(&text[1], LOG_MAX);
	int result = read_log(db, r, ROLE_BASE, &text[0], err);
	if (result == 1)
		result = read_log(db, r, ROLE_TARGET, &text[1], err);
	if (result == 1)
		result = compare_logs(r, text, out, err);
	buf_fini(&text[0]);
	buf_fini(&text[1]);
	return result < 0 ? -1 : 0;
}

void diagnostics_fini(struct diagnostics *c)
{
	free(c->change);
	*c = (struct diagnostics){ 0 };
}

int diagnostics_put(struct db *db, int64_t profile, const struct diagnostics *c, struct fw_err *err)
{
	int result = 0;
	for (size_t i = 0; i < c->n && result == 0; i++)
		result = store_profile_diagnostic_put(db, profile,
			&(struct profile_diagnostic){ .n = (int)i,
				.change = ptxas_change_names[c->change[i].how],
				.kind = ptxas_kind_names[c->change[i].kind],
				.code = c->change[i].code,
				.kernel = c->change[i].kernel,
				.what = c->change[i].what },
			err);
	return result;
}
