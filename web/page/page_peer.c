/* Kernels compared with peers: the newest comparison with each, cell by cell, and earlier results. */

#include "web/page/internal.h"

#include <math.h>

enum { SHOWN_MAX = 12, SERIES_MAX = VIEW_LIMIT_DEFAULT };

/* One comparison with a peer, stored beyond its row's callback. */
struct beside {
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
	bool is_cut;                   /* there are older comparisons */
	struct beside all[SERIES_MAX]; /* newest first */
};

static void take(void *arg, const struct view_peer *row)
{
	struct drawing *d = arg;
	if (d->n == SERIES_MAX) {
		d->is_cut = true;
		return;
	}
	struct beside *b = &d->all[d->n++];
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

/* ---- one peer ----------------------------------------------------------------------------------------------------------- */

/* Throughput where the FLOPs are known, else the time. */
static void speed(struct buf *out, struct unit unit, double tflops, double ms)
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
};

static void take_most(void *arg, const struct store_cell *row)
{
	struct peer_lines *lines = arg;
	double both_tflops =
		unit_max(view_tflops(row->flops, row->base_median_ms), view_tflops(row->flops, row->target_median_ms));
	lines->most_tflops = unit_max(lines->most_tflops, both_tflops);
}

static void cell_line(void *arg, const struct store_cell *row)
{
	const struct peer_lines *lines = arg;
	struct buf *out = lines->out;
	emit_rawf(out, "<tr><th scope=row><a href=\"/comparisons/%lld?open=%d#c%d\">", (long long)lines->comparison, row->n,
		row->n);
	emit_format(out, "%s{case %s %lld} %s</a></th>", row->key, row->title, (long long)row->size, row->direction);
	struct unit unit = unit_of_rates(lines->most_tflops);
	speed(out, unit, view_tflops(row->flops, row->target_median_ms), row->target_median_ms);
	speed(out, unit, view_tflops(row->flops, row->base_median_ms), row->base_median_ms);
	if (isfinite(row->change_pct))
		emit_rawf(out, "<td class=n data-v=\"%.9g\"><b>%.1f\u00a0%%</b></td><td class=\"n w\">%.1f \u2026 %.1f</td><td>",
			row->change_pct, 100 + row->change_pct, 100 + row->ci_low_pct, 100 + row->ci_high_pct);
	else
		emit_raw(out, "<td class=n>\u2013</td><td class=\"n w\">\u2013</td><td>");
	emit_format(out, "%s{verdict}%s{?<span class=why>*</span>}</td></tr>\n", verdict_label(JOBKIND_PEER, row->verdict),
		row->reason);
}

static bool is_series(const struct beside *a, const struct beside *b)
{
	return strcmp(a->repo, b->repo) == 0 && strcmp(a->suite, b->suite) == 0 && strcmp(a->provider, b->provider) == 0 &&
	       strcmp(a->device, b->device) == 0;
}

/* The history of the mean: a line, and the comparisons that it is from. */
static void before(struct drawing *d, const struct beside *now)
{
	double pct[MARK_SPARK_MAX];
	bool loss[MARK_SPARK_MAX] = { false };
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
	mark_spark(d->out, pct, loss, n, label);
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

static int draw_peer(struct drawing *d, const struct beside *b, struct fw_err *err)
{
	struct buf *out = d->out;
	struct peer_lines lines = { out, b->id, NAN };
	char columns[96];
	emit_format(out, "<section><h2>%s against %s</h2><p class=lead>", b->repo, b->provider);
	if (isfinite(b->geomean_pct))
		emit_rawf(out, "<b>%.1f\u00a0%%</b> of its speed, geometric mean of %d of %d cells.", b->geomean_pct, b->timed,
			b->cells);
	else
		emit_rawf(out, "None of %d cells has times of both providers.", b->cells);
	emit_format(out, "</p><p>%s{commit} %s, suite %s on %s, %lld{comparison}, %lld{time}</p>", b->commit, b->subject,
		b->suite, b->device_name, (long long)b->id, (long long)b->finished_at);
	before(d, b);
	int result = view_cells(d->site->db, b->id, take_most, &lines, err);
	const char *unit = unit_of_rates(lines.most_tflops).name;
	snprintf(columns, sizeof columns, "Cell|~>Ours, %s|~>Peer, %s|>Of its speed|~>95 %% interval|", unit, unit);
	layout_table(out, columns);
	if (result == 0)
		result = view_cells(d->site->db, b->id, cell_line, &lines, err);
	layout_table_end(out);
	emit_raw(out, "</section>\n");
	return result;
}

/* ---- the page ----------------------------------------------------------------------------------------------------------- */

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

/* "kernels has 103.8 % of the speed of cudnn, and 1 more peer": of the newest comparison. */
static void write_title(struct buf *out, const struct drawing *d)
{
	const struct beside *newest = NULL;
	int n = 0;
	for (int i = 0; i < d->n; i++) {
		n += d->all[i].current;
		if (d->all[i].current && !newest)
			newest = &d->all[i];
	}
	if (!newest)
		buf_puts(out, "Peers");
	else if (isfinite(newest->geomean_pct))
		buf_printf(out, "%s has %.1f %% of the speed of %s", newest->repo, newest->geomean_pct, newest->provider);
	else
		buf_printf(out, "%s has no times next to %s", newest->repo, newest->provider);
	if (n > 1)
		buf_printf(out, ", and %d more peer%s", n - 1, n == 2 ? "" : "s");
}

int page_peers(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	struct drawing d = { .site = site, .out = &response->body };
	const char *query = http_query(r, "repo"), *repo = query && *query ? query : NULL;
	struct buf title;
	if (view_peers(site->db, repo, NULL, SERIES_MAX + 1, take, &d, err) != 0)
		return -1;
	buf_init(&title, 1 << 12);
	write_title(&title, &d);
	layout_begin(response, title.data, "peers", "job.done");
	response->body.failed |= title.failed;
	buf_fini(&title);
	if (draw(&d, repo, err) != 0)
		return -1;
	return layout_end(response, "/api/v1/peers", 0);
}
