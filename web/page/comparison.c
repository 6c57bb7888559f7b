#include "web/page/internal.h"

#include <math.h>

#include "readers/readers.h"

enum { BODY_MAX = 8 << 20 };

double comparison_number(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);
	return json_is_number(v) ? json_number_value(v) : NAN;
}

const char *comparison_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

/* ---- body ---------------------------------------------------------------------------------------------------------- */

/* Lists are in the order in which flopwatchd/job/comparison_json.c writes them. */
#define ENTRY(name, ...)                                                                                                         \
	{                                                                                                                        \
		JSONR_KEY(name), __VA_ARGS__                                                                                     \
	}
#define CELL(name, as, member) ENTRY(name, .kind = as, .offset = offsetof(struct comparison_cell, member))
#define HEAD(name, as, member) ENTRY(name, .kind = as, .offset = offsetof(struct comparison, member))
#define PEER(name, as, member) ENTRY(name, .kind = as, .offset = offsetof(struct comparison_peer, member))
#define INNER(name, list)      ENTRY(name, .kind = JSONR_OBJECT, .inner = list)
#define NAME(name_, function)  ENTRY(name_, .kind = JSONR_NAME, .name = function)
#define PASSED(name)           ENTRY(name, .kind = JSONR_SKIP)
#define LAST                                                                                                                     \
	{                                                                                                                        \
		.key = NULL                                                                                                      \
	}

static const struct jsonr_field cell_base[] = { CELL("median_ms", JSONR_NUMBER, base_ms),
	CELL("tflops", JSONR_NUMBER, base_tflops), CELL("gb_s", JSONR_NUMBER, base_gb_s),
	CELL("provider", JSONR_TEXT, base_provider), CELL("configuration", JSONR_TEXT, base_config), LAST };
static const struct jsonr_field cell_target[] = { CELL("median_ms", JSONR_NUMBER, target_ms),
	CELL("tflops", JSONR_NUMBER, target_tflops), CELL("gb_s", JSONR_NUMBER, target_gb_s),
	CELL("provider", JSONR_TEXT, target_provider), CELL("configuration", JSONR_TEXT, target_config), LAST };
static const struct jsonr_field cell_over_baseline[] = { CELL("base", JSONR_NUMBER, base_over_baseline),
	CELL("target", JSONR_NUMBER, target_over_baseline), CELL("ideal", JSONR_NUMBER, ideal_over_baseline), LAST };
static const struct jsonr_field cell_enqueue[] = { PASSED("base_us"), CELL("target_us", JSONR_NUMBER, enqueue_us), LAST };
static const struct jsonr_field cell_clock[] = { CELL("base_mhz", JSONR_NUMBER, base_mhz),
	CELL("target_mhz", JSONR_NUMBER, target_mhz), LAST };
static const struct jsonr_field peer_fields[] = { PEER("provider", JSONR_TEXT, provider),
	PEER("comparison", JSONR_ID, comparison), PEER("commit", JSONR_TEXT, commit), PEER("basis", JSONR_TEXT, basis),
	PEER("base_pct", JSONR_NUMBER, base_pct), PEER("target_pct", JSONR_NUMBER, target_pct),
	PEER("ci_low_pct", JSONR_NUMBER, ci_low_pct), PEER("ci_high_pct", JSONR_NUMBER, ci_high_pct), LAST };

/* Read a cell's values relative to peers; peers after COMPARISON_PEERS_MAX are left out. */
static void read_peers(struct jsonr *r, void *into)
{
	struct comparison_cell *cell = into;
	if (!jsonr_array(r))
		return;
	while (jsonr_item(r)) {
		if (cell->n_peers == COMPARISON_PEERS_MAX) {
			jsonr_value(r);
			continue;
		}
		struct comparison_peer *peer = &cell->peer[cell->n_peers++];
		*peer = (struct comparison_peer){ "", "", "", 0, NAN, NAN, NAN, NAN };
		jsonr_object(r, peer_fields, peer);
	}
}

static void read_cell_verdict(const char *text, void *into)
{
	((struct comparison_cell *)into)->verdict = verdict_from_name(text);
}

static void read_decider(const char *text, void *into)
{
	((struct comparison_cell *)into)->decided_by = decider_from_name(text);
}

static const struct jsonr_field cell_fields[] = { CELL("cell", JSONR_TEXT, key), NAME("verdict", read_cell_verdict),
	CELL("borderline", JSONR_TRUE, borderline), CELL("flags", JSONR_LIST, flags), PASSED("series"),
	NAME("decided_by", read_decider), CELL("device", JSONR_TEXT, device), CELL("confirmed_on", JSONR_TEXT, confirmed_on),
	CELL("confirmed", JSONR_TRUE, confirmed), CELL("failure", JSONR_TEXT, failure), CELL("reason", JSONR_TEXT, reason),
	CELL("group", JSONR_TEXT, group), CELL("title", JSONR_TEXT, title), CELL("direction", JSONR_TEXT, direction),
	CELL("size", JSONR_ID, size), CELL("line", JSONR_TEXT, line), CELL("pieces", JSONR_NUMBER, pieces), PASSED("shape"),
	PASSED("flops_useful"), PASSED("bytes_useful"), CELL("threshold_pct", JSONR_NUMBER, threshold_pct),
	INNER("base", cell_base), INNER("target", cell_target), PASSED("tried"), PASSED("kernels"),
	CELL("change_pct", JSONR_NUMBER, change_pct), CELL("ci_low_pct", JSONR_NUMBER, ci_low_pct),
	CELL("ci_high_pct", JSONR_NUMBER, ci_high_pct), CELL("mde_pct", JSONR_NUMBER, mde_pct), PASSED("underpowered"),
	PASSED("code_pct"), PASSED("clock_pct"), PASSED("clock_se_pct"), PASSED("components"), PASSED("change_raw_pct"),
	PASSED("beta"), CELL("runs", JSONR_WHOLE, runs), CELL("samples", JSONR_WHOLE, samples), PASSED("mean"), PASSED("phases"),
	PASSED("call"), PASSED("sustained"), PASSED("slow_calls"), INNER("enqueue", cell_enqueue), INNER("clock", cell_clock),
	PASSED("error_ratio"), PASSED("flops_issued"), PASSED("moved"), PASSED("workspace"),
	CELL("blocks_kept", JSONR_NUMBER, blocks_kept), PASSED("peak"), PASSED("taken"), PASSED("sparsity"),
	INNER("over_baseline", cell_over_baseline), { JSONR_KEY("peers"), .kind = JSONR_OTHER, .read = read_peers },
	PASSED("nodes"), LAST };

#define SIDE(side)                                                                                                               \
	{                                                                                                                        \
		HEAD("name", JSONR_TEXT, side.name), HEAD("commit", JSONR_TEXT, side.commit),                                    \
			HEAD("module_sha256", JSONR_TEXT, side.module_sha256), HEAD("build", JSONR_TEXT, side.build),            \
			HEAD("toolchain", JSONR_TEXT, side.toolchain), HEAD("provider", JSONR_TEXT, side.provider),              \
			HEAD("pinned", JSONR_TEXT, side.pinned), HEAD("subject", JSONR_TEXT, side.subject),                      \
			HEAD("author", JSONR_TEXT, side.author), LAST                                                            \
	}
static const struct jsonr_field base_side[] = SIDE(base), target_side[] = SIDE(target);
static const struct jsonr_field environment_fields[] = { HEAD("baseline_period", JSONR_TEXT, environment.baseline_period),
	HEAD("device", JSONR_TEXT, environment.device), HEAD("kind", JSONR_TEXT, environment.kind),
	HEAD("name", JSONR_TEXT, environment.name), HEAD("driver", JSONR_TEXT, environment.driver),
	HEAD("toolkit", JSONR_TEXT, environment.toolkit), HEAD("cudnn", JSONR_TEXT, environment.cudnn),
	HEAD("timing", JSONR_TEXT, environment.timing), HEAD("power_limit_w", JSONR_NUMBER, environment.power_limit_w),
	HEAD("peak_gb_s", JSONR_NUMBER, environment.peak_gb_s), LAST };
static const struct jsonr_field shard_fields[] = { HEAD("number", JSONR_WHOLE, shard.number), HEAD("of", JSONR_WHOLE, shard.of),
	HEAD("suite_cells", JSONR_WHOLE, shard.suite_cells), HEAD("nights", JSONR_WHOLE, shard.nights),
	HEAD("measured", JSONR_WHOLE, shard.measured), LAST };
#define STEP(step, name) HEAD(name, JSONR_NUMBER, step_s[step]),
static const struct jsonr_field step_fields[] = { DEVICE_STEP_LIST(STEP) LAST };
static const struct jsonr_field changed_fields[] = { HEAD("number", JSONR_WHOLE, n_changed), HEAD("paths", JSONR_LIST, changed),
	LAST };
static const struct jsonr_field rule_fields[] = { HEAD("k", JSONR_NUMBER, rule_k), LAST };

/* Set the defaults of fields that the body does not have: texts "", numbers NAN. */
static void clear_fields(const struct jsonr_field *field, void *into)
{
	for (; field->key; field++) {
		void *to = (char *)into + field->offset;
		if (field->kind == JSONR_TEXT || field->kind == JSONR_LIST)
			*(const char **)to = "";
		else if (field->kind == JSONR_NUMBER)
			*(double *)to = NAN;
		else if (field->kind == JSONR_SPAN)
			*(struct jsonr_span *)to = (struct jsonr_span){ "", 0 };
		else if (field->kind == JSONR_OBJECT)
			clear_fields(field->inner, into);
	}
}

/* Read the body's list of cells; cells after COMPARISON_CELLS_MAX are left out. */
static void read_cells(struct jsonr *r, void *into)
{
	struct comparison_cell empty = { .verdict = VERDICT_NONE };
	struct comparison *c = into;
	int capacity = 0;
	if (!jsonr_array(r))
		return;
	clear_fields(cell_fields, &empty);
	empty.pieces = 0;
	empty.since_previous_pct = NAN;
	while (jsonr_item(r)) {
		if (c->n_cells == capacity && capacity < COMPARISON_CELLS_MAX) {
			capacity = capacity ? 2 * capacity : 32;
			c->cell = mem_grow(c->cell, (size_t)capacity, sizeof *c->cell);
		}
		if (c->n_cells == capacity) {
			jsonr_value(r);
			continue;
		}
		struct comparison_cell *cell = &c->cell[c->n_cells];
		const char *begin = r->at;
		*cell = empty;
		cell->n = c->n_cells++;
		jsonr_object(r, cell_fields, cell);
		cell->text = (struct jsonr_span){ begin, (size_t)(r->at - begin) };
	}
}

static void read_kind(const char *text, void *into)
{
	((struct comparison *)into)->kind = jobkind_from_name(text);
}

static void read_verdict(const char *text, void *into)
{
	((struct comparison *)into)->verdict = verdict_from_name(text);
}

static const struct jsonr_field fields[] = { HEAD("repo", JSONR_TEXT, repo), HEAD("branch", JSONR_TEXT, branch),
	NAME("kind", read_kind), HEAD("suite", JSONR_TEXT, suite), NAME("verdict", read_verdict),
	HEAD("identical_by", JSONR_TEXT, identical_by), HEAD("job", JSONR_ID, job), HEAD("quick", JSONR_TRUE, quick),
	INNER("shard", shard_fields), HEAD("finished_at", JSONR_TEXT, finished_at), HEAD("base_how", JSONR_TEXT, base_how),
	HEAD("new", JSONR_TRUE, is_new), HEAD("alone", JSONR_TEXT, alone), INNER("base", base_side), INNER("target", target_side),
	INNER("changed_files", changed_fields), HEAD("unprofiled", JSONR_TEXT, unprofiled),
	INNER("environment", environment_fields), INNER("rule", rule_fields), HEAD("runs", JSONR_WHOLE, runs),
	HEAD("gpu_s", JSONR_NUMBER, gpu_s), INNER("steps", step_fields), HEAD("wall_s", JSONR_NUMBER, wall_s),
	HEAD("isolation", JSONR_TEXT, isolation), HEAD("notes", JSONR_SPAN, notes), HEAD("costs", JSONR_SPAN, costs),
	HEAD("long_over_short", JSONR_SPAN, long_over_short), HEAD("regressions", JSONR_WHOLE, regressions),
	{ JSONR_KEY("cells"), .kind = JSONR_OTHER, .read = read_cells }, LAST };

static int read_body(struct comparison *c, struct fw_err *err)
{
	struct jsonr r;
	c->storage = mem_alloc(c->body.len + 1);
	jsonr_init(&r, c->body.data, c->body.len, c->storage);
	jsonr_object(&r, fields, c);
	return r.failed ? err_set(err, ERR_INTERNAL, "the stored body of C%lld cannot be read", (long long)c->id) : 0;
}

const json_t *comparison_open(struct comparison_cell *cell)
{
	if (!cell->json)
		cell->json = jsonr_tree(cell->text.text, cell->text.len);
	return cell->json;
}

/* ---- previous push and environment --------------------------------------------------------------------------------- */

/* Derive the change since the previous push: both pushes were compared with one base, so it is the quotient of their ratios. */
static void take_previous_cell(void *arg, const char *key, double change_pct)
{
	struct comparison_cell *cell = comparison_find(arg, key);
	if (cell)
		cell->since_previous_pct = 100 * ((1 + cell->change_pct / 100) / (1 + change_pct / 100) - 1);
}

static int read_since_previous(struct db *db, struct comparison *c, struct fw_err *err)
{
	const struct view_around *around = c->around;
	/* the base is the previous push, so the change since the base is the change since that push */
	if (around->previous && strcmp(around->previous_target, c->base.commit) == 0)
		for (int i = 0; i < c->n_cells; i++)
			c->cell[i].since_previous_pct = c->cell[i].change_pct;
	else if (around->previous && strcmp(around->previous_base, c->base.commit) == 0)
		return view_cell_changes(db, around->previous, take_previous_cell, c, err);
	return 0;
}

static void take_cores(void *arg, const char *info_json)
{
	static const struct jsonr_field info[] = { HEAD("cores", JSONR_WHOLE, cores), LAST };
	struct jsonr r;
	jsonr_init(&r, info_json, strlen(info_json), NULL); /* the fields are no texts, so no buffer is needed */
	jsonr_object(&r, info, arg);
}

int comparison_read(struct db *db, int64_t id, const struct view_around *around, struct comparison *out, struct fw_err *err)
{
	static const struct view_around alone = { .previous = 0 };
	char etag[65];
	*out = (struct comparison){ .verdict = VERDICT_NONE };
	clear_fields(fields, out);
	out->id = id;
	out->around = around ? around : &alone;
	buf_init(&out->body, BODY_MAX);
	if (view_body(db, id, &out->body, etag, err) || read_body(out, err) || read_since_previous(db, out, err))
		return -1;
	out->chip = *out->environment.baseline_period ? derive_chip(out->environment.name) : NULL;
	return out->chip ? view_device_info(db, out->environment.device, take_cores, out, err) : 0;
}

void comparison_free(struct comparison *c)
{
	for (int i = 0; i < c->n_cells; i++)
		json_decref(c->cell[i].json);
	free(c->cell);
	free(c->storage);
	buf_fini(&c->body);
	*c = (struct comparison){ .id = 0 };
}

void comparison_side_names(const struct comparison *c, char name[2][SIDE_NAME_SIZE])
{
	const struct side_label side[2] = { { c->base.name, c->base.commit, c->base.provider },
		{ c->target.name, c->target.commit, c->target.provider } };
	side_names(side, name);
}

bool comparison_has_file(const struct comparison *c, int file)
{
	const struct ffa_csv_file *f = &ffa_csv_files[file];
	for (int i = 0; i < c->n_cells; i++) {
		const struct comparison_cell *cell = &c->cell[i];
		bool timed[2] = { cell->base_ms > 0, cell->target_ms > 0 };
		if (ffa_csv_takes(f->sparse, cell->key) &&
			(*c->identical_by || ((timed[0] || !f->base) && (timed[1] || !f->target))))
			return true;
	}
	return false;
}

/* ---- queries ------------------------------------------------------------------------------------------------------- */

bool comparison_is_program(const struct comparison_cell *cell)
{
	return !*cell->title;
}

bool comparison_is_of_programs(const struct comparison *c)
{
	return c->n_cells > 0 && comparison_is_program(&c->cell[0]);
}

const char *comparison_unprofiled(const struct comparison *c)
{
	return c->verdict == VERDICT_REGRESSION && !comparison_is_side_by_side(c) ? c->unprofiled : "";
}

bool comparison_has_flops(const struct comparison *c)
{
	for (int i = 0; i < c->n_cells; i++)
		if (isfinite(c->cell[i].base_tflops) || isfinite(c->cell[i].target_tflops))
			return true;
	return false;
}

const json_t *comparison_decided(struct comparison_cell *cell)
{
	bool by_pairs = cell->decided_by == DECIDER_PAIRS;
	return by_pairs ? NULL : json_object_get(comparison_open(cell), decider_name(cell->decided_by));
}

struct comparison_judged comparison_judged(struct comparison_cell *cell)
{
	const json_t *other = comparison_decided(cell);
	if (!other)
		return (struct comparison_judged){ cell->change_pct, cell->ci_low_pct, cell->ci_high_pct };
	return (struct comparison_judged){ comparison_number(other, "change_pct"), comparison_number(other, "ci_low_pct"),
		comparison_number(other, "ci_high_pct") };
}

int comparison_count(const struct comparison *c, enum verdict verdict)
{
	int n = 0;
	for (int i = 0; i < c->n_cells; i++)
		n += c->cell[i].verdict == verdict;
	return n;
}

struct comparison_cell *comparison_find(const struct comparison *c, const char *key)
{
	for (int i = 0; i < c->n_cells; i++)
		if (strcmp(c->cell[i].key, key) == 0)
			return &c->cell[i];
	return NULL;
}

bool comparison_is_quiet(enum verdict verdict)
{
	return verdict == VERDICT_UNCHANGED || verdict == VERDICT_IDENTICAL || verdict == VERDICT_UNSUPPORTED;
}

double comparison_peak_pct(const struct comparison *c, double tflops, double mhz)
{
	return 100 * tflops / derive_peak_tflops(c->chip, c->cores, mhz);
}

bool comparison_is_paired_separate(const struct comparison_cell *cell)
{
	double separate = derive_change_pct(cell->base_ms, cell->target_ms) - cell->change_pct;
	return isfinite(separate) && fabs(separate) >= 0.005; /* the difference shows in the second decimal */
}

bool comparison_is_reconfigured(const struct comparison_cell *cell)
{
	return *cell->base_config && *cell->target_config && strcmp(cell->base_provider, cell->target_provider) == 0 &&
	       strcmp(cell->base_config, cell->target_config) != 0;
}

const char *comparison_cause(struct comparison_cell *cell)
{
	size_t i;
	const json_t *phase, *phases = json_object_get(comparison_open(cell), "phases");
	const char *cause = NULL;
	double moved_ms = cell->target_ms - cell->base_ms, most = 0;
	json_array_foreach(phases, i, phase)
	{
		double low = comparison_number(phase, "ci_low_pct"), high = comparison_number(phase, "ci_high_pct");
		double share = (comparison_number(phase, "target_ms") - comparison_number(phase, "base_ms")) / moved_ms;
		if ((low > 0 || high < 0) && share >= 0.5 && share > most) {
			most = share;
			cause = comparison_text(phase, "phase");
		}
	}
	return cause;
}

void comparison_above_peak(struct buf *out, const struct comparison *c, double gb_s)
{
	if (gb_s > c->environment.peak_gb_s)
		emit_rawf(out, "<span class=why title=\"caches serve a share of it\">above the memory\u2019s %.0f</span>",
			c->environment.peak_gb_s);
}

struct unit comparison_unit(const struct comparison *c)
{
	double most = NAN;
	for (int i = 0; i < c->n_cells; i++)
		most = unit_max(most, unit_max(c->cell[i].base_tflops, c->cell[i].target_tflops));
	return unit_of_rates(most);
}
