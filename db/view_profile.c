/* view_profile.c - queries over profiles; one statement a filter, so that each reads one index. */
#include "db/internal.h"

enum { HUNKS_MAX = 1 << 20 };

/* ---- requests ---------------------------------------------------------------------------------------------------------- */

/* Whether it found a cause. */
#define HAS_CAUSE                                                                                                                \
	"(SELECT 1 FROM profile_cell x JOIN cause k ON k.profile_cell = x.id WHERE x.profile = p.id AND k.code <> "              \
	"'not_explained' LIMIT 1)"

#define PROFILE_SELECT                                                                                                           \
	"SELECT p.id, p.job, p.comparison, p.alert, j.state, j.state_why, r.name, j.base_sha, j.target_sha, "                    \
	"j.base_name, j.target_name, j.base_provider, j.target_provider, j.suite, " STORE_JOB_CELLS                              \
	", coalesce(d.uuid, j.device_uuid), j.origin, j.queued_at, j.started_at, j.ended_at, j.base_config, "                    \
	"j.target_config FROM profile p JOIN job j ON j.id = p.job JOIN repo r ON r.id = j.repo LEFT JOIN device d ON "          \
	"d.id = j.device "

static int each_profile(struct db *db, struct stmt *s, view_profile_fn *each, void *arg, struct fw_err *err)
{
	struct profile_answer answer;
	int result, n = 0;
	struct view_profile row = { .answer = answer.text };
	for (; (result = stmt_next(s, err, row.id, row.job, row.comparison, row.alert,
			COLUMN_NAMED(row.state, jobstate_from_name), row.state_why, row.repo, row.base, row.target, row.base_name,
			row.target_name, row.base_provider, row.target_provider, row.suite, row.cells_glob, row.device,
			row.origin, row.queued_at, row.started_at, row.ended_at, row.base_config, row.target_config)) == 1;
		n++) {
		if (profile_answer(db, row.id, row.state, row.state_why, NULL, &answer, err) != 0) {
			stmt_reset(s);
			return -1;
		}
		row.sentence = answer.has_cause ? answer.text : "";
		row.cause = answer.cause;
		each(arg, &row);
	}
	return result < 0 ? -1 : n;
}

int view_profiles(struct db *db, const struct view_profile_filter *f, view_profile_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s;
	if (f->alert)
		s = db_stmt(db, PROFILE_SELECT "WHERE p.alert = :of AND p.id < :before ORDER BY p.id DESC LIMIT :limit", err);
	else if (f->comparison)
		s = db_stmt(
			db, PROFILE_SELECT "WHERE p.comparison = :of AND p.id < :before ORDER BY p.id DESC LIMIT :limit", err);
	else
		s = db_stmt(db, PROFILE_SELECT "WHERE p.id < :before ORDER BY p.id DESC LIMIT :limit", err);
	if (f->alert || f->comparison)
		s = stmt_bind(s, err, "of=%ld", f->alert ? f->alert : f->comparison);
	s = stmt_bind(s, err, "before=%ld limit=%d", store_page_before(f->before), store_page_size(f->limit, VIEW_ROWS_MAX));
	return each_profile(db, s, each, arg, err) < 0 ? -1 : 0;
}

int view_profile(struct db *db, int64_t id, view_profile_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, PROFILE_SELECT "WHERE p.id = :id", "id=%ld", id);
	return store_page_require_row(each_profile(db, s, each, arg, err), "profile", id, err);
}

static int has_profile(struct db *db, int64_t alert, int64_t comparison, struct fw_err *err)
{
	return db_any(db, err,
		alert ? "SELECT 1 FROM profile WHERE alert = :of LIMIT 1"
		      : "SELECT 1 FROM profile WHERE comparison = :of LIMIT 1",
		"of=%ld", alert ? alert : comparison);
}

int view_profile_of(struct db *db, int64_t alert, int64_t comparison, view_profile_fn *each, void *arg, struct fw_err *err)
{
	/* mostly none: a sort without rows costs ten times as much as has_profile */
	int found = has_profile(db, alert, comparison, err);
	if (found < 1)
		return found;
	struct stmt *s = db_query(db, err,
		alert ? PROFILE_SELECT "WHERE p.alert = :of ORDER BY " HAS_CAUSE " IS NULL, p.id DESC LIMIT 1"
		      : PROFILE_SELECT "WHERE p.comparison = :of ORDER BY " HAS_CAUSE " IS NULL, p.id DESC LIMIT 1",
		"of=%ld", alert ? alert : comparison);
	return each_profile(db, s, each, arg, err);
}

int view_profile_of_job(struct db *db, int64_t job, view_profile_fn *each, void *arg, struct fw_err *err)
{
	return each_profile(db, db_query(db, err, PROFILE_SELECT "WHERE p.job = :job", "job=%ld", job), each, arg, err);
}

static void write_why(void *arg, const struct view_profile *row)
{
	struct jsonw *j = arg;
	char href[48];
	snprintf(href, sizeof href, "/api/v1/profiles/%lld", (long long)row->id);
	jsonw_format(j, "{ profile=%ld state=%s state_why?=%s answer=%s sentence?=%s cause?=%s href=%s }", row->id,
		jobstate_name(row->state), row->state_why, row->answer, row->sentence, row->cause, href);
}

int view_profile_why(struct db *db, int64_t alert, int64_t comparison, struct jsonw *j, struct fw_err *err)
{
	int found = view_profile_of(db, alert, comparison, write_why, j, err);
	if (found == 0)
		jsonw_null(j);
	return found < 0 ? -1 : 0;
}

static void set_explained(void *arg, const struct view_profile *row)
{
	*(int *)arg = row->sentence[0] != 0;
}

int view_profile_explains(struct db *db, int64_t alert, struct fw_err *err)
{
	int explained = 0;
	return view_profile_of(db, alert, 0, set_explained, &explained, err) < 0 ? -1 : explained;
}

/* ---- results ----------------------------------------------------------------------------------------------------------- */

int view_profile_cells(struct db *db, int64_t profile, view_profile_cell_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, n, key, state, why, path, tool, base_config, target_config, with_config, with_config IS NOT NULL, passes, "
		"base_ms, target_ms, gpu_s, with_base_ms, with_target_ms, with_ms, base_tried, target_tried, stalls_why FROM profile_cell WHERE "
		"profile = :profile ORDER BY coalesce(target_ms / base_ms, 0) DESC, n",
		"profile=%ld", profile);
	struct view_profile_cell row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.id, row.n, row.key, row.state, row.why, row.path, row.tool, row.base_config,
		row.target_config, row.with_config, row.has_with, row.passes, row.base_ms, row.target_ms, row.gpu_s,
		row.with_base_ms, row.with_target_ms, row.with_ms, row.base_tried_json, row.target_tried_json, row.stalls_why);
}

int view_profile_causes(struct db *db, int64_t cell, view_cause_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT rank, code, kernel, sentence, explained_ms, of_ms, confidence FROM cause WHERE profile_cell = :cell "
		"ORDER BY rank",
		"cell=%ld", cell);
	struct view_cause row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.rank, row.code, row.kernel, row.sentence, row.explained_ms, row.of_ms,
		row.confidence);
}

int view_profile_kernels(struct db *db, int64_t cell, view_profile_kernel_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT id, side, repeat, n, phase, kernel, code_sha, ms, grid, block, registers, local_bytes, shared_bytes, "
		"ctas_per_sm FROM profile_kernel WHERE profile_cell = :cell ORDER BY side, repeat, n",
		"cell=%ld", cell);
	struct view_profile_kernel row = { 0 };
	return stmt_each(s, err, each(arg, &row), row.id, row.side, row.repeat, row.n, row.phase, row.kernel, row.code_sha,
		row.ms, row.grid, row.block, row.registers, row.local_bytes, row.shared_bytes, row.ctas_per_sm);
}

int view_profile_values(struct db *db, int64_t kernel, view_profile_value_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		"SELECT m.name, v.value FROM profile_value v JOIN metric_name m ON m.id = v.name WHERE v.kernel = :kernel ORDER "
		"BY m.name",
		"kernel=%ld", kernel);
	const char *metric;
	double value;
	return stmt_each(s, err, each(arg, metric, value), metric, value);
}

int view_profile_codes(struct db *db, int64_t cell, view_profile_code_fn *each, void *arg, struct fw_err *err)
{
	struct buf text;
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT base, target, what, opcodes, base_takes, target_takes, base_stalls, target_stalls, hunks_len, hunks FROM "
		"profile_code WHERE profile_cell = :cell ORDER BY id",
		"cell=%ld", cell);
	buf_init(&text, HUNKS_MAX);
	struct view_profile_code row;
	size_t len, whole;
	while ((result = stmt_next(s, err, row.base, row.target, row.what, row.opcodes_json, row.base_takes_json,
			row.target_takes_json, row.base_stalls_json, row.target_stalls_json, whole)) == 1) {
		const void *packed = row_blob(s, 9, &len);
		buf_clear(&text);
		if (unpack(packed, len, whole, &text, err) != 0) {
			stmt_reset(s);
			result = -1;
			break;
		}
		row.hunks = text.data;
		each(arg, &row);
	}
	buf_fini(&text);
	return result;
}
