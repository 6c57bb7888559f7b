/* cutlass.c - CSV of cutlass_profiler. */
#include "readers/internal.h"

#include <math.h>
#include <stdio.h>

struct report {
	int problem, provider, operation, disposition, status, bytes, runtime, gflops; /* columns; gflops may be -1 */
};

static int find_columns(const struct csv *c, const struct table_header *h, struct report *r, struct fw_err *err)
{
	const struct {
		int *at;
		const char *name;
	} needed[] = { { &r->problem, "Problem" }, { &r->provider, "Provider" }, { &r->operation, "Operation" },
		{ &r->disposition, "Disposition" }, { &r->status, "Status" }, { &r->bytes, "Bytes" },
		{ &r->runtime, "Runtime" } };

	for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
		if ((*needed[i].at = table_require_column(c, h, needed[i].name, err)) < 0)
			return -1;
	r->gflops = table_column(h, "GFLOPs");
	return 0;
}

/* Return whether a name needs no argument: it has its usual value, or the name of the operation states it already. */
static bool is_implied(const char *operation, const char *name, const char *value)
{
	static const char *const of_operation[] = { "gemm_kind", "conv_kind", "op_class", "accum", "cta_", "stages", "warps_",
		"inst_", "min_cc", "max_cc" };
	static const struct {
		const char *name, *value;
	} usual[] = { { "alpha", "1" }, { "beta", "0" }, { "split_k_mode", "serial" }, { "split_k_slices", "1" },
		{ "batch_count", "1" }, { "raster_order", "heuristic" }, { "swizzle_size", "1" }, { "use_pdl", "false" } };

	for (size_t i = 0; i < sizeof of_operation / sizeof of_operation[0]; i++)
		if (strncmp(name, of_operation[i], strlen(of_operation[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (strcmp(name, usual[i].name) == 0 && strcmp(value, usual[i].value) == 0)
			return true;
	/* "f16:row" of an operand; a cluster unless it is chosen for each launch */
	return strchr(value, ':') || (strncmp(name, "cluster_", 8) == 0 && !strstr(operation, "_0x0x"));
}

/* The provider, the operation, the tags of --tags, and the arguments of the problem. */
static void name_row(const struct csv *c, const struct table_header *h, const struct report *r, char key[TABLE_KEY_SIZE])
{
	snprintf(key, TABLE_KEY_SIZE, "%.100s/%.900s", c->cell[r->provider], c->cell[r->operation]);
	for (int i = 0; i < r->bytes; i++)
		if (i < r->problem || (i > r->status && !is_implied(c->cell[r->operation], h->name[i], c->cell[i])))
			table_put(key, h->name[i], c->cell[i]);
}

static int read_result(
	struct reading *out, const struct csv *c, const struct table_header *h, const void *columns, struct fw_err *err)
{
	const struct report *r = columns;
	const char *disposition = c->cell[r->disposition], *status = c->cell[r->status];
	char key[TABLE_KEY_SIZE], why[READING_WHY_SIZE], where[TABLE_POSITION_SIZE];
	bool unverified = strcmp(disposition, "not_verified") == 0;
	double gflops = NAN;

	name_row(c, h, r, key);
	snprintf(why, sizeof why, "its disposition is %.60s, its status %.60s", disposition, status);
	if (strcmp(disposition, "failed") == 0 || strcmp(disposition, "incorrect") == 0)
		return reading_fail(out, key, why, table_position(where, c, "Disposition"), err);
	if ((strcmp(disposition, "passed") != 0 && !unverified) || strcmp(status, "success") != 0)
		return reading_skip(out, key, err, "%s", why);
	if (unverified)
		reading_note(out, "results of the disposition not_verified are in it: the profiler did not check these kernels");
	if (r->gflops >= 0 && !reading_number(c->cell[r->gflops], &gflops))
		gflops = NAN;
	return table_add(out, c, h, r->runtime, "ms", key, gflops / 1e3, err);
}

int read_cutlass(struct reading *out, const char *text, size_t len, const char *file, const struct reading_options *how,
	struct fw_err *err)
{
	struct table_header h;
	struct report report;
	struct csv c;
	int result = -1;

	(void)how;
	csv_init(&c, text, len, file);
	if (!table_seek(&c, "Problem,Provider,"))
		err_set(err, ERR_INVALID, "%s: holds no table of cutlass_profiler; let it write one with --output", file);
	else if (table_header_read(&c, &h, err) == 0 && find_columns(&c, &h, &report, err) == 0)
		result = table_each(out, &c, &h, read_result, &report, err);
	csv_fini(&c);
	return result;
}
