/* Overview: whether anything is wrong, the state of each branch, and the state of every cell of the upstream branch. */

#include "web/page/internal.h"

enum { REPOS_MAX = 64, GRID_CELLS = 128, GRID_POINTS = 30, BRANCHES_MAX = 100 };

struct repos {
	struct {
		int64_t id;
		char name[128], upstream[256], state[16], error[512];
		int alerts;
	} repo[REPOS_MAX];
	int n, n_left; /* n_left: branches that did not fit */
};

static void remember_repo(void *arg, const struct view_repo *row)
{
	struct repos *all = arg;
	if (strcmp(row->state, "gone") == 0)
		return;
	if (all->n == REPOS_MAX) {
		all->n_left++;
		return;
	}
	all->repo[all->n].id = row->id;
	snprintf(all->repo[all->n].name, sizeof all->repo[0].name, "%s", row->name);
	snprintf(all->repo[all->n].upstream, sizeof all->repo[0].upstream, "%s", row->upstream);
	snprintf(all->repo[all->n].state, sizeof all->repo[0].state, "%s", row->state);
	snprintf(all->repo[all->n].error, sizeof all->repo[0].error, "%s", row->error);
	all->repo[all->n++].alerts = row->open_alerts;
}

/* ---- devices ---------------------------------------------------------------------------------------------------------- */

struct devices {
	struct buf *out;
	int n, well, absent;
};

static void device_banner(void *arg, const struct view_device *row)
{
	struct devices *d = arg;
	if (row->state == DEVICESTATE_ABSENT) { /* jobs that only this device can run are reported by an alert */
		d->absent++;
		return;
	}
	d->n++;
	if (row->state == DEVICESTATE_OK && !*row->stands_out) {
		d->well++;
		return;
	}
	emit_format(d->out,
		"<p class=\"banner %-s\" role=status>%s{verdict} <a href=/devices>%s</a> "
		"%s%s{? is an outlier of its class: *}</p>\n",
		row->state == DEVICESTATE_QUARANTINED ? "" : "warn", devicestate_name(row->state), row->name, row->state_why,
		row->stands_out);
}

/* ---- branches --------------------------------------------------------------------------------------------------------- */

struct branches {
	struct site *site;
	struct buf *out;
	int n, result;
	struct fw_err *err;
	int64_t last; /* id of the last row that was drawn */
	bool more;
};

/* Progress of its job: static/live.js writes the same text when an event arrives. */
static void job_progress(struct buf *out, int64_t job, const char *progress_json)
{
	json_t *p = *progress_json ? json_loads(progress_json, 0, NULL) : NULL;
	json_int_t process_run = json_integer_value(json_object_get(p, "run")),
		   set = json_integer_value(json_object_get(p, "set")), checks = json_integer_value(json_object_get(p, "checks"));
	emit_rawf(out, " <small class=dim data-progress=%lld>", (long long)job);
	if (process_run)
		emit_rawf(out, "run %lld%s", (long long)process_run, set == 2 ? ", confirming" : "");
	else if (checks)
		emit_rawf(out, "%lld of %lld checks", (long long)json_integer_value(json_object_get(p, "checked")),
			(long long)checks);
	emit_raw(out, "</small>");
	json_decref(p);
}

static void branch_line(void *arg, const struct view_branch *row)
{
	struct branches *b = arg;
	struct buf *out = b->out;
	if (b->n == BRANCHES_MAX) {
		b->more = true;
		return;
	}
	struct headline headline;
	const struct commit_verdict *v = row->stands;
	b->n++;
	b->last = row->id;
	if (b->result != 0 || reported_read(b->site->db, row->comparison, NULL, &headline, b->err) != 0) {
		b->result = -1;
		return;
	}
	emit_format(out, "<tr><th scope=row><a href=\"/comparisons?repo=%s&amp;branch=%s\">%s</a></th><td>", row->repo, row->name,
		row->display);
	suites_verdict(out, row->stands);
	if (row->compared[0] && strcmp(row->compared, row->commit) != 0)
		emit_raw(out, " <small>of an earlier push</small>");
	suites_which(out, row->stands, row->compared);
	suites_unfinished(out, row->tip);
	reported_why(out, &headline, row->verdict);
	if (!headline.comparison && row->verdict == VERDICT_FAILED && v->decides >= 0)
		emit_format(out, "<span class=why>%s</span>", v->suite[v->decides].word.why);
	emit_raw(out, "</td><td class=n>");
	headline_change(out, &headline, row->verdict, isfinite(row->best_pct) ? row->best_pct : row->worst_pct);
	emit_format(out, "</td><td class=w><span class=commit>%s{commit} %s</span>%s{author}</td><td class=w>", row->commit,
		row->subject, row->author);
	if (row->job && row->job_state != JOBSTATE_DONE) {
		emit_format(out, "%lld{job} %s{verdict}", (long long)row->job, jobstate_name(row->job_state));
		job_progress(
			out, row->job, row->job_progress); /* in any state: a short job ends before the page is drawn again */
	}
	emit_format(out, "</td><td class=w>%lld{time}</td></tr>\n", (long long)row->finished_at);
}

/* ---- grid ------------------------------------------------------------------------------------------------------------- */

struct tile {
	char key[256], title[48], group[16], direction[16];
	int64_t size;
	double tflops, ms, change_pct;
	enum verdict verdict;
	double point[GRID_POINTS]; /* newest first */
	bool loss[GRID_POINTS];
};

struct grid {
	struct tile tile[GRID_CELLS];
	int n, n_left, columns; /* n_left: cells of the newest comparison that did not fit */
	int64_t newest, column;
};

static struct tile *tile_of(struct grid *g, const struct view_grid *row)
{
	for (int i = 0; i < g->n; i++)
		if (strcmp(g->tile[i].key, row->key) == 0)
			return &g->tile[i];
	/* only the newest comparison defines the list of cells */
	if (row->comparison != g->newest)
		return NULL;
	if (g->n == GRID_CELLS) {
		g->n_left++;
		return NULL;
	}
	struct tile *t = &g->tile[g->n++];
	*t = (struct tile){ .size = row->size,
		.tflops = row->tflops,
		.ms = row->target_median_ms,
		.change_pct = row->change_pct,
		.verdict = row->verdict };
	snprintf(t->key, sizeof t->key, "%s", row->key);
	snprintf(t->title, sizeof t->title, "%s", row->title);
	snprintf(t->group, sizeof t->group, "%s", row->group);
	snprintf(t->direction, sizeof t->direction, "%s", row->direction);
	for (int i = 0; i < GRID_POINTS; i++)
		t->point[i] = NAN;
	return t;
}

static void take_tile(void *arg, const struct view_grid *row)
{
	struct grid *g = arg;
	if (!g->newest)
		g->newest = row->comparison;
	if (g->column != row->comparison) {
		g->column = row->comparison;
		g->columns++;
	}
	struct tile *t = tile_of(g, row);
	int at = g->columns - 1;
	if (!t || at >= GRID_POINTS)
		return;
	t->point[at] = isfinite(row->tflops) ? row->tflops : 1e3 / row->target_median_ms;
	t->loss[at] = row->verdict == VERDICT_REGRESSION;
	/* an identical push has no times: the last measured value is still valid */
	if (!isfinite(t->ms)) {
		t->ms = row->target_median_ms;
		t->tflops = row->tflops;
	}
}

/* `rate`: the unit of its column of rates; NULL: no FLOPs of this table are known. */
static void draw_tile(
	struct buf *out, const struct tile *t, const char *repo, const char *branch, int columns, const struct unit *rate)
{
	double y[GRID_POINTS];
	bool loss[GRID_POINTS];
	char label[96];
	int n = columns < GRID_POINTS ? columns : GRID_POINTS;
	for (int i = 0; i < n; i++) {
		y[i] = t->point[n - 1 - i];
		loss[i] = t->loss[n - 1 - i];
	}
	emit_format(out,
		"<tr><th scope=row><a href=\"/history?cell=%s&amp;repo=%s&amp;branch=%s\">%s{case %s %lld}</a> "
		"<span class=dim>%s</span></th><td>",
		t->key, repo, branch, t->key, t->title, (long long)t->size, t->direction);
	snprintf(label, sizeof label, "%s over the last %d push%s", isfinite(t->tflops) ? "throughput" : "speed", n,
		n == 1 ? "" : "es");
	mark_spark(out, y, loss, n, label);
	if (rate) {
		emit_raw(out, "</td><td class=n>");
		layout_rate(out, *rate, t->tflops);
	}
	emit_format(out, "%-s%f{ms}</td><td class=\"n w\">%f{decided %d}</td><td class=w>%s{verdict}</td></tr>\n",
		rate ? "</td><td class=\"n w\">" : "</td><td class=n>", t->ms, t->change_pct, verdict_is_change(t->verdict),
		verdict_name(t->verdict));
}

static void remember_suite(void *arg, const char *suite)
{
	buf_append(arg, suite, strlen(suite) + 1);
}

static void draw_cells(struct buf *out, const struct grid *g, const char *repo, const char *branch, const char *suite)
{
	emit_format(out,
		"<h3>Cells of %s{branch} in suite %s, last %d push%s <a class=aside href=\"/heat?repo=%s&amp;branch=%s\">"
		"as a heat map</a></h3>",
		branch, suite, g->columns, g->columns == 1 ? "" : "es", repo, branch);
	for (int begin = 0; begin < g->n;) { /* one table per group */
		int end = begin;
		double most = NAN;
		char columns[80] = "Cell|Last pushes|>ms|~>Against base|~Verdict";
		for (; end < g->n && strcmp(g->tile[end].group, g->tile[begin].group) == 0; end++)
			most = unit_more(most, g->tile[end].tflops);
		struct unit unit = unit_of_rates(most);
		bool flops = isfinite(most);
		if (flops)
			snprintf(columns, sizeof columns, "Cell|Last pushes|>%s|~>ms|~>Against base|~Verdict", unit.name);
		layout_table(out, columns);
		for (int i = begin; i < end; i++)
			draw_tile(out, &g->tile[i], repo, branch, g->columns, flops ? &unit : NULL);
		layout_table_end(out);
		begin = end;
	}
	if (g->n_left)
		emit_format(out, "<p>%d more cell%-s in %lld{comparison}.</p>\n", g->n_left, g->n_left == 1 ? "" : "s",
			(long long)g->newest);
}

static int draw_grid(struct site *site, struct buf *out, const char *repo, const char *branch, struct fw_err *err)
{
	struct buf suites; /* names, each with a final NUL */
	struct grid *g = mem_alloc_zero(1, sizeof *g);
	buf_init(&suites, 1 << 16);
	int result = view_branch_suites(site->db, repo, branch, remember_suite, &suites, err);
	if (result == 0 && suites.failed)
		result = err_set(err, ERR_FULL, "the suites of branch %s do not fit on the overview", branch);
	for (size_t at = 0; result == 0 && at < suites.len; at += strlen(suites.data + at) + 1) {
		memset(g, 0, sizeof *g);
		result = view_grid(site->db, repo, branch, suites.data + at, GRID_POINTS, take_tile, g, err);
		if (result == 0 && g->n)
			draw_cells(out, g, repo, branch, suites.data + at);
	}
	buf_fini(&suites);
	free(g);
	return result;
}

/* ---- the page --------------------------------------------------------------------------------------------------------- */

/* Pages of a long list of branches: links to the next page and the first one, which show only this repository. */
static void draw_paging(struct buf *out, const char *repo, const struct branches *b, int64_t after)
{
	if (!after && !b->more)
		return;
	emit_raw(out, "<p>");
	if (after)
		emit_format(out, "<a href=\"/?repo=%s\">First branches</a> ", repo);
	if (b->more)
		emit_format(out, "<a rel=next href=\"/?repo=%s&amp;cursor=%lld\">Next branches</a>", repo, (long long)b->last);
	emit_raw(out, "</p>\n");
}

static int draw_repo(struct site *site, struct buf *out, const struct repos *all, int i, int64_t after, struct fw_err *err)
{
	struct branches b = { .site = site, .out = out, .err = err };
	emit_format(out, "<section><h2>%s</h2>", all->repo[i].name);
	if (strcmp(all->repo[i].state, "error") == 0)
		emit_format(out, "<p class=banner role=alert><b>Not read:</b> %s</p>", all->repo[i].error);
	if (all->repo[i].alerts)
		emit_rawf(out, "<p class=\"banner warn\"><a href=\"/alerts?state=open\">%d open alert%s</a></p>",
			all->repo[i].alerts, all->repo[i].alerts == 1 ? "" : "s");
	layout_table(out, "Branch|Verdict|>Worst / best|~Tip|~Job|~Judged (UTC)");
	struct view_branch_filter filter = {
		.repo = all->repo[i].id, .watched = true, .after = after, .limit = BRANCHES_MAX + 1
	};
	if (view_branches(site->db, &filter, branch_line, &b, err) != 0 || b.result != 0)
		return -1;
	layout_table_end(out);
	draw_paging(out, all->repo[i].name, &b, after);
	if (b.n == 0 && !after)
		layout_empty(out, "", "No branch is watched yet.",
			"Push one that fits <code>branches</code> of this repository in flopwatchd.yml.");
	int result = draw_grid(site, out, all->repo[i].name, all->repo[i].upstream, err);
	emit_raw(out, "</section>\n");
	return result;
}

int page_overview(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	const char *repo = http_query(r, "repo");
	int64_t after;
	if (answer_cursor(r, &after, err) != 0 || answer_repo(site->db, r, err) != 0)
		return -1;
	struct repos *all = mem_alloc_zero(1, sizeof *all);
	struct buf *out = &response->body;
	int result = view_repos(site->db, remember_repo, all, err);
	layout_begin(response, "Overview", "overview",
		"job.queued job.state job.done alert. device. worker. branch. baseline_period.");
	layout_live(out, "overview", "The overview changed");
	if (all->n)
		emit_raw(out,
			"<p class=row><span>Since last week:</span> <a href=\"/comparisons?since=7d\">all comparisons</a> <a "
			"href=\"/comparisons?since=7d&amp;verdict=regression\">regressions</a> <a "
			"href=\"/comparisons?since=7d&amp;verdict=improvement\">improvements</a> <a "
			"href=\"/comparisons?since=7d&amp;verdict=failed\">failures</a></p>\n");
	struct devices devices = { .out = out };
	if (result == 0)
		result = view_devices(site->db, device_banner, &devices, err);
	page_worker_banners(site, out);
	if (devices.n == 0 && devices.absent)
		emit_raw(out, "<p class=\"banner warn\" role=status>All known devices are absent, so nothing can be measured. "
			      "<a href=/devices>Devices</a></p>");
	else if (devices.n == 0)
		emit_raw(out, "<p class=\"banner warn\" role=status>No device has reported yet, so nothing can be measured. "
			      "List workers "
			      "under <code>workers</code> in flopwatchd.yml.</p>");
	if (all->n == 0)
		layout_empty(out, "", "No repository is watched yet.", "Add one under <code>repos</code> in flopwatchd.yml.");
	for (int i = 0; result == 0 && i < all->n; i++)
		if (!repo || !*repo || strcmp(repo, all->repo[i].name) == 0)
			result = draw_repo(site, out, all, i, repo && *repo ? after : 0, err);
	if (all->n_left)
		emit_rawf(out,
			"<p>%d more repositor%s watched: <code>/?repo=NAME</code> shows one of the first %d, <a "
			"href=\"/comparisons\">comparisons</a> are listed for all.</p>\n",
			all->n_left, all->n_left == 1 ? "y is" : "ies are", REPOS_MAX);
	emit_raw(out, "</div>");
	free(all);
	return layout_end(response, "/api/v1/branches", result);
}
