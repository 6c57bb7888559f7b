/* view_profile.c - queries over profiles; one statement a filter, so that each reads one index. */
#include "db/internal.h"

#include <stdio.h>

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
	while ((result = stmt_step(s, err)) == 1) {
		n++;
		if (profile_answer(db, row_int(s, 0), jobstate_from_name(row_text(s, 4)), row_text(s, 5), NULL, &answer, err) !=
			0) {
			stmt_reset(s);
			return -1;
		}
		each(arg, &(struct view_profile){ .id = row_int(s, 0),
				  .job = row_int(s, 1),
				  .comparison = row_int(s, 2),
				  .alert = row_int(s, 3),
				  .state = jobstate_from_name(row_text(s, 4)),
				  .state_why = row_text(s, 5),
				  .repo = row_text(s, 6),
				  .base = row_text(s, 7),
				  .target = row_text(s, 8),
				  .base_name = row_text(s, 9),
				  .target_name = row_text(s, 10),
				  .base_provider = row_text(s, 11),
				  .target_provider = row_text(s, 12),
				  .suite = row_text(s, 13),
				  .cells_glob = row_text(s, 14),
				  .device = row_text(s, 15),
				  .origin = row_text(s, 16),
				  .answer = answer.text,
				  .sentence = answer.has_cause ? answer.text : "",
				  .queued_at = row_int(s, 17),
				  .started_at = row_int(s, 18),
				  .ended_at = row_int(s, 19),
				  .base_config = row_text(s, 20),
				  .target_config = row_text(s, 21) });
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
		stmt_int(s, ":of", f->alert ? f->alert : f->comparison);
	stmt_int(s, ":before", store_page_before(f->before));
	stmt_int(s, ":limit", store_page_size(f->limit, VIEW_ROWS_MAX));
	return each_profile(db, s, each, arg, err) < 0 ? -1 : 0;
}

int view_profile(struct db *db, int64_t id, view_profile_fn *each, void *arg, struct fw_err *err)
{
	struct stmt *s = db_query(db, err, PROFILE_SELECT "WHERE p.id = :id", "id=%ld", id);
	return store_page_one(each_profile(db, s, each, arg, err), "profile", id, err);
}

static int has_profile(struct db *db, int64_t alert, int64_t comparison, struct fw_err *err)
{
	struct stmt *s = db_query(db, err,
		alert ? "SELECT 1 FROM profile WHERE alert = :of LIMIT 1"
		      : "SELECT 1 FROM profile WHERE comparison = :of LIMIT 1",
		"of=%ld", alert ? alert : comparison);
	return stmt_any(s, err);
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

static void write_why(void *arg, const struct view_profile *row)
{
	struct jsonw *j = arg;
	char href[48];
	snprintf(href, sizeof href, "/api/v1/profiles/%lld", (long long)row->id);
	jsonw_object(j);
	jsonw_kv_int(j, "profile", row->id);
	jsonw_kv_string(j, "state", jobstate_name(row->state));
	jsonw_kv_string(j, "state_why", *row->state_why ? row->state_why : NULL);
	jsonw_kv_string(j, "answer", row->answer);
	jsonw_kv_string(j, "sentence", *row->sentence ? row->sentence : NULL);
	jsonw_kv_string(j, "href", href);
	jsonw_object_end(j);
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
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT id, n, key, state, why, path, tool, base_config, target_config, with_config, passes, base_ms, target_ms, "
		"gpu_s, with_base_ms, with_target_ms, with_ms, base_tried, target_tried, stalls_why FROM profile_cell WHERE "
		"profile = :profile ORDER BY coalesce(target_ms / base_ms, 0) DESC, n",
		"profile=%ld", profile);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_profile_cell){ .id = row_int(s, 0),
				  .n = (int)row_int(s, 1),
				  .key = row_text(s, 2),
				  .state = row_text(s, 3),
				  .why = row_text(s, 4),
				  .path = row_text(s, 5),
				  .tool = row_text(s, 6),
				  .base_config = row_text(s, 7),
				  .target_config = row_text(s, 8),
				  .with_config = row_text(s, 9),
				  .has_with = !row_is_null(s, 9),
				  .passes = (int)row_int(s, 10),
				  .base_ms = row_double(s, 11),
				  .target_ms = row_double(s, 12),
				  .gpu_s = row_double(s, 13),
				  .with_base_ms = row_double(s, 14),
				  .with_target_ms = row_double(s, 15),
				  .with_ms = row_double(s, 16),
				  .base_tried_json = row_text(s, 17),
				  .target_tried_json = row_text(s, 18),
				  .stalls_why = row_text(s, 19) });
	return result;
}

int view_profile_causes(struct db *db, int64_t cell, view_cause_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT rank, code, kernel, sentence, explained_ms, of_ms, confidence FROM cause WHERE profile_cell = :cell "
		"ORDER BY rank",
		"cell=%ld", cell);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_cause){ .rank = (int)row_int(s, 0),
				  .code = row_text(s, 1),
				  .kernel = row_text(s, 2),
				  .sentence = row_text(s, 3),
				  .explained_ms = row_double(s, 4),
				  .of_ms = row_double(s, 5),
				  .confidence = row_text(s, 6) });
	return result;
}

int view_profile_kernels(struct db *db, int64_t cell, view_profile_kernel_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT id, side, repeat, n, phase, kernel, code_sha, ms, grid, block, registers, local_bytes, shared_bytes, "
		"ctas_per_sm FROM profile_kernel WHERE profile_cell = :cell ORDER BY side, repeat, n",
		"cell=%ld", cell);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, &(struct view_profile_kernel){ .id = row_int(s, 0),
				  .side = row_text(s, 1),
				  .repeat = (int)row_int(s, 2),
				  .n = (int)row_int(s, 3),
				  .phase = row_text(s, 4),
				  .kernel = row_text(s, 5),
				  .code_sha = row_text(s, 6),
				  .ms = row_double(s, 7),
				  .grid = row_text(s, 8),
				  .block = row_text(s, 9),
				  .registers = (int)row_int(s, 10),
				  .local_bytes = (int)row_int(s, 11),
				  .shared_bytes = (int)row_int(s, 12),
				  .ctas_per_sm = (int)row_int(s, 13) });
	return result;
}

int view_profile_values(struct db *db, int64_t kernel, view_profile_value_fn *each, void *arg, struct fw_err *err)
{
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT m.name, v.value FROM profile_value v JOIN metric_name m ON m.id = v.name WHERE v.kernel = :kernel ORDER "
		"BY m.name",
		"kernel=%ld", kernel);
	while ((result = stmt_step(s, err)) == 1)
		each(arg, row_text(s, 0), row_double(s, 1));
	return result;
}

int view_profile_codes(struct db *db, int64_t cell, view_profile_code_fn *each, void *arg, struct fw_err *err)
{
	struct buf text;
	int result;
	struct stmt *s = db_query(db, err,
		"SELECT base, target, what, opcodes, base_takes, target_takes, hunks_len, hunks, base_stalls, target_stalls FROM "
		"profile_code WHERE profile_cell = :cell ORDER BY id",
		"cell=%ld", cell);
	buf_init(&text, HUNKS_MAX);
	while ((result = stmt_step(s, err)) == 1) {
		size_t len;
		const void *packed = row_blob(s, 7, &len);
		buf_clear(&text);
		if (unpack(packed, len, (size_t)row_int(s, 6), &text, err) != 0) {
			stmt_reset(s);
			result = -1;
			break;
		}
		each(arg, &(struct view_profile_code){ .base = row_text(s, 0),
				  .target = row_text(s, 1),
				  .what = row_text(s, 2),
				  .opcodes_json = row_text(s, 3),
				  .base_takes_json = row_text(s, 4),
				  .target_takes_json = row_text(s, 5),
				  .base_stalls_json = row_text(s, 8),
				  .target_stalls_json = row_text(s, 9),
				  .hunks = text.data });
	}
	buf_fini(&text);
	return result;
}
