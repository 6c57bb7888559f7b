/*
 * job.c - parser of job and run. These messages start processes, allocate and build, so every size is checked against its limit
 * and every cell by model/case.c.
 */
#include "protocol/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lib.h"

#define SECONDS_MAX 86400.0
#define TURN_MAX    (1 << 24)

/* Rules before version 3 have no clocks: they get today's values, and keep their own noise. */
static void read_clock(struct fields *f, struct rule *out, struct fw_err *err)
{
	struct fields clock;
	struct clock_prior today;

	clock_prior_default(&today);
	out->tau0_clocked = field_double_or(f, "tau0_clocked", 1e-9, 1, out->tau0);
	out->placement = field_double_or(f, "placement", 0, 1, 0);
	out->clock = today;
	if (!field_has(f, "clock"))
		return;
	field_begin(&clock, field_object(f, "clock"), err, "%s.clock", f->where);
	out->clock = (struct clock_prior){
		.usual = field_double(&clock, "usual", 1e-9, 1),
		.odd = field_double(&clock, "odd", 1e-9, 1),
		.odd_share = field_double(&clock, "odd_share", 0, 1),
		.nu = field_double(&clock, "nu", 1e-9, 1e6),
		.k = field_double(&clock, "k", 1e-3, 100),
	};
	f->failed = f->failed || clock.failed;
}

/* Rules before version 5 use the deciding priors for their intervals. */
static void read_cover(struct fields *f, struct rule *out, struct fw_err *err)
{
	struct fields cover;

	if (!field_has(f, "cover"))
		return;
	field_begin(&cover, field_object(f, "cover"), err, "%s.cover", f->where);
	out->cover = (struct cover_prior){
		.runs = { field_double(&cover, "s0", 1e-9, 1), field_double(&cover, "nu0", 1e-9, 1e6) },
		.usual = field_double(&cover, "usual", 1e-9, 1),
		.odd = field_double(&cover, "odd", 1e-9, 1),
		.odd_share = field_double(&cover, "odd_share", 0, 1),
	};
	f->failed = f->failed || cover.failed;
}

/* Rules before version 5 have no interim looks; programs are those without paired calls. */
static void read_looks(struct fields *f, struct rule *out, struct fw_err *err)
{
	static const char *const names[PAIRINGS] = { "modules", "interleave", "processes" };
	struct fields look, one;

	out->programs = out->pairs_max < STATS_CALLS_MIN;
	if (out->version < 5 && !field_has(f, "look"))
		return;
	out->programs = field_bool(f, "programs");
	field_begin(&look, field_object(f, "look"), err, "%s.look", f->where);
	out->p_look = field_double(&look, "p", 1e-12, 0.01);
	out->p_alone = field_double(&look, "p_alone", 1e-12, 1);
	for (int i = 0; i < PAIRINGS; i++) {
		field_begin(&one, field_object(&look, names[i]), err, "%s.%s", look.where, names[i]);
		out->look[i] = (struct run_prior){ field_double(&one, "s0", 1e-9, 1), field_double(&one, "nu0", 1e-9, 1e6) };
		look.failed = look.failed || one.failed;
	}
	f->failed = f->failed || look.failed;
}

int protocol_job_read_rule(json_t *object, const char *where, struct rule *out, struct fw_err *err)
{
	struct fields f;

	field_begin(&f, object, err, "%s", where);
	*out = (struct rule){
		.version = (int)field_int(&f, "version", 1, 5),
		.tau0 = field_double(&f, "tau0", 1e-9, 1),
		.nu0 = field_double(&f, "nu0", 1e-9, 1e6),
		.k = field_double(&f, "k", 1e-3, 100),
		.se_max = field_double(&f, "se_max", 1e-9, 1),
		.runs_ok_min = (int)field_int(&f, "runs_ok_min", 1, STATS_RUNS_MAX / 2),
		.runs_regression_min = (int)field_int(&f, "runs_regression_min", 1, STATS_RUNS_MAX / 2),
		.runs_max = (int)field_int(&f, "runs_max", 1, STATS_RUNS_MAX / 2),
		.pairs_min = (int)field_int(&f, "pairs_min", 1, STATS_PAIRS_MAX),
		.pairs_max = (int)field_int(&f, "pairs_max", 1, STATS_PAIRS_MAX),
		.pair_budget_s = field_double(&f, "pair_budget_s", 1e-6, SECONDS_MAX),
		.pairs_short = (int)field_int_or(&f, "pairs_short", 0, STATS_PAIRS_MAX, 0),
		.short_budget_s = field_double_or(&f, "short_budget_s", 0, SECONDS_MAX, 0),
		.beta_min = field_double(&f, "beta_min", -2, 0),
		.half_width_dense_pct = field_double(&f, "half_width_dense_pct", 0, 100),
		.half_width_sparse_pct = field_double(&f, "half_width_sparse_pct", 0, 100),
		.confirm = field_bool(&f, "confirm"),
	};
	read_clock(&f, out, err);
	read_looks(&f, out, err);
	read_cover(&f, out, err);
	if (out->pairs_min > out->pairs_max)
		field_fail(&f, "pairs_min", "is above pairs_max");
	return f.failed ? -1 : 0;
}

/* The fields determine the key; the received key must equal it, or sender and receiver mean different work. */
static int read_cell(json_t *object, const char *where, struct cell *c, int *index, struct fw_err *err)
{
	static const char *const decides[] = { [SERIES_DEVICE] = "device", [SERIES_CALL] = "call", NULL };
	struct fw_err why = { 0 };
	struct fields f, shape;
	char key[CASE_KEY_SIZE], direction[16];

	field_begin(&f, object, err, "%s", where);
	field_token(&f, "key", FIELD_PATH, 1, key, sizeof key);
	field_token(&f, "family", FIELD_WORD, 1, c->family, sizeof c->family);
	field_token(&f, "direction", FIELD_WORD, 1, direction, sizeof direction);
	c->threshold_pct = field_double(&f, "threshold_pct", 0, 100);
	c->tau0 = field_double_or(&f, "tau0", 0, 1, 0);
	c->nu0 = field_double_or(&f, "nu0", 0, 1e6, 0);
	c->underpowered_pct = field_double_or(&f, "underpowered_pct", 0, 100, 0);
	c->seed = field_u64(&f, "seed");
	if (field_has(&f, "decide"))
		c->decide = field_word(&f, "decide", decides, NULL, 0) == SERIES_CALL ? SERIES_CALL : SERIES_DEVICE;
	if (index)
		*index = (int)field_int(&f, "i", 0, JOB_CELLS_MAX - 1);
	if (f.failed)
		return -1;
	c->direction = direction_from_name(direction);
	if (!case_family(c))
		return field_fail(&f, "family", "\"%s\" is unknown", c->family);
	if (!c->direction)
		return field_fail(&f, "direction", "\"%s\" is unknown", direction);
	field_begin(&shape, field_object(&f, "shape"), err, "%s.shape", where);
	if (f.failed || shape.failed)
		return -1;
	case_family(c)->parse(&shape, c->shape.bytes);
	if (shape.failed)
		return -1;
	if (case_check(c, &why) != 0)
		return field_fail(&f, "key", "%s", why.text);
	case_name(c);
	if (strcmp(c->key, key) != 0)
		return field_fail(&f, "key", "does not belong to these sizes, which are %s", c->key);
	return 0;
}

int protocol_job_read_cell(json_t *object, const char *where, struct cell *out, struct fw_err *err)
{
	memset(out, 0, sizeof *out);
	return read_cell(object, where, out, NULL, err);
}

/* Shape: *cells and, if requested, *index hold *n items; the caller frees them also after a failure. */
static int read_cells(struct fields *f, const char *message, size_t min, struct cell **cells, int **index, int *n)
{
	json_t *list = field_array(f, "cells", min, JOB_CELLS_MAX);
	size_t count = json_array_size(list);

	if (!list)
		return -1;
	*cells = calloc(count + 1, sizeof **cells);
	if (index)
		*index = calloc(count + 1, sizeof **index);
	if (!*cells || (index && !*index))
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu cells", count);
	*n = (int)count;
	for (size_t i = 0; i < count; i++) {
		char where[40];

		snprintf(where, sizeof where, "%s.cells[%zu]", message, i);
		if (read_cell(json_array_get(list, i), where, *cells + i, index ? *index + i : NULL, f->err))
			return -1;
	}
	return 0;
}

static int read_inputs(struct fields *f, struct msg_subject *s)
{
	json_t *list = field_array(f, "inputs", 0, MANIFEST_LIST_MAX);

	s->n_inputs = (int)json_array_size(list);
	for (int i = 0; i < s->n_inputs; i++) {
		struct fields in;

		field_begin(&in, json_array_get(list, (size_t)i), f->err, "%.40s.inputs[%d]", f->where, i);
		field_token(&in, "path", FIELD_PATH, 1, s->input[i].path, sizeof s->input[i].path);
		field_digest(&in, "oid", false, false, s->input[i].oid);
		if (!in.failed && !manifest_path_ok(s->input[i].path))
			field_fail(&in, "path", "must be relative and stay inside the tree");
		if (in.failed)
			return -1;
	}
	return list ? 0 : -1;
}

static int read_outputs(struct fields *f, struct manifest *m)
{
	json_t *outputs = field_object(f, "outputs");
	const char *family;
	json_t *path;

	if (!outputs)
		return -1;
	if (json_object_size(outputs) > sizeof m->family / sizeof m->family[0])
		return field_fail(f, "outputs", "has more than %zu items", sizeof m->family / sizeof m->family[0]);
	json_object_foreach(outputs, family, path)
	{
		const char *text = json_string_value(path);

		if (!field_is(FIELD_WORD, family) || !family[0] || strlen(family) >= sizeof m->family[0])
			return field_fail(f, "outputs", "holds a family name that is none");
		if (!text || strlen(text) >= sizeof m->output[0] || !field_is(FIELD_PATH, text) || !manifest_path_ok(text))
			return field_fail(f, "outputs", "%s must be a path that is relative and stays inside", family);
		snprintf(m->family[m->n_outputs], sizeof m->family[0], "%s", family);
		snprintf(m->output[m->n_outputs++], sizeof m->output[0], "%s", text);
	}
	return 0;
}

/* Read a list of strings below `size` bytes. Shape: rows[max][size]. Returns their number. */
static int read_texts(struct fields *f, const char *key, size_t min, size_t max, char *rows, size_t size)
{
	json_t *list = field_array(f, key, min, max);
	int n = (int)json_array_size(list);

	for (int i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(list, (size_t)i));

		if (!text || strlen(text) >= size)
			field_fail(f, key, "item %d must be a string below %zu bytes", i, size);
		else
			snprintf(rows + (size_t)i * size, size, "%s", text);
	}
	return n;
}

static int read_benchmark(struct fields *f, struct benchmark *b)
{
	static const char *const times[] = { "real", "cpu", NULL };
	struct fields r;

	if (!field_has(f, "run"))
		return 0;
	field_begin(&r, json_object_get(f->object, "run"), f->err, "%.50s.run", f->where);
	field_token(&r, "name", FIELD_WORD, 1, b->name, sizeof b->name);
	b->n_command = read_texts(&r, "command", 1, BENCHMARK_ARGS_MAX, b->command[0], sizeof b->command[0]);
	b->n_outputs = read_texts(&r, "outputs", 0, BENCHMARK_OUTPUTS_MAX, b->output[0], sizeof b->output[0]);
	if (field_has(&r, "artifacts"))
		b->n_artifacts = read_texts(&r, "artifacts", 1, BENCHMARK_ARTIFACTS_MAX, b->artifact[0], sizeof b->artifact[0]);
	field_token(&r, "reader", FIELD_WORD, 1, b->reader, sizeof b->reader);
	field_token(&r, "unit", FIELD_PATH, 0, b->unit, sizeof b->unit);
	if (field_has(&r, "time"))
		field_word(&r, "time", times, b->time, sizeof b->time);
	b->threshold_pct = field_double(&r, "threshold_pct", 0.01, 99);
	b->timeout_s = field_double(&r, "timeout_s", 0.001, SECONDS_MAX);
	b->budget_s = field_double(&r, "budget_s", 0.001, SECONDS_MAX);
	if (field_has(&r, "pairs"))
		b->pairs = (int)field_int(&r, "pairs", BENCHMARK_INTERLEAVE_MIN, BENCHMARK_INTERLEAVE_MAX);
	b->gpu = field_bool(&r, "gpu");
	for (int i = 0; i < b->n_outputs && !r.failed; i++)
		if (!field_is(FIELD_PATH, b->output[i]) || !manifest_path_ok(b->output[i]))
			field_fail(&r, "outputs", "item %d must be a path that is relative and stays inside", i);
	for (int i = 0; i < b->n_artifacts && !r.failed; i++)
		if (!field_is(FIELD_PATH, b->artifact[i]) || !manifest_path_ok(b->artifact[i]) ||
			strcmp(b->artifact[i], ".") == 0)
			field_fail(&r, "artifacts", "item %d must be a path that is relative and stays inside", i);
	return r.failed ? -1 : 0;
}

static int read_build(struct fields *f, struct manifest *m)
{
	struct fields b;

	field_begin(&b, field_object(f, "build"), f->err, "%.50s.build", f->where);
	field_token(&b, "dir", FIELD_PATH, 1, m->dir, sizeof m->dir);
	m->timeout_s = field_double(&b, "timeout_s", 0.001, SECONDS_MAX);
	if (!b.failed && !manifest_path_ok(m->dir))
		field_fail(&b, "dir", "must be relative and stay inside the tree");
	m->n_command = read_texts(&b, "command", 0, MANIFEST_LIST_MAX, m->command[0], sizeof m->command[0]);
	if (b.failed)
		return -1;
	return read_outputs(&b, m);
}

static int read_tools(struct fields *f, struct toolchain_override *w)
{
	struct fields t;
	const char *wrong;

	if (!field_has(f, "tools"))
		return 0;
	field_begin(&t, field_object(f, "tools"), f->err, "%.50s.tools", f->where);
	if (field_has(&t, "dir"))
		field_token(&t, "dir", FIELD_PATH, 1, w->dir, sizeof w->dir);
	if (field_has(&t, "flags"))
		field_token(&t, "flags", FIELD_PATH, 1, w->flags, sizeof w->flags);
	if (field_has(&t, "module")) {
		field_digest(&t, "module", false, false, w->module);
		field_text(&t, "made_by", w->made_by, sizeof w->made_by);
	}
	if (!t.failed && (wrong = toolchain_override_wrong_dir(w->dir)))
		field_fail(&t, "dir", "%s", wrong);
	if (!t.failed && (wrong = toolchain_override_wrong_flags(w->flags)))
		field_fail(&t, "flags", "%s", wrong);
	return t.failed ? -1 : 0;
}

static enum role read_side(struct fields *f)
{
	static const char *const sides[] = { "base", "target", "reference", NULL };
	int side = field_word(f, "role", sides, NULL, 0);

	return side < 0 ? ROLE_NONE : (enum role)(ROLE_BASE + side);
}

static int read_subject(json_t *object, size_t at, struct msg_subject *s, struct fw_err *err)
{
	struct fields f;

	field_begin(&f, object, err, "job.subjects[%zu]", at);
	s->role = read_side(&f);
	field_digest(&f, "commit", false, true, s->commit);
	field_token(&f, "provider", FIELD_WORD, 0, s->provider, sizeof s->provider);
	if (field_has(&f, "config"))
		field_token(&f, "config", FIELD_PATH, 1, s->config, sizeof s->config);
	if (f.failed || read_tools(&f, &s->tools) || read_inputs(&f, s) || read_benchmark(&f, &s->run) ||
		read_build(&f, &s->build))
		return -1;
	if (!s->run.name[0] && s->build.n_command == 0)
		return field_fail(&f, "build", "has no command");
	return 0;
}

static int read_beside(struct fields *f, struct msg_job *job)
{
	if (!field_has(f, "beside"))
		return f->failed ? -1 : 0;
	json_t *list = field_array(f, "beside", 0, PROTOCOL_DEVICES_MAX);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *uuid = json_string_value(json_array_get(list, i));

		if (!uuid || !*uuid || strlen(uuid) >= sizeof job->beside[0] || !field_is(FIELD_WORD, uuid))
			return field_fail(f, "beside", "item %zu must be the uuid of a device", i);
		snprintf(job->beside[job->n_beside++], sizeof job->beside[0], "%s", uuid);
	}
	return f->failed ? -1 : 0;
}

static int read_job(json_t *object, struct msg_job *job, struct fw_err *err)
{
	static const char *const kinds[] = { "compare", "selfcheck", "calibrate", "reference", "verify", "backfill", "peer",
		"config", "environment", "bisect", "profile", NULL };
	struct fields f, l;
	char kind[16];

	field_begin(&f, object, err, "job");
	job->job = field_int(&f, "job", 0, INT64_MAX);
	job->attempt = (int)field_int(&f, "attempt", 1, 1000);
	field_token(&f, "nonce", FIELD_WORD, 1, job->nonce, sizeof job->nonce);
	field_word(&f, "kind", kinds, kind, sizeof kind);
	job->kind = jobkind_from_name(kind);
	field_token(&f, "device", FIELD_WORD, 1, job->device, sizeof job->device);
	if (read_beside(&f, job))
		return -1;
	job->seed = field_u64(&f, "seed");
	job->quick = field_bool(&f, "quick");
	if (look_read(&f, "looked_elsewhere", &job->looked_elsewhere) || look_read(&f, "sustained_runs", &job->sustained_runs))
		return -1;
	json_t *subjects = field_array(&f, "subjects", 1, PROTOCOL_SUBJECTS_MAX);
	json_t *rule = field_object(&f, "rule");
	json_t *limits = field_object(&f, "limits");

	if (f.failed)
		return -1;
	for (size_t i = 0; i < json_array_size(subjects); i++) {
		struct msg_subject *s = &job->subject[job->n_subjects++];

		if (read_subject(json_array_get(subjects, i), i, s, err))
			return -1;
		for (size_t other = 0; other < i; other++)
			if (job->subject[other].role == s->role)
				return field_fail(&f, "subjects", "role %s appears twice", role_name(s->role));
	}
	if (protocol_job_read_rule(rule, "job.rule", &job->rule, err))
		return -1;
	field_begin(&l, limits, err, "job.limits");
	job->limits = (struct msg_limits){
		.build_s = field_double(&l, "build_s", 0.001, SECONDS_MAX),
		.check_s = field_double(&l, "check_s", 0.001, SECONDS_MAX),
		.run_s = field_double(&l, "run_s", 0.001, SECONDS_MAX),
		.budget_s = field_double(&l, "budget_s", 0.001, SECONDS_MAX),
		.wait_s = field_double_or(&l, "wait_s", 0, SECONDS_MAX, 600),
		.log_bytes = field_int(&l, "log_bytes", 0, 64 << 20),
	};
	if (l.failed)
		return -1;
	return read_cells(&f, "job", job->subject[0].run.name[0] ? 0 : 1, &job->cell, NULL, &job->n_cells);
}

int protocol_job_read(json_t *object, struct msg *out, struct fw_err *err)
{
	struct msg_job *job = calloc(1, sizeof *job);

	if (!job)
		return err_set(err, ERR_INTERNAL, "out of memory for a job");
	if (read_job(object, job, err)) {
		free(job->cell);
		free(job);
		return -1;
	}
	out->u.job = job;
	return 0;
}

static void read_guards(struct fields *f, struct msg_run *run)
{
	const char *text = json_string_value(json_object_get(f->object, "guards"));

	if (text && strlen(text) >= sizeof run->guards)
		field_fail(f, "guards", "is longer than %zu bytes", sizeof run->guards - 1);
	else if (text)
		snprintf(run->guards, sizeof run->guards, "%s", text);
}

static int read_sustained_runs(struct fields *f, struct msg_run *run)
{
	run->sustained_run = calloc((size_t)run->n_cells + 1, sizeof *run->sustained_run);
	if (!run->sustained_run)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %d cells", run->n_cells);
	if (!field_has(f, "sustained_runs"))
		return 0;
	json_t *list = field_array(f, "sustained_runs", 0, JOB_CELLS_MAX);

	for (size_t k = 0; k < json_array_size(list); k++) {
		json_t *v = json_array_get(list, k);
		bool known = false;

		for (int i = 0; i < run->n_cells; i++)
			if (json_is_integer(v) && json_integer_value(v) == run->index[i])
				known = run->sustained_run[i] = true;
		if (!known)
			return field_fail(f, "sustained_runs", "item %zu is the number of none of its cells", k);
	}
	return list ? 0 : -1;
}

static int read_pins(struct fields *f, struct msg_run *run)
{
	if (!field_has(f, "pins"))
		return 0;
	json_t *list = field_array(f, "pins", 0, (size_t)run->n_cells * (size_t)run->n_subjects);
	size_t n = json_array_size(list);

	run->pin = calloc(n + 1, sizeof *run->pin);
	if (!run->pin)
		return err_set(f->err, ERR_INTERNAL, "out of memory for %zu configurations", n);
	for (size_t i = 0; i < n; i++) {
		struct fields p;

		field_begin(&p, json_array_get(list, i), f->err, "run.pins[%zu]", i);
		run->pin[i].cell = (int)field_int(&p, "cell", 0, JOB_CELLS_MAX - 1);
		run->pin[i].subject = (int)field_int(&p, "subject", 0, run->n_subjects - 1);
		field_token(&p, "config", FIELD_PATH, 1, run->pin[i].config, sizeof run->pin[i].config);
		if (p.failed)
			return -1;
		run->n_pins++;
	}
	return list ? 0 : -1;
}

static int read_run(json_t *object, struct msg_run *run, struct fw_err *err)
{
	struct fields f;

	field_begin(&f, object, err, "run");
	int mode = field_word(&f, "mode", run_mode_names, NULL, 0);
	size_t least = mode < RUN_AUDIT; /* of subjects and of cells */

	run->mode = mode < 0 ? RUN_CHECK : (enum run_mode)mode;
	field_token(&f, "device", FIELD_WORD, 1, run->device, sizeof run->device);
	run->process_run = (int)field_int(&f, "run", 0, INT_MAX);
	run->set = (int)field_int(&f, "set", 0, 2);
	run->pass = (int)field_int_or(&f, "pass", 0, INT_MAX, 0);
	run->seed = field_u64(&f, "seed");
	run->turn = (int)field_int_or(&f, "turn", 1, TURN_MAX, 0);
	if (field_has(&f, "signature"))
		field_token(&f, "signature", FIELD_HEX, SIGNATURE_KEY, run->signature, sizeof run->signature);
	run->warm_s = field_double(&f, "warm_s", 0, 3600);
	run->cell_warm_s = field_double(&f, "cell_warm_s", 0, 3600);
	run->phases = field_bool(&f, "phases");
	run->calls = field_bool(&f, "calls");
	run->calls_n = (int)field_int_or(&f, "calls_n", 0, 1000000, 0);
	run->warmup_n = (int)field_int_or(&f, "warmup_n", 0, 1000000, 0);
	run->only_sustained_runs = field_bool_or(&f, "only_sustained_runs", false);
	run->sustained_rounds = (int)field_int_or(
		&f, "sustained_rounds", 1, 2, json_array_size(json_object_get(object, "sustained_runs")) > 0 ? 2 : 0);
	run->repeat = (int)field_int_or(&f, "repeat", 0, EVIDENCE_REPEATS - 1, 0);
	run->counters = field_bool_or(&f, "counters", false);
	run->samples = field_bool_or(&f, "samples", false);
	read_guards(&f, run);
	json_t *subjects = field_array(&f, "subjects", least, PROTOCOL_SUBJECTS_MAX);
	json_t *rule = field_object(&f, "rule");

	for (size_t i = 0; i < json_array_size(subjects); i++) {
		struct fields s;

		field_begin(&s, json_array_get(subjects, i), err, "run.subjects[%zu]", i);
		run->subject[i].role = read_side(&s);
		field_token(&s, "module", FIELD_PATH, 1, run->subject[i].module, sizeof run->subject[i].module);
		field_token(&s, "provider", FIELD_WORD, 0, run->subject[i].provider, sizeof run->subject[i].provider);
		if (s.failed)
			return -1;
		for (size_t other = 0; other < i; other++)
			if (run->subject[other].role == run->subject[i].role)
				return field_fail(&f, "subjects", "role %s appears twice", role_name(run->subject[i].role));
		run->n_subjects++;
	}
	if (f.failed || protocol_job_read_rule(rule, "run.rule", &run->rule, err))
		return -1;
	if (read_cells(&f, "run", least, &run->cell, &run->index, &run->n_cells) || read_pins(&f, run))
		return -1;
	return read_sustained_runs(&f, run);
}

int protocol_job_read_run(json_t *object, struct msg *out, struct fw_err *err)
{
	struct msg_run *run = calloc(1, sizeof *run);

	if (!run)
		return err_set(err, ERR_INTERNAL, "out of memory for a run");
	if (read_run(object, run, err)) {
		free(run->cell);
		free(run->index);
		free(run->sustained_run);
		free(run->pin);
		free(run);
		return -1;
	}
	out->u.run = run;
	return 0;
}
