/* plan.c - the manifest and the suite that apply to each side, and the stored form of a plan. */
#include "flopwatchd/job/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SUITE_BYTES_MAX = 1 << 20 };

void plan_init(struct plan *p)
{
	memset(p, 0, sizeof *p);
	buf_init(&p->suite_text, SUITE_BYTES_MAX);
}

void plan_fini(struct plan *p)
{
	free(p->request.cell);
	buf_fini(&p->suite_text);
	memset(p, 0, sizeof *p);
}

int plan_manifest(const struct gitread_commit *c, struct manifest *out, struct fw_err *err)
{
	const struct buf *text = gitread_blob(c, ".flopwatch.yaml");
	if (manifest_parse(text ? text->data : NULL, text ? text->len : 0, ".flopwatch.yaml", out, err) == 0)
		return 0;
	return err_context(err, "commit %.12s", c->commit.sha);
}

void plan_suite_paths(const char *name, char path[2][MANIFEST_TEXT_SIZE])
{
	snprintf(path[0], MANIFEST_TEXT_SIZE, "etc/suites/%s.yaml", name);
	snprintf(path[1], MANIFEST_TEXT_SIZE, ".flopwatch/suites/%s.yaml", name);
}

int plan_side(struct plan *p, int i, enum role role, const struct gitread_commit *c, const struct manifest *m, struct fw_err *err)
{
	struct msg_side *s = &p->request.side[i];
	memset(s, 0, sizeof *s);
	s->role = role;
	snprintf(s->commit, sizeof s->commit, "%s", c->commit.sha);
	if (c->problem[0])
		return err_set(err, ERR_INVALID, "commit %.12s: %s", c->commit.sha, c->problem);
	for (int k = 0; k < m->n_inputs; k++) {
		const char *oid = "";
		if (!gitread_oid(c, m->input[k], &oid))
			return err_set(
				err, ERR_INTERNAL, "input %s of commit %.12s was not requested", m->input[k], c->commit.sha);
		if (!*oid && !gitread_blob(c, ".flopwatch.yaml"))
			return err_set(err, ERR_INVALID,
				"commit %.12s has neither .flopwatch.yaml, which defines the build and the benchmarks, nor %s, which "
				"would be built without one (see doc/troubleshooting.md#no-manifest)",
				c->commit.sha, m->input[k]);
		if (!*oid)
			return err_set(err, ERR_INVALID,
				"commit %.12s has no %s, which its inputs name (see doc/troubleshooting.md#missing-input)",
				c->commit.sha, m->input[k]);
		snprintf(s->input[k].path, sizeof s->input[k].path, "%s", m->input[k]);
		snprintf(s->input[k].oid, sizeof s->input[k].oid, "%s", oid);
	}
	s->n_inputs = m->n_inputs;
	s->build = m->build;
	if (p->request.n_sides <= i)
		p->request.n_sides = i + 1;
	return 0;
}

/* Returns 1 read, 0 absent, -1. */
static int read_installed(const char *path, struct buf *text, struct fw_err *err)
{
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	int fd = regular_open("the suite ", path, err);
	if (fd < 0)
		return -1;
	int got = buf_read_fd(text, fd);
	if (got != 0)
		err_sys(err, "cannot read the suite %s", path);
	close(fd);
	if (text->is_out_of_memory)
		return err_memory(err, "cannot read the suite %s", path);
	if (got != 0 || text->failed)
		return err_set(err, ERR_INVALID, "the suite %s is larger than %d bytes", path, SUITE_BYTES_MAX);
	return 1;
}

int plan_find_suite(const struct config *config, const struct gitread_commit *c, const char *name, struct buf *text,
	char file[1024], bool *installed, struct fw_err *err)
{
	char path[2][MANIFEST_TEXT_SIZE];
	plan_suite_paths(name, path);
	buf_clear(text);
	*installed = false;
	for (int i = 0; i < 2; i++) {
		const struct buf *blob = gitread_blob(c, path[i]);
		if (!blob)
			continue;
		buf_append(text, blob->data, blob->len);
		snprintf(file, 1024, "%s", path[i]);
		return text->is_out_of_memory ? err_memory(err, "cannot read %s of commit %.12s", file, c->commit.sha) : 1;
	}
	*installed = true;
	snprintf(file, 1024, "%s/%s.yaml", config->suites_dir, name);
	return read_installed(file, text, err);
}

/* Find suite `name` for both sides; `file` is set to its name in messages. */
static int find_suite(struct plan *p, const struct config *config, const char *repo, const struct gitread_commit *base,
	const char *name, char file[1024], struct fw_err *err)
{
	char path[2][MANIFEST_TEXT_SIZE];
	bool installed;
	int got = plan_find_suite(config, base, name, &p->suite_text, file, &installed, err);
	if (got == 0) {
		plan_suite_paths(name, path);
		return err_set(err, ERR_NOT_FOUND, "there is no suite %s: not at %s in base %.12s, and no %s", name, path[0],
			base->commit.sha, file);
	}
	size_t len = strlen(file);
	if (got == 1 && !installed)
		snprintf(file + len, 1024 - len, " of %.12s", base->commit.sha);
	if (installed)
		snprintf(p->suite_origin, sizeof p->suite_origin, "installed");
	else
		snprintf(p->suite_origin, sizeof p->suite_origin, "%s@%s", repo, base->commit.sha);
	return got == 1 ? 0 : -1;
}

static void set_limits(struct plan *p, const struct config *config, double budget_s)
{
	p->request.limits = (struct msg_limits){
		.build_s = config->build_s,
		.check_s = config->check_s,
		.run_s = config->run_s,
		.budget_s = budget_s,
		.wait_s = config->wait_s,
		.log_bytes = 512 << 10,
	};
}

/* Fill cells, rule and limits from suite_text. `file`: name of the suite in messages. */
static int read_suite(struct plan *p, const struct config *config, const char *file, const char *name, const char *cells_glob,
	struct fw_err *err)
{
	struct suite s;
	if (suite_parse(p->suite_text.data, p->suite_text.len, file, &s, err) != 0)
		return -1;
	snprintf(p->suite_name, sizeof p->suite_name, "%s", name);
	suite_hash(&s, p->suite_sha);
	snprintf(s.name, sizeof s.name, "%.63s", name); /* the requested name */
	p->size = suite_size(&s);
	p->costs = s.costs;
	if (suite_choose(&s, cells_glob, p->shard, err) != 0) {
		suite_fini(&s);
		return -1;
	}
	free(p->request.cell);
	p->request.cell = s.cell;
	p->request.n_cells = s.n_cells;
	s.cell = NULL;
	s.n_cells = 0;
	set_limits(p, config, s.budget_s);
	rule_default(&p->request.rule, p->request.n_cells);
	suite_fini(&s);
	return 0;
}

int plan_suite(struct plan *p, const struct config *config, const char *repo, const struct gitread_commit *base, const char *name,
	const char *cells_glob, struct fw_err *err)
{
	char file[1024];
	if (!name[0] || name[0] == '.' || strchr(name, '/'))
		return err_set(err, ERR_INVALID, "`%s` is not the name of a suite; e.g. ffa", name);
	if (find_suite(p, config, repo, base, name, file, err) != 0)
		return -1;
	return read_suite(p, config, file, name, cells_glob, err);
}

bool plan_is_benchmark(const struct plan *p)
{
	return p->request.side[0].benchmark.name[0] != 0;
}

/* Write the settings that the base defines for both sides; they are stored as the suite. */
static void write_settings(const struct benchmark *b, struct buf *out)
{
	struct jsonw j;

	jsonw_init(&j, out);
	jsonw_format(&j,
		"{ benchmark=%s reader=%s unit=%s time~=%s threshold_pct=%f timeout_s=%f budget_s=%f pairs~=%d "
		"gpu=%i fork=%i }",
		b->name, b->reader, b->unit, b->time, b->threshold_pct, b->timeout_s, b->budget_s, b->pairs, b->gpu, b->fork);
	buf_require_memory(out);
}

int plan_side_benchmark(struct plan *p, int i, const struct manifest *own, struct fw_err *err)
{
	const struct benchmark *base = &p->request.side[0].benchmark, *found = manifest_benchmark(own, base->name);
	struct benchmark *mine = &p->request.side[i].benchmark;

	if (!found)
		return err_set(err, ERR_INVALID, "commit %.12s: .flopwatch.yaml names no benchmark %s", p->request.side[i].commit,
			base->name);
	*mine = *found;
	mine->threshold_pct = base->threshold_pct;
	mine->costs = base->costs;
	mine->timeout_s = base->timeout_s;
	mine->budget_s = base->budget_s;
	mine->pairs = base->pairs;
	mine->gpu = base->gpu;
	mine->fork = base->fork;
	snprintf(mine->time, sizeof mine->time, "%s", base->time); /* a GPU time and a CPU time are not comparable */
	return 0;
}

/* Fill rule and limits from the base's benchmark, whose settings are the suite. */
static void read_settings(struct plan *p, const struct config *config)
{
	const struct benchmark *base = &p->request.side[0].benchmark;
	hash_hex(p->suite_text.data, p->suite_text.len, p->suite_sha);
	p->costs = base->costs;
	set_limits(p, config, base->budget_s);
	benchmark_rule(base, 0, &p->request.rule);
}

void plan_benchmark(struct plan *p, const struct config *config, const char *repo, const struct benchmark *base,
	const struct manifest *target)
{
	p->request.side[0].benchmark = *base;
	p->dropped = plan_side_benchmark(p, 1, target, NULL) != 0;
	buf_clear(&p->suite_text);
	write_settings(base, &p->suite_text);
	snprintf(p->suite_name, sizeof p->suite_name, "%s", base->name);
	snprintf(p->suite_origin, sizeof p->suite_origin, "%s@%s", repo, p->request.side[0].commit);
	read_settings(p, config);
}

/* With `untrusted` false, equal inputs of a fork and a branch have equal hashes. */
static void hash_inputs(const struct msg_side *s, enum device_kind kind, bool untrusted, char hex[65])
{
	struct hash_state h;
	hash_begin(&h);
	/* Include the terminator of every text, and end every list, so that different lists never give the same bytes. */
	for (int i = 0; i < s->n_inputs; i++) {
		hash_update(&h, s->input[i].path, strlen(s->input[i].path) + 1);
		hash_update(&h, s->input[i].oid, strlen(s->input[i].oid) + 1);
	}
	hash_update(&h, "", 1);
	hash_update(&h, s->build.dir, strlen(s->build.dir) + 1);
	for (int i = 0; i < s->build.n_command; i++)
		hash_update(&h, s->build.command[i], strlen(s->build.command[i]) + 1);
	hash_update(&h, "", 1);
	for (int i = 0; i < s->build.n_outputs; i++) {
		hash_update(&h, s->build.family[i], strlen(s->build.family[i]) + 1);
		hash_update(&h, s->build.output[i], strlen(s->build.output[i]) + 1);
	}
	if (s->benchmark.name[0]) {
		hash_update(&h, "", 1);
		for (int i = 0; i < s->benchmark.n_command; i++)
			hash_update(&h, s->benchmark.command[i], strlen(s->benchmark.command[i]) + 1);
		hash_update(&h, "", 1);
		for (int i = 0; i < s->benchmark.n_outputs; i++)
			hash_update(&h, s->benchmark.output[i], strlen(s->benchmark.output[i]) + 1);
		hash_update(&h, "", 1);
		for (int i = 0; i < s->benchmark.n_artifacts; i++)
			hash_update(&h, s->benchmark.artifact[i], strlen(s->benchmark.artifact[i]) + 1);
		hash_update(&h, "", 1);
		hash_update(&h, s->benchmark.reader, strlen(s->benchmark.reader) + 1);
		hash_update(&h, s->benchmark.unit, strlen(s->benchmark.unit) + 1);
	}
	hash_update(&h, device_kind_name(kind), strlen(device_kind_name(kind)) + 1);
	if (untrusted)
		hash_update(&h, "untrusted", sizeof "untrusted");
	hash_end(&h, hex);
}

void plan_inputs_hash(const struct msg_side *s, enum device_kind kind, char hex[65])
{
	hash_inputs(s, kind, s->untrusted, hex);
}

enum jobkind plan_kind(const struct store_job *job, const char *base_sha, const char *base_how)
{
	bool self = !strcmp(base_how, "self") || (!strcmp(base_how, "given") && !strcmp(base_sha, job->target_sha));
	bool is_itself = job->kind == JOBKIND_CALIBRATE || jobkind_is_side_by_side(job->kind) ||
			 job->kind == JOBKIND_PROFILE; /* also for one commit */
	return self && !is_itself ? JOBKIND_SELFCHECK : job->kind;
}

bool plan_is_named(const struct plan *p)
{
	const struct msg_side *base = &p->request.side[0], *target = &p->request.side[1];
	return base->provider[0] || target->provider[0] || base->config[0] || target->config[0];
}

void plan_compare(struct plan *p)
{
	char base[65], target[65];
	hash_inputs(&p->request.side[0], DEVICE_ANY, false, base);
	hash_inputs(&p->request.side[1], DEVICE_ANY, false, target);
	bool is_named = plan_is_named(p); /* a named provider may not exist */
	bool has_tools =
		!toolchain_override_is_none(&p->request.side[0].tools) || !toolchain_override_is_none(&p->request.side[1].tools);
	p->identical = strcmp(base, target) == 0 && !is_named && !has_tools && !jobkind_is_itself(p->request.kind);
}

bool plan_needs_worker(const struct plan *p)
{
	return !p->identical && !p->dropped && !(p->request.kind == JOBKIND_PROFILE && plan_is_benchmark(p));
}

static bool is_installed(const char *suite_origin)
{
	return strcmp(suite_origin, "installed") == 0;
}

int plan_store(struct db *db, int64_t job, const struct plan *p, struct fw_err *err)
{
	struct buf sides, text;
	struct store_plan stored = { .sides = &sides, .suite_text = &text };
	buf_init(&sides, PROTOCOL_LINE_MAX);
	buf_init(&text, SUITE_BYTES_MAX);
	protocol_write_sides(&sides, &p->request);
	if (!is_installed(p->suite_origin))
		buf_append(&text, p->suite_text.data, p->suite_text.len);
	snprintf(stored.suite_origin, sizeof stored.suite_origin, "%s", p->suite_origin);
	snprintf(stored.provider_position, sizeof stored.provider_position, "%s", p->provider_position);
	int result = sides.is_out_of_memory || text.is_out_of_memory
			     ? err_memory(err, "cannot store the plan of J%lld", (long long)job)
		     : sides.failed || text.failed ? err_set(err, ERR_FULL, "the plan of J%lld is too large", (long long)job)
						   : store_plan_put(db, job, &stored, err);
	buf_fini(&sides);
	buf_fini(&text);
	return result;
}

/* Read the fields of the row; the others follow from them. */
static int read_row(struct db *db, const struct store_job *job, struct plan *p, struct fw_err *err)
{
	struct buf sides;
	struct store_plan stored = { .sides = &sides, .suite_text = &p->suite_text };
	buf_init(&sides, PROTOCOL_LINE_MAX);
	buf_clear(&p->suite_text);
	int result = store_plan_get(db, job->id, &stored, err);
	if (result == 0 && (sides.is_out_of_memory || p->suite_text.is_out_of_memory))
		result = err_memory(err, "cannot read the plan of J%lld", (long long)job->id);
	if (result == 0 && protocol_parse_sides(sides.data, sides.len, &p->request, err) != 0)
		result = err_context(err, "no worker could read this job");
	buf_fini(&sides);
	snprintf(p->suite_origin, sizeof p->suite_origin, "%s", stored.suite_origin);
	snprintf(p->provider_position, sizeof p->provider_position, "%s", stored.provider_position);
	return result;
}

int plan_read(struct db *db, const struct config *config, const struct store_job *job, struct plan *p, struct fw_err *err)
{
	char file[1024];
	if (read_row(db, job, p, err) != 0)
		return -1;
	p->request.job = job->id;
	p->request.kind = plan_kind(job, job->base_sha, job->base_how);
	p->request.quick = job->quick;
	p->shard = job->shard;
	snprintf(p->base_how, sizeof p->base_how, "%s", job->base_how);
	snprintf(p->suite_name, sizeof p->suite_name, "%s", job->suite);
	if (plan_is_benchmark(p)) {
		read_settings(p, config);
		return 0;
	}
	snprintf(file, sizeof file, "%s", p->suite_origin);
	if (is_installed(p->suite_origin)) {
		snprintf(file, sizeof file, "%s/%s.yaml", config->suites_dir, job->suite);
		int got = read_installed(file, &p->suite_text, err);
		if (got != 1)
			return got < 0 ? -1 : err_set(err, ERR_NOT_FOUND, "there is no suite %s: no %s", job->suite, file);
	}
	return read_suite(p, config, file, job->suite, job->cells_glob, err);
}
