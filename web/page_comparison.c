/* One comparison: verdict sentence, where it was measured, both sides, a table for each group and direction. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store_view.h"
#include "web/answer.h"
#include "web/branch.h"
#include "web/details.h"
#include "web/emit.h"
#include "web/layout.h"
#include "web/page.h"
#include "web/site.h"

enum { TABLES_MAX = 32 };

struct drawing {
	struct buf *out;
	char repo[128], branch[BRANCH_KEY_MAX];
	int n_table; /* a group and a direction each, in the order of the suite */
	struct {
		char group[16], direction[16];
	} table[TABLES_MAX];
	int drawn; /* the table whose rows are wanted */
	struct db *db;
};

static void fact(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	emit_rawf(out, "<dt>%s</dt><dd>", name);
	emit_text(out, value);
	emit_raw(out, "</dd>");
}

/* The first sentence a person reads. */
static void sentence(struct buf *out, const struct view_comparison *row)
{
	emit_raw(out, "<p class=lead>");
	layout_verdict(out, row->verdict);
	if (strcmp(row->verdict, "regression") == 0) {
		emit_rawf(out, " %d of %d cells lost more than their threshold; the worst is ", row->regressions, row->cells);
		layout_change(out, row->worst_pct);
		emit_raw(out, " in ");
		layout_cell_link(out, row->repo, row->branch, row->worst_cell);
		emit_raw(out, ".");
	} else if (*row->identical_by) {
		emit_rawf(out, " Both sides are the same %s, so nothing was timed.",
			strcmp(row->identical_by, "tree") == 0 ? "source tree" : "compiled module");
	} else if (strcmp(row->verdict, "unchanged") == 0) {
		emit_rawf(out, " None of %d cells lost more than its threshold.", row->cells);
	} else if (strcmp(row->verdict, "undecided") == 0) {
		emit_raw(out, " At least one cell could not be decided within the budget; the reasons stand in its row.");
	}
	emit_raw(out, "</p>\n");
}

static void head(void *arg, const struct view_comparison *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	snprintf(d->repo, sizeof d->repo, "%s", row->repo);
	snprintf(d->branch, sizeof d->branch, "%s", row->branch);
	sentence(out, row);
	emit_raw(out, "<dl class=facts>");
	fact(out, "Repository", row->repo);
	if (*row->branch) {
		emit_raw(out, "<dt>Branch</dt><dd>");
		layout_branch(out, row->branch);
		emit_raw(out, "</dd>");
	}
	fact(out, "Target", row->target);
	fact(out, "Subject", row->subject);
	fact(out, "Base", row->base);
	fact(out, "Base found by", row->base_how);
	fact(out, "Suite", row->suite);
	emit_rawf(out, "<dt>Device held</dt><dd>%.1f s of %.1f s, %d launches</dd><dt>Finished</dt><dd>", row->gpu_s, row->wall_s,
		row->launches);
	layout_time(out, row->finished_at);
	emit_rawf(out,
		"</dd><dt>Data</dt><dd><a href=\"/api/v1/comparisons/%lld\">JSON</a> <a "
		"href=\"/api/v1/comparisons/%lld.csv\">CSV</a> <a href=\"/jobs/%lld\">job %lld with its builds</a></dd>\n",
		(long long)row->id, (long long)row->id, (long long)row->job, (long long)row->job);
}

static void environment_facts(void *arg, const struct view_environment *row)
{
	struct buf *out = ((struct drawing *)arg)->out;
	emit_raw(out, "<dt>Device</dt><dd>");
	emit_text(out, row->name);
	emit_raw(out, " <small>");
	emit_text(out, row->uuid);
	emit_raw(out, "</small></dd>");
	fact(out, "Driver", row->driver);
	fact(out, "Toolkit", row->toolkit);
	fact(out, "Isolation", row->isolation);
}

static void module_fact(void *arg, const struct view_build *row)
{
	fact(((struct drawing *)arg)->out, "Module", row->module_sha);
}

/* What not every comparison has: one found identical by its tree was neither built nor measured. */
static int optional_facts(struct site *site, int64_t id, struct drawing *d, struct fw_err *err)
{
	struct fw_err why = { 0 };
	if (view_environment(site->db, id, environment_facts, d, &why) != 0 && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	err_clear(&why);
	if (view_build(site->db, id, "target", module_fact, d, &why) != 0 && why.code != ERR_NOT_FOUND)
		return err_set(err, why.code, "%s", why.text);
	return 0;
}

/* The tables that there will be. */
static void note_table(void *arg, const struct view_cell *row)
{
	struct drawing *d = arg;
	for (int i = 0; i < d->n_table; i++)
		if (strcmp(row->group, d->table[i].group) == 0 && strcmp(row->direction, d->table[i].direction) == 0)
			return;
	if (d->n_table == TABLES_MAX)
		return;
	snprintf(d->table[d->n_table].group, sizeof d->table[0].group, "%s", row->group);
	snprintf(d->table[d->n_table++].direction, sizeof d->table[0].direction, "%s", row->direction);
}

static void cell_line(void *arg, const struct view_cell *row)
{
	struct drawing *d = arg;
	struct buf *out = d->out;
	struct fw_err err = { 0 };
	if (strcmp(row->group, d->table[d->drawn].group) != 0 || strcmp(row->direction, d->table[d->drawn].direction) != 0)
		return;
	emit_raw(out, "<tr><th scope=row>");
	layout_cell_link(out, d->repo, d->branch, row->key);
	emit_raw(out, "</th><td class=n>");
	layout_ms(out, row->base_median_ms);
	emit_raw(out, "</td><td class=n>");
	layout_tflops(out, row->base_tflops);
	emit_raw(out, "</td><td class=n>");
	layout_ms(out, row->target_median_ms);
	emit_raw(out, "</td><td class=n>");
	layout_tflops(out, row->target_tflops);
	emit_raw(out, "</td><td class=n>");
	layout_change(out, row->change_pct);
	emit_raw(out, "</td><td class=n>");
	if (isfinite(row->ci_low_pct))
		emit_rawf(out, "%+.2f \u2026 %+.2f", row->ci_low_pct, row->ci_high_pct);
	else
		emit_raw(out, "\u2013");
	emit_raw(out, "</td><td class=n>");
	if (isfinite(row->mde_pct))
		emit_rawf(out, "%.2f\u00a0%%", row->mde_pct);
	else
		emit_raw(out, "\u2013");
	emit_rawf(out, "</td><td class=n>%d</td><td>", row->launches);
	layout_verdict(out, row->verdict);
	if (row->borderline)
		emit_raw(out, " borderline");
	if (row->tail)
		emit_raw(out, " more slow calls");
	if (*row->failure) {
		emit_raw(out, " ");
		emit_text(out, row->failure);
	}
	if (*row->reason) {
		emit_raw(out, "<br><small>");
		emit_text(out, row->reason);
		emit_raw(out, "</small>");
	}
	if (details_cell(out, d->db, row->id, &err) != 0)
		out->failed = true;
	emit_raw(out, "</td></tr>\n");
}

static int draw_table(struct site *site, int64_t id, struct drawing *d, struct fw_err *err)
{
	static const char *const columns[] = { "Cell", ">Base ms", ">TFLOP/s", ">Target ms", ">TFLOP/s", ">Change",
		">95 % interval", ">Sees from", ">Launches", "Verdict" };
	const char *group = d->table[d->drawn].group;
	emit_raw(d->out, "<section><h2>");
	if (strcmp(group, "dense") == 0)
		emit_raw(d->out, "Dense");
	else if (strcmp(group, "block_sparse") == 0)
		emit_raw(d->out, "Block-sparse");
	else
		emit_text(d->out, group);
	emit_raw(d->out, " ");
	emit_text(d->out, d->table[d->drawn].direction);
	emit_raw(d->out, "</h2>");
	layout_table(d->out, 10, columns);
	int result = view_cells(site->db, id, cell_line, d, err);
	layout_table_end(d->out);
	emit_raw(d->out, "</section>\n");
	return result;
}

void page_comparison(void *arg, struct http_request *r, struct http_response *response)
{
	struct site *site = arg;
	struct fw_err err = { 0 };
	struct drawing d = { .out = &response->body, .db = site->db };
	int64_t id = answer_path_id(r, response, "comparison");
	char title[64];
	if (id < 0)
		return;
	snprintf(title, sizeof title, "Comparison %lld", (long long)id);
	layout_begin(response, title, "comparisons");
	int result = view_comparison(site->db, id, head, &d, &err);
	if (result == 0)
		result = optional_facts(site, id, &d, &err);
	emit_raw(d.out, "</dl>\n");
	if (result == 0)
		result = view_cells(site->db, id, note_table, &d, &err);
	for (; result == 0 && d.drawn < d.n_table; d.drawn++)
		result = draw_table(site, id, &d, &err);
	if (result != 0)
		answer_error(r, response, &err);
	else
		layout_end(response);
}
