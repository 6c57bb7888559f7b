/* pair.c - matching of two readings. */
#include "readers/readers.h"

#include <math.h>
#include <stdlib.h>

/* Read a row's statistic of a rank; false: it has none. */
static bool statistic_of(const struct reading_row *row, int rank, struct reading_time *out)
{
	double sum = 0;

	for (int i = 0; i < row->n_times; i++)
		if (row->time[i].rank == rank) {
			*out = row->time[i];
			return true;
		}
	if (row->n_times > 0 || row->n == 0 || rank > 1)
		return false;
	for (int i = 0; i < row->n; i++)
		sum += row->ms[i];
	*out = rank == 0 ? (struct reading_time){ READING_MEDIAN, 0, row->median_ms }
			 : (struct reading_time){ READING_MEAN, 1, sum / row->n };
	return true;
}

static void take_statistic(struct reading_row *row, int rank)
{
	struct reading_time time;

	if (!statistic_of(row, rank, &time) || (row->n_times == 0 && rank == 0))
		return;
	row->ms[0] = row->median_ms = time.ms;
	row->n = 1;
	row->statistic = rank > 0 ? time.name : "";
}

bool reading_choose_statistic(struct reading_row *const *row, int n)
{
	struct reading_time ignored;

	for (int rank = 0; rank < READING_TIMES_MAX; rank++) {
		int with = 0;

		while (with < n && statistic_of(row[with], rank, &ignored))
			with++;
		for (int i = 0; i < n && with == n; i++)
			take_statistic(row[i], rank);
		if (with == n)
			return true;
	}
	return false;
}

static const struct reading_fact *find_fact(const struct reading *r, const char *name)
{
	for (int i = 0; i < r->n_facts; i++)
		if (strcmp(r->fact[i].name, name) == 0)
			return &r->fact[i];
	return NULL;
}

/* Measured clocks are never equal to the last digit. */
static bool is_same_value(const struct reading_fact *a, const struct reading_fact *b)
{
	bool clock = strstr(a->name, "mhz") || strstr(a->name, "clock");
	double x, y;

	if (strcmp(a->value, b->value) == 0)
		return true;
	return clock && reading_number(a->value, &x) && reading_number(b->value, &y) &&
	       fabs(x - y) <= 0.01 * fmax(fabs(x), fabs(y));
}

static void write_conditions(
	const struct reading *base, const char *base_file, const struct reading *target, const char *target_file, struct buf *out)
{
	for (int i = 0; i < base->n_facts; i++) {
		const struct reading_fact *a = &base->fact[i], *b = find_fact(target, a->name);

		if (b && !is_same_value(a, b))
			buf_printf(out, "%s: %s in %s, %s in %s; the times may differ because of that\n", a->name, a->value,
				base_file, b->value, target_file);
		else if (b && a->doubtful)
			buf_printf(out, "%s: %s in both files, which distorts times\n", a->name, a->value);
		else if (!b && a->doubtful)
			buf_printf(out, "%s: %s in %s, and %s does not report it; the times may differ because of that\n",
				a->name, a->value, base_file, target_file);
	}
	for (int i = 0; i < target->n_facts; i++)
		if (target->fact[i].doubtful && !find_fact(base, target->fact[i].name))
			buf_printf(out, "%s: %s in %s, and %s does not report it; the times may differ because of that\n",
				target->fact[i].name, target->fact[i].value, target_file, base_file);
}

static int leave_row(struct reading *r, int i, const char *why, struct fw_err *err)
{
	const struct reading_row *row = &r->row[i];
	char key[CASE_KEY_SIZE];
	int twins = row->twins;

	memcpy(key, row->key, sizeof key);
	reading_entry(r, row->entry);
	if (reading_skip(r, row->name, err, "%s", why))
		return -1;
	memcpy(r->left[r->n_left - 1].key, key, sizeof key);
	r->left[r->n_left - 1].twins = twins;
	r->left[r->n_left - 1].unpaired = true;
	free(r->row[i].ms);
	r->n_rows--;
	memmove(&r->row[i], &r->row[i + 1], (size_t)(r->n_rows - i) * sizeof *r->row);
	return 0;
}

static int count_of(const struct reading *r, const char *name)
{
	for (int i = 0; i < r->n_rows; i++)
		if (strcmp(r->row[i].name, name) == 0)
			return r->row[i].twins;
	for (int i = 0; i < r->n_left; i++)
		if (strcmp(r->left[i].name, name) == 0)
			return r->left[i].twins;
	return 0;
}

static int leave_name(struct reading *r, const char *name, const char *why, struct fw_err *err)
{
	for (int i = r->n_rows - 1; i >= 0; i--)
		if (strcmp(r->row[i].name, name) == 0 && leave_row(r, i, why, err))
			return -1;
	return 0;
}

/*
 * Results of one name differ only by their order. If one file has more of them, any of them may be the missing one, so none is
 * compared.
 */
static int leave_uneven(struct reading *in, const char *file, struct reading *other, const char *other_file, struct buf *warnings,
	int *unpaired, struct fw_err *err)
{
	for (int i = 0; i < in->n_rows;) {
		char name[CASE_KEY_SIZE];
		int n = in->row[i].twins, m = n > 1 ? count_of(other, in->row[i].name) : n;

		if (m == n || m == 0) {
			i++;
			continue;
		}
		memcpy(name, in->row[i].name, sizeof name);
		buf_printf(warnings,
			"%s has %d results called %s, %s has %d: their order is unknown, so none of them is compared\n", file, n,
			name, other_file, m);
		++*unpaired;
		if (leave_name(in, name, "the files have different numbers of results of this name", err) ||
			leave_name(other, name, "the files have different numbers of results of this name", err))
			return -1;
		i = 0;
	}
	return 0;
}

static const char *name_best(const struct reading_row *row, struct reading_time *best)
{
	return row->statistic[0] ? row->statistic : statistic_of(row, 0, best) ? best->name : READING_MEDIAN;
}

static int choose_pair_statistic(
	struct reading *base, int i, struct reading *target, int k, struct buf *warnings, int *unpaired, struct fw_err *err)
{
	struct reading_row *pair[2] = { &base->row[i], &target->row[k] };
	struct reading_time best;

	if (pair[0]->n == 0 || pair[1]->n == 0 || reading_choose_statistic(pair, 2))
		return 1;
	buf_printf(warnings,
		"%s is not compared: one file states its %s, the other its %s, and they have no statistic in common\n",
		pair[0]->key, name_best(pair[0], &best), name_best(pair[1], &best));
	++*unpaired;
	return leave_row(base, i, "the files state no statistic of it in common", err) ||
			       leave_row(target, k, "the files state no statistic of it in common", err)
		       ? -1
		       : 0;
}

/* Report the used statistics that are not the best of the format, a sentence each. */
static void write_statistics(const struct reading *base, const struct reading *target, struct buf *out)
{
	enum { NAMED = 3 };

	for (int i = 0; i < base->n_rows; i++) {
		const char *statistic = base->row[i].statistic;
		bool is_reported = !statistic[0];
		int n = 0;

		for (int k = 0; k < i && !is_reported; k++)
			is_reported = strcmp(base->row[k].statistic, statistic) == 0 && reading_find(target, base->row[k].key);
		if (is_reported || !reading_find(target, base->row[i].key))
			continue;
		buf_printf(out, "compared by the %s, the best statistic that both files state:", statistic);
		for (int k = i; k < base->n_rows; k++)
			if (strcmp(base->row[k].statistic, statistic) == 0 && reading_find(target, base->row[k].key) &&
				n++ < NAMED)
				buf_printf(out, "%s %s", n > 1 ? "," : "", base->row[k].key);
		if (n > NAMED)
			buf_printf(out, " and %d more", n - NAMED);
		buf_putc(out, '\n');
	}
}

static int find_index(const struct reading *r, const char *key)
{
	const struct reading_row *row = reading_find(r, key);

	return row ? (int)(row - r->row) : -1;
}

int reading_pair(struct reading *base, const char *base_file, struct reading *target, const char *target_file,
	struct buf *warnings, int *unpaired, struct fw_err *err)
{
	*unpaired = 0;
	write_conditions(base, base_file, target, target_file, warnings);
	if (leave_uneven(base, base_file, target, target_file, warnings, unpaired, err) ||
		leave_uneven(target, target_file, base, base_file, warnings, unpaired, err))
		return -1;
	for (int i = 0; i < base->n_rows;) {
		int k = find_index(target, base->row[i].key);
		int result = k < 0 ? 1 : choose_pair_statistic(base, i, target, k, warnings, unpaired, err);

		if (result < 0)
			return -1;
		i += result;
	}
	write_statistics(base, target, warnings);
	return warnings->failed ? err_set(err, ERR_INTERNAL, "out of memory") : 0;
}
