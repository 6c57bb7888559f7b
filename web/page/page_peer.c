/* Kernels compared with peers: the newest comparison with each, cell by cell, and earlier results. */

#include "web/page/internal.h"

#include <math.h>

enum { SHOWN_MAX = 12, SERIES_MAX = VIEW_LIMIT_DEFAULT };

/* A comparison with a peer; owns its texts, which outlive the row's callback. */
struct peer_comparison {
	int64_t id, finished_at;
	char repo[128], suite[64], provider[PEERS_PROVIDER_SIZE], commit[65], subject[160], device[64], device_name[128];
	bool current;
	int cells, timed;
	double geomean_pct;
};

struct drawing {
	struct site *site;
	struct buf *out;
	int n;
	bool is_cut;                            /* older comparisons exist */
	struct peer_comparison all[SERIES_MAX]; /* newest first */
};

static void take(void *arg, const struct view_peer *row)
{
	struct drawing *d = arg;
	if (d->n == SERIES_MAX) {
		d->is_cut = true;
		return;
	}
	struct peer_comparison *b = &d->all[d->n++];
	b->id = row->comparison;
	b->finished_at = row->finished_at;
	b->current = row->current;
	b->cells = row->cells;
	b->timed = row->timed;
	b->geomean_pct = row->geomean_pct;
	snprintf(b->repo, sizeof b->repo, "%s", row->repo);
	snprintf(b->suite, sizeof b->suite, "%s", row->suite);
	snprintf(b->provider, sizeof b->provider, "%s", row->provider);
	snprintf(b->commit, sizeof b->commit, "%s", row->commit);
	snprintf(b->subject, sizeof b->subject, "%s", row->subject);
	snprintf(b->device, sizeof b->device, "%s", row->device);
	snprintf(b->device_name, sizeof b->device_name, "%s", row->device_name);
}

/* ---- peer ---------------------------------------------------------------------------------------------------------- */

/* Write the throughput, or the time if the FLOPs are unknown. */
static void draw_speed(struct buf *out, struct unit unit, double tflops, double ms)
{
	emit_raw(out, "<td class=\"n w\">");
	if (isfinite(tflops))
		layout_rate(out, unit, tflops);
	else if (isfinite(ms))
		emit_format(out, "%f{ms}\u00a0ms", ms);
	else
		emit_raw(out, "\u2013");
	emit_raw(out, "</td>");
}

struct peer_lines {
	struct buf *out;
	int64_t comparison;
	double most_tflops;
	struct change_counts counts;
	struct buf worst, best; /* links to its cells */
};

static void name_cell(struct buf *out, int64_t comparison, const struct store_cell *row)
{
	emit_format(out, "<a href=\"/comparisons/%lld?open=%d#c%d\">%s{case %s %lld} %s</a>", (long long)comparison, row->n,
		row->n, row->key, row->title, (long long)row->size, row->direction);
}

/* Return whether this change is the largest one so far, and store it then. */
static bool is_most(const struct store_cell *row, double *most_pct)
{
	if (!isfinite(row->change_pct) || fabs(row->change_pct) <= fabs(*most_pct))
		return false;
	*most_pct = row->change_pct;
	return true;
}

static void take_cell(void *arg, const struct store_cell *row)
{
	struct peer_lines *lines = arg;
	struct change_counts *m = &lines->counts;
	struct buf *most = NULL;
	double both_tflops =
		unit_max(view_tflops(row->flops, row->base_median_ms), view_tflops(row->flops, row->target_median_ms));
	lines->most_tflops = unit_max(lines->most_tflops, both_tflops);
	m->cells++;
	m->slower += row->verdict == VERDICT_REGRESSION;
	m->faster += row->verdict == VERDICT_IMPROVEMENT;
	if (row->verdict == VERDICT_REGRESSION && is_most(row, &m->worst_pct))
		most = &lines->worst;
	else if (row->verdict == VERDICT_IMPROVEMENT && is_most(row, &m->best_pct))
		most = &lines->best;
	if (!most)
		return;
	buf_clear(most);
	name_cell(most, lines->comparison, row);
}

/* Own: fini_lines, also after an error. */
static int read_lines(struct db *db, int64_t comparison, struct buf *out, struct peer_lines *lines, struct fw_err *err)
{
	*lines = (struct peer_lines){
		.out = out, .comparison = comparison, .most_tflops = NAN, .counts = { .worst_pct = NAN, .best_pct = NAN }
	};
	buf_init(&lines->worst, 1 << 12);
	buf_init(&lines->best, 1 << 12);
	return view_cells(db, comparison, take_cell, lines, err);
}

static void fini_lines(struct peer_lines *lines)
{
	lines->out->failed |= lines->worst.failed || lines->best.failed;
	buf_fini(&lines->worst);
	buf_fini(&lines->best);
}

static void cell_line(void *arg, const struct store_cell *row)
{
	const struct peer_lines *lines = arg;
	struct buf *out = lines->out;
	emit_raw(out, "<tr><th scope=row>");
	name_cell(out, lines->comparison, row);
	emit_raw(out, "</th>");
	struct unit unit = unit_of_rates(lines->most_tflops);
	draw_speed(out, unit, view_tflops(row->flops, row->target_median_ms), row->target_median_ms);
	draw_speed(out, unit, view_tflops(row->flops, row->base_median_ms), row->base_median_ms);
	if (isfinite(row->change_pct))
		emit_rawf(out, "<td class=n data-v=\"%.9g\"><b>%.1f\u00a0%%</b></td><td class=\"n w\">%.1f \u2026 %.1f</td><td>",
			row->change_pct, 100 + row->change_pct, 100 + row->ci_low_pct, 100 + row->ci_high_pct);
	else
		emit_raw(out, "<td class=n>\u2013</td><td class=\"n w\">\u2013</td><td>");
	emit_format(out, "%s{verdict}%s{?<span class=why>*</span>}</td></tr>\n", verdict_label(JOBKIND_PEER, row->verdict),
		row->reason);
}

static bool is_series(const struct peer_comparison *a, const struct peer_comparison *b)
{
	return strcmp(a->repo, b->repo) == 0 && strcmp(a->suite, b->suite) == 0 && strcmp(a->provider, b->provider) == 0 &&
	       strcmp(a->device, b->device) == 0;
}

/* Draw the history of the mean: a line, and its comparisons. */
static void before(struct drawing *d, const struct peer_comparison *now)
{
	double pct[MARK_SPARK_MAX];
	bool slowdown[MARK_SPARK_MAX] = { false };
	int n = 0;
	char label[160];
	for (int i = d->n - 1; i >= 0; i--)
		if (is_series(&d->all[i], now) && isfinite(d->all[i].geomean_pct)) {
			if (n == MARK_SPARK_MAX)
				memmove(pct, pct + 1, (size_t)--n * sizeof *pct);
			pct[n++] = d->all[i].geomean_pct;
		}
	if (n < 2)
		return;
	snprintf(label, sizeof label, "geometric mean in percent of %.47s, %d commits: from %.1f to %.1f", now->provider, n,
		pct[0], pct[n - 1]);
	emit_raw(d->out, "<p>");
	mark_spark(d->out, pct, slowdown, n, label);
	emit_rawf(d->out, " %.1f\u00a0%% \u2192 %.1f\u00a0%% over %d commits</p><details><summary>all commits</summary><ol>",
		pct[0], pct[n - 1], n);
	for (int i = 0; i < d->n; i++) {
		if (!is_series(&d->all[i], now))
			continue;
		emit_format(d->out, "<li>%s{commit} %s", d->all[i].commit, d->all[i].subject);
		if (isfinite(d->all[i].geomean_pct))
			emit_rawf(d->out, ", %.1f\u00a0%%", d->all[i].geomean_pct);
		emit_format(d->out, ", %lld{comparison}</li>\n", (long long)d->all[i].id);
	}
	emit_raw(d->out, "</ol></details>");
}

/* Draw the number of slower and faster cells, the largest changes, and the conclusion. */
static void draw_lead(struct buf *out, const struct peer_comparison *b, const struct peer_lines *lines, bool has_profile)
{
	const struct change_counts *m = &lines->counts;
	emit_raw(out, "<p class=lead>");
	if (isfinite(b->geomean_pct))
		emit_rawf(out, "<b>%.1f\u00a0%%</b> of its speed, geometric mean of %d of %d cells", b->geomean_pct, b->timed,
			b->cells);
	else
		emit_rawf(out, "None of %d cells has times of both providers", b->cells);
	if (lines->worst.len)
		emit_format(out, "; %d slower, worst %-s %f{decided %d}", m->slower, lines->worst.data, m->worst_pct, true);
	if (lines->best.len)
		emit_format(out, "; %d faster, best %-s %f{decided %d}", m->faster, lines->best.data, m->best_pct, true);
	emit_raw(out, ".</p>");
	if (m->slower && has_profile)
		emit_format(out, "<p><b>Why:</b> the cells of %lld{comparison} have the profile. ", (long long)b->id);
	else if (m->slower)
		emit_rawf(out, "<p><b>Why:</b> not profiled; <code>flopwatch profile C%lld</code> finds the causes. ",
			(long long)b->id);
	emit_rawf(out, "%s<b>What to do:</b> nothing, peers open no alert.</p>", m->slower ? "" : "<p>");
}

static int draw_peer(struct drawing *d, const struct peer_comparison *b, struct fw_err *err)
{
	struct buf *out = d->out;
	struct peer_lines lines;
	struct view_around around;
	char columns[96], profile[EXPLANATION_STAMP_SIZE];
	int result = read_lines(d->site->db, b->id, out, &lines, err) != 0 ||
				     view_around(d->site->db, b->id, &around, err) != 0 ||
				     explanation_stamp(d->site->db, b->id, profile, err) != 0
			     ? -1
			     : 0;
	if (result == 0) {
		emit_format(out, "<section><h2>%s", b->repo);
		if (*around.branch)
			emit_format(out, " %s{branch}", around.branch);
		emit_format(out, " against %s</h2>", b->provider);
		draw_lead(out, b, &lines, *profile);
		emit_format(out, "<p>%s{commit} %s, suite %s on %s, %lld{comparison}, %lld{time}</p>", b->commit, b->subject,
			b->suite, b->device_name, (long long)b->id, (long long)b->finished_at);
		before(d, b);
		const char *unit = unit_of_rates(lines.most_tflops).name;
		snprintf(
			columns, sizeof columns, "Cell|~>Ours, %s|~>Peer, %s|>Of its speed|~>95 %% interval|Verdict", unit, unit);
		layout_table(out, columns);
		result = view_cells(d->site->db, b->id, cell_line, &lines, err);
		layout_table_end(out);
		emit_raw(out, "</section>\n");
	}
	fini_lines(&lines);
	return result;
}

/* ---- page ---------------------------------------------------------------------------------------------------------- */

static int draw(struct drawing *d, const char *repo, struct fw_err *err)
{
	int shown = 0, left = 0;
	emit_raw(d->out, "<form class=filter action=/peers>");
	if (picker_repo(d->out, d->site->db, repo, true, err) != 0)
		return -1;
	emit_raw(d->out, "<button>Show</button></form>\n");
	layout_live(d->out, "peers", "A comparison with a peer has ended");
	for (int i = 0; i < d->n; i++) {
		if (!d->all[i].current)
			continue;
		if (shown == SHOWN_MAX) {
			left++;
			continue;
		}
		shown++;
		if (draw_peer(d, &d->all[i], err) != 0)
			return -1;
	}
	if (left)
		emit_rawf(d->out, "<p>%d more peer%s; choose a repository to see its peers.</p>\n", left, left == 1 ? "" : "s");
	if (d->is_cut)
		emit_rawf(d->out, "<p>The newest %d comparisons with peers; older ones are not shown.</p>\n", SERIES_MAX);
	if (!shown)
		layout_empty(d->out, "", "No peer comparison yet.",
			"Name providers as <code>peers: [cudnn]</code> in .flopwatch.yaml or flopwatchd.yml, or run once: "
			"<code>flopwatch "
			"peer --provider cudnn</code>");
	emit_raw(d->out,
		"<p class=dim>A peer is another provider of the repository\u2019s module to compare with, such as NVIDIA\u2019s library. The newest commit of the upstream branch is timed against it, call by call in one process, while the queue is empty. Peers open no alert.</p></div>");
	return 0;
}

/* Append "kernels main next to cudnn: 2 of 20 cells up to 2.8 % slower, 6 up to 11.1 % faster". */
static int write_newest(struct drawing *d, struct buf *out, const struct peer_comparison *b, struct fw_err *err)
{
	struct peer_lines lines;
	struct view_around around;
	int result = read_lines(d->site->db, b->id, out, &lines, err) != 0 || view_around(d->site->db, b->id, &around, err) != 0
			     ? -1
			     : 0;
	buf_puts(out, b->repo);
	if (result == 0 && *around.branch) {
		buf_puts(out, " ");
		branch_text(out, around.branch);
	}
	if (!isfinite(b->geomean_pct)) {
		buf_printf(out, " has no times next to %s", b->provider);
	} else {
		buf_printf(out, " next to %s: ", b->provider);
		if (!finding_counts(out, &lines.counts))
			buf_printf(out, "no cell is certainly slower or faster, %d of %d cells have times", b->timed, b->cells);
	}
	fini_lines(&lines);
	return result;
}

/* Write the result of the newest comparison, and the number of others. */
static int write_title(struct drawing *d, struct buf *out, struct fw_err *err)
{
	const struct peer_comparison *newest = NULL;
	int n = 0;
	for (int i = 0; i < d->n; i++) {
		n += d->all[i].current;
		if (d->all[i].current && !newest)
			newest = &d->all[i];
	}
	if (!newest)
		buf_puts(out, "Peers");
	else if (write_newest(d, out, newest, err) != 0)
		return -1;
	if (n > 1)
		buf_printf(out, ", and %d more peer%s", n - 1, n == 2 ? "" : "s");
	return 0;
}

int page_peers(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct drawing d = { .site = site, .out = &response->body };
	const char *query = http_query(r, "repo"), *repo = query && *query ? query : NULL;
	struct buf title;
	if (view_peers(site->db, repo, NULL, SERIES_MAX + 1, take, &d, err) != 0)
		return -1;
	buf_init(&title, FINDING_BYTES);
	int result = write_title(&d, &title, err);
	layout_begin(response, title.data, "peers", "job.done");
	response->body.failed |= title.failed;
	buf_fini(&title);
	if (result != 0 || draw(&d, repo, err) != 0)
		return -1;
	return layout_end(response, "/api/v1/peers", 0);
}
