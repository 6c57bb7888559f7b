#include "flopwatchd/alert/alert.h"

#include <math.h>
#include <stdio.h>

static bool is_named(const json_t *cells, const char *key)
{
	size_t i;
	json_t *cell;
	json_array_foreach(cells, i, cell)
	{
		const char *name = json_string_value(json_object_get(cell, "cell"));
		if (name && strcmp(name, key) == 0)
			return true;
	}
	return false;
}

int alert_profile_choose(
	struct db *db, int64_t comparison, const char *cells_json, int most, struct profile_cells *out, struct fw_err *err)
{
	struct store_cell c = { .n = -1 };
	int result;
	json_t *cells = json_loads(cells_json, 0, NULL);
	memset(out, 0, sizeof *out);
	while ((result = store_cell_next(db, comparison, c.n, &c, err)) == 1)
		if (is_named(cells, c.key) && isfinite(c.target_median_ms))
			profile_cells_add(out, c.key, c.group, c.direction, isfinite(c.decided_m) ? c.decided_m : c.m);
	json_decref(cells);
	profile_cells_choose(out, most);
	return result;
}

/* Whether the comparison is of a benchmark program, which has no kernels to profile. Returns 1, 0, -1. */
static int is_of_program(struct db *db, int64_t comparison, struct fw_err *err)
{
	struct store_cell first;
	int found = store_cell_next(db, comparison, -1, &first, err);
	return found == 1 ? !first.title[0] : found;
}

int alert_profile(struct db *db, const struct config *config, const struct store_alert *a, int64_t now_ms, struct fw_err *err)
{
	struct profile_cells cells;
	struct store_profile_of of;
	struct store_profile p = { .comparison = a->comparison, .alert = a->id };
	struct store_job job = { .origin = "alert" };
	struct fw_err why = { 0 };
	char line[96];
	int requested;
	bool is_slower = a->kind == ALERTKIND_REGRESSION || a->kind == ALERTKIND_DRIFT || a->kind == ALERTKIND_ENVIRONMENT;
	if (!config || !config->profile || !is_slower || !a->comparison)
		return 0;
	if (store_profile_requested(db, a->id, &requested, err) != 0)
		return -1;
	if (requested >= EVIDENCE_CELLS_MAX)
		return 0;
	if (store_profile_read_comparison(db, a->comparison, &of, &why) != 0)
		return why.code == ERR_INVALID ? 0 : err_set(err, why.code, "%s", why.text);
	bool is_one_module = toolchain_override_is_none(&of.base_tools) && toolchain_override_is_none(&of.target_tools);
	if (a->kind == ALERTKIND_ENVIRONMENT && is_one_module) /* both sides have the same module: the cause is not in the code */
		return 0;
	if (alert_profile_choose(db, a->comparison, a->cells_json, EVIDENCE_CELLS_MAX - requested, &cells, err) != 0)
		return -1;
	int is_program = cells.n ? is_of_program(db, a->comparison, err) : 0;
	if (cells.n == 0 || is_program)
		return is_program < 0 ? -1 : 0;
	profile_request_like(&of, &job);
	profile_cells_text(&cells, job.cells_glob, sizeof job.cells_glob);
	snprintf(line, sizeof line, "queued: A%lld requests a profile", (long long)a->id);
	return profile_request(db, &job, &p, line, now_ms, err);
}
