/* report.c - changes by commit in a period, with their cells, as Markdown, CSV or JSON. */

#include "web/api/internal.h"

#include <math.h>

enum { CELLS_MAX = 10000 /* cells of a page */, TABLE_MAX = 32 << 20 /* bytes */ };

struct report {
	struct answer_list list;
	struct db *db;
	enum answer_format format;
	enum verdict verdict; /* verdict of the cells; VERDICT_NONE: all but unchanged and identical */
	struct buf table;     /* the answer in Markdown or CSV */
	int n_cells;
	const struct view_comparison *of; /* comparison of the next cells */
	int n_written;                    /* number of its cells written */
	int result;
	struct fw_err *err;
};

static bool is_wanted(const struct report *report, const struct store_cell *cell)
{
	if (report->verdict != VERDICT_NONE)
		return cell->verdict == report->verdict;
	return cell->verdict != VERDICT_UNCHANGED && cell->verdict != VERDICT_IDENTICAL;
}

static void json_cell(struct jsonw *j, const struct store_cell *cell)
{
	jsonw_format(j,
		"{ cell=%s verdict=%s base_median_ms=%g target_median_ms=%g change_pct=%g ci_low_pct=%g ci_high_pct=%g borderline=%i failure?=%s reason?=%s }",
		cell->key, verdict_name(cell->verdict), cell->base_median_ms, cell->target_median_ms, cell->change_pct,
		cell->ci_low_pct, cell->ci_high_pct, (cell->flags & FLAG_BORDERLINE) != 0, cell->failure, cell->reason);
}

static const struct store_cell no_cell = { .verdict = VERDICT_NONE,
	.base_median_ms = NAN,
	.target_median_ms = NAN,
	.change_pct = NAN,
	.ci_low_pct = NAN,
	.ci_high_pct = NAN };

static void csv_line(struct buf *out, const struct view_comparison *of, const struct store_cell *cell)
{
	char at[32];
	clock_format(of->finished_at, at);
	buf_printf(out, "%s,%lld,", at, (long long)of->id);
	const char *const texts[] = { of->repo, of->branch, of->base, of->target, of->subject, of->suite, of->device,
		verdict_name(of->verdict), cell->key, verdict_or_empty(cell->verdict) };
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		if (i)
			buf_putc(out, ',');
		csv_text(out, texts[i]);
	}
	csv_number(out, cell->base_median_ms);
	csv_number(out, cell->target_median_ms);
	csv_number(out, cell->change_pct);
	csv_number(out, cell->ci_low_pct);
	csv_number(out, cell->ci_high_pct);
	csv_format(out, ",%s,%s\r\n", cell->failure, cell->reason);
}

static void markdown_branch(struct buf *out, const char *key)
{
	struct buf text;
	buf_init(&text, (size_t)16 * BRANCH_KEY_MAX);
	branch_text(&text, key);
	markdown_text(out, text.data);
	buf_fini(&text);
}

/* Write a row: the date without time, and the commit only in the first row of its cells. */
static void markdown_line(struct buf *out, const struct view_comparison *of, const struct store_cell *cell, bool is_first)
{
	char at[32];
	clock_format(of->finished_at, at);
	if (is_first) {
		markdown_format(out, "| %-.10s | `%-.10s` %s | %s{code} ", at, of->target, of->subject, of->repo);
		markdown_branch(out, of->branch);
		buf_puts(out, " | ");
	} else {
		buf_puts(out, "| | | | ");
	}
	if (*cell->key)
		markdown_code(out, cell->key);
	buf_puts(out, " | ");
	markdown_change(out, cell->change_pct);
	buf_puts(out, " | ");
	markdown_interval(out, cell->ci_low_pct, cell->ci_high_pct);
	buf_printf(out, " | %s |\n", verdict_label(of->kind, *cell->key ? cell->verdict : of->verdict));
}

static void write_cell(struct report *report, const struct store_cell *cell)
{
	if (report->format == ANSWER_CSV)
		csv_line(&report->table, report->of, cell);
	else if (report->format == ANSWER_MARKDOWN)
		markdown_line(&report->table, report->of, cell, report->n_written == 0);
	else
		json_cell(&report->list.j, cell);
	report->n_written++;
}

static void cell_row(void *arg, const struct store_cell *row)
{
	struct report *report = arg;
	if (is_wanted(report, row))
		write_cell(report, row);
}

/* Return whether a user requested, pushed or imported it: the daemon queues the other kinds itself. */
static bool is_of_a_commit(enum jobkind kind)
{
	return kind == JOBKIND_COMPARE || kind == JOBKIND_IMPORT;
}

static void comparison_row(void *arg, const struct view_comparison *row)
{
	struct report *report = arg;
	struct jsonw *j = &report->list.j;
	if (report->result != 0 || !is_of_a_commit(row->kind)) {
		answer_list_pass(&report->list, row->id);
		return;
	}
	if (report->list.n > 0 && report->n_cells + row->cells > CELLS_MAX)
		report->list.limit = report->list.n; /* the page is full */
	if (!answer_list_take(&report->list, row->id, row->finished_at, NULL))
		return;
	report->n_cells += row->cells;
	report->of = row;
	report->n_written = 0;
	jsonw_object(j);
	jsonw_key(j, "comparison");
	comparison_row_write(j, row);
	jsonw_kv_array(j, "cells");
	report->result = view_cells(report->db, row->id, cell_row, report, report->err);
	jsonw_array_end(j);
	jsonw_object_end(j);
	if (report->n_written == 0 && report->format != ANSWER_JSON)
		write_cell(report, &no_cell); /* it failed before cells were measured */
}

static void begin_table(struct report *report)
{
	if (report->format == ANSWER_CSV)
		buf_puts(&report->table,
			"finished_at,comparison,repo,branch,base,target,subject,suite,device,verdict,cell,cell_verdict,"
			"base_median_ms,target_median_ms,change_pct,ci_low_pct,ci_high_pct,failure,reason\r\n");
	else
		buf_puts(&report->table,
			"| day | commit | branch | cell | change | 95 % interval | verdict |\n|---|---|---|---|--:|--:|---|\n");
}

static void describe_period(struct buf *out, const struct period *p)
{
	char at[32];
	if (p->since) {
		clock_format(p->since, at);
		buf_printf(out, " since %.16sZ", at);
	}
	if (p->until) {
		clock_format(p->until, at);
		buf_printf(out, " until %.16sZ", at);
	}
}

/* Replace the list, whose cursor is in the Link header, by the table. */
static void send_table(struct http_response *response, struct report *report)
{
	struct buf *out = &response->body;
	buf_clear(out);
	if (report->format == ANSWER_CSV) {
		response->type = "text/csv; charset=utf-8; header=present";
	} else {
		response->type = "text/markdown; charset=utf-8";
		buf_printf(out, "**flopwatch: %d %s%s", report->list.n, verdict_or_empty(report->verdict),
			report->verdict == VERDICT_NONE ? "" : " ");
		buf_puts(out, report->list.n == 1 ? "comparison" : "comparisons");
		describe_period(out, &report->list.period);
		buf_printf(out, "**%s\n\n", response->link[0] ? ", older ones on the next page" : "");
	}
	if (report->format == ANSWER_CSV || report->list.n)
		buf_append(out, report->table.data, report->table.len);
	out->failed |= report->table.failed;
}

static int read_format(struct http_request *r, enum answer_format *format, struct fw_err *err)
{
	const char *text;
	if (answer_choice(r, "format", "json csv md", &text, err) != 0)
		return -1;
	*format = !text ? answer_format_wanted(r) : *text == 'j' ? ANSWER_JSON : *text == 'c' ? ANSWER_CSV : ANSWER_MARKDOWN;
	return 0;
}

int api_report(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct report report = { .db = site->db, .err = err };
	char branch[BRANCH_KEY_MAX];
	struct view_filter filter = { .repo = http_query(r, "repo"), .branch = scope_branch(r, branch) };
	int result;
	if (read_format(r, &report.format, err) != 0 || answer_choice(r, "verdict", ANSWER_VERDICTS, &filter.verdict, err) != 0 ||
		answer_list_begin(site->db, r, response, &report.list, &filter.before, err) != 0 ||
		answer_list_seek(site->db, &report.list, VIEW_LIST_COMPARISONS, &filter.before, err) != 0)
		return -1;
	report.verdict = filter.verdict ? verdict_from_name(filter.verdict) : VERDICT_NONE;
	filter.has_regressions = report.verdict == VERDICT_REGRESSION;
	if (filter.has_regressions)
		filter.verdict = NULL; /* include comparisons with the verdict failed that have regressions in other cells */
	buf_init(&report.table, TABLE_MAX);
	begin_table(&report);
	do {
		filter.limit = report.list.rows;
		result = view_comparisons(site->db, &filter, comparison_row, &report, err);
		result = result != 0 ? result : report.result;
	} while (result == 0 && answer_list_more(&report.list, &filter.before));
	result = answer_list_end(r, response, &report.list, result);
	if (result == 0 && report.format != ANSWER_JSON)
		send_table(response, &report);
	buf_fini(&report.table);
	return result;
}
