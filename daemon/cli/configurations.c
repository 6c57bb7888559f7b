/* configurations.c - see configurations.c. */
#include "cli/internal.h"

#include <math.h>

static void figure(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%.4g", v);
	else
		table_cell(t, "-");
}

static void print_rows(const json_t *rows, FILE *out)
{
	static const char *const titles[] = { "cell", "side", ">ms", ">TFLOP/s", ">speedup", "~>DRAM GB/s", "~>L2 hits %",
		"~>L1 hits %", "~>bank conflicts %", "~>tensor %", "~configuration" };
	static const char *const figures[] = { "dram_gb_s", "l2_hit_pct", "l1_hit_pct", "bank_conflicts_pct", "tensor_pct" };
	static const char *const sides[] = { "base", "target" };
	struct table t;
	size_t i;
	const json_t *row;
	table_init(&t, 11, titles);
	json_array_foreach(rows, i, row) for (int s = 0; s < 2; s++)
	{
		const json_t *side = json_object_get(row, sides[s]);
		table_cell(&t, "%s", s ? "" : value_text(row, "cell"));
		table_cell(&t, "%s", sides[s]);
		figure(&t, value_number(side, "ms"));
		figure(&t, value_number(side, "tflops"));
		figure(&t, s ? value_number(row, "speedup") : 1);
		for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
			figure(&t, value_number(side, figures[k]));
		table_cell(&t, "%s", value_text(side, "configuration"));
	}
	table_print(&t, out);
	table_fini(&t);
}

static void print_lengths(const json_t *rows, FILE *out)
{
	size_t i;
	const json_t *row;
	json_array_foreach(rows, i, row)
	{
		double base = value_number(row, "base"), target = value_number(row, "target");
		fprintf(out, "long over short: %s %s, TFLOP/s at %lld over %lld: base %.2f, target %.2f\n",
			value_text(row, "title"), value_text(row, "direction"), value_integer(row, "longest"),
			value_integer(row, "shortest"), base, target);
	}
}

/* Reasons, each once, with how many cells have it. */
static void print_reasons(const json_t *cells, FILE *out)
{
	size_t i, k;
	const json_t *cell, *other;
	json_array_foreach(cells, i, cell)
	{
		const char *why = value_text(cell, "why");
		size_t alike = 0;
		bool reported = false;
		json_array_foreach(cells, k, other)
		{
			bool same = strcmp(value_text(other, "why"), why) == 0;
			reported = reported || (same && k < i);
			alike += same;
		}
		if (!*why || reported)
			continue;
		fprintf(out, "%zu cell%s: ", alike, alike == 1 ? "" : "s");
		plain_print(out, why);
		fputc('\n', out);
	}
}

void configurations_print(const json_t *profile, FILE *out)
{
	const char *sides[] = { "base", "target" };
	fprintf(out, "profile %lld  %s  %s ", value_integer(profile, "id"), value_text(profile, "repo"),
		value_text(profile, "suite"));
	for (int s = 0; s < 2; s++) {
		char key[32];
		snprintf(key, sizeof key, "%s_provider", sides[s]);
		fprintf(out, " %s %.12s", sides[s], value_text(profile, sides[s]));
		if (*value_text(profile, key))
			fputs(" by ", out), plain_print(out, value_text(profile, key));
	}
	fputs("\n\n", out);
	print_rows(json_object_get(profile, "configurations"), out);
	fputc('\n', out);
	print_lengths(json_object_get(profile, "long_over_short"), out);
	print_reasons(json_object_get(profile, "cells"), out);
	fprintf(out, "flopwatch why comparison %lld prints the cause of each difference\n", value_integer(profile, "comparison"));
}
