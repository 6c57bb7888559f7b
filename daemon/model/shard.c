/* shard.c - sampling and partition of a suite's cells. */
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

struct draw {
	const struct suite *suite;
	int n_shards, *shard_of; /* shard_of[n_cells]: the shard of a cell */
	int *order, *companion;  /* [n_cells]: positions by rising hash; baseline cell, -1 none */
};

static uint64_t mark_of(const char *key)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * UINT64_C(0x100000001b3);
	h = (h ^ (h >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ (h >> 27)) * UINT64_C(0x94d049bb133111eb);
	return h ^ (h >> 31);
}

static int by_mark(const void *a, const void *b, void *arg)
{
	const struct suite *s = arg;
	const char *x = s->cell[*(const int *)a].key, *y = s->cell[*(const int *)b].key;
	uint64_t p = mark_of(x), q = mark_of(y);

	return p < q ? -1 : p > q ? 1 : strcmp(x, y);
}

static int by_key(const void *a, const void *b, void *arg)
{
	const struct suite *s = arg;

	return strcmp(s->cell[*(const int *)a].key, s->cell[*(const int *)b].key);
}

/* Find the index of the cell with that key; `order` is sorted by key. */
static int find(const struct draw *d, const char *key)
{
	int low = 0, high = d->suite->n_cells;

	while (low < high) {
		int middle = (low + high) / 2, sign = strcmp(d->suite->cell[d->order[middle]].key, key);

		if (sign == 0)
			return d->order[middle];
		if (sign < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

static void find_companions(struct draw *d)
{
	const struct suite *s = d->suite;

	qsort_r(d->order, (size_t)s->n_cells, sizeof *d->order, by_key, (void *)s);
	for (int i = 0; i < s->n_cells; i++)
		d->companion[i] = s->cell[i].baseline[0] ? find(d, s->cell[i].baseline) : -1;
}

/* Draw a cell with its baseline cell if both fit into `capacity`. Returns the number of new cells. */
static int draw_one(struct draw *d, int cell, int capacity)
{
	int companion = d->companion[cell], n = d->shard_of[cell] != 0;

	if (companion >= 0 && d->shard_of[companion] != 0)
		n++;
	if (n > capacity)
		return 0;
	d->shard_of[cell] = 0;
	if (companion >= 0)
		d->shard_of[companion] = 0;
	return n;
}

static void draw_push(struct draw *d)
{
	const struct suite *s = d->suite;
	int n = 0;

	for (int i = 0; i < s->n_cells; i++)
		if (s->always && suite_matches(s->cell[i].key, s->always))
			n += draw_one(d, i, s->n_cells);
	qsort_r(d->order, (size_t)s->n_cells, sizeof *d->order, by_mark, (void *)s);
	for (int i = 0; i < s->n_cells && n < s->push_cells; i++)
		n += draw_one(d, d->order[i], s->push_cells - n);
}

static void draw_off_peak(struct draw *d)
{
	int n = 0;

	for (int i = 0; i < d->suite->n_cells; i++)
		if (d->shard_of[i] != 0)
			d->shard_of[i] = 1 + n++ / SHARD_CELLS;
	d->n_shards = 1 + (n + SHARD_CELLS - 1) / SHARD_CELLS;
}

static void draw_fini(struct draw *d)
{
	free(d->shard_of);
	free(d->order);
	free(d->companion);
}

/* Own: draw_fini. */
static void draw(const struct suite *s, struct draw *d)
{
	size_t n = (size_t)s->n_cells;

	*d = (struct draw){ .suite = s,
		.shard_of = mem_alloc_zero(n, sizeof *d->shard_of),
		.order = mem_alloc_zero(n, sizeof *d->order),
		.companion = mem_alloc_zero(n, sizeof *d->companion) };
	for (int i = 0; i < s->n_cells; i++) {
		d->order[i] = i;
		d->shard_of[i] = -1;
	}
	find_companions(d);
	draw_push(d);
	draw_off_peak(d);
}

int suite_count_shards(const struct suite *s)
{
	struct draw d;

	if (!s->push_cells)
		return 1;
	draw(s, &d);
	draw_fini(&d);
	return d.n_shards;
}

struct suite_size suite_size(const struct suite *s)
{
	return (struct suite_size){ .cells = s->n_cells, .shards = suite_count_shards(s), .nights = s->nights };
}

/* Mark its members and their baseline cells: a 1 in `order`. */
static void mark_shard(struct draw *d, int shard)
{
	memset(d->order, 0, (size_t)d->suite->n_cells * sizeof *d->order);
	for (int i = 0; i < d->suite->n_cells; i++)
		if (d->shard_of[i] == shard) {
			d->order[i] = 1;
			if (d->companion[i] >= 0)
				d->order[d->companion[i]] = 1;
		}
}

int suite_take_shard(struct suite *s, int shard, struct fw_err *err)
{
	struct draw d;
	int n_left = 0;

	if (!s->push_cells)
		return shard == 0 ? 0 : err_set(err, ERR_NOT_FOUND, "suite %s has one shard", s->name);
	draw(s, &d);
	if (shard < 0 || shard >= d.n_shards) {
		int n = d.n_shards;

		draw_fini(&d);
		return err_set(err, ERR_NOT_FOUND, "suite %s has no shard %d, only 0 to %d", s->name, shard, n - 1);
	}
	mark_shard(&d, shard);
	for (int i = 0; i < s->n_cells; i++)
		if (d.order[i]) {
			if (n_left != i)
				s->cell[n_left] = s->cell[i];
			n_left++;
		}
	s->n_cells = n_left;
	draw_fini(&d);
	s->cell = mem_grow(s->cell, (size_t)n_left, sizeof *s->cell);
	return 0;
}

int suite_choose(struct suite *s, const char *globs, int shard, struct fw_err *err)
{
	if (!globs || !globs[0])
		return suite_take_shard(s, shard, err);
	if (suite_filter(s, globs) == 0)
		return err_set(err, ERR_INVALID, "no cell of suite %s matches %s", s->name, globs);
	if (s->n_cells > JOB_CELLS_MAX)
		return err_set(err, ERR_INVALID, "%d cells of suite %s match %.200s; one comparison takes at most %d", s->n_cells,
			s->name, globs, JOB_CELLS_MAX);
	return 0;
}

void shard_describe(const struct shard_counts *p, char *text, size_t size)
{
	if (p->number)
		snprintf(text, size, "Shard %d of the %d that are measured off-peak: %d of the %d cells of this suite.",
			p->number, p->of, p->cells, p->suite_cells);
	else
		snprintf(text, size,
			"A push measures %d of the %d cells of this suite; the others are measured off-peak, in %d shards within "
			"%d off-peak periods; %d of these shards had been measured before.",
			p->cells, p->suite_cells, p->of, p->nights, p->measured);
}
