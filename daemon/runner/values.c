/* values.c - comparison of values with their allowed errors. */
#include "runner/runner.h"

#include <math.h>
#include <stdio.h>

#define HOPELESS 1e9
/* Equally near to both results. */
#define HALF_WAY 0.5

/* Distance of results towards another result, in units of the allowed error. */
struct way {
	double gone, all;
};

struct span {
	int slot;
	int64_t first;
	size_t n;
	double *exact, *allowed, *other; /* other NULL: no other result */
	const char *what;                /* of whom `other` is */
};

struct values {
	int n, capacity;
	struct span *span;
};

struct expected {
	const struct check_io *io;
	struct values values;
};

void values_free(struct expected *e)
{
	for (int i = 0; e && i < e->values.n; i++) {
		free(e->values.span[i].exact);
		free(e->values.span[i].allowed);
		free(e->values.span[i].other);
	}
	if (e)
		free(e->values.span);
	free(e);
}

struct expected *values_make(const struct check_io *io, values_fn *compute, uint64_t seed, double visits, struct fw_err *err)
{
	struct expected *e = mem_alloc_zero(1, sizeof *e);

	e->io = io;
	if (compute(io, seed, visits, &e->values, err) == 0)
		return e;
	values_free(e);
	return NULL;
}

int values_add(struct values *v, int slot, int64_t first, size_t n, double **exact, double **allowed, struct fw_err *err)
{
	if (v->n == v->capacity) {
		int capacity = v->capacity ? 2 * v->capacity : 64;
		struct span *more = realloc(v->span, (size_t)capacity * sizeof *more);

		if (!more)
			return err_set(err, ERR_FULL, "reference: out of memory");
		v->span = more;
		v->capacity = capacity;
	}
	struct span *s = &v->span[v->n++];

	*s = (struct span){ slot, first, n, calloc(n, sizeof *s->exact), calloc(n, sizeof *s->allowed), NULL, NULL };
	*exact = s->exact;
	*allowed = s->allowed;
	return s->exact && s->allowed ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
}

int values_other(struct values *v, const char *what, double **other, struct fw_err *err)
{
	struct span *s = &v->span[v->n - 1];

	s->what = what;
	*other = s->other = calloc(s->n, sizeof *s->other);
	return s->other ? 0 : err_set(err, ERR_FULL, "reference: out of memory");
}

int64_t values_row(uint64_t seed, int i, int n, int64_t rows)
{
	if (n >= rows)
		return i;
	if (i < 2)
		return i == 0 ? 0 : rows - 1;
	return (int64_t)(inputs_mix(seed + (uint64_t)i * INPUTS_INCREMENT) % (uint64_t)rows);
}

bool values_is_drawn(uint64_t seed, int64_t row, int n, int64_t rows)
{
	return n >= rows || row == 0 || row == rows - 1 ||
	       inputs_mix(seed + (uint64_t)row * INPUTS_INCREMENT) % (uint64_t)rows < (uint64_t)n;
}

/* Format "dX[17, 3]": the index of an element, by its tensor's strides. */
static void name_element(const struct check_io *io, int slot, int64_t at, char *out, size_t size)
{
	const struct family *f = case_family(io->cell);
	struct fw_tensor t;
	size_t used = (size_t)snprintf(out, size, "%s[", family_slot_name(f, slot));

	(void)f->lay_out(io->cell->shape.bytes, slot, &t);
	for (int k = 0; k < 3 && t.stride[k] && used < size; k++) {
		used += (size_t)snprintf(out + used, size - used, "%s%lld", k ? ", " : "", (long long)(at / t.stride[k]));
		at %= t.stride[k];
	}
	if (used < size)
		snprintf(out + used, size - used, "]");
}

void values_describe(const struct check_io *io, int slot, int64_t i, double x, double exact, double allowed, double ratio,
	struct accept_result *r)
{
	char name[80];

	name_element(io, slot, i, name, sizeof name);
	r->error_ratio = ratio;
	r->slot = slot;
	snprintf(r->detail, sizeof r->detail, "%s is %.6g, should be %.6g (allowed error %.3g)", name, x, exact, allowed);
}

static void take_way(struct way *way, const struct span *s, size_t i, double x)
{
	double distance = s->other && s->allowed[i] > 0 ? (s->other[i] - s->exact[i]) / s->allowed[i] : 0;

	if (distance == 0 || !isfinite(x))
		return;
	way->gone += (x - s->exact[i]) / s->allowed[i] * distance;
	way->all += distance * distance;
}

static void compare_way(const struct check_io *io, const struct way *way, const struct span *first, struct accept_result *r)
{
	if (way->all <= 0)
		return;
	/* the allowed error of an element is six standard deviations; this is the same share for the chance of all of them */
	double share = way->gone / way->all, allowed = HALF_WAY + 1 / sqrt(way->all);

	if (share <= allowed || share / allowed <= r->error_ratio)
		return;
	r->error_ratio = share / allowed;
	r->slot = first->slot;
	snprintf(r->detail, sizeof r->detail, "%s is %.0f %% of the way to what %s gives (allowed %.0f %%)",
		family_slot_name(case_family(io->cell), first->slot), 100 * share, first->what, 100 * allowed);
}

/* Return the first span whose other result is of the same kind as that of span `i`. */
static int first_alike(const struct values *v, int i)
{
	int first = 0;

	while (first < i && v->span[first].what != v->span[i].what)
		first++;
	return first;
}

static int compare_span(
	const struct check_io *io, const struct span *s, struct way *way, struct accept_result *r, struct fw_err *err)
{
	float *x = calloc(s->n, sizeof *x);

	if (!x)
		return err_set(err, ERR_FULL, "reference: out of memory");
	int result = check_read(io, s->slot, s->first, s->n, x, err);

	for (size_t i = 0; result == 0 && i < s->n; i++) {
		double error = fabs((double)x[i] - s->exact[i]), allowed = s->allowed[i];
		double ratio = !(error <= HOPELESS * allowed) ? HOPELESS : error > 0 ? error / allowed : 0;

		take_way(way, s, i, (double)x[i]);
		if (!r->detail[0] || ratio > r->error_ratio)
			values_describe(io, s->slot, s->first + (int64_t)i, (double)x[i], s->exact[i], allowed, ratio, r);
	}
	free(x);
	return result;
}

int values_compare(struct expected *e, struct accept_result *r, struct fw_err *err)
{
	const struct cell *c = e->io->cell;
	const struct family *f = case_family(c);
	int64_t index;
	char name[80];

	struct values *v = &e->values;
	struct way *way = calloc((size_t)v->n + 1, sizeof *way); /* of the first span that has the same other result */
	int result = way ? 0 : err_set(err, ERR_FULL, "reference: out of memory");

	*r = (struct accept_result){ .slot = -1 };
	for (int i = 0; result == 0 && i < v->n; i++)
		result = compare_span(e->io, &v->span[i], &way[first_alike(v, i)], r, err);
	for (int i = 0; result == 0 && i < v->n; i++)
		compare_way(e->io, &way[i], &v->span[i], r);
	free(way);
	if (result != 0)
		return -1;
	for (int slot = 0; slot < f->n_slots && r->error_ratio < HOPELESS; slot++) {
		if (f->use(c->shape.bytes, c->direction, slot) != SLOT_OUTPUT)
			continue;
		if (check_find_nonfinite(e->io, slot, &index, err) != 0)
			return -1;
		if (index < 0)
			continue;
		name_element(e->io, slot, index, name, sizeof name);
		r->error_ratio = HOPELESS;
		r->slot = slot;
		snprintf(r->detail, sizeof r->detail, "%s is not finite", name);
	}
	r->ok = r->error_ratio <= 1;
	return 0;
}
