/* explanation.c - reading of a profile's rows. */
#include "web/page/internal.h"

#include <math.h>

enum { VALUES_MAX = 256, CODES_MAX = 512, ROW_KERNELS_MAX = 4 * CAUSE_KERNELS_MAX };

/* State of reading one cell into `w`, which owns all memory. */
struct cause_rows {
	struct db *db;
	struct explanation *w;
	const struct explanation_source *of;
	int64_t cell;    /* 0: not found yet */
	size_t capacity; /* capacity of the list that is being read */
	int64_t *kernel_id;
	const char *state_why; /* of the profile's job */
};

/* Memory with the lifetime of `w`, newest first. */
struct explanation_memory {
	struct explanation_memory *next;
	char bytes[] __attribute__((aligned(16)));
};

static void *rows_alloc(struct cause_rows *r, size_t len)
{
	struct explanation_memory *k = mem_alloc_zero(1, sizeof *k + len);

	k->next = r->w->memory;
	r->w->memory = k;
	return k->bytes;
}

static const char *rows_text(struct cause_rows *r, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return len ? memcpy(rows_alloc(r, len + 1), text, len) : "";
}

/* Grow a list of `n` entries by one; NULL: it has `most` entries. The former memory stays allocated until explanation_fini. */
static void *grow(struct cause_rows *r, void *list, size_t n, size_t size, size_t most)
{
	if (n == 0)
		r->capacity = 0;
	if (n < r->capacity)
		return list;
	if (n >= most)
		return NULL;
	size_t capacity = r->capacity ? 2 * r->capacity : 8;
	void *more = rows_alloc(r, capacity * size);

	if (n)
		memcpy(more, list, n * size);
	r->capacity = capacity;
	return more;
}

static void rows_take_head(void *arg, const struct view_profile *row)
{
	struct cause_rows *r = arg;

	r->state_why = rows_text(r, row->state_why);
	r->w->head = (struct explanation_head){ .profile = row->id,
		.job = row->job,
		.comparison = row->comparison,
		.state = row->state,
		.base_provider = rows_text(r, row->base_provider),
		.target_provider = rows_text(r, row->target_provider),
		.answer = rows_text(r, row->answer) };
}

static void rows_take_cell(void *arg, const struct view_profile_cell *row)
{
	struct cause_rows *r = arg;
	struct explanation *w = r->w;

	int at = w->n_cells++;
	if (r->cell || (r->of->key ? strcmp(row->key, r->of->key) != 0 : at != r->of->n))
		return;
	r->cell = row->id;
	w->key = rows_text(r, row->key);
	w->state = rows_text(r, row->state);
	w->why = rows_text(r, row->why);
	w->path = rows_text(r, row->path);
	w->tool = rows_text(r, row->tool);
	w->stalls_why = rows_text(r, row->stalls_why);
	w->passes = row->passes;
	w->gpu_s = row->gpu_s;
	w->base_ms = w->evidence.base_ms = row->base_ms;
	w->target_ms = w->evidence.target_ms = row->target_ms;
	w->evidence.base_config = rows_text(r, row->base_config);
	w->evidence.target_config = rows_text(r, row->target_config);
	w->with_config = row->has_with ? rows_text(r, row->with_config) : "";
	w->evidence.with_base_ms = row->has_with ? row->with_base_ms : 0;
	w->evidence.with_target_ms = row->has_with ? row->with_target_ms : 0;
	w->evidence.with_ms = row->has_with ? row->with_ms : 0;
	w->evidence.is_counted = strcmp(w->path, "range") == 0 || strcmp(w->path, "ncu") == 0;
}

static enum cause_kind kind_of(const char *name)
{
	int k = 0;

	while (k < CAUSE_KINDS && strcmp(cause_kind_names[k], name) != 0)
		k++;
	return (enum cause_kind)k;
}

static void rows_take_cause(void *arg, const struct view_cause *row)
{
	struct cause_rows *r = arg;
	struct explanation *w = r->w;
	struct explanation_cause *list = grow(r, w->cause, w->n_causes, sizeof *list, CAUSE_MAX);

	if (!list)
		return;
	w->cause = list;
	list[w->n_causes++] = (struct explanation_cause){ .kind = kind_of(row->code),
		.name = rows_text(r, row->code),
		.confidence = rows_text(r, _Generic(row->confidence, double
						    : "measured", default
						    : row->confidence)),
		.kernel = rows_text(r, row->kernel),
		.sentence = rows_text(r, row->sentence),
		.explained_ms = row->explained_ms,
		.of_ms = row->of_ms };
}

static void triple(const char *text, int out[3])
{
	for (int i = 0; i < 3; i++) {
		char *end;
		long v = strtol(text, &end, 10);

		out[i] = v > 0 && v < INT32_MAX ? (int)v : 0;
		text = end;
	}
}

static void rows_take_kernel(void *arg, const struct view_profile_kernel *row)
{
	struct cause_rows *r = arg;
	struct explanation *w = r->w;
	size_t n = w->evidence.n_kernels, capacity = r->capacity;
	struct cause_kernel *list = grow(r, (void *)(uintptr_t)w->evidence.kernel, n, sizeof *list, ROW_KERNELS_MAX);

	if (!list)
		return;
	w->evidence.kernel = list;
	if (n == 0 || r->capacity != capacity) {
		int64_t *ids = rows_alloc(r, r->capacity * sizeof *ids);

		if (n)
			memcpy(ids, r->kernel_id, n * sizeof *ids);
		r->kernel_id = ids;
	}
	r->kernel_id[n] = row->id;
	list[n] = (struct cause_kernel){ .of_target = strcmp(row->side, "target") == 0,
		.repeat = row->repeat,
		.n = row->n,
		.phase = rows_text(r, row->phase),
		.name = rows_text(r, row->kernel),
		.code = rows_text(r, row->code_sha),
		.ms = row->ms,
		.registers = row->registers,
		.local_bytes = row->local_bytes,
		.shared_bytes = row->shared_bytes,
		.ctas_per_sm = row->ctas_per_sm };
	triple(row->grid, list[n].grid);
	triple(row->block, list[n].block);
	w->evidence.n_kernels++;
}

struct values {
	struct cause_rows *r;
	struct cause_value *list;
	size_t n;
};

static void take_value(void *arg, const char *metric, double value)
{
	struct values *v = arg;
	struct cause_value *list = grow(v->r, v->list, v->n, sizeof *list, VALUES_MAX);

	if (!list)
		return;
	v->list = list;
	list[v->n++] = (struct cause_value){ rows_text(v->r, metric), value };
}

static struct cause_takes takes_of(const char *text)
{
	json_t *o = json_loads(text, 0, NULL);
	struct cause_takes t = { -1, -1, -1, -1 };

	if (o)
		t = (struct cause_takes){ (int)json_integer_value(json_object_get(o, "registers")),
			(int)json_integer_value(json_object_get(o, "local_bytes")),
			(int)json_integer_value(json_object_get(o, "shared_bytes")),
			(int)json_integer_value(json_object_get(o, "ctas_per_sm")) };
	json_decref(o);
	return t;
}

static void take_opcodes(struct cause_rows *r, const char *text, struct cause_code *code)
{
	json_t *list = json_loads(text, 0, NULL);
	size_t n = json_array_size(list);
	struct cause_opcode *opcode = n ? rows_alloc(r, n * sizeof *opcode) : NULL;

	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		opcode[i] = (struct cause_opcode){ rows_text(r, json_string_value(json_array_get(item, 0))),
			(long)json_integer_value(json_array_get(item, 1)), (long)json_integer_value(json_array_get(item, 2)) };
	}
	code->opcode = opcode;
	code->n_opcodes = n;
	json_decref(list);
}

static void take_stalls(struct cause_rows *r, const char *text, struct explanation_stalls *stalls)
{
	json_t *o = json_loads(text, 0, NULL), *list = json_object_get(o, "lines");
	size_t n = json_array_size(list);
	struct explanation_stall *line = n ? rows_alloc(r, n * sizeof *line) : NULL;

	*stalls =
		(struct explanation_stalls){ .samples = json_integer_value(json_object_get(o, "samples")), .n = n, .line = line };
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		line[i] = (struct explanation_stall){ .offset = (long)json_integer_value(json_array_get(item, 0)),
			.samples = (long)json_integer_value(json_array_get(item, 1)),
			.reason = rows_text(r, json_string_value(json_array_get(item, 2))),
			.of_reason = (long)json_integer_value(json_array_get(item, 3)),
			.text = rows_text(r, json_string_value(json_array_get(item, 4))) };
	}
	json_decref(o);
}

static void rows_take_code(void *arg, const struct view_profile_code *row)
{
	struct cause_rows *r = arg;
	struct explanation *w = r->w;
	size_t n = w->evidence.n_codes, capacity = r->capacity;
	struct cause_code *list = grow(r, (void *)(uintptr_t)w->evidence.code, n, sizeof *list, CODES_MAX);

	if (!list)
		return;
	w->evidence.code = list;
	if (n == 0 || r->capacity != capacity) {
		struct explanation_code *code = rows_alloc(r, r->capacity * sizeof *code);

		if (n)
			memcpy(code, w->code, n * sizeof *code);
		w->code = code;
	}
	list[n] = (struct cause_code){ .base = rows_text(r, row->base),
		.target = rows_text(r, row->target),
		.what = rows_text(r, row->what),
		.base_takes = takes_of(row->base_takes_json),
		.target_takes = takes_of(row->target_takes_json) };
	take_opcodes(r, row->opcodes_json, &list[n]);
	w->code[n].hunks = rows_text(r, row->hunks);
	take_stalls(r, row->base_stalls_json, &w->code[n].stalls[0]);
	take_stalls(r, row->target_stalls_json, &w->code[n].stalls[1]);
	w->evidence.n_codes++;
}

static void rows_take_diagnostic(void *arg, const struct profile_diagnostic *row)
{
	struct cause_rows *r = arg;
	struct explanation *w = r->w;
	struct explanation_diagnostic *list = grow(r, w->diagnostic, w->n_diagnostics, sizeof *list, CODES_MAX);

	if (!list)
		return;
	w->diagnostic = list;
	list[w->n_diagnostics++] = (struct explanation_diagnostic){ .change = rows_text(r, row->change),
		.code = rows_text(r, row->code),
		.kernel = rows_text(r, row->kernel),
		.what = rows_text(r, row->what) };
}

static int rows_read_values(struct cause_rows *r, size_t at, struct fw_err *err)
{
	struct values values = { .r = r };
	struct cause_kernel *k = (struct cause_kernel *)(uintptr_t)&r->w->evidence.kernel[at];

	if (view_profile_values(r->db, r->kernel_id[at], take_value, &values, err) != 0)
		return -1;
	k->value = values.list;
	k->n_values = values.n;
	return 0;
}

/* ---- one cell ---- */

static int read_kernels(struct cause_rows *r, struct fw_err *err)
{
	struct explanation *w = r->w;

	if (view_profile_kernels(r->db, r->cell, rows_take_kernel, r, err) != 0)
		return -1;
	for (size_t i = 0; i < w->evidence.n_kernels; i++)
		if (rows_read_values(r, i, err) != 0)
			return -1;
	pairing_make(&w->evidence, &w->pairing);
	return 0;
}

static void begin(struct explanation *w)
{
	memset(w, 0, sizeof *w);
	w->head.answer = w->head.base_provider = w->head.target_provider = "";
	w->key = w->state = w->why = w->path = w->tool = w->with_config = w->stalls_why = "";
	w->evidence.base_config = w->evidence.target_config = "";
	w->base_ms = w->target_ms = NAN;
}

int explanation_read_line(struct db *db, int64_t alert, struct explanation *out, struct fw_err *err)
{
	struct cause_rows r = { .db = db, .w = out };

	begin(out);
	return view_profile_of(db, alert, 0, rows_take_head, &r, err);
}

/* Replace the answer in the head, which is that of all cells, by this cell's. */
static int read_answer(struct cause_rows *r, struct fw_err *err)
{
	const struct explanation_source *of = r->of;
	const char *key = of->key ? of->key : r->cell ? r->w->key : NULL;
	struct profile_answer answer;

	if (!key)
		return 0;
	if (profile_answer(r->db, r->w->head.profile, r->w->head.state, r->state_why, key, &answer, err) != 0)
		return -1;
	r->w->head.answer = rows_text(r, answer.text);
	return 0;
}

int explanation_read(struct db *db, const struct explanation_source *of, struct explanation *out, struct fw_err *err)
{
	struct cause_rows r = { .db = db, .w = out, .of = of };

	begin(out);
	int found = view_profile_of(db, of->alert, of->comparison, rows_take_head, &r, err);

	if (found <= 0)
		return found;
	if (view_profile_cells(db, out->head.profile, rows_take_cell, &r, err) != 0 || read_answer(&r, err) != 0)
		return -1;
	if (!r.cell)
		return 0;
	if (view_profile_causes(db, r.cell, rows_take_cause, &r, err) != 0 || read_kernels(&r, err) != 0 ||
		view_profile_codes(db, r.cell, rows_take_code, &r, err) != 0 ||
		view_profile_diagnostics(db, out->head.profile, rows_take_diagnostic, &r, err) != 0)
		return -1;
	return 1;
}

void explanation_fini(struct explanation *w)
{
	while (w->memory) {
		struct explanation_memory *next = w->memory->next;

		free(w->memory);
		w->memory = next;
	}
}

static void write_stamp(void *arg, const struct view_profile *row)
{
	snprintf(arg, EXPLANATION_STAMP_SIZE, "%lld %s %lld", (long long)row->id, jobstate_name(row->state),
		(long long)row->ended_at);
}

int explanation_stamp(struct db *db, int64_t comparison, char *out, struct fw_err *err)
{
	out[0] = '\0';
	return view_profile_of(db, 0, comparison, write_stamp, out, err) < 0 ? -1 : 0;
}
