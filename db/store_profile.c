/* store_profile.c - rows of profiles. */
#include "db/internal.h"

enum { TEXT_MAX = 1 << 16 };

static const char *const states[] = { "done", "identical", "unsupported", "failed" };

/* ---- requests ---------------------------------------------------------------------------------------------------------- */

int store_profile_insert(struct db *db, struct store_profile *p, struct fw_err *err)
{
	return db_insert(db, &p->id, err,
		"INSERT INTO profile (job, comparison, alert) VALUES (:job, nullif(:comparison, 0), nullif(:alert, 0))",
		"job=%ld comparison=%ld alert=%ld", p->job, p->comparison, p->alert);
}

int store_profile_of_job(struct db *db, int64_t job, struct store_profile *out, struct fw_err *err)
{
	return db_first(db, err, (out->id, out->job, out->comparison, out->alert),
		"SELECT id, job, comparison, alert FROM profile WHERE job = :job", "job=%ld", job);
}

int store_profile_requested(struct db *db, int64_t alert, int *cells, struct fw_err *err)
{
	return stmt_optional(db_first(db, err, (*cells),
		"SELECT count(*) FROM profile p JOIN job_cell w ON w.job = p.job WHERE p.alert = :alert", "alert=%ld", alert));
}

int store_profile_comparison(struct db *db, const struct store_profile_of *of, int64_t *comparison, struct fw_err *err)
{
	return db_first_int(db, comparison, err,
		"SELECT c.id FROM comparison c JOIN job j ON j.id = c.job JOIN suite t ON t.id = c.suite WHERE c.repo = :repo "
		"AND c.target_sha = :target AND c.base_sha = :base AND c.environment IS NOT NULL AND c.kind <> 'import' AND "
		"j.base_provider = :base_provider AND j.target_provider = :target_provider AND j.base_config = :base_config AND "
		"j.target_config = :target_config AND j.base_toolchain = :base_toolchain AND j.target_toolchain = "
		":target_toolchain AND j.base_flags = :base_flags AND j.target_flags = :target_flags AND j.base_module = "
		":base_module AND (:suite = '' OR t.name = :suite) ORDER BY c.id DESC LIMIT 1",
		"repo=%ld target=%s base=%s base_provider=%s target_provider=%s base_config=%s target_config=%s "
		"base_toolchain=%s target_toolchain=%s base_flags=%s target_flags=%s base_module=%s suite=%s",
		of->repo, of->target_sha, of->base_sha, of->base_provider, of->target_provider, of->base_config,
		of->target_config, of->base_tools.dir, of->target_tools.dir, of->base_tools.flags, of->target_tools.flags,
		of->base_tools.module, of->suite);
}

int store_profile_read_comparison(struct db *db, int64_t comparison, struct store_profile_of *out, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT c.repo, r.name, c.base_sha, c.target_sha, t.name, j.base_provider, j.target_provider, coalesce(d.uuid, "
		"''), c.kind = 'import', j.base_config, j.target_config, j.base_toolchain, j.target_toolchain, j.base_flags, "
		"j.target_flags, j.base_module, j.base_made_by FROM comparison c JOIN repo r ON r.id = c.repo JOIN suite t ON "
		"t.id = c.suite JOIN job j ON j.id = c.job LEFT JOIN device d ON d.id = c.device WHERE c.id = :id",
		"id=%ld", comparison);
	bool is_imported;
	memset(&out->base_tools, 0, sizeof out->base_tools);
	memset(&out->target_tools, 0, sizeof out->target_tools);
	int found = stmt_first(s, err, out->repo, out->repo_name, out->base_sha, out->target_sha, out->suite, out->base_provider,
		out->target_provider, out->device_uuid, is_imported, out->base_config, out->target_config, out->base_tools.dir,
		out->target_tools.dir, out->base_tools.flags, out->target_tools.flags, out->base_tools.module,
		out->base_tools.made_by);
	if (stmt_require(found, err, "there is no C%lld", (long long)comparison))
		return -1;
	if (is_imported)
		return err_set(
			err, ERR_INVALID, "C%lld has imported results; there is nothing to profile", (long long)comparison);
	if (!out->device_uuid[0])
		return err_set(err, ERR_INVALID, "nothing ran for C%lld, so there is nothing to profile", (long long)comparison);
	return 0;
}

/* ---- results ----------------------------------------------------------------------------------------------------------- */

/* Own: buf_fini. */
static void write_tried(struct buf *out, const struct tried *t)
{
	struct jsonw j;
	buf_init(out, TEXT_MAX);
	jsonw_init(&j, out);
	tried_write(&j, t);
}

int store_profile_cell_put(struct db *db, struct store_profile_cell *c, struct fw_err *err)
{
	static const struct msg_profile nothing;
	const struct msg_profile *end = c->end ? c->end : &nothing;
	struct buf base_tried, target_tried;
	write_tried(&base_tried, &end->base_tried);
	write_tried(&target_tried, &end->target_tried);
	int result = db_insert(db, &c->id, err,
		"INSERT INTO profile_cell (profile, n, key, state, why, path, tool, passes, stalls_why, base_config, "
		"target_config, base_tried, target_tried, base_ms, target_ms, gpu_s, with_config, with_base_ms, with_target_ms, "
		"with_ms) VALUES (:profile, :n, :key, :state, :why, :path, :tool, :passes, :stalls_why, :base_config, "
		":target_config, :base_tried, :target_tried, :base_ms, :target_ms, :gpu_s, :with_config, :with_base_ms, "
		":with_target_ms, :with_ms)",
		"base_tried=%s target_tried=%s profile=%ld n=%d key=%s state=%s why=%s path=%s tool=%s passes=%d stalls_why=%s "
		"base_config=%s target_config=%s base_ms=%f target_ms=%f gpu_s=%f with_config=%s with_base_ms=%f "
		"with_target_ms=%f with_ms=%f",
		base_tried.data, target_tried.data, c->profile, c->n, c->key, states[c->state], c->why,
		c->end ? evidence_path_names[end->path] : "", end->tool, end->passes, end->stalls_why, end->base_config,
		end->target_config, c->base_ms, c->target_ms, end->gpu_s, c->with ? c->with->config : NULL,
		c->with ? c->with->base_ms : NAN, c->with ? c->with->target_ms : NAN, c->with ? c->with->with_ms : NAN);
	buf_fini(&base_tried);
	buf_fini(&target_tried);
	return result;
}

static int name_id(struct db *db, const char *metric, int64_t *id, struct fw_err *err)
{
	int found = db_first_int(db, id, err, "SELECT id FROM metric_name WHERE name = :name AND unit = ''", "name=%s", metric);
	if (found != 0)
		return found < 0 ? -1 : 0;
	return db_insert(db, id, err, "INSERT INTO metric_name (name, unit) VALUES (:name, '')", "name=%s", metric);
}

static int put_value(struct db *db, int64_t kernel, const struct evidence_value *v, struct fw_err *err)
{
	int64_t name;
	if (name_id(db, v->metric, &name, err) != 0)
		return -1;
	return db_exec(db, err, "INSERT INTO profile_value (kernel, name, value) VALUES (:kernel, :name, :value)",
		"kernel=%ld name=%ld value=%f", kernel, name, v->value);
}

int store_profile_kernel_put(struct db *db, int64_t cell, const struct msg_kernel *k, struct fw_err *err)
{
	char grid[40], block[40];
	int64_t id;
	snprintf(grid, sizeof grid, "%d %d %d", k->grid[0], k->grid[1], k->grid[2]);
	snprintf(block, sizeof block, "%d %d %d", k->block[0], k->block[1], k->block[2]);
	struct stmt *s = db_query(db, err,
		"INSERT INTO profile_kernel (profile_cell, side, repeat, n, phase, kernel, code_sha, ms, grid, block, registers, "
		"local_bytes, shared_bytes, ctas_per_sm) VALUES (:cell, :side, :repeat, :n, :phase, :kernel, :code, :ms, :grid, "
		":block, :registers, :local, :shared, :ctas)",
		"cell=%ld side=%s repeat=%d n=%d phase=%s kernel=%s code=%s ms=%f grid=%s block=%s registers=%d local=%d "
		"shared=%d ctas=%d",
		cell, role_name(k->role), k->repeat, k->n, k->phase, k->kernel, k->code_sha256, k->ms >= 0 ? k->ms : NAN, grid,
		block, k->registers, k->local_bytes, k->shared_bytes, k->ctas_per_sm);
	if (stmt_insert(s, &id, err) != 0)
		return -1;
	for (int i = 0; i < k->n_values; i++)
		if (put_value(db, id, &k->value[i], err) != 0)
			return -1;
	return 0;
}

static void write_opcodes(struct buf *out, const struct msg_code *c)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_array(&j);
	for (int i = 0; i < c->n_opcodes; i++) {
		jsonw_format(&j, "[ %s %d %d ]", c->opcode[i].opcode, c->opcode[i].base, c->opcode[i].target);
	}
	jsonw_array_end(&j);
}

static void write_takes(struct buf *out, const struct evidence_takes *t)
{
	struct jsonw j;
	jsonw_init(&j, out);
	jsonw_format(&j, "{ registers=%d local_bytes=%d shared_bytes=%d ctas_per_sm=%d }", t->registers, t->local_bytes,
		t->shared_bytes, t->ctas_per_sm);
}

static void write_hot(struct buf *out, const struct evidence_hot *h)
{
	struct jsonw j;
	jsonw_init(&j, out);
	if (h->samples)
		protocol_stalls_put_hot(&j, h);
}

int store_profile_code_put(struct db *db, int64_t cell, const struct msg_code *c, struct fw_err *err)
{
	struct buf opcodes, base, target, hunks, stalls[2];
	size_t len = strlen(c->hunks);
	buf_init(&opcodes, TEXT_MAX);
	buf_init(&base, TEXT_MAX);
	buf_init(&target, TEXT_MAX);
	buf_init(&hunks, TEXT_MAX);
	for (int side = 0; side < 2; side++) {
		buf_init(&stalls[side], TEXT_MAX);
		write_hot(&stalls[side], &c->hot[side]);
	}
	write_opcodes(&opcodes, c);
	write_takes(&base, &c->base_takes);
	write_takes(&target, &c->target_takes);
	int result = pack(c->hunks, len, &hunks, err);
	if (result == 0 && (opcodes.failed || base.failed || target.failed || stalls[0].failed || stalls[1].failed))
		result = err_set(err, ERR_FULL, "the difference of the machine code does not fit");
	if (result == 0)
		result = db_exec(db, err,
			"INSERT INTO profile_code (profile_cell, base, target, what, opcodes, base_takes, target_takes, "
			"base_stalls, target_stalls, hunks_len, hunks) VALUES (:cell, :base, :target, :what, :opcodes, "
			":base_takes, :target_takes, nullif(:base_stalls, ''), nullif(:target_stalls, ''), :len, :hunks)",
			"cell=%ld base=%s target=%s what=%s opcodes=%s base_takes=%s target_takes=%s base_stalls=%s "
			"target_stalls=%s len=%ld hunks=%p%zu",
			cell, c->base, c->target, evidence_code_names[c->what], opcodes.data, base.data, target.data,
			stalls[0].data, stalls[1].data, (int64_t)len, (const void *)hunks.data, hunks.len);
	buf_fini(&opcodes);
	buf_fini(&base);
	buf_fini(&target);
	buf_fini(&hunks);
	buf_fini(&stalls[0]);
	buf_fini(&stalls[1]);
	return result;
}

int store_profile_cause_put(struct db *db, int64_t cell, const struct store_profile_cause *c, struct fw_err *err)
{
	return db_exec(db, err,
		"INSERT INTO cause (profile_cell, rank, code, kernel, explained_ms, of_ms, confidence, sentence) VALUES (:cell, "
		":rank, :code, :kernel, :explained, :of, :confidence, :sentence)",
		"cell=%ld rank=%d code=%s kernel=%s explained=%f of=%f confidence=%s sentence=%s", cell, c->rank, c->code,
		c->kernel, c->explained_ms, c->of_ms, c->confidence, c->sentence);
}
