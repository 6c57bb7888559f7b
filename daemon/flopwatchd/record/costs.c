/* costs.c - growth of the costs of a comparison's cells besides time: stored, sent as events, and alerts of kind cost. */
#include "flopwatchd/record/internal.h"

#include <math.h>

enum { TEXT_BYTES_MAX = 1 << 20, TITLE_SIZE = 320 };

/* ---- values ----------------------------------------------------------------------------------------------------------- */

/** Return the value of one side in one cell, NAN unknown. */
typedef double cost_fn(const struct result *r, int cell, enum role role);

static double nan_if_unknown(double v) /* -1: unknown */
{
	return v >= 0 ? v : NAN;
}

/** Summed over the kernels of a call. NAN without a graph. */
static double local_bytes(const struct result *r, int cell, enum role role)
{
	double sum = 0;
	for (int k = 0; k < r->n_nodes; k++)
		sum += r->node[k].cell == cell && r->node[k].role == role ? (double)r->node[k].local_bytes : 0;
	return isfinite(result_launches(r, role, cell)) ? sum : NAN;
}

static double launches(const struct result *r, int cell, enum role role)
{
	return result_launches(r, role, cell);
}

static double memory(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = result_work(r, role, cell);
	return w ? nan_if_unknown((double)w->workspace_bytes) : NAN;
}

static double first(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = result_work(r, role, cell);
	return w ? nan_if_unknown(w->first_ms) : NAN;
}

static double flops_issued(const struct result *r, int cell, enum role role)
{
	const struct msg_work *w = result_work(r, role, cell);
	return w ? nan_if_unknown(w->flops_issued) : NAN; /* useful FLOPs are equal on both sides */
}

static double error(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->ok ? nan_if_unknown(c->error_ratio) : NAN;
}

/** Return 1 if two calls on the same inputs gave different bits. */
static double unrepeatable(const struct result *r, int cell, enum role role)
{
	const struct msg_check *c = result_check(r, role, cell);
	return c && c->repeats[0] ? strcmp(c->repeats, "differs") == 0 : NAN;
}

static double energy(const struct result *r, int cell, enum role role)
{
	struct sustained_energy e = result_energy(r, cell);
	return role == ROLE_BASE ? e.base_j : e.target_j;
}

static double host(const struct result *r, int cell, enum role role)
{
	enum series series = judge_series(r, cell) == SERIES_PROCESS ? SERIES_PROCESS : SERIES_DEVICE;
	return judge_median(r, cell, series, "", role, JUDGE_HOST_US);
}

static cost_fn *const value_of[COST_N] = {
	[COST_MEMORY] = memory,
	[COST_ERROR] = error,
	[COST_FIRST] = first,
	[COST_ENERGY] = energy,
	[COST_HOST] = host,
	[COST_LAUNCHES] = launches,
	[COST_LOCAL_BYTES] = local_bytes,
	[COST_FLOPS_ISSUED] = flops_issued,
	[COST_UNREPEATABLE] = unrepeatable,
};

/* ---- growth ----------------------------------------------------------------------------------------------------------- */

struct grown {
	int cell;
	double base, target;
	bool is_accepted; /* by users */
	bool is_reported; /* by an alert of an older commit of the upstream branch */
};

static int compare_growth(const void *a, const void *b)
{
	const struct grown *x = a, *y = b;
	double left = x->target * y->base, right = y->target * x->base; /* cross products, because a base may be 0 */
	return left != right ? (left < right) - (left > right) : x->cell - y->cell;
}

/* COST_OFF: it is not judged. */
static double limit_of(const struct result *r, enum cost c)
{
	return c < COST_JUDGED ? r->plan.costs.pct[c] : cost_kinds[c].limit_pct;
}

/**
 * A slower cell uses more energy by its time alone, and its alert has that; the energy of one run varies by more than its clock, so
 * all runs, at least two, have to agree on half of the limit. Host time varies from process to process, so the
 * cell's flag decides, which requires that runs agree.
 */
static bool is_grown(const struct result *r, const struct cost_cell *judged, enum cost c, int i, double base, double target)
{
	double limit_pct = limit_of(r, c);
	if (limit_pct < 0 || judged->is_fault || !cost_grows(c, base, target, limit_pct))
		return false;
	if (c == COST_HOST)
		return judged->flags & FLAG_ENQUEUE;
	if (c != COST_ENERGY)
		return true;
	struct sustained_energy e = result_energy(r, i);
	return judged->verdict != VERDICT_REGRESSION && e.runs >= 2 && e.least_ratio > 1 + limit_pct / 200;
}

/** Shape: out[n_cells], largest growth first. Returns their number. */
static int find_grown(const struct result *r, const struct cost_cell *judged, enum cost c, struct grown *out)
{
	int n = 0;
	for (int i = 0; i < r->plan.request.n_cells; i++) {
		double base = value_of[c](r, i, ROLE_BASE), target = value_of[c](r, i, ROLE_TARGET);
		if (is_grown(r, &judged[i], c, i, base, target))
			out[n++] = (struct grown){ .cell = i, .base = base, .target = target };
	}
	qsort(out, (size_t)n, sizeof *out, compare_growth);
	return n;
}

/* ---- events and the comparison's JSON --------------------------------------------------------------------------------- */

static void write_cost(struct jsonw *j, const struct result *r, enum cost c, const struct grown *grown, int n)
{
	jsonw_format(j, "what=%s unit=%s cells=[", cost_kinds[c].name, cost_kinds[c].unit);
	for (int i = 0; i < n; i++) {
		char why[COST_WHY_SIZE];
		cost_why(r, c, grown[i].cell, why);
		jsonw_format(j, "{ cell=%s base=%g target=%g why~=%s", r->plan.request.cell[grown[i].cell].key, grown[i].base,
			grown[i].target, why);
		if (grown[i].is_accepted)
			jsonw_kv_bool(j, "accepted", true);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/*
 * The event "cost.up" {"what","unit","comparison","repo","branch","target","cells":[{"cell","base","target","why"}]} of one kind of
 * cost that grew in some cell.
 */
static int send_event(struct db *db, const struct result *r, const struct store_job *job, int64_t comparison, enum cost c,
	const struct grown *grown, int n, int64_t now_ms, struct fw_err *err)
{
	struct store_event event;
	struct jsonw *j = alert_message(&event, "cost.up");
	jsonw_format(j, "comparison=%ld repo=%s branch=%s target=%s", comparison, job->repo_name, job->branch, job->target_sha);
	write_cost(j, r, c, grown, n);
	return alert_deliver(db, NULL, &event, now_ms, err);
}

/* ---- alerts ----------------------------------------------------------------------------------------------------------- */

/** An alert of kind cost of the repository. */
struct cost_alert {
	int64_t id, comparison; /* comparison: that opened it */
	enum alertstate state;
	enum cost cost;
	char branch[BRANCH_KEY_MAX], target[65];
	json_t *cells;
	size_t ended; /* cells that this comparison took out of it */
};

struct cost_alerts {
	int n;
	struct cost_alert *alert;
};

static void take_alert(void *arg, const struct store_cost_alert *row)
{
	struct cost_alerts *a = arg;
	enum cost c = cost_from_name(row->changed);
	if (c >= COST_JUDGED)
		return;
	a->alert = mem_grow_one(a->alert, (size_t)a->n, sizeof *a->alert);
	struct cost_alert *one = &a->alert[a->n++];
	*one = (struct cost_alert){ .id = row->id, .comparison = row->comparison, .state = row->state, .cost = c };
	snprintf(one->branch, sizeof one->branch, "%s", row->branch);
	snprintf(one->target, sizeof one->target, "%s", row->target_sha);
	one->cells = json_loads(row->cells_json, 0, NULL);
}

static void free_alerts(struct cost_alerts *a)
{
	for (int i = 0; i < a->n; i++)
		json_decref(a->alert[i].cells);
	free(a->alert);
}

static double value_in(const json_t *cell, const char *key)
{
	const json_t *value = json_object_get(cell, key);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const json_t *find_cell(const struct cost_alert *a, const char *suite, const char *key)
{
	size_t i;
	json_t *cell;
	json_array_foreach(a->cells, i, cell)
	{
		const char *its_key = json_string_value(json_object_get(cell, "cell")),
			   *its_suite = json_string_value(json_object_get(cell, "suite"));
		if (its_key && its_suite && strcmp(its_key, key) == 0 && strcmp(its_suite, suite) == 0)
			return cell;
	}
	return NULL;
}

/** Arguments of a judgement, which all of its steps need. */
struct judging {
	struct db *db;
	const struct config *config;
	const struct result *r;
	const struct cost_cell *judged;
	const struct store_comparison *c;
	struct cost_alerts known;
	int64_t opened[COST_N]; /* alerts of this commit; 0 none, or users closed it */
	bool is_upstream, is_tip, is_identical;
	int64_t now_ms;
	struct fw_err *err;
};

/** Mark growth that users accepted up to this value, on whichever branch, or that an older alert of the upstream branch has. */
static void mark_known(const struct judging *j, enum cost c, struct grown *g)
{
	double limit_pct = limit_of(j->r, c);
	for (int i = 0; i < j->known.n; i++) {
		const struct cost_alert *a = &j->known.alert[i];
		const json_t *cell =
			a->cost == c ? find_cell(a, j->r->plan.suite_name, j->r->plan.request.cell[g->cell].key) : NULL;
		if (!cell || g->target > value_in(cell, "target") * (1 + limit_pct / 100))
			continue;
		g->is_accepted |= a->state == ALERTSTATE_ACCEPTED;
		g->is_reported |= j->is_upstream && alertstate_is_live(a->state) && strcmp(a->branch, j->c->branch) == 0 &&
				  strcmp(a->target, j->c->target_sha) != 0;
	}
}

/** Write "a call needs more workspace in 41 cells, at most 13 instead of 12 MB" about all cells of an alert. */
static void write_title(const json_t *cells, enum cost c, char title[TITLE_SIZE])
{
	size_t i;
	json_t *cell, *most = NULL;
	json_array_foreach(cells, i, cell)
	{
		double more = value_in(cell, "target") * value_in(most, "base"),
		       less = value_in(most, "target") * value_in(cell, "base");
		if (!most || more > less) /* cross products, because a base may be 0 */
			most = cell;
	}
	cost_text(
		cost_kinds[c].name, json_array_size(cells), value_in(most, "base"), value_in(most, "target"), title, TITLE_SIZE);
}

/** The title of an open alert, which may also have cells of other suites of the commit. */
static int describe_alert(const struct judging *j, int64_t id, enum cost c)
{
	struct buf text;
	char title[TITLE_SIZE];
	buf_init(&text, TEXT_BYTES_MAX * 2);
	int result = store_alert_cells(j->db, id, &text, j->err);
	json_t *cells = result == 0 ? json_loadb(text.data, text.len, 0, NULL) : NULL;
	if (json_array_size(cells) > 0) {
		write_title(cells, c, title);
		result = store_alert_describe(j->db, id, title, "[]", NAN, j->err);
	}
	json_decref(cells);
	buf_fini(&text);
	return result;
}

static int open_alert(struct judging *j, enum cost cost, const struct grown *grown, int n)
{
	struct buf cells;
	struct jsonw w;
	char title[TITLE_SIZE];
	bool is_new;
	struct store_alert a = { .repo = j->c->repo,
		.comparison = j->c->id,
		.kind = ALERTKIND_COST,
		.changed = cost_kinds[cost].name,
		.title = title,
		.worst_pct = NAN };
	buf_init(&cells, TEXT_BYTES_MAX);
	jsonw_init(&w, &cells);
	jsonw_array(&w);
	for (int i = 0; i < n && i < STORE_ALERT_CELLS_MAX; i++) {
		char why[COST_WHY_SIZE];
		cost_why(j->r, cost, grown[i].cell, why);
		jsonw_format(&w,
			"{ cell=%s suite=%s comparison=%ld verdict=%s change_pct=null borderline=%i unit=%s base=%g target=%g limit_pct=%f why~=%s }",
			j->r->plan.request.cell[grown[i].cell].key, j->r->plan.suite_name, j->c->id, "grown", false,
			cost_kinds[cost].unit, grown[i].base, grown[i].target, limit_of(j->r, cost), why);
	}
	jsonw_array_end(&w);
	cost_text(cost_kinds[cost].name, (size_t)n, grown[0].base, grown[0].target, title, sizeof title);
	snprintf(a.branch, sizeof a.branch, "%s", j->c->branch);
	snprintf(a.target_sha, sizeof a.target_sha, "%s", j->c->target_sha);
	a.cells_json = cells.data;
	int result = cells.failed ? err_set(j->err, ERR_FULL, "the cells of an alert do not fit")
				  : alert_open(j->db, j->config, &a, j->now_ms, &is_new, j->err);
	if (result == 0 && alertstate_is_live(a.state)) {
		j->opened[cost] = a.id;
		result = describe_alert(j, a.id, cost);
	}
	buf_fini(&cells);
	return result;
}

/** Open the alert of one cost for the cells whose growth is new. */
static int judge_growth(struct judging *j, enum cost cost, struct grown *grown, int n)
{
	int left = 0;
	if (cost >= COST_JUDGED)
		return 0;
	for (int i = 0; i < n; i++)
		if (!grown[i].is_accepted && !grown[i].is_reported)
			grown[left++] = grown[i];
	return left ? open_alert(j, cost, grown, left) : 0;
}

/* ---- the end of an alert ---------------------------------------------------------------------------------------------- */

static int find_measured(const struct result *r, const json_t *cell)
{
	const char *key = json_string_value(json_object_get(cell, "cell"));
	int i = 0;
	while (key && i < r->plan.request.n_cells && strcmp(r->plan.request.cell[i].key, key) != 0)
		i++;
	return key && i < r->plan.request.n_cells ? i : -1;
}

/**
 * Whether growth of a cell of this suite is over: it is not above the alert's base by more than the limit, or the branch equals its
 * base. On the upstream branch a value that depends on the device and its temperature also has to fall in this comparison, since
 * the alert's base is of another day.
 */
static bool is_over(const struct judging *j, enum cost c, const json_t *cell)
{
	const struct result *r = j->r;
	double limit_pct = limit_of(r, c);
	int i = find_measured(r, cell);
	if (limit_pct < 0 || (j->is_identical && !j->is_upstream))
		return true;
	if (i < 0) /* its suite no longer has it; a shard has only some cells, and a program that failed has none */
		return r->plan.size.shards < 2 && !r->plan.shard && !j->c->rows_unknown && !j->is_identical;
	double base = value_of[c](r, i, ROLE_BASE), target = value_of[c](r, i, ROLE_TARGET);
	if (j->judged[i].verdict == VERDICT_IDENTICAL)
		return !j->is_upstream;
	if (j->judged[i].is_fault || !isfinite(target) || cost_grows(c, value_in(cell, "base"), target, limit_pct))
		return false;
	bool is_exact = c == COST_MEMORY || c == COST_LAUNCHES || c == COST_ERROR;
	return is_exact || !j->is_upstream || cost_grows(c, target, base, limit_pct);
}

/** Take the cells out of an alert that are over, or that the alert of this newer tip (`opened`) has. */
static void end_cells(const struct judging *j, struct cost_alert *a)
{
	bool is_older = strcmp(a->target, j->c->target_sha) != 0 && a->comparison < j->c->id;
	bool is_replaced = j->opened[a->cost] && !j->is_upstream && is_older;
	for (size_t i = json_array_size(a->cells); i-- > 0;) {
		const json_t *cell = json_array_get(a->cells, i);
		const char *suite = json_string_value(json_object_get(cell, "suite"));
		if (!suite || strcmp(suite, j->r->plan.suite_name) != 0 || !(is_over(j, a->cost, cell) || is_replaced))
			continue;
		json_array_remove(a->cells, i);
		a->ended++;
	}
}

static int store_left(const struct judging *j, const struct cost_alert *a)
{
	char why[64], title[TITLE_SIZE];
	if (json_array_size(a->cells) == 0) {
		if (j->opened[a->cost])
			snprintf(why, sizeof why, "the newer tip has A%lld", (long long)j->opened[a->cost]);
		else
			snprintf(why, sizeof why, "recovered in C%lld", (long long)j->c->id);
		return alert_resolve(j->db, j->config, a->id, j->c->id, why, j->now_ms, j->err);
	}
	char *cells = json_dumps(a->cells, JSON_COMPACT);
	if (!cells)
		return err_set(j->err, ERR_FULL, "no memory for the cells of an alert");
	write_title(a->cells, a->cost, title);
	int result = store_cost_alert_cells(j->db, a->id, cells, title, j->err);
	free(cells);
	return result;
}

/** Resolve the branch's alerts whose costs have recovered. A commit that is no longer the branch's tip ends nothing. */
static int end_alerts(struct judging *j)
{
	for (int i = 0; i < j->known.n && j->is_tip; i++) {
		struct cost_alert *a = &j->known.alert[i];
		if (!alertstate_is_live(a->state) || a->id == j->opened[a->cost] || strcmp(a->branch, j->c->branch) != 0)
			continue;
		end_cells(j, a);
		if (a->ended && store_left(j, a) != 0)
			return -1;
	}
	return 0;
}

/** Everything about each kind of cost that grew: its part of the JSON, its event, its alert. */
static int judge_each(struct judging *j, const struct store_job *job, struct buf *json)
{
	struct jsonw w;
	struct grown *grown = mem_alloc_zero((size_t)j->r->plan.request.n_cells + 1, sizeof *grown);
	int result = 0;
	jsonw_init(&w, json);
	jsonw_array(&w);
	for (enum cost cost = 0; cost < COST_N && result == 0; cost++) {
		int n = find_grown(j->r, j->judged, cost, grown);
		if (n == 0)
			continue;
		for (int i = 0; i < n; i++)
			mark_known(j, cost, &grown[i]);
		jsonw_object(&w);
		write_cost(&w, j->r, cost, grown, n);
		jsonw_object_end(&w);
		result = send_event(j->db, j->r, job, j->c->id, cost, grown, n, j->now_ms, j->err) ||
					 judge_growth(j, cost, grown, n)
				 ? -1
				 : 0;
	}
	jsonw_array_end(&w);
	free(grown);
	return result;
}

static bool is_identical(const struct result *r, const struct cost_cell *judged)
{
	int n = 0;
	while (n < r->plan.request.n_cells && judged[n].verdict == VERDICT_IDENTICAL)
		n++;
	return n > 0 && n == r->plan.request.n_cells;
}

int judge_costs(struct db *db, const struct config *config, const struct result *r, const struct cost_cell *judged,
	const struct store_job *job, const struct store_comparison *c, bool is_upstream, int64_t now_ms, struct fw_err *err)
{
	struct buf json;
	struct judging j = { .db = db,
		.config = config,
		.r = r,
		.judged = judged,
		.c = c,
		.is_upstream = is_upstream,
		.is_identical = is_identical(r, judged),
		.now_ms = now_ms,
		.err = err };
	char tip[65] = "";
	bool is_gone;
	struct fw_err unknown = { 0 };
	if (store_tip_get(db, c->repo, c->branch, tip, &is_gone, &unknown) != 0 && unknown.code != ERR_NOT_FOUND)
		return err_set(err, unknown.code, "%s", unknown.text);
	j.is_tip = !tip[0] || strcmp(tip, c->target_sha) == 0;
	buf_init(&json, TEXT_BYTES_MAX);
	int result = store_cost_alerts(db, c->repo, take_alert, &j.known, err);
	if (result == 0)
		result = judge_each(&j, job, &json);
	if (result == 0)
		result = json.failed ? err_set(err, ERR_FULL, "the costs of a comparison do not fit")
				     : store_artifact(db, "comparison", c->id, "costs", json.data, json.len, err);
	if (result == 0)
		result = end_alerts(&j);
	free_alerts(&j.known);
	buf_fini(&json);
	return result;
}
