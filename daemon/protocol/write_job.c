/* write_job.c - writer of tasks. */
#include "protocol/internal.h"

#include <inttypes.h>
#include <stdio.h>

void protocol_put_u64(struct jsonw *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, v);
	jsonw_kv_string(j, key, text);
}

void protocol_put_ints(struct jsonw *j, const char *key, const int *v, int n)
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (int i = 0; i < n; i++)
		jsonw_int(j, v[i]);
	jsonw_array_end(j);
}

void protocol_put_texts(struct jsonw *j, const char *key, const char *rows, size_t size, int n)
{
	jsonw_key(j, key);
	jsonw_array(j);
	for (int i = 0; i < n; i++)
		jsonw_string(j, rows + (size_t)i * size);
	jsonw_array_end(j);
}

/* A rule of an earlier version has none. */
static void put_looks(struct jsonw *j, const struct rule *r)
{
	static const char *const names[PAIRINGS] = { "modules", "interleave", "processes" };

	if (!(r->p_look > 0))
		return;
	jsonw_kv_bool(j, "programs", r->programs);
	jsonw_key(j, "look");
	jsonw_object(j);
	jsonw_kv_double(j, "p", r->p_look);
	jsonw_kv_double(j, "p_alone", r->p_alone);
	for (int i = 0; i < PAIRINGS; i++) {
		jsonw_key(j, names[i]);
		jsonw_object(j);
		jsonw_kv_double(j, "s0", r->look[i].s0);
		jsonw_kv_double(j, "nu0", r->look[i].nu0);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

static void put_cover(struct jsonw *j, const struct rule *r)
{
	if (!(r->cover.runs.nu0 > 0))
		return;
	jsonw_key(j, "cover");
	jsonw_object(j);
	jsonw_kv_double(j, "s0", r->cover.runs.s0);
	jsonw_kv_double(j, "nu0", r->cover.runs.nu0);
	jsonw_kv_double(j, "usual", r->cover.usual);
	jsonw_kv_double(j, "odd", r->cover.odd);
	jsonw_kv_double(j, "odd_share", r->cover.odd_share);
	jsonw_object_end(j);
}

void protocol_put_rule(struct jsonw *j, const struct rule *r)
{
	jsonw_object(j);
	jsonw_kv_int(j, "version", r->version);
	jsonw_kv_double(j, "tau0", r->tau0);
	jsonw_kv_double(j, "tau0_clocked", r->tau0_clocked);
	jsonw_kv_double(j, "nu0", r->nu0);
	jsonw_kv_double(j, "placement", r->placement);
	jsonw_kv_double(j, "k", r->k);
	jsonw_kv_double(j, "se_max", r->se_max);
	jsonw_kv_int(j, "runs_ok_min", r->runs_ok_min);
	jsonw_kv_int(j, "runs_regression_min", r->runs_regression_min);
	jsonw_kv_int(j, "runs_max", r->runs_max);
	jsonw_kv_int(j, "pairs_min", r->pairs_min);
	jsonw_kv_int(j, "pairs_max", r->pairs_max);
	jsonw_kv_double(j, "pair_budget_s", r->pair_budget_s);
	jsonw_kv_int(j, "pairs_short", r->pairs_short);
	jsonw_kv_double(j, "short_budget_s", r->short_budget_s);
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
	put_looks(j, r);
	put_cover(j, r);
	jsonw_object_end(j);
}

/* `index` < 0: the cell's number is its position in the list. */
static void put_cell(struct jsonw *j, const struct cell *c, int index)
{
	jsonw_object(j);
	if (index >= 0)
		jsonw_kv_int(j, "i", index);
	jsonw_kv_string(j, "key", c->key);
	jsonw_kv_string(j, "family", c->family);
	jsonw_kv_string(j, "direction", direction_name(c->direction));
	jsonw_kv_double(j, "threshold_pct", c->threshold_pct);
	if (c->decide != SERIES_DEVICE)
		jsonw_kv_string(j, "decide", series_name(c->decide));
	if (c->tau0 > 0)
		jsonw_kv_double(j, "tau0", c->tau0);
	if (c->nu0 > 0)
		jsonw_kv_double(j, "nu0", c->nu0);
	if (c->underpowered_pct > 0)
		jsonw_kv_double(j, "underpowered_pct", c->underpowered_pct);
	jsonw_key(j, "shape");
	jsonw_object(j);
	case_family(c)->write(c->shape.bytes, j);
	jsonw_object_end(j);
	protocol_put_u64(j, "seed", c->seed);
	jsonw_object_end(j);
}

/* Shape: index[n], or NULL. */
static void put_cells(struct jsonw *j, const struct cell *cell, const int *index, int n)
{
	jsonw_key(j, "cells");
	jsonw_array(j);
	for (int i = 0; i < n; i++)
		put_cell(j, &cell[i], index ? index[i] : -1);
	jsonw_array_end(j);
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
	protocol_put_texts(j, "command", b->command[0], sizeof b->command[0], b->n_command);
	protocol_put_texts(j, "outputs", b->output[0], sizeof b->output[0], b->n_outputs);
	if (b->n_artifacts)
		protocol_put_texts(j, "artifacts", b->artifact[0], sizeof b->artifact[0], b->n_artifacts);
	jsonw_kv_string(j, "reader", b->reader);
	jsonw_kv_string(j, "unit", b->unit);
	if (b->time[0])
		jsonw_kv_string(j, "time", b->time);
	jsonw_kv_double(j, "threshold_pct", b->threshold_pct);
	jsonw_kv_double(j, "timeout_s", b->timeout_s);
	jsonw_kv_double(j, "budget_s", b->budget_s);
	if (b->pairs)
		jsonw_kv_int(j, "pairs", b->pairs);
	jsonw_kv_bool(j, "gpu", b->gpu);
	jsonw_object_end(j);
}

static void put_tools(struct jsonw *j, const struct toolchain_override *w)
{
	jsonw_key(j, "tools");
	jsonw_object(j);
	if (w->dir[0])
		jsonw_kv_string(j, "dir", w->dir);
	if (w->flags[0])
		jsonw_kv_string(j, "flags", w->flags);
	if (w->module[0]) {
		jsonw_kv_string(j, "module", w->module);
		jsonw_kv_string(j, "made_by", w->made_by);
	}
	jsonw_object_end(j);
}

static void put_subject(struct jsonw *j, const struct msg_subject *s)
{
	jsonw_object(j);
	jsonw_kv_string(j, "role", role_name(s->role));
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
	protocol_put_texts(j, "command", s->build.command[0], sizeof s->build.command[0], s->build.n_command);
	jsonw_key(j, "outputs");
	jsonw_object(j);
	for (int i = 0; i < s->build.n_outputs; i++)
		jsonw_kv_string(j, s->build.family[i], s->build.output[i]);
	jsonw_object_end(j);
	jsonw_kv_double(j, "timeout_s", s->build.timeout_s);
	jsonw_object_end(j);
	jsonw_kv_string(j, "provider", s->provider);
	if (s->config[0])
		jsonw_kv_string(j, "config", s->config);
	if (!toolchain_override_is_none(&s->tools))
		put_tools(j, &s->tools);
	if (s->run.name[0])
		put_benchmark(j, &s->run);
	jsonw_object_end(j);
}

void protocol_put_job(struct jsonw *j, const struct msg_job *m)
{
	jsonw_kv_int(j, "job", m->job);
	jsonw_kv_int(j, "attempt", m->attempt);
	jsonw_kv_string(j, "nonce", m->nonce);
	jsonw_kv_string(j, "kind", jobkind_name(m->kind));
	jsonw_kv_string(j, "device", m->device);
	if (m->n_beside) {
		jsonw_key(j, "beside");
		jsonw_array(j);
		for (int i = 0; i < m->n_beside; i++)
			jsonw_string(j, m->beside[i]);
		jsonw_array_end(j);
	}
	protocol_put_u64(j, "seed", m->seed);
	jsonw_kv_bool(j, "quick", m->quick);
	look_write(j, "looked_elsewhere", m->looked_elsewhere);
	look_write(j, "sustained_runs", m->sustained_runs);
	jsonw_key(j, "subjects");
	jsonw_array(j);
	for (int i = 0; i < m->n_subjects; i++)
		put_subject(j, &m->subject[i]);
	jsonw_array_end(j);
	put_cells(j, m->cell, NULL, m->n_cells);
	jsonw_key(j, "rule");
	protocol_put_rule(j, &m->rule);
	jsonw_key(j, "limits");
	jsonw_object(j);
	jsonw_kv_double(j, "build_s", m->limits.build_s);
	jsonw_kv_double(j, "check_s", m->limits.check_s);
	jsonw_kv_double(j, "run_s", m->limits.run_s);
	jsonw_kv_double(j, "budget_s", m->limits.budget_s);
	jsonw_kv_double(j, "wait_s", m->limits.wait_s);
	jsonw_kv_int(j, "log_bytes", m->limits.log_bytes);
	jsonw_object_end(j);
}

void protocol_put_run(struct jsonw *j, const struct msg_run *m)
{
	jsonw_kv_string(j, "mode", run_mode_name(m->mode));
	jsonw_kv_string(j, "device", m->device);
	jsonw_kv_int(j, "run", m->process_run);
	jsonw_kv_int(j, "set", m->set);
	if (m->pass)
		jsonw_kv_int(j, "pass", m->pass);
	protocol_put_u64(j, "seed", m->seed);
	if (m->turn)
		jsonw_kv_int(j, "turn", m->turn);
	if (m->signature[0])
		jsonw_kv_string(j, "signature", m->signature);
	jsonw_key(j, "subjects");
	jsonw_array(j);
	for (int i = 0; i < m->n_subjects; i++) {
		jsonw_object(j);
		jsonw_kv_string(j, "role", role_name(m->subject[i].role));
		jsonw_kv_string(j, "module", m->subject[i].module);
		jsonw_kv_string(j, "provider", m->subject[i].provider);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	put_cells(j, m->cell, m->index, m->n_cells);
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
	protocol_put_rule(j, &m->rule);
	jsonw_kv_double(j, "warm_s", m->warm_s);
	jsonw_kv_double(j, "cell_warm_s", m->cell_warm_s);
	jsonw_kv_bool(j, "phases", m->phases);
	jsonw_kv_bool(j, "calls", m->calls);
	jsonw_kv_int(j, "calls_n", m->calls_n);
	jsonw_kv_int(j, "warmup_n", m->warmup_n);
	jsonw_kv_bool(j, "only_sustained_runs", m->only_sustained_runs);
	if (m->sustained_rounds > 0)
		jsonw_kv_int(j, "sustained_rounds", m->sustained_rounds);
	if (m->mode == RUN_PROFILE) {
		jsonw_kv_int(j, "repeat", m->repeat);
		jsonw_kv_bool(j, "counters", m->counters);
		jsonw_kv_bool(j, "samples", m->samples);
	}
	jsonw_key(j, "sustained_runs");
	jsonw_array(j);
	for (int i = 0; m->sustained_run && i < m->n_cells; i++)
		if (m->sustained_run[i])
			jsonw_int(j, m->index[i]);
	jsonw_array_end(j);
	if (m->guards[0])
		jsonw_kv_string(j, "guards", m->guards);
}
