#include "verdict/verdict.h"

static const struct words {
	const char *what, *sentence, *unit; /* unit: "" a count */
	double scale;                       /* from the value to that unit */
	bool has_figures;                   /* else it has no values, only true or false */
} known[] = {
	{ "local_bytes", "its kernels keep more in local memory, where registers spill", " bytes a thread", 1, true },
	{ "launches", "a call launches more kernels", "", 1, true },
	{ "memory", "a call needs more workspace", " MB", 1e-6, true },
	{ "first", "the first call takes longer", " ms", 1, true },
	{ "energy", "a call uses more energy", " J", 1, true },
	{ "host", "the host takes longer to enqueue a call", " us", 1, true },
	{ "flops_issued", "a call does more arithmetic for the same result", " GFLOP", 1e-9, true },
	{ "error", "its results are less exact", " times the error of plain bf16", 1, true },
	{ "unrepeatable", "two calls with the same inputs give different bits", "", 1, false },
};

void cost_text(const char *what, size_t n_cells, double base, double target, char *out, size_t size)
{
	struct words words = { what, what, "", 1, true };
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strcmp(known[i].what, what) == 0)
			words = known[i];
	int n = snprintf(out, size, "%s in %zu cell%s", words.sentence, n_cells, n_cells == 1 ? "" : "s");
	if (words.has_figures && n > 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, ", at most %.4g instead of %.4g%s", words.scale * target, words.scale * base,
			words.unit);
}
