/* sassdelta.c - equal instructions get equal numbers, which are counted and aligned. */
#include "profile/internal.h"

#include <stdlib.h>

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

static bool cut_hunks(struct sassdelta *d, const struct streams *s, const bool *kept)
{
	const bool *kept_b = kept + s->n[0];
	size_t i = 0, j = 0, room = 0;
	while (i < s->n[0] || j < s->n[1]) {
		struct sassdelta_hunk h = { .base_from = i, .target_from = j };
		for (; i < s->n[0] && !kept[i]; i++)
			h.base_n++;
		for (; j < s->n[1] && !kept_b[j]; j++)
			h.target_n++;
		if (h.base_n + h.target_n == 0) {
			i++, j++;
			continue;
		}
		if (d->n_hunks == room) {
			room = room ? 2 * room : 16;
			struct sassdelta_hunk *more = reallocarray(d->hunk, room, sizeof *more);
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
	bool *kept = calloc(n + 1, sizeof *kept);
	bool good = s.entry && id && kept && count_opcodes(d, &s);
	if (good) {
		number(d, &s, id);
		bool is_same_order = s.n[0] == s.n[1] && memcmp(id, id + s.n[0], s.n[0] * sizeof *id) == 0;
		d->kind = is_same_order                      ? SASSDELTA_RENAMED
			  : d->removed == 0 && d->added == 0 ? SASSDELTA_RESCHEDULED
							     : SASSDELTA_CHANGED;
		d->is_aligned = sassalign_keep(id, s.n[0], id + s.n[0], s.n[1], kept, kept + s.n[0]);
		good = !d->is_aligned || cut_hunks(d, &s, kept);
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
	free(kept);
	return good ? 0 : err_set(err, ERR_FULL, "no memory to compare %zu instructions", n);
}

void sassdelta_fini(struct sassdelta *d)
{
	free(d->hunk);
	free(d->opcode);
	*d = (struct sassdelta){ 0 };
}
