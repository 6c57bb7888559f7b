/* review.c - a comparison as Markdown for a review comment and as a picture, a branch's verdict as a badge for a README. */
#include "web/api/internal.h"

#include <math.h>

/* ---- Markdown ------------------------------------------------------------------------------------------------------ */

enum { WORST = 5 /* cells in the table, so that a comment has fewer than 25 lines */ };

/* A cell of the table: its index in the comparison, its sort keys, and its line. */
struct worst {
	int n;
	enum verdict verdict;
	double change_pct;
	struct buf line;
};

struct review {
	const struct comparison *c;
	int n;                     /* index of the next cell */
	int n_quiet;               /* cells without a finding */
	int n_worst, n_left;       /* cells in the table; cells with a finding that are not */
	struct worst worst[WORST]; /* the worst first */
	int n_peers;
	bool separate; /* the change of a cell differs from that of its medians */
	bool flops;    /* FLOPs of the rows are known; else show times */
	struct unit unit;
	const char *peer[COMPARISON_PEERS_MAX];
};

/* Return whether the table omits a cell. In a comparison with a peer every cell is a result. */
static bool is_quiet(const struct review *review, const struct store_cell *row)
{
	return !jobkind_is_side_by_side(review->c->kind) &&
	       (row->verdict == VERDICT_UNCHANGED || row->verdict == VERDICT_IDENTICAL);
}

/* Compare by verdict, then by change; an unknown change is last. */
static bool is_worse(const struct store_cell *row, const struct worst *other)
{
	if (row->verdict != other->verdict)
		return row->verdict < other->verdict;
	if (isnan(row->change_pct) || isnan(other->change_pct))
		return isnan(other->change_pct) && !isnan(row->change_pct);
	return row->verdict == VERDICT_IMPROVEMENT ? row->change_pct > other->change_pct : row->change_pct < other->change_pct;
}

static void choose(void *arg, const struct store_cell *row)
{
	struct review *review = arg;
	int n = review->n++, at = review->n_worst;
	if (is_quiet(review, row)) {
		review->n_quiet++;
		return;
	}
	while (at > 0 && is_worse(row, &review->worst[at - 1]))
		at--;
	if (review->n_worst < WORST)
		review->n_worst++;
	else
		review->n_left++;
	if (at == WORST)
		return;
	for (int i = review->n_worst - 1; i > at; i--)
		review->worst[i] = review->worst[i - 1];
	review->worst[at] = (struct worst){ .n = n, .verdict = row->verdict, .change_pct = row->change_pct };
}

static void rates(struct buf *out, struct unit unit, double base, double target)
{
	char text[2][UNIT_FIGURE_SIZE];
	unit_rate(unit, base, text[0]);
	unit_rate(unit, target, text[1]);
	buf_printf(out, "%s | %s | ", text[0], text[1]);
}

/* Write the reasons of the verdict behind it. */
static void put_flags(struct buf *out, const struct review *review, const struct store_cell *row, int n)
{
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
		char components[EXPLAIN_SIZE];
		explain_components(code_pct, row->change_pct - code_pct, components);
		markdown_format(out, ": %s", components);
	}
	char lacks[EXPLAIN_SIZE] = "";
	if (row->verdict == VERDICT_UNDECIDED && !*row->reason && n < review->c->n_cells)
		explain_undecided(row->ci_low_pct, row->ci_high_pct, review->c->cell[n].threshold_pct, lacks);
	if (*row->reason || *lacks)
		markdown_format(out, ": %s", *row->reason ? row->reason : lacks);
}

static void cell_line(struct buf *out, struct review *review, const struct store_cell *row, int n)
{
	const struct comparison_cell *cell = n < review->c->n_cells ? &review->c->cell[n] : NULL;
	double base_tflops = view_tflops(row->flops, row->base_median_ms);
	double target_tflops = view_tflops(row->flops, row->target_median_ms);
	review->separate = review->separate || (cell && comparison_is_paired_separate(cell));
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
		const struct comparison_peer *peer = cell ? comparison_peer(cell, review->peer[i]) : NULL;
		double pct = peer ? peer->target_pct : NAN;
		buf_printf(out, isfinite(pct) ? "%.1f | " : "– | ", pct);
	}
	const char *label = verdict_label(review->c->kind, row->verdict);
	bool is_slower = row->verdict == VERDICT_REGRESSION && !jobkind_is_side_by_side(review->c->kind);
	buf_printf(out, is_slower ? "**%s**" : "%s", label);
	put_flags(out, review, row, n);
	buf_puts(out, " |\n");
}

static void draw_chosen(void *arg, const struct store_cell *row)
{
	struct review *review = arg;
	int n = review->n++;
	for (int i = 0; i < review->n_worst; i++)
		if (review->worst[i].n == n)
			cell_line(&review->worst[i].line, review, row, n);
}

static void table_head(struct buf *out, const struct review *review)
{
	const char *unit = review->flops ? review->unit.name : "ms";
	buf_printf(out, "\n| cell | base %s | target %s | change | 95 %% interval | ", unit, unit);
	for (int i = 0; i < review->n_peers; i++)
		markdown_format(out, "%% of %s | ", review->peer[i]);
	buf_puts(out, "verdict |\n|---|--:|--:|--:|--:|");
	for (int i = 0; i < review->n_peers; i++)
		buf_puts(out, "--:|");
	buf_puts(out, "---|\n");
}

/* Write the pinned options of both sides, without which the commits may have another result. */
static void put_pinned(struct buf *out, const struct comparison *c)
{
	const char *const pinned[] = { c->base.pinned, c->target.pinned };
	buf_puts(out, ", pinned:");
	for (int i = 0; i < 2; i++) {
		if (!*pinned[i])
			continue;
		markdown_format(out, "%-s%s{code}", i ? " target " : " base ", pinned[i]);
	}
}

static void heading(struct buf *out, const struct comparison *c)
{
	struct buf finding;
	buf_init(&finding, FINDING_BYTES);
	comparison_finding(c, &finding);
	buf_printf(out, "**flopwatch: %s**", verdict_label(c->kind, c->verdict));
	if (c->kind == JOBKIND_ENVIRONMENT)
		markdown_format(out, ", environment: %s{code} to %s{code}", c->base.toolchain, c->target.toolchain);
	else if (c->kind == JOBKIND_CONFIG)
		put_pinned(out, c);
	else
		markdown_format(out, ": %s", finding.data);
	buf_fini(&finding);
	const char *device = *c->environment.name ? c->environment.name : "no device";
	markdown_format(out, "\n\n`%-.10s` against `%-.10s` on %s, suite %s, %d run%-s, %.0f s of device time\n",
		c->target.commit, c->base.commit, device, c->suite, c->runs, c->runs == 1 ? "" : "s",
		isfinite(c->gpu_s) ? c->gpu_s : 0);
}

/* Write the answer of a profile. */
static void put_cause(void *arg, const struct view_profile *row)
{
	markdown_format(arg, "\nWhy: %s\n", row->answer);
}

/* Write the cause of a change, or why a benchmark program's regression has no known one. */
static int why(struct db *db, struct buf *out, const struct comparison *c, struct fw_err *err)
{
	int found = view_profile_of(db, 0, c->id, put_cause, out, err);
	if (found == 0 && *comparison_unprofiled(c))
		markdown_format(out, "\nWhy: %s.\n", comparison_unprofiled(c));
	return found < 0 ? -1 : 0;
}

/* Write the worst cells, and one line about the others. */
static int table(struct db *db, struct buf *out, struct review *review, struct fw_err *err)
{
	int result = view_cells(db, review->c->id, choose, review, err);
	review->n = 0;
	for (int i = 0; i < review->n_worst; i++)
		buf_init(&review->worst[i].line, 1 << 16);
	if (result == 0 && review->n_worst)
		result = view_cells(db, review->c->id, draw_chosen, review, err);
	if (result == 0 && review->n_worst)
		table_head(out, review);
	for (int i = 0; i < review->n_worst; i++) {
		buf_append(out, review->worst[i].line.data, review->worst[i].line.len);
		out->failed |= review->worst[i].line.failed;
		buf_fini(&review->worst[i].line);
	}
	if (review->n_left || review->n_quiet || review->separate)
		buf_puts(out, "\n");
	if (review->n_left)
		buf_printf(out, "%d more cell%s with a finding%s", review->n_left, review->n_left == 1 ? "" : "s",
			review->n_quiet ? ", " : ". ");
	if (review->n_quiet)
		buf_printf(out, "%d unchanged or identical. ", review->n_quiet);
	if (review->separate)
		buf_puts(out, "Changes are trimmed means of paired ratios, not quotients of these medians.");
	if (review->n_left || review->n_quiet || review->separate)
		buf_puts(out, "\n");
	return result;
}

/* Write the next step: to answer the alert of the comparison, if there is one. */
static void put_next_step(struct buf *out, const struct comparison *c, const struct view_around *around)
{
	long long id = (long long)c->id;
	int64_t alert = around->alert;
	bool is_slower = c->verdict == VERDICT_REGRESSION && !comparison_is_side_by_side(c);
	if (is_slower && alert && !alertstate_is_live(around->alert_state))
		buf_printf(out, "\nWhat to do: nothing; A%lld is %s.\n", (long long)alert, alertstate_name(around->alert_state));
	else if (is_slower && alert)
		buf_printf(out,
			"\nWhat to do: push a fix, or accept the slowdown: `flopwatch alerts accept A%lld --reason ...`; "
			"`flopwatch reproduce C%lld` prints how to run the worst cell.\n",
			(long long)alert, id);
	else if (is_slower)
		buf_printf(out, "\nWhat to do: push a fix; `flopwatch reproduce C%lld` prints how to run the worst cell.\n", id);
	else if (c->verdict == VERDICT_FAILED || c->verdict == VERDICT_REJECTED)
		buf_printf(out, "\nWhat to do: `flopwatch log %lld` prints the log of the job.\n", (long long)c->job);
	else if (c->verdict == VERDICT_UNDECIDED && around->repeat.job)
		buf_printf(out, "\nWhat to do: wait for J%lld, which measures it again.\n", (long long)around->repeat.job);
	else if (c->verdict == VERDICT_UNDECIDED)
		buf_printf(out, "\nWhat to do: `flopwatch retry J%lld` measures again.\n", (long long)c->job);
}

int review_write(struct db *db, const char *address, int64_t id, struct buf *out, struct fw_err *err)
{
	struct comparison c;
	struct view_around around;
	struct buf sure;
	struct review review = { .c = &c };
	if (view_around(db, id, &around, err) != 0)
		return -1;
	buf_init(&sure, FINDING_BYTES);
	int result = comparison_read(db, id, &around, &c, err);
	if (result == 0) {
		review.n_peers = comparison_peers(&c, review.peer);
		review.flops = comparison_has_flops(&c);
		review.unit = comparison_unit(&c);
		heading(out, &c);
		result = table(db, out, &review, err);
	}
	if (result == 0)
		result = why(db, out, &c, err);
	if (result == 0) {
		comparison_evidence(&c, &sure);
		if (sure.len)
			markdown_format(out, "\nHow sure: %s.\n", sure.data);
		put_next_step(out, &c, &around);
		if (*address)
			buf_printf(out, "\nMore: [C%lld](%s/comparisons/%lld)\n", (long long)id, address, (long long)id);
	}
	buf_fini(&sure);
	comparison_free(&c);
	return result;
}

int api_comparison_md(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	char address[600];
	int64_t id = answer_path_id(r, "comparison", err);
	const char *host = http_header(r, "Host");
	if (id < 0)
		return -1;
	if (site->public_url && *site->public_url)
		snprintf(address, sizeof address, "%s", site->public_url);
	else
		snprintf(address, sizeof address, "http%s://%.500s", site->tls ? "s" : "", host ? host : "localhost");
	response->type = "text/markdown; charset=utf-8";
	return review_write(site->db, address, id, &response->body, err);
}

/* ---- picture ------------------------------------------------------------------------------------------------------- */

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

/* ---- badge --------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *sign, *colour;
} styles[] = {
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
	struct slow_branches slow;
	enum verdict verdict;
	double worst_pct;
	bool found, is_open;
};

static void newest(void *arg, const struct view_branch *row)
{
	struct badge *badge = arg;
	const struct slow_branch *slow = slow_branch_of(&badge->slow, row);
	badge->found = true;
	badge->verdict = slow ? VERDICT_REGRESSION : row->verdict;
	badge->worst_pct = slow ? slow->worst_pct : row->worst_pct;
	badge->is_open = row->tip->n_open > 0;
}

static void draw_badge(struct buf *out, const struct badge *badge)
{
	const char *sign = styles[badge->verdict].sign, *colour = styles[badge->verdict].colour;
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
	int result = slow_branches_read(site->db, &badge.slow, err) != 0 || view_repo_id(site->db, repo, &filter.repo, err) != 0
			     ? -1
			     : view_branches(site->db, &filter, newest, &badge, err);
	slow_branches_fini(&badge.slow);
	if (result != 0)
		return -1;
	if (!badge.found)
		return err_set(err, ERR_NOT_FOUND, "that repository has no such branch");
	response->type = "image/svg+xml; charset=utf-8";
	response->is_picture = true;
	draw_badge(&response->body, &badge);
	return 0;
}
