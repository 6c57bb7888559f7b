/*
 * Home: open alerts to answer, branches by urgency, and the cells of the upstream branch over its last pushes. The page of one
 * repository has the same, its suites and its last fetch.
 */

#include "web/page/internal.h"

enum { REPOS_MAX = 64, MAP_PUSHES = 24, MAP_CELLS = 64, BODY_BYTES = 16 << 20 };

struct repo {
	int64_t id, fetched_at;
	char name[128], url[1024], upstream[256], state[16], error[512];
};

struct repos {
	struct repo repo[REPOS_MAX];
	int n, n_left;    /* n_left: repositories without space */
	const char *only; /* the only repository to read; NULL: all */
};

static void remember_repo(void *arg, const struct view_repo *row)
{
	struct repos *all = arg;
	if (strcmp(row->state, "gone") == 0 || (all->only && strcmp(row->name, all->only) != 0))
		return;
	if (all->n == REPOS_MAX) {
		all->n_left++;
		return;
	}
	struct repo *repo = &all->repo[all->n++];
	repo->id = row->id;
	repo->fetched_at = row->fetched_at;
	snprintf(repo->name, sizeof repo->name, "%s", row->name);
	snprintf(repo->url, sizeof repo->url, "%s", row->url);
	snprintf(repo->upstream, sizeof repo->upstream, "%s", row->upstream);
	snprintf(repo->state, sizeof repo->state, "%s", row->state);
	snprintf(repo->error, sizeof repo->error, "%s", row->error);
}

/* ---- devices ------------------------------------------------------------------------------------------------------- */

struct devices {
	struct buf *out;
	int n, absent;
};

static void draw_device_banner(void *arg, const struct view_device *row)
{
	struct devices *d = arg;
	if (row->state == DEVICESTATE_ABSENT) { /* an alert reports jobs that only this device can run */
		d->absent++;
		return;
	}
	d->n++;
	if (row->state == DEVICESTATE_OK && !*row->outlier)
		return;
	emit_format(d->out,
		"<p class=\"banner %-s\" role=status>%s{verdict} <a href=/devices>%s</a> "
		"%s%s{? is an outlier of its class: *}</p>\n",
		row->state == DEVICESTATE_QUARANTINED ? "" : "warn", devicestate_name(row->state), row->name, row->state_why,
		row->outlier);
}

static int draw_banners(struct site *site, struct buf *out, struct fw_err *err)
{
	struct devices devices = { .out = out };
	int result = view_devices(site->db, draw_device_banner, &devices, err);
	page_worker_banners(site, out);
	if (devices.n == 0 && devices.absent)
		emit_raw(out, "<p class=\"banner warn\" role=status>All known devices are absent, so nothing can be measured. "
			      "<a href=/devices>Devices</a></p>");
	else if (devices.n == 0)
		emit_raw(out, "<p class=\"banner warn\" role=status>No device has reported yet, so nothing can be measured. "
			      "List workers "
			      "under <code>workers</code> in flopwatchd.yml.</p>");
	return result;
}

/* ---- repository ---------------------------------------------------------------------------------------------------- */

/* Draw a repository's branches, unchanged ones folded if `is_folded`, and the heat map of its upstream branch. */
static int draw_repo(struct site *site, struct buf *out, const struct repo *repo, const struct slow_branches *slow,
	bool is_folded, int64_t after, struct branches *found, struct fw_err *err)
{
	static const struct heat_size size = { .columns = MAP_PUSHES, .cells = MAP_CELLS, .is_small = true };
	struct heat_found map;
	if (strcmp(repo->state, "error") == 0)
		emit_format(out, "<p class=banner role=alert><b>Not read:</b> %s</p>", repo->error);
	if (branches_table(site, out, repo->id, slow, is_folded, after, found, err) != 0)
		return -1;
	branches_paging(out, repo->name, found, after);
	if (found->last == 0 && !after)
		layout_empty(out, "", "No branch is watched yet.",
			"Push one that fits <code>branches</code> of this repository in flopwatchd.yml.");
	return heat_draw(site, out, repo->name, repo->upstream, &size, &map, err);
}

static void add(struct branches *total, const struct branches *found)
{
	for (int i = 0; i < URGENCY_N; i++)
		total->n[i] += found->n[i];
}

/* ---- home ---------------------------------------------------------------------------------------------------------- */

/* Write the title: the worst open alert, or the most urgent branches. */
static void write_title(struct buf *out, const struct alarms *alarms, const struct branches *total)
{
	if (alarms->n) {
		alarms_title(out, alarms, total->n[URGENCY_FAILED]);
	} else {
		buf_puts(out, "No open alert: ");
		branches_summary(out, total);
	}
}

static int draw_home(struct site *site, struct buf *out, const struct repos *all, struct branches *total, struct fw_err *err)
{
	struct slow_branches slow;
	int result = slow_branches_read(site->db, &slow, err);
	for (int i = 0; result == 0 && i < all->n; i++) {
		struct branches found;
		emit_format(out, "<section><h2><a href=\"/repos/%s\">%s</a></h2>", all->repo[i].name, all->repo[i].name);
		result = draw_repo(site, out, &all->repo[i], &slow, true, 0, &found, err);
		emit_raw(out, "</section>\n");
		if (result == 0)
			add(total, &found);
	}
	slow_branches_fini(&slow);
	if (all->n == 0)
		layout_empty(out, "", "No repository is watched yet.", "Add one under <code>repos</code> in flopwatchd.yml.");
	if (all->n_left)
		emit_rawf(out, "<p>%d more repositor%s watched: <a href=/branches>Branches</a> has all of them.</p>\n",
			all->n_left, all->n_left == 1 ? "y is" : "ies are");
	return result;
}

int page_overview(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	(void)r;
	struct repos *all = mem_alloc_zero(1, sizeof *all);
	struct alarms alarms = { .site = site };
	struct branches total = { .more = false };
	struct buf rows, title;
	buf_init(&rows, BODY_BYTES);
	buf_init(&title, 1 << 16);
	int result = alarms_read(&alarms, err) != 0 || view_repos(site->db, remember_repo, all, err) != 0 ||
				     draw_home(site, &rows, all, &total, err) != 0
			     ? -1
			     : 0;
	write_title(&title, &alarms, &total);
	layout_begin(response, title.data, "overview",
		"job.queued job.state job.done alert. device. worker. branch. baseline_period.");
	layout_live(&response->body, "overview", "The overview changed");
	alarms_draw(&response->body, &alarms);
	if (result == 0)
		result = draw_banners(site, &response->body, err);
	buf_append(&response->body, rows.data, rows.len);
	emit_raw(&response->body, "</div>");
	response->body.failed |= rows.failed || title.failed;
	alarms_fini(&alarms);
	buf_fini(&title);
	buf_fini(&rows);
	free(all);
	return layout_end(response, "/api/v1/branches", result);
}

/* ---- page of a repository ------------------------------------------------------------------------------------------ */

struct suites_of {
	struct site *site;
	struct buf *out;
	int result;
	struct fw_err *err;
};

static void draw_suites(void *arg, const struct view_branch *row)
{
	struct suites_of *of = arg;
	if (row->judged->n == 0)
		return;
	emit_format(of->out, "<h2>Suites of %s, newest push</h2>", row->display);
	of->result = suites_table(of->site->db, of->out, row->judged, of->err);
}

static void draw_facts(struct buf *out, const struct repo *repo)
{
	emit_format(out,
		"<dl class=\"facts card\"><dt>Address</dt><dd><code>%s</code></dd><dt>Upstream branch</dt><dd>"
		"<a href=\"/branches?repo=%s&amp;branch=%s\">%s{branch}</a></dd><dt>Last fetch</dt><dd>",
		repo->url, repo->name, repo->upstream, repo->upstream);
	if (repo->fetched_at)
		layout_time(out, repo->fetched_at);
	else
		emit_raw(out, "none yet");
	emit_format(out,
		"%s{?, its error: *}</dd><dt>Comparisons</dt><dd><a href=\"/comparisons?repo=%s\">all</a>, <a href=\"/comparisons?repo=%s"
		"&amp;since=7d&amp;verdict=regression\">regressions of the last 7 days</a></dd></dl>\n",
		repo->error, repo->name, repo->name);
}

/* Draw the page below its title, which needs `found`. */
static int draw_repo_page(
	struct site *site, struct buf *out, const struct repo *repo, int64_t after, struct branches *found, struct fw_err *err)
{
	struct suites_of of = { .site = site, .out = out, .err = err };
	struct view_branch_filter filter = { .repo = repo->id, .name = repo->upstream, .limit = 1 };
	struct alarms alarms = { .site = site, .repo = repo->name };
	struct slow_branches slow;
	int result = alarms_read(&alarms, err);
	alarms_draw(out, &alarms);
	alarms_fini(&alarms);
	result = slow_branches_read(site->db, &slow, err) != 0 || result != 0
			 ? -1
			 : draw_repo(site, out, repo, &slow, false, after, found, err);
	slow_branches_fini(&slow);
	if (result != 0 || view_branches(site->db, &filter, draw_suites, &of, err) != 0 || of.result != 0)
		return -1;
	draw_facts(out, repo);
	return 0;
}

int page_repo(struct site *site, struct http_request *r, struct http_response *response, struct fw_err *err)
{
	int64_t after;
	struct buf rows, title;
	struct branches found = { .more = false };
	struct repos *all = mem_alloc_zero(1, sizeof *all);
	all->only = http_segment(r, 0);
	buf_init(&rows, BODY_BYTES);
	buf_init(&title, 1 << 12);
	int result = answer_cursor(r, &after, err) != 0 ? -1 : view_repos(site->db, remember_repo, all, err);
	if (result == 0 && all->n == 0)
		result = err_set(err, ERR_NOT_FOUND, "there is no repository %.100s", all->only);
	if (result == 0)
		result = draw_repo_page(site, &rows, &all->repo[0], after, &found, err);
	buf_printf(&title, "Branches of %s: ", all->only);
	branches_summary(&title, &found);
	layout_begin(response, title.data, "branch", "job.queued job.state job.done alert. branch.");
	layout_live(&response->body, "repo", "The repository changed");
	buf_append(&response->body, rows.data, rows.len);
	emit_raw(&response->body, "</div>");
	response->body.failed |= rows.failed || title.failed;
	buf_fini(&title);
	buf_fini(&rows);
	free(all);
	return layout_end(response, "/api/v1/branches", result);
}
