/* sassdelta.c - equal instructions get equal numbers, which are counted and aligned. */
#include "profile/internal.h"

#include <limits.h>
#include <stdlib.h>

/*
 * ---- sassalign ----
 * E. W. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): furthest point of each number of edits
 * on each diagonal. All frontiers are stored for the way back, which bounds the number of edits.
 */

enum { EDITS_MAX = 4000 };

/* Frontier `d` has d + 1 diagonals, -d to d in steps of two. */
static size_t position(int d, int k)
{
	return (size_t)d * (size_t)(d + 1) / 2 + (size_t)((k + d) / 2);
}

/* True if the best path to diagonal `k` in `d` edits inserts an entry of b; else it deletes one of a. */
static bool is_down(const int *x, int d, int k)
{
	return k == -d || (k != d && x[position(d - 1, k - 1)] < x[position(d - 1, k + 1)]);
}

/* Return the number of edits; -1: too many. `x` holds all frontiers. */
static int search(const uint32_t *a, int n, const uint32_t *b, int m, int **x)
{
	for (int d = 0; d <= n + m && d <= EDITS_MAX; d++) {
		if ((d & (d - 1)) == 0) { /* grow to twice the size */
			int *more = realloc(*x, position(2 * d + 1, -2 * d - 1) * sizeof **x);
			if (!more)
				return -1;
			*x = more;
		}
		for (int k = -d; k <= d; k += 2) {
			int i = 0;
			if (d > 0)
				i = is_down(*x, d, k) ? (*x)[position(d - 1, k + 1)] : (*x)[position(d - 1, k - 1)] + 1;
			/* beyond the end of either list it stays */
			while (i < n && i - k < m && i - k >= 0 && a[i] == b[i - k])
				i++;
			(*x)[position(d, k)] = i;
			if (i >= n && i - k >= m && k == n - m)
				return d;
		}
	}
	return -1;
}

static void go_back(const int *x, int edits, int n, int m, bool *matched_a, bool *matched_b)
{
	int i = n, j = m;
	for (int d = edits; d > 0; d--) {
		int k = i - j;
		bool down = is_down(x, d, k);
		int before = down ? k + 1 : k - 1;
		int from = x[position(d - 1, before)], start = down ? from : from + 1;
		for (; i > start; i--, j--)
			matched_a[i - 1] = matched_b[j - 1] = true;
		i = from;
		j = from - before;
	}
	for (; i > 0; i--, j--)
		matched_a[i - 1] = matched_b[j - 1] = true;
}

bool sassalign_match(const uint32_t *a, size_t n, const uint32_t *b, size_t m, bool *matched_a, bool *matched_b)
{
	size_t head = 0, tail = 0;
	if (n > INT_MAX / 4 || m > INT_MAX / 4)
		return false;
	while (head < n && head < m && a[head] == b[head])
		head++;
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
		tail++;
	int *x = NULL, left = (int)(n - head - tail), right = (int)(m - head - tail);
	int edits = search(a + head, left, b + head, right, &x);
	if (edits >= 0) {
		memset(matched_a, true, head);
		memset(matched_b, true, head);
		memset(matched_a + n - tail, true, tail);
		memset(matched_b + m - tail, true, tail);
		go_back(x, edits, left, right, matched_a + head, matched_b + head);
	}
	free(x);
	return edits >= 0;
}

/* ---- sassdelta ---- */

struct entry {
	const char *text;
	size_t at; /* in both streams, base first */
};

static int by_text(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	return strcmp(x->text, y->text);
}

struct streams {
	const struct sass *sass[2];
	const struct sass_function *function[2];
	size_t n[2];
	struct entry *entry; /* of all instructions, sorted by one of their strings */
};

static const struct sass_instruction *at(const struct streams *s, int side, size_t i)
{
	return &s->sass[side]->instruction[s->function[side]->first + i];
}

static void sort_entries(struct streams *s, bool want_opcodes)
{
	size_t k = 0;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < s->n[side]; i++, k++) {
			const struct sass_instruction *in = at(s, side, i);
			s->entry[k] = (struct entry){ sass_string(s->sass[side], want_opcodes ? in->opcode : in->plain), k };
		}
	if (k)
		qsort(s->entry, k, sizeof *s->entry, by_text);
}

/* End of the group of equal entries that begins at `from`, and the number of each side. */
static size_t group(const struct streams *s, size_t from, size_t n_of[2])
{
	size_t to = from;
	n_of[0] = n_of[1] = 0;
	for (; to < s->n[0] + s->n[1] && strcmp(s->entry[to].text, s->entry[from].text) == 0; to++)
		n_of[s->entry[to].at >= s->n[0]]++;
	return to;
}

static int by_difference(const void *a, const void *b)
{
	const struct sassdelta_opcode *x = a, *y = b;
	size_t dx = x->base > x->target ? x->base - x->target : x->target - x->base;
	size_t dy = y->base > y->target ? y->base - y->target : y->target - y->base;
	return dx != dy ? (dx < dy) - (dx > dy) : strcmp(x->opcode, y->opcode);
}

static bool count_opcodes(struct sassdelta *d, struct streams *s)
{
	size_t n_of[2], n = 0;
	sort_entries(s, true);
	for (size_t from = 0, to; from < s->n[0] + s->n[1]; from = to) {
		to = group(s, from, n_of);
		n += n_of[0] != n_of[1];
	}
	d->opcode = calloc(n + 1, sizeof *d->opcode);
	if (!d->opcode)
		return false;
	for (size_t from = 0, to; from < s->n[0] + s->n[1]; from = to) {
		to = group(s, from, n_of);
		if (n_of[0] != n_of[1])
			d->opcode[d->n_opcodes++] = (struct sassdelta_opcode){ s->entry[from].text, n_of[0], n_of[1] };
	}
	if (n)
		qsort(d->opcode, n, sizeof *d->opcode, by_difference);
	return true;
}

/* Number equal instructions equally, and count those that one side has more of. */
static void number(struct sassdelta *d, struct streams *s, uint32_t *id)
{
	uint32_t next = 0;
	size_t n_of[2];
	sort_entries(s, false);
	for (size_t from = 0, to; from < s->n[0] + s->n[1]; from = to, next++) {
		to = group(s, from, n_of);
		for (size_t k = from; k < to; k++)
			id[s->entry[k].at] = next;
		d->removed += n_of[0] > n_of[1] ? n_of[0] - n_of[1] : 0;
		d->added += n_of[1] > n_of[0] ? n_of[1] - n_of[0] : 0;
	}
}

static bool cut_hunks(struct sassdelta *d, const struct streams *s, const bool *matched)
{
	const bool *matched_b = matched + s->n[0];
	size_t i = 0, j = 0, capacity = 0;
	while (i < s->n[0] || j < s->n[1]) {
		struct sassdelta_hunk h = { .base_from = i, .target_from = j };
		for (; i < s->n[0] && !matched[i]; i++)
			h.base_n++;
		for (; j < s->n[1] && !matched_b[j]; j++)
			h.target_n++;
		if (h.base_n + h.target_n == 0) {
			i++, j++;
			continue;
		}
		if (d->n_hunks == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			struct sassdelta_hunk *more = reallocarray(d->hunk, capacity, sizeof *more);
			if (!more)
				return false;
			d->hunk = more;
		}
		d->hunk[d->n_hunks++] = h;
	}
	return true;
}

int sassdelta_make(struct sassdelta *d, const struct sass *a, const struct sass_function *of_a, const struct sass *b,
	const struct sass_function *of_b, struct fw_err *err)
{
	struct streams s = { .sass = { a, b }, .function = { of_a, of_b }, .n = { of_a->n, of_b->n } };
	size_t n = s.n[0] + s.n[1];
	*d = (struct sassdelta){ 0 };
	s.entry = calloc(n + 1, sizeof *s.entry);
	uint32_t *id = calloc(n + 1, sizeof *id);
	bool *matched = calloc(n + 1, sizeof *matched);
	bool good = s.entry && id && matched && count_opcodes(d, &s);
	if (good) {
		number(d, &s, id);
		bool is_same_order = s.n[0] == s.n[1] && memcmp(id, id + s.n[0], s.n[0] * sizeof *id) == 0;
		d->kind = is_same_order                      ? SASSDELTA_RENAMED
			  : d->removed == 0 && d->added == 0 ? SASSDELTA_RESCHEDULED
							     : SASSDELTA_CHANGED;
		d->is_aligned = sassalign_match(id, s.n[0], id + s.n[0], s.n[1], matched, matched + s.n[0]);
		good = !d->is_aligned || cut_hunks(d, &s, matched);
	}
	if (good && d->kind == SASSDELTA_CHANGED && d->is_aligned) {
		d->removed = d->added = 0;
		for (size_t h = 0; h < d->n_hunks; h++) {
			d->removed += d->hunk[h].base_n;
			d->added += d->hunk[h].target_n;
		}
	}
	free(s.entry);
	free(id);
	free(matched);
	return good ? 0 : err_set(err, ERR_FULL, "no memory to compare %zu instructions", n);
}

void sassdelta_fini(struct sassdelta *d)
{
	free(d->hunk);
	free(d->opcode);
	*d = (struct sassdelta){ 0 };
}
