/* profile_table.c - a profile as a table of all values, and as Markdown for a review. */

#include "web/page/internal.h"

#include <math.h>

struct table {
	struct db *db;
	struct buf *out;
	struct fw_err *err;
	int result;
	const char *cell;                         /* key, while its rows are written */
	const struct view_profile_kernel *kernel; /* kernel, while its rows are written */
};

/* ---- CSV ----------------------------------------------------------------------------------------------------------- */

static void csv_value(void *arg, const char *metric, double value)
{
	struct table *t = arg;
	const struct view_profile_kernel *k = t->kernel;
	if (!isfinite(value))
		return;
	csv_format(t->out, "%s,%-s,%d,%d,%s,%s,%s,%s,%.15g\r\n", t->cell, k->side, k->repeat, k->n, k->phase, k->kernel,
		k->code_sha, metric, value);
}

static void csv_kernel(void *arg, const struct view_profile_kernel *row)
{
	struct table *t = arg;
	t->kernel = row;
	csv_value(t, "ms", row->ms);
	csv_value(t, "registers", row->registers);
	csv_value(t, "local_bytes", row->local_bytes);
	csv_value(t, "shared_bytes", row->shared_bytes);
	csv_value(t, "ctas_per_sm", row->ctas_per_sm);
	if (t->result == 0)
		t->result = view_profile_values(t->db, row->id, csv_value, t, t->err);
}

static void csv_cell(void *arg, const struct view_profile_cell *row)
{
	struct table *t = arg;
	t->cell = row->key;
	if (t->result == 0 && view_profile_kernels(t->db, row->id, csv_kernel, t, t->err) != 0)
		t->result = -1;
}

static void ignore(void *arg, const struct view_profile *row)
{
	(void)arg;
	(void)row;
}

int api_profile_csv(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct table t = { .db = site->db, .out = &response->body, .err = err };
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	response->type = "text/csv; charset=utf-8; header=present";
	buf_puts(t.out, "cell,side,repeat,n,phase,kernel,code_sha,metric,value\r\n");
	return view_profile(site->db, id, ignore, NULL, err) != 0 || view_profile_cells(site->db, id, csv_cell, &t, err) != 0 ||
			       t.result != 0
		       ? -1
		       : 0;
}

/* ---- Markdown ------------------------------------------------------------------------------------------------------ */

static void md_head(void *arg, const struct view_profile *row)
{
	struct table *t = arg;
	buf_printf(t->out, "**flopwatch: why** `%.10s` is faster or slower than `%.10s`", row->target, row->base);
	if (*row->suite)
		markdown_format(t->out, ", suite %s", row->suite);
	markdown_format(t->out, "\n\nWhy: %s\n", row->answer);
}

static void md_sides(void *arg, const struct view_profile *row)
{
	struct table *t = arg;
	buf_printf(t->out, "**flopwatch: configurations** of `%.10s`", row->target);
	if (*row->target_provider)
		markdown_format(t->out, " by %s", row->target_provider);
	buf_printf(t->out, " next to `%.10s`", row->base);
	if (*row->base_provider)
		markdown_format(t->out, " by %s", row->base_provider);
	if (*row->suite)
		markdown_format(t->out, ", suite %s", row->suite);
	buf_putc(t->out, '\n');
}

static void md_diagnostic(void *arg, const struct profile_diagnostic *row)
{
	struct table *t = arg;
	if (row->n == 0)
		buf_puts(t->out, "\nDiagnostics of ptxas for one build only:\n\n");
	buf_printf(t->out, "- %s: ", row->change);
	if (*row->code)
		markdown_format(t->out, "(%s) ", row->code);
	markdown_text(t->out, row->what);
	if (*row->kernel)
		markdown_format(t->out, " in %s{code}", row->kernel);
	buf_putc(t->out, '\n');
}

static void md_cause(void *arg, const struct view_cause *row)
{
	struct table *t = arg;
	if (row->rank == 0)
		buf_puts(t->out, "\n| explains | of | what | how sure |\n|--:|--:|---|---|\n");
	markdown_format(
		t->out, "| %.4g ms | %.4g ms | %s | %s |\n", row->explained_ms, row->of_ms, row->sentence, row->confidence);
}

static void md_ms(struct buf *out, double ms)
{
	if (isfinite(ms))
		buf_printf(out, "%.4g | ", ms);
	else
		buf_puts(out, "– | ");
}

static void md_pair(struct buf *out, const struct kernel_row *row, int base, int target)
{
	if (!row->side[KERNELS_BASE].times || !row->side[KERNELS_TARGET].times || base == target)
		buf_printf(out, "%d | ", row->side[KERNELS_TARGET].times ? target : base);
	else
		buf_printf(out, "%d → %d | ", base, target);
}

static int md_kernels(struct table *t, int64_t cell)
{
	static const char *const words[] = { "not known", "no", "yes" };
	struct kernels k;
	int result = kernels_read(t->db, cell, &k, t->err);
	if (k.n)
		buf_puts(t->out,
			"\n| kernel | base ms | target ms | registers | local bytes | shared bytes | CTAs/SM | same code |\n"
			"|---|--:|--:|--:|--:|--:|--:|---|\n");
	for (int i = 0; i < k.n; i++) {
		const struct kernel_row *row = &k.row[i];
		const struct kernel_side *base = &row->side[KERNELS_BASE], *target = &row->side[KERNELS_TARGET];
		markdown_format(t->out, "| %s{code} | ", row->name);
		md_ms(t->out, base->ms);
		md_ms(t->out, target->ms);
		md_pair(t->out, row, base->registers, target->registers);
		md_pair(t->out, row, base->local_bytes, target->local_bytes);
		md_pair(t->out, row, base->shared_bytes, target->shared_bytes);
		md_pair(t->out, row, base->ctas_per_sm, target->ctas_per_sm);
		buf_printf(t->out, "%s |\n",
			!target->times ? "only in the base"
			: !base->times ? "only in the target"
				       : words[kernels_same_code(row) + 1]);
	}
	kernels_free(&k);
	return result;
}

/* Indent the lines of machine code: indented text is literal in Markdown. */
static void md_code(void *arg, const struct view_profile_code *row)
{
	struct table *t = arg;
	if (!*row->hunks)
		return;
	markdown_format(t->out, "\n<details><summary>machine code</summary>\n\n%s{code}: %-s\n\n",
		*row->target ? row->target : row->base, row->what);
	for (const char *line = row->hunks; *line;) {
		size_t len = strcspn(line, "\n");
		buf_puts(t->out, "    ");
		buf_append(t->out, line, len);
		buf_putc(t->out, '\n');
		line += len + (line[len] == '\n');
	}
	buf_puts(t->out, "\n</details>\n");
}

static void md_cell(void *arg, const struct view_profile_cell *row)
{
	struct table *t = arg;
	if (t->result != 0)
		return;
	markdown_format(t->out, "\n### %s{code}\n\n", row->key);
	if (strcmp(row->state, "done") != 0)
		buf_printf(t->out, "%s", row->state);
	else if (isfinite(row->base_ms) && isfinite(row->target_ms))
		buf_printf(t->out, "%.4g ms → %.4g ms, read by %s", row->base_ms, row->target_ms, row->path);
	else
		buf_printf(t->out, "read by %s", row->path);
	if (*row->why)
		markdown_format(t->out, ": %s", row->why);
	buf_putc(t->out, '\n');
	t->result = view_profile_causes(t->db, row->id, md_cause, t, t->err);
	if (t->result == 0)
		t->result = md_kernels(t, row->id);
	if (t->result == 0)
		t->result = view_profile_codes(t->db, row->id, md_code, t, t->err);
}

int api_profile_md(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct table t = { .db = site->db, .out = &response->body, .err = err };
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	response->type = "text/markdown; charset=utf-8";
	return view_profile(site->db, id, md_head, &t, err) != 0 ||
			       view_profile_diagnostics(site->db, id, md_diagnostic, &t, err) != 0 ||
			       view_profile_cells(site->db, id, md_cell, &t, err) != 0 || t.result != 0
		       ? -1
		       : 0;
}

/* ---- configurations ------------------------------------------------------------------------------------------------ */

int api_profile_configurations_csv(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	response->type = "text/csv; charset=utf-8; header=present";
	return view_profile(site->db, id, ignore, NULL, err) != 0 || configurations_csv(site->db, id, &response->body, err) != 0
		       ? -1
		       : 0;
}

int api_profile_configurations_md(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct table t = { .db = site->db, .out = &response->body, .err = err };
	int64_t id = answer_path_id(r, "profile", err);
	if (id < 0)
		return -1;
	response->type = "text/markdown; charset=utf-8";
	return view_profile(site->db, id, md_sides, &t, err) != 0 || configurations_markdown(site->db, id, t.out, err) != 0 ? -1
															    : 0;
}
