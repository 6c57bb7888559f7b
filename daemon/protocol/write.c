/*
 * write.c - writer of every message, counterpart of record.c, as write_job.c is of job.c. test_protocol.c sends each message
 * through both.
 */
#include "protocol/internal.h"

#include <stdio.h>

#include "lib/lib.h"

static void put_cell_number(struct jsonw *j, int cell)
{
	if (cell < 0)
		jsonw_kv_null(j, "cell");
	else
		jsonw_kv_int(j, "cell", cell);
}

void protocol_put_location(struct jsonw *j, const struct msg_location *p)
{
	jsonw_object(j);
	jsonw_kv_string(j, "host", p->host);
	jsonw_kv_string(j, "user", p->user);
	jsonw_kv_bool(j, "is_system", p->is_system);
	jsonw_kv_string(j, "runner", p->runner);
	jsonw_kv_string(j, "modules", p->modules);
	jsonw_object_end(j);
}

static void put_hello(struct jsonw *j, const struct msg_hello *m)
{
	jsonw_kv_int(j, "protocol", m->protocol);
	jsonw_kv_string(j, "version", m->version);
	jsonw_kv_string(j, "isolation", m->isolation);
	if (m->builds_only)
		jsonw_kv_bool(j, "builds_only", true);
	if (m->n_read_only)
		protocol_put_texts(j, "read_only", m->read_only[0], sizeof m->read_only[0], m->n_read_only);
	if (m->location.modules[0]) {
		jsonw_key(j, "location");
		protocol_put_location(j, &m->location);
	}
	jsonw_key(j, "devices");
	jsonw_array(j);
	for (int i = 0; i < m->n_devices; i++) {
		const struct msg_device *d = &m->device[i];

		jsonw_object(j);
		jsonw_kv_string(j, "kind", device_kind_name(d->kind));
		jsonw_kv_string(j, "uuid", d->uuid);
		jsonw_kv_string(j, "name", d->name);
		jsonw_kv_string(j, "driver", d->driver);
		jsonw_kv_string(j, "toolkit", d->toolkit);
		if (d->cudnn[0])
			jsonw_kv_string(j, "cudnn", d->cudnn);
		if (d->cublas[0])
			jsonw_kv_string(j, "cublas", d->cublas);
		if (d->image[0])
			jsonw_kv_string(j, "image", d->image);
		if (d->vbios[0])
			jsonw_kv_string(j, "vbios", d->vbios);
		if (d->pci[0])
			jsonw_kv_string(j, "pci", d->pci);
		jsonw_kv_int(j, "index", d->index);
		jsonw_kv_int(j, "cores", d->cores);
		jsonw_kv_int(j, "memory_bytes", d->memory_bytes);
		jsonw_kv_int(j, "l2_bytes", d->l2_bytes);
		jsonw_kv_double(j, "power_limit_w", d->power_limit_w);
		jsonw_kv_double(j, "clock_max_mhz", d->clock_max_mhz);
		jsonw_kv_double(j, "peak_tflops", d->peak_tflops);
		jsonw_kv_double(j, "peak_gb_s", d->peak_gb_s);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void put_need(struct jsonw *j, const struct msg_need *m)
{
	protocol_put_texts(j, "trees", m->oid[0], sizeof m->oid[0], m->n);
}

static void put_build(struct jsonw *j, const struct msg_build *m)
{
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_string(j, "state", m->state);
	jsonw_kv_int(j, "exit", m->exit);
	jsonw_kv_int(j, "signal", m->signal);
	jsonw_kv_int(j, "duration_ms", m->duration_ms);
	jsonw_key(j, "modules");
	jsonw_object(j);
	if (m->module_sha256[0])
		jsonw_kv_string(j, m->family, m->module_sha256);
	jsonw_object_end(j);
	jsonw_kv_string(j, "toolchain", m->toolchain);
	jsonw_kv_string(j, "detail", m->detail);
	if (m->log.len > 0) {
		size_t len = m->log.len < PROTOCOL_LOG_MAX ? m->log.len : PROTOCOL_LOG_MAX;
		struct buf text;

		buf_init(&text, PROTOCOL_LINE_MAX);
		buf_base64(&text, m->log.data + m->log.len - len, len);
		jsonw_key(j, "log_b64");
		jsonw_bytes(j, text.data, text.len);
		buf_fini(&text);
	}
}

static void put_check(struct jsonw *j, const struct msg_check *m)
{
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_bool(j, "ok", m->ok);
	jsonw_kv_string(j, "class", m->failure);
	jsonw_kv_double(j, "error_ratio", m->error_ratio);
	if (m->alone_ms > 0)
		jsonw_kv_double(j, "alone_ms", m->alone_ms);
	if (m->alone_mhz > 0)
		jsonw_kv_double(j, "alone_mhz", m->alone_mhz);
	if (m->repeats[0])
		jsonw_kv_string(j, "repeats", m->repeats);
	jsonw_kv_string(j, "input_sha256", m->input_sha256);
	jsonw_kv_string(j, "detail", m->detail);
}

static void put_found(struct jsonw *j, const struct msg_found *m)
{
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < m->n; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "key", m->cell[i].key);
		jsonw_kv_double(j, "flops", m->cell[i].flops);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

static void put_run(struct jsonw *j, const struct msg_process_run *m)
{
	jsonw_kv_int(j, "run", m->process_run);
	jsonw_kv_int(j, "set", m->set);
	protocol_put_u64(j, "seed", m->seed);
	protocol_put_ints(j, "cells", m->cell, m->n_cells);
}

/* Columns that no subject has are left out. */
static void put_column(struct jsonw *j, const char *key, const struct msg_cell *m, float *const column[])
{
	bool any = false;

	for (int s = 0; s < m->n_subjects; s++)
		any = any || column[s];
	if (!any)
		return;
	jsonw_key(j, key);
	jsonw_object(j);
	for (int s = 0; s < m->n_subjects; s++) {
		if (!column[s])
			continue;
		jsonw_key(j, role_name(m->role[s]));
		jsonw_array(j);
		for (int i = 0; i < m->n; i++)
			jsonw_float(j, column[s][i]);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

void protocol_put_device_check(struct jsonw *j, const struct msg_device_check *g)
{
	jsonw_object(j);
	jsonw_kv_double(j, "power_w", g->power_w);
	jsonw_kv_double(j, "temp_c", g->temp_c);
	jsonw_kv_double(j, "sm_mhz", g->sm_mhz);
	jsonw_kv_int(j, "reasons", (int64_t)g->reasons);
	jsonw_kv_int(j, "foreign", g->foreign);
	if (g->xid)
		jsonw_kv_int(j, "xid", g->xid);
	if (g->ecc)
		jsonw_kv_int(j, "ecc", g->ecc);
	if (g->energy_j >= 0)
		jsonw_kv_double(j, "energy_j", g->energy_j);
	jsonw_kv_string(j, "regime", g->regime);
	jsonw_object_end(j);
}

static void put_energy(struct jsonw *j, const struct msg_cell *m)
{
	bool any = false;

	for (int s = 0; s < m->n_subjects; s++)
		any = any || m->energy_j[s] > 0;
	if (!any)
		return;
	jsonw_key(j, "energy_j");
	jsonw_object(j);
	for (int s = 0; s < m->n_subjects; s++)
		jsonw_kv_double(j, role_name(m->role[s]), m->energy_j[s]);
	jsonw_object_end(j);
}

static void put_samples(struct jsonw *j, const struct msg_cell *m)
{
	jsonw_kv_int(j, "run", m->process_run);
	jsonw_kv_int(j, "set", m->set);
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "series", series_name(m->series));
	jsonw_kv_string(j, "phase", m->phase);
	jsonw_kv_string(j, "input_sha256", m->input_sha256);
	jsonw_kv_string(j, "order", m->order);
	jsonw_kv_int(j, "n", m->n);
	put_column(j, "ms", m, m->ms);
	put_column(j, "mhz", m, m->mhz);
	put_column(j, "host_us", m, m->host_us);
	put_energy(j, m);
	jsonw_key(j, "device_check");
	protocol_put_device_check(j, &m->device_check);
	jsonw_kv_int(j, "redo", m->redo);
}

static void put_work(struct jsonw *j, const struct msg_work *m)
{
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "provider", m->provider);
	jsonw_kv_string(j, "config", m->config);
	jsonw_kv_double(j, "flops_issued", m->flops_issued);
	jsonw_kv_double(j, "bytes_moved", m->bytes_moved);
	jsonw_kv_int(j, "tiles_total", m->tiles_total);
	jsonw_kv_int(j, "tiles_skipped", m->tiles_skipped);
	jsonw_kv_int(j, "tiles_partial", m->tiles_partial);
	jsonw_kv_int(j, "blocks_kept", m->blocks_kept);
	jsonw_kv_int(j, "workspace_bytes", m->workspace_bytes);
	jsonw_kv_int(j, "persist_bytes", m->persist_bytes);
	jsonw_kv_int(j, "tensor_bytes", m->tensor_bytes);
	if (m->taken_bytes >= 0)
		jsonw_kv_int(j, "taken_bytes", m->taken_bytes);
	if (m->mask_blocks) {
		jsonw_kv_int(j, "mask_blocks", m->mask_blocks);
		jsonw_kv_int(j, "mask_kept", m->mask_kept);
	}
	jsonw_kv_int(j, "phases", m->phases);
	if (m->tunes)
		jsonw_kv_bool(j, "tunes", true);
	if (m->tried.n) {
		jsonw_key(j, "tried");
		tried_write(j, &m->tried);
	}
}

static void put_node(struct jsonw *j, const struct msg_node *m)
{
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "phase", m->phase);
	jsonw_kv_string(j, "kernel", m->kernel);
	protocol_put_ints(j, "grid", m->grid, 3);
	protocol_put_ints(j, "block", m->block, 3);
	jsonw_kv_int(j, "registers", m->registers);
	jsonw_kv_int(j, "local_bytes", m->local_bytes);
	jsonw_kv_int(j, "shared_bytes", m->shared_bytes);
	if (m->sm)
		jsonw_kv_int(j, "sm", m->sm);
	if (m->symbol_sha256[0])
		jsonw_kv_string(j, "symbol_sha256", m->symbol_sha256);
	if (m->code_sha256[0])
		jsonw_kv_string(j, "code_sha256", m->code_sha256);
}

static void put_tree(struct jsonw *j, const struct msg_tree *m)
{
	jsonw_kv_string(j, "oid", m->oid);
	jsonw_kv_int(j, "bytes", m->bytes);
}

static void put_at(struct jsonw *j, const struct msg_at *m)
{
	jsonw_kv_int(j, "run", m->process_run);
	put_cell_number(j, m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_string(j, "step", m->step);
}

static void put_fault(struct jsonw *j, const struct msg_fault *m)
{
	put_cell_number(j, m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_string(j, "class", m->failure);
	jsonw_kv_string(j, "detail", m->detail);
}

static void put_done(struct jsonw *j, const struct msg_done *m)
{
	jsonw_kv_double(j, "gpu_s", m->gpu_s);
	jsonw_kv_double(j, "wall_s", m->wall_s);
	jsonw_kv_bool(j, "cancelled", m->cancelled);
	look_write(j, "sustained_runs", m->sustained_runs);
}

static void put_note(struct jsonw *j, const struct msg_note *m)
{
	put_cell_number(j, m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_string(j, "text", m->text);
}

static void put_state(struct jsonw *j, const struct msg_state *m)
{
	jsonw_kv_string(j, "what", run_mode_name(m->what));
	jsonw_kv_bool(j, "ok", m->ok);
	jsonw_key(j, "device_check");
	protocol_put_device_check(j, &m->device_check);
	jsonw_kv_string(j, "detail", m->detail);
}

static void put_audit(struct jsonw *j, const struct msg_audit *m)
{
	put_cell_number(j, m->cell);
	jsonw_kv_string(j, "role", role_name(m->role));
	jsonw_kv_int(j, "calls", m->calls);
	jsonw_kv_string(j, "state", m->done ? "done" : "ready");
	jsonw_kv_double(j, "ms", m->ms);
}

static void put_body(struct jsonw *j, const struct msg *m)
{
	switch (m->t) {
	case MSG_HELLO:
		put_hello(j, &m->u.hello);
		break;
	case MSG_JOB:
		protocol_put_job(j, m->u.job);
		break;
	case MSG_NEED:
		put_need(j, &m->u.need);
		break;
	case MSG_TREE:
		put_tree(j, &m->u.tree);
		break;
	case MSG_BUILD:
		put_build(j, &m->u.build);
		break;
	case MSG_CHECK:
		put_check(j, &m->u.check);
		break;
	case MSG_FOUND:
		put_found(j, m->u.found);
		break;
	case MSG_PROCESS_RUN:
		put_run(j, m->u.process_run);
		break;
	case MSG_AT:
		put_at(j, &m->u.at);
		break;
	case MSG_CELL:
		put_samples(j, m->u.cell);
		break;
	case MSG_WORK:
		put_work(j, &m->u.work);
		break;
	case MSG_NODE:
		put_node(j, &m->u.node);
		break;
	case MSG_FAULT:
		put_fault(j, &m->u.fault);
		break;
	case MSG_DONE:
		put_done(j, &m->u.done);
		break;
	case MSG_RUN:
		protocol_put_run(j, m->u.run);
		break;
	case MSG_NOTE:
		put_note(j, &m->u.note);
		break;
	case MSG_STATE:
		put_state(j, &m->u.state);
		break;
	case MSG_HEALTH_CHECK:
		jsonw_kv_string(j, "device", m->u.health_check.device);
		break;
	case MSG_AUDIT:
		put_audit(j, &m->u.audit);
		break;
	case MSG_KERNEL:
	case MSG_CODE:
	case MSG_COUNTERFACTUAL:
	case MSG_PROFILE:
	case MSG_STALLS:
		protocol_put_profile(j, m);
		break;
	case MSG_CANCEL:
		if (m->u.cancel.stays)
			jsonw_kv_bool(j, "stay", true);
		break;
	case MSG_PING:
		break;
	}
}

void protocol_write(struct buf *out, const struct msg *m)
{
	struct buf line;
	struct jsonw j;

	buf_init(&line, PROTOCOL_LINE_MAX);
	jsonw_init(&j, &line);
	jsonw_object(&j);
	jsonw_kv_string(&j, "t", protocol_name(m->t));
	put_body(&j, m);
	jsonw_object_end(&j);
	buf_putc(&line, '\n');
	if (line.failed)
		out->failed = true;
	else
		buf_append(out, line.data, line.len);
	buf_fini(&line);
}

void protocol_write_rule(struct buf *out, const struct rule *r)
{
	struct jsonw j;

	jsonw_init(&j, out);
	protocol_put_rule(&j, r);
}
