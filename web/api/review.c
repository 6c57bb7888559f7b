/* review.c - a comparison as Markdown for a review comment and as a picture, a branch's verdict as a badge for a README. */
#include "web/api/internal.h"

/* ---- Markdown --------------------------------------------------------------------------------------------------------- */

enum { SHOWN_MAX = 60 };

struct review {
	struct buf *out;
	const struct comparison *c;
	int n, n_shown, left_out, n_peers;
	int n_folded, n_identical; /* unchanged cells, in a folded table; identical ones of these */
	bool folded;               /* write the folded table, else the other one */
	bool separate;             /* the change of a cell differs from that of its medians */
	bool flops;                /* FLOPs of the rows are known; else show times */
	struct unit unit;
	const char *peer[COMPARISON_PEERS_MAX];
};

/* Whether a cell is in the folded table: in a comparison with a peer, none is. */
static bool is_folded(const struct review *review, const struct store_cell *row)
{
	return !jobkind_is_side_by_side(review->c->kind) &&
	       (row->verdict == VERDICT_UNCHANGED || row->verdict == VERDICT_IDENTICAL);
}

static void count_folded(void *arg, const struct store_cell *row)
{
	struct review *review = arg;
	review->n++;
	review->n_folded += is_folded(review, row);
	review->n_identical += is_folded(review, row) && row->verdict == VERDICT_IDENTICAL;
}

static void rates(struct buf *out, struct unit unit, double base, double target)
{
	char text[2][UNIT_FIGURE_SIZE];
	unit_rate(unit, base, text[0]);
	unit_rate(unit, target, text[1]);
	buf_printf(out, "%s | %s | ", text[0], text[1]);
}

static void cell_line(void *arg, const struct store_cell *row)
{
	struct review *review = arg;
	struct buf *out = review->out;
	double base_tflops = view_tflops(row->flops, row->base_median_ms);
	double target_tflops = view_tflops(row->flops, row->target_median_ms);
	int n = review->n++;
	if (is_folded(review, row) != review->folded)
		return;
	if (review->n_shown++ >= SHOWN_MAX) {
		review->left_out++;
		return;
	}
	review->separate = review->separate || (n < review->c->n_cells && comparison_is_paired_separate(&review->c->cell[n]));
	markdown_format(out, "| %s{code} | ", row->key);
	if (isfinite(base_tflops) && isfinite(target_tflops))
		rates(out, review->unit, base_tflops, target_tflops);
	else if (isfinite(row->base_median_ms) && isfinite(row->target_median_ms))
		buf_printf(out, review->flops ? "%.4g ms | %.4g ms | " : "%.4g | %.4g | ", row->base_median_ms,
			row->target_median_ms);
	else
		buf_puts(out, "– | – | ");
	markdown_change(out, row->change_pct);
	buf_puts(out, " | ");
	markdown_interval(out, row->ci_low_pct, row->ci_high_pct);
	buf_puts(out, " | ");
	for (int i = 0; i < review->n_peers; i++) {
		const struct comparison_peer *peer =
			n < review->c->n_cells ? comparison_peer(&review->c->cell[n], review->peer[i]) : NULL;
		double pct = peer ? peer->target_pct : NAN;
		buf_printf(out, isfinite(pct) ? "%.1f | " : "– | ", pct);
	}
	const char *word = verdict_word(review->c->kind, row->verdict);
	bool is_loss = row->verdict == VERDICT_REGRESSION && !jobkind_is_side_by_side(review->c->kind);
	buf_printf(out, is_loss ? "**%s**" : "%s", word);
	if (row->flags & FLAG_BORDERLINE)
		buf_puts(out, ", borderline");
	if (row->flags & FLAG_TAIL)
		buf_puts(out, ", tail");
	if (isfinite(row->mean.m)) {
		char words[EXPLAIN_SIZE];
		explain_slow_calls(row->mean.share, row->mean.longer, words);
		buf_puts(out, ": ");
		markdown_text(out, words);
		buf_printf(out, ", on average %+.2f %%", stats_change_pct(row->mean.m));
	}
	if (row->flags & FLAG_CLOCK) {
		double code_pct = stats_change_pct(row->m_code);
		char parts[EXPLAIN_SIZE];
		explain_parts(code_pct, row->change_pct - code_pct, parts);
		markdown_format(out, ": %s", parts);
	}
	char lacks[EXPLAIN_SIZE] = "";
	if (row->verdict == VERDICT_UNDECIDED && !*row->reason && n < review->c->n_cells)
		explain_undecided(row->ci_low_pct, row->ci_high_pct, review->c->cell[n].threshold_pct, lacks);
	if (*row->reason || *lacks)
		markdown_format(out, ": %s", *row->reason ? row->reason : lacks);
	if (n < review->c->n_cells && comparison_is_reconfigured(&review->c->cell[n]))
		markdown_format(
			out, "; configuration: %s → %s", review->c->cell[n].base_config, review->c->cell[n].target_config);
	buf_puts(out, " |\n");
}

static void table_head(const struct review *review)
{
	struct buf *out = review->out;
	const char *unit = review->flops ? review->unit.name : "ms";
	buf_printf(out, "| cell | base %s | target %s | change | 95 %% interval | ", unit, unit);
	for (int i = 0; i < review->n_peers; i++)
		markdown_format(out, "%% of %s | ", review->peer[i]);
	buf_puts(out, "verdict |\n|---|--:|--:|--:|--:|");
	for (int i = 0; i < review->n_peers; i++)
		buf_puts(out, "--:|");
	buf_puts(out, "---|\n");
}

/* Write the pinned options of both sides: the result is not that of the plain commits. */
static void pinned_words(struct buf *out, const struct comparison *c)
{
	const char *const pinned[] = { c->base.pinned, c->target.pinned };
	buf_puts(out, ", pinned:");
	for (int i = 0; i < 2; i++) {
		if (!*pinned[i])
			continue;
		markdown_format(out, "%-s%s{code}", i ? " target " : " base ", pinned[i]);
	}
}

static void toolchain_words(struct buf *out, const struct comparison *c)
{
	markdown_format(out, ", environment: %s{code} to %s{code}", c->base.toolchain, c->target.toolchain);
}

static void heading(void *arg, const struct view_comparison *row)
{
	const struct review *review = arg;
	struct buf *out = review->out;
	const char *peer = comparison_is_side_by_side(review->c) ? review->c->base.provider : "";
	buf_printf(out, "**flopwatch: %s**", verdict_word(row->kind, row->verdict));
	if (*peer)
		markdown_format(out, " next to %s", peer);
	else if (row->kind == JOBKIND_ENVIRONMENT)
		toolchain_words(out, review->c);
	else if (row->kind == JOBKIND_CONFIG)
		pinned_words(out, review->c);
	else if (row->regressions)
		buf_printf(out, " in %d of %d cells, worst ", row->regressions, row->cells), markdown_change(out, row->worst_pct);
	else if (isfinite(row->best_pct))
		buf_printf(out, ", best %+.2f %% of %d cells", row->best_pct, row->cells);
	else
		buf_printf(out, ", %d cell%s", row->cells, row->cells == 1 ? "" : "s");
	markdown_format(out, "\n\n`%-.10s` against `%-.10s` on %s, suite %s, %d run%-s, %.0f s of device time\n", row->target,
		row->base, *row->device ? row->device : "no device", row->suite, row->runs, row->runs == 1 ? "" : "s",
		row->gpu_s);
}

/* The answer of a profile, if one was requested. */
static void why_line(void *arg, const struct view_profile *row)
{
	markdown_format(arg, "\nWhy: %s\n", row->answer);
}

/* Write the changed cells, then the unchanged ones, folded. */
static int tables(struct db *db, int64_t id, struct review *review, struct fw_err *err)
{
	if (view_cells(db, id, count_folded, review, err) != 0)
		return -1;
	int n_cells = review->n, result = 0;
	for (int part = 0; part < 2 && result == 0; part++) {
		review->folded = part == 1;
		review->n = review->n_shown = 0;
		if ((review->folded ? review->n_folded : n_cells - review->n_folded) == 0)
			continue;
		if (review->folded)
			buf_printf(review->out, "\n<details><summary>%d %s</summary>\n", review->n_folded,
				review->n_identical == 0                  ? "unchanged"
				: review->n_identical == review->n_folded ? "identical"
									  : "unchanged or identical");
		buf_putc(review->out, '\n');
		table_head(review);
		result = view_cells(db, id, cell_line, review, err);
		if (review->folded)
			buf_puts(review->out, "\n</details>\n");
	}
	return result;
}

int api_comparison_md(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct comparison c;
	struct review review = { .out = &response->body, .c = &c };
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	response->type = "text/markdown; charset=utf-8";
	int result = comparison_read(site->db, id, NULL, &c, err);
	if (result == 0) {
		review.n_peers = comparison_peers(&c, review.peer);
		review.flops = comparison_has_flops(&c);
		review.unit = comparison_unit(&c);
		result = view_comparison(site->db, id, heading, &review, err);
	}
	if (result == 0 && view_profile_of(site->db, 0, id, why_line, &response->body, err) < 0)
		result = -1;
	if (result == 0)
		result = tables(site->db, id, &review, err);
	comparison_free(&c);
	if (result != 0)
		return -1;
	if (review.separate)
		buf_puts(&response->body, "\nChanges are trimmed means of paired ratios, not quotients of these medians.\n");
	if (review.left_out)
		buf_printf(&response->body, "\n%d more cells: /comparisons/%lld\n", review.left_out, (long long)id);
	return 0;
}

/* ---- picture ---------------------------------------------------------------------------------------------------------- */

int api_comparison_svg(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct comparison c;
	int64_t id = answer_path_id(r, "comparison", err);
	if (id < 0)
		return -1;
	response->type = "image/svg+xml; charset=utf-8";
	int result = comparison_read(site->db, id, NULL, &c, err);
	if (result == 0) {
		response->is_picture = true;
		comparison_picture(&response->body, &c);
	}
	comparison_free(&c);
	return result;
}

/* ---- badge ------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *sign, *colour;
} looks[] = {
	[VERDICT_REGRESSION] = { "▼", "#b42318" },
	[VERDICT_FAILED] = { "✕", "#b42318" },
	[VERDICT_REJECTED] = { "✕", "#b42318" },
	[VERDICT_UNDECIDED] = { "?", "#8a6100" },
	[VERDICT_NOT_COMPARABLE] = { "?", "#8a6100" },
	[VERDICT_ACCEPTED] = { "✓", "#1a7f37" },
	[VERDICT_IMPROVEMENT] = { "▲", "#1a7f37" },
	[VERDICT_UNCHANGED] = { "=", "#1a7f37" },
	[VERDICT_IDENTICAL] = { "=", "#1a7f37" },
	[VERDICT_REMOVED] = { "⊖", "#8a6100" },
	[VERDICT_ADDED] = { "⊕", "#8a6100" },
	[VERDICT_UNSUPPORTED] = { "∅", "#8a6100" },
	[VERDICT_NONE] = { "…", "#57606a" },
};

struct badge {
	enum verdict verdict;
	double worst_pct;
	bool found, is_open;
};

static void newest(void *arg, const struct view_branch *row)
{
	struct badge *badge = arg;
	badge->found = true;
	badge->verdict = row->verdict;
	badge->worst_pct = row->worst_pct;
	badge->is_open = row->tip->n_open > 0;
}

static void draw_badge(struct buf *out, const struct badge *badge)
{
	const char *sign = looks[badge->verdict].sign, *colour = looks[badge->verdict].colour;
	char text[64];
	if (badge->verdict == VERDICT_REGRESSION && isfinite(badge->worst_pct))
		snprintf(text, sizeof text, "%s %.1f %%", verdict_name(badge->verdict), badge->worst_pct);
	else
		snprintf(text, sizeof text, "%s",
			badge->verdict != VERDICT_NONE ? verdict_name(badge->verdict)
			: badge->is_open               ? "being measured"
						       : "not yet measured");
	const int left = 74, right = 30 + 7 * (int)strlen(text), width = left + right;
	emit_rawf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\" aria-label=\"flopwatch: %s\">"
		"<rect width=\"%d\" height=\"20\" rx=\"3\" fill=\"#30363d\"/><rect x=\"%d\" width=\"%d\" height=\"20\" rx=\"3\" "
		"fill=\"%s\"/>"
		"<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\"><text x=\"8\" "
		"y=\"14\">flopwatch</text>"
		"<text x=\"%d\" y=\"14\">%s %s</text></g></svg>\n",
		width, text, width, left, right, colour, left + 8, sign, text);
}

int api_badge(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	char key[BRANCH_KEY_MAX];
	const char *repo = http_query(r, "repo"), *branch = scope_branch(r, key);
	struct view_branch_filter filter = { .name = branch ? branch : "main", .limit = 1 };
	struct badge badge = { .worst_pct = NAN };
	if (!repo || !*repo)
		return err_set(err, ERR_INVALID, "repo is required, and branch unless it is main");
	if (view_repo_id(site->db, repo, &filter.repo, err) != 0 || view_branches(site->db, &filter, newest, &badge, err) != 0)
		return -1;
	if (!badge.found)
		return err_set(err, ERR_NOT_FOUND, "that repository has no such branch");
	response->type = "image/svg+xml; charset=utf-8";
	response->is_picture = true;
	draw_badge(&response->body, &badge);
	return 0;
}
