/*
 * reference.c - choice of the checked positions, sources of tensors, memory of reference values. reference_cpu.c and
 * reference_cuda.cu compute the sums.
 */
#include "families/attention/internal.h"

enum {
	ROWS_MIN = 64,
	ROWS_MAX = 512,
	KEYS_MIN = 16,
	KEYS_MAX = 128,
	KEY_HEADS_MAX = 2, /* of a large problem: unpacking the tensors of a head costs more than its samples */
	SPECIAL_MAX = 4096 /* maximum number of listed sequence ends and block borders */
};

static const double visits_default = 268435456.0; /* 2^28 */
static const double big_elements = 33554432.0;    /* elements of K above which only KEY_HEADS_MAX heads are checked */

const char *reference_slot_name(int slot)
{
	static const char *const name[FW_ATTENTION_SLOTS] = { "Q", "K", "V", "O", "LSE", "dO", "dQ", "dK", "dV", "cu_q", "cu_k",
		"block_bits", "token_bits", "pages" };
	return slot >= 0 && slot < FW_ATTENTION_SLOTS ? name[slot] : "?";
}

static bool of_keys(int slot)
{
	return slot == FW_K || slot == FW_V || slot == FW_DK || slot == FW_DV;
}

static bool is_input(int slot)
{
	return slot == FW_Q || slot == FW_K || slot == FW_V || slot == FW_DO;
}

int64_t reference_slot_elements(const struct cell *cell, int slot)
{
	const struct attention_case *a = attention_in(cell);
	if (slot == FW_LSE)
		return (int64_t)attention_total_q(a) * a->nhq;
	return (of_keys(slot) ? attention_key_rows(a) * a->nhk : (int64_t)attention_total_q(a) * a->nhq) * a->headdim;
}

int32_t reference_key_row(const struct reference_io *io, int32_t key)
{
	const struct attention_case *a = attention_in(io->cell);
	if (!io->pages)
		return key;
	int sequence = reference_sequence(a, io->cu_k, key);
	int32_t token = key - (sequence > 0 ? io->cu_k[sequence] : 0);
	int32_t page = io->pages[(int64_t)sequence * attention_page_entries(a) + token / a->page];
	return page * a->page + token % a->page;
}

int64_t reference_slot_offset(const struct cell *cell, int slot, struct reference_position at)
{
	const struct attention_case *a = attention_in(cell);
	if (slot == FW_LSE)
		return (int64_t)at.head * attention_total_q(a) + at.row;
	return ((int64_t)at.row * (of_keys(slot) ? a->nhk : a->nhq) + at.head) * a->headdim;
}

int reference_read(const struct reference_io *io, int slot, int64_t first, size_t n, void *out, struct fw_err *err)
{
	size_t size = slot == FW_LSE ? sizeof(float) : sizeof(uint16_t);
	if (io->host[slot]) {
		memcpy(out, (const char *)io->host[slot] + (size_t)first * size, n * size);
		return 0;
	}
	if (is_input(slot)) {
		inputs_fill(io->cell->seed, (uint32_t)slot, (uint64_t)first, n, out);
		if (attention_in(io->cell)->dtype == FW_F16)
			inputs_to_f16(out, n);
		return 0;
	}
	if (!io->read)
		return err_set(
			err, ERR_INTERNAL, "reference: %s of %s has no provider", reference_slot_name(slot), io->cell->key);
	return io->read(io->arg, slot, first, n, out, err);
}

/* ---- choosing positions ------------------------------------------------------------------------------------------ */

struct draw {
	uint64_t state;
};

static int32_t draw_below(struct draw *d, int32_t n)
{
	d->state = inputs_mix(d->state);
	return n > 0 ? (int32_t)(d->state % (uint64_t)n) : 0;
}

static int compare_positions(const void *a, const void *b)
{
	const struct reference_position *x = a, *y = b;
	if (x->head != y->head)
		return x->head < y->head ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static int sort_unique(struct reference_position *at, int n)
{
	int n_left = 0;
	qsort(at, (size_t)n, sizeof *at, compare_positions);
	for (int i = 0; i < n; i++)
		if (i == 0 || compare_positions(&at[i], &at[n_left - 1]) != 0)
			at[n_left++] = at[i];
	return n_left;
}

static void add_special(int32_t *list, int *n, int32_t seqlen, int32_t token)
{
	if (*n < SPECIAL_MAX && token >= 0 && token < seqlen)
		list[(*n)++] = token;
}

/* List tokens where errors are likely: ends of sequences, borders of mask blocks and of common tile sizes. */
static int special_tokens(const struct attention_case *a, int32_t *list)
{
	int n = 0;
	int32_t begin = 0, total = attention_total_q(a);
	add_special(list, &n, total, 0);
	add_special(list, &n, total, total - 1);
	for (int i = 0; i < a->n_seqs; i++) {
		int32_t length = a->n_seqs == 1 ? total : attention_queries(a, i);
		add_special(list, &n, total, begin);
		add_special(list, &n, total, begin + length - 1);
		for (int32_t tile = 64; tile <= 192; tile += 64) {
			add_special(list, &n, begin + length, begin + tile - 1);
			add_special(list, &n, begin + length, begin + tile);
		}
		begin += length;
	}
	for (int32_t border = a->block; border > 0 && border < a->seqlen && n < SPECIAL_MAX / 2; border += 7 * a->block) {
		add_special(list, &n, a->seqlen, border - 1);
		add_special(list, &n, a->seqlen, border);
	}
	for (int i = 0; i < a->n_seqs && a->source == TOKENS_CORNER; i++)
		for (int border = -1; border < 1; border++) {
			add_special(list, &n, a->seqlen, i * a->length[0] + a->corner_rows + border);
			add_special(list, &n, a->seqlen, i * a->length[0] + a->corner_keys + border);
		}
	return n;
}

/*
 * Draw `n` positions in the heads `head`: the first and last token, then a third of them special tokens. Returns their number
 * without duplicates.
 */
static int draw_positions(
	const struct attention_case *a, struct draw *d, const int32_t *head, int heads, int n, struct reference_position *out)
{
	int32_t special[SPECIAL_MAX] = { 0 };
	int n_special = special_tokens(a, special);
	for (int i = 0; i < n; i++) {
		out[i].head = head[draw_below(d, heads)];
		if (i < 2)
			out[i].row = special[i];
		else if (i % 3 == 0)
			out[i].row = special[draw_below(d, n_special)];
		else
			out[i].row = draw_below(d, attention_total_q(a)); /* backward has as many keys */
	}
	return sort_unique(out, n);
}

static int all_positions(int heads, int rows, struct reference_position *out)
{
	int n = 0;
	for (int head = 0; head < heads; head++)
		for (int row = 0; row < rows; row++)
			out[n++] = (struct reference_position){ head, row };
	return n;
}

static int within(double n, int low, int high)
{
	return n < low ? low : n > high ? high : (int)n;
}

int reference_plan_make(const struct cell *cell, uint64_t seed, double visits, struct reference_plan *out, struct fw_err *err)
{
	const struct attention_case *a = attention_in(cell);
	bool backward = cell->direction == DIRECTION_BACKWARD;
	double area = attention_area(a), budget = visits > 0 ? visits : visits_default;
	int group = a->nhq / a->nhk;
	struct draw d = { inputs_mix(seed ^ 0x7265666572656e63ULL) };

	memset(out, 0, sizeof *out);
	out->complete = area * a->nhq * a->headdim * (backward ? 3 : 1) <= budget;
	size_t max_rows = out->complete ? (size_t)a->nhq * (size_t)attention_total_q(a) : ROWS_MAX;
	size_t max_keys = out->complete ? (size_t)a->nhk * (size_t)a->seqlen : KEYS_MAX;
	int32_t *heads = calloc((size_t)a->nhq, sizeof *heads);
	int32_t *key_heads = calloc((size_t)a->nhk, sizeof *key_heads);
	out->row = calloc(max_rows, sizeof *out->row);
	out->key = backward ? calloc(max_keys, sizeof *out->key) : NULL;
	if (!heads || !key_heads || !out->row || (backward && !out->key)) {
		free(heads);
		free(key_heads);
		reference_plan_fini(out);
		return err_set(err, ERR_FULL, "reference: out of memory");
	}
	if (out->complete) {
		out->n_rows = all_positions(a->nhq, attention_total_q(a), out->row);
		out->n_keys = backward ? all_positions(a->nhk, a->seqlen, out->key) : 0;
	} else {
		double per_row = area / attention_total_q(a) * a->headdim;
		bool big = (double)a->seqlen * a->nhk * a->headdim > big_elements;
		int n_key_heads = big && a->nhk > KEY_HEADS_MAX ? KEY_HEADS_MAX : a->nhk, n_heads = 0;
		for (int i = 0; i < a->nhk; i++)
			key_heads[i] = i;
		for (int i = 0; i < n_key_heads; i++) {
			int j = i + draw_below(&d, a->nhk - i);
			int32_t other = key_heads[j];
			key_heads[j] = key_heads[i];
			key_heads[i] = other;
			for (int h = 0; h < group; h++)
				heads[n_heads++] = key_heads[i] * group + h;
		}
		out->n_rows = draw_positions(a, &d, heads, n_heads, within(budget / per_row, ROWS_MIN, ROWS_MAX), out->row);
		if (backward)
			out->n_keys = draw_positions(
				a, &d, key_heads, n_key_heads, within(budget / per_row / group, KEYS_MIN, KEYS_MAX), out->key);
	}
	free(heads);
	free(key_heads);
	return 0;
}

void reference_plan_fini(struct reference_plan *p)
{
	free(p->row);
	free(p->key);
	memset(p, 0, sizeof *p);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static int add_tensor(struct reference *r, int slot, int width, int n, const struct reference_position *at, struct fw_err *err)
{
	struct reference_tensor *t = &r->tensor[r->n_tensors++];
	size_t count = (size_t)n * (size_t)width;
	t->slot = slot;
	t->n = n;
	t->width = width;
	t->at = at;
	t->exact = calloc(count + 1, sizeof *t->exact);
	if (slot != FW_LSE) {
		t->naive = calloc(count + 1, sizeof *t->naive);
		t->noise = calloc(count + 1, sizeof *t->noise);
	}
	if (slot == FW_DQ)
		t->shift = calloc(count + 1, sizeof *t->shift);
	if (!t->exact || (slot != FW_LSE && (!t->naive || !t->noise)) || (slot == FW_DQ && !t->shift))
		return err_set(err, ERR_FULL, "reference: out of memory");
	return 0;
}

int reference_compute(const struct reference_ops *ops, const struct reference_plan *plan, const struct reference_io *io,
	struct reference *out, struct fw_err *err)
{
	int d = attention_in(io->cell)->headdim, status;
	memset(out, 0, sizeof *out);
	out->cell = io->cell;
	if (io->cell->direction == DIRECTION_FORWARD) {
		status = add_tensor(out, FW_O, d, plan->n_rows, plan->row, err);
		if (status == 0)
			status = add_tensor(out, FW_LSE, 1, plan->n_rows, plan->row, err);
	} else {
		status = add_tensor(out, FW_DQ, d, plan->n_rows, plan->row, err);
		if (status == 0)
			status = add_tensor(out, FW_DK, d, plan->n_keys, plan->key, err);
		if (status == 0)
			status = add_tensor(out, FW_DV, d, plan->n_keys, plan->key, err);
	}
	if (status == 0)
		status = ops->compute(plan, io, out, err);
	if (status)
		reference_fini(out);
	return status;
}

void reference_fini(struct reference *r)
{
	for (int i = 0; i < r->n_tensors; i++) {
		free(r->tensor[i].exact);
		free(r->tensor[i].naive);
		free(r->tensor[i].noise);
		free(r->tensor[i].shift);
	}
	memset(r, 0, sizeof *r);
}
