/*
 * write.c - writing of every message. The counterpart of protocol_job.c and protocol_record.c; test_protocol.c sends
 * each message through both.
 */
#include "core/protocol/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"

static void put_u64(struct jsonw *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, v);
	jsonw_kv_string(j, key, text);
}

static void put_cell_number(struct jsonw *j, int cell)
{
	if (cell < 0)
		jsonw_kv_null(j, "cell");
	else
		jsonw_kv_int(j, "cell", cell);
}

void protocol_put_place(struct jsonw *j, const struct msg_place *p)
{
	jsonw_object(j);
	jsonw_kv_string(j, "host", p->host);
	jsonw_kv_string(j, "user", p->user);
	jsonw_kv_bool(j, "is_system", p->is_system);
	jsonw_kv_string(j, "runner", p->runner);
	jsonw_kv_string(j, "modules", p->modules);
	jsonw_object_end(j);
}

static void put_texts(struct jsonw *j, const char *key, const char *rows, size_t size, int n)
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (int i = 0; i < n; i++)
		jsonw_string(j, rows + (size_t)i * size);
	jsonw_array_end(j);
}

static void put_hello(struct jsonw *j, const struct msg_hello *m)
{
	jsonw_kv_int(j, "protocol", m->protocol);
	jsonw_kv_string(j, "version", m->version);
	jsonw_kv_string(j, "isolation", m->isolation);
	if (m->n_read_only)
		put_texts(j, "read_only", m->read_only[0], sizeof m->read_only[0], m->n_read_only);
	if (m->place.modules[0]) {
		jsonw_key(j, "place");
		protocol_put_place(j, &m->place);
	}
	jsonw_key(j, "devices");
	jsonw_array(j);
	for (int i = 0; i < m->n_devices; i++) {
		const struct msg_device *d = &m->device[i];

		jsonw_object(j);
		jsonw_kv_string(j, "kind", d->kind);
		jsonw_kv_string(j, "uuid", d->uuid);
		jsonw_kv_string(j, "name", d->name);
		jsonw_kv_string(j, "driver", d->driver);
		jsonw_kv_string(j, "toolkit", d->toolkit);
		if (d->cudnn[0])
			jsonw_kv_string(j, "cudnn", d->cudnn);
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

static void put_rule(struct jsonw *j, const struct rule *r)
{
	jsonw_object(j);
	jsonw_kv_int(j, "version", r->version);
	jsonw_kv_double(j, "tau0", r->tau0);
	jsonw_kv_double(j, "tau0_clocked", r->tau0_clocked);
	jsonw_kv_double(j, "nu0", r->nu0);
	jsonw_kv_double(j, "placement", r->placement);
	jsonw_kv_double(j, "k", r->k);
	jsonw_kv_double(j, "se_max", r->se_max);
	jsonw_kv_int(j, "launches_ok_min", r->launches_ok_min);
	jsonw_kv_int(j, "launches_regression_min", r->launches_regression_min);
	jsonw_kv_int(j, "launches_max", r->launches_max);
	jsonw_kv_int(j, "pairs_min", r->pairs_min);
	jsonw_kv_int(j, "pairs_max", r->pairs_max);
	jsonw_kv_double(j, "pair_budget_s", r->pair_budget_s);
	jsonw_kv_double(j, "beta_min", r->beta_min);
	jsonw_key(j, "clock");
	jsonw_object(j);
	jsonw_kv_double(j, "usual", r->clock.usual);
	jsonw_kv_double(j, "odd", r->clock.odd);
	jsonw_kv_double(j, "odd_share", r->clock.odd_share);
	jsonw_kv_double(j, "nu", r->clock.nu);
	jsonw_kv_double(j, "k", r->clock.k);
	jsonw_object_end(j);
	jsonw_kv_double(j, "half_width_dense_pct", r->half_width_dense_pct);
	jsonw_kv_double(j, "half_width_sparse_pct", r->half_width_sparse_pct);
	jsonw_kv_bool(j, "confirm", r->confirm);
	jsonw_object_end(j);
}

/* `index` < 0: the cell's place in the list is its number. */
static void put_cell(struct jsonw *j, const struct cell *c, int index)
{
	const struct attention_case *a = &c->attention;

	jsonw_object(j);
	if (index >= 0)
		jsonw_kv_int(j, "i", index);
	jsonw_kv_string(j, "key", c->key);
	jsonw_kv_string(j, "group", c->group);
	jsonw_kv_string(j, "mask", c->mask);
	jsonw_kv_string(j, "direction", direction_name(c->direction));
	jsonw_kv_double(j, "threshold_pct", c->threshold_pct);
	if (c->decide[0])
		jsonw_kv_string(j, "decide", c->decide);
	if (c->tau0 > 0)
		jsonw_kv_double(j, "tau0", c->tau0);
	if (c->nu0 > 0)
		jsonw_kv_double(j, "nu0", c->nu0);
	if (c->blind_pct > 0)
		jsonw_kv_double(j, "blind_pct", c->blind_pct);
	jsonw_kv_int(j, "seqlen", a->seqlen);
	jsonw_kv_int(j, "nhq", a->nhq);
	jsonw_kv_int(j, "nhk", a->nhk);
	jsonw_kv_int(j, "headdim", a->headdim);
	jsonw_kv_string(j, "dtype", "bf16"); /* case_check accepts no other */
	jsonw_key(j, "lengths");
	jsonw_array(j);
	for (int i = 0; a->n_seqs > 1 && i < a->n_seqs; i++)
		jsonw_int(j, a->length[i]);
	jsonw_array_end(j);
	jsonw_kv_int(j, "block", a->block);
	jsonw_kv_double(j, "sparsity_ratio", a->sparsity_ratio);
	put_u64(j, "seed", a->seed);
	jsonw_object_end(j);
}

void protocol_put_cell(struct jsonw *j, const struct cell *c)
{
	put_cell(j, c, -1);
}

static void put_benchmark(struct jsonw *j, const struct benchmark *b)
{
	jsonw_key(j, "run");
	jsonw_object(j);
	jsonw_kv_string(j, "name", b->name);
	put_texts(j, "command", b->command[0], sizeof b->command[0], b->n_command);
	put_texts(j, "outputs", b->output[0], sizeof b->output[0], b->n_outputs);
	if (b->n_artifacts)
		put_texts(j, "artifacts", b->artifact[0], sizeof b->artifact[0], b->n_artifacts);
	jsonw_kv_string(j, "reader", b->reader);
	jsonw_kv_string(j, "unit", b->unit);
	if (b->time[0])
		jsonw_kv_string(j, "time", b->time);
	jsonw_kv_double(j, "threshold_pct", b->threshold_pct);
	jsonw_kv_double(j, "timeout_s", b->timeout_s);
	jsonw_kv_double(j, "budget_s", b->budget_s);
	jsonw_kv_bool(j, "gpu", b->gpu);
	jsonw_object_end(j);
}

static void put_subject(struct jsonw *j, const struct msg_subject *s)
{
	jsonw_object(j);
	jsonw_kv_string(j, "role", s->role);
	jsonw_kv_string(j, "commit", s->commit);
	jsonw_key(j, "inputs");
	jsonw_array(j);
	for (int i = 0; i < s->n_inputs; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "path", s->input[i].path);
		jsonw_kv_string(j, "oid", s->input[i].oid);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_key(j, "build");
	jsonw_object(j);
	jsonw_kv_string(j, "dir", s->build.dir);
	jsonw_key(j, "command");
	jsonw_array(j);
	for (int i = 0; i < s->build.n_command; i++)
		jsonw_string(j, s->build.command[i]);
	jsonw_array_end(j);
	jsonw_key(j, "outputs");
	jsonw_object(j);
	for (int i = 0; i < s->build.n_outputs; i++)
		jsonw_kv_string(j, s->build.family[i], s->build.output[i]);
	jsonw_object_end(j);
	jsonw_kv_double(j, "timeout_s", s->build.timeout_s);
	jsonw_object_end(j);
	jsonw_kv_string(j, "provider", s->provider);
	if (s->run.name[0])
		put_benchmark(j, &s->run);
	jsonw_object_end(j);
}

static void put_job(struct jsonw *j, const struct msg_job *m)
{
	jsonw_kv_int(j, "job", m->job);
	jsonw_kv_int(j, "attempt", m->attempt);
	jsonw_kv_string(j, "nonce", m->nonce);
	jsonw_kv_string(j, "kind", m->kind);
	jsonw_kv_string(j, "device", m->device);
	put_u64(j, "seed", m->seed);
	jsonw_kv_bool(j, "quick", m->quick);
	jsonw_key(j, "subjects");
	jsonw_array(j);
	for (int i = 0; i < m->n_subjects; i++)
		put_subject(j, &m->subject[i]);
	jsonw_array_end(j);
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < m->n_cells; i++)
		put_cell(j, &m->cell[i], -1);
	jsonw_array_end(j);
	jsonw_key(j, "rule");
	put_rule(j, &m->rule);
	jsonw_key(j, "limits");
	jsonw_object(j);
	jsonw_kv_double(j, "build_s", m->limits.build_s);
	jsonw_kv_double(j, "check_s", m->limits.check_s);
	jsonw_kv_double(j, "launch_s", m->limits.launch_s);
	jsonw_kv_double(j, "budget_s", m->limits.budget_s);
	jsonw_kv_double(j, "wait_s", m->limits.wait_s);
	jsonw_kv_int(j, "log_bytes", m->limits.log_bytes);
	jsonw_object_end(j);
}

static void put_run(struct jsonw *j, const struct msg_run *m)
{
	jsonw_kv_string(j, "mode", m->mode);
	jsonw_kv_string(j, "device", m->device);
	jsonw_kv_int(j, "launch", m->launch);
	jsonw_kv_int(j, "set", m->set);
	if (m->pass)
		jsonw_kv_int(j, "pass", m->pass);
	put_u64(j, "seed", m->seed);
	if (m->seal[0])
		jsonw_kv_string(j, "seal", m->seal);
	jsonw_key(j, "subjects");
	jsonw_array(j);
	for (int i = 0; i < m->n_subjects; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "role", m->subject[i].role);
		jsonw_kv_string(j, "module", m->subject[i].module);
		jsonw_kv_string(j, "provider", m->subject[i].provider);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < m->n_cells; i++)
		put_cell(j, &m->cell[i], m->index[i]);
	jsonw_array_end(j);
	if (m->n_pins) {
		jsonw_key(j, "pins");
		jsonw_array(j);
	}
	for (int i = 0; i < m->n_pins; i++) {
		jsonw_object(j);
		jsonw_kv_int(j, "cell", m->pin[i].cell);
		jsonw_kv_int(j, "subject", m->pin[i].subject);
		jsonw_kv_string(j, "config", m->pin[i].config);
		jsonw_object_end(j);
	}
	if (m->n_pins)
		jsonw_array_end(j);
	jsonw_key(j, "rule");
	put_rule(j, &m->rule);
	jsonw_kv_double(j, "warm_s", m->warm_s);
	jsonw_kv_double(j, "cell_warm_s", m->cell_warm_s);
	jsonw_kv_bool(j, "phases", m->phases);
	jsonw_kv_bool(j, "calls", m->calls);
	jsonw_kv_int(j, "calls_n", m->calls_n);
	jsonw_kv_int(j, "warmup_n", m->warmup_n);
	jsonw_kv_bool(j, "only_bursts", m->only_bursts);
	jsonw_key(j, "bursts");
	jsonw_array(j);
	for (int i = 0; m->burst && i < m->n_cells; i++)
		if (m->burst[i])
			jsonw_int(j, m->index[i]);
	jsonw_array_end(j);
	if (m->guards[0])
		jsonw_kv_string(j, "guards", m->guards);
}

static void put_need(struct jsonw *j, const struct msg_need *m)
{
	jsonw_key(j, "trees");
	jsonw_array(j);
	for (int i = 0; i < m->n; i++)
		jsonw_string(j, m->oid[i]);
	jsonw_array_end(j);
}

static void put_build(struct jsonw *j, const struct msg_build *m)
{
	jsonw_kv_string(j, "role", m->role);
	jsonw_kv_string(j, "state", m->state);
	jsonw_kv_int(j, "exit", m->exit);
	jsonw_kv_int(j, "signal", m->signal);
	jsonw_kv_int(j, "duration_ms", m->duration_ms);
	jsonw_key(j, "modules");
	jsonw_object(j);
	if (m->module_sha256[0])
		jsonw_kv_string(j, "attention", m->module_sha256);
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
	jsonw_kv_string(j, "role", m->role);
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

static void put_launch(struct jsonw *j, const struct msg_launch *m)
{
	jsonw_kv_int(j, "launch", m->launch);
	jsonw_kv_int(j, "set", m->set);
	put_u64(j, "seed", m->seed);
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < m->n_cells; i++)
		jsonw_int(j, m->cell[i]);
	jsonw_array_end(j);
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
		jsonw_key(j, m->role[s]);
		jsonw_array(j);
		for (int i = 0; i < m->n; i++)
			jsonw_float(j, column[s][i]);
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

void protocol_put_guard(struct jsonw *j, const struct msg_guard *g)
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
		jsonw_kv_double(j, m->role[s], m->energy_j[s]);
	jsonw_object_end(j);
}

static void put_samples(struct jsonw *j, const struct msg_cell *m)
{
	jsonw_kv_int(j, "launch", m->launch);
	jsonw_kv_int(j, "set", m->set);
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "series", m->series);
	jsonw_kv_string(j, "phase", m->phase);
	jsonw_kv_string(j, "input_sha256", m->input_sha256);
	jsonw_kv_string(j, "order", m->order);
	jsonw_kv_int(j, "n", m->n);
	put_column(j, "ms", m, m->ms);
	put_column(j, "mhz", m, m->mhz);
	put_column(j, "host_us", m, m->host_us);
	put_energy(j, m);
	jsonw_key(j, "guard");
	protocol_put_guard(j, &m->guard);
	jsonw_kv_int(j, "redo", m->redo);
}

static void put_work(struct jsonw *j, const struct msg_work *m)
{
	jsonw_kv_string(j, "role", m->role);
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
	jsonw_kv_int(j, "phases", m->phases);
	if (m->tunes)
		jsonw_kv_bool(j, "tunes", true);
}

static void put_triple(struct jsonw *j, const char *key, const int v[3])
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (int i = 0; i < 3; i++)
		jsonw_int(j, v[i]);
	jsonw_array_end(j);
}

static void put_node(struct jsonw *j, const struct msg_node *m)
{
	jsonw_kv_string(j, "role", m->role);
	jsonw_kv_int(j, "cell", m->cell);
	jsonw_kv_string(j, "phase", m->phase);
	jsonw_kv_string(j, "kernel", m->kernel);
	put_triple(j, "grid", m->grid);
	put_triple(j, "block", m->block);
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

static void put_body(struct jsonw *j, const struct msg *m)
{
	switch (m->t) {
	case MSG_HELLO:
		put_hello(j, &m->u.hello);
		break;
	case MSG_JOB:
		put_job(j, m->u.job);
		break;
	case MSG_NEED:
		put_need(j, &m->u.need);
		break;
	case MSG_TREE:
		jsonw_kv_string(j, "oid", m->u.tree.oid);
		jsonw_kv_int(j, "bytes", m->u.tree.bytes);
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
	case MSG_LAUNCH:
		put_launch(j, m->u.launch);
		break;
	case MSG_AT:
		jsonw_kv_int(j, "launch", m->u.at.launch);
		put_cell_number(j, m->u.at.cell);
		jsonw_kv_string(j, "role", m->u.at.role);
		jsonw_kv_string(j, "step", m->u.at.step);
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
		put_cell_number(j, m->u.fault.cell);
		jsonw_kv_string(j, "role", m->u.fault.role);
		jsonw_kv_string(j, "class", m->u.fault.failure);
		jsonw_kv_string(j, "detail", m->u.fault.detail);
		break;
	case MSG_DONE:
		jsonw_kv_double(j, "gpu_s", m->u.done.gpu_s);
		jsonw_kv_double(j, "wall_s", m->u.done.wall_s);
		jsonw_kv_bool(j, "cancelled", m->u.done.cancelled);
		break;
	case MSG_RUN:
		put_run(j, m->u.run);
		break;
	case MSG_NOTE:
		put_cell_number(j, m->u.note.cell);
		jsonw_kv_string(j, "role", m->u.note.role);
		jsonw_kv_string(j, "text", m->u.note.text);
		break;
	case MSG_STATE:
		jsonw_kv_string(j, "what", m->u.state.what);
		jsonw_kv_bool(j, "ok", m->u.state.ok);
		jsonw_key(j, "guard");
		protocol_put_guard(j, &m->u.state.guard);
		jsonw_kv_string(j, "detail", m->u.state.detail);
		break;
	case MSG_CANARY:
		jsonw_kv_string(j, "device", m->u.canary.device);
		break;
	case MSG_AUDIT:
		put_cell_number(j, m->u.audit.cell);
		jsonw_kv_string(j, "role", m->u.audit.role);
		jsonw_kv_int(j, "calls", m->u.audit.calls);
		jsonw_kv_string(j, "state", m->u.audit.done ? "done" : "ready");
		jsonw_kv_double(j, "ms", m->u.audit.ms);
		break;
	case MSG_PING:
	case MSG_CANCEL:
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
	put_rule(&j, r);
}
