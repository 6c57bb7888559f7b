#include "verdict/verdict.h"

#include <math.h>

/* A unit and its size in the units of the API. */
struct unit_of_cost {
	const char *name;
	double scale;
};

enum { UNITS_MAX = 7 };

static const struct words {
	const char *what, *sentence;
	struct unit_of_cost unit[UNITS_MAX]; /* the smallest first; none: a count without a name */
	bool has_figures;                    /* else it has no values, only true or false */
} known[] = {
	{ "local_bytes", "its kernels use more local memory, where registers spill",
		{ { " bytes a thread", 1 }, { " kB a thread", 1e3 } }, true },
	{ "launches", "a call launches more kernels", { { 0 } }, true },
	{ "memory", "a call needs more workspace",
		{ { " bytes", 1 }, { " kB", 1e3 }, { " MB", 1e6 }, { " GB", 1e9 }, { " TB", 1e12 } }, true },
	{ "first", "the first call takes longer", { { " us", 1e-3 }, { " ms", 1 }, { " s", 1e3 } }, true },
	{ "energy", "a call uses more energy", { { " uJ", 1e-6 }, { " mJ", 1e-3 }, { " J", 1 }, { " kJ", 1e3 } }, true },
	{ "host", "the host takes longer to enqueue a call", { { " ns", 1e-3 }, { " us", 1 }, { " ms", 1e3 }, { " s", 1e6 } },
		true },
	{ "flops_issued", "a call does more arithmetic for the same result",
		{ { " FLOP", 1 }, { " kFLOP", 1e3 }, { " MFLOP", 1e6 }, { " GFLOP", 1e9 }, { " TFLOP", 1e12 },
			{ " PFLOP", 1e15 } },
		true },
	{ "error", "its results are less exact", { { " times the error of plain bf16", 1 } }, true },
	{ "unrepeatable", "two calls with the same inputs give different bits", { { 0 } }, false },
};

static const struct words *find_words(const char *what)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].what, what) == 0)
			return &known[i];
	return NULL;
}

/* The largest unit of which the value, as printed, has at least one. */
static struct unit_of_cost choose_unit(const struct words *words, double value)
{
	int i = 0;
	if (!words || !words->unit[0].name)
		return (struct unit_of_cost){ "", 1 };
	while (i + 1 < UNITS_MAX && words->unit[i + 1].name && fabs(value) >= 0.99995 * words->unit[i + 1].scale)
		i++;
	return words->unit[i];
}

void cost_values(const char *what, double first, const char *between, double second, char *out, size_t size)
{
	const struct words *words = find_words(what);
	struct unit_of_cost unit[2] = { choose_unit(words, first != 0 ? first : second),
		choose_unit(words, second != 0 ? second : first) };
	bool is_same = unit[0].scale == unit[1].scale;
	snprintf(out, size, "%.4g%s%s%.4g%s", first / unit[0].scale, is_same ? "" : unit[0].name, between, second / unit[1].scale,
		unit[1].name);
}

void cost_text(const char *what, size_t n_cells, double base, double target, char *out, size_t size)
{
	const struct words *words = find_words(what);
	char values[COST_VALUES_SIZE];
	int n = snprintf(out, size, "%s in %zu cell%s", words ? words->sentence : what, n_cells, n_cells == 1 ? "" : "s");
	if ((words && !words->has_figures) || n <= 0 || (size_t)n >= size)
		return;
	cost_values(what, target, " instead of ", base, values, sizeof values);
	snprintf(out + n, size - (size_t)n, ", at most %s", values);
}
